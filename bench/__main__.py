"""Measure the tutor on this machine: `python -m bench`, or `python -m bench --quick` with fewer runs.

What the table says:

    time         from starting the program in a terminal of its own until the text is there. "A minimal app" is a
                 Textual app with one word in it. No app can be faster, so the ratio to it says more than the seconds,
                 which depend on the machine. "First paint" is the title line, "course map" the map with
                 all lessons; from then on the keys work.
    bytes        what the program sends to a terminal of 80x24. They hardly depend on the machine, and on a slow line
                 they are the time: 4 KB take about 0.4 s at 10 KB/s. "Start" is everything until PyTorch is loaded and
                 the screen is still; "page" is Page Down in a matrix of 1024x1024; "next step" runs through a lesson
                 with code, matrices and an exercise, each step with its recorded and its live results.
    held keys    from the release of a key until a line of 5 kB/s, with 0.3 s from a key to its answer, has delivered
                 the last byte. The key was held for four seconds, thirty times a second, in a matrix of 1024x1024.
                 The line takes at once what it is sent, so that nothing slows the tutor but itself. "SSH": its
                 variables are set.
    worker       the process that runs code. "Loaded" is a cold start with PyTorch; "step" a request for a step with
                 a matrix of six tokens until its numbers are here, "check" an answer from request to verdict, "stop"
                 the time from asking an endless loop to stop until it is gone.
    answers      from a key until the terminal shows what it asked for: how a number was made, or the matrix after a
                 change. A knob that is turned runs the lesson's code again from its start.
    judging      a six-token exercise, from request to verdict: a right answer; one with a known mistake, which is named
                 and whose line is found; one with an unknown mistake, whose first wrong result is found.
    class        with --class only, since it takes minutes: thirty processes of `attn-tutor check` at the same moment,
                 each with a worker of its own that has to load PyTorch first; then thirty tutors open at a step.
    recorder     the code of a lesson on six tokens, of one at GPT-2 size, and of programs that do nothing but small
                 operations, with the record of which operation wrote which element and without it: processor time
                 and peak memory, in processes of their own.
    memory       RSS counts a page that processes share in full for each of them, PSS divides it among them, so only
                 PSS may be added up. The child is a fork of the worker with the tensors of one lesson.

Each line gives the median of its runs, then the least and the greatest. Look at the least for what the program can do,
at the greatest for what else the machine was doing. Nothing here passes or fails; budgets for bytes are tests.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain

from bench import classroom, recorder_cost, screen, worker


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    name: str
    unit: str
    values: tuple[float, ...]

    def __str__(self) -> str:
        numbers = (statistics.median(self.values), min(self.values), max(self.values))
        decimals = 0 if self.unit == "B" else 1 if self.unit in ("MB", "ms") else 2
        cells = "".join(f"{number:12,.{decimals}f}" for number in numbers)
        return f"{self.name:44}{cells} {self.unit:3}{len(self.values):6}"


def main() -> int:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure the tutor on this machine.")
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    parser.add_argument("--class", action="store_true", dest="learners", help="also thirty learners at once")
    options = parser.parse_args()
    runs = 3 if options.quick else 9
    print(f"{'':46}{'median':>12}{'least':>12}{'greatest':>12}{'runs':>10}")
    with scratch_home():
        for title, rows in (
            ("time", start_rows(runs)),
            ("bytes", byte_rows()),
            ("held keys", held_rows(2 if runs < 9 else 4)),
            ("worker", worker_rows(runs)),
            ("answers", answer_rows(runs)),
            ("judging", judging_rows(runs)),
            ("recorder", recorder_rows(2 if runs < 9 else 5)),
            ("memory", memory_rows(1 if runs < 9 else 3)),
            ("class", class_rows() if options.learners else ()),
        ):
            print(f"\n{title}")
            for row in rows:
                print(f"  {row}", flush=True)
    return 0


@contextmanager
def scratch_home() -> Iterator[None]:
    """Set up a home directory for the measurements, so that a learner's progress is not read or written."""
    with tempfile.TemporaryDirectory(prefix="attn-tutor-bench-") as home:
        folders = {"HOME": home, "XDG_STATE_HOME": f"{home}/state", "XDG_CACHE_HOME": f"{home}/cache"}
        os.environ.update({**folders, "LANG": "C.UTF-8", "TERM": "xterm"})
        # The last one has Python compile all modules at each start, which no learner's does.
        for name in ("COLORTERM", "NO_COLOR", "TMUX", "SSH_CONNECTION", "SSH_TTY", "LC_ALL", "PYTHONDONTWRITEBYTECODE"):
            os.environ.pop(name, None)
        yield


def start_rows(runs: int) -> Iterable[Row]:
    """Measure the time until there is something to see."""
    starts = screen.starts(runs)
    for name, seconds in starts.items():
        yield Row(name, "ms", tuple(each * 1000 for each in seconds))
    least, *others = starts.values()
    for name, seconds in zip(list(starts)[1:], others, strict=True):
        ratios = tuple(ours / theirs for ours, theirs in zip(seconds, least, strict=True))
        yield Row(f"{name}, as a multiple of that", "x", ratios)


def byte_rows() -> Iterable[Row]:
    """Measure the bytes sent to the terminal."""
    for colors, environ in (
        ("16 colors", {}),
        ("256 colors", {"TERM": "xterm-256color"}),
        ("truecolor", {"COLORTERM": "truecolor"}),
        ("no color", {"NO_COLOR": "1"}),
    ):
        for name, sizes in screen.bytes_sent(environ).items():
            yield Row(f"{colors}: {name}", "B", tuple(map(float, sizes)))


def held_rows(runs: int) -> Iterable[Row]:
    """Measure how long a slow line shows what held keys have led to, after their release."""
    for name, seconds in screen.catch_ups(runs).items():
        yield Row(name, "s", tuple(seconds))


def worker_rows(runs: int) -> Iterable[Row]:
    """Measure how fast code runs."""
    for name, unit, values in worker.times(runs):
        yield Row(name, unit, tuple(values))


def answer_rows(runs: int) -> Iterable[Row]:
    """Measure the time from a key to its result on the screen."""
    for name, seconds in screen.answers(runs).items():
        yield Row(name, "ms", tuple(each * 1000 for each in seconds))


def judging_rows(runs: int) -> Iterable[Row]:
    """Measure the time to a verdict."""
    for name, unit, values in worker.verdicts(3 * runs):
        yield Row(name, unit, tuple(values))


def class_rows() -> Iterable[Row]:
    """Measure the time for thirty learners at once."""
    for name, unit, values in chain(classroom.times(), classroom.screens()):
        yield Row(name, unit, tuple(values))


def recorder_rows(rounds: int) -> Iterable[Row]:
    """Measure the cost of recording."""
    for name, unit, values in recorder_cost.costs(rounds):
        yield Row(name, unit, tuple(values))


def memory_rows(runs: int) -> Iterable[Row]:
    """Measure the memory of each process."""
    for name, values in screen.memory(runs).items():
        yield Row(name, "MB", tuple(values))


if __name__ == "__main__":
    sys.exit(main())
