"""Send and receive messages over a socket: the only ways in and out.

A message travels as a frame (`wire`): `op` names it, its other fields are JSON, and a field `blob` is the frame's
bytes. What is not a message of the list (`messages`), field by field, is refused.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar, overload

from lessons.worker import plain_codec, wire
from lessons.worker.messages import MESSAGES, Launch

M = TypeVar("M")
N = TypeVar("N")

_OPS = {kind: op for op, kind in MESSAGES.items()}
_WITH_BLOB = frozenset(kind for kind in _OPS if any(field.name == "blob" for field in fields(kind)))

# Bound here, before any learner's code runs.
_encode, _decode = plain_codec.encode, plain_codec.decode


def prepare() -> None:
    """Work out how every message travels, before a program runs that may replace what this needs."""
    for kind in _OPS:
        plain_codec.prepare(kind)


def frame_of(message: object) -> wire.Frame:
    """Return a message as it travels."""
    header = _encode(message)
    blob = header.pop("blob", b"")
    return wire.Frame({"op": _OPS[type(message)], **header}, bytes(blob))


def message_of(frame: wire.Frame) -> object:
    """Return the message in a frame. Raises `wire.WireError` if there is none."""
    data = dict(frame.header)
    op = data.pop("op", None)
    kind = MESSAGES.get(op) if isinstance(op, str) else None
    if kind is None or "blob" in data:
        raise wire.WireError("unknown message")
    if kind in _WITH_BLOB:
        data["blob"] = frame.blob
    elif frame.blob:
        raise wire.WireError(f"{op} has no data")
    try:
        return _decode(kind, data)
    except (ValueError, TypeError, RecursionError) as error:
        raise wire.WireError(f"unreadable message: {error}") from None


def send(sock: socket.socket, message: object, fds: Sequence[int] = ()) -> None:
    """Send a message. Raises what `wire.send` does."""
    frame = frame_of(message)
    wire.send(sock, frame.header, frame.blob, fds)


@overload
def receive(sock: socket.socket, kind: type[M], /, *, deadline: float | None = None) -> M: ...
@overload
def receive(sock: socket.socket, kind: type[M], other: type[N], /, *, deadline: float | None = None) -> M | N: ...
@overload
def receive(sock: socket.socket, /, *kinds: type[Any], deadline: float | None = None) -> Any: ...
def receive(sock: socket.socket, /, *kinds: type[Any], deadline: float | None = None) -> Any:
    """Wait for a message of one of these kinds, or of any.

    Raises what `wire.receive` does, `wire.WireError` also for a message of another kind.
    """
    message = message_of(wire.receive(sock, deadline))
    if kinds and type(message) not in kinds:
        raise wire.WireError("unexpected message")
    return message


def receive_launch(sock: socket.socket, fds: int) -> tuple[Launch, tuple[int, ...]]:
    """Wait for a `Launch` that brings so many descriptors; see `receive`."""
    frame = wire.receive(sock, max_fds=fds)
    message = message_of(frame)
    if not isinstance(message, Launch) or len(frame.fds) != fds:
        raise wire.WireError("unexpected message")
    return message, frame.fds
