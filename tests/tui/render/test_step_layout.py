"""The layout of a step on screens of all sizes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.tui.render.step_layout import CODE, PANEL, WIDE, Arrangement, Needs, arrange, panes, text_width

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
    rows = range(0, len(layout.matrices), layout.beside)
    below = sum(max(layout.matrices[row : row + layout.beside]) for row in rows)
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


FORMS = (64, 57, 45, 39, 20)
"""The columns of a matrix of six by six, from all its digits to shades."""


def six(count: int) -> Needs:
    """Return what a step with matrices of six by six needs."""
    return Needs(5, 3, 0, ((64, 8),) * count, forms=(FORMS,) * count)


def parts(layout: Arrangement) -> list[tuple[int, int, int, int]]:
    """Return where matrices stand: x, y, columns and lines."""
    places, widths = layout.places(), layout.widths
    return [(*at, width, lines) for at, width, lines in zip(places, widths, layout.matrices, strict=True)]


@given(st.integers(20, 109), st.integers(1, 60), needs, st.integers(-2, 5))
def test_no_rows_stay_empty_below_a_pane_that_is_cut(width: int, height: int, wanted: Needs, active: int) -> None:
    layout = arrange(width, height, wanted, active)
    shown = (layout.prose, layout.code, layout.output, *layout.matrices)
    asked = (wanted.prose, wanted.code, wanted.output, *(lines for _, lines in wanted.matrices))
    empty = height - column_heights(layout)[0]
    # Two lines are too few for a matrix, and one for code.
    assert empty < 3 or all(got >= lines - 1 for got, lines in zip(shown, asked, strict=True))


@given(st.lists(st.tuples(st.integers(4, 90), st.integers(3, 20)), min_size=2, max_size=4), st.integers(10, 60))
def test_matrices_beside_each_other_do_not_overlap(matrices: list[tuple[int, int]], height: int) -> None:
    forms = tuple((columns, columns, columns, columns, max(3, columns // 3)) for columns, _ in matrices)
    layout = arrange(80, height, Needs(3, 3, 0, tuple(matrices), forms=forms))
    if layout.beside == 1:
        return
    placed = parts(layout)
    taken = [(x + dx, y + dy) for x, y, columns, lines in placed for dx in range(columns) for dy in range(lines)]
    assert len(set(taken)) == len(taken)
    assert all(x < 80 and y < height for x, y in taken)
    assert all(columns >= least[-1] for (_, _, columns, _), least in zip(placed, forms, strict=True))


def test_matrices_that_do_not_fit_below_each_other_stand_side_by_side() -> None:
    assert parts(arrange(80, 20, six(2))) == [(0, 0, 40, 8), (40, 0, 40, 8)]
    # Only in shades do three of them fit.
    three = arrange(80, 20, six(3))
    assert (three.beside, three.widths, three.code) == (3, (26, 26, 28), 3)
    # Of three narrow matrices in shades, a screen of 40 columns would show too little.
    assert arrange(40, 20, replace(six(3), forms=((64, 57, 45, 39, 13),) * 3)).beside == 1
    # Where the screen is high enough, all digits are shown.
    assert arrange(80, 30, six(2)).beside == 1


def test_code_stays_above_the_matrices() -> None:
    """A screen of 80x24 leaves 20 lines to a step."""
    assert arrange(80, 20, Needs(4, 3, 0, (SIX,))) == Arrangement(False, 80, 4, 3, 0, (9,))
    # Long code is shown in part; it has the focus to be read in full.
    long = Needs(5, 12, 0, ((64, 8),), forms=(FORMS,))
    assert (arrange(80, 20, long).code, arrange(80, 20, long).matrices) == (7, (8,))
    assert (arrange(80, 20, long, CODE).code, arrange(80, 20, long, CODE).matrices) == (12, (3,))
    # Of a matrix with a thousand rows some are shown, below all of the code.
    large = arrange(80, 20, Needs(5, 8, 0, ((9000, 1027),)))
    assert (large.prose, large.code, large.matrices) == (5, 8, (7,))


def test_a_step_loses_the_empty_lines_below_its_text_before_anything_else() -> None:
    tight = arrange(80, 20, Needs(5, 5, 0, ((75, 6), (80, 6))))
    assert (tight.prose, tight.code, tight.matrices) == (4, 4, (6, 6))


def test_on_a_small_screen_the_matrix_comes_before_the_code() -> None:
    layout = arrange(40, 11, Needs(9, 8, 0, ((37, 8),)))
    assert (layout.prose, layout.code, layout.matrices) == (3, 0, (8,))


def test_a_large_screen() -> None:
    """A screen of 160x50 shows everything at once: text on the left, matrices on the right."""
    layout = arrange(160, 46, Needs(6, 20, 3, (SIX, SIX), 70))
    assert layout == Arrangement(True, 70, 6, 20, 3, (10, 9))
    # Prose alone keeps a line length that can be read, unless its code is wider.
    assert arrange(160, 46, Needs(6, 20, 3)) == Arrangement(False, 88, 6, 20, 3, ())
    assert arrange(160, 46, Needs(6, 20, 3, code_width=120)) == Arrangement(False, 120, 6, 20, 3, ())


def test_a_large_screen_is_filled() -> None:
    """Rows of matrices grow, and an explanation stands below its matrix."""
    wanted = Needs(6, 10, 3, (SIX, SIX), 70, rows=(6, 6))
    layout = arrange(160, 46, wanted)
    assert (layout.matrices, layout.tall) == ((22, 21), 3)
    assert arrange(160, 26, wanted).tall == 1
    explained = arrange(160, 46, replace(wanted, panel=True, explained=12))
    assert (explained.prose, explained.code, explained.tall) == (6, 10, 2)
    assert sum(explained.matrices) + explained.panel == 46
    assert explained.panel >= 12


def test_the_text_stays_above_an_explanation_where_both_fit() -> None:
    wanted = Needs(9, 3, 0, (SIX,), 70, rows=(6,), panel=True, explained=9)
    high = arrange(88, 36, wanted)
    assert (high.prose, high.code, high.panel >= 9) == (9, 3, True)
    assert high.prose + high.code + high.panel + sum(high.matrices) <= 36
    # On a screen of 24 lines, and for the what-if panel, the prose gives way.
    assert arrange(80, 20, wanted).prose == 0
    assert arrange(88, 36, replace(wanted, explained=0)).prose == 0


@given(sizes, needs, st.lists(st.integers(0, 40), max_size=4), st.integers(0, 30), st.booleans())
def test_what_fills_a_large_screen_stays_on_it(
    size: tuple[int, int], wanted: Needs, rows: list[int], explained: int, panel: bool
) -> None:
    width, height = size
    layout = arrange(width, height, replace(wanted, rows=tuple(rows), explained=explained, panel=panel))
    if layout.wide:
        assert layout.prose + layout.code + layout.output <= height
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


@pytest.mark.parametrize(("width", "height"), [(100, 38), (120, 38), (160, 48), (80, 30)])
def test_many_rows_to_change_take_more_of_a_large_screen(width: int, height: int) -> None:
    needs = Needs(6, 3, 0, (SIX,), panel=True)
    few, many = (arrange(width, height, replace(needs, changeable=count)) for count in (3, 90))
    assert few == arrange(width, height, needs)
    assert many.panel == height * 2 // 5
    assert many.matrices[0] >= 3
    assert arrange(80, 22, replace(needs, changeable=90)) == arrange(80, 22, needs)


def test_panes() -> None:
    assert panes(Needs(3, 0, 0)) == ()
    assert panes(Needs(3, 2, 0)) == (CODE,)
    assert panes(Needs(3, 0, 1, (SIX, SIX))) == (CODE, 0, 1)


@given(sizes, needs, st.integers(-2, 5))
def test_where_numbers_are_asked_for_matrices_are_cut_and_not_drawn_as_shades(
    size: tuple[int, int], wanted: Needs, active: int
) -> None:
    forms = tuple((columns, 3 * columns // 4, columns // 2, 6) for columns, _ in wanted.matrices)
    layout = arrange(*size, replace(wanted, forms=forms, digits=True), active)
    for columns, form in zip(layout.widths, forms, strict=False):
        assert layout.beside == 1 or columns >= form[2]


def test_two_matrices_that_fit_in_shades_only() -> None:
    wide, lines = 96, 18
    wanted = Needs(prose=3, code=5, output=0, matrices=((wide, lines),) * 2, forms=((wide, wide, 90, 40),) * 2)
    assert arrange(100, 36, wanted).beside == 2
    shown = arrange(100, 36, replace(wanted, digits=True))
    assert shown.beside == 1
    assert shown.matrices[0] == lines
    assert 0 < shown.matrices[1] < lines
