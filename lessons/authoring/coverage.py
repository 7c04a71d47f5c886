"""What the course has promised to teach, and where it does: `coverage.yaml` beside the lessons.

The file lists subjects by number, under `items` and `gaps`, each with what is taught in a few words and the steps that
teach it; `expected` says how many of each there have to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from lessons.format.fields import Model, Text
from lessons.format.lesson import Lesson
from lessons.reading.yaml_nodes import Finding, LessonError, data_of, locate, parse, place, read, repeated_keys

FILE = "coverage.yaml"

Numbered = Annotated[int, Field(ge=1)]


class Subject(Model):
    """One thing that is taught: what, and by which steps (`lesson/step`)."""

    teaches: Text
    steps: Annotated[tuple[Text, ...], Field(min_length=1)]


class Expected(Model):
    """How many subjects there are of each sort: numbers 1 to this one."""

    items: int
    gaps: int = 0


class Coverage(Model):
    """The contents of `coverage.yaml`. Items are what the chapter's documents teach, gaps what they leave out."""

    expected: Expected
    items: dict[Numbered, Subject]
    gaps: dict[Numbered, Subject] = {}


def load(folder: Path) -> Coverage:
    """The coverage of the course in a folder. Raises `LessonError`."""
    root = parse(read(folder / FILE), str(folder / FILE))
    found = list(repeated_keys(root, set()))
    try:
        coverage = Coverage.model_validate(data_of(root))
    except ValidationError as error:
        for item in error.errors():
            key, _ = locate(root, item["loc"])
            name = ".".join(map(str, item["loc"]))
            found.append(Finding(*place(key.start_mark), f"'{name}': {item['msg'].lower()}", "Mend it."))
        raise LessonError(found) from None
    if found:
        raise LessonError(found)
    return coverage


def findings(folder: Path, lessons: Sequence[Lesson]) -> Iterator[Finding]:
    """Subjects that nothing teaches, and steps that do not exist; nothing at all if the folder has no such file."""
    file = folder / FILE
    if not file.exists():
        return
    try:
        coverage = load(folder)
    except LessonError as error:
        yield from error.findings
        return
    root = parse(read(file), str(file))
    steps = {f"{lesson.id}/{step.id}" for lesson in lessons for step in lesson.steps}
    for sort, subjects, count in (
        ("items", coverage.items, coverage.expected.items),
        ("gaps", coverage.gaps, coverage.expected.gaps),
    ):
        for number in sorted(set(range(1, count + 1)) - set(subjects)):
            where = place(locate(root, (sort,))[0].start_mark)
            yield Finding(*where, f"nothing teaches number {number} of the {sort}", "Add it, with a step that does.")
        for number, subject in subjects.items():
            where = place(locate(root, (sort, number))[0].start_mark)
            if number > count:
                yield Finding(*where, f"there is no number {number} of the {sort}", f"They end at {count}.")
            for step in subject.steps:
                if step not in steps:
                    yield Finding(*where, f"number {number}: there is no step '{step}'", "Name a step that exists.")
