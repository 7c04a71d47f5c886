"""The wire format between the screen's process and the worker: a small JSON header and raw bytes, never pickle.

A frame is 16 bytes (magic, length of the JSON, length of the blob), the JSON object, the blob. Lengths are checked
before anything is read, so that a hostile peer can neither exhaust memory nor do more than send wrong data.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MAGIC = b"atn1"
HEAD = struct.Struct("<4sIQ")
JSON_CAP = 1 << 20
BLOB_CAP = 8 << 20

# Bound here, before any learner's code runs: a program that patches json or struct must not change our messages.
_dumps, _loads, _pack, _unpack = json.dumps, json.loads, HEAD.pack, HEAD.unpack


class WireError(Exception):
    """An invalid frame, or one that is too large."""


class Closed(WireError):
    """The peer has closed the connection."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The frame of one message: its header, its raw bytes, and the file descriptors that came with it."""

    header: dict[str, Any]
    blob: bytes = b""
    fds: tuple[int, ...] = ()

    @property
    def op(self) -> str:
        """The operation, which names the kind of the message."""
        return str(self.header.get("op"))


def packed(frame: Frame) -> bytes:
    """Return a frame as bytes, as in a file. Raises `WireError` if it is too large or not JSON."""
    head, text = _head_and_text(frame.header, frame.blob)
    return head + text + frame.blob


def unpacked(content: bytes, start: int) -> tuple[Frame, int]:
    """Return the frame that begins at a place in bytes, and where it ends. Raises `WireError`."""
    if len(content) < start + HEAD.size:
        raise WireError("an incomplete frame")
    json_length, blob_length = _lengths(content[start : start + HEAD.size])
    middle = start + HEAD.size + json_length
    end = middle + blob_length
    if len(content) < end:
        raise WireError("an incomplete frame")
    return Frame(_header(content[start + HEAD.size : middle]), content[middle:end]), end


def _head_and_text(header: dict[str, Any], blob: bytes) -> tuple[bytes, bytes]:
    try:
        text = _dumps(header, separators=(",", ":")).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(f"not a message: {error}") from None
    if len(text) > JSON_CAP or len(blob) > BLOB_CAP:
        raise WireError(f"message too large: {len(text)} bytes of JSON, {len(blob)} bytes of data")
    return _pack(MAGIC, len(text), len(blob)), text


def _lengths(head: bytes) -> tuple[int, int]:
    magic, json_length, blob_length = _unpack(head)
    if magic != MAGIC or json_length > JSON_CAP or blob_length > BLOB_CAP:
        raise WireError("not a message of ours")
    return json_length, blob_length


def _header(text: bytes) -> dict[str, Any]:
    try:
        header = _loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"unreadable header: {error}") from None
    if not isinstance(header, dict):
        raise WireError("unreadable header: not an object")
    return header


def send(sock: socket.socket, header: dict[str, Any], blob: bytes = b"", fds: Sequence[int] = ()) -> None:
    """Send one frame. Raises `WireError` if it is too large or not JSON, `Closed` if the peer is gone."""
    head, text = _head_and_text(header, blob)
    try:
        if fds:
            socket.send_fds(sock, [head], list(fds))
            head = b""
        sock.sendall(head + text)
        if blob:
            sock.sendall(blob)
    except TimeoutError:
        raise
    except OSError as error:
        raise Closed(str(error)) from None


def receive(sock: socket.socket, deadline: float | None = None, max_fds: int = 0) -> Frame:
    """Wait for one frame, until `deadline` (a `time.monotonic()` value) if given.

    Raises `Closed` at the end of the stream, `TimeoutError` at the deadline, `WireError` for an invalid frame.
    """
    fds: list[int] = []
    head = b""
    if max_fds:
        head, fds = _receive_with_fds(sock, deadline, max_fds)
    head += _exactly(sock, HEAD.size - len(head), deadline)
    json_length, blob_length = _lengths(head)
    text = _exactly(sock, json_length, deadline)
    blob = _exactly(sock, blob_length, deadline)
    return Frame(_header(text), blob, tuple(fds))


def _receive_with_fds(sock: socket.socket, deadline: float | None, max_fds: int) -> tuple[bytes, list[int]]:
    try:
        _arm(sock, deadline)
        data, fds, _, _ = socket.recv_fds(sock, HEAD.size, max_fds)
    except TimeoutError:
        raise
    except OSError as error:
        raise Closed(str(error)) from None
    if not data:
        raise Closed("end of stream")
    return data, fds


def _exactly(sock: socket.socket, count: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        try:
            _arm(sock, deadline)
            data = sock.recv(min(count - len(parts), 1 << 20))
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from None
        if not data:
            raise Closed("end of stream")
        parts += data
    return bytes(parts)


def _arm(sock: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        sock.settimeout(None)
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("deadline")
    sock.settimeout(left)
