"""A flow in a narrow panel: what is far from the step gives way, and nothing is far from its neighbor."""

from __future__ import annotations

from itertools import pairwise

from lessons.results.flow import Flow, FlowArrow, FlowBox, nearest
from tui.drawings import flow_drawing, flow_layout
from tui.drawings.flow_drawing import FlowMarks
from tui.render.palette import palette
from tui.tty.terminal import Terminal

COLORS = palette(Terminal())
CELLS = ((0.1, 0.9),) * 6


def chain(*names: str, shown: str = "") -> Flow:
    """Return a flow in which each tensor was made of the one before."""
    boxes = tuple(FlowBox(name, name, shape=(6, 2), thumbnail=CELLS, shown=(name,) * (name == shown)) for name in names)
    return Flow(boxes, tuple(FlowArrow(one, two) for one, two in pairwise(names)))


def test_the_nearest_boxes_lead_to_what_is_shown() -> None:
    flow = chain("a", "b", "c", "d", "e", shown="d")
    near = nearest(flow, 3)
    assert [box.id for box in near.boxes] == ["b", "c", "d"]
    assert near.arrows == (FlowArrow("b", "c"), FlowArrow("c", "d"))
    assert near.left_out == 2
    # Without anything shown, it is the last box that they lead to.
    assert [box.id for box in nearest(chain("a", "b", "c"), 2).boxes] == ["b", "c"]
    assert nearest(flow, 9).left_out == 1, "nothing leads from e to d"


def test_a_loop_ends() -> None:
    flow = Flow((FlowBox("a", "a"), FlowBox("b", "b")), (FlowArrow("a", "b"), FlowArrow("b", "a", back=True)))
    assert [box.id for box in nearest(flow, 5).boxes] == ["a", "b"]


def test_far_boxes_give_way_to_thumbnails() -> None:
    flow = chain(*"abcdefgh", shown="h")
    assert flow_drawing.fitting(flow, 40, 20, COLORS).detail == "line"
    near = flow_drawing.nearest_fitting(flow, 40, 20, COLORS, FlowMarks())
    assert near.detail == "thumbnail"
    assert near.flow.boxes[-1].id == "h"
    assert near.size[1] <= 20
    whole = flow_drawing.nearest_fitting(flow, 40, 99, COLORS, FlowMarks())
    assert (len(whole.flow.boxes), whole.detail) == (8, "large")
    # Where not even three boxes have room, they are named.
    assert flow_drawing.nearest_fitting(flow, 40, 4, COLORS, FlowMarks()).detail == "line"


def test_long_names_are_shortened_before_boxes_give_way() -> None:
    flow = chain("inputs", "weights[:, None] * inputs", shown="weights[:, None] * inputs")
    near = flow_drawing.nearest_fitting(flow, 20, 30, COLORS, FlowMarks())
    assert near.detail != "line"
    assert "weights[:, N…" in "\n".join("".join(text for text, _ in near.line(y, 0, 20)) for y in range(near.size[1]))


def test_parts_that_nothing_joins_stand_next_to_each_other() -> None:
    one, two = chain("a", "b", "c"), chain("x", "y", "z")
    sizes = {"a": (40, 3), "b": (9, 3), "c": (9, 3), "x": (9, 3), "y": (9, 3), "z": (9, 3)}
    layout = flow_layout.arrange(Flow(one.boxes + two.boxes, one.arrows + two.arrows), sizes)
    at = {id: area.x for id, area in layout.rectangles.items()}
    assert min(at[right] - at[left] - sizes[left][0] for left, right in ("ax", "by", "cz")) == flow_layout.GAP
