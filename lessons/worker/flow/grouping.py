"""The operations of a record in groups, one for each box: a statement, or the parts of one that has been opened."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from attn_tutor.lessons.worker.flow.code_path import CodePart, CodePath, CodePaths
from attn_tutor.lessons.worker.recording.event import Event

ASIDE = frozenset({"detach", "alias"})
"""Operations by which autograd keeps a tensor: they compute nothing."""


@dataclass(slots=True, eq=False)
class Group:
    """Operations that one box stands for.

    Attributes:
        id: the depth of its code and the time of its first operation.
        part: the innermost piece of code that all its operations ran in.
        parent: the id of the open group that it is in; "" if it is in none.
        events: its operations, in order.
        opens: whether its code has parts of its own.
        name: as the source calls its result; "" if it has no name.
        rounds: for each of its operations, by time, how often its code had begun to run before.
        times: how often its code ran; None if that is not known.
        order: the time by which boxes are sorted.
    """

    id: str
    part: CodePart
    parent: str
    events: list[Event]
    opens: bool
    name: str
    rounds: dict[int, int]
    times: int | None
    order: int

    @property
    def computes(self) -> bool:
        """Whether it does more than look at tensors in another shape, or gives such a view a name."""
        return bool(self.name) or any(not event.view and event.op not in ASIDE for event in self.events)


@dataclass(slots=True, frozen=True)
class OpenGroup:
    """A group that is open: in its place stand the parts of its code. The fields are those of `Group`."""

    id: str
    part: CodePart
    parent: str


def group(events: list[Event], paths: CodePaths, opened: Collection[str]) -> tuple[list[Group], list[OpenGroup]]:
    """Group operations by their code.

    The groups with ids in `opened` are replaced by the parts of their code. Returns the groups, and those replaced.
    """
    located = list(_with_operations(events, paths))
    replaced: list[OpenGroup] = []
    return list(_split(located, 0, "", paths, opened, replaced)), replaced


def _with_operations(events: list[Event], paths: CodePaths) -> Iterator[tuple[Event, CodePath]]:
    """Yield each operation with its path, which ends with the operation itself."""
    last, number = None, 0
    for event in events:
        number = number + 1 if event.sites is last else 0
        last = event.sites
        path = paths.of(event.sites)
        span = path[-1].span
        yield event, (*path, CodePart("operation", span, number, event.op))


Located = tuple[Event, CodePath]


def _split(
    located: list[Located],
    depth: int,
    parent: str,
    paths: CodePaths,
    opened: Collection[str],
    replaced: list[OpenGroup],
) -> Iterator[Group]:
    for part, members in _by_part(located, depth).items():
        at, part = _skip(members, depth, part, named=bool(paths.name(part)))
        id = f"{at}.{members[0][0].time}"
        opens = len(_shown_parts(_by_part(members, at + 1))) > 1
        if opens and id in opened:
            replaced.append(OpenGroup(id, part, parent))
            yield from _split(members, at + 1, id, paths, opened, replaced)
        else:
            events = [event for event, _ in members]
            rounds, times = _rounds(members, at)
            yield Group(id, part, parent, events, opens, paths.name(part), rounds, times, events[0].time)


def _rounds(members: list[Located], depth: int) -> tuple[dict[int, int], int | None]:
    """Return in which round of a loop each operation ran, and how often the code ran; None if that is not known.

    A round begins where the first operation runs again. Code that only calls a function may call it several times in
    one round, as a module does whose layers are alike: then a round ends where other code runs.
    """
    paths = [path for _, path in members]
    own = [path for path in paths if all(part.kind != "statement" for part in path[depth + 1 :])]
    again = paths.count(paths[0])
    times = own.count(own[0]) if own else None
    rounds: dict[int, int] = {}
    count, last = -1, -2
    for event, path in members:
        count += path == paths[0] and (times == again or event.time > last + 1)
        rounds[event.time] = count
        last = event.time
    return rounds, times if times is not None else count + 1 if count or again == 1 else None


def _skip(members: list[Located], depth: int, part: CodePart, *, named: bool) -> tuple[int, CodePart]:
    """Return the depth and the part to which all members go down together.

    A part that has a name keeps it: the expression inside says no more.
    """
    at = depth
    while len(parts := _by_part(members, at + 1)) == 1:
        (inner,) = parts
        if inner.kind == "operation":
            break
        at += 1
        if not named:
            part = inner
    return at, part


def _by_part(located: list[Located], depth: int) -> dict[CodePart, list[Located]]:
    """Divide operations by the part of their path at a depth, in the order of time."""
    found: dict[CodePart, list[Located]] = {}
    for event, path in located:
        if depth < len(path):
            found.setdefault(path[depth], []).append((event, path))
    return found


def _shown_parts(parts: dict[CodePart, list[Located]]) -> list[CodePart]:
    """Leave out parts that only look at a tensor in another shape."""
    return [
        part for part, members in parts.items() if any(not event.view and event.op not in ASIDE for event, _ in members)
    ]
