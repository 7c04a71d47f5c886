"""The controller of the glossary: opens and closes it, and goes to the step that introduces a term."""

from __future__ import annotations

from collections.abc import Callable

from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.lessons.reading import course_texts
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.controllers.frame import GLOSSARY, MAP, Frame
from attn_tutor.tui.controllers.step_controller import StepController
from attn_tutor.tui.render import glossary_text
from attn_tutor.tui.screens.glossary_view import GlossaryView
from attn_tutor.tui.sources.source import Source

say = Wording("screen/glossary-controller")


class GlossaryController:
    """The controller of the glossary, which remembers where the learner was when they opened it."""

    def __init__(self, frame: Frame, source: Source, steps: StepController, view: GlossaryView) -> None:
        self._frame, self._source, self._steps, self._view = frame, source, steps, view
        self.close: Callable[[], None] = lambda: None
        """Close the view, and restore the view and the focus of before."""

    def toggle(self) -> None:
        """Open the glossary with the terms of the current step first, or close it if it is open."""
        frame = self._frame
        if frame.view_id == GLOSSARY:
            self.close()
            return
        course = self._source.course
        if course is None:
            return
        try:
            words = course_texts.load_glossary(course)
        except LessonError as error:
            frame.notify(say("cannot-read", "The glossary cannot be read: {reason}", reason=error), "error")
            return
        step = None if frame.view_id == MAP else self._steps.step
        self.close = frame.cover(self._view)
        self._view.open(words, course, step)
        frame.show_lines()

    def go_to(self, step_path: str) -> None:
        """Go to a step, named as `lesson/step`; say so if there is none."""
        course = self._source.course
        found = glossary_text.step_of(course, step_path) if course is not None else None
        if found is None:
            self._frame.notify(glossary_text.no_step(step_path), "warning")
        else:
            self._steps.jump(*found, Purpose.LOOK)
