"""A document as Markdown."""

from __future__ import annotations

import re

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.learner.records import Attempt, Help
from attn_tutor.lessons.play.step_document import Answer, Code, Matrix, Prose, Remark
from attn_tutor.lessons.takehome import course_document, markdown_file
from attn_tutor.lessons.takehome.learner_work import LearnerWork
from attn_tutor.lessons.takehome.taken_document import Document
from tests.course import COURSE
from tests.lessons.takehome.learners import attempts, read_steps, solutions

SECOND = COURSE.model_copy(update={"lessons": (COURSE.lesson("2"),)})


@pytest.fixture(scope="module")
def document(session: Session) -> Document:
    """The second lesson of a learner who has read its first eight steps, and worked on them."""
    lesson = COURSE.lesson("2")
    work = LearnerWork(
        read_steps(lesson, 8),
        {
            **attempts(solutions("all-scores")),
            "all-pairs": (Attempt("3, 3", "failed", "1"), Attempt("6, 6", "passed", "2")),
        },
        {"softmax-rows": "def all_weights(scores):\n    return ```\n"},
    )
    return course_document.build(session, SECOND, work)


def test_what_was_read_written_and_seen_is_in_it(document: Document) -> None:
    [chapter] = document.chapters
    assert [section.step.id for section in chapter.read_sections] == [step.id for step in chapter.lesson.steps[:8]]
    text = markdown_file.write(document)
    assert "## Lesson 2: Attention for every word" in text
    assert 'the one for "starts" is `1.4754`.' in text
    assert "| **journey** | 0.9544 | 1.4950 | 1.4754 | 0.8434 | 0.7070 | 1.0865 |" in text
    assert "Your first answer: `3, 3` (not right)\n\nYour last answer: `6, 6` (right)" in text
    assert "Your answer, which passed:\n\n```python\nimport torch" in text
    # The fence is longer than any in the learner's code.
    assert "Your draft:\n\n````python\ndef all_weights(scores):\n    return ```\n````\n" in text


def test_what_a_question_reveals_waits_for_the_answer(session: Session) -> None:
    lesson, question = COURSE.exercise("all-pairs")
    states = {(lesson.id, question.id): "seen"}

    def blocks(work: LearnerWork) -> tuple[object, ...]:
        [chapter] = course_document.build(session, SECOND, work).chapters
        [section] = chapter.read_sections
        return section.blocks

    def names(found: tuple[object, ...]) -> list[str]:
        return [block.tensor.name for block in found if isinstance(block, Matrix)]

    unanswered = blocks(LearnerWork(states))
    assert "turned" in names(unanswered)
    assert not any(isinstance(block, Answer) for block in unanswered)
    gave_up = blocks(LearnerWork(states, help={"all-pairs": Help(gave_up=True)}))
    assert len(names(gave_up)) > len(names(unanswered))
    assert any(isinstance(block, Prose) and block.text == "The right answer: (6, 6)" for block in gave_up)


def test_who_tested_out_has_read_what_they_worked_on() -> None:
    lesson = COURSE.lesson("2")
    challenge = lesson.challenge
    assert challenge is not None
    states = {(lesson.id, step.id): "skipped" for step in lesson.main_steps} | {(lesson.id, challenge.id): "done"}
    work = LearnerWork(states, attempts(solutions("all-scores")))
    assert [step.id for step in course_document.steps_read(lesson, work)] == ["all-scores", challenge.id]
    skipped = LearnerWork({(lesson.id, "why"): "done", (lesson.id, "all-scores"): "skipped"})
    assert [step.id for step in course_document.steps_read(lesson, skipped)] == ["why", "all-scores"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. no list", "1\\. no list"),
        ("# no heading", "\\# no heading"),
        ("- no item", "\\- no item"),
        ("a <b> [c](d) $e$ f_g _h_", "a \\<b\\> \\[c\\](d) \\$e\\$ f_g \\_h\\_"),
        ("x & y &amp; 2 ** 3 | 4", "x & y &amp;amp; 2 \\*\\* 3 \\| 4"),
    ],
)
def test_plain_text_stays_what_it_is(text: str, expected: str) -> None:
    assert markdown_file.escaped(text) == expected
    assert markdown_file.block_text(Remark(text)) == expected


def test_prose_keeps_its_marks_and_nothing_else_becomes_one() -> None:
    assert markdown_file.prose("A *b c* of `x*y`, **d**_e_.\n\n2. F.") == "A *b c* of `x*y`, **d**\\_e\\_.\n\n2\\. F."
    assert markdown_file.block_text(Code("x = 1", "answer", "Yours:")) == "Yours:\n\n```python\nx = 1\n```"
    assert markdown_file.in_code("`a` | b") == "`` `a` | b ``"


def test_tables_are_whole(document: Document) -> None:
    """Each row of a table has as many cells as its head."""
    for table in re.findall(r"(?:^\|.*\n)+", markdown_file.write(document), re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
