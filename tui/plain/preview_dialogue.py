"""The dialogue for authors: a lesson as learners will meet it, read again before each command if it was saved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lessons.authoring.previewed_course import PreviewedCourse, Version
from lessons.engine.session import Session
from lessons.format.lesson import Lesson
from lessons.play.step_results import StepResults
from lessons.texts.wording import Wording
from tui.plain.command_table import Handlers
from tui.plain.console import Console
from tui.plain.course_dialogue import CourseDialogue
from tui.plain.dialogue import Dialogue
from tui.plain.plain_state import PlainState
from tui.render import finding_text
from tui.state.preview_results import NothingRecorded
from tui.state.program_results import NoProgress

say = Wording("plain/preview")

OF_LEARNER = ("courses", "course", "export")
"""The commands that need a learner's own progress."""


class PreviewDialogue(Dialogue):
    """The dialogue about what an author is writing. Nothing of it is kept."""

    def __init__(
        self, previewed: PreviewedCourse, version: Version, index: int, session: Session, console: Console
    ) -> None:
        """Initialize at the step at a position of the lesson."""
        self._previewed, self._version, self._index = previewed, version, index
        self._judged = previewed.fingerprint()
        super().__init__(version.course, NoProgress(), session, console, StepResults(NothingRecorded()))

    def _course_dialogue(self) -> CourseDialogue:
        return PreviewedSteps(self.state, self._version.lesson, self._index)

    @property
    def handlers(self) -> Handlers:
        """The commands that apply now: none that needs a learner's own progress."""
        return {word: handler for word, handler in super().handlers.items() if word not in OF_LEARNER}

    def begin(self) -> None:
        """Say what is wrong, and print the step that the author has named."""
        self._console.write(self._findings())
        super().begin()

    def _obey(self, line: str) -> Iterator[str]:
        """Read the files again if one was saved, and show the step as it is now; then do what the line says."""
        found = self._previewed.fingerprint()
        if found != self._judged:
            self._judged = found
            yield from self._read_again()
        yield from super()._obey(line)

    def _read_again(self) -> Iterator[str]:
        version = self._previewed.read()
        steps = self.course
        lesson, index = version.place_of(steps.lesson, steps.step.id)
        is_other = lesson != steps.lesson
        self._version = version
        self.state = self.state._replace(learning=replace(self.state.learning, course=version.course))
        yield from self._findings()
        if is_other:
            assert isinstance(steps, PreviewedSteps)
            yield from self._console.wrapped(say("saved", "A file was saved. The step is as follows now."))
            yield ""
            yield from steps.go_on_with(self.state, lesson, index)

    def _findings(self) -> Iterator[str]:
        """Yield what keeps the files from being read, and what else lint would find in the lesson."""
        version = self._version
        remarks = tuple(finding for _, finding in version.remarks)
        for finding in version.findings or remarks:
            yield from self._console.wrapped(
                f"{self._previewed.shown_position(finding)}: {finding_text.sentence(finding)}"
            )
        if version.is_older:
            older = say("older", "You are still at the last version that could be read. Mend it, and press Enter.")
            yield from self._console.wrapped(older)

    def _bye(self) -> Iterator[str]:
        """Say nothing: nothing is saved."""
        yield from ()


class PreviewedSteps(CourseDialogue):
    """The way through the lessons, as they were read last."""

    def __init__(self, state: PlainState, lesson: Lesson, index: int) -> None:
        super().__init__(state)
        self._come_to(lesson, index)

    def go_on_with(self, state: PlainState, lesson: Lesson, index: int) -> Iterator[str]:
        """Open a step of a new version."""
        self._state = state
        self._glossary = self._outline = None
        self._journey.learning = state.learning
        self._journey.forget_jumps()
        yield from self.open(lesson, index)
