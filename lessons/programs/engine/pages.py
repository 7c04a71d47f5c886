"""A program of one's own as a lesson: its named tensors in steps, each with the source that names them.

Tensors that belong to the same module stand on the same page. The literals of the program, each number, truth value and
text in its source, are knobs.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from attn_tutor.lessons.format.fields import Name, OptionalName
from attn_tutor.lessons.format.knobs import LiteralKnob
from attn_tutor.lessons.format.lesson import Lesson, RunStep, ShownTensor
from attn_tutor.lessons.programs.results.program_result import Named, ProgramResult
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.line_shapes import LineShapes, Shape
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/program")


class Page(RunStep):
    """A step that shows tensors of a program.

    Attributes:
        calls: how often the function has run that it is about, if it is about one.
    """

    is_page: ClassVar[bool] = True
    noun: ClassVar[str] = "page"
    calls: int = 1

    @property
    def function_calls(self) -> int:
        """How often the function has run that the page is about."""
        return self.calls


class LessonOfPages(Lesson):
    """A program, or a file of tensors, in the place of a lesson; its title is the name of its file.

    Attributes:
        variables: the variables of functions, and the items of lists, by their labels: the function, what it calls
            them, and the line of its last call that named them.
    """

    variables: dict[Name, tuple[OptionalName, Name, int | None]] = {}

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.title

    def parts_until(self, part: str) -> tuple[tuple[str, str], ...]:
        """Return the source that a page shows: a program runs as a whole, and each page has all of its file."""
        step = self.step(part)
        return ((part, step.run_code),) if step.runs else ()

    def variable(self, name: str) -> tuple[str, str, int | None] | None:
        """Return the function of a variable ("" for none), its name there, and its line; None for a plain name."""
        return self.variables.get(name)


@dataclass(frozen=True, slots=True)
class TensorGroup:
    """Tensors that stand on one page: variables of the program, of one function, or parameters.

    Attributes:
        title: the function, file, or module; "" for the program itself.
        file: the file whose source stands beside them.
        module: the module that has all of them, if they are parameters; "" if there is none.
    """

    title: str
    file: str
    items: tuple[Named, ...]
    module: str = ""

    @property
    def scope(self) -> str:
        """The function whose variables they are; "" for the program's own."""
        return self.items[0].scope if self.items else ""

    @property
    def is_of_parameters(self) -> bool:
        """Whether they are parameters and buffers."""
        return bool(self.items) and self.items[0].kind == "parameter"

    def called(self, item: Named) -> str:
        """Return what a tensor of the group is called beside its title."""
        return item.name if item.scope else item.label.removeprefix(f"{self.module}.")


def groups_of(named: Sequence[Named]) -> Iterator[TensorGroup]:
    """Divide the named tensors of a program into groups of at most `TOGETHER`."""
    for (kind, scope, file), items in itertools.groupby(named, key=_family):
        if kind == "parameter":
            left = list(items)
            for module, names in grouped_by_module([item.label for item in left]):
                title = module or say("parameters", "parameters")
                yield TensorGroup(title, file, tuple(left[: len(names)]), module)
                del left[: len(names)]
            continue
        while chunk := tuple(itertools.islice(items, TOGETHER)):
            yield TensorGroup(scope, file, chunk)


def _family(item: Named) -> tuple[str, str, str]:
    return item.kind, item.scope, item.file if item.kind == "local" else PROGRAM.filename


def lesson_of(
    name: str, code: str, named: Sequence[Named], about: str, sources: Mapping[str, str] | None = None
) -> Lesson:
    """Return a program as a lesson, whose first step says `about` it; the code need not be Python.

    `sources` has the other files by the names that `Named.file` gives them.
    """
    groups = list(groups_of(named)) or [TensorGroup("", PROGRAM.filename, ())]
    steps: list[Page] = []
    pages: dict[str, list[str]] = {}
    owners: dict[str, dict[str, list[str]]] = {}
    for number, group in enumerate(groups, 1):
        source = code if group.file == PROGRAM.filename else (sources or {}).get(group.file, "")
        step = f"page-{number}"
        pages.setdefault(group.file, []).append(step)
        owners.setdefault(group.file, {}).setdefault(group.scope.partition(".")[0], []).append(step)
        parts = ", ".join(group.called(item) for item in group.items)
        steps.append(
            Page.model_construct(
                kind="run",
                id=step,
                title=": ".join(filter(None, (_called(group), parts))) or name,
                prose=escaped("\n\n".join(filter(None, (about if number == 1 else "", *_places(group, name))))),
                code=source,
                show=tuple(map(_spec, group.items)),
                calls=max((item.count for item in group.items if item.call), default=1),
            )
        )
    plain = {"kind": "read", "id": "page", "title": name, "prose": name}
    data = {"id": "program", "number": 0, "folder": "", "title": name, "goal": name, "steps": [plain]}
    knobs: list[LiteralKnob] = []
    for file, found in sorted(pages.items(), key=lambda pair: pair[0] != PROGRAM.filename):
        main = file == PROGRAM.filename
        source, title = (code, name) if main else ((sources or {}).get(file, ""), file)
        knobs += literal_knobs_of(source, found, title, owners[file], main=main)
    items = [item for group in groups for item in group.items if item.scope or item.label.endswith("]")]
    variables = {item.label: (item.scope, item.name, item.line) for item in items}
    made = {"steps": tuple(steps), "knobs": tuple(knobs), "variables": variables}
    return LessonOfPages.model_validate(data).model_copy(update=made)


