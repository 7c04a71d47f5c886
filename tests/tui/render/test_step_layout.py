"""The layout of a step on screens of all sizes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.render.step_layout import CODE, PANEL, WIDE, Arrangement, Needs, arrange, panes, text_width

LEAST = 6
"""Lines from which the pane that the learner has chosen is always to be seen."""

SIX = (40, 9)
"""A matrix of six rows, with its heading."""

lines = st.integers(0, 60)
needs = st.builds(
    Needs,
    prose=lines,
    code=lines,
    output=lines,
    matrices=st.lists(st.tuples(st.integers(4, 200), st.integers(3, 40)), max_size=4).map(tuple),
    code_width=st.integers(0, 200),
    widest=st.integers(0, 200),
)
sizes = st.tuples(st.integers(20, 250), st.integers(1, 80))


def column_heights(layout: Arrangement) -> list[int]:
    """Return the number of lines that each column of the screen takes."""
    text = layout.prose + layout.code + layout.output
    below = sum(layout.matrices)
    return [text + layout.panel, below + layout.panel] if layout.wide else [text + below + layout.panel]


def height_of(layout: Arrangement, pane: int) -> int:
    return layout.code + layout.output if pane == CODE else layout.matrices[pane]


@given(sizes, needs, st.integers(-2, 5))
def test_all_heights_fit_the_screen(size: tuple[int, int], wanted: Needs, active: int) -> None:
    width, height = size
    layout = arrange(width, height, wanted, active)
    assert min(layout.prose, layout.code, layout.output, *layout.matrices, 0) >= 0
    assert max(column_heights(layout)) <= height
    assert 0 < layout.text_width <= width
    assert len(layout.matrices) == len(wanted.matrices)


@given(sizes, needs, st.integers(-2, 5))
def test_no_part_gets_more_lines_than_it_needs(size: tuple[int, int], wanted: Needs, active: int) -> None:
    layout = arrange(*size, wanted, active)
    assert layout.prose <= wanted.prose
    assert layout.code <= wanted.code
    assert layout.output <= wanted.output
    for got, (_, asked) in zip(layout.matrices, wanted.matrices, strict=True):
        assert got <= asked + 1  # an empty line below it


@given(st.tuples(st.integers(20, 250), st.integers(LEAST, 80)), needs)
def test_the_chosen_pane_is_visible(size: tuple[int, int], wanted: Needs) -> None:
    for pane in panes(wanted):
        assert height_of(arrange(*size, wanted, pane), pane) > 0


@given(sizes, needs, st.integers(-2, 5))
def test_everything_is_shown_at_once_if_it_fits(size: tuple[int, int], wanted: Needs, active: int) -> None:
    width, height = size
    text, matrices = wanted.prose + wanted.code + wanted.output, sum(asked for _, asked in wanted.matrices)
    beside = width >= WIDE and bool(wanted.matrices)
    if (max(text, matrices) if beside else text + matrices) > height:
        return
    layout = arrange(width, height, wanted, active)
    assert (layout.prose, layout.code, layout.output) == (wanted.prose, wanted.code, wanted.output)
    assert all(got >= asked for got, (_, asked) in zip(layout.matrices, wanted.matrices, strict=True))


@given(sizes, needs, st.integers(-2, 5))
def test_a_matrix_that_does_not_fit_is_hidden_unless_chosen(size: tuple[int, int], wanted: Needs, active: int) -> None:
    """Only the chosen matrix may be cut, because it scrolls."""
    layout = arrange(*size, wanted, active)
    cut = [
        index
        for index, (got, (_, asked)) in enumerate(zip(layout.matrices, wanted.matrices, strict=True))
        if 0 < got < asked
    ]
    assert cut in ([], [active if active in range(len(wanted.matrices)) else 0])


def test_an_ssh_screen() -> None:
    """A screen of 80x24 leaves 20 lines to a step."""
    assert arrange(80, 20, Needs(4, 3, 0, (SIX,))) == Arrangement(False, 80, 4, 3, 0, (9,))
    # The second matrix does not fit, but the code does.
    two = Needs(4, 3, 0, (SIX, SIX))
    assert arrange(80, 20, two) == Arrangement(False, 80, 4, 3, 0, (9, 0))
    assert arrange(80, 20, two, 1) == Arrangement(False, 80, 4, 3, 0, (0, 9))
    # If the code is long, the matrix comes first, and the code is shown when it is chosen.
    long = Needs(4, 12, 2, (SIX,))
    assert arrange(80, 20, long) == Arrangement(False, 80, 4, 0, 0, (9,))
    assert arrange(80, 20, long, CODE) == Arrangement(False, 80, 4, 12, 2, (0,))


def test_a_large_screen() -> None:
    """A screen of 160x50 shows everything at once: text on the left, matrices on the right."""
    layout = arrange(160, 46, Needs(6, 20, 3, (SIX, SIX), 70))
    assert layout == Arrangement(True, 70, 6, 20, 3, (10, 9))
    # Without matrices the text has the whole width.
    assert arrange(160, 46, Needs(6, 20, 3)) == Arrangement(False, 160, 6, 20, 3, ())


def test_a_large_screen_is_filled() -> None:
    """Below the code stands the flow, rows of matrices grow, and an explanation stands below its matrix."""
    wanted = Needs(6, 10, 3, (SIX, SIX), 70, flow=(40, 12), rows=(6, 6))
    layout = arrange(160, 46, wanted)
    assert (layout.flow, layout.tall) == (27, 3)
    assert layout.matrices == (22, 21)
    assert arrange(160, 26, wanted).tall == 1
    assert arrange(160, 23, wanted).flow == 0, "a flow of few lines shows nothing"
    explained = arrange(160, 46, replace(wanted, panel=True, explained=12))
    assert (explained.prose, explained.code, explained.flow, explained.tall) == (6, 10, 27, 2)
    assert sum(explained.matrices) + explained.panel == 46
    assert explained.panel >= 12
    # Prose alone keeps a line length that can be read, with the flow below it.
    alone = arrange(160, 46, Needs(6, 0, 0, flow=(40, 12)))
    assert (alone.wide, alone.text_width, alone.flow) == (True, 100, 40)
    # Small screens stay as they are.
    assert arrange(80, 20, wanted) == arrange(80, 20, replace(wanted, flow=(0, 0), rows=()))


@given(sizes, needs, st.lists(st.integers(0, 40), max_size=4), st.integers(0, 30), st.booleans())
def test_what_fills_a_large_screen_stays_on_it(
    size: tuple[int, int], wanted: Needs, rows: list[int], explained: int, panel: bool
) -> None:
    width, height = size
    layout = arrange(width, height, replace(wanted, flow=(9, 9), rows=tuple(rows), explained=explained, panel=panel))
    if layout.wide:
        assert layout.prose + layout.code + layout.output + layout.flow <= height
        assert sum(layout.matrices) + layout.panel <= height


@pytest.mark.parametrize(
    ("width", "code", "with_shapes", "matrix", "expected"),
    [
        (80, 0, 0, 40, 80),
        (109, 70, 70, 40, 109),
        (110, 0, 0, 40, 52),
        (160, 70, 70, 40, 70),
        (160, 120, 120, 40, 80),
        # A ribbon beside the code gets what the matrix leaves, and never more than half of the screen.
        (160, 60, 75, 40, 75),
        (160, 60, 75, 90, 70),
        (160, 60, 75, 140, 60),
        (160, 60, 100, 40, 80),
    ],
)
def test_the_width_of_the_text(width: int, code: int, with_shapes: int, matrix: int, expected: int) -> None:
    wanted = Needs(0, 0, 0, ((matrix, 9),), code_width=code, widest=with_shapes)
    assert text_width(width, wanted) == expected


@given(sizes, needs, st.integers(-2, 5))
def test_a_panel_stays_on_the_screen(size: tuple[int, int], wanted: Needs, active: int) -> None:
    width, height = size
    layout = arrange(width, height, replace(wanted, panel=True), active)
    assert layout.panel >= 0
    assert max(column_heights(layout)) <= height
    # The learner has asked for the panel, so it is visible wherever anything is.
    assert layout.panel or height < 3 or layout.wide


def test_a_panel_replaces_the_prose() -> None:
    without = arrange(80, 20, Needs(6, 3, 0, (SIX,)))
    layout = arrange(80, 20, Needs(6, 3, 0, (SIX,), panel=True))
    assert layout.prose == 0
    assert layout.panel >= without.prose
    assert (layout.code, layout.matrices) == (without.code, without.matrices)
    wide = arrange(120, 36, Needs(6, 3, 0, (SIX,), panel=True))
    assert wide.panel == PANEL
    assert wide.prose == 6


def test_panes() -> None:
    assert panes(Needs(3, 0, 0)) == ()
    assert panes(Needs(3, 2, 0)) == (CODE,)
    assert panes(Needs(3, 0, 1, (SIX, SIX))) == (CODE, 0, 1)
