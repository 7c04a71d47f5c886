"""What may go wrong when a trace is asked, as exceptions whose message is a sentence for people."""

from __future__ import annotations

from attn_tutor.lessons.results.clean_text import clean


class TraceError(Exception):
    """A question to a trace that it cannot answer. The message says why, and what to ask instead."""

    def __str__(self) -> str:
        return clean(super().__str__())


class NoTensor(TraceError, LookupError):
    """A name that no tensor of the trace has, or a tensor that it does not know."""


class NoCell(TraceError, IndexError):
    """An index at which a tensor has no number."""


class NotKept(TraceError):
    """Numbers that the record no longer has."""


class Incomplete(TraceError):
    """Neither yes nor no: nothing was found, but not everything was looked at. The message says what was not."""
