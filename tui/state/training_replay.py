"""A training as the learner looks at it: the snapshots that were taken, and the one in view.

Nothing here draws or waits; the time comes from a clock that a test may replace.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

from lessons.results.result import Failure, Training, TrainingSnapshot
from lessons.what_if.changes import UNCHANGED, Changes

State = Literal["recorded", "starting", "running", "paused", "stopping", "trained", "stopped", "failed"]
"""Where the snapshots come from, or what the training does."""

BUSY = ("starting", "running", "paused", "stopping")

Clock = Callable[[], float]


class TrainingReplay:
    """The snapshots of one training, and the one that is in view: the newest, until the learner looks back.

    Attributes:
        snapshots: in the order in which they were taken.
        state: what the training does, or how it ended.
        changes: what the learner had changed.
        failure: why it did not come to its end.
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
        self._position: int | None = None
        self._seconds = seconds
        self._since: float | None = None

    # What happens to it ------------------------------------------------------------------------------------------

    def add(self, snapshot: TrainingSnapshot) -> None:
        """Another snapshot was taken."""
        self.snapshots.append(snapshot)
        if self.state == "starting":
            self.state, self._since = "running", self._clock()

    def pause(self) -> None:
        """The training is to wait: it does so where it takes its next snapshot, which may still come."""
        if self.state in ("starting", "running"):
            self.state = "paused"
            self._hold()

    def resume(self) -> None:
        """The training is to go on."""
        if self.state == "paused":
            self.state, self._since = "running", self._clock()

    def stop(self) -> None:
        """The training is to end."""
        if self.busy:
            self.state = "stopping"

    def end(self, training: Training) -> None:
        """The training has ended."""
        self._hold()
        if training.pictures:
            self.snapshots = list(training.pictures)
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
        """Whether it has been started and has not ended."""
        return self.state in BUSY

    # Looking at it -----------------------------------------------------------------------------------------------

    @property
    def position(self) -> int:
        """Which snapshot is in view; -1 if there is none."""
        return len(self.snapshots) - 1 if self._position is None else self._position

    @property
    def current(self) -> TrainingSnapshot | None:
        """The snapshot in view."""
        return self.snapshots[self.position] if self.snapshots else None

    @property
    def following(self) -> bool:
        """Whether the newest snapshot is in view, and the next one will be."""
        return self._position is None

    def look(self, step: int) -> None:
        """So many snapshots on, or back. From the newest on, the view goes along with what comes."""
        if self.snapshots:
            position = max(0, min(self.position + step, len(self.snapshots) - 1))
            self._position = None if position == len(self.snapshots) - 1 else position

    # Its numbers -------------------------------------------------------------------------------------------------

    @property
    def done(self) -> int:
        """Steps done."""
        return self.snapshots[-1].done if self.snapshots else 0

    @property
    def total(self) -> int:
        """Steps in all, 0 as long as that is not known."""
        return self.snapshots[-1].total if self.snapshots else 0

    @property
    def seconds(self) -> float:
        """How long it has run, without the pauses."""
        return self._seconds + (self._clock() - self._since if self._since is not None else 0.0)

    @property
    def left(self) -> float | None:
        """About how many seconds are left; None as long as there is nothing to tell it by."""
        begun = self.snapshots[0].done if self.snapshots else 0
        if self.done <= begun or self.seconds <= 0:
            return None
        return self.seconds * max(0, self.total - self.done) / (self.done - begun)
