"""The table of words of docs/architecture.md against the code: names and docstrings use no retired private word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("attention", "bench", "lessons", "tests/attention", "tests/lessons", "tests/tui", "tui")

RETIRED = frozenset({"film", "forgiving", "gots", "lifeline", "standing", "zygote"})
"""Words that were replaced by a better one and may occur neither in names nor in docstrings."""

BRITISH = re.compile(
    r"(behavi|col|fav|neighb)our(s|ed|ing)?|centre[sd]?|licences?|(initial|normal|optim|renormal|recogn)is(e|ed|er|es|ing)"
)
"""Spellings that are not American, and may occur neither in names nor in docstrings."""

RETIRED_NAMES = RETIRED | {
    *("birth", "kept", "made", "place", "play", "played", "put", "said", "shown", "stage", "told", "tried")
}
"""Words that may not be the whole name of a module, class or function, with or without an underscore."""

RETIRED_VARIABLES = frozenset({"engine", "store"})
"""Words that may not be the whole name of a variable, a parameter or an attribute, with or without an underscore."""

DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def words(text: str) -> set[str]:
    """Return the words of a text or a name, in lower case; `FilmView` and `film_view` both contain `film`."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)}


def retired_words(text: str) -> set[str]:
    """Return the words of a text or a name that are retired or have a British spelling."""
    return {word for word in words(text) if word in RETIRED or BRITISH.fullmatch(word)}


def retired_in_name(name: str) -> list[str]:
    """Return the retired words that a name contains, and the name itself if it is nothing but a bare participle."""
    used = words(name)
    return sorted(retired_words(name) | (used & RETIRED_NAMES if len(used) == 1 else set()))


def assigned_name(node: ast.AST) -> str:
    """Return the name of the parameter, variable or attribute that a node assigns, "" for other nodes."""
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.id if isinstance(node, ast.Name) else node.attr
    return ""


def retired(path: str, source: str) -> Iterator[str]:
    """Yield where a module uses a retired word: in its own name, in a name that it defines, or in a docstring."""
    for word in retired_in_name(Path(path).stem):
        yield f"{path}: {word}"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, *DEFINITIONS)):
            found = retired_words(ast.get_docstring(node) or "")
            line = 1
            if isinstance(node, DEFINITIONS):
                found |= set(retired_in_name(node.name))
                line = node.lineno
            for word in sorted(found):
                yield f"{path}:{line}: {word}"
        elif isinstance(node, ast.arg | ast.expr) and (name := assigned_name(node).strip("_")) in RETIRED_VARIABLES:
            yield f"{path}:{node.lineno}: {name}"


@pytest.mark.parametrize("package", PACKAGES)
def test_no_retired_word_is_used(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    found = [use for path in files for use in retired(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("film.py", "", ["film.py: film"]),
        ("a.py", '"""Shows the film."""', ["a.py:1: film"]),
        ("a.py", "\nclass FilmView: ...", ["a.py:2: film"]),
        ("a.py", "def _told(): ...", ["a.py:1: told"]),
        ("a.py", "def told_to_stop():\n    'Return whether it was told to.'", []),
        ("a.py", "class A:\n    async def f():\n        '''Set the Colour.'''", ["a.py:2: colour"]),
        ("normalising.py", "def made_of(): ...", ["normalising.py: normalising"]),
        ("a.py", "def f(store):\n    self._engine = store", ["a.py:1: store", "a.py:2: engine"]),
        ("a.py", "import lessons.engine\nlessons.engine.session.store_of(engine_side=1)", []),
        ("understanding.py", '"""Understand the word filmed."""\nfilm = "standing"  # told', []),
    ],
)
def test_a_retired_word_is_found(path: str, source: str, expected: list[str]) -> None:
    assert list(retired(path, source)) == expected
