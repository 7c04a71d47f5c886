"""The literals of a program of one's own as knobs: each number, truth value and text in its source."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from attn_tutor.lessons.format.knobs.literal import LiteralKnob
from attn_tutor.lessons.texts.wording import Wording

say = Wording("change/literals")

ASIDES = frozenset(("add_argument()", "description", "epilog", "help", "metavar", "print()", "usage"))
"""What a text is given to that computes nothing: functions and arguments of argparse, and what prints."""

LONGEST = 24
"""Characters of the code that stands for what a literal belongs to."""


def knobs_of(
    code: str, within: Sequence[str], file: str = "", owners: Mapping[str, Sequence[str]] | None = None, *,
    main: bool = True,
) -> tuple[LiteralKnob, ...]:  # fmt: skip
    """Return a knob for each literal of a source, in order; none if it is not Python.

    `within` are the parts of the lesson that have this source, and `owners` those which are about a function or class
    outside of all others, by its name. Docstrings and parts of f-strings are left out, and so are, unless this is the
    `main` file, which decides what the program does, the literals of functions that no part is about.
    """
    try:
        tree = ast.parse(code)
        functions = list(_functions(tree.body, ""))
        every = sorted(_literals(tree, ""), key=lambda pair: (pair[0].lineno, pair[0].col_offset))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # A chain of some hundred branches is no trouble to Python, which looks at them one by one.
        return ()
    lines = code.encode("utf-8", "surrogatepass").split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    text = b"\n".join(lines)

    def offset(line: int, column: int) -> int:
        return len(text[: starts[line - 1] + column].decode("utf-8", "surrogatepass"))

    owners, spans = owners or {}, functions

    def near(line: int) -> Sequence[str] | None:
        """Return the parts that a line is near to; None if it is in a function that no part is about."""
        owner = next((owner for first, last, owner in spans if first <= line <= last), "")
        return owners.get(owner) if owner else () if main else within

    found: list[LiteralKnob] = []
    same = Counter((name, node.lineno) for node, name in every)
    numbers = Counter[tuple[str, int]]()
    for node, name in every:
        numbers[key := (name, node.lineno)] += 1
        # Those of one list, or of one call, are told apart.
        what = f"{name} {numbers[key]}" if same[key] > 1 and name else name
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        where = say("line", "line {line}", line=node.lineno)
        beside = near(node.lineno)
        if beside is None and not main:
            continue
        found.append(
            LiteralKnob.model_construct(
                name=f"{'' if main else f'{file} '}line-{node.lineno}-{node.col_offset}",
                label=f"{what}, {where}" if what else where,
                within=tuple(within),
                kind="literal",
                start=offset(node.lineno, node.col_offset),
                end=offset(end_line, end_column),
                value=node.value,
                file=file,
                near=tuple(beside or ()),
                everywhere=main,
                aside=isinstance(node.value, str) and name in ASIDES,
            )
        )
    return tuple(found)


def _functions(body: Sequence[ast.stmt], owner: str) -> Iterator[tuple[int, int, str]]:
    """Yield the first and the last line of each function, with the definition outside of all others that it is in."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            yield first, node.end_lineno or node.lineno, owner or node.name
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, owner or node.name)
        else:
            for inner in ("body", "orelse", "finalbody"):
                yield from _functions(getattr(node, inner, ()), owner)


def _literals(node: ast.AST, name: str) -> Iterator[tuple[ast.Constant, str]]:
    """Yield the literals below a node, each with what the code calls it, or what it is given to."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str()):
            yield node, name
            return
        case ast.JoinedStr() | ast.Expr(value=ast.Constant()):
            return
        case ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            name = _short(target)
        case ast.keyword(arg=str(arg)):
            name = arg
        case ast.Call(func=ast.Attribute(attr="add_argument"), args=[ast.Constant(value=str(option)), *_]):
            # What is given for an option is called after it.
            given = [each for each in node.keywords if each.arg == "default"]
            for each in given:
                yield from _literals(each.value, option)
            for child in (node.func, *node.args, *(each for each in node.keywords if each not in given)):
                yield from _literals(child, "add_argument()")
            return
        case ast.Call(func=function):
            name = f"{_short(function)}()"
        case ast.Subscript(value=value):
            name = f"{_short(value)}[]"
        case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments) | ast.Lambda(args=arguments):
            yield from _defaults(arguments)
            body = node.body if isinstance(node.body, list) else [node.body]
            for item in (*getattr(node, "decorator_list", ()), *body):
                yield from _literals(item, "")
            return
        case ast.stmt():
            name = ""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.match_case):
            yield from _literals(child, name)


def _defaults(arguments: ast.arguments) -> Iterator[tuple[ast.Constant, str]]:
    """Yield the literals among the defaults of a function, by the names of its parameters."""
    positional = [*arguments.posonlyargs, *arguments.args]
    given = positional[len(positional) - len(arguments.defaults) :]
    for parameter, default in (
        *zip(given, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ):
        if default is not None:
            yield from _literals(default, parameter.arg)


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
