"""YAML to model. Bad input is told as file, line, column and remedy; all findings at once."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from lessons import knobs, model, source
from lessons.model import Course, ExerciseStep, Lesson, LessonFile, ReadStep, RunStep

COURSE = Path(__file__).parent / "course"
FOLDER = re.compile(r"^(\d+)-([a-z0-9]+(?:-[a-z0-9]+)*)$")
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong in a lesson: where (line and column from 1), what, and what to do about it."""

    file: str
    line: int
    column: int
    problem: str
    remedy: str

    def __str__(self) -> str:
        # What was found may hold line breaks, but a finding is one line.
        told = " ".join(f"{self.problem}. {self.remedy}".split())
        return f"{self.file}:{self.line}:{self.column}: {told}"


class LessonError(Exception):
    """A lesson or course that cannot be used. `findings` holds everything that was found."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("\n".join(str(finding) for finding in findings))
        self.findings = findings


def load_course(folder: Path = COURSE) -> Course:
    """Every lesson under `folder`, ordered by number. Raises `LessonError` with the findings of all files together."""
    lessons: list[Lesson] = []
    findings: list[Finding] = []
    folders = (
        sorted(path for path in folder.iterdir() if path.is_dir() and FOLDER.match(path.name))
        if folder.is_dir()
        else []
    )
    if not folders:
        raise LessonError(
            [
                Finding(
                    str(folder),
                    1,
                    1,
                    "there are no lessons here",
                    "Make a folder such as '01-first' with a lesson.yaml in it.",
                )
            ]
        )
    for path in folders:
        try:
            lessons.append(load_lesson(path))
        except LessonError as error:
            findings += error.findings
    findings += _repeated_lessons(lessons)
    findings += _repeated_exercises(lessons)
    if findings:
        raise LessonError(findings)
    return Course(lessons=tuple(sorted(lessons, key=lambda lesson: lesson.number)))


def load_lesson(folder: Path) -> Lesson:
    """The lesson in a folder named `NN-slug`. Raises `LessonError` with all its findings."""
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
    return parse_lesson(_read(file), str(file), number=int(match[1]), slug=match[2], folder=str(folder))


def parse_lesson(text: str, file: str, *, number: int, slug: str, folder: str = "") -> Lesson:
    """The lesson that `text` describes; `file` is the name that findings carry. Raises `LessonError`."""
    root, data = _read_yaml(text, file)
    findings = list(_repeated_keys(root, file, set()))
    if not isinstance(data, dict):
        raise LessonError(
            [
                Finding(
                    file, 1, 1, "a lesson is a mapping with title, goal and steps", "Start the file with 'title: ...'."
                )
            ]
        )
    try:
        contents = LessonFile.model_validate(data)
    except ValidationError as error:
        errors = error.errors()
        # A list whose items are wrong is also called too short: only the items' own findings help.
        places = [item["loc"] for item in errors]
        for item in errors:
            above = len(item["loc"])
            if item["type"] != "too_short" or not any(
                len(place) > above and place[:above] == item["loc"] for place in places
            ):
                findings.append(_finding(root, file, item))
        raise LessonError(_in_order(findings)) from None
    lesson = Lesson(**dict(contents), id=slug, number=number, folder=folder)
    findings += _contents(lesson, root, file)
    if findings:
        raise LessonError(_in_order(findings))
    return lesson


def _in_order(findings: list[Finding]) -> list[Finding]:
    return sorted(set(findings), key=lambda found: (found.line, found.column, found.problem))


# Reading ---------------------------------------------------------------------------------------------------------


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LessonError(
            [Finding(str(file), 1, 1, "this file is missing", "Every lesson folder needs a lesson.yaml.")]
        ) from None
    except UnicodeDecodeError as error:
        before = file.read_bytes()[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        raise LessonError(
            [Finding(str(file), line, column, "this is not UTF-8 text", "Save the file as UTF-8.")]
        ) from None
    except OSError as error:
        raise LessonError(
            [Finding(str(file), 1, 1, f"cannot be read: {error.strerror}", "Check the file and its rights.")]
        ) from None


def _read_yaml(text: str, file: str) -> tuple[yaml.Node, object]:
    """The nodes of a file, which know their places, and its data."""
    lines = text.count("\n") + (not text.endswith("\n"))
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=Loader)
        data: object = yaml.load(text, Loader=Loader)  # a safe loader: see Loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark and mark.line >= lines:
            # What is not closed runs to the end of the file: better tell where it begins.
            mark = error.context_mark or mark
        line, column = (min(mark.line + 1, lines), mark.column + 1) if mark else (1, 1)
        problem = " ".join(filter(None, (error.context, error.problem))) or "this is not YAML"
        here = "".join(text.split("\n")[line - 1 : line])[column - 1 : column]
        raise LessonError([Finding(file, line, column, problem, _yaml_remedy(problem, here))]) from None
    except yaml.reader.ReaderError as error:
        line = text.encode("utf-8", "replace")[: error.position].count(b"\n") + 1
        raise LessonError(
            [
                Finding(
                    file,
                    line,
                    1,
                    f"a character that YAML does not allow ({error.reason})",
                    "Delete it, or write it as an escape in double quotes.",
                )
            ]
        ) from None
    except (ValueError, RecursionError) as error:
        # Such as a date that is none.
        raise LessonError([Finding(file, 1, 1, f"a value cannot be read: {error}", "Put it in quotes.")]) from None
    if node is None:
        raise LessonError([Finding(file, 1, 1, "the file is empty", "Start it with 'title: ...'.")])
    return node, data


def _yaml_remedy(problem: str, character: str) -> str:
    if "tab" in problem or character == "\t":
        return "Indent with spaces, not tabs."
    if "mapping values are not allowed" in problem:
        return "Put a text with a colon in quotes, or write it as a block after '|'."
    return "Check the indentation and the quotes at this place."


def _repeated_keys(node: yaml.Node, file: str, visited: set[int]) -> Iterator[Finding]:
    """YAML takes the last of two equal keys without a word; here that is a finding."""
    if id(node) in visited:  # an alias
        return
    visited.add(id(node))
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                yield Finding(
                    file,
                    key.start_mark.line + 1,
                    key.start_mark.column + 1,
                    f"'{key.value}' is given twice",
                    "Keep one of the two.",
                )
            seen.add(key.value)
            yield from _repeated_keys(value, file, visited)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated_keys(item, file, visited)


# From a complaint to a place ---------------------------------------------------------------------------------------


def _locate(root: yaml.Node, path: tuple[int | str, ...]) -> tuple[yaml.Node, yaml.Node]:
    """The key node and value node at a path, or of its nearest existing ancestor."""
    key = node = root
    for part in path:
        if isinstance(node, yaml.MappingNode):
            for candidate, value in reversed(node.value):  # of equal keys the last one counts
                if candidate.value == str(part):
                    key, node = candidate, value
                    break
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            key = node = node.value[part]
    return key, node


def _finding(root: yaml.Node, file: str, error: Any) -> Finding:
    """A pydantic error as a finding."""
    path: tuple[int | str, ...] = error["loc"]
    # The kind of a step or knob is part of the path, but not of the file.
    key, node = _locate(root, path[:2] + path[3:] if path[:1] in (("steps",), ("knobs",)) else path)
    name = str(path[-1]) if path else "lesson"
    kind, context = error["type"], error.get("ctx", {})
    mark, down = node.start_mark, 0
    if kind == "extra_forbidden":
        mark = key.start_mark
        known = _known_keys(path)
        close = difflib.get_close_matches(name, known, n=1)
        problem = f"'{name}' is not known here"
        remedy = f"Did you mean '{close[0]}'?" if close else f"Known are: {', '.join(known)}."
    elif kind == "missing":
        mark = key.start_mark
        problem, remedy = f"'{name}' is missing", f"Add '{name}: ...' here."
    elif kind == "union_tag_not_found":
        what, kinds = ("knob", model.Knob) if path[:1] == ("knobs",) else ("step", model.Step)
        *rest, last = (f"'kind: {name}'" for name in _kinds(kinds))
        problem, remedy = f"the {what} has no 'kind'", f"Add {', '.join(rest)} or {last}."
    elif kind == "union_tag_invalid":
        problem = f"'{context.get('tag')}' is not a kind of {'knob' if path[:1] == ('knobs',) else 'step'}"
        remedy = f"Use {context.get('expected_tags')}."
    elif kind == "literal_error":
        problem, remedy = f"'{error.get('input')}' is not allowed for '{name}'", f"Use {context.get('expected')}."
    elif kind == "string_pattern_mismatch":
        problem, remedy = (
            f"'{error.get('input')}' is not an id",
            "Use small letters, digits and single hyphens, like 'all-queries'.",
        )
    elif kind == "python":
        # The line within a block of code: the block's own text starts one line below its mark. What Python misses at
        # the end is on the block's last line.
        if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
            down = min(context["line"], node.value.rstrip("\n").count("\n") + 1)
        problem, remedy = f"'{name}' is not Python: {context['message']}", "Mend the code."
    elif kind == "value_error":
        problem, remedy = str(context.get("error", error["msg"])), "Mend the text at this place."
    else:
        message = str(error["msg"])
        problem, remedy = f"'{name}': {message[0].lower()}{message[1:]}", f"Give '{name}' a value of the right form."
    column = 1 if down else mark.column + 1
    return Finding(file, mark.line + 1 + down, column, problem, remedy)


def _known_keys(path: tuple[int | str, ...]) -> list[str]:
    """The keys that the model at the end of a path (its last part being the wrong key) knows."""
    current: type[BaseModel] = model.LessonFile
    kinds = _kinds(model.Step) | _kinds(model.Knob)
    inside: dict[str, type[BaseModel]] = {"show": model.Shown, "checks": model.Check, "limits": model.Limits}
    for part in map(str, path[:-1]):
        current = kinds.get(part) or inside.get(part) or current
    return [field.alias or name for name, field in current.model_fields.items()]


def _kinds(union: Any) -> dict[str, type[BaseModel]]:
    """The models of a union that `kind` tells apart, by their kind."""
    members: tuple[type[BaseModel], ...] = get_args(get_args(union)[0])
    return {get_args(member.model_fields["kind"].annotation)[0]: member for member in members}


# What the model cannot see -----------------------------------------------------------------------------------------


def _contents(lesson: Lesson, root: yaml.Node, file: str) -> Iterator[Finding]:
    """Ids used twice, names that lead nowhere, knobs that change nothing."""

    def at(path: tuple[int | str, ...], problem: str, remedy: str) -> Finding:
        mark = _locate(root, path)[1].start_mark
        return Finding(file, mark.line + 1, mark.column + 1, problem, remedy)

    seen: set[str] = set()
    for position, step in enumerate(lesson.steps):
        path: tuple[int | str, ...] = ("steps", position)
        if step.id in seen:
            yield at((*path, "id"), f"the id '{step.id}' is used by two steps", "Give one of them another id.")
        if step.id == model.SETUP:
            yield at((*path, "id"), f"the id '{step.id}' means the lesson's setup", "Give the step another id.")
        seen.add(step.id)
        if isinstance(step, ReadStep | RunStep) and step.source:
            try:
                source.read(step.source)
            except LookupError as error:
                yield at((*path, "source"), str(error.args[0]), "Name it like 'attention.causal:CausalAttention'.")
        if isinstance(step, RunStep):
            names: set[str] = set()
            for place, shown in enumerate(step.show):
                if not shown.expr and not shown.name.isidentifier():
                    yield at(
                        (*path, "show", place, "name"),
                        f"'{shown.name}' is not a variable",
                        "Add an 'expr' that gives the tensor.",
                    )
                if shown.name in names:
                    yield at(
                        (*path, "show", place, "name"),
                        f"'{shown.name}' is shown twice in one step",
                        "Give one of them another name.",
                    )
                names.add(shown.name)
        elif isinstance(step, ExerciseStep):
            missing = set(step.defines) - _defined(step.solution)
            if missing:
                yield at(
                    (*path, "solution"),
                    f"the solution does not define {', '.join(sorted(missing))}",
                    "Define what 'defines' lists.",
                )
    for place_of, problem, remedy in knobs.complaints(lesson):
        yield at(place_of, problem, remedy)
    if lesson.thumbnail and lesson.thumbnail not in _tensor_names(lesson):
        yield at(
            ("thumbnail",),
            f"'{lesson.thumbnail}' is not a shown tensor",
            f"Use one of: {', '.join(sorted(_tensor_names(lesson))) or 'none yet'}.",
        )


def _defined(code: str) -> set[str]:
    """Names that a program binds at its top level."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return set()
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.add(node.name)
        for inner in ast.walk(node) if isinstance(node, ast.Assign | ast.AnnAssign) else ():
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                names.add(inner.id)
    return names


