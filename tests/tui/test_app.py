"""Journeys of a learner through the tutor, from key to screen."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from types import ModuleType

import pytest
from textual.widgets import TextArea

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.lesson import RunningStep
from attn_tutor.lessons.learner import progress_file
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.recorded_results import RecordedResults
from attn_tutor.lessons.reading import kept_course
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.tui.app import TutorApp
from attn_tutor.tui.controllers import startup
from attn_tutor.tui.render.prose import rich_text
from attn_tutor.tui.sources.course_source import CourseSource
from attn_tutor.tui.tty import signals
from attn_tutor.tui.tty.exit_codes import ExitCode
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.text import TextPane
from tests.course import COURSE
from tests.tui.commands.command_line import WarmSession
from tests.tui.fake_session import FakeSession
from tests.tui.learner import (
    SSH,
    Learner,
    done_text,
    position_text,
    position_text_near,
    task,
    task_start,
    tutor,
    with_typed,
)

MAP_KEYS = "up/down choose   enter open   c challenge   ? help   q quit"
TASK_KEYS = "enter edit   f5 check   f6 run   f3 hint   n next   ? help   m map   q quit"
EDITOR_KEYS = "f5 check   f6 run   f3 hint   f4 pane   f8 next   esc: map, quit   f1 help"


# Lessons ------------------------------------------------------------------------------------------------------------


async def test_from_the_map_through_a_lesson_and_back() -> None:
    first, other = COURSE.lessons[:2]
    steps = first.main_steps[:4]
    assert isinstance(steps[1], RunningStep)
    name, *_ = [tensor.name for tensor in steps[1].tensors]
    async with tutor() as learner:
        await learner.sees(f"Start: {first.number}. {steps[0].title}"[:25], COURSE.lessons[-1].title, first.goal[:20])
        await learner.press("enter")
        await learner.sees(f" {steps[0].title}", f"lesson {first.number}   {position_text(first.id, steps[0].id)}")
        await learner.press("n")
        await learner.sees(position_text(first.id, steps[1].id), steps[1].title, f"{name}  ", "live, 2 ms")
        await learner.press("space")
        await learner.sees(position_text(first.id, steps[2].id))
        await learner.press("b")
        await learner.sees(position_text(first.id, steps[1].id), f"{name}  ")
        await learner.press("m")
        await learner.sees(
            f"Continue: {first.number}. {steps[1].title}"[:25],
            done_text(first.id, 1),
            f"● {steps[0].title}",
            f"» {steps[1].title}",
            f"◐ {steps[2].title}",
        )
        assert learner.progress.position() == (first.id, steps[1].id)
        assert [learner.progress.state(first.id, step.id) for step in steps] == ["done", "skipped", "seen", "new"]
        await learner.press("down", "down")
        await learner.sees(f"{other.number}. {other.title}")
        # The keys also work from the text beside the list.
        assert learner.keys == MAP_KEYS
        await learner.press("tab")
        await learner.sees(lambda: learner.keys == "arrows scroll   enter open   tab lessons   ? help   q quit")
        await learner.press("tab")
        await learner.sees(lambda: learner.keys == MAP_KEYS)
        await learner.press("tab", "enter")
        await learner.sees(f"lesson {other.number}   step 1 of")


async def test_from_lesson_to_lesson_and_the_end() -> None:
    async with tutor() as learner:
        await learner.goes_to("one-query", "remember")
        await learner.press("n")
        await learner.sees("lesson 2   step 1 of")
        await learner.press("b")
        await learner.sees(f"lesson 1   {position_text('one-query', 'remember')}")
        # There is no step before the first one or after the last one.
        first, last = COURSE.lessons[0], COURSE.lessons[-1]
        await learner.goes_to(first.id, first.steps[0].id)
        await learner.press("b")
        assert learner.progress.position() == (first.id, first.steps[0].id)
        await learner.goes_to(last.id, last.steps[-1].id)
        await learner.press("n")
        await learner.sees("course map")


async def test_the_cursor_reads_the_matrix_out() -> None:
    async with tutor() as learner:
        await learner.goes_to("one-query", "inputs")
        await learner.sees("live, 2 ms", "inputs[0,0] = 0.43", "row: Your (token 0)", "column: d0 (dim 0)")
        await learner.press("down", "right")
        await learner.sees("inputs[1,1] = 0.87", "row: journey (token 1)", "▐0.8700▌")
        await learner.press("ctrl+end", "right", "down")
        await learner.sees("inputs[5,2] = 0.55", "row: step (token 5)")


async def test_tab_says_where_it_leads_and_shows_what_does_not_fit() -> None:
    async with tutor() as learner:
        await learner.goes_to("attention-classes", "linear")
        # Below each other, the three matrices would not fit.
        await learner.sees("live, 2 ms", "1  weight = v2", "weight  2×3", "queries", "by_hand", "tab queries   ")
        header = next(line for line in learner.lines if "weight  2×3" in line)
        assert "queries" in header
        assert "by_hand" in header
        await learner.press("tab")
        await learner.sees("queries[0,0]", "tab by_hand   ")
        await learner.press("tab")
        await learner.sees("by_hand[0,0]", "tab code   ")
        await learner.press("tab")
        await learner.sees("tab weight   ")
        await learner.pilot.resize_terminal(40, 15)
        await learner.sees("1  weight = v2")
        await learner.press("tab")
        await learner.sees("weight[0,0]", "queries  6×2", "tab queries   ")


async def test_the_line_of_keys_names_only_keys_that_apply() -> None:
    """The key for panes is named only if the step has several."""
    async with tutor(size=(80, 40)) as learner:
        await learner.goes_to("one-query", "similarity")
        await learner.sees(lambda: learner.keys.startswith("tab code   arrows bar   enter explain   w what if   "))
        await learner.press("tab")
        await learner.sees(
            lambda: learner.keys == "n next   b back   tab overlap   arrows scroll   m map   ? help   q quit"
        )
        await learner.press("m")
        await learner.sees(lambda: learner.keys == MAP_KEYS)


async def test_a_large_matrix_asks_for_what_it_shows() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        await learner.goes_to("gpt2-size", "weights")
        await learner.sees("1024×1024", "live, 2 ms", "max of weights[0,0,0:", "arrows block   enter in   esc cells")
        await learner.press("escape")
        await learner.sees("batch 0 of 1  head 0 of 12   [ ] head")
        await learner.press("ctrl+end")
        await learner.sees("weights[0,0,1023,1023] = 1024.0229")
        await learner.press("right_square_bracket")
        await learner.sees("batch 0 of 1  head 1 of 12", "weights[0,1,1023,1023] = 1024.0229")
        asked = session.runs[-1].asked
        assert {lead for lead, *_ in asked} == {(0, 0), (0, 1)}
        assert len(asked) == len(set(asked))
        await learner.press("home")
        await learner.sees("weights[0,1,1023,0] = 1023")


async def test_a_large_matrix_zooms_out() -> None:
    async with tutor(FakeSession()) as learner:
        await learner.goes_to("gpt2-size", "weights")
        await learner.sees("live, 2 ms", "max of weights[0,0,0:", "arrows block   enter in   esc cells")
        await learner.press("escape")
        await learner.sees("live, 2 ms", "arrows cell", "o overview")
        await learner.press("o")
        await learner.sees("max of weights[0,0,0:", "arrows block   enter in   esc cells")
        await learner.press("minus")
        await learner.sees("[0]", "weights, head 0 of 12", "arrows head")
        await learner.press("right", "enter", "down", "escape")
        await learner.sees("weights[0,1,", "arrows cell")
        await learner.press("t")
        await learner.sees("sum ")


async def test_results_of_a_step_that_was_left_are_not_shown() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        session.held.clear()
        await learner.goes_to("one-query", "inputs")
        await learner.sees("recorded", lambda: session.asked)
        await learner.press("n")
        session.held.set()
        await learner.sees(position_text_near("one-query", "inputs", 1), "live, 2 ms")
        after = main_path.step_after(COURSE.lesson("one-query").steps, "inputs")
        assert after is not None
        assert session.asked == ["run one-query/inputs", f"run one-query/{after.id}"]
        await learner.sees(lambda: session.runs[0].closed.is_set())
        assert not session.runs[-1].closed.is_set()


@pytest.mark.parametrize(
    ("module", "function", "missing"),
    [
        (kept_course, "load_outline", ModuleNotFoundError("No module named 'yaml'", name="yaml")),
        (startup, "import_views", ModuleNotFoundError("No module named 'yaml'", name="yaml")),
        (startup, "import_views", ValueError("source code string cannot contain null bytes")),
    ],
    ids=["at first", "later", "file of zeros"],
)
async def test_a_package_that_cannot_be_imported_ends_the_tutor(
    module: ModuleType, function: str, missing: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:

    def fail(*_: object) -> None:
        raise missing

    monkeypatch.setattr(module, function, fail)
    app = TutorApp(SSH, CourseSource(session=FakeSession()))
    async with app.run_test() as pilot:
        await Learner(app, pilot).sees(lambda: not app.is_running)
    assert app.return_code == ExitCode.INCOMPLETE
    assert app.import_error is missing
    app.close()


@pytest.mark.parametrize("late", [False, True])
async def test_a_course_that_cannot_be_read_ends_the_tutor(late: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether that turns out before the first paint or after it."""
    reading = threading.Event()

    def load_outline(_: object) -> None:
        if late:
            reading.wait()
        raise LessonError([Finding("lesson.yaml", 1, 1, "It is not here", "Put it there.")])

    monkeypatch.setattr(kept_course, "load_outline", load_outline)
    app = TutorApp(SSH, CourseSource(session=FakeSession()))
    async with app.run_test() as pilot:
        learner = Learner(app, pilot)
        if late:
            await learner.sees("loading the course")
            reading.set()
        await learner.sees(lambda: not app.is_running)
    assert app.return_code == ExitCode.FAILURE
    assert app.close().message == "The course cannot be read:\nlesson.yaml:1:1: It is not here. Put it there."


