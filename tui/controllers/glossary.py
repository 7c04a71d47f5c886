"""The glossary in front of the other views: opens it, and leads back or to the step of a term."""

from __future__ import annotations

from textual.widget import Widget

from lessons.format.lesson import Course
from lessons.reading import glossary
from lessons.reading.loader import LessonError
from tui.controllers.frame import GLOSSARY, MAP, Frame
from tui.controllers.steps import StepController
from tui.screens.glossary_view import GlossaryView


class GlossaryController:
    """The glossary, and where the learner was when they opened it."""

    def __init__(self, frame: Frame, course: Course, steps: StepController, view: GlossaryView) -> None:
        self._frame, self._course, self._steps, self._view = frame, course, steps, view
        self._behind = frame.view
        self._focused: Widget | None = None

    def toggle(self) -> None:
        """Show the glossary, the terms of the step first, or go back to where the learner was."""
        frame = self._frame
        if frame.shown == GLOSSARY:
            self.close()
            return
        try:
            words = glossary.load()
        except LessonError as error:
            frame.notify(f"The glossary cannot be read: {error}", "error")
            return
        self._behind, self._focused, frame.behind_glossary = frame.view, frame.focused, frame.shown
        step = None if frame.shown == MAP else self._steps.step
        frame.show(self._view)
        self._view.open(words, self._course, step)
        frame.show_lines()

    def close(self) -> None:
        """Go back to where the learner was."""
        self._frame.show(self._behind)
        if self._focused is not None:
            self._focused.focus(scroll_visible=False)
        self._frame.show_lines()

    def go_to(self, place: str) -> None:
        """Go to a step (`lesson/step`)."""
        lesson, _, step = place.partition("/")
        found = self._course.lesson(lesson)
        self._steps.open(found, found.index(step))
