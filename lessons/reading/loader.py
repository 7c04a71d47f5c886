"""The reader of a course: from YAML to models, and to the outline. All mistakes of all files are reported at once.

What a course says about itself, in the `course.yaml` of its folder, can be read without its lessons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml
from pydantic import ValidationError

from attn_tutor.lessons.format.base_steps import Complaint
from attn_tutor.lessons.format.lesson import FORMAT, SETUP, Course, CourseFile, Lesson, LessonFile, Step
from attn_tutor.lessons.reading import (
    course_versions,
    line_exercises,
    mistake_library,
    package_source,
    recorded_outputs,
)
from attn_tutor.lessons.reading.course_outline import SIDE, Corner, CourseOutline, LessonOutline, StepOutline
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.folders import COURSE, MISTAKES
from attn_tutor.lessons.reading.mistake_library import Library
from attn_tutor.lessons.reading.model_findings import finding_of, read_model, root_causes
from attn_tutor.lessons.reading.yaml_nodes import data_of, locate, parse, position_of, read, repeated_keys
from attn_tutor.lessons.what_if import knobs

COURSE_FILE = "course.yaml"


def find_description(folder: Path) -> CourseFile | None:
    """Read what the course in a folder says about itself; None if it says nothing. Raises `LessonError`."""
    file = folder / COURSE_FILE
    return read_model(file, CourseFile, course_versions.upgrade_course) if file.exists() else None


def read_description(folder: Path) -> CourseFile:
    """Read what the course in a folder says about itself. Raises `LessonError`."""
    found = find_description(folder)
    if found is None:
        remedy = "Write one with id, title, about and format."
        raise LessonError([Finding(str(folder), 1, 1, f"this is no course, because it has no {COURSE_FILE}", remedy)])
    return found


FOLDER = re.compile(r"^(\d+)-([a-z0-9]+(?:-[a-z0-9]+)*)$")
INCLUDE = "include"
NO_INCLUDE = ("a file that is included includes no other", "Write the step itself here.")


def load_course(folder: Path = COURSE) -> Course:
    """Read all lessons under a folder, ordered by number. Raises `LessonError` with the findings of all files."""
    course, findings = read_course(folder)
    if findings:
        raise LessonError(findings)
    return course


def read_course(folder: Path) -> tuple[Course, list[Finding]]:
    """Return a course with the lessons that can be read, ordered by number, and the findings of all files."""
    findings: list[Finding] = []
    description = None
    if unreadable := unreadable_folder(folder):
        return Course(lessons=()), [unreadable]
    try:
        description = find_description(folder)
    except course_versions.NewerFormat as error:
        # What else it says is not for this tutor to judge.
        return Course(lessons=()), error.findings
    except LessonError as error:
        findings += error.findings
    lessons, found = _read_lessons(folder, description.format if description else FORMAT)
    return Course(lessons=lessons, description=description, folder=str(folder)), [*findings, *found]


def unreadable_folder(folder: Path) -> Finding | None:
    """Return what keeps a folder from being listed, None if it can be, or is not there at all."""
    try:
        next(folder.iterdir(), None)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Finding(str(folder), 1, 1, f"cannot be read: {error.strerror}", "Check the folder and its rights.")
    return None


def _read_lessons(folder: Path, version: int) -> tuple[tuple[Lesson, ...], list[Finding]]:
    """Return the lessons under a folder that can be read, ordered by number, and the findings of all their files."""
    paths = [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
    folders = sorted(path for path in paths if FOLDER.match(path.name))
    if not folders:
        is_lesson = (folder / "lesson.yaml").exists()
        outside = "This is the folder of a lesson. Name the folder of its course, in which it lies."
        remedy = outside if is_lesson else "Make a folder such as '01-first' with a lesson.yaml in it."
        return (), [Finding(str(folder), 1, 1, "there are no lessons here", remedy)]
    try:
        known = library_of(folder, version)
    except LessonError as error:
        # Without the library, every exercise would seem to name unknown mistakes.
        return (), error.findings
    lessons: list[Lesson] = []
    findings: list[Finding] = []
    for path in folders:
        try:
            lessons.append(load_lesson(path, known, version))
        except LessonError as error:
            findings += error.findings
    findings += _repeated_lessons(lessons)
    findings += _repeated_exercises(lessons)
    return tuple(sorted(lessons, key=lambda lesson: lesson.number)), findings


def has_unread_lesson(folder: Path, slug: str, lessons: Sequence[Lesson]) -> bool:
    """Return whether a folder of a course has a lesson with this slug that is not among those that could be read."""
    if any(lesson.id == slug for lesson in lessons):
        return False
    return any((found := FOLDER.match(path.name)) and found[2] == slug for path in folder.iterdir())


def load_lesson(folder: Path, mistakes: Library | None = None, version: int | None = None) -> Lesson:
    """Read the lesson in a folder named `NN-slug`. Raises `LessonError` with all its findings.

    Args:
        folder: the folder.
        mistakes: the library for the ids that exercises name; without one, that of the folder's course.
        version: the version of the format that it is written in; without one, what its course says.
    """
    if version is None:
        description = find_description(folder.parent)
        version = description.format if description else FORMAT
    known = library_of(folder.parent, version) if mistakes is None else mistakes
    match = FOLDER.match(folder.name)
    file = folder / "lesson.yaml"
    if match is None:
        raise LessonError(
            [
                Finding(
                    str(folder),
                    1,
                    1,
                    f"'{folder.name}' is not a lesson folder",
                    "Name it by number and slug, like '03-two-heads'.",
                )
            ]
        )
    number, slug = int(match[1]), match[2]
    return parse_lesson(
        read(file), str(file), number=number, slug=slug, folder=str(folder), mistakes=known, version=version
    )


def library_of(course: Path, version: int = FORMAT) -> Library:
    """Read the library of mistakes for a course: the tutor's, and its own, which decides where both know an id.

    So a new mistake in the tutor's changes nothing in a course that has one of this name. Raises `LessonError`.
    """
    own = course / MISTAKES.name
    shared = mistake_library.load_library(MISTAKES)
    return {**shared, **mistake_library.load_library(own, version)} if own.is_dir() else shared


def read_nodes(lesson: Lesson) -> yaml.Node:
    """Read the YAML nodes of a lesson that was loaded from a folder, with their positions. Raises `LessonError`."""
    file = Path(lesson.folder) / "lesson.yaml"
    root = parse(read(file), str(file))
    _include(root, Path(lesson.folder))
    return root


def parse_lesson(
    text: str,
    file: str,
    *,
    number: int,
    slug: str,
    folder: str = "",
    mistakes: Library | None = None,
    version: int = FORMAT,
) -> Lesson:
    """Parse the text of a lesson; findings carry `file` as the name of its file. Raises `LessonError`.

    A step `include: FILE` stands for the step in that file of the folder.
    """
    root = parse(text, file)
    _include(root, Path(folder) if folder else None)
    _read_on_as_text(root)
    findings = list(repeated_keys(root, set()))
    data = data_of(root)
    if not isinstance(data, dict):
        raise LessonError(
            [
                Finding(
                    file, 1, 1, "a lesson is a mapping with title, goal and steps", "Start the file with 'title: ...'."
                )
            ]
        )
    course_versions.upgrade_lesson(data, version)
    steps = data.get("steps")
    for position, step in enumerate(steps if isinstance(steps, list) else ()):
        findings += mistake_library.fill_in(step, mistakes or {}, locate(root, ("steps", position))[1])
        line_exercises.fill_in_line(step)
    try:
        contents = LessonFile.model_validate(data)
    except ValidationError as error:
        findings += (finding_of(root, item, LessonFile) for item in root_causes(error.errors(), LessonFile))
        raise LessonError(sorted_findings(findings)) from None
    lesson = Lesson(**dict(contents), id=slug, number=number, folder=folder)
    findings += _content_findings(lesson, root)
    if findings:
        raise LessonError(sorted_findings(findings))
    return lesson


def sorted_findings(findings: list[Finding]) -> list[Finding]:
    return sorted(set(findings), key=lambda found: (found.file, found.line, found.column, found.problem))


def _include(root: yaml.Node, folder: Path | None) -> None:
    """Replace the steps that name a file by the contents of that file. Raises `LessonError`."""
    findings = []
    included: set[str] = set()
    steps = _steps(root)
    for position, step in enumerate(steps):
        named = [value for key, value in _pairs(step) if key.value == INCLUDE]
        if not named:
            continue
        where, name = position_of(step.start_mark), named[0].value
        if len(step.value) > 1 or not isinstance(name, str) or folder is None or _leads_out(folder, name):
            remedy = "Write nothing but 'include: FILE', a file below the lesson's folder."
            findings.append(Finding(*where, "this is not something to include", remedy))
            continue
        if name in included:
            findings.append(Finding(*where, f"{name} is included twice", "Include it once."))
            continue
        included.add(name)
        file = folder / name
        try:
            steps[position] = parse(read(file), str(file))
            nested = [key for key, _ in _pairs(steps[position]) if key.value == INCLUDE]
            findings += [Finding(*position_of(key.start_mark), *NO_INCLUDE) for key in nested]
        except LessonError as error:
            missing = isinstance(error.__cause__, FileNotFoundError)
            findings += [Finding(*where, f"there is no file {name}", "Mend the name.")] if missing else error.findings
    if findings:
        raise LessonError(sorted_findings(findings))


def files_left_out(lesson: Lesson) -> Iterator[Finding]:
    """Find files with steps in the folder of a lesson that the lesson does not include. Raises `LessonError`."""
    folder = Path(lesson.folder)
    file = folder / "lesson.yaml"
    pairs = [pair for step in _steps(parse(read(file), str(file))) for pair in _pairs(step)]
    known = {file, *(folder / value.value for key, value in pairs if key.value == INCLUDE)}
    for path in sorted(folder.rglob("*.yaml")):
        if path not in known:
            name = path.relative_to(folder).as_posix()
            remedy = f"Add '- include: {name}' to its steps, or take the file away."
            yield Finding(str(path), 1, 1, "the lesson does not include this file", remedy)


def _leads_out(folder: Path, name: str) -> bool:
    """Return whether the name of a file leads out of a folder, by itself or by a link."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return True
    # Some installers link every file of a package to a place of their own.
    if (folder / "lesson.yaml").is_symlink():
        return False
    try:
        return not (folder / name).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        return True


