"""A session for a file of tensors: a list of them, and pages of a few each, as lines of Python that read these.

A child of the worker reads the file, so that one which is damaged, or made to do harm, can at most end that child.
"""

from __future__ import annotations

import keyword
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from attn_tutor.lessons.engine import replies
from attn_tutor.lessons.engine.launching.launchers import ChildProcess, Launcher
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Lesson, Limits, ShownTensor
from attn_tutor.lessons.programs.engine.pages import LessonOfPages, Page, TensorGroup, escaped, grouped_by_module
from attn_tutor.lessons.programs.engine.running import run_program, with_room_for
from attn_tutor.lessons.programs.engine.session import ProgramRun, ProgramSession
from attn_tutor.lessons.programs.messages import ReadTensorFile, ShowStoredTensor, StoredTensorReport
from attn_tutor.lessons.programs.results.program_result import Named, OwnProgram, ProgramResult
from attn_tutor.lessons.programs.results.tensor_file import ListedTensor, TensorList, TensorStatistics
from attn_tutor.lessons.results.clean_text import clean, printable
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.result import LONGEST_AXIS, Tensor, WorkerError
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes
from attn_tutor.lessons.worker import channel, wire

say = Wording("engine/stored-tensors")

LISTING_SECONDS = 20.0
"""The longest time that a file may take to be listed, or the numbers of a tensor besides its statistics."""
LIMITS = Limits(cpu=2 * LISTING_SECONDS, wall=LISTING_SECONDS, memory=1024)

Report = TypeVar("Report")


class UnreadableTensors(Exception):
    """A file of tensors, or one of them, that cannot be read. The message is a sentence for people."""


class StoredTensors:
    """An open file of tensors: what it holds, and a child that reads it."""

    def __init__(self, path: Path, job: ChildProcess, found: TensorList) -> None:
        self.found = found
        self._path, self._job = path, job

    def show(self, name: str, seconds: float) -> tuple[Tensor, TensorStatistics]:
        """Return a tensor, of a large one the corner, and statistics that take so many seconds at most.

        Raises `UnreadableTensors`.
        """
        report = _asked(
            self._job, self._path, ShowStoredTensor(name, seconds), StoredTensorReport, LISTING_SECONDS + seconds
        )
        return replies.corner_of(name, report.tensor, report.blob), report.statistics


@contextmanager
def opened_tensors(session: Session, path: Path) -> Iterator[StoredTensors]:
    """Provide the tensors of a file. Raises `UnreadableTensors`; `WorkerError` if the worker cannot run anything."""
    path = path.absolute()
    with session.start_child(with_room_for(path, LIMITS)) as job:
        yield StoredTensors(path, job, _asked(job, path, ReadTensorFile(str(path)), TensorList, LISTING_SECONDS))


def _asked(job: ChildProcess, path: Path, question: object, kind: type[Report], seconds: float) -> Report:
    try:
        channel.send(job.talk, question)
        reply = channel.receive(job.talk, kind, Refusal, deadline=time.monotonic() + seconds)
    except TimeoutError:
        raise UnreadableTensors(
            say("slow", "{path} was not read within {seconds:g} seconds.", path=path, seconds=seconds)
        ) from None
    except wire.WireError:
        raise UnreadableTensors(
            say("ended", "The process that read {path} ended. The file may be damaged.", path=path)
        ) from None
    if isinstance(reply, Refusal):
        raise UnreadableTensors(clean(reply.reason, keep=""))
    return reply


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
            for number, (module, names) in enumerate(grouped_by_module(list(known)), 1)
        )
        name = printable(path.name)
        plain = {"kind": "read", "id": "page", "title": name, "prose": name}
        data = {"id": "file", "number": 0, "folder": "", "title": name, "goal": name, "steps": [plain]}
        empty: Lesson = LessonOfPages.model_validate(data)
        steps = tuple(page.step for page in self.pages) or empty.steps
        self.lesson = empty.model_copy(update={"steps": steps})
        self.groups = [TensorGroup(page.step.title, PROGRAM.filename, tuple(_named(page))) for page in self.pages]

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


PAGE_SECONDS = 1.0
"""The longest time that the statistics of all tensors of a page may take."""


class TensorFileSession(ProgramSession):
    """A session whose pages show the tensors of a file. Nothing of them is read before their page is opened."""

    def __init__(
        self,
        path: Path,
        found: TensorList,
        printed: Callable[[Sequence[tuple[str, TensorStatistics]]], Iterable[str]],
        heads: Mapping[str, int] | None = None,
        launcher: Launcher | None = None,
    ) -> None:
        """Begin with a list of the tensors.

        Args:
            path: the file.
            found: what is in it.
            printed: returns the statistics of some tensors as lines, which take the place of output.
            heads: the rows of these tensors are split into so many.
            launcher: starts the processes.
        """
        program = replace(OwnProgram.here(path, ""), data=printable(path.name))
        super().__init__(program, launcher)
        self.path, self.found, self._printed, self._heads = path, found, printed, heads
        self.pages = TensorFilePages(path, found, heads)
        self.statistics: dict[str, tuple[tuple[str, TensorStatistics], ...]] = {}
        """What the numbers of each tensor of a page amount to, by what the page calls it; of pages that were opened."""
        self._page: tuple[str, Changes, ProgramRun] | None = None
        self._show_pages()

    def open(self, program: OwnProgram) -> ProgramRun:
        """List the file again, and make its pages. Raises `WorkerError` if it cannot be read any more."""
        try:
            with opened_tensors(self, self.path) as file:
                self.found = file.found
        except UnreadableTensors as error:
            raise WorkerError(str(error)) from None
        self.pages = TensorFilePages(self.path, self.found, self._heads)
        return self._show_pages()

    def _show_pages(self) -> ProgramRun:
        self.statistics.clear()
        self._page = None
        nothing = Run([ProgramResult(PROGRAM.name)], None)
        self.opened = ProgramRun(nothing, self.program, self.pages)
        return self.opened

    def run(self, lesson: Lesson, upto: str | None = None, changes: Changes = UNCHANGED) -> Run:
        """Read the tensors of a page, with its changes, unless they have just been read. Raises as `Session.run`."""
        pages = self.pages.lesson
        step = pages.step(upto) if upto is not None else pages.steps[0]
        own = Changes(cells=tuple(cell for cell in changes.cells if cell.step == step.id))
        held = self._page
        if lesson is pages and held is not None and held[:2] == (step.id, own) and held[2].alive:
            return held[2]
        program = replace(self.program, code=step.run_code)
        run = self._remembered(
            ProgramRun(run_program(self, program, replies.cell_writes(pages, own)), program, self.pages)
        )
        result = run.show(step)
        if result.error is None:
            problem = self._look_at(step.id)
            notes = (*result.notes, problem) if problem else result.notes
            found = self.statistics.get(step.id)
            printed = "\n".join(self._printed(found)) if found is not None else ""
            run.steps[run.steps.index(result)] = replace(result, stdout=printed, notes=notes)
        if lesson is pages:
            self._page = step.id, own, run
        return run

    def _look_at(self, step: str) -> str:
        """Look at all numbers of a page, or at as many as there is time for. Returns why that cannot be done, or ""."""
        if step in self.statistics:
            return ""
        (page,) = [page for page in self.pages.pages if page.step.id == step]
        seconds = PAGE_SECONDS / len(page.tensors)
        try:
            with opened_tensors(self, self.path) as file:
                found = [(name, file.show(item.name, seconds)[1]) for name, item in page.tensors]
        except UnreadableTensors as error:
            return str(error)
        self.statistics[step] = tuple(found)
        return ""
