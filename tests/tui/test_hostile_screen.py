"""Nothing that a file, a lesson, a draft or a translation says commands the terminal, whichever view shows it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.play.kinds import MODELS
from attn_tutor.lessons.programs.engine import tensor_file
from attn_tutor.lessons.programs.render import tensor_file_text
from attn_tutor.lessons.reading import course_texts
from attn_tutor.lessons.texts.translations import Translations
from attn_tutor.tui.app import TutorApp
from attn_tutor.tui.controllers.assembly import VIEWS
from attn_tutor.tui.programs.pages import TensorFileSource
from attn_tutor.tui.programs.program_map import ProgramMap
from tests import pseudo_language
from tests.course import COURSE, use_course
from tests.lessons.knob_fields import CHOICE, NUMBER
from tests.lessons.lesson_builders import code_step, doubling_exercise, lesson_of, text_step
from tests.lessons.programs.worker.tensor_files.tensor_file_builders import safetensors
from tests.tui.commands.command_line import WarmSession
from tests.tui.hostile_text import EVERY_COMMAND, MARK, OF_A_LINE, RecordingDriver, foreign
from tests.tui.learner import SSH, Learner, tutor
from tests.tui.test_program_app import opened
from tests.tui.test_tensor_file_app import WarmFile

pytestmark = pytest.mark.slow

H = EVERY_COMMAND.encode("utf-8", "replace").decode()

SHORT = "\x1b]52;c;MzEzMzc=\x07\x1b[31337m\x9b31337m\u202e\x08"
"""Few enough that a line has room for more."""


class Sent:
    """What apps under test send to a terminal."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def write(self, _: RecordingDriver, data: str) -> None:
        """Keep what a driver is given."""
        self._parts.append(data)

    def __str__(self) -> str:
        return "".join(self._parts)

    async def visit(self, learner: Learner, *pages: tuple[str, ...]) -> None:
        """Press the keys for one page after the other, and see what is on them, whole."""
        for keys in pages:
            await learner.press(*keys)
            await learner.is_answered()
            self._parts.append(learner.app.screen._compositor.render_full_update().render_segments(learner.app.console))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """Have apps under test paint, and keep what they send."""
    sent = Sent()
    monkeypatch.setattr("textual.drivers.headless_driver.HeadlessDriver", RecordingDriver)
    monkeypatch.setattr(RecordingDriver, "write", lambda driver, data: sent.write(driver, data))
    return sent


SIDES = (("tab", "enter"), ("escape",), ("w",), ("escape",), ("p",), ("escape",), ("f",), ("f",), ("f1",), ("escape",))
"""The keys for what is beside a page: an explanation, what-if, the prompt, the flow, the help."""


async def test_names_of_tensors_and_of_their_file(worker: Session, tmp_path: Path, sent: Sent) -> None:
    path = tmp_path / f"model{OF_A_LINE.replace('/', '')}.safetensors"
    entries = {
        f"a{H}": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        f"b{H}": {"dtype": f"F8{H}", "shape": [2], "data_offsets": [8, 16]},
        "__metadata__": {f"key{H}": f"value{H}"},
    }
    path.write_bytes(safetensors(entries, struct.pack("<4f", 1, 2, 3, 4)))
    with tensor_file.opened_tensors(worker, path) as file:
        session = WarmFile(path, file.found, tensor_file_text.table, launcher=worker.launcher)
    app = TutorApp(SSH, TensorFileSource(session), ProgramMap)
    try:
        async with app.run_test(size=(100, 30), notifications=True) as pilot:
            learner = Learner(app, pilot)
            await learner.sees("tensors", app.assembled.is_set)
            await sent.visit(learner, ("end", "enter"), ("m",), ("home", "enter"), *SIDES, ("m",))
    finally:
        app.close()
    assert MARK in str(sent)
    assert foreign(str(sent)) == []


async def test_comments_names_and_output_of_a_program(worker: Session, tmp_path: Path, sent: Sent) -> None:
    source = f"""\
import torch
x = torch.ones(2)  # comment {OF_A_LINE}
name = {EVERY_COMMAND!r}  # {OF_A_LINE}
print(name, "{OF_A_LINE}")
kept = {{name: x + 1}}
y = x @ torch.ones(3)  # {OF_A_LINE}
raise ValueError(name)
"""
    async with opened(worker, tmp_path / "mine.py", source) as learner:
        await learner.sees("mine.py", learner.app.assembled.is_set)
        await sent.visit(learner, *SIDES, ("p",), (*"name", "enter"), (*"1/0 # name", "enter"), ("escape",), ("m",))
    assert MARK in str(sent)
    assert foreign(str(sent)) == []