async def test_a_signal_ends_it_within_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if its terminal takes no more output, which the writer would wait for."""
    limited: list[int] = []
    monkeypatch.setattr(signals, "end_soon", limited.append)
    async with tutor() as learner:
        os.kill(os.getpid(), signal.SIGTERM)
        await learner.sees(lambda: not learner.app.is_running)
    assert (limited, learner.app.return_code) == ([signal.SIGTERM], 128 + signal.SIGTERM)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_is_not_lost_behind_much_input(number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key wakes the loop through a socket, which is full after some hundred keys."""
    monkeypatch.setattr(signals, "end_soon", lambda _: None)
    async with tutor() as learner:
        loop = asyncio.get_running_loop()
        for _ in range(5000):
            loop.call_soon_threadsafe(id, 0)
        os.kill(os.getpid(), number)
        await learner.sees(lambda: not learner.app.is_running)
    assert learner.app.return_code == 128 + number


async def test_the_first_reason_to_end_decides_the_return_code() -> None:
    async with tutor() as learner:
        learner.app.exit(return_code=128 + signal.SIGTERM)
        learner.app.exit()
        await learner.sees(lambda: not learner.app.is_running)
    assert learner.app.return_code == 128 + signal.SIGTERM


@pytest.mark.parametrize("fail", [lambda _: 1 / 0, lambda app: app.panic("The input thread has failed.")])
async def test_a_failure_of_the_tutor_is_no_answer_that_did_not_pass(
    fail: Callable[[TutorApp], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TutorApp, "action_help", fail)
    app = TutorApp(SSH, CourseSource(session=FakeSession()))
    with suppress(ZeroDivisionError):
        async with app.run_test() as pilot:
            learner = Learner(app, pilot)
            await learner.sees(app.assembled.is_set)
            await pilot.press("f1")
            await learner.sees(lambda: not app.is_running)
    app.close()
    assert app.return_code == ExitCode.FAILURE


async def test_garbage_is_collected_once_the_tutor_is_loaded() -> None:
    gc.disable()
    try:
        async with tutor():
            assert gc.isenabled()
    finally:
        gc.enable()


async def test_without_recorded_results_the_focus_moves_to_the_first_matrix_that_arrives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = FakeSession(loaded=False)
    async with tutor(session) as learner:
        monkeypatch.setattr(RecordedResults, "of", lambda self, lesson: {})
        await learner.goes_to("attention-classes", "linear")
        await learner.sees("1  weight = v2", lambda: learner.focus == "code")
        # There is no matrix yet that Tab could lead to.
        await learner.press("tab")
        assert (learner.focus, "weight  2×3" in learner.text) == ("code", False)
        session.loaded.set()
        await learner.sees("live, 2 ms", "weight  2×3", lambda: learner.focus == "matrix0")


async def test_while_pytorch_loads() -> None:
    session = FakeSession(loaded=False)
    async with tutor(session) as learner:
        await learner.sees("loading PyTorch")
        await learner.goes_to("one-query", "inputs")
        await learner.sees("loading PyTorch", "recorded", "inputs[0,0] = 0.43")
        await learner.press("right")
        await learner.sees("inputs[0,1] = 0.15")
        session.loaded.set()
        await learner.sees("live, 2 ms", lambda: "loading" not in learner.text)
        # The cursor has not moved.
        await learner.sees("inputs[0,1] = 0.15")


# Explanations -------------------------------------------------------------------------------------------------------

EXPLAINING = "arrows choose   enter go on   backspace back   tab matrix   esc close"


async def test_a_number_explains_itself() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        await learner.goes_to("all-queries", "product")
        await learner.sees("live, 2 ms")
        await learner.press("down", "right", "right", "enter")
        # The explanation has the formula, the line of code, and the operands.
        await learner.sees("scores[1,2] ← scores[1,:]", "scores[1,2] = scores[1,0] + scores[1,1]", "line 1", " 0.9544 ")
        await learner.sees(lambda: (learner.focus, learner.keys) == ("explanation", EXPLAINING))
        assert session.runs[-1].explained == [("product", "scores", (1, 2))]
        # The line is marked in the code, and the operands are marked in their matrix.
        assert "1" in learner.styled("inputs @ inputs.T", reverse=True)
        [row] = [line for line in learner.lines if line.lstrip().startswith("journey ")]
        assert row.count("│") == 2
        assert "".join(learner.styled("scores[1,:]", reverse=True)) == "0.9544"
        await learner.press("right")
        await learner.sees(lambda: "".join(learner.styled("scores[1,:]", reverse=True)).startswith("1.495"))
        await learner.press("enter")
        await learner.sees(
            "scores[1,2] ← scores[1,1]", "scores[1,1] = 1.495", "written in the code", "line 3 of the setup"
        )
        # The operand comes from the setup, so nothing in this step is marked.
        assert learner.styled("inputs @ inputs.T", reverse=True) == []
        assert not any("│" in line for line in learner.lines)
        await learner.press("enter", "backspace")
        await learner.sees(
            "scores[1,2] ← scores[1,:]",
            lambda: "".join(learner.styled("scores[1,:]", reverse=True)).startswith("1.495"),
        )
        assert "1" in learner.styled("inputs @ inputs.T", reverse=True)
        await learner.press("escape")
        await learner.sees(
            lambda: "scores[1,:]" not in learner.text,
            lambda: learner.focus == "matrix0",
            position_text("all-queries", "product"),
        )
        assert learner.styled("inputs @ inputs.T", reverse=True) == []
        assert not any("│" in line for line in learner.lines)


async def test_backspace_from_the_first_number_closes() -> None:
    async with tutor() as learner:
        await learner.goes_to("all-queries", "product")
        await learner.sees("live, 2 ms")
        await learner.press("enter")
        await learner.sees("scores[0,0] ← scores[0,:]", lambda: learner.focus == "explanation")
        await learner.press("backspace")
        await learner.sees(lambda: "scores[0,:]" not in learner.text, lambda: learner.focus == "matrix0")
        # If nothing is open, escape leads to the map, and backspace does nothing.
        await learner.press("backspace")
        await learner.sees(position_text("all-queries", "product"))
        await learner.press("escape")
        await learner.sees("course map")


async def test_the_explanation_follows_the_cursor() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        await learner.goes_to("all-queries", "product")
        await learner.sees("live, 2 ms")
        await learner.press("enter")
        await learner.sees("scores[0,0] ← scores[0,:]", lambda: learner.focus == "explanation")
        learner.lesson_view.focus_active()
        await learner.sees(lambda: learner.focus == "matrix0")
        for key, cell in (("down", "1,0"), ("right", "1,1"), ("end", "1,5")):
            await learner.press(key)
            await learner.sees(f"scores[{cell}] = scores[1,0] + scores[1,1]")
            assert learner.focus == "matrix0"
        # Enter asks for the same again, and escape closes it from the matrix too.
        await learner.press("enter")
        await learner.is_answered()
        await learner.sees("scores[1,5] ← scores[1,:]")
        await learner.press("escape")
        await learner.sees(lambda: "scores[1,:]" not in learner.text)
        await learner.press("up")
        await learner.sees("scores[0,5] = ")
        assert [index for _, _, index in session.runs[-1].explained][:4] == [(0, 0), (1, 0), (1, 1), (1, 5)]
        assert "scores[0,:]" not in learner.text


@pytest.mark.parametrize("key", ["down", "enter"])
async def test_a_closed_explanation_is_not_opened_again_by_a_late_answer(key: str) -> None:
    answers = threading.Event()
    async with tutor() as learner:
        await learner.goes_to("all-queries", "product")
        await learner.sees("live, 2 ms")
        await learner.press("enter")
        await learner.sees("scores[0,0] ← scores[0,:]", lambda: learner.focus == "explanation")
        if key == "down":
            learner.lesson_view.focus_active()
            await learner.sees(lambda: learner.focus == "matrix0")
        learner.app.state.async_session._questions.submit(answers.wait, 60)
        await learner.press(key, "escape")
        await learner.sees(lambda: not learner.lesson_view.explaining)
        answers.set()
        await learner.is_answered()
        assert not learner.lesson_view.explaining
        await learner.press("enter")
        await learner.sees("scores[1,0] ←" if key == "down" else "scores[0,0] ←")


async def test_tab_leads_from_the_explanation_to_its_matrix_and_on() -> None:
    async with tutor() as learner:
        await learner.goes_to("all-queries", "product")
        await learner.sees("live, 2 ms")
        await learner.press("enter")
        await learner.sees(lambda: learner.focus == "explanation")
        await learner.press("tab")
        await learner.sees(lambda: learner.focus == "matrix0")
        await learner.press("tab")
        await learner.sees(lambda: learner.focus == "code")


async def test_an_explanation_closes_with_its_step() -> None:
    async with tutor() as learner:
        await learner.goes_to("all-queries", "product")
        await learner.sees("live, 2 ms")
        await learner.press("enter")
        await learner.sees("scores[0,0] ← scores[0,:]")
        await learner.press("n")
        await learner.sees(position_text_near("all-queries", "product", 1), "live, 2 ms")
        assert " ← " not in learner.text


async def test_no_number_explains_itself_before_the_step_has_run() -> None:
    session = FakeSession(loaded=False)
    async with tutor(session) as learner:
        await learner.goes_to("all-queries", "product")
        await learner.press("enter")
        await learner.sees("This number can be explained once")
        session.loaded.set()


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)])
async def test_explanations_and_what_if_of_any_size(size: tuple[int, int]) -> None:
    async with tutor() as learner:
        await learner.goes_to("all-queries", "product")
        await learner.sees("live, 2 ms")
        await learner.pilot.resize_terminal(*size)
        await learner.press("enter")
        await learner.sees("scores[0,0] =", lambda: learner.focus == "explanation")
        assert len(learner.lines) == size[1]
        await learner.press("escape", "w")
        await learner.sees("What if", lambda: learner.lesson_view._whatif.has_focus_within)
        assert len(learner.lines) == size[1]


