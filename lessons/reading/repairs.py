"""Repairs of a wrong answer: small edits of its syntax tree, each of which undoes one kind of mistake.

They know nothing about the exercise. One that makes an answer pass tells what was wrong with it.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from lessons.reading.repair_rules import EXPRESSION_RULES, STATEMENT_RULES, Scope

TEXTS = Path(__file__).parent.parent / "mistakes" / "repairs" / "kinds.yaml"
LONGEST_SOURCE = 20_000


@dataclass(frozen=True, slots=True)
class Repair:
    """An edit of an answer.

    Attributes:
        kind: the id of the kind of mistake that it undoes.
        line: the line of the answer that it edits.
        code: the answer after the edit, as Python writes it.
    """

    kind: str
    line: int
    code: str


@dataclass(frozen=True, slots=True)
class KindText:
    """What a learner is told about a kind of mistake: its name in a few words, and why it is one."""

    name: str
    why: str


@cache
def kind_texts() -> dict[str, KindText]:
    """Read the texts about all kinds of mistakes, by their ids. Raises `OSError` if the file is missing."""
    entries = yaml.safe_load(TEXTS.read_text(encoding="utf-8"))
    return {item["id"]: KindText(item["name"], " ".join(item["why"].split())) for item in entries}


def repairs(source: str, line: int | None, most: int) -> list[Repair]:
    """Return at most this many repairs of a program, those on a line first; none if it cannot be parsed.

    The others follow in the order of their distance from the line, without a line from the end.
    """
    if len(source) > LONGEST_SOURCE:
        return []
    try:
        found = list(_Edits(source).repairs())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    at = line if line is not None else source.count("\n") + 1
    return sorted(found, key=lambda repair: abs(repair.line - at))[:most]


class _Edits:
    """The edits of a program. Its tree is edited for each of them, written as code, and restored."""

    def __init__(self, source: str) -> None:
        self._tree = ast.parse(source)
        self._source = source.encode()
        lengths = (len(text) for text in self._source.split(b"\n"))
        self._starts = [0, *itertools.accumulate(length + 1 for length in lengths)]
        self._unchanged = ""
        self._statement: ast.stmt | None = None
        """The statement without a body that is being edited: only that is written anew, which is much faster."""

    def repairs(self) -> Iterator[Repair]:
        """Yield each edited program once. The first rule that makes an edit says what it means."""
        known = {ast.unparse(self._tree)}
        for kind, line, code in self._within(self._tree, Scope(self._tree)):
            if code not in known:
                known.add(code)
                yield Repair(kind, line, code)

    def _within(self, parent: ast.AST, scope: Scope) -> Iterator[tuple[str, int, str]]:
        if isinstance(parent, ast.FunctionDef | ast.ClassDef):
            scope = scope.within(parent)
        for name, value in ast.iter_fields(parent):
            if isinstance(value, list):
                for index, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        yield from self._of_node(item, scope, functools.partial(value.__setitem__, index))
                if value and isinstance(value[0], ast.stmt):
                    yield from self._of_block(value, scope)
            elif isinstance(value, ast.AST):
                yield from self._of_node(value, scope, functools.partial(setattr, parent, name))

    def _of_node(self, node: ast.AST, scope: Scope, put: Callable[[ast.AST], None]) -> Iterator[tuple[str, int, str]]:
        if isinstance(node, ast.stmt):
            self._statement = None if hasattr(node, "body") else node
            if self._statement is not None:
                self._unchanged = ast.unparse(node)
        if isinstance(node, ast.expr):
            for rule in EXPRESSION_RULES:
                for kind, new in rule(node, scope):
                    put(new)
                    code = self._code()
                    put(node)
                    if code is not None:
                        yield kind, node.lineno, code
        yield from self._within(node, scope)

    def _of_block(self, body: list[ast.stmt], scope: Scope) -> Iterator[tuple[str, int, str]]:
        before = list(body)
        for rule in STATEMENT_RULES:
            for kind, line, edited in rule(before, scope):
                body[:] = edited
                code = ast.unparse(self._tree)
                body[:] = before
                yield kind, line, code

    def _code(self) -> str | None:
        """Write the edited program; None if it is as before."""
        item = self._statement
        if item is None:
            return ast.unparse(self._tree)
        text = ast.unparse(item)
        if text == self._unchanged:
            return None
        start = self._starts[item.lineno - 1] + item.col_offset
        end = self._starts[(item.end_lineno or item.lineno) - 1] + (item.end_col_offset or 0)
        return (self._source[:start] + text.encode() + self._source[end:]).decode()
