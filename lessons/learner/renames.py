"""Steps and exercises that have other ids than they had, so that progress under an old id counts for the new one.

An author who renames or moves a step keeps its old id under `aliases`. Rows of progress with an old id are given the
new one where they are opened, imported or reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from attn_tutor.lessons.format.lesson import Course
    from attn_tutor.lessons.reading.course_outline import CourseOutline

StepKey = tuple[str, str]
"""The ids of a lesson and of one of its steps."""

Row = Mapping[str, str]
"""A row of any table of progress, by the names of its columns."""


class Renames(NamedTuple):
    """The new ids of steps and of exercises, by their old ones."""

    steps: Mapping[StepKey, StepKey] = {}
    exercises: Mapping[str, str] = {}

    def __bool__(self) -> bool:
        """Return whether anything has another id than it had."""
        return bool(self.steps or self.exercises)

    def in_table(self, columns: Iterable[str]) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
        """Yield the old and the new ids that a table with these columns has, each by the names of its columns."""
        if "exercise" in columns:
            for was, now in self.exercises.items():
                yield {"exercise": was}, {"exercise": now}
        else:
            for before, after in self.steps.items():
                yield (
                    dict(zip(("lesson", "step"), before, strict=True)),
                    dict(zip(("lesson", "step"), after, strict=True)),
                )

    def apply(self, row: Row) -> Row:
        """Return a row of any table with the ids of today."""
        if "exercise" in row:
            now = self.exercises.get(row["exercise"])
            return row if now is None else {**row, "exercise": now}
        after = self.steps.get((row["lesson"], row["step"]))
        return row if after is None else {**row, "lesson": after[0], "step": after[1]}

    def apply_to_all(self, rows: Mapping[str, Iterable[Row]]) -> dict[str, list[Row]]:
        """Return the rows of all tables with the ids of today."""
        return {table: [self.apply(row) for row in entries] for table, entries in rows.items()}


UNCHANGED = Renames()
"""No step or exercise has another id than it had."""


def renames_of(course: Course | CourseOutline) -> Renames:
    """Return the ids that a course says its steps had before. What an id means today, it means."""
    lessons = course.lessons
    steps: dict[StepKey, StepKey] = {}
    exercises: dict[str, str] = {}
    for lesson in lessons:
        for step in lesson.steps:
            here = (lesson.id, step.id)
            for was in lesson.aliases:
                steps[was, step.id] = here
            for alias in step.aliases:
                before, _, was = alias.rpartition("/")
                for other in (before,) if before else (lesson.id, *lesson.aliases):
                    steps[other, was] = here
                if step.exercise_id:
                    exercises[was] = step.exercise_id
    if not steps and not exercises:
        return UNCHANGED
    for lesson in lessons:
        for step in lesson.steps:
            steps.pop((lesson.id, step.id), None)
            exercises.pop(step.exercise_id, None)
    return Renames(steps, exercises)
