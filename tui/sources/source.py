"""What can be opened, as whoever shows it sees it: what there is to show, what is kept, and how it is read again.

What a source does not have is None: the screen and the dialogue offer only what is there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:  # the first paint needs this module before the others are loaded
    from rich.text import Text

    from attn_tutor.lessons.engine.session import Session
    from attn_tutor.lessons.format.lesson import Course, Lesson, Step
    from attn_tutor.lessons.learner.progress import Progress
    from attn_tutor.lessons.play.step_results import StepResults
    from attn_tutor.lessons.reading.course_outline import CourseOutline
    from attn_tutor.lessons.reading.folders import CourseFolder
    from attn_tutor.lessons.results.tensor_questions import Refusal
    from attn_tutor.tui.state.async_session import AsyncSession


@dataclass(frozen=True, slots=True)
class StepPosition:
    """A step to open, and the name of the tensor that gets the cursor: "" for the first, None for the one before."""

    lesson: Lesson
    index: int
    name: str | None = ""


class Notice(NamedTuple):
    """Something that is said of a source, and for how many seconds; None: as long as usual."""

    text: str
    severity: Literal["information", "warning", "error"] = "information"
    seconds: float | None = None


class News(NamedTuple):
    """What has come of reading a source again.

    Attributes:
        place: the step to open, None if what is shown stays.
        leaves_map: whether it is opened from the map too.
        said: what is said of it.
        problem: why code cannot be run, "" if it can or was not tried.
    """

    place: StepPosition | None = None
    leaves_map: bool = False
    said: Notice | None = None
    problem: str = ""


class ShownCall(NamedTuple):
    """Where a call of a function is shown, and whether what the learner changed holds there too."""

    place: StepPosition
    keeps_changes: bool


class FilesLook(NamedTuple):
    """What a look at the files has found: whether one was saved, and what is to be said of them."""

    saved: bool
    said: Notice | None = None


class Again(Protocol):
    """A source that is read again while it is shown."""

    @property
    def watched(self) -> bool:
        """Whether it is read again as soon as one of its files is saved."""

    @property
    def runs_whole(self) -> bool:
        """Whether there are no steps to be run again by themselves: then all of it is read again."""

    @property
    def note(self) -> str:
        """What the title line says of the version that is shown, "" for nothing."""

    @property
    def greeting(self) -> Notice | None:
        """What is said when it is opened."""

    def look(self) -> FilesLook:
        """Look at the files; two looks that agree find one saved."""

    async def read_again(
        self, session: AsyncSession, here: Callable[[], tuple[Lesson, Step]], tell: Callable[[Notice], None]
    ) -> News:
        """Read it again, and from then on have what was read.

        Args:
            session: runs it.
            here: returns the step that is shown.
            tell: says something meanwhile.
        """


class Edited(Protocol):
    """What is being written: the dialogue reads it again before each command."""

    def was_saved(self) -> bool:
        """Return whether a file was saved since it was last read."""

    def read_now(self, lesson: Lesson, step: Step) -> StepPosition | None:
        """Read the files again. Returns the place of a step of before, None if its lesson is the same."""

    def report(self) -> Iterator[str]:
        """Yield sentences about what is wrong with the files."""


@dataclass(frozen=True, slots=True)
class TensorRow:
    """A line in the list of the tensors of a program or a file.

    Attributes:
        page: the id of the page that shows it; "" if none does.
        label: its name; the last part of a long one is what tells it from others.
        columns: its shape, its type, and where it is or how large; the first ones stay where there is little room.
        name: what its page calls it.
        about: what is said of it where the cursor is.
    """

    page: str
    label: str
    columns: tuple[str, ...] = ()
    name: str = ""
    about: str = ""


Which = Literal["before", "after", "first", "last"]
"""A call by its place: the one before or after that which is shown, or the first or last one that is recorded."""


class MapContent(Protocol):
    """What a map shows."""

    @property
    def outline(self) -> CourseOutline:
        """The lessons, as the map needs them."""

    @property
    def rows(self) -> tuple[TensorRow, ...] | None:
        """The tensors, which the map lists in place of the lessons."""


class Source(MapContent, Protocol):
    """What is opened."""

    # What there is to show

    @property
    def title(self) -> str:
        """What stands above the map."""

    @property
    def map_name(self) -> str:
        """What the title line calls the map."""

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """The lessons, once they are loaded."""

    def lesson(self, name: str) -> Lesson:
        """Return a lesson by its id. Raises `KeyError` if there is none."""

    @property
    def start(self) -> StepPosition | None:
        """The step that is opened first, None if that is the map."""

    @property
    def computes(self) -> bool:
        """Whether what is shown was computed, so that there is a flow to be shown beside it."""

    @property
    def course(self) -> Course | None:
        """The course, of which there are a glossary and files to take home."""

    @property
    def choose_call(self) -> Callable[[AsyncSession, str, Which], Awaitable[ShownCall | Refusal]] | None:
        """Shows another call of the function that a page is about; returns where, or why there is none."""

    @property
    def findings(self) -> Callable[[Lesson, int], Text | None] | None:
        """Returns what stands above a step about the files that it was read from."""

    @property
    def again(self) -> Again | None:
        """How it is read again while it is on the screen."""

    @property
    def edited(self) -> Edited | None:
        """How it is read again before a command of the dialogue."""

    # What is kept of it

    @property
    def folder(self) -> CourseFolder | None:
        """Where the learner's progress is kept, beside that with other courses."""

    def read(self) -> Progress | str:
        """Read what the map shows, in a thread. Returns the learner's progress, or an error message."""

    def open_session(self) -> Session:
        """Return the session that runs it, whose worker is not started yet."""

    def load(self) -> StepResults:
        """Load what the map does not need, in a thread. Returns the results of steps that are known so far."""
