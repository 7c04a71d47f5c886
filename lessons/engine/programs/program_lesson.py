"""A program of one's own as a lesson: its named tensors in steps, each with the source that names them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from attn_tutor.lessons.engine.programs.tensor_groups import TOGETHER, by_module
from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.fields import Name, OptionalName
from attn_tutor.lessons.format.knobs.literal import LiteralKnob
from attn_tutor.lessons.format.lesson import Lesson, RunStep, ShownTensor
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.line_shapes import LineShapes, Shape
from attn_tutor.lessons.results.program_result import Named, ProgramResult
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if import literals

say = Wording("engine/program")


class Page(RunStep):
    """A step that shows tensors of a program.

    Attributes:
        calls: how often the function has run that it is about, if it is about one.
    """

    noun: ClassVar[str] = main_path.PAGE
    calls: int = 1


class Pages(Lesson):
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
        return ((part, step.code),) if isinstance(step, RunStep) else ()

    def variable(self, name: str) -> tuple[str, str, int | None] | None:
        """Return the function of a variable ("" for none), its name there, and its line; None for a plain name."""
        return self.variables.get(name)


@dataclass(frozen=True, slots=True)
class Group:
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


def groups_of(named: Sequence[Named]) -> Iterator[Group]:
    """Divide the named tensors of a program into groups of at most `TOGETHER`."""
    for (kind, scope, file), items in itertools.groupby(named, key=_family):
        if kind == "parameter":
            left = list(items)
            for module, names in by_module([item.label for item in left]):
                title = module or say("parameters", "parameters")
                yield Group(title, file, tuple(left[: len(names)]), module)
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
        knobs += literals.knobs_of(source, found, title, owners[file], main=main)
    items = [item for group in groups for item in group.items if item.scope or item.label.endswith("]")]
    variables = {item.label: (item.scope, item.name, item.line) for item in items}
    made = {"steps": tuple(steps), "knobs": tuple(knobs), "variables": variables}
    return Pages.model_validate(data).model_copy(update=made)


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


def _called(group: Group) -> str:
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
