"""The texts of a question."""

from __future__ import annotations

from pathlib import Path

from attn_tutor.lessons.engine.questions.answer_forms import judge
from attn_tutor.lessons.format.lesson import PredictStep
from attn_tutor.lessons.play.question_state import QuestionState
from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.reading.loader import load_lesson
from attn_tutor.tui.drawings.question_drawing import QuestionText

LESSON = load_lesson(Path(__file__).parents[2] / "data" / "questions" / "course" / "01-questions", {})
RECORDED = recorded_outputs.load(LESSON)


def test_what_a_learner_has_typed_stands_there_as_it_was_typed() -> None:
    step = LESSON.step("share")
    assert isinstance(step, PredictStep)
    typed = "0.014*2*1"
    state = QuestionState("passed").with_answer(typed, judge(step, RECORDED["share"], "0.028"))
    assert f"Right: {typed} " in QuestionText(step, RECORDED["share"], state).judgement.plain
