"""What an author is writing, read again after each save: its lessons as they could be read last, and what is wrong.

The file that the author names may be one of a course, a lesson that is in no course, or an exercise that is in no
lesson. A file that cannot be read leaves its lesson as it was.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from attn_tutor.lessons.authoring import skeleton, writing
from attn_tutor.lessons.courses import course_list
from attn_tutor.lessons.files import read_text
from attn_tutor.lessons.format.lesson import FORMAT, Course, Lesson
from attn_tutor.lessons.format.steps import ReadStep
from attn_tutor.lessons.reading import folders, loader, yaml_nodes
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.yaml_nodes import locate, position_of

MOST_LEVELS = 4
"""How many folders below that of a course its files may lie in."""

Fingerprint = tuple[tuple[str, int, int, int], ...]
"""What tells one state of all files from another without reading them."""


class NoPreview(Exception):
    """A path at which there is nothing to preview; the message is a sentence for authors."""


@dataclass(frozen=True, slots=True)
class Version:
    """What is shown of the files: the course, and what is wrong with its files now.

    Attributes:
        course: the lessons as they could be read last.
        lesson: the one that the author is writing; a stand-in if it could never be read.
        is_new: whether it is as its files are now.
        is_older: whether it is as its files were before, at a time at which they could be read.
        step: the position of the step in it that the author has named with a file of its own; None if they did not.
        findings: what keeps this lesson, or other files of the course, from being read; those of this lesson first.
        remarks: what else lint would find by reading the lesson, with the position of the step.
    """

    course: Course
    lesson: Lesson
    is_new: bool = True
    is_older: bool = False
    step: int | None = None
    findings: tuple[Finding, ...] = ()
    remarks: tuple[tuple[int, Finding], ...] = ()

    def place_of(self, before: Lesson, step: str) -> tuple[Lesson, int]:
        """Return where an author is now who was at a step of a lesson of an earlier version.

        That is the step of this id, or else the one at the same position; in `lesson` if the lesson is gone.
        """
        now = next((each for each in self.course.lessons if each.id == before.id), None)
        if now is None:
            return self.lesson, self.step or 0
        ids = [each.id for each in now.steps]
        return now, ids.index(step) if step in ids else min(before.index(step), len(ids) - 1)

    def remarks_on(self, step: int) -> tuple[Finding, ...]:
        """Return what lint would find in a step."""
        return tuple(finding for position, finding in self.remarks if position == step)


@dataclass
class PreviewedCourse:
    """The files that an author is writing.

    Attributes:
        path: the file or folder that the author has named.
        folder: the folder with the course; that of the file if it is in no course.
        lesson_folder: the folder of the lesson, None for an exercise that is in none.
    """

    path: Path
    folder: Path
    lesson_folder: Path | None
    _good: dict[str, Lesson] = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path) -> PreviewedCourse:
        """Return what is to be previewed at a path. Raises `NoPreview`."""
        # Not `resolve`, which raises an error of its own for links that lead to themselves before Python 3.13.
        path = Path(os.path.realpath(path))
        if path.is_dir():
            return cls._at_folder(path)
        if not path.is_file():
            raise NoPreview(f"There is no file {path.name}.")
        if path.suffix not in (".yaml", ".yml"):
            raise NoPreview(f"{path.name} is not a YAML file.")
        lesson = skeleton.folder_with(skeleton.LESSON, path)
        course = skeleton.folder_with(loader.COURSE_FILE, path)
        if path.parent == course:
            return cls._at_folder(course)
        if lesson is None:
            return cls(path, path.parent, None)
        found = cls(path, course if course == lesson.parent else lesson, lesson)
        if path.name != skeleton.LESSON and found._position_of_file() is None:
            return cls(path, path.parent, None)
        return found

    @classmethod
    def _at_folder(cls, folder: Path) -> PreviewedCourse:
        if (folder / skeleton.LESSON).exists():
            return cls.at(folder / skeleton.LESSON)
        lessons = sorted(each for each in folder.glob("[0-9]*-*") if (each / skeleton.LESSON).exists())
        if not lessons:
            raise NoPreview(f"There is no lesson in {folder.name}. Begin one with attn-tutor new lesson.")
        return cls(lessons[0] / skeleton.LESSON, folder, lessons[0])

    @property
    def is_course(self) -> bool:
        """Whether the lesson is one of a course."""
        return self.lesson_folder is not None and self.folder != self.lesson_folder

    def fingerprint(self) -> Fingerprint:
        """Return what tells whether one of the files was saved."""
        return tuple(sorted(_fingerprints(str(self.folder), MOST_LEVELS if self.lesson_folder else 1)))

    def read(self) -> Version:
        """Read the files."""
        course, findings = self._read()
        self._good |= {lesson.folder: lesson for lesson in course.lessons}
        key = str(self.lesson_folder or "")
        lesson = self._good.get(key) or _stand_in(self.path)
        kept = {name: each for name, each in self._good.items() if name and Path(name).is_dir()}
        lessons = sorted({**kept, lesson.folder: lesson}.values(), key=lambda each: each.number)
        is_new = lesson in course.lessons
        whole = course.model_copy(update={"lessons": tuple(lessons), "folder": str(self.folder)})
        # Those of the file that is being written come first.
        findings.sort(key=lambda found: (found.file != str(self.path), not found.file.startswith(key)))
        remarks = tuple(self._remarks(lesson)) if is_new else ()
        is_older = not is_new and key in self._good
        return Version(whole, lesson, is_new, is_older, self._position_of_file(), tuple(findings), remarks)

    def _read(self) -> tuple[Course, list[Finding]]:
        if self.is_course:
            course, findings = loader.read_course(self.folder)
            return folders.of_state_folder(course, self._state_folder()), findings
        try:
            lesson = self._read_exercise() if self.lesson_folder is None else self._read_lesson(self.lesson_folder)
        except LessonError as error:
            return Course(lessons=()), error.findings
        return folders.of_state_folder(Course(lessons=(lesson,)), folders.IN_NO_COURSE), []

    def _state_folder(self) -> str:
        """Return where the learner's files of the course lie, such as trained models."""
        try:
            return course_list.in_folder(self.folder, course_list.available()).state_folder
        except LessonError:
            return folders.IN_NO_COURSE

    def _read_lesson(self, folder: Path) -> Lesson:
        """Read a lesson that is in no course. Raises `LessonError`."""
        match = loader.FOLDER.match(folder.name)
        number, slug = (int(match[1]), match[2]) if match else (1, _slug(folder.name))
        file = folder / skeleton.LESSON
        library = loader.library_of(folder.parent)
        text = yaml_nodes.read(file)
        return loader.parse_lesson(text, str(file), number=number, slug=slug, folder=str(folder), mistakes=library)

    def _read_exercise(self) -> Lesson:
        """Read a file with one step as a lesson. Raises `LessonError`."""
        around = f"title: {json.dumps(self.path.stem)}\ngoal: ...\nsetup: import torch\nsteps:\n"
        text = f"{around}  - include: {json.dumps(self.path.name)}\n"
        folder, library = str(self.path.parent), loader.library_of(self.path.parent, FORMAT)
        slug = _slug(self.path.stem)
        lesson = loader.parse_lesson(text, str(self.path), number=1, slug=slug, folder=folder, mistakes=library)
        return lesson.model_copy(update={"folder": ""})

    def _position_of_file(self) -> int | None:
        """Return the position of the step that the named file has; None if it is no file with a step of the lesson."""
        if self.lesson_folder is None or self.path.name == skeleton.LESSON:
            return None
        name = self.path.relative_to(self.lesson_folder).as_posix()
        try:
            text = read_text(self.lesson_folder / skeleton.LESSON)
            steps = yaml_nodes.data_of(yaml_nodes.parse(text, ""))
        except (OSError, UnicodeDecodeError, LessonError):
            return None
        steps = steps.get("steps") if isinstance(steps, dict) else None
        found = steps if isinstance(steps, list) else []
        included = [os.path.normpath(str(each.get("include", ""))) if isinstance(each, dict) else "" for each in found]
        return included.index(name) if name in included else None

    def _remarks(self, lesson: Lesson) -> Iterator[tuple[int, Finding]]:
        """Yield what breaks a rule of writing in the lesson, with the position of the step.

        What is said of the whole lesson comes last, with the first step: a lesson that has just begun lacks much.
        """
        if not lesson.folder:
            return
        root = loader.read_nodes(lesson)
        for path, problem, remedy in sorted(writing.complaints(lesson), key=lambda found: len(found[0]) < 3):
            position = path[1] if len(path) > 1 and path[0] == "steps" and isinstance(path[1], int) else 0
            yield position, Finding(*position_of(locate(root, path)[1].start_mark), problem, remedy)

    def shown_position(self, finding: Finding) -> str:
        """Return where a finding is, as authors read it: the file as seen from the course, the line and the column."""
        try:
            file = Path(finding.file).relative_to(self.folder)
        except ValueError:
            file = Path(finding.file)
        return f"{file}:{finding.line}:{finding.column}"


def _slug(name: str) -> str:
    try:
        return skeleton.slug_of(name)
    except skeleton.NoName:
        return "lesson"


def _stand_in(file: Path) -> Lesson:
    """Return a lesson to show in place of one that could never be read."""
    prose = (
        f"`{file.name}` cannot be read yet. What is wrong stands above. As soon as you have mended it and saved the "
        "file, the lesson is shown here."
    )
    step = ReadStep(kind="read", id="waiting", title="Nothing to show yet", prose=re.sub(r"([{}])", r"\1\1", prose))
    return Lesson(id="waiting", number=1, folder="", title=file.stem, goal="...", steps=(step,))


def _fingerprints(folder: str, levels: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield the fingerprint of each YAML file of a folder, and of the folders in it."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if levels > 1:
                        yield from _fingerprints(entry.path, levels - 1)
                elif entry.name.endswith((".yaml", ".yml")):
                    found = entry.stat()
                    yield entry.path, found.st_size, found.st_mtime_ns, found.st_ino
    except OSError:
        # An editor may be replacing a file. The next look finds what it has written.
        return
