"""A program of one's own as a lesson: its named tensors in steps, each with the source that names them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from lessons.engine.tensor_groups import TOGETHER, by_module
from lessons.format import main_path
from lessons.format.lesson import Lesson, RunStep, ShownTensor
from lessons.results.code_unit import PROGRAM
from lessons.results.line_shapes import LineShapes, Shape
from lessons.results.program_result import Named
from lessons.texts.wording import Wording
from lessons.what_if import literals

say = Wording("engine/program")


class Page(RunStep):
    """A step that shows tensors of a program."""

    noun: ClassVar[str] = main_path.PAGE


class Pages(Lesson):
    """A program, or a file of tensors, in the place of a lesson; its title is the name of its file."""

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.title


@dataclass(frozen=True, slots=True)
class Group:
    """Tensors that stand on one page: variables of the program, of one function, or parameters.

    Attributes:
        title: the function, file, or module; "" for the program itself.
        file: the file whose source stands beside them.
    """

    title: str
    file: str
    items: tuple[Named, ...]

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
        return short(item) if item.scope else item.label.removeprefix(f"{self.title}.")


def groups_of(named: Sequence[Named]) -> Iterator[Group]:
    """Divide the named tensors of a program into groups of at most `TOGETHER`."""
    for (kind, scope, file), items in itertools.groupby(named, key=_family):
        if kind == "parameter":
            left = list(items)
            for module, names in by_module([item.label for item in left]):
                title = module or say("parameters", "parameters")
                yield Group(title, file, tuple(left[: len(names)]))
                del left[: len(names)]
            continue
        while chunk := tuple(itertools.islice(items, TOGETHER)):
            yield Group(scope, file, chunk)


def _family(item: Named) -> tuple[str, str, str]:
    return item.kind, item.scope, item.file if item.kind == "local" else PROGRAM.filename


def lesson_of(
    name: str, code: str, named: Sequence[Named], about: str, sources: Mapping[str, str] | None = None
) -> Lesson:
    """Return a program as a lesson, whose first step says `about` it; the code need not be Python.

    `sources` has the other files by the names that `Named.file` gives them.
    """
    groups = list(groups_of(named)) or [Group("", PROGRAM.filename, ())]
    steps: list[Page] = []
    own: list[str] = []
    for number, group in enumerate(groups, 1):
        source = code if group.file == PROGRAM.filename else (sources or {}).get(group.file, "")
        step = f"page-{number}"
        if source is code:
            own.append(step)
        parts = ", ".join(group.called(item) for item in group.items)
        steps.append(
            Page.model_construct(
                kind="run",
                id=step,
                title=": ".join(filter(None, (group.title, parts))) or name,
                prose=escaped("\n\n".join(filter(None, (about if number == 1 else "", *_places(group, name))))),
                code=source,
                show=tuple(map(_spec, group.items)),
            )
        )
    plain = {"kind": "read", "id": "page", "title": name, "prose": name}
    data = {"id": "program", "number": 0, "folder": "", "title": name, "goal": name, "steps": [plain]}
    knobs = literals.knobs_of(code, tuple(own)) if own else ()
    return Pages.model_validate(data).model_copy(update={"steps": tuple(steps), "knobs": knobs})


def short(item: Named) -> str:
    """Return what its own code calls a tensor."""
    return item.label.removeprefix(f"{item.scope}.") if item.scope else item.label


def in_parts(name: str) -> str:
    """Say what the numbers of a complex tensor are."""
    return say("complex", "{name} is complex: its last axis has the real and the imaginary part.", name=name)


def _spec(item: Named) -> ShownTensor:
    return ShownTensor.model_construct(
        name=item.label, kind="mask" if item.dtype == "bool" else "vector", expr=item.label
    )


def _places(group: Group, name: str) -> Iterator[str]:
    """Yield a sentence that says where the tensors of a group stand, and how often their code has run."""
    first = next(iter(group.items), None)
    if first is None:
        return
    file = name if group.file == PROGRAM.filename else group.file
    if first.kind == "local":
        calls = max(item.count for item in group.items)
        yield say.count(
            "of-function",
            calls,
            "`{scope}` in {file} has run once. This is what its variables held when it returned.",
            "`{scope}` in {file} has run {count} times. This is what its variables held when it last returned.",
            scope=first.scope,
            file=file,
        )


def escaped(text: str) -> str:
    """Return a text as a template without fields."""
    return text.replace("{", "{{").replace("}", "}}")


def shapes_of(group_items: Sequence[Named], file: str, shapes: Sequence[LineShapes]) -> tuple[LineShapes, ...]:
    """Return the shapes beside the source of a step: those of statements of the program, and of variables of functions.

    `shapes` are those of the program's own file.
    """
    lines = {each.line: each for each in shapes} if file == PROGRAM.filename else {}
    by_line: dict[int, list[Shape]] = {}
    for item in group_items:
        if item.kind == "local" and item.file == file and item.line is not None and item.line not in lines:
            by_line.setdefault(item.line, []).append(Shape(short(item), item.shape, ("",) * len(item.shape)))
    made = {line: LineShapes(line, made=tuple(each)) for line, each in by_line.items()}
    return tuple(each for _, each in sorted({**lines, **made}.items()))
