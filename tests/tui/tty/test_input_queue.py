"""Input in packets of any size has the same effect as input that arrives byte by byte."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import AppBlur, Key, Resize
from textual.geometry import Size
from textual.widgets import Input

from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.tui.app import TutorApp
from attn_tutor.tui.controllers import startup
from attn_tutor.tui.sources.course_source import CourseSource
from attn_tutor.tui.tty import input_queue
from attn_tutor.tui.tty.input_queue import MOST_AT_ONCE, OrderedInputApp
from attn_tutor.tui.widgets.editors import CodeEditor, PromptInput
from tests.course import COURSE
from tests.tui.fake_session import FakeSession
from tests.tui.learner import SSH, Learner, position_text, task, tutor, with_typed
from tests.tui.packets import BACKSPACE, CTRL_C, DELETE, DOWN, END, ENTER, F5, F8, F12, HOME, LEFT, RIGHT, Line, pasted

Kind = Literal["editor", "prompt", "line"]
KINDS: tuple[Kind, ...] = ("editor", "prompt", "line")


class TypingApp(OrderedInputApp):
    """An app with an editor, as deep in the tree of widgets as in the tutor."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f12", "end", show=False)]

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.entered: list[str] = []
        self.ended = asyncio.Event()
        self.line = Line(self)
        self.widget = CodeEditor() if kind == "editor" else PromptInput() if kind == "prompt" else Input()

    def compose(self) -> ComposeResult:
        yield Container(Container(Container(self.widget)))

    def on_mount(self) -> None:
        self.widget.focus()

    @property
    def text(self) -> str:
        return self.widget.value if isinstance(self.widget, Input) else self.widget.text

    def on_prompt_input_entered(self, event: PromptInput.Entered) -> None:
        self.entered.append(event.code)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.entered.append(event.value)

    def action_end(self) -> None:
        """Note that the last key has arrived."""
        self.ended.set()


@dataclass
class Buffer:
    """A model of an editor: a text with a cursor."""

    kind: Kind
    text: str = ""
    cursor: int = 0
    entered: tuple[str, ...] = ()

    def insert(self, text: str) -> None:
        self.text = self.text[: self.cursor] + text + self.text[self.cursor :]
        self.cursor += len(text)

    def press(self, key: bytes) -> None:
        begin = self.text.rfind("\n", 0, self.cursor) + 1
        end = self.text.find("\n", self.cursor)
        if key == BACKSPACE and self.cursor:
            self.text = self.text[: self.cursor - 1] + self.text[self.cursor :]
            self.cursor -= 1
        elif key == DELETE:
            self.text = self.text[: self.cursor] + self.text[self.cursor + 1 :]
        elif key in (LEFT, RIGHT):
            self.cursor = min(max(0, self.cursor + (1 if key == RIGHT else -1)), len(self.text))
        elif key == HOME:
            self.cursor = begin
        elif key == END:
            self.cursor = len(self.text) if end < 0 else end
        elif key == ENTER and self.kind == "editor":
            self.insert("\n")
        elif key == ENTER and self.kind == "line":
            self.entered += (self.text,)
        elif key == ENTER and self.text:
            self.entered += (self.text,)
            self.text, self.cursor = "", 0


LETTERS = st.text("123xyzéжβ漢", min_size=1, max_size=6)
KEYS = st.sampled_from([BACKSPACE, DELETE, ENTER, LEFT, RIGHT, HOME, END])
TYPED = st.tuples(st.sampled_from(["text", "paste"]), LETTERS) | st.tuples(st.just("key"), KEYS)


async def sends(app: TypingApp, packets: list[bytes]) -> None:
    """Send packets, each as soon as the one before is read, and wait until all have taken effect."""
    app.ended.clear()
    for packet in (*packets, F12):
        app.line.read(packet)
    async with asyncio.timeout(20):
        await app.ended.wait()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_random_packets(kind: Kind, data: st.DataObject) -> None:
    typed = data.draw(st.lists(TYPED, max_size=50))
    buffer, sent = Buffer(kind), b""
    for what, value in typed:
        if isinstance(value, bytes):
            buffer.press(value)
            sent += value
        else:
            buffer.insert(value)
            sent += pasted(value) if what == "paste" else value.encode()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(sent)), max_size=12)))
    packets = [sent[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(sent)], strict=True)]

    async def run() -> None:
        app = TypingApp(kind)
        async with app.run_test():
            await sends(app, [packet for packet in packets if packet])
            assert (app.text, tuple(app.entered)) == (buffer.text, buffer.entered)

    asyncio.run(run())


