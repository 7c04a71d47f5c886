"""What may go wrong when a trace is asked, as exceptions whose message is a sentence for people."""

from __future__ import annotations


class TraceError(Exception):
    """A question to a trace that it cannot answer. The message says why, and what to ask instead."""


class NoTensor(TraceError, LookupError):
    """A name that no tensor of the trace has, or a tensor that it does not know."""


class NoCell(TraceError, IndexError):
    """An index at which a tensor has no number."""


class NotKept(TraceError):
    """Numbers that the record no longer has."""
