"""A recorder that hunts the first number that is not finite through a run of any length.

It looks at all numbers as they are written (`finite_watch`), and keeps the latest operations. Before it forgets the
older half of these, it asks where the numbers came from that were not finite. An infinity that the code has computed is
described at once, since what it came from is about to be forgotten, and the hunt goes on for a NaN. A NaN ends it: once
enough is known of what became of it, the program need not go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.nonfinite import first_nonfinite
from attn_tutor.lessons.worker.nonfinite.finite_watch import FiniteWatch
from attn_tutor.lessons.worker.nonfinite.first_nonfinite import Json, Watched
from attn_tutor.lessons.worker.recording.event import Site
from attn_tutor.lessons.worker.recording.events import Noted
from attn_tutor.lessons.worker.recording.recorder import KEEP, MOST_EVENTS
from attn_tutor.lessons.worker.recording.rolling_recorder import RollingRecorder

say = Wording("explaining/first-nonfinite")

AFTER = 5_000
"""Operations after the first NaN that a program may run on for."""

PATIENCE = 24
"""Steps in a row that a `GradScaler` may skip: it begins with a factor of 2 ** 16, and halves it each time."""


class HuntingRecorder(RollingRecorder):
    """Records until it has found a number that is not finite, and what became of it.

    Attributes:
        is_over: whether it was found, so that the program need not go on.
        on_end: called when that is so, inside of an operation.
    """

    def __init__(self, keep: int = KEEP, most: int = MOST_EVENTS, after: int = AFTER) -> None:
        super().__init__(keep=keep, most=most)
        self.finite = FiniteWatch(self.record)
        self.is_over = False
        self.on_end: Callable[[], None] = lambda: None
        self._after = after
        self._earlier: list[Json] = []
        self._unfollowed: tuple[str, ...] = ()
        self._unjudged = 0
        self._observe = self._look

    def report(self, run: Explainer) -> Json:
        """Return what was found; `lessons.results.nonfinite.of_json` reads it. Not while the recorder is entered."""
        return first_nonfinite.search(run, watched=self._watched())

    def _watched(self, *, is_running: bool = False) -> Watched:
        finite = self.finite
        may_recover = is_running and finite.in_a_row < PATIENCE
        return Watched(
            finite.scan(),
            finite.losses,
            finite.skipped,
            finite.scaled_steps(),
            self._earlier,
            self.is_over,
            may_recover,
            self._unfollowed,
            self._unjudged,
        )

    def _look(self, noted: Noted, out: Any) -> None:
        if self._sites.aside:
            # What is computed only to explain something is not the program's.
            return
        before = self.finite.first_nan
        self.finite.look(noted, out)
        if self.finite.first_nan != before:
            self._next_sweep = min(self._next_sweep, self.record.time + self._after)

    def _make_room(self, sites: tuple[Site, ...]) -> None:
        finite = self.finite
        if finite.first_nan is not None or (finite.news and not self._earlier):
            origins, watched = first_nonfinite.origins(Explainer(self), self._watched(is_running=True))
            self._unfollowed, self._unjudged = watched.unfollowed, watched.unjudged
            if any(origin["is_nan"] for origin in origins):
                self.is_over = True
                self.on_end()
                self._stop(say("found", "a number that is not finite was found"), sites)
                return
            self._earlier = self._earlier or origins
            finite.excuse()
        super()._make_room(sites)
        finite.forget(set(self._storages))
