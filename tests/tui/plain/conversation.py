"""A learner who talks with the tutor, for tests of the dialogue."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TextIO, cast

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.reading.folders import FIRST
from attn_tutor.tui.plain.console import Console
from attn_tutor.tui.plain.dialogue import Dialogue
from attn_tutor.tui.sources.course_source import CourseSource
from attn_tutor.tui.tty.clean_output import CleanOutput
from tests.course import COURSE
from tests.tui.fake_session import FakeSession


class TypedLines(io.StringIO):
    """An input to which lines can be added, and which ends where they do."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: deque[str] = deque()

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        return self.lines.popleft() if self.lines else ""


class Conversation:
    """A dialogue with a learner, whose output can be looked at after each line. Close it."""

    def __init__(
        self,
        session: Session | None = None,
        course: Course = COURSE,
        progress: Progress | None = None,
        *,
        width: int = 79,
        unicode: bool = True,
        make: Callable[[Console], Dialogue] | None = None,
    ) -> None:
        """Initialize; `make` makes another dialogue than that about the course."""
        self.progress = progress or Progress(None)
        self._typed, self._out = TypedLines(), io.StringIO()
        # As the command prints it.
        console = Console(self._typed, cast(TextIO, CleanOutput(self._out)), width, unicode=unicode)
        about_course = partial(Dialogue, CourseSource(FIRST, session or FakeSession(), course), self.progress)
        self.dialogue = (make or about_course)(console)

    def begin(self) -> str:
        """Open the dialogue, and return what it says."""
        start = self._out.tell()
        self.dialogue.begin()
        return self._out.getvalue()[start:]

    def type(self, *lines: str) -> str:
        """Type lines, and return what is said to them."""
        start = self._out.tell()
        self._typed.lines.extend(f"{line}\n" for line in lines)
        self.dialogue.listen()
        # The dialogue asks for another line, and hears that there is none.
        said = self._out.getvalue()[start:].rstrip()
        return said.removesuffix(">").removeprefix(f"> {lines[0]}").strip() if lines else said

    def say(self, line: str) -> str:
        """Type a line, and return what is said to it as one line."""
        return " ".join(self.type(line).split())

    def close(self) -> None:
        """End the dialogue."""
        self.dialogue.close()
        self.progress.close()