# What if ------------------------------------------------------------------------------------------------------------


async def test_what_if() -> None:
    session = FakeSession()
    run = "run all-queries/weights"
    async with tutor(session, size=(100, 30)) as learner:
        await learner.goes_to("all-queries", "weights")
        await learner.sees("live, 2 ms", "▐0.2098▌")
        await learner.press("w")
        await learner.sees("What if …", "weights[0,0]", "Temperature", "any other cell", "enter type   ")
        await learner.sees("esc restore")
        await learner.press("down", "down", "right")
        # The run, its code, and the changed numbers.
        await learner.sees(lambda: session.asked[-1] == f"{run} with Temperature: 2", "what if", "•", "1.2098", "after")
        assert session.asked.count(run) == 1
        assert learner.styled("/ 2, dim=-1", underline=True)
        await learner.sees(lambda: "d difference" in learner.keys)
        await learner.press("d")
        await learner.sees("difference", "1.0000", "0.0000")
        await learner.press("d")
        await learner.sees("before", "0.2098")
        await learner.press("d")
        await learner.sees("after", "1.2098")
        await learner.press("ctrl+z")
        await learner.sees("0.2098", lambda: "what if" not in learner.lines[0], lambda: "• " not in learner.text)
        await learner.press("ctrl+y")
        await learner.sees("1.2098", lambda: session.asked[-1] == f"{run} with Temperature: 2")
        # Everything is restored: no changes, and the focus in the matrix.
        await learner.press("escape")
        await learner.sees(lambda: session.asked[-1] == run, "▐0.2098▌", lambda: learner.focus == "matrix0")
        await learner.sees(lambda: "What if" not in learner.text and "what if  " not in learner.lines[0])
        assert not learner.styled("dim=-1", underline=True)
        await learner.press("escape")
        await learner.sees("course map")


