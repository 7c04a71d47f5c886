"""Running code on hidden inputs: an answer or copies of it in the learner's process, the course's own in the judge's.

The learner's process receives the inputs only after the answer has been loaded, and replies with plain values. Repaired
copies of a wrong answer run one after the other in one process; there the inputs come first.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import replace
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NoReturn

import torch

from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import Failure
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel
from attn_tutor.lessons.worker.jobs import exercise_tools, intermediates, values
from attn_tutor.lessons.worker.jobs.execute import YOUR_CODE, describe, execute, new_namespace, seed_generators
from attn_tutor.lessons.worker.judging_messages import (
    AnswerLoaded,
    AnswerReport,
    HiddenInputs,
    RepairReport,
    RunAnswer,
    RunRepairs,
)

say = Wording("worker/answer-run")

MODULE = "__exercise__"
PROBE = CodeUnit.internal("probe").filename
OURS = "attn_tutor"
"""The tutor's own package, which no answer may import, since it contains the model answers."""

PROBING = 0x5EED << 16
"""What makes another seed for the probe out of that of a hidden input."""

_refused: list[str] = []
"""The modules that the learner's code has reached for and may not have."""

# Bound before any learner's code runs, which may replace them.
_getframe, _modules, _inference_mode = sys._getframe, sys.modules, torch.inference_mode


def run_answer(job: RunAnswer, talk: socket.socket) -> None:
    """Run the learner's source, then probe it on the hidden inputs, which arrive only afterwards."""
    source = job.blob.decode("utf-8", "surrogatepass")
    tracer = intermediates.Tracer(YOUR_CODE, source) if job.trace else None
    namespace = new_namespace(MODULE)
    forbid([OURS, *job.without])
    loaded = dict(sys.modules)
    seed_generators(job.seed)
    with _watching(tracer):
        failure = _told_of_refusal(execute(source, YOUR_CODE, namespace))
    _load_again(loaded)
    missing = () if failure else tuple(name for name in job.defines if name not in namespace)
    channel.send(talk, AnswerLoaded(failure, missing))
    if failure or missing:
        return
    hidden = channel.receive(talk, HiddenInputs)
    contexts = values.decode(hidden.inputs, hidden.blob)
    defined = {name: namespace[name] for name in job.defines}
    actual: list[Any] = []
    for number, recorded, context in zip(hidden.seeds, hidden.recorded, contexts, strict=True):
        with _watching(tracer):
            got, failure = run_probe(defined, job.probe, context, number, recorded)
        _load_again(loaded)
        if failure:
            failure = _told_of_refusal(failure)
            break
        actual.append(got)
    results = intermediates.plain(tracer.trace()) if tracer else actual
    try:
        tree, blob = values.encode(results)
    except values.ValueNotPlain as error:
        failure = Failure("error", say("code-gave", "Your code gave {error}.", error=error))
        tree, blob = [], b""
    channel.send(talk, AnswerReport(failure, tree, blob))


def _told_of_refusal(failure: Failure | None) -> Failure | None:
    """Return a failure that says so if something has been refused to the program before."""
    return replace(failure, refused=True) if failure and _refused else failure


def _load_again(loaded: dict[str, ModuleType]) -> None:
    """Put modules back that a program has removed; later imports would load them a second time, or fail."""
    for name, module in loaded.items():
        _modules.setdefault(name, module)


def _watching(tracer: intermediates.Tracer | None) -> AbstractContextManager[None]:
    return tracer.running() if tracer else nullcontext()


def run_own_code(
    code: str,
    filename: str,
    defines: Sequence[str],
    probing: str,
    context: dict[str, Any],
    number: int,
    recorded: bool,
) -> tuple[dict[str, Any] | None, Failure | None]:
    """Run the course's own code (the model answer, a known mistake) on a hidden input.

    `defines` are the names that it has to define. Returns the values that the probe got, or the failure.
    """
    namespace = new_namespace(MODULE)
    failure = execute(code, filename, namespace)
    if failure is not None:
        return None, failure
    defined = {name: namespace[name] for name in defines if name in namespace}
    return run_probe(defined, probing, context, number, recorded, filename)


