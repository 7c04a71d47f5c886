"""A preview as a dialogue: what the screen does when a file is saved, it does at the next command."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from attn_tutor.lessons.authoring.previewed_course import PreviewedCourse
from attn_tutor.lessons.engine.session import Session
from attn_tutor.tui.plain.dialogue import Dialogue
from attn_tutor.tui.sources.draft_source import DraftSource
from tests import small_course
from tests.tui.commands.command_line import WarmSession
from tests.tui.plain.conversation import Conversation


def conversation(previewed: PreviewedCourse, session: Session, step: int = 0) -> Conversation:
    source = DraftSource(previewed, previewed.read(), step, cast(Session, WarmSession(session)))
    return Conversation(make=lambda console: Dialogue(source, source.read(), console))


def test_a_save_is_shown_at_the_next_command(session: Session, tmp_path: Path) -> None:
    course = small_course.write_course(tmp_path / "rows")
    file = course / "01-first-row" / "lesson.yaml"
    learner = conversation(PreviewedCourse.at(file), session)
    said = learner.begin()
    # What lint would find by reading.
    assert "01-first-row/lesson.yaml:5:3: The lesson has no challenge." in said
    assert "Step 1 of 3: A table  [table]" in said
    assert "add up to 10." in said
    file.write_text(small_course.LESSON.replace("4.0]", "6.5]"))
    said = learner.say("")
    assert "A file was saved. The step is as follows now." in said
    assert "6.5000" in said
    file.write_text(small_course.LESSON.replace("kind: read", "kind: reed"))
    said = learner.say("steps")
    assert "01-first-row/lesson.yaml:12:5: 'reed' is not a kind of step. Use 'read'," in said
    assert "You are still at the last version that could be read. Mend it, and press Enter." in said
    assert "Step 2, exercise: Twice as much [doubling]" in said
    file.write_text(small_course.LESSON)
    assert "A file was saved." in learner.say("next")
    learner.close()


def test_a_term_may_name_a_step_that_is_not_there_yet(session: Session, tmp_path: Path) -> None:
    glossary = small_course.GLOSSARY.replace("first-row/table", "first-row/tables")
    course = small_course.write_course(tmp_path / "rows", glossary=glossary)
    learner = conversation(PreviewedCourse.at(course), session)
    learner.begin()
    said = "The course has no step 'first-row/tables', which should introduce it."
    assert said in learner.say("glossary table")
    assert said in learner.say("term table")
    learner.close()


def test_only_what_is_of_a_learner_is_left_out(session: Session, tmp_path: Path) -> None:
    course = small_course.write_course(tmp_path / "rows")
    about_course = Conversation()
    preview = conversation(PreviewedCourse.at(course), session, 1)
    everywhere = {"next", "back", "map", "steps", "go", "progress", "glossary", "term", "help", "quit"}
    left_out = {"courses", "course", "export"}
    assert left_out <= set(about_course.dialogue.handlers)
    assert everywhere | {"code", "check", "hint", "solution"} <= set(preview.dialogue.handlers)
    assert not left_out & set(preview.dialogue.handlers)
    preview.close()
    about_course.close()
