"""The frames between the screen and the worker: one is received as it was sent, or refused."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attn_tutor.lessons.worker import wire

Pair = tuple[socket.socket, socket.socket]

PAST = 0.0


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def frame_header(magic: bytes = wire.MAGIC, text: int = 0, blob: int = 0) -> bytes:
    return struct.pack("<4sIQ", magic, text, blob)


def deadline_soon() -> float:
    """Return a deadline that leaves time to read what has been sent already."""
    return time.monotonic() + 10


def receive_bytes(data: bytes) -> wire.Frame:
    """Receive a frame from exactly these bytes."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        writer = threading.Thread(target=_write_all, args=(theirs, data))
        writer.start()
        try:
            return wire.receive(ours, deadline_soon())
        finally:
            ours.close()
            writer.join()


def _write_all(sock: socket.socket, data: bytes) -> None:
    try:
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the reader has refused it and left


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON, max_size=5), st.binary(max_size=300))
@example({"op": "run", "text": "Ω \U0001f600 \x00 \x1b[2J"}, b"\x00\xff")
@example({}, b"")
def test_round_trip(header: dict[str, object], blob: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        wire.send(ours, header, blob)
        assert wire.receive(theirs, deadline_soon()) == wire.Frame(header, blob)


def test_surrogates_are_received(pair: Pair) -> None:
    ours, theirs = pair
    wire.send(ours, {"code": "x = '\udcff'"})
    assert wire.receive(theirs, deadline_soon()).header == {"code": "x = '\udcff'"}


def test_numbers_that_json_lacks_are_received(pair: Pair) -> None:
    ours, theirs = pair
    wire.send(ours, {"low": float("-inf"), "high": float("nan")})
    header = wire.receive(theirs, deadline_soon()).header
    assert header["low"] == float("-inf")
    assert header["high"] != header["high"]


def test_frames_are_received_one_by_one(pair: Pair) -> None:
    ours, theirs = pair
    for number in range(20):
        wire.send(ours, {"op": "step", "number": number}, bytes([number]) * number)
    for number in range(20):
        frame = wire.receive(theirs, deadline_soon())
        assert (frame.op, frame.header["number"], frame.blob) == ("step", number, bytes([number]) * number)


@pytest.mark.parametrize("header", [{}, {"op": None}])
def test_frame_without_an_op(header: dict[str, object]) -> None:
    assert wire.Frame(header).op == "None"


def test_largest_frame_is_received(pair: Pair) -> None:
    ours, theirs = pair
    header = {"text": "x" * (wire.JSON_CAP - len('{"text":""}'))}
    blob = b"y" * wire.BLOB_CAP
    sender = threading.Thread(target=wire.send, args=(ours, header, blob))
    sender.start()
    frame = wire.receive(theirs, deadline_soon())
    sender.join()
    assert frame == wire.Frame(header, blob)


@pytest.mark.parametrize(
    ("header", "blob"),
    [
        ({"text": "x" * (wire.JSON_CAP - len('{"text":""}') + 1)}, b""),
        ({}, bytes(wire.BLOB_CAP + 1)),
        ({"value": object()}, b""),
        ({"value": {1, 2}}, b""),
    ],
    ids=["json", "blob", "object", "set"],
)
def test_unsendable_frame_is_refused_before_a_byte_is_sent(pair: Pair, header: dict[str, object], blob: bytes) -> None:
    ours, theirs = pair
    with pytest.raises(wire.WireError) as caught:
        wire.send(ours, header, blob)
    assert not isinstance(caught.value, wire.Closed)
    wire.send(ours, {"op": "next"})
    assert wire.receive(theirs, deadline_soon()).op == "next"


def test_values_that_contain_themselves_are_refused(pair: Pair) -> None:
    loop: list[object] = []
    loop.append(loop)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (loop, deep):
        with pytest.raises(wire.WireError, match="not a message"):
            wire.send(pair[0], {"value": value})


# What a hostile peer sends -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        frame_header(b"ATN1", 2) + b"{}",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0" * 16,
        b"\xff" * 16,
        frame_header(text=wire.JSON_CAP + 1),
        frame_header(text=2, blob=wire.BLOB_CAP + 1) + b"{}",
        frame_header(text=2, blob=2**64 - 1) + b"{}",
        frame_header(text=0),
        frame_header(text=2) + b"[]",
        frame_header(text=4) + b"null",
        frame_header(text=1) + b"7",
        frame_header(text=4) + b'{"a"',
        frame_header(text=4) + b"{} {",
        frame_header(text=2) + b"\xff\xfe",
        frame_header(text=100_000) + b"[" * 100_000,
        frame_header(text=200_005) + b'{"a":' + b"[" * 100_000 + b"]" * 100_000,
        frame_header(text=5006) + b'{"a":' + b"9" * 5000 + b"}",
    ],
)
def test_invalid_frame_is_refused(data: bytes) -> None:
    with pytest.raises(wire.WireError) as caught:
        receive_bytes(data)
    assert not isinstance(caught.value, wire.Closed)


