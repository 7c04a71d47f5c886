"""The kinds of repairs: what an edit of a program does, and what a learner is told about it."""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import yaml

from attn_tutor.lessons.reading.code_differences import CodeDifference
from attn_tutor.lessons.reading.operations import name_of
from attn_tutor.lessons.texts import translations
from attn_tutor.lessons.texts.wording import Wording

say = Wording("reading/repairs")

TEXTS = Path(__file__).parent.parent / "mistakes" / "repairs" / "kinds.yaml"
GROUP = "repairs"
"""The texts of this group are those of `TEXTS`: `repairs/axis/name`."""

LONGEST = 60
ELSEWHERE = ast.Name("…", ast.Load())
"""What stands for a part of an expression that is not meant."""

AXES = ("dim", "axis")
ON_AXES = frozenset(
    {
        *("softmax", "log_softmax", "sum", "mean", "max", "min", "amax", "amin", "argmax", "std", "cumsum", "cat"),
        *("stack", "unbind", "transpose", "permute", "unsqueeze", "squeeze", "size", "flatten", "flip"),
    }
)
"""Functions and methods of torch of which all whole numbers without a name are axes."""

TURNING = ("transpose", "swapaxes", "t", "T", "mT")
LIBRARIES = frozenset(("torch", "math", "F", "nn", "self", "np"))
BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class KindText:
    """What a learner is told about a kind of repair: a name, and a sentence with `{code}` and `{outcome}` in it."""

    name: str
    why: str


@cache
def kind_texts() -> dict[str, KindText]:
    """Read the texts about all kinds, by their ids. Raises `OSError` if the file is missing."""
    entries = yaml.safe_load(TEXTS.read_text(encoding="utf-8"))
    return {item["id"]: KindText(item["name"], " ".join(item["why"].split())) for item in entries}


def kind_text(kind: str) -> KindText:
    """Return the text about a kind in the learner's language. Raises `OSError` if the file is missing."""
    text, into = kind_texts()[kind], translations.current()
    name = into.find(GROUP, f"{GROUP}/{kind}/name", text.name)
    why = into.find(GROUP, f"{GROUP}/{kind}/why", text.why)
    # A translation that cannot say which code it is about, or what came of it, is not used.
    same = why and all(why.count(each) == text.why.count(each) for each in ("{code}", "{outcome}"))
    return KindText(name or text.name, why if why and same else text.why)


Outcome = Literal["passes", "passes-together", "passes-with-others", "leaves", "helps", "helps-together"]


def outcome_of(count: int, *, helps: bool = False) -> Outcome:
    """Return what comes of each of so many edits, with which together an answer passes, or, if it `helps`, a check."""
    if helps:
        return "helps" if count == 1 else "helps-together"
    return "passes" if count == 1 else "passes-together" if count == 2 else "passes-with-others"


def outcome(what: Outcome, check: str = "") -> str:
    """Say what comes of an edit: the answer passes, with it alone or with others; or one of the checks does."""
    texts = {
        "passes": say("passes", "every check passes"),
        "passes-together": say("passes-together", "every check passes once the other mistake is put right"),
        "passes-with-others": say("passes-with-others", "every check passes once the other mistakes are put right"),
        "leaves": say("leaves", "your answer gives what the other mistake named here gives by itself"),
        "helps": say("helps", '"{check}" passes, and something else is still wrong', check=check),
        "helps-together": say(
            "helps-together",
            '"{check}" passes once the other mistakes named here are put right, and something else is still wrong',
            check=check,
        ),
    }
    return texts[what]


def together(codes: Sequence[str], lines: Sequence[int]) -> str:
    """Say of what a sentence about one of several places is said: of all of them, each with its code and its line."""
    if len(codes) == len(lines):
        what = say("lines", "lines {lines}", lines=_listed([*map(str, lines)]))
    elif len({*codes}) == len(codes):
        what = _listed([f"`{code}`" for code in codes])
    else:
        what = say("places", "{count} places", count=len(codes))
    return say("together", "This is said of {what} together.", what=what)


def _listed(items: Sequence[str]) -> str:
    return say("and", "{first} and {last}", first=", ".join(items[:-1]), last=items[-1])


