"""Messages over a socket: all that the screen's process and the worker send each other passes through here.

A message travels as a frame (`wire`): `op` names it, its other fields are JSON, and a field `blob` becomes the frame's
bytes. A frame that is not, field by field, a message of the list (`messages`) is refused.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any, TypeVar, overload

from attn_tutor.lessons.worker import plain_codec, wire
from attn_tutor.lessons.worker.messages import MESSAGES, OPS, Launch

M = TypeVar("M")
N = TypeVar("N")

# Bound here, before any learner's code runs.
_encode, _decode = plain_codec.encode, plain_codec.decode


def prepare() -> None:
    """Prepare the codecs of all messages, before a learner's program can replace the tools that this takes."""
    for kind in OPS:
        plain_codec.prepare(kind)


def frame_of(message: object) -> wire.Frame:
    """Return the frame of a message."""
    header = _encode(message)
    blob = header.pop("blob", b"")
    return wire.Frame({"op": OPS[type(message)], **header}, bytes(blob))


def message_of(frame: wire.Frame) -> object:
    """Return the message in a frame. Raises `wire.WireError` if the frame holds no valid message."""
    data = dict(frame.header)
    op = data.pop("op", None)
    kind = MESSAGES.get(op) if isinstance(op, str) else None
    if kind is None or "blob" in data:
        raise wire.WireError("unknown message")
    if "blob" in kind.__dataclass_fields__:
        data["blob"] = frame.blob
    elif frame.blob:
        raise wire.WireError(f"{op} has no data")
    try:
        return _decode(kind, data)
    except (ValueError, TypeError, RecursionError) as error:
        raise wire.WireError(f"unreadable message: {error}") from None


def send(sock: socket.socket, message: object, fds: Sequence[int] = ()) -> None:
    """Send a message. Raises the same exceptions as `wire.send`."""
    frame = frame_of(message)
    wire.send(sock, frame.header, frame.blob, fds)


@overload
def receive(sock: socket.socket, kind: type[M], /, *, deadline: float | None = None) -> M: ...
@overload
def receive(sock: socket.socket, kind: type[M], other: type[N], /, *, deadline: float | None = None) -> M | N: ...
@overload
def receive(sock: socket.socket, /, *kinds: type[Any], deadline: float | None = None) -> Any: ...
def receive(sock: socket.socket, /, *kinds: type[Any], deadline: float | None = None) -> Any:
    """Wait for a message of one of these kinds; without kinds, for any message.

    Raises the same exceptions as `wire.receive`, and `wire.WireError` for a message of a different kind.
    """
    message = message_of(wire.receive(sock, deadline))
    if kinds and type(message) not in kinds:
        raise wire.WireError("unexpected message")
    return message


def receive_launch(sock: socket.socket, fds: int) -> tuple[Launch, tuple[int, ...]]:
    """Wait for a `Launch` that comes with `fds` file descriptors. Raises `wire.WireError` for anything else."""
    frame = wire.receive(sock, max_fds=fds)
    message = message_of(frame)
    if not isinstance(message, Launch) or len(frame.fds) != fds:
        raise wire.WireError("unexpected message")
    return message, frame.fds
