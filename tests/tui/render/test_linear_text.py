"""Lessons as linear text: everything that the screen shows, in lines that any terminal, pipe or reader takes."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import pytest
from rich.cells import cell_len

from attn_tutor.lessons.format.lesson import ChoiceStep, Course, ExerciseStep, Lesson, ReadStep, RunStep
from attn_tutor.lessons.render import linear_matrix
from attn_tutor.lessons.results.result import (
    AnswerDifference,
    CheckResult,
    Failure,
    Judgement,
    NamedMistake,
    StepResult,
    Tensor,
    Window,
)
from attn_tutor.tui.render import linear_text

MARKUP = "[bold]red[/bold] [@click=app.quit]x[/] [/nope]"


def tensor(
    values: tuple[float, ...] | None,
    shape: tuple[int, ...],
    labels: tuple[tuple[str, ...], ...] | None = None,
    axes: tuple[str, ...] | None = None,
    **fields: Any,
) -> Tensor:
    finite = [value for value in values or () if value - value == 0]
    usual: dict[str, Any] = {
        "name": "x",
        "kind": "weight",
        "dtype": "float32",
        "low": min(finite, default=None),
        "high": max(finite, default=None),
    }
    return Tensor(
        shape=shape,
        values=values,
        axes=("batch", "head", "query", "key")[4 - len(shape) :] if axes is None else axes,
        labels=tuple(tuple(f"k{index}" for index in range(size)) for size in shape) if labels is None else labels,
        **usual | fields,
    )


def text(lines: object) -> str:
    assert isinstance(lines, Iterator)
    return "\n".join(lines) + "\n"


def expected(lines: str) -> str:
    return dedent(lines).lstrip("\n")


# Matrices ------------------------------------------------------------------------------------------------------------


def test_matrix() -> None:
    words = ("Your", "journey")
    example = tensor((0.25, 0.75, 1.0, 0.0), (2, 2), (words, words), name="weights")
    assert text(linear_matrix.matrix(example)) == expected("""
        weights  2×2  rows: query, columns: key  from 0 to 1
                      Your  journey
             Your   0.2500   0.7500
          journey   1.0000   0.0000
    """)


def test_vector() -> None:
    example = tensor((1.5, -2.0), (2,), (("d0", "d1"),), ("dim",), kind="vector")
    assert text(linear_matrix.matrix(example)) == expected("""
        x  2  columns: dim  from -2 to 1.5
                 d0       d1
             1.5000  -2.0000
    """)


def test_single_number() -> None:
    assert text(linear_matrix.matrix(tensor((1.4754,), ()))) == expected("""
        x  a single number
            1.4754
    """)


def test_mask_of_booleans() -> None:
    example = tensor((1, 0, 1, 1), (2, 2), (("a", "b"), ("a", "b")), kind="mask", dtype="bool", low=0.0, high=1.0)
    assert text(linear_matrix.matrix(example)) == expected("""
        x  2×2  rows: query, columns: key  from 0 to 1
             a  b
          a  1  0
          b  1  1
    """)


def test_bounds_have_three_digits_unless_they_are_integers() -> None:
    example = tensor((0.123456, 1234.5678), (2,))
    assert next(linear_matrix.matrix(example)).endswith("  from 0.123 to 1.23e+03")
    example = tensor((-7, 1769472), (2,), dtype="int64")
    assert next(linear_matrix.matrix(example)).endswith("  from -7 to 1769472")


def test_infinity_and_nan() -> None:
    example = tensor((0.5, float("-inf"), float("nan"), float("inf")), (2, 2), (("a", "b"), ("a", "b")))
    assert text(linear_matrix.matrix(example)) == expected("""
        x  2×2  rows: query, columns: key  from 0.5 to 0.5
                  a       b
          a  0.5000    -inf
          b     nan     inf
    """)


def test_without_finite_values() -> None:
    lines = list(linear_matrix.matrix(tensor((float("nan"),), (1,))))
    assert lines[0] == "x  1  columns: key"
    assert lines[-1].split() == ["nan"]


def test_leading_axes_become_tables() -> None:
    example = tensor(tuple(range(8)), (2, 2, 1, 2), dtype="int64")
    assert text(linear_matrix.matrix(example)) == expected("""
        x  2×2×1×2  rows: query, columns: key  from 0 to 7
          batch 0, head 0:
              k0  k1
          k0   0   1
          batch 0, head 1:
              k0  k1
          k0   2   3
          batch 1, head 0:
              k0  k1
          k0   4   5
          batch 1, head 1:
              k0  k1
          k0   6   7
    """)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)])
def test_empty_tensor(shape: tuple[int, ...]) -> None:
    lines = list(linear_matrix.matrix(tensor((), shape)))
    assert lines[0].startswith("x  " + "×".join(map(str, shape)))


def test_columns_that_do_not_fit_follow_below() -> None:
    example = tensor(tuple(range(60)), (2, 30), dtype="int64")
    lines = list(linear_matrix.matrix(example, width=40))
    assert max(map(len, lines)) <= 40
    tops = [word for line in lines[2::3] for word in line.split()]
    assert tops == [f"k{index}" for index in range(30)]
    first_row = [word for line in lines[3::3] for word in line.split()[1:]]
    assert first_row == [str(index) for index in range(30)]


def test_large_tensor_shows_its_corner_and_says_so() -> None:
    rows = tuple(tuple(float(row * 100 + col) for col in range(32)) for row in range(32))
    window = Window((0, 0), 0, 0, rows)
    example = tensor(
        None, (1, 12, 1024, 1024), axes=("batch", "head", "query", "key"), low=0.0, high=1e4, window=window
    )
    lines = list(linear_matrix.matrix(example))
    assert max(map(len, lines)) <= linear_text.WIDTH
    assert lines[0] == "x  1×12×1024×1024  rows: query, columns: key  from 0 to 1e+04"
    assert len(lines) == 2 + linear_matrix.MOST_ROWS + 1
    columns = len(lines[1].split())
    assert lines[-1] == f"  (batch 0, head 0: the first 24 of 1024 rows and {columns} of 1024 columns)"


def test_large_vector() -> None:
    window = Window((), 0, 0, (tuple(map(float, range(32))),))
    lines = list(linear_matrix.matrix(tensor(None, (5000,), low=0.0, high=4999.0, window=window)))
    assert lines[-1].startswith("  (the first ")
    assert lines[-1].endswith(" of 5000 columns)")


def test_wide_and_odd_labels_keep_the_columns_straight() -> None:
    labels = ("漢字漢字漢字漢字漢字漢字", "a very long label indeed", "\x1b[2J", " x ", "")
    example = tensor(tuple(float(value) for value in range(25)), (5, 5), (labels, labels))
    lines = list(linear_matrix.matrix(example))
    assert len({cell_len(line) for line in lines[1:]}) == 1
    assert all(character.isprintable() for line in lines for character in line)
    # Two labels never touch.
    assert "…a" not in lines[1]


# Steps and lessons ---------------------------------------------------------------------------------------------------

READ = ReadStep(id="why", kind="read", title="Why", prose="Because *of* the **first** `{x}`.\n\nAnd more.")
RUN = RunStep(id="one", kind="run", title="One", prose="It is `{x:.2f}`.", code="x = 1\n\ny = 2\n")
TASK = ExerciseStep.model_validate(
    {
        "id": "task",
        "kind": "exercise",
        "exercise": "one",
        "number": "9.1",
        "title": "A task",
        "prose": "Write `one()`.",
        "defines": ["one"],
        "starter": "def one():\n    pass\n",
        "solution": "def one():\n    return 1\n",
        "hints": ["It returns.", "It returns something.", "It returns 1."],
        "why": "One is one.",
        "mistakes": [
            {"id": "two", "name": "two instead of one", "why": "It is one.", "code": "def one():\n    return 2\n"}
        ],
        "context": "context = {}",
        "probe": "got = {}",
        "checks": [{"name": "one", "test": "True", "fail": "No."}],
    }
)
LESSON = Lesson(id="made", number=3, folder="", title="Made", goal="You will see.", steps=(READ, RUN, TASK))
RESULTS = {
    "why": StepResult("why", text={"x": "one"}),
    "one": StepResult(
        "one", stdout="printed\nmore", text={"x:.2f": "1.00"}, tensors=(tensor((1,), (), dtype="int64"),)
    ),
}


def test_lesson() -> None:
    assert text(linear_text.lesson(LESSON, RESULTS)) == expected("""
        Lesson 3: Made
        You will see.

        Step 1 of 3: Why  [why]

        Because of the first `one`.

        And more.

        Step 2 of 3: One  [one]

        It is 1.00.

        Code:
            x = 1

            y = 2

        Output:
            printed
            more

        x  a single number
            1

        Step 3 of 3: A task  [task]

        Write `one()`.

        Exercise 9.1 (one). Start from this code:
            def one():
                pass
        Check your file with: attn-tutor check one FILE
        Or have it checked each time you save it: attn-tutor watch one
    """)


def test_a_question_is_printed_without_its_answer() -> None:
    question = ChoiceStep.model_validate(
        {
            "id": "ask", "kind": "choice", "exercise": "which", "title": "Which", "prose": "Which one?",
            "code": "x = 1",
            "hints": ["One.", "Two.", "Three."], "why": "So it is.",
            "options": [
                {"text": "It is `{x:.2f}`.", "why": "Told later.", "right": True},
                {"text": "It is none. " * 8, "why": "Told never."},
            ],
        }
    )  # fmt: skip
    output = text(linear_text.lesson_step(LESSON, question, RESULTS["one"], "step 1 of 1"))
    assert output.endswith(
        "  a)  It is 1.00.\n"
        "  b)  It is none. It is none. It is none. It is none. It is none. It is none. It\n"
        "      is none. It is none.\n"
        "This is a question (which). Answer with a letter from a to b, for example: b\n"
    )
    assert "Code:\n    x = 1\n" in output
    assert "Told" not in output


def test_side_steps_are_named_and_not_counted() -> None:
    beside = RUN.model_copy(update={"id": "beside", "title": "Beside", "side": True})
    lesson = LESSON.model_copy(update={"steps": (READ, RUN, beside, TASK)})
    failed = StepResult("beside", error=Failure("error", "NameError: name 'x' is not defined"))
    output = text(linear_text.lesson(lesson, RESULTS | {"beside": failed}))
    assert [line for line in output.splitlines() if line.startswith("Step ")] == [
        "Step 1 of 3: Why  [why]", "Step 2 of 3: One  [one]", "Step 3 of 3: A task  [task]"
    ]  # fmt: skip
    assert (
        expected("""
            1

        Side step 2a, which is optional: Beside  [beside]
        Print it with: attn-tutor run made --step beside
        This step did not finish: NameError: name 'x' is not defined

        Step 3""")
        in output
    )
    lines = list(linear_text.lesson(lesson, RESULTS, "beside"))
    assert lines[3] == "Side step 2a: Beside  [beside]"
    assert not any("may be left out" in line for line in lines)
    done = {("made", step.id): "done" for step in lesson.main_steps}
    assert next(linear_text.course(Course(lessons=(lesson,)), done)).endswith("3 of  3  done")


def test_one_step() -> None:
    lines = list(linear_text.lesson(LESSON, RESULTS, "one"))
    assert [line for line in lines if line.startswith("Step ")] == ["Step 2 of 3: One  [one]"]


def test_solution_and_hints_are_not_printed() -> None:
    output = text(linear_text.lesson(LESSON, RESULTS))
    assert "return 1" not in output
    assert "It returns" not in output


def test_lesson_without_results_marks_what_is_missing() -> None:
    assert "It is `…`." in text(linear_text.lesson(LESSON, {}))


def test_long_prose_is_wrapped() -> None:
    step = READ.model_copy(update={"prose": "word " * 100})
    lines = list(linear_text.lesson_step(LESSON, step, StepResult("why"), "step 1 of 1", 40))
    assert max(map(len, lines)) <= 40


def test_source_of_the_package() -> None:
    step = READ.model_copy(update={"source": "attention.causal:CausalAttention"})
    output = text(linear_text.lesson_step(LESSON, step, RESULTS["why"], "step 1 of 1"))
    assert "The code of CausalAttention:\n    class CausalAttention(nn.Module):\n" in output


@pytest.mark.parametrize(("line", "where"), [(3, "stopped at line 3"), (None, "did not finish")])
def test_failure(line: int | None, where: str) -> None:
    result = StepResult("one", error=Failure("error", "NameError: name 'x' is not defined", line))
    output = text(linear_text.lesson_step(LESSON, RUN, result, "step 1 of 1"))
    assert f"This step {where}: NameError: name 'x' is not defined\n" in output


def test_markup_of_a_program_is_text() -> None:
    result = StepResult("one", stdout=MARKUP, error=Failure("error", MARKUP, 1), text={"x:.2f": MARKUP})
    output = text(linear_text.lesson_step(LESSON, RUN, result, "step 1 of 1"))
    assert output.count(MARKUP) == 3


def test_map() -> None:
    course = Course(lessons=(LESSON, LESSON.model_copy(update={"id": "next", "number": 10, "title": "Next"})))
    assert text(linear_text.course(course, {("made", "why"): "done", ("made", "one"): "seen"})) == (
        "  3  made                 Made                                1 of  3  started\n"
        " 10  next                 Next                                0 of  3\n"
    )
    done = {("made", step.id): "done" for step in LESSON.steps}
    assert next(linear_text.course(course, done)).endswith("3 of  3  done")
    skipped = {("made", step.id): "skipped" for step in LESSON.steps}
    assert next(linear_text.course(course, skipped)).endswith("0 of  3  started")


# Verdicts ------------------------------------------------------------------------------------------------------------

CHECKS = (CheckResult("shape", True), CheckResult("values", False, "They differ."))


def test_passed() -> None:
    value = Judgement("one", "passed", "All checks pass.", checks=(CheckResult("shape", True),), stdout="hello\n")
    assert text(linear_text.judgement(value)) == expected("""
        PASSED  one
        All checks pass.
          ok   shape
        Your program printed:
            hello
    """)


def test_failed() -> None:
    value = Judgement("one", "failed", "values: They differ.", checks=CHECKS)
    assert text(linear_text.judgement(value)) == expected("""
        NOT PASSED  one
        values: They differ.
          ok   shape
          no   values
               They differ.
    """)


def test_a_check_that_was_not_made_is_left_out() -> None:
    value = Judgement("one", "failed", "values: They differ.", checks=(*CHECKS, CheckResult("gradients", False)))
    assert "gradients" not in text(linear_text.judgement(value))


def test_mistakes_are_named() -> None:
    named = (
        NamedMistake("two", "two instead of one", "It is one. " * 10),
        NamedMistake("no-scale", "no scaling", "Scale."),
    )
    value = Judgement("one", "failed", "values: They differ.", mistakes=named, seed=7)
    assert text(linear_text.judgement(value)) == expected("""
        NOT PASSED  one
        values: They differ.
        This looks like a known mistake: two instead of one.
            It is one. It is one. It is one. It is one. It is one. It is one. It is one.
            It is one. It is one. It is one.
        This looks like a known mistake: no scaling.
            Scale.
        To check again with the same hidden inputs, add --seed 7.
    """)


def test_the_first_difference_is_named() -> None:
    value = Judgement(
        "one",
        "failed",
        "Not so.",
        difference=AnswerDifference("scores", 3, tensor((1,), ()), tensor((1,), ()), ("q", "k")),
    )
    assert text(linear_text.judgement(value)) == expected("""
        NOT PASSED  one
        Not so.
        These results are as expected: q, k. The first result that differs is scores
        (line 3).
    """)


@pytest.mark.parametrize(
    ("verdict", "word"), [("error", "ERROR"), ("timeout", "TOO LONG"), ("memory", "TOO LARGE"), ("crash", "CRASH")]
)
def test_program_that_did_not_end(verdict: Any, word: str) -> None:
    checks = tuple(CheckResult(check.name, False) for check in CHECKS)
    value = Judgement("one", verdict, "It stopped.", 4, checks=checks)
    # Checks that did not run are not called wrong.
    assert text(linear_text.judgement(value)) == f"{word}  one\nIt stopped. (line 4)\n"


def test_a_line_number_in_the_message_is_not_repeated() -> None:
    for message in ("Stopped after 1 seconds of computing at line 4.", "Stopped after 2 seconds. It was at line 4."):
        value = Judgement("one", "timeout", message, 4, names_line=True)
        assert text(linear_text.judgement(value)) == f"TOO LONG  one\n{message}\n"
    # A different line number is not mistaken for it.
    value = Judgement("one", "error", "SyntaxError: '(' of line 42 was never closed", 4)
    assert text(linear_text.judgement(value)).endswith("never closed (line 4)\n")


def test_program_that_lacks_the_required_name() -> None:
    value = Judgement("one", "failed", "Your code does not define `one`.", checks=(CheckResult("shape", False),))
    assert text(linear_text.judgement(value)) == "NOT PASSED  one\nYour code does not define `one`.\n"


def test_numbers_in_a_verdict_have_no_backquotes() -> None:
    """Code keeps them, to tell it from other words; so does what Python says itself, as it stands."""
    said = "The sum is `0.83`, *not* `1`: use `softmax`."
    check, mistake = CheckResult("sum", False, said), NamedMistake("dim", "Sums columns", said)
    value = Judgement("one", "failed", said, checks=(check,), mistakes=(mistake,))
    assert text(linear_text.judgement(value)).count("The sum is 0.83, not 1: use `softmax`.") == 3
    value = Judgement("one", "error", "SyntaxError: `0.83` *and* more")
    assert text(linear_text.judgement(value)).endswith("SyntaxError: `0.83` *and* more\n")


def test_long_message_is_wrapped() -> None:
    output = list(linear_text.judgement(Judgement("one", "failed", "word " * 100)))
    assert max(map(len, output)) <= linear_text.WIDTH
