"""The replay of a training: its snapshots, and the current one.

Nothing here draws or waits; the time comes from a clock that tests may replace.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

from attn_tutor.lessons.results.result import Failure, Training, TrainingSnapshot
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes

State = Literal["recorded", "starting", "running", "paused", "stopping", "trained", "stopped", "failed"]
"""The state of a training; `recorded` if its snapshots ship with the course."""

BUSY = ("starting", "running", "paused", "stopping")

Clock = Callable[[], float]


class TrainingReplay:
    """The snapshots of one training and the current one: the newest, until the learner looks back.

    Of a recorded training, the first snapshot is current, and later ones are only shown once the learner has come to
    them: what a training leads to is not told before it has run.

    Attributes:
        snapshots: in the order in which they were taken.
        state: what the training does, or how it ended.
        changes: the changes that the model was trained with.
        failure: why it failed, None if it did not.
    """

    def __init__(
        self,
        snapshots: Sequence[TrainingSnapshot] = (),
        state: State = "recorded",
        changes: Changes = UNCHANGED,
        clock: Clock = time.monotonic,
        seconds: float = 0.0,
    ) -> None:
        self.snapshots = list(snapshots)
        self.state = state
        self.changes = changes
        self.failure: Failure | None = None
        self._clock = clock
        self._position: int | None = 0 if state == "recorded" and len(self.snapshots) > 1 else None
        self._seen = self._position
        self._seconds = seconds
        self._since: float | None = None

    # Events ------------------------------------------------------------------------------------------------------

    def add(self, snapshot: TrainingSnapshot) -> None:
        """Add a new snapshot."""
        self.snapshots.append(snapshot)
        if self.state == "starting":
            self.state, self._since = "running", self._clock()

    def pause(self) -> None:
        """Mark the training as paused. It pauses at its next snapshot, which may still arrive."""
        if self.state in ("starting", "running"):
            self.state = "paused"
            self._hold()

    def resume(self) -> None:
        """Mark the training as running again."""
        if self.state == "paused":
            self.state, self._since = "running", self._clock()

    def stop(self) -> None:
        """Mark the training as stopping."""
        if self.busy:
            self.state = "stopping"

    def end(self, training: Training) -> None:
        """Take over the outcome of the training."""
        self._hold()
        if training.snapshots:
            self.snapshots = list(training.snapshots)
        if training.stopped or (training.error is not None and training.error.kind == "stopped"):
            self.state = "stopped"
        elif training.error is not None:
            self.state, self.failure = "failed", training.error
        else:
            self.state, self._seconds = "trained", self._seconds or training.seconds

    def _hold(self) -> None:
        if self._since is not None:
            self._seconds += self._clock() - self._since
            self._since = None

    @property
    def busy(self) -> bool:
        """Whether the training has been started and has not ended."""
        return self.state in BUSY

    # The current snapshot ----------------------------------------------------------------------------------------

    @property
    def position(self) -> int:
        """The index of the current snapshot; -1 if there is none."""
        return len(self.snapshots) - 1 if self._position is None else self._position

    @property
    def current(self) -> TrainingSnapshot | None:
        """The current snapshot, None if there is none."""
        return self.snapshots[self.position] if self.snapshots else None

    @property
    def following(self) -> bool:
        """Whether the current snapshot is the newest, and will be when more arrive."""
        return self._position is None

    @property
    def unrolled(self) -> Sequence[TrainingSnapshot]:
        """The snapshots as far as they may be shown: of a recorded training, those that the learner has come to."""
        return self.snapshots if self._seen is None else self.snapshots[: self._seen + 1]

    @property
    def untouched(self) -> bool:
        """Whether this is a recorded training at its start, of which nothing has been shown."""
        return self._seen == 0 and self.snapshots[0].done == 0

    def look(self, step: int) -> None:
        """Go `step` snapshots forward, or back if negative. The newest one is followed by those that arrive later."""
        if self.snapshots:
            position = max(0, min(self.position + step, len(self.snapshots) - 1))
            self._position = None if position == len(self.snapshots) - 1 else position
            if self._seen is not None:
                self._seen = None if self._position is None else max(self._seen, position)

    def reveal(self) -> None:
        """Show a recorded training to its end, since the learner knows what it leads to."""
        if self._seen is not None:
            self._position = self._seen = None

    # Numbers -----------------------------------------------------------------------------------------------------

    @property
    def done(self) -> int:
        """The number of steps done."""
        return self.snapshots[-1].done if self.snapshots else 0

    @property
    def total(self) -> int:
        """The total number of steps, 0 while that is unknown."""
        return self.snapshots[-1].total if self.snapshots else 0

    @property
    def seconds(self) -> float:
        """The duration of the training in seconds, without pauses."""
        return self._seconds + (self._clock() - self._since if self._since is not None else 0.0)

    @property
    def left(self) -> float | None:
        """The estimated seconds left; None while there is nothing to base an estimate on."""
        begun = self.snapshots[0].done if self.snapshots else 0
        if self.done <= begun or self.seconds <= 0:
            return None
        return self.seconds * max(0, self.total - self.done) / (self.done - begun)