def _tensor_names(lesson: Lesson) -> set[str]:
    return {f"{step.id}/{shown.name}" for step in lesson.steps if isinstance(step, RunStep) for shown in step.show}


def _repeated_lessons(lessons: list[Lesson]) -> Iterator[Finding]:
    owners: dict[str, Lesson] = {}
    for lesson in lessons:
        for name, what in ((lesson.id, "id"), (str(lesson.number), "number")):
            if name in owners:
                problem = f"the {what} '{name}' is also that of '{Path(owners[name].folder).name}'"
                yield Finding(lesson.folder, 1, 1, problem, "Give one of the folders another name.")
            owners.setdefault(name, lesson)


def _repeated_exercises(lessons: list[Lesson]) -> Iterator[Finding]:
    owners: dict[str, Lesson] = {}
    for lesson in lessons:
        for position, step in enumerate(lesson.steps):
            if not isinstance(step, ExerciseStep):
                continue
            for key, name in (("exercise", step.exercise), ("number", step.number)):
                if name in owners:
                    file = Path(lesson.folder) / "lesson.yaml"
                    root, _ = _read_yaml(_read(file), str(file))
                    mark = _locate(root, ("steps", position, key))[1].start_mark
                    problem = f"the exercise '{name}' also stands in lesson '{owners[name].id}'"
                    remedy = "Exercise ids and numbers are unique in the course."
                    yield Finding(str(file), mark.line + 1, mark.column + 1, problem, remedy)
                elif name:
                    owners[name] = lesson
