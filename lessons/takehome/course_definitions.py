"""Code without the course's package `attention`, so that it runs where the tutor is not installed.

What it imports from there stands before it, as definitions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from attn_tutor.lessons.reading import package_source
from attn_tutor.lessons.takehome import top_level
from attn_tutor.lessons.takehome.top_level import Import, TopLevelStatement

PACKAGE = "attention"


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition of the package: its module, its name there, and its text."""

    module: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Definitions:
    """Definitions of the package that need nothing else of it: what they import, and themselves, in order."""

    imports: tuple[Import, ...]
    parts: tuple[Definition, ...]

    @property
    def code(self) -> str:
        """The whole text, with its imports."""
        first = "\n".join(dict.fromkeys(each.statement(each.bound) for each in self.imports))
        return "\n\n\n".join(filter(None, (first, *(part.text for part in self.parts)))) + "\n"


def is_of_package(found: Import) -> bool:
    """Return whether something is imported from the package, or is the package itself."""
    return found.module.partition(".")[0] == PACKAGE


def resolve(found: Import) -> tuple[str, str] | None:
    """Return the module and the name of a definition that is imported from the package.

    Returns None for anything else: a module of the package, or the package itself.
    """
    if not is_of_package(found) or not found.name:
        return None
    if found.module != PACKAGE:
        known = _known(found.module)
        return (found.module, found.name) if known is not None and found.name in known else None
    for each in top_level.imports(package_source.module_text(PACKAGE) or ""):
        if each.bound == found.name and each.module.startswith("."):
            return f"{PACKAGE}{each.module}", each.name
    return None


def collect(names: Iterable[tuple[str, str]]) -> Definitions:
    """Return definitions with all that they need, each once and after what it needs. Raises `KeyError`."""
    imports: dict[str, Import] = {}
    done: dict[tuple[str, str], str] = {}
    for module, name in names:
        _add(module, name, imports, done)
    parts = (Definition(module, name, text) for (module, name), text in done.items())
    return Definitions(tuple(imports.values()), tuple(parts))


def _add(module: str, name: str, imports: dict[str, Import], done: dict[tuple[str, str], str]) -> None:
    if (module, name) in done:
        return
    known = _known(module) or {}
    statement = known[name]
    outside = {each.bound: each for each in top_level.imports(package_source.module_text(module) or "")}
    # A name that its own code reads is there by then.
    done[module, name] = ""
    for read in sorted(statement.reads):
        if read in known and known[read] is not statement:
            _add(module, read, imports, done)
        elif (found := outside.get(read)) is not None:
            if found.module.startswith("."):
                _add(f"{PACKAGE}{found.module}", found.name, imports, done)
            else:
                imports[found.bound] = found
    del done[module, name]
    done[module, name] = statement.text


@cache
def _known(module: str) -> dict[str, TopLevelStatement] | None:
    """Return the statements of a module by the names that they bind; None if there is no such module."""
    text = package_source.module_text(module)
    if text is None:
        return None
    return {name: each for each in top_level.statements(text) for name in each.binds}


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
            definitions = collect(found)
            missing = tuple(part for part in definitions.parts if self._placed.get(part.name) != part.module)
            before = Definitions(definitions.imports, missing).code if missing else ""
            self._placed.update((part.name, part.module) for part in missing)
        else:
            before = ""
        rest = _without_imports(code)
        # What the code binds itself is no longer the definition of the package.
        for node in ast.parse(rest).body:
            for bound in top_level.global_names_of(node).binds:
                self._placed.pop(bound, None)
        return before, rest


def _of_package(code: str) -> list[Import]:
    found = [each for each in top_level.imports(code) if is_of_package(each)]
    inner = [each for each in top_level.inner_imports(code) if is_of_package(each)]
    if inner or any(resolve(each) is None for each in found):
        raise NeedsPackage
    return found


def _resolved(found: Import) -> tuple[str, str]:
    definition = resolve(found)
    assert definition is not None
    return definition


def _without_imports(code: str) -> str:
    """Return code with an assignment in place of each import of the package under another name, and no other."""
    lines = code.splitlines()
    for node in reversed(ast.parse(code).body):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == PACKAGE:
            assert node.end_lineno is not None
            lines[node.lineno - 1 : node.end_lineno] = list(_aliases(node))
    return "\n".join(lines).strip("\n")


def _aliases(node: ast.ImportFrom) -> Iterator[str]:
    for each in node.names:
        if each.asname and each.asname != each.name:
            yield f"{each.asname} = {each.name}"