def run_probe(
    defined: dict[str, Any],
    code: str,
    context: dict[str, Any],
    number: int,
    recorded: bool,
    filename: str = YOUR_CODE,
) -> tuple[dict[str, Any] | None, Failure | None]:
    """Run the probe on one hidden input, with the names that the code under test had to define.

    Its other names stay out of the probe, where a `sum` of its own would take the place of Python's. Random numbers
    come from a stream of their own: under the seed that made the input, `torch.rand` would draw the input again.
    Gradients are `recorded`, or it all takes place inside `torch.inference_mode()`. Returns the values that the probe
    got, or the failure.
    """
    namespace = defined | exercise_tools.tools() | {"context": SimpleNamespace(**context), "seed": number}
    seed_generators(number ^ PROBING)
    try:
        with _inference_mode(not recorded):
            exec(compile(code, PROBE, "exec"), namespace)
    except BaseException as error:
        failure = describe(error, filename)
        if failure.line is None and failure.kind == "error":
            failure = replace(
                failure,
                message=say("unusable", "Your answer ran, but could not be used: {message}", message=failure.message),
            )
        return None, failure
    got = namespace.get("got")
    if not isinstance(got, dict):
        return None, Failure("error", say("names-changed", "Your code changed the checker's own names."))
    return got, None


# What an answer may not import ---------------------------------------------------------------------------------------


class _Refuse(importlib.abc.MetaPathFinder):
    """Refuses modules to the learner's code. A guard against slips, not a wall: the files can be read by anyone."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Raise `ImportError` if the learner's code imports a refused module; leave all other imports to the rest."""
        if not _within(fullname, self._names):
            return
        frame = _getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == YOUR_CODE:
                raise _refusal(fullname)
            frame = frame.f_back  # type: ignore[assignment]


def _refusal(name: str) -> ImportError:
    _refused.append(name)
    if _within(name, [OURS]):
        return ImportError(say("tutor", "`{module}` cannot be imported here: it holds the tutor itself.", module=name))
    return ImportError(
        say(
            "solution",
            "`{module}` cannot be imported here: it holds what this exercise asks you to write.",
            module=name,
        )
    )


def _within(name: str, packages: Sequence[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def forbid(names: Sequence[str]) -> None:
    """Forbid the learner's code to use these modules and their submodules. The tutor's own ones still run."""
    roots = {name.partition(".")[0] for name in names}
    for name in [name for name in sys.modules if name.partition(".")[0] in roots and _within(name, names)]:
        module = sys.modules.pop(name)
        if not _within(name, [OURS]):
            _disarm(module, names)
    sys.meta_path.insert(0, _Refuse(names))


def _disarm(module: ModuleType, names: Sequence[str]) -> None:
    """Let the functions of a module refuse to work, since its classes are found without an import: as subclasses."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise _refusal(module.__name__)

    holders = [module, *(value for value in vars(module).values() if isinstance(value, type))]
    for holder in holders:
        for name, value in list(vars(holder).items()):
            if isinstance(value, FunctionType) and _within(value.__module__, names):
                setattr(holder, name, refuse)


LONGEST_COPY = 0.7
"""Seconds of the processor after which a copy counts as one that does not end."""


def run_repairs(job: RunRepairs, talk: socket.socket) -> None:
    """Run each copy on all hidden inputs, which come first, and report its values."""
    hidden = channel.receive(talk, HiddenInputs)
    contexts = values.decode(hidden.inputs, hidden.blob)
    forbid([OURS, *job.without])
    for source in job.sources:
        try:
            report = RepairReport(*values.encode(_values_of_copy(job, source, contexts, hidden)))
        except values.ValueNotPlain:
            report = RepairReport(None, b"")
        channel.send(talk, report)


def _values_of_copy(
    job: RunRepairs, source: str, contexts: list[dict[str, Any]], hidden: HiddenInputs
) -> list[dict[str, Any]] | None:
    """Return the values of one copy on all hidden inputs; None if it fails."""
    namespace = new_namespace(MODULE)
    seed_generators(job.seed)
    with _limited():
        if execute(source, YOUR_CODE, namespace) or not set(job.defines) <= set(namespace):
            return None
    defined = {name: namespace[name] for name in job.defines}
    actual = []
    for number, recorded, context in zip(hidden.seeds, hidden.recorded, contexts, strict=True):
        with _limited():
            got, _ = run_probe(defined, job.probe, deepcopy(context), number, recorded)
        if got is None:
            return None
        actual.append(got)
    return actual


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Stop Python code that takes too long; the functions that run it make a failure of the exception."""
    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_COPY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _stop(*_: object) -> None:
    raise TimeoutError
