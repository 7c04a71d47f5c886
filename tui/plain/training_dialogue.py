"""Trainings in the dialogue: a line for each snapshot, Ctrl+C to pause, curves in numbers, and any snapshot."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from attn_tutor.lessons.play.step import TrainingModel
from attn_tutor.lessons.play.training_replay import TrainingReplay
from attn_tutor.lessons.results.result import Failure, Training, TrainingSnapshot, WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.drawings import training_drawing
from attn_tutor.tui.plain.command_table import Handlers
from attn_tutor.tui.plain.matrix_commands import drawn
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.step_dialogue import StepDialogue
from attn_tutor.tui.plain.waiting_session import PlainState

say = Wording("plain/training")

MOST_POINTS = 11
"""Numbers of a curve that are listed if nobody says how many."""


class TrainingDialogue(StepDialogue):
    """A step with a training."""

    _model: TrainingModel

    def __init__(self, state: PlainState, model: TrainingModel) -> None:
        super().__init__(state, model)
        self._training = model.training
        # The position of the snapshot that was printed last.
        self._looked_at = -1
        self._paused: TrainingReplay | None = None

    @property
    def handlers(self) -> Handlers:
        """The commands that apply at the training now."""
        looking: Handlers = {"snapshot": self.snapshot, "curves": self.curves}
        found = super().handlers | self._offered({"train": {"train": self.train}, "snapshots": looking})
        if self._paused is not None:
            found["stop"] = self.end
        return found

    @property
    def _replay(self) -> TrainingReplay:
        return self._model.replay

    def _below(self) -> Iterator[str]:
        yield from super()._below()
        replay = self._replay
        if self._paused is not None:
            yield from self._paragraphs(self._paused_text(self._paused))
        elif replay.untouched:
            yield from self._paragraphs(
                say("not-trained", "Nothing has been trained here yet. Type train to train it, snapshot to look ahead.")
            )
        elif replay.state in ("stopped", "failed"):
            yield from self._paragraphs(
                say(
                    "ended-early",
                    "Your training ended after {done} of {total} steps, so it is not kept. Type train to train again, "
                    "curves or snapshot to look back.",
                    done=replay.done,
                    total=replay.total,
                )
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
        """Train the model, or go on with it, and yield a line for each snapshot until the end or Ctrl+C."""
        session, replay = self._state.session, self._paused
        if replay is not None:
            yield from self._console.wrapped(say("resumed", "The training goes on. Ctrl+C pauses it."))
            replay.resume()
            yield from self._ended(replay, session.resume)
            return
        replay = self._model.begin()
        yield from self._console.wrapped(say("started", "The training begins. Ctrl+C pauses it."))
        changes, step = self.changes, self._training
        lock = threading.Lock()

        def take(snapshot: TrainingSnapshot) -> None:
            # Called from the thread that waits for the worker; the dialogue itself waits meanwhile.
            with lock:
                is_watched = replay.state in ("starting", "running")
                replay.add(snapshot)
                line = training_drawing.snapshot_line(replay, snapshot, step.curves)
                if is_watched:
                    self._console.write(self._console.wrapped(line.replace(training_drawing.GAP, ", ")))

        def stopped() -> None:
            self._paused = None
            self._model.end(replay, Training((), stopped=True))

        yield from self._ended(replay, lambda: session.train(self.lesson, step.id, take, changes, stopped))

    def _ended(self, replay: TrainingReplay, work: Callable[[], Training | None]) -> Iterator[str]:
        """Yield how a training has ended, or that it is paused."""
        self._paused = None
        try:
            outcome = work()
        except WorkerError as error:
            outcome = Training((), Failure("crash", str(error)))
        except BaseException:
            self._model.end(replay, Training((), stopped=True))
            raise
        if outcome is None:
            self._paused = replay
            replay.pause()
            yield from self._console.wrapped(self._paused_text(replay))
            return
        self._model.end(replay, outcome)
        seconds = training_drawing.seconds(replay.seconds)
        match replay.state:
            case "trained":
                yield from self._console.wrapped(
                    say("trained", "Trained in {time}. The next steps use your model.", time=seconds)
                )
                yield from self.run("")
            case "failed" if replay.failure is not None:
                yield from self._console.wrapped(
                    say("failed", "The training failed: {reason}", reason=replay.failure.message)
                )
            case _:
                yield from self._console.wrapped(say("stopped", "Stopped. What was trained so far is not kept."))

    def _paused_text(self, replay: TrainingReplay) -> str:
        start = (
            say("paused", "The training is paused after {done} of {total} steps.", done=replay.done, total=replay.total)
            if replay.total
            else say("paused-early", "The training is paused before its first step.")
        )
        how = say("go-on", "Type train to go on, or stop to end it. Whatever else has to run ends it, too.")
        return f"{start} {how}"

    def end(self, _: str) -> Iterator[str]:
        """End the paused training."""
        self._state.session.stop_training()
        yield from self._console.wrapped(say("stopped", "Stopped. What was trained so far is not kept."))

    def stop(self) -> str:
        """See `StepDialogue`."""
        if self._paused is None:
            return ""
        self._state.session.stop_training()
        return say("left", "The paused training has ended, and is not kept.")

    def why_not(self, word: str) -> str:
        """See `StepDialogue`."""
        if word in ("curves", "snapshot"):
            return say("no-snapshots", "There is no snapshot yet.")
        return super().why_not(word)

    def curves(self, text: str) -> Iterator[str]:
        """Yield each curve of the training in numbers, as far as the training has been seen."""
        if text and (not text.isdecimal() or int(text) < 2):
            raise Refused(say("points", "POINTS is how many numbers of each curve you want, from 2."))
        shown = self._replay.unrolled
        places = _spread(len(shown), int(text) if text else MOST_POINTS)
        for curve in self._training.curves:
            known = [shown[at] for at in places if curve.name in shown[at].numbers]
            numbers = (
                say("point", "{number:.4g} at step {step}", number=each.numbers[curve.name], step=each.done)
                for each in known
            )
            if known:
                yield from self._console.wrapped(f"{curve.label}: {'; '.join(numbers)}.")
        if self._replay.untouched:
            yield from self._console.wrapped(
                say("start-only", "That is the start. Type train to train it, or snapshot to look ahead.")
            )

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
            yield from drawn(self._console, tensor)


def _spread(count: int, most: int) -> list[int]:
    """Return at most so many positions from 0 to `count` - 1, the first and the last among them, evenly spread."""
    if count <= most:
        return list(range(count))
    return [round(at * (count - 1) / (most - 1)) for at in range(most)]