async def test_a_value_that_was_not_entered_is_left_with_the_panel() -> None:
    async with tutor() as learner:
        await learner.goes_to("all-queries", "weights")
        await learner.press("w", "5", "7", "9")
        await learner.sees("579", "enter take it   esc leave it")
        await learner.press("tab")
        await learner.sees(lambda: learner.focus == "matrix0", lambda: "579" not in learner.text)
        # Beside the glossary it stays, but not in another step.
        await learner.press("w", "5", "7", "9", "f2")
        await learner.sees("Search >")
        await learner.press("escape")
        await learner.sees("579", "enter take it   esc leave it")
        await learner.press("f2")
        await learner.sees("Search >")
        await learner.press("enter")
        await learner.sees("lesson 3   step 2 of")
        await learner.press("n", "w")
        await learner.sees("What if …", lambda: "579" not in learner.text)


async def test_changing_the_number_under_the_cursor() -> None:
    session = FakeSession()
    async with tutor(session, size=(100, 30)) as learner:
        await learner.goes_to("all-queries", "product")
        await learner.sees("live, 2 ms")
        await learner.press("down", "w", "9", ".", "5")
        await learner.sees(lambda: learner.keys == "enter take it   esc leave it")
        await learner.press("enter")
        await learner.sees(lambda: session.asked[-1] == "run all-queries/product with scores[1,0] = 9.5")
        # The learner's own cell, and the changed one.
        await learner.sees("►", "•")
        await learner.press("tab", "escape")
        await learner.sees(lambda: session.asked[-1] == "run all-queries/product", lambda: "►" not in learner.text)


