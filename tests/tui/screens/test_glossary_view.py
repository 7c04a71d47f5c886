"""Journeys to the glossary and back."""

from __future__ import annotations

import json

import pytest

from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.reading import glossary
from attn_tutor.tui.cli import main
from attn_tutor.tui.render.glossary_text import introduced
from attn_tutor.tui.screens.glossary_view import GlossaryView
from attn_tutor.tui.tty.terminal import Terminal
from tests.course import COURSE
from tests.tui.learner import position_text, task, tutor

WORDS = glossary.load()


async def test_from_a_step_and_back() -> None:
    step = COURSE.lesson("one-query").step("softmax")
    here = WORDS.terms_in(step)
    assert here
    async with tutor() as learner:
        await learner.goes_to("one-query", "softmax")
        before, focus = learner.lines[3:12], learner.focus
        await learner.press("f2")
        await learner.sees("Glossary", "Search >", f"▸ {here[0].term}", "tab references")
        assert sum(line[:36].endswith(" here") or " here " in line[:37] for line in learner.lines) == len(here)
        await learner.press("down")
        await learner.sees(lambda: learner.app.query_one(GlossaryView).chosen == here[1])
        await learner.press("f2")
        await learner.sees(position_text("one-query", "softmax"), lambda: learner.lines[3:12] == before)
        assert learner.focus == focus
        # Keys work as before.
        await learner.press("n")
        await learner.sees(lambda: learner.app.parts.steps.index == COURSE.lesson("one-query").index("softmax") + 1)


async def test_search_and_go_to_the_step() -> None:
    async with tutor() as learner:
        await learner.press("f2", *"dot pro")
        await learner.sees("dot product", lambda: len(learner.lines) == 24)
        found = WORDS.search("dot product")[0]
        assert learner.app.query_one(GlossaryView).chosen == found
        lesson, step = found.step.split("/")
        await learner.sees(lambda: COURSE.lesson(lesson).step(step).title in " ".join(learner.text.split()))
        await learner.press("enter")
        await learner.sees(position_text(lesson, step))


async def test_keys_for_steps_do_nothing_where_it_covers_the_map() -> None:
    """There is no step to go on from, and none may have been opened yet."""
    async with tutor() as learner:
        await learner.press("f2")
        await learner.sees("Glossary")
        await learner.press("f7", "f8")
        await learner.sees("Glossary")
        await learner.press("f2")
        await learner.sees(lambda: "Glossary" not in learner.text)


async def test_a_jump_is_no_work_and_has_a_way_back() -> None:
    term = WORDS.search("dot product")[0]
    assert term is not None
    lesson, step = term.step.split("/")
    found = COURSE.lesson(lesson)
    at, after = found.index(step), main_path.step_after(found.steps, step)
    assert after is not None
    async with tutor() as learner:
        await learner.goes_to("attention-classes", "v1")
        assert "jump back" not in learner.text
        await learner.press("f2", *"dot pro", "enter")
        await learner.sees(position_text(lesson, step), "j jump back")
        assert learner.progress.position() == ("attention-classes", "v1")
        # A jump from a jump: each has its way back.
        await learner.press("f2", *"tensor", "enter")
        await learner.sees(lambda: (learner.app.parts.steps.lesson.id, learner.app.parts.steps.index) != (lesson, at))
        await learner.press("j")
        await learner.sees(position_text(lesson, step), "j jump back")
        await learner.press("j")
        await learner.sees(position_text("attention-classes", "v1"), lambda: "jump back" not in learner.text)
        # Who goes on from there to what they have not done works there.
        await learner.press("f2", *"dot pro", "enter")
        await learner.sees(position_text(lesson, step))
        await learner.press("n")
        await learner.sees(lambda: learner.progress.position() == (lesson, after.id))


async def test_escape_ends_the_search_first() -> None:
    async with tutor() as learner:
        await learner.press("f2", *"zzzz")
        await learner.sees("Nothing matches your search.")
        await learner.press("enter", "escape")
        await learner.sees(WORDS.terms[0].term)
        await learner.press("escape")
        await learner.sees("course map", lambda: learner.focus == "lessons")


async def test_references() -> None:
    async with tutor() as learner:
        await learner.press("f2", "tab")
        await learner.sees("References", "tab glossary")
        await learner.press(*"vaswani")
        await learner.sees("Attention Is All You Need", "2017.")
        await learner.press("tab")
        await learner.sees("Glossary", WORDS.terms[0].term)


async def test_from_the_editor_and_back() -> None:
    exercise = task("3.2")
    async with tutor() as learner:
        await learner.goes_to("stacked-heads", exercise.id)
        await learner.press("enter")
        await learner.sees(lambda: learner.focus == "editor")
        await learner.press("x", "f2")
        await learner.sees("Search >")
        await learner.press("q", "escape", "escape")
        await learner.sees(lambda: learner.focus == "editor")
        assert learner.code.rstrip().endswith("x")


async def test_without_unicode_and_colors() -> None:
    async with tutor(terminal=Terminal(depth="none", unicode=False)) as learner:
        await learner.goes_to("one-query", "softmax")
        await learner.press("f2")
        await learner.sees("> ", lambda: learner.text.isascii())


# Without a screen ----------------------------------------------------------------------------------------------------


def test_a_term_by_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["glossary", "dot", "product"]) == 0
    out = capsys.readouterr().out
    term = WORDS.search("dot product")[0]
    assert out.startswith("dot product")
    assert term.means in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80


def test_all_terms_by_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["glossary", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["terms"]
    assert [term["term"] for term in listed] == [term.term for term in WORDS.terms]


def test_a_term_that_nobody_defines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["glossary", "zzzz"]) == 2
    assert capsys.readouterr().err == "attn-tutor: The glossary has nothing about 'zzzz'.\n"


def test_references_by_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["references"]) == 0
    out = capsys.readouterr().out
    assert all(reference.title in " ".join(out.split()) for reference in WORDS.references)
    assert main(["references", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["references"]) == len(WORDS.references)


def test_steps_are_called_what_they_are_called_elsewhere() -> None:
    """Side steps are not counted, so the step of a term is not numbered by its position in the lesson."""
    lesson = next(lesson for lesson in COURSE.lessons if len(lesson.steps) > len(lesson.main_steps))
    last = lesson.main_steps[-1]
    assert introduced(lesson, last.id) == f"Lesson {lesson.number}, step {len(lesson.main_steps)}: {last.title}"
    side = next(step for step in lesson.steps if step.side)
    assert introduced(lesson, side.id).startswith(f"Lesson {lesson.number}, side step ")
