"""The way through a course: changes, jumps, and what is kept of steps that were left."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from attn_tutor.lessons.format.lesson import Course, Lesson
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.lessons.play.journey import Journey
from attn_tutor.lessons.play.step import Learning
from attn_tutor.lessons.play.task import QuestionModel
from attn_tutor.lessons.what_if.changes import UNCHANGED, ChangeHistory
from tests.lessons.lesson_builders import code_step, lesson_of, text_step
from tests.lessons.question_builders import DEFAULTS

KNOBS = [{"kind": "number", "name": "n", "label": "N", "find": "n = 2", "replace": "n = {value}", "default": 2,
          "values": [1, 2]}]  # fmt: skip
CHOICE = {"id": "ask", "kind": "choice", "options": [
    {"text": "this", "why": "Yes.", "right": True}, {"text": "that", "why": "No.", "right": False},
]}  # fmt: skip


def lesson_numbered(number: int) -> Lesson:
    steps = (text_step("read", "Text."), code_step("run", "n = 2"), DEFAULTS | CHOICE | {"exercise": f"ask-{number}"})
    return lesson_of(*steps, id=f"lesson-{number}", number=number, knobs=KNOBS)


FIRST, SECOND = lesson_numbered(1), lesson_numbered(2)
READ, RUN, ASK = range(3)
CHANGED = ChangeHistory().do(UNCHANGED.with_knob(FIRST, "n", 1))


@pytest.fixture
def journey() -> Iterator[Journey]:
    progress = Progress(None)
    yield Journey(Learning.begin(Course(lessons=(FIRST, SECOND)), progress))
    progress.close()


def test_changes_hold_in_all_of_a_lesson_and_in_no_other(journey: Journey) -> None:
    journey.open(FIRST, RUN).history = CHANGED
    assert journey.open(FIRST, READ).changes == CHANGED.current
    # A question runs as it was written.
    assert journey.open(FIRST, ASK).changes == UNCHANGED
    assert journey.history == CHANGED
    journey.open(SECOND, RUN)
    assert journey.history.current == UNCHANGED


def test_a_jump_leads_back_to_the_changes_that_held(journey: Journey) -> None:
    journey.open(FIRST, RUN).history = CHANGED
    journey.begin_jump()
    journey.open(SECOND, ASK, Purpose.LOOK)
    assert journey.jumped
    origin = journey.end_jump()
    assert origin is not None
    model = journey.open(origin.lesson, origin.index, origin.purpose, origin.history)
    assert (model.lesson, model.step, model.changes) == (FIRST, FIRST.steps[RUN], CHANGED.current)
    assert not journey.jumped


def test_a_jump_from_the_map_leads_back_there(journey: Journey) -> None:
    journey.begin_jump(at_map=True)
    journey.open(SECOND, ASK)
    assert journey.end_jump() is None


def test_the_way_ends_where_the_course_ends(journey: Journey) -> None:
    journey.open(FIRST, READ)
    assert (journey.before, journey.after) == (None, (FIRST, RUN))
    journey.open(FIRST, ASK)
    assert journey.after == (SECOND, READ)
    journey.open(SECOND, READ)
    assert journey.before == (FIRST, ASK)
    journey.open(SECOND, ASK)
    assert journey.after is None


def test_a_question_that_was_left_is_as_it_was(journey: Journey) -> None:
    asked = journey.open(FIRST, ASK)
    assert isinstance(asked, QuestionModel)
    assert not asked.answer("b")[0].passed
    asked.give_up()
    journey.open(FIRST, RUN)
    again = journey.open(FIRST, ASK)
    assert isinstance(again, QuestionModel)
    assert [text for text, _ in again.state.answers] == ["b"]
    assert not again.state.gives_up_next


def test_under_review_a_question_is_asked_as_if_it_were_new(journey: Journey) -> None:
    asked = journey.open(FIRST, ASK)
    assert isinstance(asked, QuestionModel)
    assert asked.answer("a")[0].passed
    journey.open(SECOND, READ)
    for purpose in (Purpose.REVIEW, Purpose.WORK):
        again = journey.open(FIRST, ASK, purpose)
        assert isinstance(again, QuestionModel)
        assert again.state.is_open
        journey.open(SECOND, READ)
    again = journey.open(FIRST, ASK)
    assert isinstance(again, QuestionModel)
    again.answer("a")
    journey.open(SECOND, READ)
    later = journey.open(FIRST, ASK)
    assert isinstance(later, QuestionModel)
    assert later.state.answered_before
