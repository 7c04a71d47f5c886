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
"""Where the pictures come from, or what the training does."""

BUSY = ("starting", "running", "paused", "stopping")

Clock = Callable[[], float]


class TrainingReplay:
    """The pictures of one training, and the one that is in view: the newest, until the learner looks back.

    Attributes:
        pictures: in the order in which they were taken.
        state: what the training does, or how it ended.
        changes: what the learner had changed.
        failure: why it did not come to its end.
    """

    def __init__(
        self,
        pictures: Sequence[TrainingSnapshot] = (),
        state: State = "recorded",
        changes: Changes = UNCHANGED,
        clock: Clock = time.monotonic,
        seconds: float = 0.0,
    ) -> None:
        self.pictures = list(pictures)
        self.state = state
        self.changes = changes
        self.failure: Failure | None = None
        self._clock = clock
        self._place: int | None = None
        self._seconds = seconds
        self._since: float | None = None

    # What happens to it ------------------------------------------------------------------------------------------

    def add(self, picture: TrainingSnapshot) -> None:
        """Another picture was taken."""
        self.pictures.append(picture)
        if self.state == "starting":
            self.state, self._since = "running", self._clock()

    def pause(self) -> None:
        """The training is to wait: it does so where it takes its next picture, which may still come."""
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
            self.pictures = list(training.pictures)
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
    def place(self) -> int:
        """Which picture is in view; -1 if there is none."""
        return len(self.pictures) - 1 if self._place is None else self._place

    @property
    def current(self) -> TrainingSnapshot | None:
        """The picture in view."""
        return self.pictures[self.place] if self.pictures else None

    @property
    def following(self) -> bool:
        """Whether the newest picture is in view, and the next one will be."""
        return self._place is None

    def look(self, step: int) -> None:
        """So many pictures on, or back. From the newest on, the view goes along with what comes."""
        if self.pictures:
            place = max(0, min(self.place + step, len(self.pictures) - 1))
            self._place = None if place == len(self.pictures) - 1 else place

    # Its numbers -------------------------------------------------------------------------------------------------

    @property
    def done(self) -> int:
        """Steps done."""
        return self.pictures[-1].done if self.pictures else 0

    @property
    def total(self) -> int:
        """Steps in all, 0 as long as that is not known."""
        return self.pictures[-1].total if self.pictures else 0

    @property
    def seconds(self) -> float:
        """How long it has run, without the pauses."""
        return self._seconds + (self._clock() - self._since if self._since is not None else 0.0)

    @property
    def left(self) -> float | None:
        """About how many seconds are left; None as long as there is nothing to tell it by."""
        begun = self.pictures[0].done if self.pictures else 0
        if self.done <= begun or self.seconds <= 0:
            return None
        return self.seconds * max(0, self.total - self.done) / (self.done - begun)
