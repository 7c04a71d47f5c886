"""The coverage of a course: `coverage.yaml` beside the lessons says which steps teach what was promised.

The file lists subjects by number, under `items` and `gaps`, each with a short description and the steps that teach
it; `expected` says how many there must be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from attn_tutor.lessons.format.fields import Model, OptionalName, Text, Whole
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.model_findings import read_model
from attn_tutor.lessons.reading.yaml_nodes import locate, parse, position_of, read

FILE = "coverage.yaml"

Numbered = Annotated[int, Field(ge=1)]


class Subject(Model):
    """A subject of the course: its description, and the steps that teach it (`lesson/step`).

    `narrower` says in which sense the course takes it, where its description would allow a wider one.
    """

    teaches: Text
    steps: Annotated[tuple[Text, ...], Field(min_length=1)]
    narrower: OptionalName = ""


class Expected(Model):
    """The number of subjects of each kind; subjects are numbered from 1."""

    items: Whole
    gaps: Whole = 0


class Coverage(Model):
    """The contents of `coverage.yaml`: items come from the chapter's documents, gaps are what these leave out."""

    expected: Expected
    items: dict[Numbered, Subject]
    gaps: dict[Numbered, Subject] = {}


def load(folder: Path) -> Coverage:
    """Read the coverage of the course in a folder. Raises `LessonError`."""
    return read_model(folder / FILE, Coverage)


def findings(folder: Path, lessons: Sequence[Lesson]) -> Iterator[Finding]:
    """Find subjects that no step teaches, and steps that do not exist; nothing if the folder has no such file."""
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
            where = position_of(locate(root, (sort,))[0].start_mark)
            yield Finding(*where, f"nothing teaches number {number} of the {sort}", "Add it, with a step that does.")
        for number, subject in subjects.items():
            where = position_of(locate(root, (sort, number))[0].start_mark)
            if number > count:
                yield Finding(*where, f"there is no number {number} of the {sort}", f"They end at {count}.")
            for step in subject.steps:
                if step not in steps and not loader.has_unread_lesson(folder, step.partition("/")[0], lessons):
                    yield Finding(*where, f"number {number}: there is no step '{step}'", "Name a step that exists.")