async def test_changes_end_with_their_lesson() -> None:
    session = FakeSession()
    async with tutor(session, size=(100, 30)) as learner:
        await learner.goes_to("all-queries", "weights")
        await learner.sees("live, 2 ms")
        await learner.press("w", "down", "down", "right")
        await learner.sees("1.2098")
        await learner.goes_to("all-queries", "wrong-axis")
        await learner.sees(
            position_text("all-queries", "wrong-axis"),
            lambda: session.asked[-1] == "run all-queries/wrong-axis with Temperature: 2",
            "after",
        )
        assert "what if" in learner.lines[0]
        await learner.goes_to("all-queries", "remember")
        await learner.press("n")
        await learner.sees("lesson 3   step 1 of")
        await learner.goes_to("trainable-weights", "matrices")
        await learner.sees(lambda: session.asked[-1] == "run trainable-weights/matrices", "live, 2 ms")
        assert "what if" not in learner.lines[0]


async def test_the_text_of_the_next_step_is_not_behind_the_panel() -> None:
    """Escape restores everything, so the text could not be read with the changes otherwise."""
    async with tutor() as learner:
        await learner.goes_to("all-queries", "order")
        await learner.sees("live, 2 ms")
        await learner.press("w", "down", "down", "right")
        await learner.sees("what if")
        await learner.goes_to("all-queries", "remember")
        await learner.sees(
            position_text("all-queries", "remember"),
            rich_text(COURSE.lesson("all-queries").step("remember").prose).plain[:20],
        )


async def test_an_exercise_has_no_what_if() -> None:
    async with tutor() as learner:
        await learner.goes_to("all-queries", "all-scores")
        await learner.press("w", "d", "enter")
        await learner.sees(position_text("all-queries", "all-scores"))
        assert "What if" not in learner.text


async def test_an_operand_of_an_earlier_run_is_not_followed() -> None:
    """The numbers of the explanation are no longer on the screen."""
    session = FakeSession()
    async with tutor(session) as learner:
        await learner.goes_to("all-queries", "product")
        await learner.sees("live, 2 ms")
        await learner.press("enter")
        await learner.sees("scores[0,0] ← scores[0,:]", lambda: learner.focus == "explanation")
        await learner.press("r")
        await learner.sees(lambda: len(session.runs) == 2, lambda: session.runs[0].closed.is_set())
        await learner.press("enter")
        await learner.pilot.pause()
        assert "cannot be explained" not in learner.text
        assert "written in the code" not in learner.text


# Exercises ----------------------------------------------------------------------------------------------------------


async def test_an_exercise_opens_at_its_task() -> None:
    """The keys of a step work at once, because the task has the focus."""
    exercise = task("3.2")
    async with tutor() as learner:
        for keys, sign in (
            ("n", position_text_near("stacked-heads", exercise.id, 1)),
            ("space", position_text_near("stacked-heads", exercise.id, 1)),
            ("b", position_text_near("stacked-heads", exercise.id, -1)),
            ("m", "course map"),
            ("escape", "course map"),
        ):
            await learner.goes_to("stacked-heads", exercise.id)
            assert learner.focus == "task"
            assert learner.keys == TASK_KEYS
            await learner.press(keys)
            await learner.sees(sign)
        await learner.goes_to("stacked-heads", exercise.id)
        assert learner.code == exercise.starter
        await learner.press("q")
        await learner.sees(lambda: not learner.app.is_running)


async def test_the_panes_of_an_exercise() -> None:
    async with tutor() as learner:
        await learner.goes_to("stacked-heads", "two-wide")
        seen = []
        for key in ("tab", "tab", "shift+tab", "shift+tab", "f4", "f4", "f4", "f4", "enter", "f4", "enter", "escape"):
            await learner.press(key)
            await learner.sees(lambda: learner.keys == (EDITOR_KEYS if learner.focus == "editor" else TASK_KEYS))
            seen.append(learner.focus)
        # Tab skips the editor, where it would indent.
        assert seen[:4] == ["verdict", "task"] * 2
        assert seen[4:] == ["verdict", "editor", "task", "verdict", "editor", "task", "editor", "verdict"]


async def test_the_cursor_starts_where_code_is_to_be_written() -> None:
    exercise = task("3.2")
    wide = f"x = 1\n    y = {'1 + ' * 30}1\n\n\n"
    async with tutor() as learner:
        editor = learner.app.query_one("#editor", TextArea)
        await learner.goes_to("stacked-heads", exercise.id)
        lines = exercise.starter.rstrip("\n").split("\n")
        await learner.sees(lambda: editor.cursor_location == (len(lines) - 1, len(lines[-1])))
        # At the end of a line wider than the screen, the cursor would scroll the code: it waits below.
        learner.progress.save_draft(exercise.exercise, wide)
        await learner.press("f8", "f7")
        await learner.sees(position_text("stacked-heads", "two-wide"), lambda: editor.cursor_location == (2, 0))
        assert editor.scroll_offset.x == 0


