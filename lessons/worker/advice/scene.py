"""The scene of an exception: the code that raised it, the values of its names, and the operation that failed."""

from __future__ import annotations

import ast
import builtins
import difflib
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice import shape_effects
from attn_tutor.lessons.worker.advice.safe_reading import (
    UNKNOWN,
    Module,
    TensorInfo,
    attribute,
    is_a,
    is_exactly,
    item,
    message_of,
    tensor_info,
    type_name,
)
from attn_tutor.lessons.worker.advice.shape_effects import is_torch

say = Wording("advice/scene")

_trace: Callable[[BaseException], TracebackType | None] = BaseException.__dict__["__traceback__"].__get__
_parse, _nearest = ast.parse, difflib.get_close_matches

LONGEST_CODE = 48
LONGEST_SOURCE = 200_000
LARGEST = 10**6
"""The largest operand of arithmetic that is evaluated: larger numbers could take any amount of time."""

BUILTINS = dict(vars(builtins))

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda

ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class Scene:
    """The scene of an exception in the code of one file.

    Attributes:
        error, text: the exception and its message.
        frame, line: the innermost call of code of this file on the way to it, and its line; None if there is none.
        last: the innermost call of any code.
        tree: the whole file; empty if it cannot be parsed.
        node: the piece of code that was being run, if Python kept its columns.
    """

    def __init__(self, error: BaseException, text: str, filename: str, source: str) -> None:
        self.error = error
        self.text = text
        self.filename = filename
        self.source = source
        self.frame: FrameType | None = None
        self.last: FrameType | None = None
        self.line: int | None = None
        found: TracebackType | None = None
        trace = _trace(error)
        while trace is not None:
            self.last = trace.tb_frame
            if trace.tb_frame.f_code.co_filename == filename:
                found = trace
            trace = trace.tb_next
        if found is not None:
            self.frame, self.line = found.tb_frame, found.tb_lineno
        try:
            self.tree = _parse(source if len(source) <= LONGEST_SOURCE else "")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.tree = ast.Module([], [])
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self.node = self._node(found)

    # Code -------------------------------------------------------------------------------------------------------------

    def _node(self, trace: TracebackType | None) -> ast.AST | None:
        """Find the piece of code that was running, by the columns that Python records for each instruction."""
        positions = getattr(trace.tb_frame.f_code, "co_positions", None) if trace is not None else None
        if trace is None or positions is None:
            return None
        span = next(itertools.islice(positions(), trace.tb_lasti // 2, None), None)
        if span is None or None in span:
            return None
        line, end, column, last = span
        found = None
        for node in ast.walk(self.tree):
            if isinstance(node, ast.expr | ast.stmt) and (
                (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) == (line, end, column, last)
            ):
                found = node
        return found

    @property
    def statement(self) -> ast.stmt | None:
        """The innermost statement of the line, or None."""
        node = self.node
        while node is not None and not isinstance(node, ast.stmt):
            node = self.parents.get(node)
        if node is not None or self.line is None:
            return node if isinstance(node, ast.stmt) else None
        around = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.stmt) and node.lineno <= self.line <= (node.end_lineno or node.lineno)
        ]
        return around[-1] if around else None

    def find(self, *kinds: type[ast.AST]) -> list[Any]:
        """Return the nodes that may have raised: the exact one if it is known, else all of the statement."""
        if self.node is not None:
            return [self.node] if isinstance(self.node, kinds) else []
        statement = self.statement
        return [] if statement is None else [node for node in ast.walk(statement) if isinstance(node, kinds)]

    def code(self, node: ast.AST | None) -> str:
        """Return the text of a node on one line, or "" if it is longer than `LONGEST_CODE`."""
        if node is None:
            return ""
        text = " ".join((ast.get_source_segment(self.source, node) or "").split())
        return text if len(text) <= LONGEST_CODE else ""

    def enclosing(self, *kinds: type[ast.AST]) -> Any:
        """Return the innermost node of these kinds around the line, or None."""
        node: ast.AST | None = self.statement
        while node is not None and not isinstance(node, kinds):
            node = self.parents.get(node)
        return node

    def nodes(self, *kinds: type[ast.AST]) -> Iterator[Any]:
        """Yield all nodes of the file that are of these kinds."""
        return (node for node in ast.walk(self.tree) if isinstance(node, kinds))

    # Values -----------------------------------------------------------------------------------------------------------

    def scopes(self) -> Iterator[dict[str, Any]]:
        """Yield the names that the code can use, nearest scope first; without a frame, those of its caller."""
        frame = self.frame or self.last
        if frame is not None:
            for names in (frame.f_locals, frame.f_globals):
                if type(names) is dict:
                    yield names
        yield BUILTINS

    def name(self, name: str) -> Any:
        """Return the value of a name, or `UNKNOWN`."""
        return next((names[name] for names in self.scopes() if name in names), UNKNOWN)

    def value(self, node: ast.AST | None) -> Any:
        """Evaluate an expression as far as that is possible without running it; else return `UNKNOWN`."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self.name(node.id)
            case ast.Attribute():
                return attribute(self.value(node.value), node.attr)
            case ast.Tuple() | ast.List():
                held = [self.value(one) for one in node.elts if not isinstance(one, ast.Starred)]
                whole = len(held) == len(node.elts)
                return (tuple(held) if isinstance(node, ast.Tuple) else held) if whole else UNKNOWN
            case ast.Slice():
                ends = [None if part is None else self.value(part) for part in (node.lower, node.upper, node.step)]
                return slice(*ends) if all(end is None or type(end) is int for end in ends) else UNKNOWN
            case ast.Subscript():
                return item(self.value(node.value), self.value(node.slice))
            case ast.UnaryOp():
                return self._unary(node.op, self.value(node.operand))
            case ast.BinOp():
                return shape_effects.result_of_operator(
                    node.op, self.value(node.left), self.value(node.right)
                ) or self._number(node)
            case ast.Compare() if len(node.comparators) == 1:
                return (
                    shape_effects.result_of_operator(ast.Add(), self.value(node.left), self.value(node.comparators[0]))
                    or UNKNOWN
                )
            case ast.Call():
                return self._call(node)
        return UNKNOWN

    def tensor_info(self, node: ast.AST | None) -> TensorInfo | None:
        """Return the shape and dtype of the tensor that an expression evaluates to, or None."""
        return tensor_info(self.value(node))

    def _unary(self, op: ast.unaryop, value: Any) -> Any:
        tensor = tensor_info(value)
        if tensor is not None:
            return tensor
        return -value if isinstance(op, ast.USub) and is_exactly(value, int, float) else UNKNOWN

    def _number(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        how = ARITHMETIC.get(type(node.op))
        small = all(is_exactly(one, int, float) and -LARGEST <= one <= LARGEST for one in (left, right))
        if how is None or not small or (isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod) and not right):
            return UNKNOWN
        return how(left, right)

    def _call(self, node: ast.Call) -> Any:
        """Evaluate a call of a layer or of a method of a tensor by its effect on the shape."""
        if any(isinstance(one, ast.Starred) for one in node.args):
            return UNKNOWN
        given = [self.value(one) for one in node.args]
        named = {word.arg: self.value(word.value) for word in node.keywords if word.arg}
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            tensor = tensor_info(owner)
            if tensor is not None:
                return shape_effects.result_of_method(node.func.attr, tensor, given, named)
            if (
                shape_effects.is_torch(owner)
                and (fresh := shape_effects.result_of_constructor(node.func.attr, given, named)) is not None
            ):
                return fresh
            if shape_effects.is_torch(owner) and given:
                first = tensor_info(given[0])
                return (
                    shape_effects.result_of_method(node.func.attr, first, given[1:], named)
                    if first is not None
                    else UNKNOWN
                )
        return shape_effects.result_of_layer(self.value(node.func), given)

    # Words ------------------------------------------------------------------------------------------------------------

    def quote(self, node: ast.AST | None, other: str = "") -> str:
        """Quote the code of a node for a sentence; `other`, or else "the tensor", if it is too long."""
        code = self.code(node)
        return f"`{code}`" if code else other or say("the-tensor", "the tensor")

    def describe(self, node: ast.AST | None) -> str | None:
        """Describe a tensor by code and shape, as in "`queries` is 6x3"; None if it is no tensor."""
        tensor = self.tensor_info(node)
        return None if tensor is None else say("is", "{code} is {size}", code=self.quote(node), size=size(tensor.shape))


def size(shape: Iterable[int]) -> str:
    """Write a shape as people say it, such as `6x3`."""
    sizes = [str(length) for length in shape]
    if len(sizes) < 2:
        return (
            say("vector", "a vector of {value}", value=sizes[0]) if sizes else say("single-number", "a single number")
        )
    return "x".join(sizes)


def nearest(name: str, names: Iterable[object], cutoff: float = 0.7) -> str | None:
    """Return the name that is most similar to a misspelled one, or None."""
    fit = [one for one in names if type(one) is str and one != name and (not one.startswith("_") or name[:1] == "_")]
    folded = [one for one in fit if one.casefold().replace("_", "") == name.casefold().replace("_", "")]
    if len(name) < 3:
        return next(iter(folded), None)
    return next(iter(folded or _nearest(name, fit, 1, cutoff)), None)


def name_of(node: ast.keyword | ast.alias, name: str) -> ast.Name:
    """Return the name that an argument or an import begins with, as a node of its own."""
    end = node.col_offset + len(name.encode())
    return ast.Name(
        name, ast.Load(), lineno=node.lineno, col_offset=node.col_offset, end_lineno=node.lineno, end_col_offset=end
    )


def operand(node: ast.AST, code: str) -> str:
    """Return the code of a node so that `.T` or an operator can follow, in parentheses where it needs them."""
    bare = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant | ast.List)
    bare = bare or (isinstance(node, ast.Tuple) and code.startswith("("))
    return code if bare else f"({code})"


SYNONYMS = {"matmul": "@", "mm": "@", "bmm": "@", "mv": "@", "dot": "@", "concat": "cat", "concatenate": "cat"}
OPERATORS: dict[type[ast.operator], str] = {
    ast.MatMult: "@",
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
}


def failed_operation(error: BaseException, filename: str, source: str) -> str:
    """Describe the operation that raised an exception: its name and the shapes of its operands, such as `@ 6x3 6x3`.

    The operation is that of the innermost line of the file `filename`. An operand whose shape cannot be read without
    running code is `?`. Returns an empty text if the operation is not known. Never raises.
    """
    try:
        scene = Scene(error, message_of(error), filename, source)
        name, operands = _name_and_operands(scene)
        return " ".join([name, *(_shape_text(scene, node) for node in operands)]) if name else ""
    except Exception:
        return ""


def may_be_same_operation(one: str, other: str) -> bool:
    """Return whether two descriptions may be of the same operation; what is not known may be anything."""
    if not one or not other:
        return True
    first, second = one.split(" "), other.split(" ")
    if len(first) != len(second):
        return False
    return first[0] == second[0] and all(
        mine == theirs or "?" in (mine, theirs) for mine, theirs in zip(first[1:], second[1:], strict=True)
    )


def _name_and_operands(scene: Scene) -> tuple[str, list[ast.expr]]:
    """Return the name of the operation and its operands."""
    match scene.node:
        case ast.BinOp() as node:
            return OPERATORS.get(type(node.op), type(node.op).__name__), [node.left, node.right]
        case ast.AugAssign() as node:
            return OPERATORS.get(type(node.op), type(node.op).__name__), [node.target, node.value]
        case ast.Call() as node:
            return _called_operation(scene, node)
    return "", []


def _called_operation(scene: Scene, node: ast.Call) -> tuple[str, list[ast.expr]]:
    called: Any = scene.value(node.func)
    if called is not UNKNOWN and is_a(called, Module):
        return type_name(called), list(node.args)
    operands = [item for item in node.args if scene.tensor_info(item) is not None]
    if not isinstance(node.func, ast.Attribute):
        return "", []
    if not is_torch(scene.value(node.func.value)):
        operands.insert(0, node.func.value)
    return SYNONYMS.get(node.func.attr, node.func.attr), operands


def _shape_text(scene: Scene, node: ast.expr) -> str:
    info = scene.tensor_info(node)
    return "?" if info is None else "x".join(map(str, info.shape)) or "number"
