"""Type random keys into the tutor, end it, and see how long that takes and whether the terminal is as before.

`python -m tests.exam.random_keys --count 20000 --seed 0` prints a line for each way to end it: how long the tutor took
to read the keys, how long it took to end after that, and what was wrong. It returns 1 if an end took longer than
`LIMIT` or left something on. Keys that have not taken effect by then come before the one that quits, so `escape-q` has
to wait for them, and is only asked for by name: `--count 500 --per-second 20 escape-q`.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.tui.pty_harness import Pty

TUTOR = [sys.executable, "-m", "attn_tutor"]
LIMIT = 2.0
"""Seconds in which each way to end the tutor has to end it."""

GIVEN_UP = 60.0
"""Seconds after which an end that has not come is not waited for."""

LOADING = 90.0

TEXT = "abcdefghijklmnoprstuvwxyzABCXYZ0123456789 .,:;()[]{}=+-*/@_#'\"\\?!<>äβ→漢"
"""Characters that are typed: all but `q`, which would quit too early."""

KEYS = (
    *("\r", "\r", "\x1b", "\t", "\x1b[Z", "\x7f"),
    *("\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F"),
    *("\x1bOP", "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[19~", "\x1b[20~"),
    *("\x01", "\x04", "\x05", "\x0b", "\x0c", "\x12", "\x14", "\x15", "\x17", "\x19"),
    *("\x1b[1;2A", "\x1b[1;5C", "\x1b[3~", "\x1ba", "\x1b[I", "\x1b[O"),
)
"""Keys that are typed: without ctrl+c, which ends the tutor, ctrl+z and ctrl+o, which hand the terminal on."""

LEFT_ON = re.compile(rb"\x1b\[\?(1049|1000|1003|1006|1015|1004|2004|25)([hl])")
"""What the tutor sets in the terminal, and has to take back."""

AFTERWARDS = {b"25": b"h"}
"""How the terminal has to be left, if not with everything off."""


@dataclass(frozen=True, slots=True)
class Ending:
    """A way to end the tutor: what it is called, how it is done, the exit code, and what a learner does before it."""

    name: str
    do: Callable[[Pty], object]
    exit_code: int
    prepare: Callable[[Pty], bytes] = lambda _: b""
    on_request: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it went: the seconds that reading the keys and ending took, and what was wrong afterwards."""

    seconds_read: float
    seconds: float
    wrong: list[str]


def random_input(seed: int, count: int) -> list[str | tuple[int, int]]:
    """Return pieces of input, and new sizes of the terminal, which hold `count` keys together."""
    rng = random.Random(seed)
    made: list[str | tuple[int, int]] = []
    for _ in range(count):
        kind = rng.random()
        if kind < 0.5:
            made.append(rng.choice(TEXT))
        elif kind < 0.9:
            made.append(rng.choice(KEYS))
        elif kind < 0.96:
            button, x, y = rng.choice((0, 0, 2, 35, 64, 65)), rng.randint(1, 90), rng.randint(1, 30)
            made.append(f"\x1b[<{button};{x};{y}M\x1b[<{button};{x};{y}m")
        elif kind < 0.98:
            text = "".join(rng.choice(TEXT + "\n\t\0") for _ in range(rng.randint(0, 200)))
            made.append(f"\x1b[200~{text}\x1b[201~")
        elif kind < 0.995:
            # The first part of some key, or half of a character.
            made.append(rng.choice(("\x1b[", "\x1b[1;", "\x1b[<0;1", "\x1bO", "\udce2\udc86", "\udcff", "\0")))
        else:
            made.append((rng.randint(20, 160), rng.randint(5, 50)))
    return made


def type_all(terminal: Pty, pieces: Sequence[str | tuple[int, int]], per_second: float) -> bytes:
    """Type as fast as the tutor reads, or so many pieces a second; return what it sends."""
    sent, start = b"", time.monotonic()
    for number, piece in enumerate(pieces):
        if isinstance(piece, tuple):
            terminal.resize(*piece)
        else:
            sent += terminal.type(piece.encode("utf-8", "surrogateescape"))
        if per_second and (ahead := number / per_second - (time.monotonic() - start)) > 0.02:
            sent += terminal.quiet(ahead)
    return sent