async def test_enter_indents() -> None:
    async with tutor() as learner:
        await learner.goes_to("stacked-heads", "two-wide")
        editor = learner.app.query_one("#editor", TextArea)
        await learner.press("f4", "f4")
        await learner.writes("def f(x):")
        editor.move_cursor(editor.document.end)
        await learner.press("enter", "i", "f", "space", "x", "colon", "enter", "y", "enter", "z")
        assert learner.code == "def f(x):\n    if x:\n        y\n        z"
        # Enter in the middle of a line takes the rest of the line along, and replaces selected text.
        editor.move_cursor((1, 6))
        await learner.press("enter")
        assert learner.code == "def f(x):\n    if\n     x:\n        y\n        z"
        editor.move_cursor((0, 0))
        editor.move_cursor((1, 6), select=True)
        await learner.press("enter")
        assert learner.code == "\n\n     x:\n        y\n        z"


async def test_an_exercise_from_starter_to_solution() -> None:
    exercise = task("3.1")
    async with tutor() as learner:
        await learner.goes_to("attention-classes", exercise.id)
        await learner.sees("Exercise 3.1: Make v2 agree with v1", "def transfer(v1, v2):", "f5: check")
        await learner.press("f5")
        await learner.sees("✗ Not yet.", f"✗ {exercise.checks[0].name}: it is [b]not[/b] so")
        assert not learner.progress.passed(exercise.exercise)
        assert not learner.dimmed("✗ Not yet.")
        await learner.writes(exercise.solution)
        # The verdict is not about this code.
        await learner.sees("✗ Not yet.   f3: hint   (of earlier code)", f"✗ {exercise.checks[0].name}: ")
        assert learner.dimmed("✗ Not yet.")
        assert learner.dimmed(f"✗ {exercise.checks[0].name}: ")
        await learner.press("ctrl+r")
        await learner.sees("✓ Passed.", f"✓ {exercise.checks[0].name}", lambda: "✗" not in learner.text)
        assert "earlier" not in learner.text
        assert learner.progress.state("attention-classes", exercise.id) == "done"
        await learner.press("f8")
        await learner.sees(position_text_near("attention-classes", exercise.id, 1))
        await learner.press("m")
        await learner.sees(done_text("attention-classes", 1), lambda: "tested out" not in learner.text)
        assert "● Make v2 agree with v1   exercise 3.1" in learner.app.query_one("#about", TextPane).text
        await learner.goes_to("attention-classes", exercise.id)
        await learner.sees("Passed before.")


async def test_the_keys_of_the_editor() -> None:
    exercise = task("3.2")
    async with tutor() as learner:
        await learner.goes_to("stacked-heads", exercise.id)
        # Letters are typed, Tab indents, and Escape leaves the editor.
        await learner.press("enter", "n", "q", "question_mark", "enter", "tab", "м")
        mine = with_typed(exercise.starter, "nq?\n        м")
        await learner.sees(lambda: learner.code == mine)
        assert learner.progress.draft(exercise.exercise) == mine
        await learner.press("f9")
        await learner.sees(lambda: learner.code == exercise.starter)
        await learner.press("f9")
        await learner.sees(lambda: learner.code == mine, lambda: learner.keys == EDITOR_KEYS)
        await learner.press("escape")
        await learner.sees(lambda: learner.keys == TASK_KEYS, lambda: not learner.workbench.writing.editing)
        await learner.press("n")
        await learner.sees(position_text_near("stacked-heads", exercise.id, 1))
        await learner.press("f7")
        await learner.sees(lambda: learner.code == mine)


async def test_hints_and_folding_the_task() -> None:
    exercise = task("3.2")
    number = len(exercise.hints)

    def shows_hint(index: int) -> bool:
        """Return whether the full text of a hint is on the screen, however it is wrapped."""
        return rich_text(exercise.hints[index]).plain in " ".join(learner.text.split())

    async with tutor() as learner:
        await learner.goes_to("stacked-heads", exercise.id)
        await learner.sees(
            f"Exercise 3.2: {exercise.title}   ctrl+t: fold", task_start(exercise), f"there are {number}"
        )
        await learner.press("f3", "f3")
        await learner.sees(f"Hint 2 of {number}: ", lambda: shows_hint(1))
        await learner.press("ctrl+t")
        await learner.sees(f"Exercise 3.2: {exercise.title}   ctrl+t: unfold")
        assert task_start(exercise) not in learner.text
        assert "Hint" not in learner.text
        # The next hint is visible.
        await learner.press("f3")
        await learner.sees(f"Hint 3 of {number}: ", lambda: shows_hint(2))
        assert "ctrl+t: unfold" not in learner.text
        await learner.press("f5")
        await learner.sees(f"✗ Not yet.   f3: {'hint' if number > 3 else 'give up'}")
        await learner.press(*["f3"] * (number - 3), "f5")
        await learner.sees("✗ Not yet.   f3: give up", lambda: shows_hint(-1))
        await learner.press("ctrl+t", "ctrl+t", "enter", "ctrl+t")
        await learner.sees("ctrl+t: unfold", lambda: "Hint" not in learner.text)


async def test_a_verdict_is_dimmed_when_the_code_changes() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        await learner.goes_to("stacked-heads", "two-wide")
        await learner.press("f5")
        await learner.sees("✗ Not yet.")
        await learner.press("f9")
        await learner.pilot.pause()
        assert "earlier" not in learner.text, "it is the starter that was checked"
        await learner.press("enter", "x", "f5")
        await learner.sees("✗ Not yet.", lambda: "earlier" not in learner.text)
        # Replacing the code by the starter clears the verdict.
        await learner.press("f9")
        await learner.sees("f5: check", lambda: "Not yet" not in learner.text)
        # Code typed during a check dims its verdict too.
        session.held.clear()
        await learner.press("f5")
        await learner.sees("checking")
        await learner.press("y")
        session.held.set()
        await learner.sees("(of earlier code)")
        assert learner.dimmed("✗ Not yet.")


