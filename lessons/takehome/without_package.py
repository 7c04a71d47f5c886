"""Code without the course's package: what it imports from there stands before it, as definitions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from attn_tutor.lessons.takehome import course_definitions, global_names, top_level
from attn_tutor.lessons.takehome.course_definitions import Definitions
from attn_tutor.lessons.takehome.top_level import Import


class NeedsPackage(ValueError):
    """The code uses the package in a way for which no definition can stand."""


class PlacedDefinitions:
    """The definitions of the package that stand in a program already, as pieces of code are added to it."""

    def __init__(self) -> None:
        self._placed: dict[str, str] = {}
        """The module of each definition that stands there, by its name."""

    def add(self, code: str) -> tuple[str, str]:
        """Add a piece of code.

        Returns the definitions that it needs and that are not there yet, and the piece with names in place of imports.
        Raises `SyntaxError`, `NeedsPackage`.
        """
        found = [_resolved(each) for each in _of_package(code)]
        if found:
            definitions = course_definitions.collect(found)
            missing = tuple(part for part in definitions.parts if self._placed.get(part.name) != part.module)
            before = Definitions(definitions.imports, missing).code if missing else ""
            self._placed.update((part.name, part.module) for part in missing)
        else:
            before = ""
        rest = _without_imports(code)
        # What the code binds itself is no longer the definition of the package.
        for node in ast.parse(rest).body:
            for bound in global_names.of_statement(node).binds:
                self._placed.pop(bound, None)
        return before, rest


def _of_package(code: str) -> list[Import]:
    found = [each for each in top_level.imports(code) if course_definitions.is_of_package(each)]
    inner = [each for each in top_level.inner_imports(code) if course_definitions.is_of_package(each)]
    if inner or any(course_definitions.resolve(each) is None for each in found):
        raise NeedsPackage
    return found


def _resolved(found: Import) -> tuple[str, str]:
    definition = course_definitions.resolve(found)
    assert definition is not None
    return definition


def _without_imports(code: str) -> str:
    """Return code with an assignment in place of each import of the package under another name, and no other."""
    lines = code.splitlines()
    for node in reversed(ast.parse(code).body):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == course_definitions.PACKAGE:
            assert node.end_lineno is not None
            lines[node.lineno - 1 : node.end_lineno] = list(_aliases(node))
    return "\n".join(lines).strip("\n")


def _aliases(node: ast.ImportFrom) -> Iterator[str]:
    for each in node.names:
        if each.asname and each.asname != each.name:
            yield f"{each.asname} = {each.name}"
