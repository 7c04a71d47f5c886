"""Programs of one's own, as the command line names them: what is no program is refused in a sentence."""

from __future__ import annotations

import ast
from pathlib import Path

from pydantic import ValidationError

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.programs.engine import running
from attn_tutor.lessons.programs.results.program_result import OwnProgram, ProgramResult
from attn_tutor.lessons.results import explanation_tree
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.result import StepResult, Tensor
from attn_tutor.lessons.results.tensor_questions import ShowQuestion
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.files import read_code
from attn_tutor.tui.commands.output import CommandError, UsageError, print_error
from attn_tutor.tui.render import linear_text
from attn_tutor.tui.state.typed_names import listed, typed
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/program")

TENSOR_FILES = (".bin", ".ckpt", ".npy", ".npz", ".pt", ".pth", ".safetensors")
"""How the names of files of tensors end."""

LARGEST = 256 * 1024
"""The longest program in characters. It travels to the worker in one message, which holds a MiB at most."""


def is_program(name: str) -> bool:
    """Return whether what stands in the place of a lesson is a file."""
    return name.endswith(".py")


def read_program(file: str, arguments: list[str], *, limited: bool, python: bool = True) -> OwnProgram:
    """Return the program in a file, with its arguments. Raises `UsageError`, also if it is not `python`."""
    _check_kind(file)
    code = read_code(file)
    if len(code) > LARGEST:
        raise UsageError(
            say(
                "too-large", "{file} has more than {most} KiB, too much for a program.", file=file, most=LARGEST // 1024
            )
        )
    if not code.strip():
        raise UsageError(say("empty", "{file} is empty.", file=file))
    if not code.isascii() and code.encode("utf-8", "ignore").decode() != code:
        raise UsageError(say("not-utf-8", "{file} is not UTF-8 text.", file=file))
    if python:
        try:
            ast.parse(code)
        except (RecursionError, MemoryError):
            raise UsageError(say("too-deep", "{file} is nested too deeply for Python.", file=file)) from None
        except (SyntaxError, ValueError) as error:
            # Of a byte that cannot be in a source, Python knows no line.
            reason, line = getattr(error, "msg", str(error)), getattr(error, "lineno", None) or 1
            raise UsageError(
                say("not-python", "{file} is not Python: {reason} (line {line}).", file=file, reason=reason, line=line)
            ) from None
    return OwnProgram.here(Path(file), code, arguments, limited=limited)


def _check_kind(file: str) -> None:
    """Raise `UsageError` for a file that is no program by its name, with what opens it."""
    suffix = Path(file).suffix.casefold()
    if suffix == ".ipynb":
        raise UsageError(
            say(
                "notebook",
                "{file} is a notebook. Save it as Python (jupyter nbconvert --to script {file}), or use the tutor "
                "inside it: from attn_tutor import record",
                file=file,
            )
        )
    if suffix in TENSOR_FILES:
        raise UsageError(
            say("tensors", "{file} is no program. To look at its tensors: attn-tutor show {file}", file=file)
        )


def run_program(session: Session, program: OwnProgram) -> Run:
    """Run a program. If it fails, or its record does not reach its end, say so on standard error."""
    run = running.run_program(session, program)
    (result,) = run.steps
    say_failure(program, result)
    if stopped := why_stopped(result):
        print_error(
            say(
                "stopped",
                "The record of {file} ended before the program did, because {why}. What was computed after that is not "
                "known here.",
                file=program.name,
                why=stopped.rstrip("."),
            )
        )
    return run


def why_stopped(result: StepResult) -> str:
    """Return why the record of a program ended before the program did; "" if it did not."""
    return result.stopped if isinstance(result, ProgramResult) else ""


def status(result: StepResult) -> ExitCode:
    """Return the exit code of a verb that has shown what a program computed."""
    if result.error is not None:
        return ExitCode.NOT_PASSED
    return ExitCode.UNDECIDED if why_stopped(result) else ExitCode.OK


def say_failure(program: OwnProgram, result: StepResult) -> None:
    """Say on standard error why a program failed, if it did."""
    if result.error is not None:
        print_error(linear_text.file_failure(program.name, result.error))


def show(run: Run, name: str) -> Tensor | None:
    """Have a program show a tensor of this label, or the value of an expression; None if that has failed with it.

    Raises `CommandError`.
    """
    shown = run.ask(ShowQuestion(name, PROGRAM))
    if isinstance(shown, Tensor):
        return shown
    if run.steps[0].error is not None:
        return None
    raise CommandError(
        shown.reason if shown is not None else say("worker-ended", "The process that ran the program is gone.")
    )


def whole_name(run: Run, text: str) -> str:
    """Return the label of the tensor that a text is the end of, as `scores` is of `Attention.forward.scores`.

    A variable or expression of the program goes before that, and a text that is neither is returned as it is. Raises
    `UsageError` if several labels end with it.
    """
    (result,) = run.steps
    labels = [item.label for item in result.named] if isinstance(result, ProgramResult) else []
    names, inner = typed(text, labels)
    if inner or not names or text in names or isinstance(run.ask(ShowQuestion(text, PROGRAM)), Tensor):
        return text
    if len(names) > 1:
        raise UsageError(
            say("several", "'{text}' may be each of these: {names}. Type more of it.", text=text, names=listed(names))
        )
    return names[0]


def with_shown_tensor(lesson: Lesson, step: str, tensor: str) -> Lesson:
    """Return a lesson of which a step shows this expression.

    Raises:
        KeyError: The step does not run code.
        UsageError: The text is not an expression.
    """
    try:
        return explanation_tree.with_shown_tensor(lesson, step, tensor)
    except ValidationError as error:
        context = error.errors()[0].get("ctx", {})
        reason = str(context.get("message", error.errors()[0]["msg"]))
        raise UsageError(
            say("no-expression", "'{text}' is not a Python expression: {reason}.", text=tensor, reason=reason)
        ) from None
