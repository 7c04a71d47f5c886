"""Running an answer on hidden inputs: in the learner's process, and for the model answer and known mistakes in another.

The learner's process is told the inputs only after the answer has been loaded, and what it hands back is plain values.
"""

from __future__ import annotations

import importlib.abc
import socket
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any

from lessons.worker import wire
from lessons.worker.jobs import exercise_tools, intermediates, values
from lessons.worker.jobs.execute import YOUR_CODE, Failed, describe, execute
from lessons.worker.jobs.lesson_run import seed as seed_generators

PROBE = "<probe>"
OURS = "lessons"
"""The package of the tutor itself, which no answer has any use for: the model answers are in it."""

_getframe = sys._getframe


def answer(job: wire.Frame, talk: socket.socket) -> None:
    """Run the learner's source, then probe it on the hidden inputs, which arrive only after it has run."""
    header = job.header
    source = job.blob.decode("utf-8", "surrogatepass")
    tracer = intermediates.Tracer(YOUR_CODE, source) if header["trace"] else None
    namespace: dict[str, Any] = {"__name__": "__exercise__"}
    _forbid([OURS, *header["without"]])
    seed_generators(header["seed"])
    with _watching(tracer):
        failure = execute(source, YOUR_CODE, namespace)
    missing = [] if failure else [name for name in header["defines"] if name not in namespace]
    wire.send(talk, {"op": "loaded", "error": failure, "missing": missing})
    if failure or missing:
        return
    hidden = wire.receive(talk)
    contexts = values.decode(hidden.header["contexts"], hidden.blob)
    gots: list[Any] = []
    for number, context in zip(hidden.header["seeds"], contexts, strict=True):
        with _watching(tracer):
            got, failure = probed(namespace, header["probe"], context, number)
        if failure:
            break
        gots.append(got)
    results = intermediates.plain(tracer.made()) if tracer else gots
    try:
        tree, blob = values.encode(results)
    except values.ValueNotPlain as error:
        failure = {"kind": "error", "message": f"Your code gave {error}.", "line": None}
        tree, blob = [], b""
    wire.send(talk, {"op": "answered", "error": failure, "gots": tree}, blob)


def _watching(tracer: intermediates.Tracer | None) -> AbstractContextManager[None]:
    return tracer.running() if tracer else nullcontext()


def attempted(
    code: str, filename: str, probing: str, context: dict[str, Any], number: int
) -> tuple[dict[str, Any] | None, Failed | None]:
    """Run code that is ours (the model answer, a known mistake) on a hidden input: what it got, or its failure."""
    namespace: dict[str, Any] = {"__name__": "__exercise__"}
    failure = execute(code, filename, namespace)
    if failure is not None:
        return None, failure
    return probed(namespace, probing, context, number, filename)


def probed(
    learner: dict[str, Any], code: str, context: dict[str, Any], number: int, filename: str = YOUR_CODE
) -> tuple[dict[str, Any] | None, Failed | None]:
    """Run the probe on one hidden input with the names of `learner`: what it got, or why it could not."""
    namespace = learner | exercise_tools.tools() | {"context": SimpleNamespace(**context), "seed": number}
    seed_generators(number)
    try:
        exec(compile(code, PROBE, "exec"), namespace)
    except BaseException as error:
        failure = describe(error, filename)
        if failure["line"] is None and failure["kind"] == "error":
            failure["message"] = f"Your answer ran, but could not be used: {failure['message']}"
        return None, failure
    got = namespace.get("got")
    if not isinstance(got, dict):
        return None, {"kind": "error", "message": "Your code changed the checker's own names.", "line": None}
    return got, None


# What an answer may not import ---------------------------------------------------------------------------------------


class _Refuse(importlib.abc.MetaPathFinder):
    """Refuses modules to the learner's code. A guard against slips, not a wall: the files can be read by anyone."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        """Raise `ImportError` for the learner's code; find nothing for anybody else."""
        if not _within(fullname, self._names):
            return
        frame = _getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == YOUR_CODE:
                what = "the tutor itself" if _within(fullname, [OURS]) else "what this exercise asks you to write"
                raise ImportError(f"`{fullname}` cannot be imported here: it holds {what}.")
            frame = frame.f_back  # type: ignore[assignment]


def _within(name: str, packages: Sequence[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _forbid(names: Sequence[str]) -> None:
    """Refuse these modules, and all below them, to the learner's code."""
    for name in [name for name in sys.modules if _within(name, names)]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Refuse(names))
