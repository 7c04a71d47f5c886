"""The dialogue with a real worker: a lesson with a step of each kind, what Ctrl+C stops, and readers that go away."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
from contextlib import ExitStack

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner import trained_models
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.kinds import MODELS
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.what_if.changes import Changes
from tests.course import COURSE
from tests.exam.complete_course import complete
from tests.lessons.lesson_builders import code_step, doubling_exercise, lesson_of, text_step
from tests.tui.commands.command_line import COMMAND, ROOT, Command, WarmSession, read_all
from tests.tui.plain.conversation import Conversation

TABLE = {"name": "table", "kind": "vector"}
HINTS = ["One.", "Two.", "Three."]


def task(kind: str, **fields: object) -> dict[str, object]:
    """Return the fields of a question, a find or an experiment."""
    common = {"kind": kind, "id": kind, "exercise": f"the-{kind}", "title": f"The {kind}", "prose": "What is it?"}
    return common | {"hints": HINTS, "why": "So it is.", "show": [TABLE]} | fields


LESSON = lesson_of(
    text_step("text", "Read this, then press `w`."),
    code_step("numbers", "table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\ntotal = table.sum()", TABLE, "total"),
    task("choice", options=[{"text": "this", "why": "No."}, {"text": "that", "why": "Yes.", "right": True}]),
    task("predict", asks="number", answer="table.numel()"),
    task("point", on="table", cells="table == 3"),
    task("find", target="cell", on="table", answer="table == 4", start="table[0, 0]"),
    task(
        "experiment",
        code="product = table.prod()",
        show=[TABLE, {"name": "product", "kind": "vector"}],
        ways=[{"id": "zero", "name": "a zero", "right": True, "if": "product == 0", "why": "Yes.",
               "proof": ["table[0,0] = 0"]}],
        otherwise="The product is {product.item():.0f}.",
    ),
    doubling_exercise().model_dump(by_alias=True),
    {
        "kind": "train", "id": "training", "title": "The training", "prose": "Train it.",
        "training": "w = torch.zeros(2)\nfor done in range(3):\n    w = w + 1\n    frame(done + 1, 3)",
        "curves": [{"name": "loss", "label": "loss", "expr": "w.sum()"}], "keep": "{'w': w}",
        "watch": [{"name": "w", "kind": "vector"}], "code": "w = trained['w']",
        "show": [{"name": "w", "kind": "vector"}],
    },
    setup="import torch",
)  # fmt: skip


def test_a_lesson_with_a_step_of_each_kind_is_completed(session: Session) -> None:
    assert {step.kind for step in LESSON.steps} == set(MODELS)
    run = session.run(LESSON, "experiment", Changes())
    run.close()
    learner = Conversation(WarmSession(session), Course(lessons=(LESSON,)))  # type: ignore[arg-type]
    learner.begin()
    results = {result.id: result for result in run.steps}
    assert list(complete(learner, LESSON, lambda step: results.get(step, StepResult(step)), train=True)) == []
    states = learner.progress.states()
    assert {states[LESSON.id, step.id] for step in LESSON.steps} == {"done"}
    assert trained_models.find(LESSON, LESSON.step("training"), []).origin == "own"  # type: ignore[arg-type]
    learner.close()


def test_a_step_is_explored_and_a_task_is_helped(session: Session) -> None:
    learner = Conversation(WarmSession(session), Course(lessons=(LESSON,)))  # type: ignore[arg-type]
    learner.begin()
    learner.type("go 1 2")
    assert learner.type("explain total").startswith("total = 10")
    assert "table" in learner.type("flow")
    learner.type("box table")
    assert "was 10, is 14." in learner.type("set table[0,0] = 5")
    said = learner.type("python", "table[0,0] + 1", "for i in range(2):", "    print(i)", "", ".")
    assert "6.0000" in said
    assert "... \n0\n1\n>>> .\nBack where you were" in said
    # In the prompt, numbers are explained: those of the step, and those that an input has made.
    said = learner.type("python", "explain table[0,1]", "y = table * 3", "explain y[1,1]", "1", "up", "read y[0]", ".")
    assert ">>> explain table[0,1]\ntable[0,1] = 2" in said
    assert "y[1,1] = 12   line " in said
    assert ">>> 1\ntable[1,1] = 4" in said
    assert ">>> up\ny[1,1] = 12" in said
    assert ">>> read y[0]\ny[0]. y has 2 rows and 2 columns." in said
    # An exercise: help comes first, then giving up, which can be taken back.
    learner.type("go doubling")
    assert learner.say("solution").startswith("This gives up")
    assert "def double(x):" in learner.type("solution")
    assert learner.progress.gave_up("doubling")
    learner.type("retract")
    assert not learner.progress.gave_up("doubling")
    learner.type("code", "def double(x):", "    return x * x", ".")
    assert learner.progress.draft("doubling") == "def double(x):\n    return x * x\n"
    assert "doubled" in learner.type("run")
    assert learner.type("explain doubled[0,0]").startswith("doubled[0,0] = 1")
    said = learner.say("check")
    assert "known mistake: squared" in said
    # That is for a shell.
    assert "--seed" not in said
    # A find: an operand of an explanation can be pointed at.
    learner.type("go find")
    assert learner.say("answer b") != ""
    assert "Not yet." in learner.type("point table[0,1]")
    assert "Right." in learner.type("point table[1,1]")
    assert learner.progress.state(LESSON.id, "find") == "done"
    learner.close()


def test_the_command_keeps_progress_and_ends_with_0(command: Command) -> None:
    status, said, problems = command("--plain", "--columns", "40", given=b"next\nnext\nquit\nnext\n")
    assert (status, problems) == (0, "")
    assert said.endswith("> quit\nEverything is saved.\n")
    with_progress = Progress.open()
    first = COURSE.lessons[0]
    assert with_progress.position() == (first.id, first.main_steps[2].id)
    with_progress.close()
    assert command("--plain", given=b"")[0] == 0


@pytest.mark.slow
def test_ctrl_c_stops_what_runs_and_not_the_dialogue() -> None:
    ours, theirs = pty.openpty()
    with (
        subprocess.Popen([*COMMAND, "--plain"], cwd=ROOT, stdin=theirs, stdout=theirs) as tutor,
        ExitStack() as at_end,
    ):
        # Nothing waits for it if a line below fails.
        at_end.callback(tutor.kill)
        os.close(theirs)
        said = read_until(ours, "\n> ")
        for line, end in (("python", ">>> "), ("while True: pass", "... "), ("", "Ctrl+C stops it.")):
            os.write(ours, f"{line}\n".encode())
            said += read_until(ours, end)
        tutor.send_signal(signal.SIGINT)
        assert "Stopped by you" in read_until(ours, ">>> ")
        os.write(ours, b".\n")
        read_until(ours, "\n> ")
        tutor.send_signal(signal.SIGINT)
        assert "Type quit to leave" in read_until(ours, "\n> ")
        os.write(ours, b"quit\n")
        assert "Everything is saved." in read_all(ours)
        assert tutor.wait(30) == 0
    os.close(ours)
    # No cursor is moved, and nothing has a color.
    assert "\x1b" not in said


def read_until(terminal: int, end: str) -> str:
    """Read from a terminal until it has shown a text."""
    said = ""
    while end not in said:
        assert select.select([terminal], [], [], 60)[0], said
        said += os.read(terminal, 65536).decode().replace("\r\n", "\n")
    return said


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    with subprocess.Popen(
        [*COMMAND, "--plain"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as tutor:
        assert tutor.stdin is not None
        assert tutor.stdout is not None
        assert tutor.stderr is not None
        assert tutor.stdout.readline()
        tutor.stdout.close()
        tutor.stdin.write(b"next\n")
        tutor.stdin.flush()
        assert tutor.wait(60) == 0
        assert tutor.stderr.read() == b""
