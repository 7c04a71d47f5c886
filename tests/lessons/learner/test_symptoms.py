"""Bug hunts begin with symptoms; the diagnosis comes with the second check or with a hint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.learner import outcomes
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.results.result import Failure, Judgement, NamedMistake, StepResult
from attn_tutor.lessons.results.verdict import Verdict
from tests.course import COURSE
from tests.lessons.lesson_builders import doubling_exercise

HUNT = doubling_exercise().model_copy(update={"form": "repair"})
MISTAKE = NamedMistake("squared", "squared", "It squares.", 2)


def wrong(verdict: Verdict = "failed") -> Judgement:
    return Judgement("double", verdict, "twice: it is 9.", 2, (MISTAKE,))


@pytest.fixture
def progress(tmp_path: Path) -> Progress:
    return Progress(tmp_path / "progress.db")


def test_the_first_check_shows_symptoms_only(progress: Progress) -> None:
    shown, held_back = outcomes.symptoms_of_first_check(progress, HUNT, wrong())
    assert (shown.message, shown.mistakes, shown.line) == ("twice: it is 9.", (), None)
    assert held_back.startswith("Look for the cause.")


def test_where_an_exception_stopped_the_code_is_a_symptom(progress: Progress) -> None:
    shown, _ = outcomes.symptoms_of_first_check(progress, HUNT, wrong("error"))
    assert (shown.mistakes, shown.line) == ((), 2)


def test_advice_on_an_exception_is_held_back(progress: Progress) -> None:
    stopped = replace(wrong("error"), message="TypeError: it fails. Call the layer.", symptom="TypeError: it fails")
    for judgement in (stopped, replace(stopped, mistakes=())):
        shown, held_back = outcomes.symptoms_of_first_check(progress, HUNT, judgement)
        assert (shown.message, shown.mistakes, shown.line) == ("TypeError: it fails", (), 2)
        assert held_back
    progress.use_hint(HUNT.exercise, 1)
    assert outcomes.symptoms_of_first_check(progress, HUNT, stopped) == (stopped, "")


def test_bug_hunts_of_the_course_that_stop_do_not_name_their_bug(progress: Progress, worker: Session) -> None:
    """The exception of the starter is all that the first check says."""
    hunt = next(each for lesson in COURSE.lessons for each in lesson.exercises if each.exercise == "linear-bug")
    assert isinstance(hunt, ExerciseStep)
    judgement = worker.check(hunt, hunt.starter)
    assert judgement.message.startswith(f"{judgement.symptom}. ")
    shown, _ = outcomes.symptoms_of_first_check(progress, hunt, judgement)
    assert shown.message == "TypeError: unsupported operand type(s) for @: 'Tensor' and 'Linear'"
    assert shown.line is not None


def test_a_run_before_the_first_check_shows_the_exception_alone(progress: Progress) -> None:
    failed = StepResult("s", error=Failure("error", "TypeError: it fails. Call the layer.", 2, "TypeError: it fails"))
    assert outcomes.symptoms_of_first_run(progress, HUNT, failed).error == Failure(
        "error", "TypeError: it fails", 2, "TypeError: it fails"
    )
    assert outcomes.symptoms_of_first_run(progress, doubling_exercise(), failed) is failed
    progress.use_hint(HUNT.exercise, 1)
    assert outcomes.symptoms_of_first_run(progress, HUNT, failed) is failed


@pytest.mark.parametrize("known", ["attempt", "hint"])
def test_then_the_diagnosis_comes(progress: Progress, known: str) -> None:
    if known == "hint":
        progress.use_hint(HUNT.exercise, 1)
    else:
        progress.add_attempt(HUNT.exercise, "x", "failed", "", "no")
    assert outcomes.symptoms_of_first_check(progress, HUNT, wrong()) == (wrong(), "")


def test_other_exercises_and_right_answers_are_shown_whole(progress: Progress) -> None:
    assert outcomes.symptoms_of_first_check(progress, doubling_exercise(), wrong()) == (wrong(), "")
    passed = Judgement("double", "passed", "All checks pass.")
    assert outcomes.symptoms_of_first_check(progress, HUNT, passed) == (passed, "")
