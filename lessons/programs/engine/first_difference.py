"""The first tensor in which a run of a program differs from an earlier run, over all calls of its functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from attn_tutor.lessons.programs.engine.session import Function, ProgramRun, ProgramSession
from attn_tutor.lessons.programs.results.program_result import Named
from attn_tutor.lessons.results.result import Tensor

SECONDS = 2.0
"""Seconds for which each of two runs looks at its tensors; after that, only the last calls are compared."""

Key = tuple[str, str, str, int]
"""Scope, file, name and call of a tensor."""


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """A tensor that differs.

    Attributes:
        scope, file, name: the function or imported file whose variable it is, as `Named` has them, and what that
            calls it.
        call: the call of the function; 0 if it is that which the pages show.
    """

    scope: str
    file: str
    name: str
    call: int = 0


def first_difference(
    before: ProgramRun, after: ProgramRun, chosen: Mapping[Function, int] | None = None
) -> FirstDifference | None:
    """Return the first tensor of a run that an earlier run does not have, or has with other numbers; None if none does.

    They are compared in the order in which they were computed. If it differs in the call that is `chosen` of its
    function too, it is that one.
    """
    found, is_cut = _in_all_calls(before, after, chosen or {})
    return _in_shown_calls(before, after) if found is None and is_cut else found


def _in_all_calls(
    before: ProgramRun, after: ProgramRun, chosen: Mapping[Function, int]
) -> tuple[FirstDifference | None, bool]:
    """Return the first tensor that differs, and whether there was no time to look at all of them."""
    now, then = _Digests(after), _Digests(before)
    calls = {(item.scope, item.file): item.count for item in before.whole.named if item.call}
    for key, digest in now:
        scope, file, name, call = key
        earlier = then.of(key)
        if earlier is None:
            # A tensor of an earlier call may be forgotten in one of the runs only.
            is_new = call > calls.get((scope, file), 0) or (scope, file, name) not in then.names
            if then.is_cut or not is_new:
                continue
        if digest != earlier and digest and earlier != "":
            looked_at = scope, file, name, chosen.get((scope, file), call)
            same = now.of(looked_at) == then.of(looked_at)
            return FirstDifference(scope, file, name, call if same else looked_at[-1]), False
    return None, now.is_cut or then.is_cut


class _Digests:
    """The digests of the tensors of a run, which are computed as they are asked for.

    Attributes:
        names: scope, file and name of those that are known.
        is_cut: whether others follow.
    """

    def __init__(self, run: ProgramRun) -> None:
        self._parts = run.digests(SECONDS)
        self._known: dict[Key, str] = {}
        self.names: set[tuple[str, str, str]] = set()
        self.is_cut = True

    def __iter__(self) -> Iterator[tuple[Key, str]]:
        while part := self._next():
            yield from part.items()

    def of(self, key: Key) -> str | None:
        """Return the digest of a tensor, None if there is none."""
        while key not in self._known and self._next():
            pass
        return self._known.get(key)

    def _next(self) -> dict[Key, str]:
        part = next(self._parts, None)
        if part is None:
            return {}
        values, last = part
        self.is_cut = not last
        found = {(scope, file, name, call): digest for scope, file, name, call, digest in values}
        self._known.update(found)
        self.names.update(key[:3] for key in found)
        return found


def _in_shown_calls(before: ProgramRun, after: ProgramRun) -> FirstDifference | None:
    """Compare what the pages show. Of large tensors, bounds and a corner are compared."""
    for item in sorted(after.whole.named, key=lambda item: item.time):
        now, then = after.tensors([item.label]), before.tensors([item.label])
        if [_content(tensor) for tensor in now] != [_content(tensor) for tensor in then]:
            return FirstDifference(item.scope, item.file, item.name)
    return None


def _content(tensor: Tensor) -> tuple[object, ...]:
    # As text, because NaN would not be equal to NaN.
    return tensor.shape, tensor.dtype, repr((tensor.low, tensor.high, tensor.values, tensor.window))


def lead_to_first(session: ProgramSession, before: ProgramRun) -> str:
    """Let the pages of a session show the call with the first tensor that differs from an earlier run.

    Returns the label of the tensor, "" if none differs or the program has failed.
    """
    after = session.opened
    assert after is not None
    found = first_difference(before, after, session.chosen_calls) if after.whole.error is None else None
    if found is None:
        return ""
    item = _named(after, found)
    if found.call and (item is None or item.call != found.call):
        session.lead_to((found.scope, found.file), found.call)
        item = _named(after, found)
    return item.label if item is not None else ""


def _named(run: ProgramRun, difference: FirstDifference) -> Named | None:
    """Return the tensor of a difference as the pages of a run show it."""
    wanted = difference.scope, difference.file, difference.name
    return next((item for item in run.whole.named if (item.scope, item.file, item.name) == wanted), None)
