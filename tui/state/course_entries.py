"""The courses that can be opened, each with how far its learner is, for whoever lists them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from typing import NamedTuple

from attn_tutor.lessons.courses import consent, course_list
from attn_tutor.lessons.courses.course_content import RefusedCourse
from attn_tutor.lessons.learner import milestones
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.learner.progress_file import default_path
from attn_tutor.lessons.learner.renames import renames_of
from attn_tutor.lessons.reading import kept_course
from attn_tutor.lessons.reading.course_outline import CourseOutline
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.folders import CourseFolder
from attn_tutor.lessons.texts.wording import Wording

say = Wording("courses/entries")


class CourseEntry(NamedTuple):
    """A course that can be opened.

    Attributes:
        course: where it lies.
        title, about: as it describes itself; the title is its id if it cannot be read.
        steps, done: how many steps of the main path it has, and how many of them are done.
        allowed: whether it may run as its files are now.
        problem: why it cannot be opened, "" if it can.
    """

    course: CourseFolder
    title: str
    about: str = ""
    steps: int = 0
    done: int = 0
    allowed: bool = True
    problem: str = ""

    @property
    def status(self) -> str:
        """A few words about how far the learner is, or what is in the way; "" for a course that nobody has begun."""
        if self.problem:
            return say("unreadable", "cannot be read")
        if not self.allowed:
            return say("changed", "has changed") if consent.was_allowed(self.course) else say("new", "new")
        return f"{self.done}/{self.steps}" if self.done else ""


def entries(but: CourseFolder | None = None) -> Iterator[CourseEntry]:
    """Yield all courses, as `course_list.available` has them, without one if that is named."""
    return (entry_of(course) for course in course_list.available() if but is None or course.path != but.path)


def entry_of(course: CourseFolder) -> CourseEntry:
    """Return what is known of a course. None of its code runs for that."""
    try:
        outline, _ = kept_course.load_outline(course)
        allowed = consent.is_allowed(course)
    except (LessonError, RefusedCourse) as error:
        return CourseEntry(course, course.id, problem=str(error))
    except OSError as error:
        return CourseEntry(course, course.id, problem=error.strerror or str(error))
    steps = sum(len(lesson.main_steps) for lesson in outline.lessons)
    return CourseEntry(course, outline.title or course.id, outline.about, steps, _done(course, outline), allowed)


def _done(course: CourseFolder, outline: CourseOutline) -> int:
    """Return how many steps of the main path are done. A course that nobody has opened gets no file for that."""
    with suppress(RuntimeError, OSError):
        if default_path(course.state_folder).exists():
            with closing(Progress.open(state_folder=course.state_folder, renames=renames_of(outline))) as progress:
                states = progress.states()
            return sum(
                list(milestones.main_states(lesson, states).values()).count("done") for lesson in outline.lessons
            )
    return 0
