"""The flow of a run: which tensors were computed from which, as boxes and arrows; plain data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from attn_tutor.lessons.results.field_bounds import Count, Finite, Line, Longest, Name, Printed, Sizes, Type

LARGEST_THUMBNAIL = (6, 12)
"""The most rows and columns of the thumbnail of a tensor in its box."""

MOST_BOXES = 120
"""Boxes of one flow, besides those for what came from outside; of more, those nearest to what was asked are kept."""

MOST_SENT = 2000
"""Boxes that a flow may have with those for what came from outside."""

MOST_ARROWS = 10_000

Thumbnail = Annotated[tuple[Annotated[tuple[float, ...], Longest(12)], ...], Longest(6)]


@dataclass(frozen=True, slots=True)
class FlowBox:
    """A tensor, or what a piece of code has computed, with the code that computed it.

    Attributes:
        id: stays the same while the run does not go on, whatever boxes are open.
        name: as the source calls the result; the code itself if the source gives it no name.
        code: the statement or expression on one line; "" for a tensor that came from outside.
        unit: the unit of code in its form for people, or the file.
        line: of the code in its unit, from 1; None if it is not known.
        shape, dtype: of the result; None and "" if the code has no single result.
        thumbnail: the result as rows of numbers, one for each block of a matrix; empty if its numbers are gone.
        low, high: the least and the greatest finite number of the result; None if there is none.
        times: how often the code ran; None if that is not known.
        operations: the number of recorded operations in it.
        opens: whether it can be opened, to show the code inside.
        parent: the id of the open box that it is in; "" if it is in none.
        shown: the names under which the step shows the result.
        loops: whether it was computed from an earlier value of itself.
        unseen: how many of the boxes that it was computed from are left out.
        kind: the meaning of the numbers, which decides their colors; a worker does not know it.
    """

    id: Name
    name: Printed
    code: Printed = ""
    unit: Printed = ""
    line: Line | None = None
    shape: Sizes | None = None
    dtype: Type = ""
    thumbnail: Thumbnail = ()
    low: Finite | None = None
    high: Finite | None = None
    times: Count | None = 1
    operations: Count = 0
    opens: bool = False
    parent: Name = ""
    shown: Annotated[tuple[Printed, ...], Longest(1000)] = ()
    loops: bool = False
    unseen: Count = 0
    kind: Type = "vector"

    def check(self) -> None:
        """Raise `ValueError` if the rows of the thumbnail differ in length, or a worker claims to know the kind."""
        if len({len(row) for row in self.thumbnail}) > 1 or () in self.thumbnail:
            raise ValueError("a thumbnail of no matrix")
        if self.kind != "vector":
            raise ValueError("a kind that a worker does not know")


@dataclass(frozen=True, slots=True)
class OpenBox:
    """A box that is open: the boxes whose `parent` it is stand in its place. The fields are those of `FlowBox`."""

    id: Name
    name: Printed
    code: Printed = ""
    parent: Name = ""


@dataclass(frozen=True, slots=True)
class FlowArrow:
    """An arrow: the code of `target` read what the code of `source` had written.

    Attributes:
        source, target: ids of boxes.
        back: whether it leads to a box that began earlier, as in a loop.
    """

    source: Name
    target: Name
    back: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """The boxes of a run in the order of computation, and the arrows between them.

    Attributes:
        opened: the boxes that are open, outer ones first.
        path: the ids of the boxes that an explanation leads through.
        left_out: how many boxes there are besides: those farthest from what was asked about.
    """

    boxes: Annotated[tuple[FlowBox, ...], Longest(MOST_SENT)]
    arrows: Annotated[tuple[FlowArrow, ...], Longest(MOST_ARROWS)]
    opened: Annotated[tuple[OpenBox, ...], Longest(MOST_SENT)] = ()
    path: Annotated[tuple[Name, ...], Longest(MOST_SENT)] = ()
    left_out: Count = 0

    def check(self) -> None:
        """Raise `ValueError` if boxes have no id of their own, or arrows, parents or the path lead nowhere.

        All arrows but those back lead on in the order of the boxes, so that no way through them is endless.
        """
        places = {box.id: place for place, box in enumerate(self.boxes)}
        parents = {""}
        for box in self.opened:
            if box.parent not in parents or box.id in parents or box.id in places:
                raise ValueError("a box in no box")
            parents.add(box.id)
        if len(places) != len(self.boxes) or any(box.parent not in parents for box in self.boxes):
            raise ValueError("two boxes with one id, or a box in no box")
        for arrow in self.arrows:
            if arrow.source not in places or arrow.target not in places:
                raise ValueError("an arrow from or to no box")
            if not arrow.back and places[arrow.source] >= places[arrow.target]:
                raise ValueError("an arrow back that is none")
        if not places.keys() >= set(self.path):
            raise ValueError("a path through no box")

    def box(self, id: str) -> FlowBox | None:
        """Return the box with an id; None if there is none."""
        return next((box for box in self.boxes if box.id == id), None)

    def sources(self, id: str) -> tuple[str, ...]:
        """List the boxes that a box was computed from."""
        return tuple(arrow.source for arrow in self.arrows if arrow.target == id)

    def sources_again(self, id: str) -> tuple[str, ...]:
        """List the boxes after a box whose results it read when it ran once more, as in a loop."""
        return tuple(arrow.source for arrow in self.arrows if arrow.target == id and arrow.back)

    def targets(self, id: str) -> tuple[str, ...]:
        """List the boxes that were computed from a box."""
        return tuple(arrow.target for arrow in self.arrows if arrow.source == id)


def longest_path(flow: Flow) -> tuple[FlowBox, ...]:
    """Return the longest way through a flow that ends with what the step shows, or with the last box.

    It leads through tensors only, and not through the modules that hold parameters.
    """
    longest: dict[str, tuple[str, ...]] = {}
    for box in flow.boxes:
        before = [longest[arrow.source] for arrow in flow.arrows if arrow.target == box.id and not arrow.back]
        # The first of equally long ones is the first that the code names.
        longest[box.id] = (*_longest(before), *([box.id] if box.shape is not None else []))
    chosen = _longest([longest[box.id] for box in flow.boxes if box.shown] or list(longest.values())[-1:])
    return tuple(box for box in flow.boxes if box.id in chosen)


def _longest(ways: list[tuple[str, ...]]) -> tuple[str, ...]:
    return max(ways, key=len) if ways else ()


def with_explained(flow: Flow, name: str) -> Flow:
    """Return a flow whose path ends in the tensor that the step shows under a name; a flow without a path stays."""
    ends = tuple(box.id for box in flow.boxes if name in box.shown) if flow.path else ()
    return replace(flow, path=(*flow.path, *(id for id in ends if id not in flow.path)))


def nearest(flow: Flow, count: int) -> Flow:
    """Return the boxes of a flow that are nearest to what the step shows, against the arrows, and the arrows between.

    Args:
        flow: the flow.
        count: how many boxes are kept at most.
    """
    order = [box.id for box in flow.boxes if box.shown] or [box.id for box in flow.boxes[-1:]]
    for id in order:
        # The list grows while it is read: first come the boxes that are one arrow away.
        order += [source for source in flow.sources(id) if source not in order]
    kept = set(order[:count])
    boxes = tuple(
        replace(box, unseen=sum(id not in kept for id in flow.sources(box.id))) for box in flow.boxes if box.id in kept
    )
    arrows = tuple(arrow for arrow in flow.arrows if arrow.source in kept and arrow.target in kept)
    return replace(flow, boxes=boxes, arrows=arrows, left_out=flow.left_out + len(flow.boxes) - len(boxes))