async def test_drafts_and_resets() -> None:
    exercise = task("3.2")
    async with tutor() as learner:
        await learner.goes_to("stacked-heads", exercise.id)
        # Text that was typed and undone does not come back later.
        await learner.press("enter", "x", "backspace", "f8", "f7")
        await learner.sees(position_text("stacked-heads", "two-wide"), lambda: learner.code == exercise.starter)
        # A reset can be undone, even by leaving, as long as nothing is typed after it.
        await learner.press("enter", "x", "f9", "f8", "f7")
        mine = with_typed(exercise.starter, "x")
        await learner.sees(position_text("stacked-heads", "two-wide"), lambda: learner.code == mine)
        await learner.press("f9", "enter", "y")
        await learner.sees(lambda: learner.code not in (mine, exercise.starter))
        other = learner.code
        assert other.replace("y\n", "\n").rstrip("y") == exercise.starter
        # After that, a reset gives the starter, not the code from before the edit.
        await learner.press("f9")
        await learner.sees(lambda: learner.code == exercise.starter)
        await learner.press("f9")
        await learner.sees(lambda: learner.code == other)
        await learner.press("f8", "f7")
        await learner.sees(position_text("stacked-heads", "two-wide"), lambda: learner.code == other)


async def test_a_check_can_be_stopped() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        await learner.goes_to("stacked-heads", "two-wide")
        session.held.clear()
        await learner.press("f5")
        await learner.sees("checking…   s: stop", lambda: "check two-wide" in session.asked)
        await learner.press("s")
        await learner.sees(lambda: learner.verdict == "Stopped by you.")
        await learner.press("enter", "f5")
        await learner.sees("checking…   esc, s: stop", lambda: session.asked.count("check two-wide") == 2)
        await learner.press("escape", "s")
        await learner.sees(lambda: learner.verdict == "Stopped by you.")
        # Leaving the step stops the check too.
        await learner.press("f5")
        await learner.sees("checking", lambda: session.asked.count("check two-wide") == 3)
        await learner.press("n")
        session.held.set()
        await learner.sees(
            position_text_near("stacked-heads", "two-wide", 1),
            lambda: session.asked[-1].startswith("run stacked-heads/"),
        )


async def test_output_of_a_program_is_drawn_literally() -> None:
    """Markup and control characters in output have no effect on the screen."""
    session = FakeSession()
    nasty = "[red]x[/red] [/]\x1b[2J\x1b]0;title\x07\r\x00\u202e\ttab\n"
    expected = "[red]x[/red] [/]\ufffd[2J\ufffd]0;title\ufffd"
    session.printed = {"inputs": nasty, "same-numbers": nasty}
    async with tutor(session) as learner:
        await learner.goes_to("one-query", "inputs")
        await learner.press("tab")
        await learner.sees(expected)
        await learner.goes_to("attention-classes", "same-numbers")
        await learner.writes(task("3.1").solution)
        await learner.press("f5")
        await learner.sees("It printed:", expected)
        assert not any(not letter.isprintable() for line in learner.lines for letter in line)


# Everywhere ---------------------------------------------------------------------------------------------------------


async def test_help_closes_with_any_key_and_nothing_else_happens() -> None:
    async with tutor() as learner:
        await learner.press("question_mark")
        await learner.sees("Course map", "Any key closes this.")
        await learner.press("q")
        await learner.sees(lambda: "Any key" not in learner.text)
        await learner.goes_to("one-query", "inputs")
        for key in ("f1", "n", "f8", "m", "tab"):
            await learner.press("f1")
            await learner.sees("A step of a lesson", "any other key closes it.")
            await learner.press("down")
            await learner.sees("What if")
            await learner.press("up")
            await learner.sees("A step of a lesson")
            await learner.press(key)
            await learner.sees(lambda: "any other key" not in learner.text, position_text("one-query", "inputs"))
        await learner.goes_to("attention-classes", "same-numbers")
        before = learner.code
        await learner.press("f1")
        await learner.sees("An exercise:", "f4     next pane: task, verdict, code", "Any key closes this.")
        await learner.press("z")
        await learner.sees(lambda: "Any key" not in learner.text)
        assert learner.code == before


async def test_other_sizes() -> None:
    async with tutor() as learner:
        positions = [("one-query", "inputs"), ("attention-classes", "same-numbers"), ("gpt2-size", "weights"), None]
        for position in positions:
            if position:
                await learner.goes_to(*position)
            else:
                await learner.press("m")
            for size in ((160, 50), (40, 12), (20, 5), (4, 2), (80, 24)):
                await learner.resizes(*size)
        await learner.sees(COURSE.lessons[-1].title)


async def test_a_resized_screen_looks_like_one_that_always_had_that_size() -> None:
    screens: dict[tuple[str, int, int], list[str]] = {}

    def same(screen: tuple[str, int, int]) -> Callable[[], bool]:
        return lambda: learner.lines == screens[screen]

    for first, second in (((80, 24), (160, 50)), ((160, 50), (80, 24))):
        async with tutor(size=first) as learner:
            for step, sign in (("linear", "live, 2 ms"), ("same-numbers", "f5: check")):
                await learner.goes_to("attention-classes", step)
                await learner.sees(sign)
                for size in (first, second):
                    await learner.resizes(*size)
                    await learner.is_answered()
                    screens.setdefault((step, *size), learner.lines)
                    await learner.sees(same((step, *size)))
                await learner.resizes(*first)


async def test_cyrillic_letters_are_keys() -> None:
    lesson = COURSE.lessons[0]
    async with tutor() as learner:
        await learner.press("enter", "т")
        await learner.sees(position_text(lesson.id, lesson.main_steps[1].id))
        await learner.press("и")
        await learner.sees(position_text(lesson.id, lesson.steps[0].id))
        await learner.press("ь")
        await learner.sees("course map")
        await learner.press("й")
        await learner.sees(lambda: not learner.app.is_running)


