"""Judging an answer, in two processes: `answer` runs the learner's code, `decide` never sees it.

`decide` makes hidden inputs from a fresh seed; `answer` puts the learner's names through the exercise's probe on them
and hands back plain values; `decide` does the same with the solution and evaluates the checks. Nothing the learner's
process says is more than data, so neither `sys.exit(0)` nor a patched comparison decides anything.
"""

from __future__ import annotations

import socket
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

from lessons import template
from lessons.worker import probe, values, wire
from lessons.worker.execute import YOUR_CODE, Failed, describe, execute
from lessons.worker.steps import seed as seed_generators

PROBE = "<probe>"


def answer(job: wire.Frame, talk: socket.socket) -> None:
    """Run the learner's source, then probe it on the hidden inputs, which arrive only after it has run."""
    header = job.header
    namespace: dict[str, Any] = {"__name__": "__exercise__"}
    seed_generators(header["seed"])
    failure = execute(job.blob.decode("utf-8", "surrogatepass"), YOUR_CODE, namespace)
    missing = [] if failure else [name for name in header["defines"] if name not in namespace]
    wire.send(talk, {"op": "loaded", "error": failure, "missing": missing})
    if failure or missing:
        return
    hidden = wire.receive(talk)
    contexts = values.decode(hidden.header["contexts"], hidden.blob)
    gots: list[Any] = []
    for number, context in zip(hidden.header["seeds"], contexts, strict=True):
        got, failure = _probe(namespace, header["probe"], context, number)
        if failure:
            wire.send(talk, {"op": "answered", "error": failure})
            return
        gots.append(got)
    try:
        tree, blob = values.encode(gots)
    except values.ValueNotPlain as error:
        wire.send(
            talk, {"op": "answered", "error": {"kind": "error", "message": f"Your code gave {error}.", "line": None}}
        )
        return
    wire.send(talk, {"op": "answered", "gots": tree}, blob)


def decide(job: wire.Frame, talk: socket.socket) -> None:
    """Make the hidden inputs, wait for what the learner's code made of them, and judge it."""
    header = job.header
    seeds: list[int] = header["seeds"]
    contexts = [_context(header["context"], number) for number in seeds]
    tree, blob = values.encode(contexts)
    wire.send(talk, {"op": "contexts", "contexts": tree}, blob)
    try:
        reply = wire.receive(talk)
        gots = values.decode(reply.header["gots"], reply.blob)
        readable = isinstance(gots, list) and len(gots) == len(seeds) and all(isinstance(got, dict) for got in gots)
    except wire.Closed:
        raise
    except (wire.WireError, ValueError, KeyError, TypeError):
        readable = False
    if not readable:
        wire.send(talk, {"op": "verdict", "error": "unreadable"})
        return
    passed = dict.fromkeys(range(len(header["checks"])), True)
    messages: dict[int, str] = {}
    for number, context, got in zip(seeds, contexts, gots, strict=True):
        want = _solution(header, context, number)
        scope = probe.tools() | {
            "got": probe.attributes(got),
            "want": probe.attributes(want),
            "context": probe.attributes(context),
        }
        for place, check in enumerate(header["checks"]):
            ok, message = _check(check, scope)
            if not ok and passed[place]:
                passed[place], messages[place] = False, message
    checks = [
        {"name": check["name"], "passed": passed[place], "message": messages.get(place, "")}
        for place, check in enumerate(header["checks"])
    ]
    wire.send(talk, {"op": "verdict", "checks": checks})


def _context(code: str, number: int) -> dict[str, Any]:
    namespace = probe.tools() | {"seed": number}
    seed_generators(number)
    exec(compile(code, "<context>", "exec"), namespace)
    context: dict[str, Any] = namespace["context"]
    return context


def _solution(header: dict[str, Any], context: dict[str, Any], number: int) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "__exercise__"}
    failure = execute(header["solution"], "<solution>", namespace)
    want: dict[str, Any] | None = None
    if failure is None:
        # A copy: a solution may change its inputs in place, and the checks need them as they were.
        want, failure = _probe(namespace, header["probe"], deepcopy(context), number)
    if want is None:
        raise RuntimeError(f"the solution of this exercise fails: {failure}")
    return want


def _probe(
    learner: dict[str, Any], code: str, context: dict[str, Any], number: int
) -> tuple[dict[str, Any] | None, Failed | None]:
    """Run the probe on one hidden input with the names of `learner`: what it got, or why it could not."""
    namespace = learner | probe.tools() | {"context": SimpleNamespace(**context), "seed": number}
    seed_generators(number)
    try:
        exec(compile(code, PROBE, "exec"), namespace)
    except BaseException as error:
        failure = describe(error, YOUR_CODE)
        if failure["line"] is None and failure["kind"] == "error":
            failure["message"] = f"Your answer ran, but could not be used: {failure['message']}"
        return None, failure
    got = namespace.get("got")
    if not isinstance(got, dict):
        return None, {"kind": "error", "message": "Your code changed the checker's own names.", "line": None}
    return got, None


def _check(check: dict[str, str], scope: dict[str, Any]) -> tuple[bool, str]:
    """Whether a check passes, and if not, its message."""
    try:
        if bool(eval(check["test"], dict(scope))):
            return True, ""
    except Exception as error:
        return False, f"this could not be checked on what your code gave ({type(error).__name__}: {error})"
    try:
        filled = {
            field.key: field.format(eval(field.expression, dict(scope))) for field in template.fields(check["fail"])
        }
    except Exception:
        filled = {}
    return False, template.fill(check["fail"], filled)