def left_on(before: list[object], terminal: Pty, sent: bytes) -> list[str]:
    """Return what is different in the terminal from how it was before the tutor."""
    modes: dict[bytes, bytes] = dict(LEFT_ON.findall(sent))
    wrong = [
        f"?{mode.decode()}{state.decode()}" for mode, state in modes.items() if state != AFTERWARDS.get(mode, b"l")
    ]
    if terminal.attributes() != before:
        wrong.append("terminal settings")
    return wrong


def last_words(sent: bytes) -> list[str]:
    """Return the last lines of a traceback, as far as one was printed after the tutor had left the screen to others."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sent.rpartition(b"\x1b[?1049l")[2].decode(errors="replace"))
    return [line.strip() for line in text.splitlines() if line.strip()][-6:]


def main(arguments: list[str]) -> int:
    """Print how each way to end the tutor went; return 1 if one of them took too long or left something behind."""
    parser = argparse.ArgumentParser(description="Type random keys into the tutor, then end it.")
    parser.add_argument("--count", type=int, default=20_000, help="keys")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--per-second", type=float, default=0, help="keys a second; 0: as fast as they are read")
    parser.add_argument("endings", nargs="*", metavar="ENDING", help=", ".join(ending.name for ending in ENDINGS))
    options = parser.parse_args(arguments)
    failed = False
    for ending in ENDINGS:
        if ending.name in options.endings or not (options.endings or ending.on_request):
            outcome = examine(ending, random_input(options.seed, options.count), options.per_second)
            wrong = outcome.wrong
            if outcome.seconds > LIMIT:
                wrong = [*wrong, f"took longer than {LIMIT:.0f} s"]
            times = f"read in {outcome.seconds_read:5.1f} s  ended in {outcome.seconds:5.2f} s"
            print(f"{ending.name:8}  seed {options.seed}  {times}  {'; '.join(wrong)}", flush=True)
            failed |= bool(wrong)
    return int(failed)


def examine(ending: Ending, pieces: Sequence[str | tuple[int, int]], per_second: float = 0) -> Outcome:
    """Type these pieces, as fast as they are read or so many a second, and end the tutor."""
    with tempfile.TemporaryDirectory() as home:
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_STATE", "SSH_"))}
        environ |= {"HOME": home, "TERM": "xterm-256color", "LANG": "C.UTF-8", "EDITOR": "true", "VISUAL": "true"}
        with Pty(TUTOR, environ) as terminal:
            before = terminal.attributes()
            sent: bytes = terminal.send(b"", lambda: "loading" not in terminal.text, LOADING, quiet=0.5)
            start = time.monotonic()
            sent += type_all(terminal, pieces, per_second)
            seconds_read = time.monotonic() - start
            sent += ending.prepare(terminal)
            start = time.monotonic()
            ending.do(terminal)
            try:
                code = terminal.wait(GIVEN_UP)
            except AssertionError:
                return Outcome(seconds_read, GIVEN_UP, ["it did not end"])
            seconds = time.monotonic() - start
            sent += terminal.sent_at_end
            wrong = [] if terminal.is_hung_up else left_on(before, terminal, sent)
            if code != ending.exit_code:
                wrong += [f"exit code {code}", *last_words(sent)]
    return Outcome(seconds_read, seconds, wrong)


def _leave_all(terminal: Pty) -> bytes:
    return b"".join(terminal.type(b"\x1b") + terminal.quiet(0.15) for _ in range(6))


ENDINGS = (
    Ending("escape-q", lambda terminal: terminal.type(b"q"), 0, _leave_all, on_request=True),
    Ending("ctrl-c", lambda terminal: terminal.type(b"\x03\x03"), 0),
    Ending("term", lambda terminal: terminal.signal(signal.SIGTERM), 128 + signal.SIGTERM),
    Ending("hang-up", lambda terminal: terminal.hang_up(), 128 + signal.SIGHUP),
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