def _steps(root: yaml.Node) -> list[yaml.Node]:
    """Return the nodes of the steps as the list in the file: replacing an item changes the lesson."""
    found = next((value for key, value in _pairs(root) if key.value == "steps"), None)
    return found.value if isinstance(found, yaml.SequenceNode) else []


def _read_on_as_text(root: yaml.Node) -> None:
    """Make the key `on` of a step a text, since YAML reads the bare word as a boolean."""
    for step in _steps(root):
        for key, _ in _pairs(step):
            if isinstance(key, yaml.ScalarNode) and key.value == "on":
                key.tag = "tag:yaml.org,2002:str"


def _pairs(node: yaml.Node) -> list[tuple[yaml.Node, yaml.Node]]:
    """Return the keys and values of a mapping; an empty list for any other node."""
    return list(node.value) if isinstance(node, yaml.MappingNode) else []


# Checks beyond the model ---------------------------------------------------------------------------------------------


def _content_findings(lesson: Lesson, root: yaml.Node) -> Iterator[Finding]:
    """Find ids that are used twice, names that do not exist, and knobs that change nothing."""

    def at(path: tuple[int | str, ...], problem: str, remedy: str) -> Finding:
        return Finding(*position_of(locate(root, path)[1].start_mark), problem, remedy)

    seen: set[str] = set()
    for position, step in enumerate(lesson.steps):
        path: tuple[int | str, ...] = ("steps", position)
        if step.id in seen:
            yield at((*path, "id"), f"the id '{step.id}' is used by two steps", "Give one of them another id.")
        if step.id == SETUP:
            yield at((*path, "id"), f"the id '{step.id}' means the lesson's setup", "Give the step another id.")
        seen.add(step.id)
        if step.source_name:
            try:
                package_source.read(step.source_name)
            except LookupError as error:
                yield at((*path, "source"), str(error.args[0]), "Name it like 'attention.causal:CausalAttention'.")
        for inside, problem, remedy in step.complaints():
            yield at((*path, *inside), problem, remedy)
    for path, problem, remedy in (*_side_complaints(lesson), *_alias_complaints(lesson)):
        yield at(path, problem, remedy)
    for path, problem, remedy in knobs.complaints(lesson):
        yield at(path, problem, remedy)
    if lesson.flow and lesson.flow not in _steps_that_run(lesson):
        yield at(
            ("flow",),
            f"'{lesson.flow}' is not a step with code",
            f"Use one of: {', '.join(_steps_that_run(lesson)) or 'none yet'}.",
        )
    if lesson.thumbnail and lesson.thumbnail not in _tensor_names(lesson):
        yield at(
            ("thumbnail",),
            f"'{lesson.thumbnail}' is not a shown tensor",
            f"Use one of: {', '.join(sorted(_tensor_names(lesson))) or 'none yet'}.",
        )