async def test_filled_prose_knobs_and_values(session: Session, monkeypatch: pytest.MonkeyPatch, sent: Sent) -> None:
    code = f"n=2\nname = {EVERY_COMMAND!r}\nprint(name)\nx = torch.ones(n) / 2"
    knobs = [{**NUMBER, "label": f"Heads {SHORT}"}, {**CHOICE, "options": {f"on {SHORT}": " / 2", "off": ""}}]
    lesson = lesson_of(
        code_step("first", code, "x", prose="Look: {name} and {x[0]:.2f}", title=f"A step {SHORT}"),
        text_step("last", f"Remember {SHORT} {{name}}."),
        title=f"Made {SHORT}", goal=f"To be tested {SHORT}.", setup="import torch", knobs=knobs,
    )  # fmt: skip
    use_course(monkeypatch, Course(lessons=(lesson,)))
    async with tutor(WarmSession(session)) as learner:
        await sent.visit(learner, ("enter",), *SIDES, ("w",), ("right",), ("enter",), ("2", "x", "enter"))
        await sent.visit(learner, ("escape", "n"))
    assert MARK in str(sent)
    assert foreign(str(sent)) == []


async def test_an_imported_draft_and_its_verdict(session: Session, monkeypatch: pytest.MonkeyPatch, sent: Sent) -> None:
    exercise = doubling_exercise()
    lesson = lesson_of(text_step("last", "Look."), id="drafted", setup="import torch")
    lesson = lesson.model_copy(update={"steps": (exercise, *lesson.steps)})
    use_course(monkeypatch, Course(lessons=(lesson,)))
    draft = f"def double(x):  # {OF_A_LINE}\n    print({EVERY_COMMAND!r})\n    y = x * x  # {OF_A_LINE}\n    return y\n"
    async with tutor(WarmSession(session)) as learner:
        await sent.visit(learner, ("enter",))
        await learner.writes(draft)
        await sent.visit(learner, ("f6",))
        await learner.sees("Your code: ")
        await sent.visit(learner, ("tab",), ("f6",), ("f5",), ("f5",))
        await learner.writes(f"{draft.replace('return y', '')}    raise ValueError({EVERY_COMMAND!r})\n")
        await sent.visit(learner, ("f6",), ("f6",), ("f5",), ("f3",), ("f3",), ("f3",), ("f3",), ("escape",))
    assert MARK in str(sent)
    assert foreign(str(sent)) == []


async def test_every_view_in_a_hostile_translation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: Sent) -> None:
    """Every text that a view shows is then hostile, so a new kind of step is covered as well."""
    monkeypatch.setattr(pseudo_language, "translated", lambda text: f"{SHORT}{text}{SHORT}")
    folder = tmp_path / "translations"
    language = pseudo_language.write(folder, {**pseudo_language.catalog(), **pseudo_language.interface()})
    pseudo_language.speak(monkeypatch, folder)
    course = course_texts.translate_course(COURSE, Translations(language))
    use_course(monkeypatch, course)
    kinds: dict[str, tuple[str, int]] = {}
    for lesson in course.lessons:
        for index, step in enumerate(lesson.steps):
            kinds.setdefault(step.kind, (lesson.id, index))
    assert {VIEWS[MODELS[kind]] for kind in kinds} == {*VIEWS.values()}
    shown: set[str] = set()
    async with tutor(size=(120, 40)) as learner:
        await sent.visit(learner, ("f1",), ("escape",), ("g",), ("escape",), ("h",), ("escape",))
        for lesson_id, index in kinds.values():
            before = len(str(sent))
            learner.opens(lesson_id, index)
            await sent.visit(learner, *SIDES)
            shown |= {lesson_id} if MARK in str(sent)[before:] else set()
    assert len(shown) == len({lesson_id for lesson_id, _ in kinds.values()})
    assert foreign(str(sent)) == []