def in_parts(name: str) -> str:
    """Say what the numbers of a complex tensor are."""
    return say("complex", "{name} is complex: its last axis has the real and the imaginary part.", name=name)


def _spec(item: Named) -> ShownTensor:
    return ShownTensor.model_construct(
        name=item.label, kind="mask" if item.dtype == "bool" else "vector", expr=item.label
    )


def _places(group: TensorGroup, name: str) -> Iterator[str]:
    """Yield a sentence that says where the tensors of a group stand, and how often their code has run."""
    first = next(iter(group.items), None)
    if first is None:
        return
    file = name if group.file == PROGRAM.filename else group.file
    if first.kind == "local":
        calls = max(item.count for item in group.items)
        if 0 < first.call < calls:
            yield _call(first, file)
            return
        yield say.count(
            "of-function",
            calls,
            "`{scope}` in {file} has run once. This is what its variables held when it returned.",
            "`{scope}` in {file} has run {count} times. This is what its variables held when it last returned.",
            scope=first.scope,
            file=file,
        )


def _call(item: Named, file: str) -> str:
    """Say which call of a function a page shows, and of which module."""
    about = {"scope": item.scope, "file": file, "count": item.count, "call": item.call}
    if item.module:
        return say(
            "call-of-module",
            "`{scope}` in {file} has run {count} times. This is what its variables held when call {call} returned, "
            "that of `{module}`.",
            **about,
            module=item.module,
        )
    return say(
        "call",
        "`{scope}` in {file} has run {count} times. This is what its variables held when call {call} returned.",
        **about,
    )


def _called(group: TensorGroup) -> str:
    """Return the title of a group, with the call that it shows if that is not the last one."""
    first = next(iter(group.items), None)
    if first is None or not 0 < first.call < first.count:
        return group.title
    about = {"title": group.title, "call": first.call, "count": first.count}
    if first.module:
        return say("title-of-module", "{title}, call {call} of {count}, {module}", **about, module=first.module)
    return say("title-of-call", "{title}, call {call} of {count}", **about)


def escaped(text: str) -> str:
    """Return a text as a template without fields."""
    return text.replace("{", "{{").replace("}", "}}")


def shapes_of(result: ProgramResult, file: str) -> tuple[LineShapes, ...]:
    """Return the shapes beside a source: those of statements of the program, and of variables of functions."""
    lines = {each.line: each for each in result.shapes} if file == PROGRAM.filename else {}
    made: dict[int, dict[str, tuple[int, ...]]] = {}
    for where, line, name, shape in result.inner:
        if where == file:
            made.setdefault(line, {})[name] = shape
    for item in result.named:
        # What is unpacked, or returned by another function of the program.
        if item.kind == "local" and item.file == file and item.line is not None:
            made.setdefault(item.line, {}).setdefault(item.name, item.shape)
    for line, shapes in made.items():
        if line not in lines:
            found = (Shape(name, shape, ("",) * len(shape)) for name, shape in shapes.items())
            lines[line] = LineShapes(line, made=tuple(found))
    return tuple(each for _, each in sorted(lines.items()))


TOGETHER = 4
"""Tensors that one page shows."""


def grouped_by_module(names: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Divide names into groups of at most `TOGETHER`, in order, each with the module that all of its names begin with.

    The tensors of a module stay together if they are few enough, and with those of modules that are inside of it, or
    beside it in the same one. The module is "" where names have nothing in common.
    """
    held: list[tuple[str, ...]] = []
    for module, found in groupby(names, key=_module):
        members = tuple(found)
        parts = [members[start : start + TOGETHER] for start in range(0, len(members), TOGETHER)]
        first = parts[0]
        before = _module(held[-1][0]) if held else ""
        related = _module(before) == _module(module) or module.startswith(f"{before}.")
        if before and module and related and len(held[-1]) + len(first) <= TOGETHER:
            held[-1] += first
            parts = parts[1:]
        held += parts
    for group in held:
        yield _common(group), group


def _module(name: str) -> str:
    return name.rpartition(".")[0]


def _common(names: Sequence[str]) -> str:
    """Return the longest module that all names are in."""
    modules = [_module(name).split(".") for name in names]
    common = [parts[0] for parts in zip(*modules, strict=False) if len(set(parts)) == 1]
    found = ".".join(common)
    # A part that agrees after one that does not is no common beginning.
    while found and not all(name.startswith(f"{found}.") for name in names):
        found = _module(found)
    return found


ASIDES = frozenset(("add_argument()", "description", "epilog", "help", "metavar", "print()", "usage"))
"""What a text is given to that computes nothing: functions and arguments of argparse, and what prints."""

LONGEST_LITERAL = 24
"""Characters of the code that stands for what a literal belongs to."""


def literal_knobs_of(
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
    return text if len(text) <= LONGEST_LITERAL else text[: LONGEST_LITERAL - 3] + "..."
