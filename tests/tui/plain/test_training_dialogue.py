"""A training in the dialogue: Ctrl+C pauses it, and what may follow then."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from attn_tutor.lessons.engine.training import Control
from attn_tutor.lessons.format.lesson import Lesson, TrainStep
from attn_tutor.lessons.results.result import Training, TrainingSnapshot
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes
from tests.course import COURSE
from tests.lessons.processes import wait_until
from tests.tui.fake_session import FakeSession
from tests.tui.plain.conversation import Conversation

LESSON, STEP = next((lesson, step) for lesson in COURSE.lessons for step in lesson.steps if isinstance(step, TrainStep))


def snapshot(done: int) -> TrainingSnapshot:
    """Return what a training of ten steps has come to."""
    return TrainingSnapshot(done, 10, {curve.name: done / 4 for curve in STEP.curves}, ())


class Interrupted(FakeSession):
    """A session with a training of which a learner is tired after four steps, and then after seven."""

    def train(
        self,
        lesson: Lesson,
        step_id: str,
        on_snapshot: Callable[[TrainingSnapshot], None],
        control: Control | None = None,
        changes: Changes = UNCHANGED,
    ) -> Training:
        """Go on whenever the learner does."""
        assert control is not None
        taken = [snapshot(0)]
        for done in (4, 7):
            on_snapshot(taken[-1])
            os.kill(os.getpid(), signal.SIGINT)
            wait_until(lambda: control.paused or control.stopped)
            # It comes when nobody listens any more.
            taken.append(snapshot(done))
            on_snapshot(taken[-1])
            wait_until(lambda: control.stopped or not control.paused)
            if control.stopped:
                return Training(tuple(taken), stopped=True)
        return Training((*taken, snapshot(10)), seconds=2.0)


@pytest.fixture
def trainer() -> Iterator[Conversation]:
    """Return a conversation at the training."""
    learner = Conversation(Interrupted())
    learner.begin()
    learner.type(f"go {LESSON.id} {STEP.id}")
    console: Any = learner.dialogue.state.console
    with console.interrupts.installed():
        yield learner
    learner.close()


def test_ctrl_c_pauses_a_training_which_goes_on_or_is_looked_at(trainer: Conversation) -> None:
    said = trainer.type("train")
    assert "The training begins. Ctrl+C pauses it." in said
    assert "0 of 10" in said
    assert " ".join(said.split()).endswith("or stop to end it. Whatever else has to run ends it, too.")
    replay = trainer.dialogue.state.learning.replays.of(LESSON, STEP)
    wait_until(lambda: replay.done == 4)
    curve = STEP.curves[0]
    assert trainer.say("curves").startswith(f"{curve.label}: 0 at step 0; 1 at step 4.")
    assert trainer.say("snapshot").startswith("Snapshot 2 of 2, after 4 of 10 steps.")
    assert "The training is paused after 4 of 10 steps." in trainer.say("again")
    assert trainer.say("train").startswith("The training goes on. Ctrl+C pauses it.")
    wait_until(lambda: replay.done == 7)
    assert "Trained in " in trainer.say("train")
    assert "stop" not in trainer.dialogue.handlers
    assert trainer.say("curves 2").startswith(f"{curve.label}: 0 at step 0; 2.5 at step 10.")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("stop", "Stopped. What was trained so far is not kept."),
        ("next", "(The paused training has ended, and is not kept.)"),
    ],
)
def test_a_paused_training_is_ended(trainer: Conversation, line: str, said: str) -> None:
    trainer.type("train")
    assert trainer.say(line).startswith(said)
    replay = trainer.dialogue.state.learning.replays.of(LESSON, STEP)
    assert replay.state == "stopped"
    assert "so it is not kept" in trainer.say(f"go {LESSON.id} {STEP.id}")


def test_what_has_to_run_ends_a_paused_training(trainer: Conversation) -> None:
    trainer.type("train")
    trainer.type("run")
    assert trainer.dialogue.state.learning.replays.of(LESSON, STEP).state == "stopped"
    assert "stop" not in trainer.dialogue.handlers
