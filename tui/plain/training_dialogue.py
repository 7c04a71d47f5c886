"""Trainings in the dialogue: a line for each snapshot, Ctrl+C to stop, and the matrices of any snapshot."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from lessons.format.lesson import Lesson, Step, TrainStep
from lessons.results.result import Failure, Training, TrainingSnapshot, WorkerError
from lessons.texts.wording import Wording
from tui.drawings import training_status
from tui.plain.command_table import Handlers
from tui.plain.matrix_commands import brief
from tui.plain.plain_state import PlainState
from tui.plain.refused import Refused
from tui.plain.step_dialogue import StepDialogue
from tui.state.learner_changes import LearnerChanges
from tui.state.purpose import Purpose
from tui.state.training_replay import TrainingReplay

say = Wording("plain/training")


class TrainingDialogue(StepDialogue):
    """A step with a training."""

    def __init__(
        self, state: PlainState, lesson: Lesson, step: Step, learner_changes: LearnerChanges, purpose: Purpose
    ) -> None:
        assert isinstance(step, TrainStep)
        self._training = step
        # The position of the snapshot that was printed last.
        self._looked_at = -1
        super().__init__(state, lesson, step, learner_changes, purpose)

    @property
    def handlers(self) -> Handlers:
        """The commands that apply at the training now."""
        found = super().handlers | {"train": self.train}
        if self._replay.snapshots:
            found["snapshot"] = self.snapshot
        return found

    @property
    def _replay(self) -> TrainingReplay:
        return self._state.replays.of(self.lesson, self._training, self.changes)

    def _below(self) -> Iterator[str]:
        yield from super()._below()
        replay = self._replay
        if replay.untouched:
            yield from self._paragraphs(
                say("not-trained", "Nothing has been trained here yet. Type train to train it, snapshot to look ahead.")
            )
        elif replay.state == "recorded":
            yield from self._paragraphs(
                say("train-here", "This training is a recorded one. Type train to train it here.")
            )
        else:
            yield from self._paragraphs(
                say("trained-here", "You have trained it here. Type snapshot and a number to look back.")
            )

    def train(self, _: str) -> Iterator[str]:
        """Train the model, and yield a line for each snapshot until the end."""
        step, changes = self._training, self.changes
        replay = self._state.replays.begin(self.lesson, step, changes)
        yield from self._console.wrapped(say("started", "The training begins. Ctrl+C stops it."))
        lock = threading.Lock()

        def take(snapshot: TrainingSnapshot) -> None:
            # Called from the thread that waits for the worker; the dialogue itself waits meanwhile.
            with lock:
                replay.add(snapshot)
                line = training_status.line(replay, snapshot, step.curves)
                self._console.write(self._console.wrapped(line.replace(training_status.GAP, ", ")))

        outcome = Training((), stopped=True)
        try:
            outcome = self._state.session.train(self.lesson, step.id, take, changes)
        except WorkerError as error:
            outcome = Training((), Failure("crash", str(error)))
        finally:
            self._state.replays.end(replay, outcome)
        seconds = training_status.seconds(replay.seconds)
        match replay.state:
            case "trained":
                yield from self._console.wrapped(
                    say("trained", "Trained in {time}. The next steps use your model.", time=seconds)
                )
                # What was known of the lesson came from another model.
                self._state.bases.clear()
                yield from self.run("")
            case "failed" if replay.failure is not None:
                yield from self._console.wrapped(
                    say("failed", "The training failed: {reason}", reason=replay.failure.message)
                )
            case _:
                yield from self._console.wrapped(say("stopped", "Stopped. What was trained so far is not kept."))

    def snapshot(self, text: str) -> Iterator[str]:
        """Yield the next snapshot of the training, or that of a number from 1."""
        replay = self._replay
        last = len(replay.snapshots)
        if text and (not text.isdecimal() or not 1 <= int(text) <= last):
            raise Refused(say("no-snapshot", "The snapshots have the numbers 1 to {last}.", last=last))
        if text:
            replay.look(int(text) - 1 - replay.position)
        elif replay.position + 1 < last:
            replay.look(1)
        elif replay.position + 1 == last and self._looked_at == replay.position:
            raise Refused(
                say("no-next", "That was the last snapshot. Type snapshot and a number from 1 to {last}.", last=last)
            )
        self._looked_at = replay.position
        current = replay.current
        assert current is not None
        yield from self._console.wrapped(
            say(
                "snapshot",
                "Snapshot {number} of {last}, after {done} of {total} steps.",
                number=replay.position + 1,
                last=last,
                done=current.done,
                total=current.total,
            )
        )
        for curve in self._training.curves:
            if curve.name in current.numbers:
                yield from self._console.wrapped(f"{curve.label}: {current.numbers[curve.name]:.4g}")
        for tensor in current.tensors:
            yield ""
            yield from brief(tensor, self._console.width)
