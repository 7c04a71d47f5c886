"""A session for one program of one's own: what lessons are to other sessions, the program is to this one.

Its first page says of the run how it went; others show the source of one function by its qualified name.
"""

from __future__ import annotations

import ast
import shlex
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, Protocol, TypeVar, cast

from attn_tutor.lessons.engine import replies
from attn_tutor.lessons.engine.launching.launchers import Launcher
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.programs.engine import pages
from attn_tutor.lessons.programs.engine.running import LIMITS, run_program
from attn_tutor.lessons.programs.messages import CallReport, ChooseCall, Digest, DigestReport, DigestValues
from attn_tutor.lessons.programs.results.program_result import OwnProgram, ProgramResult
from attn_tutor.lessons.results.clean_text import printable
from attn_tutor.lessons.results.code_unit import PROGRAM, CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.result import Failure, StepResult, Tensor
from attn_tutor.lessons.results.tensor_questions import FlowQuestion, Refusal, ShowQuestion, TensorQuestion
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes, apply, statements_before_cells
from attn_tutor.lessons.worker.message_parts import CellWrite
from attn_tutor.lessons.worker.messages import BindNamed


def function_source(source: str, scope: str) -> str:
    """Return the lines of a function by its qualified name; "" if the source has none of that name."""
    first, last = function_lines(source, scope) or (1, 0)
    return textwrap.dedent("\n".join(source.splitlines()[first - 1 : last]))


def function_lines(source: str, scope: str) -> tuple[int, int] | None:
    """Return the first and the last line of a function by its qualified name; None if the source has none of it."""
    try:
        body: list[ast.stmt] = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: ast.stmt | None = None
    for name in scope.split("."):
        found = next((node for node in _definitions(body) if node.name == name), None)
        if found is None:
            return None
        body = found.body
    return (_first_line(found), found.end_lineno or found.lineno) if found is not None else None


