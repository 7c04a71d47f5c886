"""A flow in a narrow panel: what is far from the step gives way, and nothing is far from its neighbor."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from attn_tutor.lessons.results.flow import Flow, FlowArrow, FlowBox, nearest, with_explained
from attn_tutor.tui.drawings import flow_drawing
from attn_tutor.tui.drawings.flow_drawing import FlowMarks
from attn_tutor.tui.render.palette import palette
from attn_tutor.tui.tty.terminal import Terminal

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
    # Nothing is torn: where a box has no room for its thumbnail, it has a line, or is not drawn.
    for width in (2, 7, 13, 29):
        for height in (0, 1, 3, 5, 11):
            drawing = flow_drawing.nearest_fitting(flow, width, height, COLORS, FlowMarks())
            assert drawing.size[0] <= width
            assert drawing.size[1] <= height
    assert not flow_drawing.nearest_fitting(flow, 3, 1, COLORS, FlowMarks()).flow.boxes


def test_a_box_says_how_many_of_its_sources_are_left_out() -> None:
    flow = Flow(chain("a", "b", "c").boxes, (FlowArrow("a", "c"), FlowArrow("b", "c")))
    near = nearest(flow, 2)
    assert [(box.id, box.unseen) for box in near.boxes] == [("a", 0), ("c", 1)]
    drawing = flow_drawing.draw(near, "line", COLORS)
    assert "[c 6×2 ←1]" in "".join(text for text, _ in drawing.line(drawing.size[1] - 1, 0, drawing.size[0]))


def test_the_path_of_an_explanation_ends_in_what_is_explained() -> None:
    flow = chain("a", "b", "c", shown="c")
    assert with_explained(flow, "c") == flow, "nothing is explained"
    on_path = replace(flow, path=("b",))
    assert with_explained(on_path, "c").path == ("b", "c")
    assert with_explained(on_path, "other") == on_path


def test_long_names_are_shortened_before_boxes_give_way() -> None:
    flow = chain("inputs", "weights[:, None] * inputs", shown="weights[:, None] * inputs")
    near = flow_drawing.nearest_fitting(flow, 20, 30, COLORS, FlowMarks())
    assert near.detail != "line"
    assert "weights[:, N…" in "\n".join("".join(text for text, _ in near.line(y, 0, 20)) for y in range(near.size[1]))


def test_parts_that_nothing_joins_stand_next_to_each_other() -> None:
    one, two = chain("a", "b", "c"), chain("x", "y", "z")
    sizes = {"a": (40, 3), "b": (9, 3), "c": (9, 3), "x": (9, 3), "y": (9, 3), "z": (9, 3)}
    layout = flow_drawing.arrange(Flow(one.boxes + two.boxes, one.arrows + two.arrows), sizes)
    at = {id: area.x for id, area in layout.rectangles.items()}
    assert min(at[right] - at[left] - sizes[left][0] for left, right in ("ax", "by", "cz")) == flow_drawing.LAYER_GAP
