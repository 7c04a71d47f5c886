"""The texts that stand in the code of the tutor, found by reading the code, which says them with a `Wording`."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from attn_tutor.lessons.format.text_walk import CourseText
from attn_tutor.lessons.reading.course_texts import Catalog

ROOT = Path(__file__).parent.parent.parent
ROOMS = ("lessons", "tui")
SAY, COUNT, WORDING = "say", "count", "Wording"
SAYS = re.compile(rf"^{SAY} = {WORDING}\(", re.MULTILINE)


def catalog() -> Catalog:
    """Return the texts of all modules by their groups, in the order of their ids. Raises `ValueError`."""
    found: dict[str, CourseText] = {}
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            for text in texts_in(path.read_text(encoding="utf-8")):
                if found.setdefault(text.id, text) != text:
                    raise ValueError(f"two texts have the id '{text.id}'")
    groups: defaultdict[str, list[CourseText]] = defaultdict(list)
    for text_id in sorted(found):
        groups[text_id.partition("/")[0]].append(found[text_id])
    return dict(sorted(groups.items()))


@lru_cache(512)
def texts_in(source: str) -> tuple[CourseText, ...]:
    """Return the texts that a module says, in order. Raises `ValueError` for one that is no literal."""
    if not SAYS.search(source):
        return ()
    tree = ast.parse(source)
    [prefix] = (
        node.value.args[0].value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == WORDING
        and isinstance(node.value.args[0], ast.Constant)
    )
    return tuple(_text(str(prefix), call, counts) for call, counts in calls_in(tree))


def calls_in(tree: ast.AST) -> Iterator[tuple[ast.Call, bool]]:
    """Yield the calls that say a text, each with whether the text counts something."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name == SAY:
                yield node, False
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if (name, method) == (SAY, COUNT):
                yield node, True


def _text(prefix: str, call: ast.Call, counts: bool) -> CourseText:
    arguments = [call.args[0], *call.args[2:]] if counts else call.args
    literals = [node.value for node in arguments if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    if len(literals) != len(arguments) or len(literals) != 2 + counts:
        raise ValueError(f"line {call.lineno}: a text is said by an id and texts that are literals")
    return CourseText(f"{prefix}/{literals[0]}", literals[1], True, literals[2] if counts else "")