def _side_complaints(lesson: Lesson) -> Iterator[Complaint]:
    """Yield a complaint for each side step that has to be on the main path."""
    last = len(lesson.steps) - 1
    for position, step in enumerate(lesson.steps):
        if not step.side:
            continue
        path = ("steps", position, "side")
        if position in (0, last):
            which = "last" if position else "first"
            yield path, f"the {which} step of a lesson cannot be a side step", "Take 'side' away, or move the step."
        if step.is_challenge:
            yield path, "the challenge of a lesson cannot be a side step", "Take 'side' or 'challenge' away."


def _alias_complaints(lesson: Lesson) -> Iterator[Complaint]:
    """Yield a complaint for each alias that does not say which step it means."""
    owners = {step.id: step.id for step in lesson.steps}
    for position, step in enumerate(lesson.steps):
        for number, alias in enumerate(step.aliases):
            if alias in owners:
                problem = f"'{alias}' also names the step '{owners[alias]}'"
                yield ("steps", position, "aliases", number), problem, "An alias is an id that no step has any more."
            owners.setdefault(alias, step.id)


def _steps_that_run(lesson: Lesson) -> list[str]:
    return [step.id for step in lesson.running]


def _tensor_names(lesson: Lesson) -> set[str]:
    return {f"{step.id}/{shown.name}" for step in lesson.running for shown in step.show}


