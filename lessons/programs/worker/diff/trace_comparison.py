"""The job that compares the traces of two programs; it runs neither of them."""

from __future__ import annotations

import socket

from attn_tutor.lessons.programs.messages import CompareTraces, TracePart
from attn_tutor.lessons.programs.worker.diff import comparison, traced_result
from attn_tutor.lessons.programs.worker.diff.traced_result import ResultTrace
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel
from attn_tutor.lessons.worker.jobs import values

say = Wording("worker/trace-comparison")


def compare_traces(job: CompareTraces, talk: socket.socket) -> None:
    """Receive two traces and compare them."""
    try:
        one, other = _received(talk), _received(talk)
    except (ValueError, KeyError, TypeError):
        channel.send(talk, Refusal(say("unreadable", "The results of one of the programs cannot be read.")))
        return
    channel.send(talk, comparison.compare(one, other, job.rtol, job.atol))


def _received(talk: socket.socket) -> ResultTrace:
    parts: list[TracePart] = []
    while not parts or not parts[-1].last:
        parts.append(channel.receive(talk, TracePart))
    results = traced_result.joined(values.decode(part.results, part.blob) for part in parts)
    return ResultTrace(results, parts[-1].gaps)
