"""The layout of a question on screens of all sizes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.tui.drawings.question_drawing import (
    BESIDE,
    LEAST_ANSWER,
    LEAST_ASIDE,
    LEAST_TASK,
    ROOMY,
    AnswerLines,
    beside_explanation,
    lay_out,
)
from attn_tutor.tui.render.step_layout import CODE, WIDE, Needs

LINES = st.integers(0, 40)
ANSWERS = st.builds(AnswerLines, LINES, LINES, st.integers(0, 1), LINES)


def test_the_entry_line_stays_and_the_form_goes_first() -> None:
    answer = AnswerLines(form=1, options=4, entry=1, word=3)
    assert answer.within(9, remark=False) == answer
    assert answer.within(8, remark=False) == AnswerLines(0, 4, 1, 3)
    assert answer.within(6, remark=False) == AnswerLines(0, 4, 1, 1)
    assert answer.within(1, remark=False) == AnswerLines(0, 0, 1, 0)


def test_a_remark_takes_a_line_of_the_options() -> None:
    answer = AnswerLines(form=1, options=4, entry=0, word=1)
    assert answer.within(4, remark=False) == AnswerLines(0, 4, 0, 0)
    assert answer.within(4, remark=True) == AnswerLines(0, 3, 0, 1)


@given(ANSWERS, LINES, st.booleans())
def test_the_answer_box_never_gets_more_lines_than_there_are(answer: AnswerLines, room: int, remark: bool) -> None:
    got = answer.within(room, remark=remark)
    assert got.total <= room
    assert min(got.form, got.options, got.entry, got.word) >= 0


def test_beside_an_explanation_the_answer_is_shown_where_there_is_room() -> None:
    needs, answer = Needs(3, 2, 0, ((30, 8),), 20, 20, panel=True), AnswerLines(1, 4, 0, 0)
    assert lay_out(80, ROOMY + 5, needs, answer, CODE).answer == 5
    assert lay_out(80, ROOMY + 4, needs, answer, CODE).answer == 0


def test_matrices_stand_beside_each_other_where_they_do_not_fit_below() -> None:
    two = ((26, 8), (30, 5))
    needs = Needs(7, 0, 0, two, 20, 20, forms=((26, 20), (30, 24)))
    layout = lay_out(80, 20, needs, AnswerLines(2, 0, 0, 0), 0)
    assert layout.matrices == (8, 5)
    assert layout.figures in (8, 9)
    (x, y), (right, below) = layout.places
    assert (x, y, right, below) == (0, 0, layout.widths[0], 0)
    assert sum(layout.widths) == 80
    assert layout.prose == 7
    assert layout.answer == 2


def test_matrices_stand_below_each_other_where_they_fit() -> None:
    needs = Needs(7, 0, 0, ((26, 8), (30, 5)), 20, 20, forms=((26, 20), (30, 24)))
    assert lay_out(80, 23, needs, AnswerLines(2, 0, 0, 0), 0).places == ()


@given(st.integers(3, 60), LINES, LINES, st.lists(st.integers(3, 12), min_size=1, max_size=4), st.integers(0, 3))
def test_beside_an_explanation_the_task_is_seen_and_a_part_of_a_matrix(
    height: int, explained: int, task: int, matrices: list[int], active: int
) -> None:
    active %= len(matrices)
    panel, text, figures = beside_explanation(height, explained, task, matrices, active)
    assert panel + text + sum(figures) <= height
    assert panel <= explained
    assert text <= task
    if height >= LEAST_ASIDE + BESIDE:
        assert text >= min(task, LEAST_ASIDE)
        assert figures[active] >= min(matrices[active], BESIDE)
    if height >= explained + task + sum(matrices):
        assert (panel, text) == (explained, task)
        assert all(map(int.__ge__, figures, matrices))


def test_the_matrix_that_shows_the_answer_is_whole() -> None:
    needs, answer = Needs(8, 3, 0, ((70, 8),), 20, 20), AnswerLines(0, 0, 0, 14)
    assert lay_out(80, 20, needs, answer, 0).matrices[0] < 8
    layout = lay_out(80, 20, needs, answer, 0, answered=True)
    assert (layout.prose, layout.matrices[0], layout.answer) == (LEAST_TASK, 8, 9)
    assert lay_out(80, 14, needs, answer, 0, answered=True).answer == LEAST_ANSWER


@given(st.integers(20, 200), st.integers(4, 60), LINES, LINES, ANSWERS)
def test_everything_fits_on_the_screen(width: int, height: int, prose: int, code: int, answer: AnswerLines) -> None:
    layout = lay_out(width, height, Needs(prose, code, 0, ((30, 8),), 20, 20), answer, 0)
    assert layout.wide == (width >= WIDE)
    if not layout.wide:
        assert layout.prose + layout.code + sum(layout.matrices) + layout.answer <= height
