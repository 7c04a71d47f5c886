"""Traces of programs, which are compared: asked of a run, or kept in a file.

A file holds the parts of a trace as they travel between processes, one after the other: plain data only, so it can be
read in an environment with another version of PyTorch.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.files import rewrite
from attn_tutor.lessons.programs.engine.running import LIMITS, SEARCH_LIMIT
from attn_tutor.lessons.programs.messages import CompareTraces, TracePart, TraceProgram
from attn_tutor.lessons.programs.results.comparison import RunComparison
from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel, wire

say = Wording("engine/saved-traces")

LARGEST_TRACE = 1 << 30
"""Bytes of a trace beyond which no child has recorded it: a program has no more than a quarter of that to tell."""

PART = 1 << 20
"""Bytes that a part of a trace takes besides its numbers, at most."""

FIRST = b"attn-tutor trace 3\n"
"""How a file begins; the number counts the versions of the format."""


class UnreadableTrace(ValueError):
    """A file that holds no trace. The message is for people."""


def of_run(run: Run) -> list[TracePart] | None:
    """Return the trace of a program that was run for it. Returns None if there is none."""
    parts: list[TracePart] = []
    size = 0
    while not parts or not parts[-1].last:
        part = run.request(TraceProgram(len(parts)), lambda reply: reply, SEARCH_LIMIT)
        if not isinstance(part, TracePart):
            return None
        parts.append(part)
        size += len(part.blob) + PART
        if size > LARGEST_TRACE:
            run.close()
            return None
    return parts


def compare(
    session: Session,
    one: Sequence[TracePart],
    other: Sequence[TracePart],
    rtol: float | None = None,
    atol: float | None = None,
) -> RunComparison:
    """Compare the traces of two programs. Raises `WorkerError`."""
    with session.start_child(LIMITS) as job:
        try:
            for message in (CompareTraces(rtol, atol), *one, *other):
                channel.send(job.talk, message)
            reply = channel.receive(job.talk, RunComparison, Refusal, deadline=time.monotonic() + LIMITS.wall)
        except (wire.WireError, TimeoutError) as error:
            why = say("not-compared", "The process that compared the two programs ended before it had answered.")
            raise WorkerError(why) from error
    if isinstance(reply, Refusal):
        raise WorkerError(reply.reason)
    return reply


def save(path: Path, parts: Iterable[TracePart]) -> None:
    """Write the parts of a trace to a file. Raises `OSError`."""
    content = b"".join([FIRST, *(wire.packed(channel.frame_of(part)) for part in parts)])
    rewrite(path, content)


def is_trace(content: bytes) -> bool:
    """Return whether the content of a file is a trace, whatever its version."""
    return content.startswith(FIRST[:17])


def parts_of(content: bytes) -> list[TracePart]:
    """Return the parts of a trace from the content of its file. Raises `UnreadableTrace`."""
    if not content.startswith(FIRST):
        raise UnreadableTrace(say("other-version", "Another version of the tutor has made it."))
    found: list[TracePart] = []
    at = len(FIRST)
    try:
        while at < len(content):
            frame, at = wire.unpacked(content, at)
            part = channel.message_of(frame)
            if not isinstance(part, TracePart):
                raise wire.WireError("no part of a trace")
            found.append(part)
    except wire.WireError:
        raise UnreadableTrace(say("damaged", "It is damaged.")) from None
    if not found or not found[-1].last:
        raise UnreadableTrace(say("incomplete", "It is not complete."))
    return found
