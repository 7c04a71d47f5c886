"""Recording an outcome: the attempt, and the consequences of passing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from attn_tutor.lessons.format.lesson import Course, ExerciseStep
from attn_tutor.lessons.learner import milestones, outcomes
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.results.result import Judgement, NamedMistake
from tests.course import COURSE, outline_of_course
from tests.lessons.lesson_builders import attention_exercise, doubling_exercise, lesson_of, text_step

LESSON, EXERCISE = COURSE.exercise("two-wide")
CHALLENGED = next(lesson for lesson in COURSE.lessons if lesson.challenge)
PASSED = Judgement("any", "passed", "All checks pass.")


@pytest.fixture
def progress() -> Iterator[Progress]:
    progress = Progress.open()
    yield progress
    progress.close()


def test_a_stopped_check_is_no_attempt(progress: Progress) -> None:
    stopped = Judgement("two-wide", "error", "Stopped by you.", stopped=True)
    assert outcomes.record_outcome(progress, LESSON, EXERCISE, "x", stopped) == ""
    assert progress.attempts("two-wide") == []


def test_a_failed_answer_is_recorded_with_its_mistakes(progress: Progress) -> None:
    mistakes = (NamedMistake("no-scale", "no scaling", "Scale."), NamedMistake("both", "both", "Two."))
    failed = Judgement("two-wide", "failed", "Not so.", mistakes=mistakes)
    assert outcomes.record_outcome(progress, LESSON, EXERCISE, "x", failed) == ""
    [attempt] = progress.attempts("two-wide")
    assert (attempt.code, attempt.verdict, attempt.mistakes, attempt.message) == (
        "x", "failed", ("no-scale", "both"), "Not so."
    )  # fmt: skip
    assert progress.state(LESSON.id, EXERCISE.id) == "new"


def test_a_passed_exercise_is_done(progress: Progress) -> None:
    assert isinstance(EXERCISE, ExerciseStep)
    assert not EXERCISE.challenge
    assert outcomes.record_outcome(progress, LESSON, EXERCISE, "y", PASSED) == ""
    assert [(each.code, each.message) for each in progress.attempts("two-wide")] == [("y", "All checks pass.")]
    assert progress.states() == {(LESSON.id, EXERCISE.id): "done"}


def test_a_passed_challenge_tests_out_of_the_lesson(progress: Progress) -> None:
    assert CHALLENGED.challenge is not None
    progress.visit(CHALLENGED.id, CHALLENGED.steps[1].id)
    said = outcomes.record_outcome(progress, CHALLENGED, CHALLENGED.challenge, "y", PASSED, challenged=True)
    left = len(CHALLENGED.main_steps) - 1
    assert said == f"You have tested out of this lesson: its other {left} steps are marked skipped."
    assert {progress.state(CHALLENGED.id, step.id) for step in CHALLENGED.main_steps} == {"done", "skipped"}
    assert milestones.tested_out(CHALLENGED, progress)
    assert milestones.state_of(CHALLENGED, progress) == ("done", "", ("tested out",))
    # The step where they were is behind them.
    assert progress.position() == (CHALLENGED.id, CHALLENGED.challenge.id)
    assert outcomes.record_outcome(progress, CHALLENGED, CHALLENGED.challenge, "y", PASSED, challenged=True) == ""


def test_the_challenge_of_another_lesson_leaves_the_learner_where_they_work(progress: Progress) -> None:
    assert CHALLENGED.challenge is not None
    other = next(lesson for lesson in COURSE.lessons if lesson is not CHALLENGED)
    progress.visit(other.id, other.steps[1].id)
    outcomes.record_outcome(progress, CHALLENGED, CHALLENGED.challenge, "y", PASSED, challenged=True)
    lesson, step = milestones.current_step(outline_of_course(), progress)
    assert (lesson.id, step) == (other.id, other.steps[1].id)


def test_a_challenge_met_on_the_way_tests_nobody_out(progress: Progress) -> None:
    """Also if an exercise before it was skipped; then the lesson is not done, and not tested out of."""
    assert CHALLENGED.challenge is not None
    skipped = next(step for step in CHALLENGED.exercises if step is not CHALLENGED.challenge)
    for step in CHALLENGED.steps:
        if step not in (skipped, CHALLENGED.challenge, CHALLENGED.steps[-1]):
            progress.set_state(CHALLENGED.id, step.id, "done")
    assert milestones.leave(progress, CHALLENGED, skipped)
    assert outcomes.record_outcome(progress, CHALLENGED, CHALLENGED.challenge, "y", PASSED) == ""
    last = CHALLENGED.steps[-1]
    assert last is not CHALLENGED.challenge
    assert progress.state(CHALLENGED.id, last.id) == "new"
    milestones.leave(progress, CHALLENGED, last)
    count = len(CHALLENGED.main_steps)
    assert milestones.state_of(CHALLENGED, progress) == ("skipped", f"{count - 1}/{count}", ("rest skipped",))
    assert not milestones.tested_out(CHALLENGED, progress)
    progress.set_state(CHALLENGED.id, skipped.id, "done")
    assert milestones.state_of(CHALLENGED, progress) == ("done", "", ("done",))


def test_a_challenge_after_all_earlier_steps_skips_none(progress: Progress) -> None:
    challenge = CHALLENGED.challenge
    assert challenge is not None
    index = CHALLENGED.index(challenge.id)
    for step in CHALLENGED.steps[:index]:
        progress.set_state(CHALLENGED.id, step.id, "done")
    assert outcomes.record_outcome(progress, CHALLENGED, challenge, "y", PASSED, challenged=True) == ""
    assert {progress.state(CHALLENGED.id, step.id) for step in CHALLENGED.steps[index + 1 :]} <= {"new"}


# Side steps ----------------------------------------------------------------------------------------------------------

WITH_SIDE_STEPS = lesson_of(
    text_step("why", "Why?"),
    {**attention_exercise().model_dump(by_alias=True), "challenge": True},
    {**text_step("floats", "Beside."), "side": True},
    {**doubling_exercise().model_dump(by_alias=True), "side": True},
    text_step("remember", "Remember."),
)
MAIN = [step.id for step in WITH_SIDE_STEPS.main_steps]


def test_side_steps_are_not_counted(progress: Progress) -> None:
    for step in WITH_SIDE_STEPS.side_steps_of("attending"):
        progress.set_state("made", step.id, "seen")
    assert milestones.state_of(WITH_SIDE_STEPS, progress) == ("new", "", ())
    for step in WITH_SIDE_STEPS.main_steps:
        assert milestones.first_open(WITH_SIDE_STEPS, progress) == step.id
        progress.set_state("made", step.id, "done")
    assert milestones.state_of(WITH_SIDE_STEPS, progress) == ("done", "", ("done",))


def test_a_side_exercise_is_neither_skipped_nor_due(progress: Progress) -> None:
    beside = WITH_SIDE_STEPS.step("doubling")
    progress.set_state("made", "attending", "done")
    assert milestones.leave(progress, WITH_SIDE_STEPS, beside) == ""
    assert progress.state("made", "doubling") == "new"
    give_up = {"exercise": "doubling", "kind": "gave-up", "time": "2024-01-01T00:00:00+00:00"}
    progress.restore({**progress.export(), "help": [give_up]})
    assert milestones.state_of(WITH_SIDE_STEPS, progress) == ("seen", "1/3", ())
    assert milestones.due(loader.outline_of(Course(lessons=(WITH_SIDE_STEPS,))), progress) == []


def test_who_goes_on_from_the_last_side_step_goes_on_from_its_main_step(progress: Progress) -> None:
    floats, doubling = WITH_SIDE_STEPS.side_steps_of("attending")
    assert milestones.leave(progress, WITH_SIDE_STEPS, floats) == ""
    assert progress.states() == {("made", "floats"): "done"}
    # They have come to the side step without its main step, from the glossary.
    assert milestones.leave(progress, WITH_SIDE_STEPS, doubling) == ""
    assert progress.state("made", "attending") == "new"
    progress.set_state("made", "attending", "seen")
    assert milestones.leave(progress, WITH_SIDE_STEPS, floats) == ""
    assert progress.state("made", "attending") == "seen"
    assert milestones.leave(progress, WITH_SIDE_STEPS, doubling) == "exercise skipped"
    assert progress.state("made", "attending") == "skipped"


def test_a_passed_challenge_leaves_side_steps_alone(progress: Progress) -> None:
    assert WITH_SIDE_STEPS.challenge is not None
    said = outcomes.record_outcome(progress, WITH_SIDE_STEPS, WITH_SIDE_STEPS.challenge, "y", PASSED, challenged=True)
    assert said == "You have tested out of this lesson: its other 2 steps are marked skipped."
    assert milestones.tested_out(WITH_SIDE_STEPS, progress)
    assert {step for _, step in progress.states()} == set(MAIN)