async def test_the_terminal_is_told_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it is the size that it had, which Textual does not pass on."""
    sizes: list[tuple[int, int]] = []
    app = TypingApp("line")
    async with app.run_test() as pilot:
        monkeypatch.setattr(input_queue, "resize_terminal", lambda *size: sizes.append(size))
        for _ in range(2):
            app.post_message(Resize(Size(50, 10), Size(50, 10)))
        await pilot.pause()
    assert sizes == [(50, 10)] * 2


async def test_ctrl_c_discards_input_that_waits() -> None:
    app = TypingApp("line")
    async with app.run_test():
        with app.input_held():
            app.line.read(b"abc" + CTRL_C + b"d" + F12)
        await asyncio.wait_for(app.ended.wait(), 20)
        assert app.text == "d"


async def test_ctrl_c_twice_ends_an_app_that_handles_no_input() -> None:
    app = TypingApp("line")
    async with app.run_test(), asyncio.timeout(20):
        with app.input_held():
            app.line.read(b"abc" + CTRL_C)
            app.line.read(b"def" + CTRL_C)
            while app.is_running:
                await asyncio.sleep(0)
    assert app.text == ""


async def test_end_does_not_wait_for_input() -> None:
    """Text is handed on in parts, so that what waits can be left out, and a window that loses the focus waits too."""
    app = TypingApp("line")
    async with app.run_test(), asyncio.timeout(20):
        app.line.read(b"a" * (2 * MOST_AT_ONCE))
        app.post_message(AppBlur())
        app.exit()
        app.line.read(b"b")
        while app.is_running:
            await asyncio.sleep(0)
    assert app.text == "a" * MOST_AT_ONCE
    assert app.app_focus


# In the tutor -------------------------------------------------------------------------------------------------------

EXERCISE = task("3.1")
LESSON = COURSE.exercise("3.1")[0]
BEFORE, AFTER = (LESSON.main_steps[LESSON.main_steps.index(EXERCISE) + by] for by in (-1, 1))


async def test_text_follows_the_keys_that_open_an_editor() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON.id, BEFORE.id)
        Line(learner.app).read(F8 + ENTER + b"12" + BACKSPACE + b"3")
        await learner.sees(lambda: learner.code == with_typed(EXERCISE.starter, "13"))


async def test_a_key_takes_effect_after_the_text_before_it() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON.id, EXERCISE.id)
        Line(learner.app).read(ENTER + b"12" + BACKSPACE + b"3" + F5)
        await learner.sees("Not yet")
    progress = Progress.open()
    assert [attempt.code for attempt in progress.attempts(EXERCISE.exercise)] == [with_typed(EXERCISE.starter, "13")]
    progress.close()


async def test_keys_after_an_escape_do_not_reach_the_editor() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON.id, EXERCISE.id)
        line = Line(learner.app)
        line.read(ENTER + b"nbq")
        learner.app.post_message(Key("escape", "\x1b"))
        line.read(b"nbn")
        await learner.sees(position_text(LESSON.id, AFTER.id))
        assert learner.code == with_typed(EXERCISE.starter, "nbq")


async def test_keys_after_the_one_that_opens_a_lesson() -> None:
    async with tutor() as learner:
        Line(learner.app).read(DOWN * 2 + ENTER + F8)
        lesson = COURSE.lessons[1]
        await learner.sees(position_text(lesson.id, lesson.main_steps[1].id))


async def test_keys_wait_for_the_views(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys pressed after opening a lesson go to the lesson, even while the tutor still loads."""
    importing, load = threading.Event(), startup.import_views
    monkeypatch.setattr(startup, "import_views", lambda: (importing.wait(), load()))
    app = TutorApp(SSH, CourseSource(session=FakeSession()))
    try:
        async with app.run_test() as pilot:
            learner = Learner(app, pilot)
            await learner.sees(app.loaded.is_set, "Start", lambda: learner.focus == "lessons")
            Line(app).read(ENTER + F8)
            await pilot.pause()
            importing.set()
            lesson = COURSE.lessons[0]
            await learner.sees(position_text(lesson.id, lesson.main_steps[1].id))
    finally:
        importing.set()
        app.close()


async def test_map_does_not_wait_for_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    adding, add = threading.Event(), startup.load
    monkeypatch.setattr(startup, "load", lambda *given: (adding.wait(), add(*given))[1])
    app = TutorApp(SSH, CourseSource(session=FakeSession()))
    try:
        async with app.run_test() as pilot:
            learner = Learner(app, pilot)
            await learner.sees("Start", "loading PyTorch", lambda: learner.focus == "lessons")
            # Nothing runs yet that could be stopped.
            app.action_stop()
            Line(app).read(DOWN * 2)
            await learner.sees(COURSE.lessons[1].main_steps[1].title)
            Line(app).read(b"q")
            await learner.sees(lambda: not app.is_running)
    finally:
        adding.set()
        app.close()


async def test_keys_wait_for_the_course(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, read = threading.Event(), CourseSource.read
    monkeypatch.setattr(CourseSource, "read", lambda source: (reading.wait(), read(source))[1])
    app = TutorApp(SSH, CourseSource(session=FakeSession()))
    try:
        async with app.run_test() as pilot:
            learner = Learner(app, pilot)
            await learner.sees("loading the course")
            Line(app).read(DOWN + DOWN + ENTER + F8)
            await pilot.pause()
            reading.set()
            lesson = COURSE.lessons[1]
            await learner.sees(position_text(lesson.id, lesson.main_steps[1].id))
    finally:
        reading.set()
        app.close()


async def test_input_that_arrives_as_a_hold_ends() -> None:
    app = TypingApp("line")
    async with app.run_test():
        with app.input_held():
            pass
        app.line.read(b"a" + F12)
        await asyncio.wait_for(app.ended.wait(), 20)
        assert app.text == "a"


@pytest.mark.parametrize("before", ["", "question_mark"], ids=["alone", "over-help"])
async def test_ctrl_c_twice_quits(before: str) -> None:
    async with tutor() as learner:
        await learner.press(*filter(None, [before]), "ctrl+c")
        await learner.sees("Press q to quit", "ctrl+c again")
        await learner.press("ctrl+c")
        await learner.sees(lambda: not learner.app.is_running)
    assert learner.app.return_code == 0


async def test_input_after_the_end_is_ignored() -> None:
    async with tutor() as learner:
        line = Line(learner.app)
        line.read(b"q" + b"ab")
        await learner.sees(lambda: not learner.app.is_running)
    line.read(b"ab")
    assert learner.app.return_code == 0