async def test_keys_before_anything_is_loaded() -> None:
    app = TutorApp(SSH, CourseSource(session=FakeSession()))
    async with app.run_test() as pilot:
        for key in ("n", "b", "m", "r", "s", "x", "f5", "f3", "tab", "enter", "f1", "z"):
            await pilot.press(key)
    app.close()


async def test_ascii_only() -> None:
    async with tutor(terminal=Terminal(depth="none", unicode=False)) as learner:
        screens = learner.text
        for position in (("one-query", "inputs"), ("attention-classes", "v1"), ("gpt2-size", "weights")):
            await learner.goes_to(*position)
            screens += learner.text
        await learner.goes_to("attention-classes", "same-numbers")
        await learner.press("f5")
        await learner.sees("x Not yet.")
        screens += learner.text
        assert {letter for letter in screens if not letter.isascii()} == set()


# From one day to the next -------------------------------------------------------------------------------------------


async def test_a_new_session_continues_where_the_last_one_ended() -> None:
    mine = with_typed(task("3.1").starter, "#")
    async with tutor() as learner:
        await learner.press("enter", "n", "n")
        await learner.goes_to("attention-classes", "same-numbers")
        await learner.press("enter", "#", "f8", "f7")
        await learner.sees(position_text("attention-classes", "same-numbers"), lambda: learner.code == mine)
        await learner.press("q")
    async with tutor() as learner:
        await learner.sees("Continue: 4. Make v2 agree", done_text(COURSE.lessons[0].id, 1))
        await learner.press("enter")
        await learner.sees(position_text("attention-classes", "same-numbers"), lambda: learner.code == mine)


async def test_a_worker_that_cannot_start_is_reported() -> None:
    async with tutor(FakeSession(problem="there is [no] PyTorch here"), size=(120, 30)) as learner:
        await learner.sees("Code cannot be run: there is [no] PyTorch here", "cannot run code")
        await learner.goes_to("one-query", "inputs")
        await learner.sees("cannot run code", "recorded", "inputs[0,0] = 0.43")
        await learner.goes_to("attention-classes", "same-numbers")
        await learner.press("f5")
        await learner.sees("Your code could not be checked: there is [no]")
        await learner.press("f8")
        await learner.sees(position_text_near("attention-classes", "same-numbers", 1))


async def test_a_lock_is_told_where_one_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_file, "RETRY_PATIENCE", 0.01)
    monkeypatch.setattr("attn_tutor.lessons.learner.progress.RETRY_EVERY", 0.05)
    async with tutor(size=(120, 40)) as learner:
        await learner.goes_to("attention-classes", "same-numbers")
        with closing(sqlite3.connect(progress_file.default_path(), isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            await learner.press("enter", "#")
            await learner.sees("Your progress is not saved, because another program keeps", "not saved (x: export)")
            other.execute("ROLLBACK")
        await learner.sees("Your progress is saved again.")
        await learner.sees(lambda: "not saved (x: export)" not in learner.text)


async def test_progress_cannot_be_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = with_typed(task("3.1").starter, "#")
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    async with tutor(size=(120, 40)) as learner:
        await learner.sees("Your progress is not saved, because", "not saved (x: export)")
        await learner.goes_to("attention-classes", "same-numbers")
        await learner.press("enter", "#", "escape", "x")
        await learner.sees("were written to")
        [written] = tmp_path.glob("attn-tutor-progress-*.json")
        assert json.loads(written.read_text())["drafts"][0]["code"] == mine
        written.unlink()
    # At the end, the learner is told where it is.
    ending = learner.app.close()
    assert not ending.is_lost
    assert ending.message.startswith("Your progress is not saved, because")
    [aside] = tmp_path.glob("unsaved-attn-tutor-*/*.json")
    assert str(aside) in ending.message
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    progress = Progress.open()
    progress.restore(json.loads(aside.read_text()))
    assert progress.position() == ("attention-classes", "same-numbers")
    progress.close()


async def test_from_a_number_to_its_inputs_with_the_real_worker(session: Session) -> None:
    async with tutor(WarmSession(session)) as learner:
        await learner.goes_to("all-queries", "context")
        await learner.sees("live, ", seconds=90)
        await learner.press("down", "enter")
        await learner.sees("context[1,0] = weights[1,:]·inputs[:,0]", "line 1", "weights[1,:]", "inputs[:,0]")
        await learner.press("right", "right", "enter")
        await learner.sees("context[1,0] ← weights[1,2] ← scores[1,:]", "softmax(scores[1,:])", "line 1 of step ")
        await learner.press("right", "right", "enter")
        await learner.sees(" ← weights[1,2] ← scores[1,2] ← inputs[1,:]", "0.55·0.57 + 0.87·0.85 + 0.66·0.64 = 1.4754")
        await learner.press("down", "enter")
        await learner.sees("inputs[2,0] = 0.57", "written in the code", "line 5 of the setup")
        for number in ("scores[1,2] = inputs", "weights[1,2] = softmax", "context[1,0] = weights"):
            await learner.press("backspace")
            await learner.sees(number)
        # With a different number, all results are different.
        await learner.press("escape", "w", *["down"] * 2, "right")
        await learner.sees("what if", "•", lambda: "d difference" in learner.keys)


async def test_with_the_real_worker(session: Session) -> None:
    exercise = task("3.1")
    async with tutor(WarmSession(session)) as learner:
        await learner.goes_to("all-queries", "product")
        await learner.sees("live, ", "scores[0,0] = 0.999", seconds=90)
        await learner.goes_to("attention-classes", exercise.id)
        await learner.press("f5")
        await learner.sees("Not yet.")
        await learner.writes(exercise.solution)
        await learner.press("f5")
        await learner.sees("✓ Passed.")