def _definitions(body: Sequence[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield the functions and classes that statements define, also inside of branches and loops; the last one first."""
    for node in reversed(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node
            continue
        for inner in ("finalbody", "orelse", "body"):
            yield from _definitions(getattr(node, inner, ()))


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(item.lineno for item in decorators)])


say = Wording("engine/program")

UNLISTED_SHOWN = 4
"""Variables without a page that are named."""

WRITTEN_SHOWN = 3
"""Files that a program has written that are named."""


def about_run(program: OwnProgram, result: ProgramResult) -> str:
    """Say what was run, where, how it ended, and which limits held; of a file of tensors, what is known of it."""
    if program.data:
        return program.data
    command = printable(shlex.join([program.name, *program.arguments]))
    said = [
        say(
            "ran", "`{command}` ran in {folder} for {seconds:.1f} seconds, with your environment.",
            command=command, folder=printable(program.folder), seconds=result.seconds,
        )
    ]  # fmt: skip
    said.append(
        say.count(
            "recorded",
            result.operations,
            "{count:,} operation of PyTorch is recorded.",
            "{count:,} operations of PyTorch are recorded.",
        )
    )
    if result.stopped:
        said.append(say("not-recorded", "Its first part was recorded, until {why}.", why=result.stopped.rstrip(".")))
    if not result.named and result.error is None:
        said.append(say("no-tensors", "It names no tensor."))
    if result.unlisted:
        said.append(_unlisted(result.unlisted))
    if program.limited:
        said.append(
            say(
                "limits",
                "Limits hold: no network, {seconds:g} seconds, and what it writes goes to a temporary folder. "
                "`--no-limits` lifts them.",
                seconds=LIMITS.wall,
            )
        )
        if result.written:
            said.append(_written(result.written))
    return " ".join(said)


def _unlisted(variables: tuple[str, ...]) -> str:
    """Say which variables have no page although they are tensors."""
    names = ", ".join(variables[:UNLISTED_SHOWN])
    if len(variables) > UNLISTED_SHOWN:
        names = say("unlisted-more", "{names}, and {count} more", names=names, count=len(variables) - UNLISTED_SHOWN)
    return say("unlisted", "These have no page, because they are no plain tables of numbers: {names}.", names=names)


def _written(paths: tuple[str, ...]) -> str:
    """Say which files a program has written that are not where it meant them to be."""
    shown = ", ".join(f"`{path}`" for path in paths[:WRITTEN_SHOWN])
    if len(paths) <= WRITTEN_SHOWN:
        return say("written", "It has written {files} there.", files=shown)
    return say("written-more", "It has written {count} files there: {files}, ...", count=len(paths), files=shown)


T = TypeVar("T")

DEEPEST = 3
"""Boxes inside of each other that are opened where there is only one."""

LAST = 1 << 31
"""A number that no call of a function has: the call before it is the last one."""

LAST_LINES = 2
"""Lines of the output of a program that has failed."""


class HasPages(Protocol):
    """What has pages: the lesson, and the tensors of each."""

    lesson: Lesson
    groups: list[pages.TensorGroup]


Past = Literal["at", "before", "after"]
"""Which call of a function is meant by a number: that one, or the nearest before or after it."""

Function = tuple[str, str]
"""A function: its name, and the file that it is in."""


class ProgramRun(Run):
    """A run of a program, whose steps are pages of its lesson."""

    def __init__(self, run: Run, program: OwnProgram, opened: HasPages | None = None) -> None:
        """Take over a run of a program; its pages are those that were `opened`, if there are some."""
        (result,) = run.steps
        assert isinstance(result, ProgramResult)
        super().__init__([], run.hand_over())
        self.program, self.whole = program, result
        self.kept = False
        """Whether it is still asked about although something else has run since: closing it waits for `release`."""
        self._complex = {item.label for item in result.named if item.dtype.startswith("complex")}
        self._is_changed = opened is not None
        self._without_call: dict[Function, str] = {}
        """The functions of which it does not have the chosen call, each with a sentence that says so."""
        self._forgotten: dict[Function, int] = {}
        self.lesson: Lesson
        self.groups: list[pages.TensorGroup]
        if opened is not None:
            self.lesson, self.groups = opened.lesson, opened.groups
            return
        self._make_pages()

    def _make_pages(self) -> None:
        """Make the pages of the named tensors as they are now."""
        name, program, result = self.program.name, self.program, self.whole
        self.lesson = pages.lesson_of(name, program.code, result.named, about_run(program, result), result.sources)
        self.groups = list(pages.groups_of(result.named))

    def choose_call(self, function: Function, call: int, past: Past = "at") -> CallReport | Refusal | None:
        """Let the variables of a function be those of another call of it. Returns None if the child is gone."""
        reply = self.request(ChooseCall(*function, call, past), lambda reply: cast(CallReport | Refusal, reply))
        if isinstance(reply, CallReport):
            self._without_call.pop(function, None)
            self._forgotten[function] = reply.forgotten
            self.whole = replace(self.whole, named=reply.named, inner=reply.inner)
            self._complex = {item.label for item in self.whole.named if item.dtype.startswith("complex")}
            if not self._is_changed:
                self._make_pages()
            # What was shown is that of the call before.
            self.steps = [self.whole]
        return reply

    def digests(self, seconds: float) -> Iterator[tuple[tuple[Digest, ...], bool]]:
        """Yield digests of its named tensors in parts, each with whether it is the last, as long as there is time."""
        start, left = 0, seconds
        while left > 0:
            began = time.monotonic()
            reply = self.request(DigestValues(start, left), lambda reply: reply)
            if not isinstance(reply, DigestReport):
                return
            yield reply.values, reply.last
            if reply.last or not reply.values:
                return
            start, left = start + len(reply.values), left - (time.monotonic() - began)

    def follow_call(self, function: Function, call: int) -> bool:
        """Choose the call that another run shows; without it, show nothing of the function. Return whether it is there.

        A program that was changed may call a function less often.
        """
        if isinstance(self.choose_call(function, call), CallReport):
            return True
        why = say("no-call", "This run has no call {call} of {scope}.", call=call, scope=function[0])
        self._without_call[function] = why
        self.steps = [self.whole]
        return False

    def show_pages_of(self, opened: HasPages) -> None:
        """Show the pages of another run of the program from now on."""
        self.lesson, self.groups = opened.lesson, opened.groups

    def close(self) -> None:
        """End the child, unless the run is kept."""
        if not self.kept:
            super().close()

    def release(self) -> None:
        """End the child of a run that was kept."""
        self.kept = False
        self.close()

    def show(self, step: Step) -> StepResult:
        """Return the result of a step: the tensors that it shows, as the program has left them."""
        known = self.result(step.id)
        if known is not None:
            return known
        tensors: list[Tensor] = []
        notes: list[str] = []
        position = self.lesson.index(step.id)
        group = self.groups[position] if position < len(self.groups) else None
        function = (group.scope, group.file) if group is not None else ("", "")
        if function in self._without_call:
            notes.append(self._without_call[function])
        for shown in step.shown_at_first if function not in self._without_call else ():
            reply = self.ask(ShowQuestion(shown.name, CodeUnit.step(step.id)))
            if isinstance(reply, Tensor):
                tensors.append(replace(reply, name=shown.name))
                if shown.name in self._complex:
                    notes.append(pages.in_parts(shown.name))
            elif reply is not None:
                notes.append(reply.reason)
        if self.whole.stopped:
            notes.append(
                say(
                    "stopped-before",
                    "The record ended before the program did. What was computed after that is not explained.",
                )
            )
        if forgotten := self._forgotten.get(function):
            notes.append(
                say.count(
                    "forgotten",
                    forgotten,
                    "Another variable of this call is not recorded any more, as nothing depends on it.",
                    "{count} other variables of this call are not recorded any more, as nothing depends on them.",
                )
            )
        first = step.id == self.lesson.steps[0].id
        error = self.error_on(step)
        named_at, begins_at = self._places(step)
        result = StepResult(
            step.id,
            stdout=self._printed(error) if first else "",
            error=error,
            tensors=tuple(tensors),
            notes=(*self.whole.notes, *notes),
            seconds=self.whole.seconds,
            shapes=pages.shapes_of(self.whole, self.file_of(step)),
            named_at=named_at,
            begins_at=begins_at,
        )
        self.steps.append(result)
        return result

    def _places(self, step: Step) -> tuple[dict[str, int], int | None]:
        """Return the lines of a page's code that named its tensors, and the one on which their function begins."""
        position = self.lesson.index(step.id)
        if position >= len(self.groups):
            return {}, None
        group = self.groups[position]
        named_at = {item.label: item.line for item in group.items if item.line and item.file in ("", group.file)}
        found = function_lines(step.run_code, group.scope) if group.scope and named_at else None
        return named_at, None if found is None else found[0]

    def tensors(self, names: Sequence[str]) -> list[Tensor]:
        """Return the named tensors of these labels that the run has."""
        known = {item.label for item in self.whole.named if (item.scope, item.file) not in self._without_call}
        found = ((name, self.ask(ShowQuestion(name, PROGRAM))) for name in names if name in known)
        return [replace(reply, name=name) for name, reply in found if isinstance(reply, Tensor)]

    def _printed(self, error: Failure | None) -> str:
        """Return what the program printed; where an error stands below, only its end."""
        lines = self.whole.stdout.splitlines(keepends=True)
        return "".join(lines if error is None else lines[-LAST_LINES:])

    def error_on(self, step: Step) -> Failure | None:
        """Return how the program failed, with the line if the page shows that.

        It stands on one page only, unless a change has made the program fail, which may be seen from any page.
        """
        error = self.whole.error
        if error is None or (not self._is_changed and step.id != self.lesson.steps[first_page(self)].id):
            return None
        place = self.whole.failed_at
        if place is not None and place.file == self.file_of(step):
            return replace(error, line=place.line)
        return error if self.is_own(step) else replace(error, line=None)

    def is_own(self, step: Step) -> bool:
        """Return whether a step shows the program's own file."""
        return self.file_of(step) == PROGRAM.filename

    def code_beside(self, step: Step) -> str:
        """Return the code to read with a page where no window shows a part of it: all of it first, then functions."""
        position = self.lesson.index(step.id)
        scope = self.groups[position].scope if self.groups else ""
        whole = self.is_own(step) and (position == 0 or not scope)
        return step.run_code if whole else function_source(step.run_code, scope)

    def begin_prompt(self, step: str) -> None:
        """Let code after the run use the tensors of the function that a page is about, under their own names."""
        scope = self.groups[self.lesson.index(step)].scope
        items = [item for item in self.whole.named if scope and item.scope == scope]
        labels = {item.name: item.label for item in items if item.name.isidentifier()}
        self.request(BindNamed(labels), lambda reply: None)

    def ask(self, question: TensorQuestion[T]) -> T | Refusal | None:
        """Ask a question about a tensor of the run; what is said of lines is said as the page shows them."""
        reply = super().ask(question)
        if isinstance(reply, Explanation):
            return cast(T, self._placed(reply, question.unit))
        for _ in range(DEEPEST):
            if not isinstance(reply, Flow) or not isinstance(question, FlowQuestion) or question.opened:
                break
            # A program that is one call of `main()` has one box.
            alone = [box for box in reply.boxes if box.opens]
            if len(reply.boxes) > 1 or not alone:
                break
            opened = (*(box.id for box in reply.opened), alone[0].id)
            further = super().ask(replace(question, opened=opened))
            if not isinstance(further, Flow):
                break
            reply = cast(T, further)
        if isinstance(reply, Flow):
            boxes = tuple(replace(box, unit=self._named(box.unit, question.unit)) for box in reply.boxes)
            return cast(T, replace(reply, boxes=boxes))
        return reply

    def _placed(self, explanation: Explanation, unit: CodeUnit | None) -> Explanation:
        file = self._named(explanation.file, unit)
        # The line of the program's own file that led there means nothing beside another file.
        own = unit is None or self._file_of_unit(unit) == PROGRAM.filename
        return replace(explanation, file=file, lesson_line=explanation.lesson_line if own else None)

    def _named(self, file: str, unit: CodeUnit | None) -> str:
        """Return a file as people call it; the one that a page shows is the page itself."""
        if unit is not None and file and file in (self._file_of_unit(unit), self._file_of_unit(unit).strip("<>")):
            return str(unit)
        return self.program.name if file == str(PROGRAM) else file

    def _file_of_unit(self, unit: CodeUnit) -> str:
        step = next((step for step in self.lesson.steps if step.id == str(unit)), None)
        return self.file_of(step) if step is not None else ""

    def file_of(self, step: Step) -> str:
        """Return the file whose source a step shows, as `Named.file` gives it."""
        position = self.lesson.index(step.id)
        return self.groups[position].file if position < len(self.groups) else PROGRAM.filename


class ProgramSession(Session):
    """A session that runs one program, and again with what is changed in it; a lesson is `ProgramRun.lesson`."""

    def __init__(self, program: OwnProgram, launcher: Launcher | None = None) -> None:
        super().__init__(launcher, limited=program.limited)
        self.program = program
        self.opened: ProgramRun | None = None
        """The run without changes that the pages were made from."""
        self.began = 0
        """When that run began, in nanoseconds since the epoch."""
        self._held: tuple[Changes, ProgramRun] | None = None
        self._runs: list[ProgramRun] = []
        self._calls: dict[Function, int] = {}
        self._led_to: Function | None = None
        """The function of which a call is shown that nobody has chosen."""

    def close(self) -> None:
        """End the worker, and let go of all runs."""
        super().close()
        self.release_all()

    def release_all(self) -> None:
        """Let go of all runs."""
        for run in self._runs:
            run.release()

    def open(self, program: OwnProgram) -> ProgramRun:
        """Run a program, and make its pages. The run is kept: the next version is compared with it.

        Raises `WorkerError`.
        """
        self.program, self.began = program, time.time_ns()
        if self._led_to is not None:
            self._leave_call(self._led_to)
            self._led_to = None
        run = self._remembered(ProgramRun(run_program(self, program), program))
        run.kept = True
        if run.whole.named:
            for function, call in list(self._calls.items()):
                if not run.follow_call(function, call):
                    # The new version does not have it.
                    self._leave_call(function)
        return self._reopen(run)

    def choose_call(self, page: str, call: int | None, past: Past = "at") -> int | Refusal:
        """Let the pages of the function that a page is about show another call of it; return which page comes first.

        `call` is a number, or that of the call that is shown if it is None. The pages are made anew: `opened.lesson` is
        another one. All runs that are there follow.
        """
        opened = self.opened
        assert opened is not None
        position = opened.lesson.index(page)
        group = opened.groups[position] if opened.groups else None
        shown = group.items[0].call if group is not None else 0
        if group is None or not shown:
            return Refusal(say("no-function", "This page is not about a function whose calls are known."))
        if group.items[0].count == 1:
            return Refusal(say("one-call", "{scope} has run once.", scope=group.scope))
        function = group.scope, group.file
        reply = opened.choose_call(function, shown if call is None else call, past)
        if not isinstance(reply, CallReport):
            return reply or Refusal(say("gone", "The program is not there any more."))
        pages = [index for index, each in enumerate(opened.groups) if (each.scope, each.file) == function]
        if not pages:
            opened.choose_call(function, shown)
            return Refusal(
                say("no-tensor", "Call {call} of {scope} names no tensor.", call=reply.call, scope=function[0])
            )
        self._follow(function, reply)
        self._led_to = None if self._led_to == function else self._led_to
        return position if position in pages else pages[0]

    def lead_to(self, function: Function, call: int) -> None:
        """Let the pages of a function show a call of it until the program runs again."""
        assert self.opened is not None
        reply = self.opened.choose_call(function, call)
        if isinstance(reply, CallReport):
            self._follow(function, reply)
            self._led_to = function

    @property
    def chosen_calls(self) -> Mapping[Function, int]:
        """The calls of functions that were chosen in place of their last ones."""
        return self._calls

    def _follow(self, function: Function, reply: CallReport) -> None:
        """Let all runs that are there show the call that the pages show now."""
        self._calls[function] = reply.call
        if reply.call == reply.calls:
            del self._calls[function]
        opened = self.opened
        for run in self._runs:
            if run is not opened and run.alive:
                run.follow_call(function, reply.call)
        if self._held is not None and opened is not None and self._held[1] is not opened:
            self._held[1].show_pages_of(opened)

    def _leave_call(self, function: Function) -> None:
        """Let all runs show the last call of a function again."""
        self._calls.pop(function, None)
        for run in self._runs:
            run.choose_call(function, LAST, "before")

    def open_again(self, program: OwnProgram, before: ProgramRun) -> Failure | None:
        """Run a new version of a program in place of a run before. Raises `WorkerError`.

        Returns the failure of one that came to nothing, as while it is being written: then the pages stay as they were.
        """
        run = self.open(program)
        error = run.whole.error
        if error is None or run.whole.named or not before.whole.named:
            return None
        self._reopen(before)
        run.release()
        return error

    def _reopen(self, run: ProgramRun) -> ProgramRun:
        """Make a run the one that the pages show."""
        self.opened, self._held = run, (UNCHANGED, run)
        return run

    def run(self, lesson: Lesson, upto: str | None = None, changes: Changes = UNCHANGED) -> Run:
        """Run the program of the pages with changes, unless that has just been done. Raises as `Session.run` does."""
        opened = self.opened
        assert opened is not None
        page = lesson is opened.lesson
        run = self._held[1] if page and self._held is not None and self._held[0] == changes else None
        if run is None or (run.whole.error is None and not run.alive):
            run = self._run(opened, changes)
            if page:
                self._held = changes, run
        step = run.lesson.step(upto) if upto is not None else run.lesson.steps[0]
        run.show(step)
        return run

    def _run(self, opened: ProgramRun, changes: Changes) -> ProgramRun:
        cells = tuple(_cell_writes(opened, changes))
        altered = apply(opened.lesson, changes)
        sources: dict[str, str] = {}
        for before, step in zip(opened.lesson.steps, altered.steps, strict=True):
            if before.run_code != step.run_code:
                sources[opened.file_of(before)] = step.run_code
        code = sources.pop(PROGRAM.filename, opened.program.code)
        program = replace(opened.program, code=code, sources=tuple(sources.items()))
        run = self._remembered(ProgramRun(run_program(self, program, cells), program, opened))
        for function, call in self._calls.items():
            run.follow_call(function, call)
        return run

    def _remembered(self, run: ProgramRun) -> ProgramRun:
        self._runs = [*(each for each in self._runs if each.alive), run]
        return run


def _cell_writes(opened: ProgramRun, changes: Changes) -> Iterator[CellWrite]:
    """Yield the changed cells, each with the file whose statement it follows. Raises `ChangeError`."""
    lesson = opened.lesson
    writes = replies.cell_writes(lesson, changes)
    for write, (_, position) in zip(writes, statements_before_cells(lesson, changes), strict=True):
        file = opened.file_of(lesson.step(position.part))
        yield write if file == PROGRAM.filename else replace(write, file=file)


def first_page(run: ProgramRun) -> int:
    """Return the step to open first: of a program that failed, that of the function where it did, else the first.

    If that function has no page, or a page that shows no line before the error, it is the one whose tensors were
    computed last.
    """
    place = run.whole.failed_at
    if run.whole.error is None or not run.groups:
        return 0
    best, found = -1, 0
    for position, group in enumerate(run.groups):
        if place is None or group.is_of_parameters or (group.scope, group.file) != (place.scope, place.file):
            continue
        last = max((item.line for item in group.items if item.line and item.line <= place.line), default=0)
        if last > found:
            best, found = position, last
    if best >= 0:
        return best
    times = [0 if group.is_of_parameters else max(item.time for item in group.items) for group in run.groups]
    return times.index(max(times))
