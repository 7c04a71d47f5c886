"""Runs a program in a pseudo terminal and counts the bytes that it sends."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from types import TracebackType

import pyte


class Pty:
    """A program in a terminal of this size. `screen` is what the terminal shows."""

    def __init__(self, command: Sequence[str], environ: dict[str, str], columns: int = 80, lines: int = 24) -> None:
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environ, start_new_session=True
        )
        os.close(slave)

    def __enter__(self) -> Pty:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def send(self, keys: bytes, expect: str | None = None, seconds: float = 20, quiet: float = 0.3) -> bytes:
        """Type keys and give what the program sends.

        Reading ends when `expect` is on the screen and nothing has come for `quiet` seconds, and fails after `seconds`.
        """
        os.write(self._master, keys)
        sent = b""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            ready, _, _ = select.select([self._master], [], [], quiet)
            if ready:
                part = os.read(self._master, 65536)
                sent += part
                self._stream.feed(part)
            elif sent and (expect is None or any(expect in line for line in self.screen.display)):
                return sent
        raise AssertionError(f"{expect!r} did not come; the screen shows\n" + "\n".join(self.screen.display))
