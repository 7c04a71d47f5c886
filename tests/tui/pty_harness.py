"""A program in a pseudoterminal, whose output is shown and counted."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pyte

# A session leader gets its controlling terminal by opening it; without one, no hangup would reach it.
SHELL = 'tty=$1; shift; exec "$@" 0<>"$tty" 1>&0 2>&0'


MARK = "ATTN_TUTOR_TEST"
"""A variable by which the processes of a learner are found. A worker keeps its `HOME` until it has loaded."""


PATIENCE = 60.0
"""Seconds after which a test that waits for a program fails."""


_TOKEN = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.|[\x00-\x7f]|[\xc0-\xff][\x80-\xbf]*"
)
"""A control sequence, or a character."""


class Output(bytes):
    """What a program has sent; `needed` are those of its bytes that it had to send for what the terminal shows now.

    A program paints when it gets the processor, so on a busy machine it may paint what is drawn over a moment later.
    Characters that were drawn over do not count, and neither do the control sequences before them.
    """

    needed: int

    @classmethod
    def on(cls, sent: bytes, columns: int, lines: int, cursor: tuple[int, int]) -> Output:
        """Return what was sent to a terminal of this size, with its cursor at this column and line."""
        screen = pyte.Screen(columns, lines)
        stream = pyte.ByteStream(screen)
        screen.cursor.x, screen.cursor.y = cursor
        cells: dict[tuple[int, int], int] = {}
        waiting = 0
        for token in _TOKEN.findall(sent):
            stream.feed(token)
            waiting += len(token)
            if (len(token) == 1 and token < b" ") or token.startswith(b"\x1b"):
                continue
            # What leads to a character counts with it.
            cells[screen.cursor.x, screen.cursor.y] = waiting
            waiting = 0
        found = cls(sent)
        found.needed = sum(cells.values()) + waiting
        return found


class Pty:
    """A program in a terminal of this size; `screen` is the state of the terminal.

    `sent_at_end` is what the program has sent since the last keys or the last signal. It does not matter how much of
    that has been read before somebody waits for the program to end.
    """

    def __init__(
        self,
        command: Sequence[str],
        environ: dict[str, str],
        columns: int = 80,
        lines: int = 24,
        cwd: str | Path | None = None,
    ) -> None:
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._process = subprocess.Popen(
            ["sh", "-c", SHELL, "sh", os.ttyname(slave), *command],
            stdin=subprocess.DEVNULL,
            env=environ,
            cwd=cwd,
            start_new_session=True,
        )
        # The slave stays open until the program has opened it; before that, reading would fail.
        self._slave: int | None = slave
        self._sent = bytearray()
        self._asked_at = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """Kill the program and close its terminal."""
        self._process.kill()
        self._process.wait()
        self.hang_up()

    @property
    def pid(self) -> int:
        """The process id of the program."""
        return self._process.pid

    @property
    def text(self) -> str:
        """The text on the terminal, line by line."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    @property
    def sent_at_end(self) -> bytes:
        """What the program has sent since it was asked for something last."""
        return bytes(self._sent[self._asked_at :])

    def send(
        self,
        keys: bytes,
        expect: str | Callable[[], bool] | None = None,
        seconds: float = PATIENCE,
        quiet: float = 0.15,
        silent: bool = False,
    ) -> Output:
        """Type keys and return what the program sends.

        Reading ends when `expect`, a text or a condition, is on the screen, nothing has come for `quiet` seconds, and
        the program rests; it fails after `seconds`. `silent`: the program need not send anything at all.
        """
        if keys:
            self._asked_at = len(self._sent)
            os.write(self._master, keys)
        sent = b""
        end, cursor = time.monotonic() + seconds, (self.screen.cursor.x, self.screen.cursor.y)
        while time.monotonic() < end:
            if part := self._read(quiet):
                sent += part
            elif (sent or silent) and self._rests() and self._shows(expect):
                return Output.on(sent, self.screen.columns, self.screen.lines, cursor)
        raise AssertionError(f"{expect!r} did not come; the screen shows\n{self.text}")

    def type(self, keys: bytes) -> bytes:
        """Type keys and return what the program sends meanwhile; fails if it reads nothing for a minute."""
        sent, end = b"", time.monotonic() + 60
        self._asked_at = len(self._sent)
        while keys:
            readable, writable, _ = select.select([self._master], [self._master], [], 1)
            if readable:
                sent += self._read(0)
            if writable:
                # Few enough at a time that the terminal takes them whole.
                keys = keys[os.write(self._master, keys[:256]) :]
            assert time.monotonic() < end, "it does not read its input"
        return sent

    def attributes(self) -> list[object]:
        """Return the settings of the terminal, such as whether it echoes."""
        return [*termios.tcgetattr(self._master)]

    @property
    def is_hung_up(self) -> bool:
        """Whether the terminal was closed."""
        return self._master < 0

    def quiet(self, seconds: float) -> bytes:
        """Return what the program sends in this time without input."""
        sent = b""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            sent += self._read(left)
        return sent

    def wait(self, seconds: float = PATIENCE) -> int:
        """Read until the program has ended, and return its exit status (negative: the signal that ended it)."""
        end = time.monotonic() + seconds
        while self._process.poll() is None:
            assert time.monotonic() < end, f"it has not ended; the screen shows\n{self.text}"
            self._read(0.02)
        while self._read(0):
            pass
        return self._process.returncode

    def signal(self, number: signal.Signals) -> None:
        """Send the program a signal."""
        self._asked_at = len(self._sent)
        self._process.send_signal(number)

    def resize(self, columns: int, lines: int) -> None:
        """Resize the terminal."""
        self.screen.resize(lines, columns)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def show(self, output: bytes) -> None:
        """Have the terminal show output, which another program may have written."""
        self._stream.feed(output)

    def hang_up(self) -> None:
        """Close the terminal, as a lost connection does."""
        self._let_go()
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def _read(self, seconds: float) -> bytes:
        if self._master < 0:
            time.sleep(seconds)
            return b""
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return b""
        try:
            part = os.read(self._master, 65536)
        except OSError:  # nobody has the terminal open any more
            return b""
        self._let_go()
        self._sent += part
        self.show(part)
        return part

    def _rests(self) -> bool:
        """Return whether each thread of the program waits for an event: one without a processor may send more."""
        try:
            threads = [path.read_text() for path in Path(f"/proc/{self.pid}/task").glob("*/stat")]
        except OSError:  # a thread has ended meanwhile, or the system has no such files
            return sys.platform != "linux"
        return all(thread.rpartition(")")[2].split()[0] in "SZ" for thread in threads)

    def _let_go(self) -> None:
        if self._slave is not None:
            os.close(self._slave)
            self._slave = None

    def _shows(self, expect: str | Callable[[], bool] | None) -> bool:
        if callable(expect):
            return expect()
        return expect is None or any(expect in line for line in self.screen.display)


def processes_of(home: Path) -> set[int]:
    """Return all processes that were started with this home directory: see `environ`."""
    mark, found = f"{MARK}={home}\0".encode(), set()
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark in (folder / "environ").read_bytes():
                found.add(int(folder.name))
        except OSError:  # it has ended, or belongs to somebody else
            pass
    return found


def await_none(home: Path, seconds: float = PATIENCE) -> None:
    """Wait until no process of this home directory is left."""
    end = time.monotonic() + seconds
    while left := processes_of(home):
        assert time.monotonic() < end, f"these processes stay behind: {left}"
        time.sleep(0.01)
