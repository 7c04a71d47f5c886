"""A file of tensors as a lesson: pages of a few tensors each, which lines of Python read from the file."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from attn_tutor.lessons.engine.programs.program_lesson import Group, Page, Pages, escaped
from attn_tutor.lessons.engine.programs.tensor_groups import by_module
from attn_tutor.lessons.format.lesson import Lesson, ShownTensor
from attn_tutor.lessons.results.clean_text import printable
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.program_result import Named
from attn_tutor.lessons.results.result import LONGEST_AXIS
from attn_tutor.lessons.results.tensor_file import ListedTensor, TensorList
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/tensor-file")

OPEN = "open_tensors"
IMPORTS = f"from attn_tutor import {OPEN}"
FILE = "tensors"
"""The variable for the file in the code of a page."""


@dataclass(frozen=True, slots=True)
class FilePage:
    """A page: its step, and what it calls each of its tensors."""

    step: Page
    tensors: tuple[tuple[str, ListedTensor], ...]


class TensorFilePages:
    """The pages of a file, one for a few tensors of a module each; those that cannot be shown are on none."""

    def __init__(self, path: Path, found: TensorList, heads: Mapping[str, int] | None = None) -> None:
        """Divide the tensors of a file into pages; the rows of those in `heads` are split into so many."""
        known = {item.name: item for item in found.tensors if not item.problem}
        self.pages = tuple(
            _page(number, path, module, [known[name] for name in names], heads or {})
            for number, (module, names) in enumerate(by_module(list(known)), 1)
        )
        name = printable(path.name)
        plain = {"kind": "read", "id": "page", "title": name, "prose": name}
        data = {"id": "file", "number": 0, "folder": "", "title": name, "goal": name, "steps": [plain]}
        empty: Lesson = Pages.model_validate(data)
        steps = tuple(page.step for page in self.pages) or empty.steps
        self.lesson = empty.model_copy(update={"steps": steps})
        self.groups = [Group(page.step.title, PROGRAM.filename, tuple(_named(page))) for page in self.pages]

    def page_of(self, name: str) -> tuple[str, str]:
        """Return the id of the page with a tensor, and what the page calls it; "" for both if it is on none."""
        for page in self.pages:
            for variable, item in page.tensors:
                if item.name == name:
                    return page.step.id, variable
        return "", ""


def _page(number: int, path: Path, module: str, items: Sequence[ListedTensor], heads: Mapping[str, int]) -> FilePage:
    shorts = [item.name.removeprefix(f"{module}.") if module else item.name for item in items]
    variables = list(_variables(module, shorts))
    named = tuple(zip(variables, items, strict=True))
    reads = [f"{variable} = {_read(item, heads.get(item.name))}" for variable, item in named]
    parts = ", ".join(shorts)
    step = Page.model_construct(
        kind="run",
        id=f"page-{number}",
        title=f"{module}: {parts}" if module else parts,
        prose=escaped(_where(path, len(items))),
        code="\n".join([IMPORTS, "", f"{FILE} = {OPEN}({str(path)!r})", *reads, ""]),
        show=tuple(_spec(variable, item) for variable, item in named),
    )
    return FilePage(step, named)


def _where(path: Path, count: int) -> str:
    return say.count(
        "where",
        count,
        "This tensor lies in {file}. What you change here, or at the prompt, does not change the file.",
        "These tensors lie in {file}. What you change here, or at the prompt, does not change the file.",
        file=printable(path.name),
    )


def _variables(module: str, names: Sequence[str]) -> Iterator[str]:
    """Yield a variable for each tensor: its name in the module, with dots as underscores, so that no two are alike.

    What begins with a number, as in a list of layers, gets the name of the list before it.
    """
    taken, before = {FILE, OPEN}, re.sub(r"\W", "_", module.rpartition(".")[2])
    before = before if before.isidentifier() else "tensor"
    for name in names:
        word = re.sub(r"\W", "_", name)
        if word in (FILE, OPEN) or not word.strip("_"):
            word = "tensor"
        elif not word.isidentifier() or keyword.iskeyword(word):
            word = f"{before}_{word}"
        variable, number = word, 2
        while variable in taken:
            variable, number = f"{word}_{number}", number + 1
        taken.add(variable)
        yield variable


def _read(item: ListedTensor, heads: int | None) -> str:
    """Return the expression that reads a tensor; of an axis that is too long to be shown, the first part."""
    read = f"{FILE}[{item.name!r}]"
    if any(size > LONGEST_AXIS for size in item.shape):
        read += "[" + ", ".join(f":{LONGEST_AXIS}" if size > LONGEST_AXIS else ":" for size in item.shape) + "]"
    if item.dtype.startswith("complex"):
        read += ".abs()"
    if heads is not None:
        read += f".unflatten(0, ({heads}, -1))"
    return read


def _spec(variable: str, item: ListedTensor) -> ShownTensor:
    kind = "mask" if item.dtype == "bool" else "vector"
    return ShownTensor.model_construct(name=variable, kind=kind, expr=variable)


def _named(page: FilePage) -> Iterator[Named]:
    for line, (variable, item) in enumerate(page.tensors, 4):
        yield Named(variable, variable, "variable", "", PROGRAM.filename, line, 1, item.shape, item.dtype)
