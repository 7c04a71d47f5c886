"""The folders of the courses that ship, and which folder of a learner's belongs to which course."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

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


def state_folder_of(course_id: str) -> str:
    """Return where the progress with a course lies that is not the first one."""
    return f"courses/{course_id}"


FIRST = CourseFolder("attention", COURSE)
"""The course that the tutor opens if it is not told which."""

TENSORS = CourseFolder("tensors", LESSONS / "tensors", state_folder_of("tensors"))
"""The course on reading tensors, for learners who have not met shapes, axes and views."""

BUILT_IN = (FIRST, TENSORS)
"""The courses that ship, in the order in which learners are told of them."""
