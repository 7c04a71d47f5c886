"""The controller of the course map: shows the learner's progress and opens lessons, challenges and reviews."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from attn_tutor.lessons.learner import milestones
from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.controllers.frame import Frame
from attn_tutor.tui.screens.map_view import MapView
from attn_tutor.tui.sources.source import Source

if TYPE_CHECKING:
    # Not imported at run time, because the map is shown before the rest is loaded.
    from attn_tutor.lessons.learner.progress import Progress
    from attn_tutor.lessons.reading.course_outline import LessonOutline
    from attn_tutor.tui.state.course_entries import CourseEntry

say = Wording("screen/map-controller")


class MapController:
    """The controller of the course map."""

    def __init__(
        self,
        frame: Frame,
        source: Source,
        progress: Progress,
        view: MapView,
        open_step: Callable[[str, str, Purpose], object],
    ) -> None:
        """Initialize; `open_step` opens a step by the id of its lesson and its own, for a purpose."""
        self._frame, self._source, self._progress = frame, source, progress
        self._view, self._open_step = view, open_step
        self._others: Sequence[CourseEntry] = ()

    def show_others(self, others: Sequence[CourseEntry]) -> None:
        """Show other courses below this one from now on."""
        self._others = others
        self._view.show(self._source, self._progress, others)

    def show(self) -> None:
        """Show the map with the current progress, and focus its list."""
        self._view.show(self._source, self._progress, self._others)
        self._frame.show(self._view)
        if self._view.selected is not None:
            self.describe(self._view.selected)
        self._frame.show_lines()
        self._view.list.focus()

    def describe(self, lesson: LessonOutline) -> None:
        """Show what a lesson teaches, its thumbnail, and the exercises that are due for review."""
        due = milestones.due(self._source.outline, self._progress)
        self._view.about(lesson, self._progress, due)

    def open_challenge(self, lesson: LessonOutline) -> None:
        """Open the challenge of a lesson, or say that there is none."""
        if lesson.challenge is None:
            self._frame.notify(say("no-challenge", "This lesson has no challenge."), timeout=4)
        else:
            self._open_step(lesson.id, lesson.challenge.id, Purpose.CHALLENGE)

    def open_review(self) -> None:
        """Open the next exercise that is due for review, or say that nothing is due."""
        due = milestones.due(self._source.outline, self._progress)
        if due:
            lesson, exercise = due[0]
            self._open_step(lesson.id, exercise.id, Purpose.REVIEW)
        else:
            self._frame.notify(say("nothing-due", "Nothing is due for review."), timeout=4)
