"""Questions: the forms of an answer, the feedback on wrong answers, and what a run must produce for both."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attn_tutor.lessons.engine.questions import answer_forms, answer_reading, question_facts
from attn_tutor.lessons.engine.questions.answer_forms import answer_text, judge
from attn_tutor.lessons.engine.questions.question_words import why
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import Question
from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.reading.loader import load_lesson
from attn_tutor.lessons.results.result import Failure, Judgement, StepResult, WorkerError
from tests.lessons.lesson_builders import Fields, lesson_of
from tests.lessons.question_builders import (
    DEFAULTS,
    choice_question,
    point_question,
    predict_question,
    result_with,
    tensor,
)

LESSON = load_lesson(Path(__file__).parents[3] / "data" / "questions" / "course" / "01-questions", {})
RECORDED = recorded_outputs.load(LESSON)


def judge_recorded(step_id: str, text: str) -> Judgement:
    """Judge an answer to a question of the lesson that has a question of each kind, by its recording."""
    step = LESSON.step(step_id)
    assert isinstance(step, Question)
    return judge(step, RECORDED[step_id], text)


def feedback_on(step: Question, result: StepResult, text: str) -> str:
    """Return the feedback on a wrong answer."""
    judgement = judge(step, result, text)
    assert (judgement.verdict, judgement.stopped) == ("failed", False)
    return judgement.message


def reason_for_refusal(step: Question, result: StepResult, text: str) -> str:
    """Return the message about an answer that cannot be read."""
    judgement = judge(step, result, text)
    assert (judgement.verdict, judgement.stopped, judgement.checks) == ("error", True, ())
    return judgement.message


# One question of each kind -------------------------------------------------------------------------------------------

RIGHT = {
    "masking": ["b", "B", "2", " b) ", "b) Exactly 0.", "(b)", "b.", "Exactly 0.", "exactly  0"],
    "share": ["0.028", "0.02796", "0,0280", "2.8e-2", "0.027960943", ".02796"],
    "sizes": ["3, 4", "(3,4)", "3x4", "3 × 4", "torch.Size([3, 4])", "[3, 4]", "3 4", "3 by 4", "3,4,", "3*4"],
    "ranking": [
        "3 2 1",
        "3,2,1",
        "3>2>1",
        "[3, 2, 1]",
        "starts, journey, Your",
        "starts > journey > your",
        "3 journey 1",
    ],
    "largest": ["2,2", "[2, 2]", "2 2", "starts, starts", "weights[2,2]", "(2, starts)", "-1,-1", "2;2"],
}


@pytest.mark.parametrize(("step", "text"), [(step, text) for step, texts in RIGHT.items() for text in texts])
def test_a_right_answer_passes(step: str, text: str) -> None:
    judgement = judge_recorded(step, text)
    assert judgement.passed, judgement.message
    assert (judgement.exercise, judgement.mistakes, judgement.stopped) == (step, (), False)
    assert judgement.message == why(LESSON.questions[step], RECORDED[step])
    assert "…" not in judgement.message
    (check,) = judgement.checks
    assert check.passed
    assert check.name.startswith("the right ")


@pytest.mark.parametrize(
    ("step", "text", "expected"),
    [
        ("masking", "a", "It would be so if the score were only very negative, such as -10."),
        ("masking", "it stays -inf", "Weights are shares of a whole, so none of them is below 0."),
        (
            "share",
            "1/11",
            "That is the score divided by the sum of the scores, 0.0909. Softmax takes exponentials first.",
        ),
        ("share", "0,0461", "That is the share of the second key."),
        ("share", "0.03", "Right as far as it goes, but rounded too much: give more digits."),
        ("share", "0.029", "Close, but too large."),
        ("share", "0.05", "Too large."),
        ("share", "9", "Too large: it is off by a factor of more than ten."),
        ("share", "-0.028", "The size is right, the sign is not."),
        ("sizes", "2, 2", "The axis that both share is summed over and does not remain."),
        ("sizes", "4, 3", "The right sizes in the wrong order: yours is transposed."),
        ("sizes", "3, 2", "The number of axes is right, but only 1 of the 2 sizes is."),
        ("sizes", "5, 5", "The number of axes is right, but none of the sizes is."),
        ("sizes", "3, 2, 4", "It has fewer axes."),
        ("sizes", "()", "It has more axes."),
        ("ranking", "1 2 3", "That begins with the smallest."),
        ("ranking", "2 3 1", "1 of 3 is in the right place."),
        ("ranking", "your, starts, journey", "0 of 3 are in the right place."),
        ("largest", "0,2", "That weight is 0.3376. Softmax goes along a row."),
        ("largest", "2,0", "The row is right; look for another cell of it."),
        ("largest", "journey, starts", "The column is right, but the cell is in another row."),
        ("largest", "0,1", "It is in another row and in another column."),
    ],
)
def test_feedback_on_a_wrong_answer(step: str, text: str, expected: str) -> None:
    judgement = judge_recorded(step, text)
    assert (judgement.verdict, judgement.message) == ("failed", expected)
    assert [check.passed for check in judgement.checks] == [False]


@pytest.mark.parametrize(
    ("step", "text", "expected"),
    [
        ("masking", "d", "There is no such option. Answer with a letter from a to c, for example: b"),
        ("masking", "0", "There is no such option. Answer with"),
        ("masking", "", "There is no such option."),
        ("share", "large", "This cannot be read as a number. Answer with a number, for example: 0.25 or 3/7"),
        ("share", "1/0", "This cannot be read as a number."),
        ("share", "1/2/3", "This cannot be read as a number."),
        ("share", "0.0.28", "This cannot be read as a number."),
        ("sizes", "square", "This cannot be read as a shape. Answer with the size of each axis"),
        ("sizes", "-1, 4", "This cannot be read as a shape."),
        ("sizes", "3.0, 4", "This cannot be read as a shape."),
        ("ranking", "3 2", "These are 2, but 3 are asked for."),
        ("ranking", "3 3 1", "One of them stands there twice."),
        ("ranking", "0 1 2", "The numbers are those from 1 to 3."),
        ("ranking", "third", "for example: 3 1 2 or Your journey starts"),
        ("largest", "2", "This cannot be read as a cell. Answer with a cell of weights: its row and column, from 0"),
        ("largest", "0,0,0", "This cannot be read as a cell."),
        ("largest", "3,0", "There is no 3 along that axis: it goes from 0 to 2."),
        ("largest", "trip, 0", "There is no trip along that axis."),
        ("largest", "1,", "This cannot be read as a cell."),
        ("largest", ",1", "There is no empty label along that axis."),
        ("share", "1" * 1001, "This is too long to be an answer."),
    ],
)
def test_an_unreadable_answer_is_not_counted(step: str, text: str, expected: str) -> None:
    judgement = judge_recorded(step, text)
    assert (judgement.verdict, judgement.stopped, judgement.checks) == ("error", True, ())
    assert expected in judgement.message


@pytest.mark.parametrize(
    ("step", "answer", "form"),
    [
        ("masking", "b) Exactly 0.", "Answer with a letter from a to c, for example: b"),
        ("share", "0.02796", "Answer with a number, for example: 0.25 or 3/7"),
        ("sizes", "(3, 4)", "Answer with the size of each axis, outermost first, for example: 4, 9"),
        (
            "ranking",
            "starts, journey, Your",
            "Answer with the numbers in order, from first to last, for example: 3 1 2",
        ),
        (
            "largest",
            "weights[2,2] (starts, starts)",
            "Answer with a cell of weights: its row and column, from 0, for example: 0, 1, or the labels there",
        ),
    ],
)
def test_right_answer_and_its_form(step: str, answer: str, form: str) -> None:
    spec = LESSON.step(step)
    assert isinstance(spec, Question)
    assert answer_text(spec, RECORDED[step]) == answer
    assert answer_forms.how_to_answer(spec) == form


@pytest.mark.parametrize(
    ("step", "before", "after"),
    [
        ("masking", ["scores"], ["scores"]),
        ("share", ["row"], ["row", "shares"]),
        ("sizes", ["inputs", "weight"], ["inputs", "weight", "product"]),
    ],
)
def test_tensors_that_are_visible_before_and_after(step: str, before: list[str], after: list[str]) -> None:
    spec = LESSON.step(step)
    assert isinstance(spec, Question)
    assert [tensor.name for tensor in question_facts.visible_tensors(spec, RECORDED[step], answered=False)] == before
    assert [tensor.name for tensor in question_facts.visible_tensors(spec, RECORDED[step], answered=True)] == after


def test_a_run_agrees_with_the_recording(worker: Session) -> None:
    """So every question can be asked and judged before PyTorch is loaded."""
    run = worker.run(LESSON)
    run.close()
    for step in LESSON.steps:
        assert isinstance(step, Question)
        live, recorded = run.result(step.id), RECORDED[step.id]
        assert live is not None
        assert live.error is None
        assert live.text.keys() == recorded.text.keys() == {field.key for field in step.fields}
        assert [(each.name, each.shape, each.labels) for each in live.tensors] == [
            (each.name, each.shape, each.labels) for each in recorded.tensors
        ]
        assert answer_text(step, live) == answer_text(step, recorded)
        assert judge(step, live, answer_text(step, live).partition(" (")[0] or "(3, 4)").passed


# Options -------------------------------------------------------------------------------------------------------------


def test_a_digit_may_be_the_text_of_an_option() -> None:
    step = choice_question("3", "6", "2")
    assert "may be the place of an option or what one says" in reason_for_refusal(step, result_with(), "3")
    assert judge(step, result_with(), "a").passed
    assert judge(step, result_with(), "1").passed
    assert feedback_on(step, result_with(), "6") == "`6`"
    assert answer_reading.choice_of(step, result_with(), "6") == 1
    assert answer_reading.choice_of(step, result_with(), "3") is None


def test_a_letter_chooses_its_option() -> None:
    step = choice_question("x", "a")
    assert judge(step, result_with(), "a").passed
    assert judge(step, result_with(), "x").passed


def test_options_are_judged_without_a_run_if_they_need_none() -> None:
    assert judge(choice_question("x", "y"), StepResult("made"), "a").passed
    with pytest.raises(WorkerError, match="has not run yet"):
        judge(choice_question("x", "{y}"), StepResult("made"), "a")


@pytest.mark.slow
@given(st.text(max_size=20))
def test_any_text_chooses_at_most_one_option(text: str) -> None:
    assert judge(choice_question("x", "y"), result_with(), text).verdict in ("passed", "failed", "error")


# Numbers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("0.1385", (0.1385,)),
        ("0,1385", (0.1385,)),
        ("1/6", (1 / 6,)),
        ("-1 / 6", (-1 / 6,)),
        ("1,5/3", (0.5,)),
        ("−2", (-2.0,)),
        ("+2", (2.0,)),
        ("1e-3", (0.001,)),
        ("inf", (math.inf,)),
        ("-∞", (-math.inf,)),
        ("1,024", (1024.0, 1.024)),
        ("1,024,000", (1024000.0,)),
        ("1,024.5", (1024.5,)),
        ("1_000", (1000.0,)),
        ("12*1024*1024", (12.0 * 1024 * 1024,)),
        ("2 × 3", (6.0,)),
        ("2 x 1/3", (2 / 3,)),
        ("1,024 * 2", (2048.0, 2.048)),
        ("3*", ()),
        ("2**3", ()),
        ("1*" * 20 + "1", ()),
        ("0x10", ()),
        ("1,02,4", ()),
        ("1.000,5", ()),
        ("half", ()),
        ("", ()),
        ("/", ()),
        ("1/", ()),
    ],
)
def test_numbers_that_a_text_may_mean(text: str, meant: tuple[float, ...]) -> None:
    assert answer_reading.read_numbers(text) == meant


@given(st.floats(allow_nan=False), st.sampled_from(["{}", " {} ", "+{}"]))
@example(0.1, "{}")
def test_every_number_can_be_read(value: float, how: str) -> None:
    if value < 0 or math.copysign(1, value) < 0:
        how = how.replace("+", "")
    assert answer_reading.read_numbers(how.format(repr(value))) == (value,)
    if "e" not in repr(value) and math.isfinite(value):
        assert value in answer_reading.read_numbers(repr(value).replace(".", ","))


@given(st.floats(), st.sampled_from([0, 0.00005, 0.5]))
def test_the_answer_after_giving_up_is_right(value: float, within: float) -> None:
    step, result = predict_question("number", within=within), result_with(x=value)
    assert judge(step, result, answer_text(step, result)).passed


@given(st.floats(), st.floats(), st.sampled_from([0, 0.00005, 0.5]))
@example(math.nan, math.inf, 0.5)
@example(1e308, -1e308, 0)
def test_every_wrong_number_gets_feedback(value: float, answer: float, within: float) -> None:
    judgement = judge(predict_question("number", within=within), result_with(x=value), repr(answer))
    assert judgement.verdict in ("passed", "failed")
    near = answer == value or abs(answer - value) <= within or (math.isnan(answer) and math.isnan(value))
    if near:
        assert judgement.passed
    if judgement.message.startswith("Too"):
        assert ("large" in judgement.message) == (answer > value)


@pytest.mark.parametrize(
    ("right", "text", "expected"),
    [
        (1024, "1,024", ""),
        (1.024, "1,024", ""),
        (124439808, "124,439,808", ""),
        (124439808, "124439807", "Close, but too small."),
        (0.1, "0.1", ""),
        (1 / 3, "1/3", ""),
        (2.0, "2.5", "Too large."),
        (math.nan, "nan", ""),
        (math.nan, "3", "Not that. Neither a larger nor a smaller number would be right."),
        (3, "nan", "It is a number."),
        (math.inf, "1e9", "Too small."),
        (-math.inf, "0", "Too large."),
        (-math.inf, "-inf", ""),
        (5, "inf", "Too large."),
        (0, "0.1", "Too large."),
        (0.1234, "0.12", "Right as far as it goes, but rounded too much: give more digits."),
        (-3, "3", "The size is right, the sign is not."),
        (True, "1", ""),
        ([[2.5]], "2,5", ""),
    ],
)
def test_feedback_says_how_far_off_a_number_is(right: Any, text: str, expected: str) -> None:
    step, result = predict_question("number"), result_with(x=right)
    if expected:
        assert feedback_on(step, result, text) == expected
    else:
        assert judge(step, result, text).passed


def test_tolerance_of_a_number() -> None:
    step = predict_question("number", within=0.00005)
    result = result_with(x=0.13855)
    assert judge(step, result, "0.1385").passed
    assert judge(step, result, "0.1386").passed
    assert not judge(step, result, "0.1384").passed
    assert not judge(predict_question("number", within=0), result_with(x=1_000_000), "1000001").passed


def test_the_first_wrong_answer_that_fits_explains() -> None:
    wrong = [{"is": "y", "why": "First {z}."}, {"is": "w", "why": "Second."}]
    step, result = predict_question("number", wrong=wrong), result_with(x=1, y=2, w=2)
    result.text["z"] = "one"
    assert feedback_on(step, result, "2") == "First one."


# Shapes --------------------------------------------------------------------------------------------------------------

SIZES = st.lists(st.integers(0, 99), max_size=5).map(tuple)
WRITTEN = st.sampled_from([", ", ",", " ", "x", " x ", "×", " * ", " by ", "  "])


@given(SIZES.filter(bool), WRITTEN, st.sampled_from(["{}", "({})", "[{}]", "torch.Size([{}])", " {} "]))
def test_every_shape_can_be_read(shape: tuple[int, ...], between: str, how: str) -> None:
    assert answer_reading.read_sizes(how.format(between.join(map(str, shape)))) == shape


@given(SIZES, SIZES)
def test_a_shape_is_right_only_if_it_is_the_same(shape: tuple[int, ...], answer: tuple[int, ...]) -> None:
    step, result = predict_question("shape"), result_with(x=list(shape))
    judgement = judge(step, result, str(answer))
    assert judgement.passed == (shape == answer)
    assert judgement.message
    assert judge(step, result, answer_text(step, result)).passed


@pytest.mark.parametrize(
    ("right", "text", "expected"),
    [
        ([2, 3, 4], "4,3,2", "The right sizes in the wrong order: yours is transposed."),
        ([2, 3, 4], "3,2,4", "The right sizes in the wrong order."),
        ([2, 3, 4], "2,3,5", "The number of axes is right, but only 2 of the 3 sizes are."),
        ([6], "7", "Too large."),
        (6, "5", "Too small."),
    ],
)
def test_feedback_on_a_wrong_shape(right: Any, text: str, expected: str) -> None:
    assert feedback_on(predict_question("shape"), result_with(x=right), text) == expected


# Orders --------------------------------------------------------------------------------------------------------------

ORDERS = st.integers(2, 7).flatmap(lambda count: st.permutations(range(1, count + 1)))


def test_digits_of_an_order_need_no_separators() -> None:
    step, result = predict_question("order"), result_with(x=[3, 1, 2])
    assert judge(step, result, "312").passed
    assert judge(step, result, "(312)").passed
    assert feedback_on(step, result, "321").startswith("1 of 3 ")
    assert reason_for_refusal(step, result, "31") == "These are 2, but 3 are asked for."
    assert reason_for_refusal(step, result, "3121") == "One of them stands there twice."
    # With ten or more items, 12 is a single number.
    assert reason_for_refusal(step, result_with(x=list(range(12, 0, -1))), "12") == "These are 1, but 12 are asked for."


@given(ORDERS, st.data(), st.sampled_from([" ", ", ", ",", ">", " > ", "; "]))
def test_an_order_is_right_only_if_it_is_the_same(right: list[int], data: st.DataObject, between: str) -> None:
    answer = data.draw(st.permutations(right))
    step, result = predict_question("order"), result_with(x=right)
    judgement = judge(step, result, between.join(map(str, answer)))
    assert judgement.passed == (answer == right)
    good = sum(map(int.__eq__, answer, right))
    if not judgement.passed and answer != right[::-1]:
        assert judgement.message.startswith(f"{good} of {len(right)} ")
    assert judge(step, result, answer_text(step, result)).passed


def test_feedback_on_a_reversed_order() -> None:
    expected = feedback_on(predict_question("order"), result_with(x=[2, 1, 3]), "3 1 2")
    assert expected == "Right, but the wrong way around: yours begins where it should end."


@pytest.mark.parametrize(
    ("labels", "text", "passed"),
    [
        (("a", "b", "c"), "b c a", True),
        (("a b", "c d", "e f"), "c d, e f, a b", True),
        # Some readers would count these from 0, so they are not accepted as labels.
        (("0", "1", "2"), "2 3 1", True),
        # Two labels are equal: only numbers distinguish them.
        (("the", "cat", "the"), "2 3 1", True),
        (("the", "cat", "the"), "cat the the", None),
        (("a", "b"), "b c a", None),
    ],
)
def test_words_for_an_order(labels: tuple[str, ...], text: str, passed: bool | None) -> None:
    step = predict_question("order", show=[{"name": "w", "kind": "weight"}])
    judgement = judge(step, result_with(tensor("w", labels), x=[2, 3, 1]), text)
    assert judgement.passed == bool(passed)
    assert judgement.stopped == (passed is None)


def test_a_question_may_ask_for_the_first_positions_only() -> None:
    step = predict_question("order", show=[{"name": "w", "kind": "weight"}])
    result = result_with(tensor("w", ("a", "b", "c", "d")), x=[3, 1])
    assert judge(step, result, "c a").passed
    assert feedback_on(step, result, "4 1") == "1 of 2 is in the right place."
    assert reason_for_refusal(step, result, "5 1") == "The numbers are those from 1 to 4."
    assert answer_text(step, result) == "c, a"


def test_labels_of_revealed_tensors_are_unknown_before_the_answer() -> None:
    step = predict_question("order", reveal=[{"name": "w", "kind": "weight"}])
    assert reason_for_refusal(step, result_with(tensor("w", ("a", "b")), x=[2, 1]), "b a")


# Cells ---------------------------------------------------------------------------------------------------------------


@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_a_cell_is_right_only_if_it_is_a_right_cell(rows: int, cols: int, data: st.DataObject) -> None:
    row = st.lists(st.booleans(), min_size=cols, max_size=cols)
    cells = data.draw(st.lists(row, min_size=rows, max_size=rows))
    at = data.draw(st.tuples(st.integers(0, rows - 1), st.integers(0, cols - 1)))
    names = tuple(f"r{place}" for place in range(rows)), tuple(f"c{place}" for place in range(cols))
    step, result = point_question(), result_with(tensor("w", *names), x=cells)
    by_index = judge(step, result, f"{at[0]}, {at[1]}")
    by_label = judge(step, result, f"{names[0][at[0]]}, {names[1][at[1]]}")
    assert by_index == by_label
    assert by_index.passed == cells[at[0]][at[1]]
    assert by_index.message
    assert (at in question_facts.right_cells(step, result)) == by_index.passed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", "Further to the right."),
        ("3", "Further to the left."),
        ("a", "Further to the right."),
    ],
)
def test_a_cell_of_a_vector(text: str, expected: str) -> None:
    result = result_with(tensor("w", ("a", "b", "c", "d")), x=[False, False, True, False])
    assert feedback_on(point_question(shown={"axes": ["key"]}), result, text) == expected


def test_feedback_on_a_cell_between_right_cells() -> None:
    assert (
        feedback_on(point_question(), result_with(tensor("w", ("a", "b", "c")), x=[True, False, True]), "1")
        == "Not this one."
    )


def test_a_cell_of_several_matrices() -> None:
    names = ("x",), ("h0", "h1"), ("a", "b"), ("c", "d")
    cells = [[[[False, False], [False, False]], [[False, True], [False, False]]]]
    step, result = point_question(), result_with(tensor("w", *names), x=cells)
    assert judge(step, result, "0, 1, 0, 1").passed
    # The first axis has only one index.
    assert judge(step, result, "h1, a, d").passed
    assert feedback_on(step, result, "0 0 1") == "Not in this matrix: look at another one of them."
    assert reason_for_refusal(step, result, "0 1").startswith("This cannot be read as a cell.")


def test_a_repeated_label_names_no_cell() -> None:
    result = result_with(tensor("w", ("the", "cat", "the")), x=[False, True, False])
    step = point_question(shown={"axes": ["key"]})
    assert reason_for_refusal(step, result, "the") == "the stands there 2 times: write its index."
    assert judge(step, result, "cat").passed


def test_cells_can_be_judged_without_the_matrix() -> None:
    """A matrix may be too large to travel, or fail to be shown."""
    result = result_with(x=[[False, True]])
    assert judge(point_question(), result, "0,1").passed
    assert answer_text(point_question(), result) == "w[0,1]"


def test_many_right_cells_are_not_all_named() -> None:
    result = result_with(tensor("w", tuple("abcde")), x=[True, True, True, True, False])
    assert answer_text(point_question(), result) == "w[0] (a) or w[1] (b) or w[2] (c) (and 1 more)"


# What a run must produce ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asks", ["number", "shape", "order"])
@pytest.mark.parametrize("value", ["x", None, {"a": 1}, [[1, 2], 3], [1.5]])
def test_facts_that_cannot_be_an_answer_raise(asks: str, value: Any) -> None:
    step, result = predict_question(asks), result_with(x=value)
    if asks == "number" and value == [1.5]:
        return
    with pytest.raises(WorkerError, match="The answer of this question is not a"):
        judge(step, result, "1")


def test_a_failed_run_cannot_be_judged() -> None:
    step = predict_question("number")
    failed = StepResult("made", error=Failure("error", "NameError: no x.", 1))
    for ask in (judge, lambda step, result, _: answer_text(step, result)):
        with pytest.raises(WorkerError, match=r"did not come to its end: NameError: no x\."):
            ask(step, failed, "1")
        with pytest.raises(WorkerError, match="has not run yet"):
            ask(step, StepResult("made"), "1")
        with pytest.raises(WorkerError, match="did not give what"):
            ask(step, StepResult("made", text={"x!j": "{"}), "1")


def test_an_answer_that_the_run_cannot_compute(worker: Session) -> None:
    fields: Fields = DEFAULTS | {"id": "made", "kind": "predict", "asks": "number", "answer": "nothing"}
    run = worker.run(lesson_of(fields))
    run.close()
    (result,) = run.steps
    assert result.error is not None
    assert result.error.message.startswith("{nothing!j} in the answer: NameError")


def test_facts_of_every_type(worker: Session) -> None:
    """Every value is sent as JSON, and later code sees the variables of the question's code."""
    values = {
        "torch.tensor([1.5, float('inf'), float('-inf')])": [1.5, math.inf, -math.inf],
        "torch.zeros(2, 3).shape": [2, 3],
        "(1, True)": [1, True],
        "torch.eye(2) > 0": [[True, False], [False, True]],
        "torch.tensor(0.5, dtype=torch.bfloat16)": 0.5,
        "made": 3,
    }
    wrong = [{"is": expression, "why": "No."} for expression in values]
    fields: Fields = DEFAULTS | {
        "id": "made",
        "kind": "predict",
        "asks": "number",
        "answer": "float('nan')",
        "wrong": wrong,
        "code": "import torch\nmade = 3",
    }
    after = {"kind": "run", "id": "after", "title": "A", "prose": "B", "code": "print(made)"}
    lesson = lesson_of(fields, after)
    run = worker.run(lesson)
    run.close()
    asked, later = run.steps
    assert asked.error is None
    for expression, value in values.items():
        assert json.loads(asked.text[template.fact(expression).key]) == value
    assert asked.text["float('nan')!j"] == "NaN"
    assert later.stdout == "3\n"
