"""The courses that ship with the tutor: their lessons, steps and exercises, and the numbers of the chapter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import pytest
import torch

from attn_tutor.lessons.engine.questions import answer_forms, question_words
from attn_tutor.lessons.engine.questions.answer_forms import judge
from attn_tutor.lessons.engine.questions.question_facts import names_of
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import ChoiceStep, ExerciseStep, Lesson, Question, RunningStep
from attn_tutor.lessons.results.result import StepResult, Tensor
from tests.course import COURSE, EVERY_COURSE, TENSORS
from tests.lessons.course_runs import CourseRuns
from tests.toy_inputs import TOY_INPUTS

LESSONS = [pytest.param(lesson, id=lesson.id) for lesson in EVERY_COURSE.lessons]
EXERCISES = [
    pytest.param(step, id=step.exercise)
    for lesson in EVERY_COURSE.lessons
    for step in lesson.exercises
    if isinstance(step, ExerciseStep)
]


def runs(lesson: Lesson) -> list[RunningStep]:
    """Return the steps of a lesson that run code."""
    return [step for step in lesson.steps if isinstance(step, RunningStep)]


def questions(lesson: Lesson) -> list[Question]:
    """Return the exercises of a lesson that are questions."""
    return [step for step in lesson.exercises if isinstance(step, Question)]


# Lessons -------------------------------------------------------------------------------------------------------------


def test_lessons_are_those_of_the_chapter() -> None:
    assert [(lesson.number, lesson.id) for lesson in COURSE.lessons] == [
        (0, "why-attention"),
        (1, "one-query"),
        (2, "all-queries"),
        (3, "trainable-weights"),
        (4, "attention-classes"),
        (5, "causal-mask"),
        (6, "dropout"),
        (7, "causal-class"),
        (8, "stacked-heads"),
        (9, "weight-split"),
        (10, "multi-head-class"),
        (11, "gpt2-size"),
        (12, "library-attention"),
        (13, "buffers"),
        (14, "speed"),
        (15, "key-value-cache"),
        (16, "induction"),
    ]
    assert all(lesson.thumbnail for lesson in COURSE.lessons)


def test_lessons_on_reading_tensors() -> None:
    assert [(lesson.number, lesson.id) for lesson in TENSORS.lessons] == [
        (1, "shapes-and-axes"),
        (2, "broadcasting"),
        (3, "views-and-copies"),
    ]
    assert all(lesson.thumbnail for lesson in TENSORS.lessons)


def test_no_id_stands_in_two_courses() -> None:
    ids = [lesson.id for lesson in EVERY_COURSE.lessons]
    exercises = [step.exercise for lesson in EVERY_COURSE.lessons for step in lesson.exercises]
    assert len(set(ids)) == len(ids)
    assert len(set(exercises)) == len(exercises)


# Steps ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", LESSONS)
def test_step_runs(results: CourseRuns, subtests: pytest.Subtests, lesson: Lesson) -> None:
    for step in runs(lesson):
        with subtests.test(step.id):
            result = results[lesson.id][step.id]
            assert result.error is None
            assert [tensor.name for tensor in result.tensors] == [shown_tensor.name for shown_tensor in step.tensors]
            assert step.show


def test_steps_import_from_a_module_in_one_line() -> None:
    """A second line would push code off the smallest screen, where some steps just fit."""
    twice = []
    for lesson in EVERY_COURSE.lessons:
        for step in (step for step in lesson.steps if isinstance(step, RunningStep)):
            modules = [name for _, code in step.programs for name in re.findall(r"(?m)^from (\S+) import", code)]
            twice += [(lesson.id, step.id)] if len(modules) > len(set(modules)) else []
    assert twice == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_field_of_the_prose_is_filled(results: CourseRuns, subtests: pytest.Subtests, lesson: Lesson) -> None:
    for step in lesson.steps:
        with subtests.test(step.id):
            # An exercise does not run, so its text cannot have fields.
            text = {} if isinstance(step, ExerciseStep) else results[lesson.id][step.id].text
            assert {field.key for field in step.fields} == set(text)
            for prose in step.templates:
                assert "MISSING" not in template.fill(prose, text, missing="MISSING")
            assert not any(
                word in value for value in text.values() for word in ("nan", "tensor(", "Parameter", "object at")
            )


@pytest.mark.parametrize("lesson", LESSONS)
def test_axes_fit_the_tensor(results: CourseRuns, subtests: pytest.Subtests, lesson: Lesson) -> None:
    for step in runs(lesson):
        with subtests.test(step.id):
            for shown_tensor, tensor in zip(step.tensors, results[lesson.id][step.id].tensors, strict=True):
                assert len(shown_tensor.axes) == len(tensor.shape), shown_tensor.name
                assert tensor.axes == shown_tensor.axes, shown_tensor.name


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_row_and_column_has_a_label(results: CourseRuns, subtests: pytest.Subtests, lesson: Lesson) -> None:
    for step in runs(lesson):
        with subtests.test(step.id):
            for shown_tensor, tensor in zip(step.tensors, results[lesson.id][step.id].tensors, strict=True):
                for axis, size, labels in zip(tensor.axes, tensor.shape, tensor.labels, strict=True):
                    assert len(labels) == size
                    given = {str(name): texts for name, texts in shown_tensor.labels.items()}.get(axis)
                    if given is not None:
                        assert given[:size] == labels
                        assert len(given) >= size
                assert set(shown_tensor.labels) <= set(tensor.axes)


@pytest.mark.parametrize("lesson", LESSONS)
def test_token_axes_are_labeled_with_words(results: CourseRuns, subtests: pytest.Subtests, lesson: Lesson) -> None:
    for step in runs(lesson):
        with subtests.test(step.id):
            for shown_tensor, tensor in zip(step.tensors, results[lesson.id][step.id].tensors, strict=True):
                for axis, size, labels in zip(tensor.axes, tensor.shape, tensor.labels, strict=True):
                    if lesson.tokens and axis in ("token", "query", "key") and axis not in shown_tensor.labels:
                        assert size <= len(lesson.tokens)
                        assert labels == lesson.tokens[:size]


@pytest.mark.parametrize("lesson", LESSONS)
def test_masks_and_weights_have_valid_values(results: CourseRuns, subtests: pytest.Subtests, lesson: Lesson) -> None:
    for step in runs(lesson):
        with subtests.test(step.id):
            for tensor in results[lesson.id][step.id].tensors:
                if tensor.kind == "mask":
                    assert set(tensor.values or ()) == {0.0, 1.0}
                if tensor.kind == "weight" and not step.varies and tensor.low is not None and lesson.id != "one-query":
                    assert 0 <= tensor.low <= (tensor.high or 0) <= 1


# Exercises -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exercise", EXERCISES)
def test_hints_of_an_exercise_do_not_give_the_answer_away(exercise: ExerciseStep) -> None:
    starter = {line.strip() for line in exercise.starter.splitlines()}
    answer = {line.strip() for line in exercise.solution.splitlines()} - starter
    # A line with nothing but a bracket gives nothing away.
    answer = {line for line in answer if re.search(r"\w", line)}
    assert answer
    for hint in (*exercise.hints, exercise.prose):
        assert not any(line in " ".join(hint.split()) for line in answer)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_exercise_is_complete(exercise: ExerciseStep) -> None:
    assert exercise.starter != exercise.solution
    names = [check.name for check in exercise.checks]
    assert len(set(names)) == len(names) >= 3
    for name in exercise.defines:
        assert name in exercise.starter


def test_exercises_are_found_by_their_numbers() -> None:
    for number, lesson, exercise in (
        ("3.1", "attention-classes", "same-numbers"),
        ("3.2", "stacked-heads", "two-wide"),
        ("3.3", "gpt2-size", "gpt2-small-attention"),
    ):
        found, step = COURSE.exercise(number)
        assert (found.id, step.exercise) == (lesson, exercise)


# Questions -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_answer_to_a_question_gets_its_own_explanation(
    results: CourseRuns, subtests: pytest.Subtests, lesson: Lesson
) -> None:
    """The right answer passes, and every wrong answer that the author expects gets its own explanation."""
    for step in questions(lesson):
        with subtests.test(step.id):
            result = results[lesson.id][step.id]
            right, *wrong = answers(step, result)
            assert judge(step, result, right).message == question_words.why(step, result)
            judgements = [judge(step, result, text) for text in wrong]
            assert [judgement.verdict for judgement in judgements] == ["failed"] * len(wrong)
            explained = (
                [option.why for option in step.options if not option.right] if isinstance(step, ChoiceStep) else []
            )
            explained = explained or [item.why for item in getattr(step, "wrong", ())]
            assert [judgement.message for judgement in judgements] == [
                template.fill(text, result.text) for text in explained
            ]
            assert len({judgement.message for judgement in judgements}) == len(judgements) >= 2


@pytest.mark.parametrize("lesson", LESSONS)
def test_hints_of_a_question_do_not_give_the_answer_away(
    results: CourseRuns, subtests: pytest.Subtests, lesson: Lesson
) -> None:
    for step in questions(lesson):
        with subtests.test(step.id):
            result = results[lesson.id][step.id]
            answer = answer_forms.answer_text(step, result).removeprefix(f"{answers(step, result)[0]}) ")
            assert not any(answer.casefold() in " ".join(hint.split()).casefold() for hint in (*step.hints, step.prose))


def answers(step: Question, result: StepResult) -> list[str]:
    """Return the right answer to a question, then one for each wrong answer that has feedback."""
    if isinstance(step, ChoiceStep):
        choices = question_words.choices(step, result)
        return [choice.letter for choice in sorted(choices, key=lambda choice: not choice.right)]
    facts = [json.loads(result.text[template.fact(expression).key]) for expression in step.facts]
    if step.kind == "predict":
        return [", ".join(map(str, fact)) if isinstance(fact, list) else str(fact) for fact in facts]
    if step.answer_form == "box":
        return [names_of(fact)[0] for fact in facts]
    taken: set[tuple[int, ...]] = set()
    found = []
    for fact in facts:
        # A cell that several answers contain gets the feedback of the first one.
        cells = set(true_cells(fact)) - taken
        found.append(", ".join(map(str, min(cells))))
        taken |= cells
    return found


def true_cells(fact: object, *lead: int) -> Iterator[tuple[int, ...]]:
    """Yield the indices at which nested lists are true."""
    if isinstance(fact, list):
        for path, inner in enumerate(fact):
            yield from true_cells(inner, *lead, path)
    elif fact:
        yield lead


def test_calls_that_questions_describe_behave_as_described() -> None:
    """`which-call-fails`, `whole-mask` and steps on reading tensors describe calls that the run does not make."""
    parts = torch.randn(2, 2, 6, 2)
    back = parts.transpose(1, 2)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        back.view(2, 6, 4)
    for joined in (back.reshape(2, 6, 4), back.contiguous().view(2, 6, 4), parts.view(2, 6, 4)):
        assert joined.shape == (2, 6, 4)
    with pytest.raises(RuntimeError, match="must match"):
        torch.randn(2, 5, 5).masked_fill(torch.ones(6, 6).bool(), -torch.inf)
    hidden = torch.triu(torch.ones(1, 1), diagonal=1).bool()
    assert not torch.randn(2, 5, 5).masked_fill(hidden, -torch.inf).isinf().any()
    weeks = torch.arange(12).view(4, 3)
    with pytest.raises(RuntimeError, match="view size is not compatible with input tensor's size and stride"):
        weeks.T.view(12)
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.ones(3, 1).expand(3, 4).add_(1)
    with pytest.raises(RuntimeError, match="dtype"):
        weeks.mean(dim=0)
    assert isinstance(weeks.min(dim=1), tuple)
    with pytest.warns(UserWarning, match="target size"):
        torch.nn.functional.mse_loss(torch.ones(4, 1), torch.ones(4))


# The numbers of the chapter ------------------------------------------------------------------------------------------


def shown_tensor(results: CourseRuns, path: str) -> Tensor:
    """Return a shown tensor by its path, `lesson/step/name`."""
    lesson, step, name = path.split("/")
    return next(tensor for tensor in results[lesson][step].tensors if tensor.name == name)


def rows(tensor: Tensor, lead: tuple[int, ...] = ()) -> list[list[float]]:
    """Return the rows of a small matrix, rounded as the book prints them."""
    height, width = tensor.matrix_shape
    return [[round(value, 4) + 0.0 for value in tensor.row(lead, row, 0, width) or ()] for row in range(height)]


def approximately(numbers: Sequence[float]) -> object:
    return pytest.approx(list(numbers), abs=1.01e-4)


KNOWN: dict[str, dict[int, Sequence[float]]] = {
    "one-query/one-score/score": {0: [1.4754]},
    "one-query/scores/scores": {0: [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865]},
    "one-query/shares/shares": {0: [0.1455, 0.2278, 0.2249, 0.1285, 0.1077, 0.1656]},
    "one-query/softmax/weights": {0: [0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581]},
    "one-query/context/context": {0: [0.4419, 0.6515, 0.5683]},
    "all-queries/loops/looped": {
        0: [0.9995, 0.9544, 0.9422, 0.4753, 0.4576, 0.6310],
        5: [0.6310, 1.0865, 1.0605, 0.6565, 0.2935, 0.9450],
    },
    "all-queries/product/scores": {1: [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865]},
    "all-queries/weights/weights": {
        0: [0.2098, 0.2006, 0.1981, 0.1242, 0.1220, 0.1452],
        1: [0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581],
    },
    "all-queries/weights/row_sums": {row: [1.0] for row in range(6)},
    "all-queries/context/context": {
        0: [0.4421, 0.5931, 0.5790],
        1: [0.4419, 0.6515, 0.5683],
        2: [0.4431, 0.6496, 0.5671],
        3: [0.4304, 0.6298, 0.5510],
        4: [0.4671, 0.5910, 0.5266],
        5: [0.4177, 0.6503, 0.5645],
    },
    "trainable-weights/query/query": {0: [0.4306, 1.4551]},
    "trainable-weights/one-score/score": {0: [1.8524]},
    "trainable-weights/scores/scores": {0: [1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440]},
    "trainable-weights/weights/weights": {0: [0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820]},
    "trainable-weights/context/context": {0: [0.3061, 0.8210]},
    "attention-classes/v1/context": {
        0: [0.2996, 0.8053],
        1: [0.3061, 0.8210],
        2: [0.3058, 0.8203],
        3: [0.2948, 0.7939],
        4: [0.2927, 0.7891],
        5: [0.2990, 0.8040],
    },
    "attention-classes/v2/context": {
        0: [-0.0739, 0.0713],
        1: [-0.0748, 0.0703],
        2: [-0.0749, 0.0702],
        3: [-0.0760, 0.0685],
        4: [-0.0763, 0.0679],
        5: [-0.0754, 0.0693],
    },
    "attention-classes/one-seed/context_1": {
        0: [1.3751, 0.8610],
        1: [1.4201, 0.8892],
        2: [1.4198, 0.8890],
        3: [1.3533, 0.8476],
        4: [1.3746, 0.8606],
        5: [1.3620, 0.8532],
    },
    "attention-classes/one-seed/context_2": {
        0: [0.3755, 0.2777],
        1: [0.3761, 0.2831],
        2: [0.3761, 0.2833],
        3: [0.3768, 0.2763],
        4: [0.3754, 0.2836],
        5: [0.3772, 0.2746],
    },
    "attention-classes/inner-weights/unseeded": {0: [0.1785, 0.2034, 0.2016, 0.1328, 0.1336, 0.1500]},
    "causal-mask/open-weights/weights": {
        0: [0.1921, 0.1646, 0.1652, 0.1550, 0.1721, 0.1510],
        1: [0.2041, 0.1659, 0.1662, 0.1496, 0.1665, 0.1477],
    },
    "causal-mask/keep/keep": {0: [1, 0, 0, 0, 0, 0], 5: [1, 1, 1, 1, 1, 1]},
    "causal-mask/zeroed/zeroed": {1: [0.2041, 0.1659, 0, 0, 0, 0]},
    "causal-mask/renormalized/renormalized": {0: [1, 0, 0, 0, 0, 0], 1: [0.5517, 0.4483, 0, 0, 0, 0]},
    "causal-mask/causal-weights/weights": {
        0: [1, 0, 0, 0, 0, 0],
        1: [0.5517, 0.4483, 0, 0, 0, 0],
        5: [0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529],
    },
    "causal-class/run/context": {
        0: [-0.4519, 0.2216],
        1: [-0.5874, 0.0058],
        2: [-0.6300, -0.0632],
        3: [-0.5675, -0.0843],
        4: [-0.5526, -0.0981],
        5: [-0.5299, -0.1081],
    },
    "stacked-heads/wrapper/context": {
        0: [-0.4519, 0.2216, 0.4772, 0.1063],
        1: [-0.5874, 0.0058, 0.5891, 0.3257],
        2: [-0.6300, -0.0632, 0.6202, 0.3860],
        3: [-0.5675, -0.0843, 0.5478, 0.3589],
        4: [-0.5526, -0.0981, 0.5321, 0.3428],
        5: [-0.5299, -0.1081, 0.5077, 0.3493],
    },
    "multi-head-class/run/context": {
        0: [0.3190, 0.4858],
        1: [0.2943, 0.3897],
        2: [0.2856, 0.3593],
        3: [0.2693, 0.3873],
        4: [0.2639, 0.3928],
        5: [0.2575, 0.4028],
    },
    "weight-split/batched/products": {0: [1.3208, 1.1631, 1.2879], 1: [1.1631, 2.2150, 1.8424]},
}


@pytest.mark.parametrize("path", KNOWN)
def test_numbers_of_the_book(results: CourseRuns, path: str) -> None:
    tensor = shown_tensor(results, path)
    lead = (0,) * len(tensor.lead_shape)
    found = rows(tensor, lead)
    for row, numbers in KNOWN[path].items():
        assert found[row] == approximately(numbers), row


@pytest.mark.parametrize(
    "path",
    ["causal-class/run/context", "stacked-heads/wrapper/context", "multi-head-class/run/context"],
)
def test_equal_sentences_of_a_batch_give_equal_numbers(results: CourseRuns, path: str) -> None:
    tensor = shown_tensor(results, path)
    assert tensor.shape[:2] == (2, 6)
    assert rows(tensor, (0,)) == rows(tensor, (1,))


def test_numbers_of_the_large_layer(results: CourseRuns) -> None:
    steps = results["gpt2-size"]
    assert steps["layer"].text["total:,"] == "2,360,064"
    assert steps["whole-model"].text["total_model:,"] == "124,439,808"
    weights = shown_tensor(results, "gpt2-size/weights/weights")
    assert weights.shape == (1, 12, 1024, 1024)
    assert weights.window is not None
    assert weights.window.rows[0][:2] == (1.0, 0.0)


def test_solution_of_two_wide_gives_the_right_numbers() -> None:
    """They differ from the numbers of the book, whose solution takes the softmax along the wrong axis."""
    _, exercise = COURSE.exercise("3.2")
    assert isinstance(exercise, ExerciseStep)
    namespace: dict[str, object] = {}
    exec(exercise.solution, namespace)
    inputs = torch.tensor(TOY_INPUTS)
    batch = torch.stack((inputs, inputs))
    torch.manual_seed(123)
    build = namespace["build"]
    assert callable(build)
    out = build(3, 6)(batch).detach()
    assert out.shape == (2, 6, 2)
    assert out[0, 0].tolist() == approximately([-0.5740, 0.2216])
    assert out[0, 5].tolist() == approximately([-0.6424, -0.1065])
