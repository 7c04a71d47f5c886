"""The controller of the glossary: opens and closes it, and goes to the step that introduces a term."""

from __future__ import annotations

from textual.widget import Widget

from lessons.format.lesson import Course
from lessons.reading import glossary
from lessons.reading.findings import LessonError
from tui.controllers.frame import GLOSSARY, MAP, Frame
from tui.controllers.step_controller import StepController
from tui.screens.glossary_view import GlossaryView
from tui.state.purpose import Purpose


class GlossaryController:
    """The controller of the glossary, which remembers where the learner was when they opened it."""

    def __init__(self, frame: Frame, course: Course, steps: StepController, view: GlossaryView) -> None:
        self._frame, self._course, self._steps, self._view = frame, course, steps, view
        self._view_before = frame.view
        self._focus_before: Widget | None = None

    def toggle(self) -> None:
        """Open the glossary with the terms of the current step first, or close it if it is open."""
        frame = self._frame
        if frame.view_id == GLOSSARY:
            self.close()
            return
        try:
            words = glossary.load()
        except LessonError as error:
            frame.notify(f"The glossary cannot be read: {error}", "error")
            return
        self._view_before, self._focus_before, frame.covered_view_id = frame.view, frame.focused, frame.main_view_id
        step = None if frame.view_id == MAP else self._steps.step
        frame.show(self._view)
        self._view.open(words, self._course, step)
        frame.show_lines()

    def close(self) -> None:
        """Close the glossary, and restore the view and the focus of before."""
        self._frame.show(self._view_before)
        if self._focus_before is not None:
            self._focus_before.focus(scroll_visible=False)
        self._frame.show_lines()

    def go_to(self, step_path: str) -> None:
        """Go to a step, named as `lesson/step`."""
        lesson, _, step = step_path.partition("/")
        found = self._course.lesson(lesson)
        self._steps.jump(found, found.index(step), Purpose.LOOK)