def test_lengths_are_checked_before_anything_is_read(pair: Pair) -> None:
    ours, theirs = pair
    theirs.sendall(frame_header(text=2, blob=wire.BLOB_CAP + 1) + b"{}")
    with pytest.raises(wire.WireError):
        wire.receive(ours, deadline_soon())
    assert ours.recv(10) == b"{}"


@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 20, 25])
def test_truncated_frame_is_refused(length: int) -> None:
    whole = frame_header(text=8, blob=4) + b'{"a": 1}' + b"blob"
    assert receive_bytes(whole).header == {"a": 1}
    with pytest.raises(wire.Closed):
        receive_bytes(whole[:length])


@given(st.binary(max_size=64))
def test_any_bytes_are_a_frame_or_refused(data: bytes) -> None:
    with contextlib.suppress(wire.WireError):
        receive_bytes(data)


@given(st.binary(max_size=64))
def test_any_json_is_a_frame_or_refused(text: bytes) -> None:
    with contextlib.suppress(wire.WireError):
        assert receive_bytes(frame_header(text=len(text)) + text).header == json.loads(text)


# Ends and deadlines --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("closed", ["own end", "peer"])
def test_nothing_is_received_from_or_sent_to_what_is_closed(pair: Pair, closed: str) -> None:
    ours, theirs = pair
    (theirs if closed == "peer" else ours).close()
    with pytest.raises(wire.Closed):
        wire.receive(ours, deadline_soon())
    with pytest.raises(wire.Closed):
        wire.receive(ours, deadline_soon(), max_fds=1)
    with pytest.raises(wire.Closed):
        wire.send(ours, {"op": "hello"})


def test_own_end_shut_down_by_another_thread(pair: Pair) -> None:
    ours, _ = pair
    failed: list[BaseException] = []

    def wait() -> None:
        try:
            wire.receive(ours)
        except wire.Closed as error:
            failed.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    ours.shutdown(socket.SHUT_RDWR)
    thread.join(10)
    assert not thread.is_alive()
    assert failed


@pytest.mark.parametrize("sent", [b"", frame_header(text=8)[:7], frame_header(text=8), frame_header(text=8) + b"{"])
def test_deadline_ends_the_wait(pair: Pair, sent: bytes) -> None:
    ours, theirs = pair
    theirs.sendall(sent)
    with pytest.raises(TimeoutError):
        wire.receive(ours, time.monotonic() + 0.01)


def test_deadline_that_has_passed(pair: Pair) -> None:
    ours, theirs = pair
    wire.send(theirs, {"op": "late"})
    for most in (0, 1):
        with pytest.raises(TimeoutError):
            wire.receive(ours, PAST, max_fds=most)
    assert wire.receive(ours, deadline_soon()).op == "late"


def test_deadline_counts_for_the_whole_frame(pair: Pair) -> None:
    """A peer that sends a byte now and then does not extend it."""
    ours, theirs = pair
    end = threading.Event()

    def drip() -> None:
        theirs.sendall(frame_header(text=wire.JSON_CAP))
        while not end.wait(0.005):
            theirs.sendall(b" ")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        with pytest.raises(TimeoutError):
            wire.receive(ours, time.monotonic() + 0.1)
    finally:
        end.set()
        thread.join()


def test_later_frame_has_no_deadline(pair: Pair) -> None:
    ours, theirs = pair
    with pytest.raises(TimeoutError):
        wire.receive(ours, time.monotonic() + 0.001)
    wire.send(theirs, {"op": "now"})
    assert wire.receive(ours).op == "now"
    assert ours.gettimeout() is None


# Descriptors ---------------------------------------------------------------------------------------------------------


def test_descriptors_are_received_with_a_frame(pair: Pair) -> None:
    ours, theirs = pair
    read, write = os.pipe()
    wire.send(ours, {"op": "fork"}, b"blob", fds=[write, read])
    os.close(read)
    os.close(write)
    frame = wire.receive(theirs, deadline_soon(), max_fds=2)
    assert (frame.op, frame.blob, len(frame.fds)) == ("fork", b"blob", 2)
    os.write(frame.fds[0], b"through")
    assert os.read(frame.fds[1], 10) == b"through"
    for fd in frame.fds:
        os.close(fd)


def test_frame_without_descriptors_where_some_are_allowed(pair: Pair) -> None:
    ours, theirs = pair
    wire.send(ours, {"op": "plain"}, b"blob")
    assert wire.receive(theirs, deadline_soon(), max_fds=4) == wire.Frame({"op": "plain"}, b"blob")
