"""The folders of the courses that ship, and which folder of a learner's belongs to which course."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from attn_tutor.lessons.format.lesson import Course, Lesson

LESSONS = Path(__file__).parent.parent
COURSE = LESSONS / "course"
MISTAKES = LESSONS / "mistakes"
"""The library of mistakes, from which exercises choose by id."""

Source = Literal["built-in", "added", "installed", "folder"]
"""Where a course comes from: from the tutor, from its learner, from a package, or from a path on the command line."""


class CourseFolder(NamedTuple):
    """A course that can be opened.

    Attributes:
        id: what learners call it on the command line.
        path: the folder with its files.
        state_folder: where its learner's progress and trained models lie, as a path below the tutor's folder for them;
            "" for that folder itself.
        source: where it comes from.
    """

    id: str
    path: Path
    state_folder: str = ""
    source: Source = "built-in"

    @property
    def export_id(self) -> str:
        """What an export of progress says of which course it is; nothing of the first one, as ever."""
        return self.id if self.state_folder else ""

    @property
    def option(self) -> str:
        """What a command ends with that is about this course; nothing for the first one."""
        return option_of(self.state_folder, self.path) or ""


COURSES, OPENED = "courses", "folders"
"""Where progress lies with courses that have an id of their own, and with folders that are opened by their path."""

IN_NO_COURSE = "previews"
"""Where the trained models lie of a lesson that an author is writing, and that is in no course yet."""


def state_folder_of(course_id: str) -> str:
    """Return where the progress with a course lies that is not the first one."""
    return f"{COURSES}/{course_id}"


def option_of(state_folder: str, folder: Path) -> str | None:
    """Return what a command ends with that is about a course, such as ` --course tensors`.

    "" for the first course, None for a lesson that no command can name, because it is in no course.

    Args:
        state_folder: where its learner's progress lies.
        folder: the folder with its files.
    """
    kind, _, name = state_folder.partition("/")
    if kind == IN_NO_COURSE:
        return None
    if kind == OPENED:
        name = shlex.quote(str(folder))
    return f" --course {name}" if name else ""


def option_for(lesson: Lesson) -> str | None:
    """Return what a command ends with that is about a lesson; see `option_of`."""
    return option_of(lesson.state_folder, Path(lesson.folder).parent)


def option_about(course: Course) -> str:
    """Return what a command ends with that is about a course; see `option_of`."""
    return option_of(course.state_folder, Path(course.folder)) or ""


def of_state_folder(course: Course, state_folder: str) -> Course:
    """Return a course that knows where its learner's files lie."""
    if not state_folder:
        return course
    update = {"state_folder": state_folder}
    lessons = tuple(lesson.model_copy(update=update) for lesson in course.lessons)
    return course.model_copy(update={**update, "lessons": lessons})


FIRST = CourseFolder("attention", COURSE)
"""The course that the tutor opens if it is not told which."""

TENSORS = CourseFolder("tensors", LESSONS / "tensors", state_folder_of("tensors"))
"""The course on reading tensors, for learners who have not met shapes, axes and views."""

BUILT_IN = (FIRST, TENSORS)
"""The courses that ship, in the order in which learners are told of them."""
