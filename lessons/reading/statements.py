"""The statements of a program, compared with those of another one that may use other names."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

MOST_STATEMENTS = 300
LONGEST_TEXT = 400
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
NAME = re.compile(r"(?<![.\w\"'])[A-Za-z_]\w*")
"""A name in code that is no attribute."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, or the head of a compound one.

    Attributes:
        line, end: its first and last line, from 1.
        text: its code as Python writes it, whatever the spaces.
        owner: the name of the function around it, "" at the top level; of a function its own name.
        arguments: of a function, the names of its arguments.
    """

    line: int
    end: int
    text: str
    owner: str = ""
    arguments: tuple[str, ...] = ()


def statements_of(source: str) -> tuple[Statement, ...]:
    """Return the statements of a program in the order of its lines; none if it cannot be parsed.

    Imports, docstrings and `pass` compute nothing and are left out.
    """
    try:
        tree = ast.parse(source)
        return tuple(_statements(tree.body, ""))[:MOST_STATEMENTS]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def _statements(body: Sequence[ast.AST], owner: str) -> Iterator[Statement]:
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        inner = [child for name in BODIES for child in getattr(node, name, ())]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            names = tuple(item.arg for item in every)
            yield Statement(node.lineno, _end_of_head(node), _head(node), node.name, names)
            yield from _statements(node.body, node.name)
        elif inner:
            if isinstance(node, ast.stmt):
                yield Statement(node.lineno, _end_of_head(node), _head(node), owner)
            yield from _statements(inner, owner)
        elif isinstance(node, ast.stmt):
            yield Statement(node.lineno, node.end_lineno or node.lineno, ast.unparse(node)[:LONGEST_TEXT], owner)


def _end_of_head(node: ast.stmt) -> int:
    inner = [child.lineno for child in ast.walk(node) if isinstance(child, ast.stmt) and child is not node]
    return max(node.lineno, min(inner, default=node.lineno) - 1)


def _head(node: ast.stmt) -> str:
    decorators = len(getattr(node, "decorator_list", ()))
    return "\n".join(ast.unparse(node).split("\n")[: decorators + 1])[:LONGEST_TEXT]


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return code with other names; attributes and the names of arguments in calls stay as they are."""
    if not names:
        return text

    def other(match: re.Match[str]) -> str:
        rest = text[match.end() :]
        keyword = rest.startswith("=") and not rest.startswith("==")
        return match[0] if keyword else names.get(match[0], match[0])

    return NAME.sub(other, text)


def argument_names(theirs: Sequence[Statement], ours: Sequence[Statement]) -> dict[str, str]:
    """Return how they call the arguments of our functions: their name for an argument, and ours."""
    known = {item.owner: item.arguments for item in ours if item.arguments}
    return {
        one: other
        for item in theirs
        for one, other in zip(item.arguments, known.get(item.owner, ()), strict=False)
        if len(item.arguments) == len(known[item.owner])
    }


def aligned(theirs: Sequence[Statement], ours: Sequence[Statement], names: Mapping[str, str]) -> dict[int, int]:
    """Return which of their statements (an index) is which of ours, in the same order, with names exchanged."""
    return _in_common([renamed(item.text, names) for item in theirs], [item.text for item in ours])


def more_names(theirs: Sequence[Statement], ours: Sequence[Statement], names: Mapping[str, str]) -> dict[str, str]:
    """Return more of their names with ours, where statements differ in names alone that the other program lacks."""
    texts = [renamed(item.text, names) for item in theirs]
    words, known = ({word for text in side for word in NAME.findall(text)} for side in (texts, [i.text for i in ours]))
    found = dict(names)
    blanked = [NAME.sub(lambda match: match[0] if match[0] in known else "_", text) for text in texts]
    expected = [NAME.sub(lambda match: match[0] if match[0] in words else "_", item.text) for item in ours]
    for at, index in _in_common(blanked, expected).items():
        for one, other in zip(NAME.findall(texts[at]), NAME.findall(ours[index].text), strict=False):
            if one not in known and other not in words:
                found.setdefault(one, other)
    return found


def _in_common(one: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return {
        block.a + offset: block.b + offset for block in matcher.get_matching_blocks() for offset in range(block.size)
    }
