"""Flows as drawings: no box on another, every arrow from its box to its box and through no third one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_tutor.lessons.render import flow_text
from attn_tutor.lessons.results.flow import Flow, FlowArrow, FlowBox
from attn_tutor.tui.drawings.flow_drawing import DETAILS, FlowLayout, FlowMarks, arrange, draw, fitting, least_size
from attn_tutor.tui.render.palette import palette
from attn_tutor.tui.tty.terminal import Terminal


def flow(*arrows: str, boxes: str = "") -> Flow:
    """Return a flow of boxes with names of one letter, in the order of the alphabet."""
    names = sorted({*"".join(arrows), *boxes})
    pairs = [(arrow[0], arrow[1]) for arrow in arrows]
    found = tuple(FlowBox(name, name, shape=(2, 3), thumbnail=((0.0, 0.5, 1.0), (1.0, 0.0, -1.0))) for name in names)
    return Flow(found, tuple(FlowArrow(source, target, source > target) for source, target in pairs))


def text(drawn: Flow, *, detail: str = "line", unicode: bool = True, path: str = "") -> list[str]:
    """Draw a flow and return its lines."""
    drawing = draw(drawn, detail, palette(Terminal(depth="none", unicode=unicode)), FlowMarks(path=frozenset(path)))  # type: ignore[arg-type]
    return ["".join(part for part, _ in drawing.line(y, 0, drawing.size[0])).rstrip() for y in range(drawing.size[1])]


@st.composite
def flows(draws: st.DrawFn) -> Flow:
    """Draw any flow of up to twelve boxes."""
    names = "abcdefghijkl"[: draws(st.integers(1, 12))]
    pairs = list(itertools.combinations(names, 2))
    chosen = draws(st.lists(st.sampled_from(pairs), unique=True, max_size=20)) if pairs else []
    back = draws(st.lists(st.sampled_from(pairs), unique=True, max_size=2)) if pairs else []
    return flow(*map("".join, chosen), *(f"{target}{source}" for source, target in back), boxes=names)


def check(found: FlowLayout, drawn: Flow) -> None:
    """Check what every layout must keep."""
    rectangles = found.rectangles
    assert set(rectangles) == {box.id for box in drawn.boxes} == set(itertools.chain(*found.layers))
    taken: dict[tuple[int, int], str] = {}
    for id, area in rectangles.items():
        assert 0 <= area.x <= found.width - area.width
        assert 0 <= area.y <= found.height - area.height
        for cell in itertools.product(range(area.x, area.x + area.width), range(area.y, area.y + area.height)):
            assert cell not in taken, (id, taken[cell])
            taken[cell] = id
    forward = {(arrow.source, arrow.target) for arrow in drawn.arrows if not arrow.back}
    assert set(found.arrows) == forward == set(found.heads)
    assert len(set(found.heads.values())) == len(forward), "each arrow ends in a place of its own"
    owners: dict[tuple[int, int, bool], str] = {}
    for (source, target), parts in found.arrows.items():
        assert parts[0].y0 == rectangles[source].y + rectangles[source].height
        assert rectangles[source].x <= parts[0].x0 < rectangles[source].x + rectangles[source].width
        x, y = found.heads[source, target]
        assert y == rectangles[target].y - 1
        assert rectangles[target].x <= x < rectangles[target].x + rectangles[target].width
        for part in parts:
            level = part.y0 == part.y1 and part.x0 != part.x1
            for cell in itertools.product(range(part.x0, part.x1 + 1), range(part.y0, part.y1 + 1)):
                assert cell not in taken, f"{source}{target} runs through {taken.get(cell)}"
                assert owners.setdefault((*cell, level), source) == source, "two arrows on one line"


@settings(max_examples=60, deadline=None)
@given(flows())
def test_any_layout_can_be_read(drawn: Flow) -> None:
    check(arrange(drawn, {box.id: (7, 1) for box in drawn.boxes}), drawn)
    check(
        arrange(drawn, {box.id: (5 + 4 * number % 9, 1 + number % 4) for number, box in enumerate(drawn.boxes)}), drawn
    )


@settings(max_examples=50)
@given(flows(), st.integers(1, 9), st.integers(1, 4))
def test_no_layout_is_smaller_than_the_least_size(drawn: Flow, columns: int, lines: int) -> None:
    sizes = {box.id: (columns + index % 3, lines) for index, box in enumerate(drawn.boxes)}
    found, (width, height) = arrange(drawn, sizes), least_size(drawn, sizes)
    assert width <= found.width
    assert height <= found.height


def test_arrows_that_each_end_where_another_starts() -> None:
    """Whichever ran below the others, two of them lay on one line."""
    drawn = flow(*["ad", "cd", "ah", "ab", "dh", "af", "be", "cg", "eg", "bf", "cf"])
    sizes = {box.id: (5 + 4 * number % 9, 1 + number % 4) for number, box in enumerate(drawn.boxes)}
    check(arrange(drawn, sizes), drawn)


def test_attention_is_drawn_as_people_draw_it() -> None:
    # inputs, queries, keys, values, scores, context
    assert text(flow("aq", "ak", "av", "qs", "ks", "sz", "vz")) == [
        "         [a 2×3]",
        "     ╭──────┼──────╮",
        "     ▼      ▼      ▼",
        "[k 2×3]  [q 2×3]  [v 2×3]",
        "   ╰────╮   │   ╭────╯",
        "        ▼   ▼   │",
        "       [s 2×3]  │",
        "          ╰──╮  │",
        "             ▼  ▼",
        "            [z 2×3]",
    ]


def test_an_input_stands_above_its_first_use() -> None:
    found = arrange(flow("ab", "bc", "de", "ce"), dict.fromkeys("abcde", (5, 1)))
    assert ("c", "d") in [tuple(sorted(layer)) for layer in found.layers]


@pytest.mark.parametrize("unicode", [True, False])
def test_details(unicode: bool) -> None:
    lines = {detail: text(flow("ab"), detail=detail, unicode=unicode) for detail in DETAILS}
    assert "[a 2×3]" in lines["line"][0].replace("x", "×")
    assert all("a" in found[0] for found in lines.values())
    assert len(lines["line"]) < len(lines["thumbnail"]) < len(lines["full"])
    assert unicode or all(line.isascii() for found in lines.values() for line in found)


def test_as_much_detail_as_fits() -> None:
    drawn, colors = flow("ab", "bc"), palette(Terminal())
    sizes = {detail: draw(drawn, detail, colors).size for detail in DETAILS}
    for detail in DETAILS:
        assert fitting(drawn, *sizes[detail], colors).detail == detail
    assert fitting(drawn, 3, 3, colors).detail == "line"


def test_the_path_is_seen_without_colors() -> None:
    plain, lit = text(flow("ab", "ac")), text(flow("ab", "ac"), path="ac")
    assert plain != lit
    assert any("┗" in line or "┃" in line or "━" in line for line in lit)


def test_a_part_of_a_wide_drawing() -> None:
    drawing = draw(flow("ab", "ac", "ad"), "line", palette(Terminal()))
    width = drawing.size[0]
    whole = ["".join(part for part, _ in drawing.line(y, 0, width)) for y in range(drawing.size[1])]
    parts = ["".join(part for part, _ in drawing.line(y, 5, 10)) for y in range(drawing.size[1])]
    assert parts == [line[5:15] for line in whole]


def test_a_box_names_the_later_box_that_it_goes_on_from() -> None:
    """As in a loop: no arrow leads back."""
    [line] = [line for line in text(flow("ab", "bc", "cb")) if "[b" in line]
    assert line.strip() == "[b 2×3 ↺ c]"
    for detail in DETAILS:
        assert "@ c" in "\n".join(text(flow("ab", "bc", "cb"), detail=detail, unicode=False))


def test_text_tells_what_was_read_later_from_what_was_read_first() -> None:
    lines = list(flow_text.lines(flow("ab", "bc", "cb"), 80))
    assert lines[1:] == ["b   2×3   from a   later also from c", "c   2×3   from b"]


@pytest.mark.parametrize("kind", ["weight", "score", "vector"])
def test_thumbnails_have_the_colors_of_matrices(kind: str) -> None:
    colors = palette(Terminal(depth="256"))
    box = FlowBox("a", "a", shape=(1, 2), thumbnail=((0.2, 0.9),), low=0.2, high=0.9, kind=kind)
    runs = draw(Flow((box,), ()), "full", colors).line(1, 0, 9)
    drawn = [style.color for part, style in runs if style and "▀" in part for _ in part]
    scale = colors.scale(kind, 0.2, 0.9)
    assert drawn == [look.bgcolor for value in (0.2, 0.9) if (look := scale.look(value).style)]
