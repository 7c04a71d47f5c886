"""Answers put together as the sections of one module: imports first, names that clash told apart.

An answer was written for itself, and many define the same name. The first in the course keeps it; later ones get the id
of their exercise behind it. What an answer takes from the course's package `attention` is the learner's own class if
there is one, else the course's, as a section of its own.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from attn_tutor.lessons.takehome import course_definitions, global_names, top_level
from attn_tutor.lessons.takehome.global_names import NameNotFound
from attn_tutor.lessons.takehome.passing_answers import PassingAnswer
from attn_tutor.lessons.takehome.top_level import Import, Statement
from attn_tutor.lessons.texts.wording import Wording

say = Wording("take-home/sections")

FUTURE = "__future__"


def is_future(line: str) -> bool:
    """Return whether a line imports from the future of the language, which has to come before all others."""
    return line.split()[1] == FUTURE


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the module.

    Attributes:
        answer: the answer that it comes from; None for definitions of the course.
        code: its code.
        names: what the names are called here that the answer had to define.
    """

    answer: PassingAnswer | None
    code: str
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An answer that is not in the module, and why, as a sentence."""

    answer: PassingAnswer
    why: str


@dataclass(slots=True)
class Sections:
    """The sections of a module, what they import, and what was left out."""

    imports: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


class _NotFitting(Exception):
    """An answer that cannot be put together with others; the message is the reason for the learner."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """An answer taken apart: what it imports, and the statements that define what it had to define."""

    answer: PassingAnswer
    imports: tuple[Import, ...]
    statements: tuple[Statement, ...]

    @property
    def binds(self) -> list[str]:
        return list(dict.fromkeys(name for each in self.statements for name in sorted(each.binds)))


def put_together(answers: Sequence[PassingAnswer]) -> Sections:
    """Return the sections for answers in the order of the course."""
    assembly = _Assembly()
    parts: list[_Parts] = []
    for answer in answers:
        try:
            parts.append(_take_apart(answer))
        except _NotFitting as error:
            assembly.result.left_out.append(LeftOut(answer, str(error)))
    # All imports stand above all definitions, so their names are taken first.
    for each in parts:
        assembly.reserve_imports(each)
    for each in parts:
        try:
            assembly.add(each)
        except _NotFitting as error:
            assembly.result.left_out.append(LeftOut(each.answer, str(error)))
    return assembly.finished()


def _take_apart(answer: PassingAnswer) -> _Parts:
    """Return the parts of an answer that define what its exercise asks for. Raises `_NotFitting`."""
    code = answer.code.removeprefix("\ufeff")
    try:
        imports, inner = top_level.imports(code), top_level.inner_imports(code)
        found = top_level.needed(top_level.statements(code), answer.exercise.defines)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _NotFitting(say("not-python", "It is not Python here.")) from None
    if any(each.bound == "*" for each in (*imports, *inner)):
        raise _NotFitting(say("star", "It imports all names of a module at once, which may be those of other answers."))
    of_course = [each for each in (*imports, *inner) if course_definitions.is_of_package(each)]
    if any(course_definitions.resolve(each) is None for each in of_course) or any(
        course_definitions.is_of_package(each) for each in inner
    ):
        raise _NotFitting(say("package", "It uses the course's package `attention` as a whole, which stays behind."))
    bound = {name for each in found for name in each.binds}
    bound_by_import = {each.bound for each in imports}
    if missing := sorted(set(answer.exercise.defines) - bound - bound_by_import):
        raise _NotFitting(say("missing", "Nothing in it defines {names}.", names=", ".join(missing)))
    if clash := sorted(bound & bound_by_import):
        raise _NotFitting(say("twice", "It both imports and defines {names}.", names=", ".join(clash)))
    reads = {name for each in found for name in each.reads} | set(answer.exercise.defines)
    kept = [each for each in imports if each.bound in reads or each.module == FUTURE]
    return _Parts(answer, tuple(kept), tuple(found))


class _Assembly:
    """A module while it is put together."""

    def __init__(self) -> None:
        self.result = Sections()
        self._taken = {*dir(builtins), "_check"}
        self._imports: dict[str, str] = {}
        """What is imported, by its target, with the name that it has."""
        self._classes: dict[str, str] = {}
        """The learner's classes so far, with the names that they have."""
        self._of_course: dict[tuple[str, str], str] = {}
        """Definitions of the course that are there, with the names that they have."""

    def reserve_imports(self, parts: _Parts) -> None:
        """Take the names of what an answer imports."""
        for each in parts.imports:
            if not course_definitions.is_of_package(each):
                self._import(each, parts.answer.id)

    def _import(self, found: Import, suffix: str) -> str:
        """Import something, once, and return its name."""
        if found.target not in self._imports:
            name = found.bound if found.module == FUTURE else self._free(found.bound, suffix)
            self._imports[found.target] = name
            self._taken.add(name)
            self.result.imports.append(found.statement(name))
        elif (line := found.statement(self._imports[found.target])) not in self.result.imports:
            # `import torch.nn` after `import torch` binds the same name, and loads one more module.
            self.result.imports.append(line)
        return self._imports[found.target]

    def _free(self, name: str, suffix: str) -> str:
        """Return a name that is not taken: the name itself, or else with a suffix."""
        if name not in self._taken:
            return name
        base, number = f"{name}_{suffix.replace('-', '_')}", 2
        free = base
        while free in self._taken:
            free, number = f"{base}_{number}", number + 1
        return free

    def add(self, parts: _Parts) -> None:
        """Add the section of an answer. Raises `_NotFitting`."""
        answer = parts.answer
        names: dict[str, str] = {}
        for each in parts.imports:
            names[each.bound] = (
                self._class_of_course(each) if course_definitions.is_of_package(each) else self._imports[each.target]
            )
        for name in parts.binds:
            names[name] = self._free(name, answer.id)
        changed = {old: new for old, new in names.items() if old != new}
        try:
            code = global_names.renamed("\n\n\n".join(each.text for each in parts.statements), changed)
        except NameNotFound as error:
            raise _NotFitting(say("no-rename", "Its name {name} is taken by an earlier answer.", name=error)) from None
        self._taken |= {names[name] for name in parts.binds}
        defined = {name: names[name] for name in answer.exercise.defines}
        for node in (each.node for each in parts.statements):
            if isinstance(node, ast.ClassDef) and node.name in defined:
                self._classes.setdefault(node.name, names[node.name])
        self.result.sections.append(Section(answer, _spaced(code), defined))

    def _class_of_course(self, found: Import) -> str:
        """Return the name of what an answer takes from the course: the learner's own class, or the course's."""
        definition = course_definitions.resolve(found)
        assert definition is not None
        module, name = definition
        if name in self._classes:
            return self._classes[name]
        if definition not in self._of_course:
            definitions = course_definitions.collect([definition])
            names = {each.bound: self._import(each, "of_course") for each in definitions.imports}
            for part in definitions.parts:
                if (part.module, part.name) in self._of_course:
                    names[part.name] = self._of_course[part.module, part.name]
                    continue
                names[part.name] = self._of_course[part.module, part.name] = self._free(part.name, "of_course")
                self._taken.add(names[part.name])
                changed = {old: new for old, new in names.items() if old != new}
                self.result.sections.append(Section(None, global_names.renamed(part.text, changed)))
        return self._of_course[module, name]

    def finished(self) -> Sections:
        """Return the result; imports of the language itself come first, as Python asks."""
        self.result.imports.sort(key=lambda line: (not is_future(line), line.startswith("from"), line))
        return self.result


def _spaced(code: str) -> str:
    """Return code with two empty lines around definitions and none between plain statements."""
    body = ast.parse(code).body
    lines = code.splitlines()
    blocks = list(_blocks(body, lines))
    text = blocks[0][1] if blocks else ""
    for (was_definition, _), (is_definition, block) in pairwise(blocks):
        text += ("\n\n\n" if was_definition or is_definition else "\n") + block
    return text


def _blocks(body: Sequence[ast.stmt], lines: Sequence[str]) -> Iterator[tuple[bool, str]]:
    start = 0
    for node in body:
        end = node.end_lineno or node.lineno
        definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield definition, "\n".join(lines[start:end]).strip("\n")
        start = end
