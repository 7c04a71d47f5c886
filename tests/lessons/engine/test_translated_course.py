"""A course in another language runs and is judged as it is in English."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import Course, ExerciseStep
from attn_tutor.lessons.reading import course_texts
from attn_tutor.lessons.texts.translations import Translations
from tests import pseudo_language
from tests.course import COURSE


@pytest.fixture(scope="module")
def translated(tmp_path_factory: pytest.TempPathFactory) -> Course:
    folder = pseudo_language.write(tmp_path_factory.mktemp("translations"))
    return course_texts.translate_course(COURSE, Translations(folder))


def test_run_of_a_translated_lesson_fills_all_of_its_texts(worker: Session, translated: Course) -> None:
    lesson = translated.lesson("all-queries")
    run = worker.run(lesson)
    run.close()
    assert [step.error for step in run.steps if step.error] == []
    filled = {result.id: result.text for result in run.steps}
    for step in lesson.steps:
        for text in step.templates:
            told = template.fill(text, filled[step.id]) if step.id in filled else "⟦⟧"
            assert told.startswith("⟦"), step.id
            assert told.rstrip().endswith("⟧"), step.id
            assert "…" not in told or "…" in text, step.id


def test_answers_are_judged_alike_and_explained_in_the_language(worker: Session, translated: Course) -> None:
    exercises = [each.exercise("causal-weights")[1] for each in (COURSE, translated)]
    assert all(isinstance(step, ExerciseStep) for step in exercises)
    english, other = (step for step in exercises if isinstance(step, ExerciseStep))
    assert worker.check(other, english.solution, seed=1).passed
    wrong = english.solution.replace("dim=-1", "dim=0")
    verdicts = [worker.check(step, wrong, seed=1) for step in (english, other)]
    assert [verdict.verdict for verdict in verdicts] == ["failed", "failed"]
    before, after = ([check.passed for check in verdict.checks] for verdict in verdicts)
    assert before == after
    assert [mistake.id for mistake in verdicts[0].mistakes] == [mistake.id for mistake in verdicts[1].mistakes]
    assert verdicts[1].mistakes[0].name == f"⟦{verdicts[0].mistakes[0].name}⟧"
    assert pseudo_language.without_brackets([verdicts[1].message]) == [verdicts[0].message]