def _repeated_lessons(lessons: list[Lesson]) -> Iterator[Finding]:
    owners: dict[str, Lesson] = {}
    for lesson in lessons:
        for name, what in ((lesson.id, "id"), (str(lesson.number), "number")):
            if name in owners:
                problem = f"the {what} '{name}' is also that of '{Path(owners[name].folder).name}'"
                yield Finding(lesson.folder, 1, 1, problem, "Give one of the folders another name.")
            owners.setdefault(name, lesson)
    for lesson in lessons:
        for alias in lesson.aliases:
            if alias in owners:
                problem = f"the alias '{alias}' also names the lesson '{owners[alias].id}'"
                yield Finding(lesson.folder, 1, 1, problem, "An alias is an id that no lesson has any more.")
            owners.setdefault(alias, lesson)


def _repeated_exercises(lessons: list[Lesson]) -> Iterator[Finding]:
    owners: dict[str, Lesson] = {}
    for lesson in lessons:
        for step in lesson.exercises:
            for key, name in (("exercise", step.exercise), ("number", step.number)):
                if name in owners:
                    where = position_of(locate(read_nodes(lesson), ("steps", lesson.index(step.id), key))[1].start_mark)
                    problem = f"the exercise '{name}' also stands in lesson '{owners[name].id}'"
                    remedy = "Exercise ids and numbers are unique in the course."
                    yield Finding(*where, problem, remedy)
                elif name:
                    owners[name] = lesson


def outline_of(course: Course) -> CourseOutline:
    """Return the outline of a course, with the recorded numbers of the tensors that stand for its lessons."""
    about = course.description.about if course.description else ""
    return CourseOutline(tuple(map(lesson_outline, course.lessons)), course.title, about)


def lesson_outline(lesson: Lesson) -> LessonOutline:
    """Return the outline of a lesson."""
    steps = tuple(map(_step, lesson.steps))
    return LessonOutline(lesson.id, lesson.number, lesson.title, lesson.goal, _corner(lesson), steps, lesson.aliases)


def _step(step: Step) -> StepOutline:
    return StepOutline(
        step.id,
        step.title,
        step.noun,
        step.is_exercise,
        step.exercise_id,
        step.exercise_number,
        step.is_challenge,
        step.side,
        step.aliases,
    )


def _corner(lesson: Lesson) -> Corner | None:
    """Return the corner of the recorded tensor that stands for a lesson, None if it has none."""
    step, _, name = lesson.thumbnail.partition("/")
    result = recorded_outputs.load(lesson).get(step) if name else None
    tensor = next((each for each in result.tensors if each.name == name), None) if result else None
    if tensor is None:
        return None
    rows, cols = (min(size, SIDE) for size in tensor.matrix_shape)
    lead = (0,) * len(tensor.lead_shape)
    numbers = tuple(tuple(tensor.row(lead, row, 0, cols) or ()) for row in range(rows))
    return Corner(tensor.name, tensor.kind, tensor.shape, tensor.low, tensor.high, tensor.row_labels[:rows], numbers)