LAST = frozenset(("expression", "statement", "other-target"))
"""Kinds that say no more than where a mistake is."""

ADDING = LAST | {"too-little", "transpose-missing", "not-copied"}
"""Kinds that may compute more than what they replace."""

LEAVING = frozenset(("too-much", "values-extra", "argument-extra", "other-name", "other-attribute"))
"""Kinds that no longer read something, because that is the mistake."""


def kind_of(difference: CodeDifference) -> tuple[str, str]:
    """Return the kind of a repair, and the code that the sentence about it is about."""
    if len(difference.theirs) == len(difference.ours) == 1:
        one, other = difference.theirs[0], difference.ours[0]
        if isinstance(one, ast.expr) and isinstance(other, ast.expr):
            kind, node = next(_kinds(one, other, difference.around))
            return kind, shortened(ast.unparse(node))
        return _of_statement(one, other), ""
    if difference.theirs:
        return "statement-extra", ""
    return "return-missing" if isinstance(difference.ours[0], ast.Return) else "statement-missing", ""


def shortened(code: str) -> str:
    """Return code in one line that is not too long for a sentence."""
    line = " ".join(code.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _of_statement(one: ast.AST, other: ast.AST) -> str:
    if not isinstance(one, ast.Expr) or not isinstance(other, ast.Assign | ast.Return) or other.value is None:
        return "statement"
    if not _same(one.value, other.value):
        return "statement"
    return "result-not-kept" if isinstance(other, ast.Assign) else "result-not-returned"


def _same(one: ast.AST, other: ast.AST) -> bool:
    return ast.unparse(one) == ast.unparse(other)


def _kinds(one: ast.expr, other: ast.expr, around: Sequence[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Yield the kinds that fit an expression and what should be in its place, the most telling one first."""
    if isinstance(one, ast.Constant) and one.value is Ellipsis:
        yield "gap", one
    yield from _of_node_around(one, other, around)
    yield from _of_containing(one, other)
    if isinstance(one, ast.BinOp | ast.Compare) and type(one) is type(other):
        yield from _of_operator(one, other)
    if _without_brackets(one) == _without_brackets(other):
        yield "brackets", one
    if isinstance(one, ast.Tuple) and isinstance(other, ast.Tuple) and _sorted(one.elts) == _sorted(other.elts):
        yield "order", one
    if isinstance(one, ast.Call) and isinstance(other, ast.Call) and _same(one.func, other.func):
        yield _of_arguments(one, other), one
    if isinstance(one, ast.Subscript) and isinstance(other, ast.Subscript) and _same(one.value, other.value):
        yield "index", one
    if isinstance(one, ast.Name) and isinstance(other, ast.Name):
        yield "other-name" if isinstance(one.ctx, ast.Load) else "other-target", one
    if isinstance(one, ast.Name) and ast.unparse(other) == f"self.{one.id}":
        yield "self-missing", one
    if isinstance(one, ast.Attribute) and isinstance(other, ast.Attribute) and _same(one.value, other.value):
        yield "other-attribute", one
    if _is_value(one):
        used = {item.id for item in ast.walk(other) if isinstance(item, ast.Name)}
        yield "fixed-value" if used - LIBRARIES - BUILTINS else "other-value", one
    yield "expression", one


def _of_node_around(one: ast.expr, other: ast.expr, around: Sequence[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Yield the kinds that what is around an expression tells: it is an axis, an index, or what is called."""
    parents = [item for item in reversed(around) if not isinstance(item, ast.keyword | ast.Tuple | ast.Slice)]
    parent = parents[0] if parents else None
    if isinstance(parent, ast.Call):
        if parent.func is one and name_of(one) and name_of(other) and _receiver(one) == _receiver(other):
            yield "other-function", one
        word = around[-1]
        if (
            (word.arg in AXES if isinstance(word, ast.keyword) else _takes_axes(parent))
            and _is_integer(one)
            and _is_integer(other)
        ):
            yield "axis", parent
    if isinstance(parent, ast.Subscript) and parent.value is not one:
        yield "index", parent


def _of_containing(one: ast.expr, other: ast.expr) -> Iterator[tuple[str, ast.AST]]:
    """Yield the kinds of an expression that is a part of what it should be, or the other way round."""
    for whole, part in ((one, other), (other, one)):
        if isinstance(whole, ast.UnaryOp) and _same(whole.operand, part):
            yield "opposite", one
    if isinstance(one, ast.Constant) or isinstance(other, ast.Constant):
        return
    if (rest := _around(one, other)) is not None:
        if _turns(one, other):
            yield "transpose-extra", one
        yield "values-extra" if isinstance(one, ast.Tuple) else "too-much", rest
    if _around(other, one) is not None:
        if _turns(other, one):
            yield "transpose-missing", one
        yield "values-missing" if isinstance(other, ast.Tuple) else "too-little", one


def _of_operator(one: ast.expr, other: ast.expr) -> Iterator[tuple[str, ast.AST]]:
    """Yield the kinds of a binary operation or a comparison in place of which another one should be."""
    if isinstance(one, ast.Compare) and isinstance(other, ast.Compare):
        if [*map(ast.unparse, (one.left, *one.comparators))] == [*map(ast.unparse, (other.left, *other.comparators))]:
            yield "operator", one
    elif isinstance(one, ast.BinOp) and isinstance(other, ast.BinOp):
        if _same(one.left, other.left) and _same(one.right, other.right):
            is_product = isinstance(one.op, ast.Mult) and isinstance(other.op, ast.MatMult)
            yield "place-by-place" if is_product else "operator", one
        if type(one.op) is type(other.op) and _same(one.left, other.right) and _same(one.right, other.left):
            yield "sides-exchanged", one


def _around(whole: ast.expr, part: ast.expr) -> ast.expr | None:
    """Return an expression with `ELSEWHERE` in place of a part of it; None if it does not contain the part once."""
    wanted = ast.dump(part)

    class Leave(ast.NodeTransformer):
        found = 0

        def visit(self, node: ast.AST) -> ast.AST:
            if isinstance(node, ast.expr) and ast.dump(node) == wanted:
                self.found += 1
                return ELSEWHERE
            return self.generic_visit(node)

    leave = Leave()
    rest = leave.visit(copy.deepcopy(whole))
    return rest if leave.found == 1 and isinstance(rest, ast.expr) and rest is not ELSEWHERE else None


def _turns(whole: ast.expr, part: ast.expr) -> bool:
    """Return whether an expression is a transposition of a part of it, and nothing else."""
    func = whole.func if isinstance(whole, ast.Call) else whole
    return isinstance(func, ast.Attribute) and func.attr in TURNING and _same(func.value, part)


def _sorted(nodes: Sequence[ast.AST]) -> list[str]:
    return sorted(map(ast.dump, nodes))


def _without_brackets(node: ast.expr) -> str:
    return re.sub(r"[()\s]", "", ast.unparse(node))


def _of_arguments(one: ast.Call, other: ast.Call) -> str:
    """Return how the arguments of two calls of the same function differ."""
    if _differ_in_axes(one, other):
        return "axis"
    theirs, ours = (
        [*(("", ast.dump(item)) for item in call.args), *((word.arg, ast.dump(word.value)) for word in call.keywords)]
        for call in (one, other)
    )
    if set(theirs) < set(ours):
        return "argument-missing"
    if set(theirs) > set(ours):
        return "argument-extra"
    return "order" if sorted(map(str, theirs)) == sorted(map(str, ours)) else "arguments"


def _differ_in_axes(one: ast.Call, other: ast.Call) -> bool:
    if not _takes_axes(one) or len(one.args) != len(other.args) or one.keywords or other.keywords:
        return False
    differing = [pair for pair in zip(one.args, other.args, strict=True) if not _same(*pair)]
    return all(_is_integer(item) for pair in differing for item in pair)


def _takes_axes(call: ast.Call) -> bool:
    # Python has functions of the same names.
    return isinstance(call.func, ast.Attribute) and call.func.attr in ON_AXES


def _receiver(func: ast.expr) -> str:
    """Return what a function is taken from; "" for a function of a library."""
    code = ast.unparse(func.value) if isinstance(func, ast.Attribute) else ""
    return "" if code.split(".")[0] in LIBRARIES - {"self"} else code


def _is_integer(node: ast.AST) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_value(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_value(node.operand)
    return isinstance(node, ast.Constant)
