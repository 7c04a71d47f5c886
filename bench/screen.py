"""Measurements of the tutor in a terminal, from outside."""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from attn_tutor.lessons.format.lesson import RunningStep
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.reading.loader import load_course
from tests.tui.pty_harness import Pty

TUTOR = [sys.executable, "-m", "attn_tutor"]
MINIMAL = """
from textual.app import App, ComposeResult
from textual.widgets import Static

class Minimal(App[None]):
    ENABLE_COMMAND_PALETTE = False

    def compose(self) -> ComposeResult:
        yield Static("minimal")

Minimal().run()
"""
ENTER, RIGHT, LEFT, UP, DOWN = b"\r", b"\x1b[C", b"\x1b[D", b"\x1b[A", b"\x1b[B"
PAGE_UP, PAGE_DOWN, F8 = b"\x1b[5~", b"\x1b[6~", b"\x1b[19~"
ESCAPE = b"\x1b"
LAST_LESSON = f"{load_course().lessons[-1].number}. "
SLOW_LINE = 5000.0
"""Bytes a second that reach the learner over a slow line."""
ROUND_TRIP = 0.3
"""Seconds from a key to its answer over that line, if the tutor took no time."""
REPEAT = 1 / 30
"""Seconds between two keys of one that is held."""
STILL = 1.5
"""Seconds without a byte after which nothing more is expected."""
SHORTEST_QUIET = 0.002
"""Seconds without a byte after which the screen is read, where time is measured."""


def starts(runs: int) -> dict[str, list[float]]:
    """Measure the seconds to a minimal app, to the first paint of the tutor, and to its map.

    They are measured in turn, since the load of the machine varies.
    """
    seconds: dict[str, list[float]] = defaultdict(list)
    for run in range(runs + 1):
        began = time.monotonic()
        with Pty([sys.executable, "-c", MINIMAL], dict(os.environ)) as terminal:
            terminal.send(b"", "minimal", quiet=SHORTEST_QUIET)
            minimal = time.monotonic() - began
        began = time.monotonic()
        with Pty(TUTOR, dict(os.environ)) as terminal:
            terminal.send(b"", "attn-tutor", quiet=SHORTEST_QUIET)
            first = time.monotonic() - began
            terminal.send(b"", LAST_LESSON, quiet=SHORTEST_QUIET, silent=True)
            complete = time.monotonic() - began
        if run:  # the first one warms up the disk
            seconds["a minimal app"].append(minimal)
            seconds["the tutor, first paint"].append(first)
            seconds["the tutor, course map"].append(complete)
    return seconds


def answers(runs: int) -> dict[str, list[float]]:
    """Measure the seconds from a key to its result: an explanation, or a step recomputed with a change."""
    seconds: dict[str, list[float]] = defaultdict(list)

    def timed(name: str, terminal: Pty, key: bytes, until: str | Callable[[], bool]) -> None:
        began = time.monotonic()
        terminal.send(key, until, quiet=SHORTEST_QUIET, silent=True)
        seconds[name].append(time.monotonic() - began)

    for lesson, step, name in (
        ("multi-head-class", "run", "explanation, six tokens"),
        ("gpt2-size", "weights", "explanation, GPT-2 size"),
    ):
        with at(lesson, step, {}) as terminal:
            _until_still(terminal)
            terminal.send(ENTER, "   live", seconds=60)
            _to_cells(terminal)
            # A different cell each time, within the rows of a matrix of six tokens.
            for _, move in zip(range(runs), itertools.cycle([DOWN] * 5 + [UP] * 5), strict=False):
                timed(name, terminal, ENTER, "go on")
                further = name.replace("explanation", "explanation of an operand")
                timed(further, terminal, ENTER, lambda: terminal.text.count(" ← ") > 1)
                terminal.send(ESCAPE, "enter explain")
                terminal.send(move)
    with at("causal-mask", "causal-weights", {}) as terminal:
        _until_still(terminal)
        terminal.send(ENTER, "   live")
        terminal.send(b"w", "What if")
        terminal.send(DOWN * 4)
        for _ in range(runs):
            timed("a knob turned, six tokens", terminal, RIGHT, "  after  ")
            timed("a knob turned back", terminal, LEFT, lambda: "  after  " not in terminal.text)
    return seconds


def bytes_sent(environ: dict[str, str]) -> dict[str, list[int]]:
    """Measure the bytes that each action sends."""
    bytes_of: dict[str, list[int]] = defaultdict(list)
    course = load_course()
    with at("gpt2-size", "weights", environ) as terminal:
        bytes_of["start"].append(len(_until_still(terminal)))
        terminal.send(ENTER, "   live")
        _to_cells(terminal)
        bytes_of["arrow in a matrix"] = [len(terminal.send(key)) for key in (RIGHT, RIGHT, DOWN, DOWN)]
        bytes_of["page of a large matrix"] = [len(terminal.send(PAGE_DOWN)) for _ in range(4)]
    bytes_of["next step"], bytes_of["key in the editor"] = [], []
    lesson = course.lesson("attention-classes")
    with at(lesson.id, lesson.steps[0].id, environ) as terminal:
        _until_still(terminal)
        terminal.send(ENTER, "step 1 of")
        for number, step in enumerate(lesson.main_steps[1:], 2):
            live = isinstance(step, RunningStep) and bool(step.show)
            bytes_of["next step"].append(len(terminal.send(F8, _shows(terminal, f"step {number} of", live))))
            if step.kind == "exercise":
                terminal.send(ENTER)  # from the task into the editor
                bytes_of["key in the editor"] = [len(terminal.send(key)) for key in (b"a", b"(", b"\x7f", b"b")]
    return bytes_of


def catch_ups(runs: int) -> dict[str, list[float]]:
    """Measure the seconds from the release of a held key until a slow line has shown everything.

    The line takes all at once and delivers it later, as networks do, so the tutor cannot notice that it is slow.
    """
    seconds: dict[str, list[float]] = defaultdict(list)
    for line, environ in (("SSH", {"SSH_CONNECTION": "1"}), ("line of unknown kind", {})):
        with at("gpt2-size", "weights", {"TERM": "xterm-256color", **environ}) as terminal:
            _until_still(terminal)
            terminal.send(ENTER, "   live", seconds=60)
            _to_cells(terminal)
            for key, back, name in ((DOWN, UP, "arrow"), (PAGE_DOWN, PAGE_UP, "page down")):
                # Down and up in turn: neither end of the matrix is reached.
                for _, each in zip(range(runs), itertools.cycle((key, back)), strict=False):
                    seconds[f"{line}: {name} held for 4 s"].append(_catch_up(terminal, each, 4.0))
    return seconds


def _catch_up(terminal: Pty, key: bytes, held: float) -> float:
    """Hold a key, and return the seconds from its release until the last byte has arrived over a slow line."""
    free_at = released = began = time.monotonic()
    for number in range(1, round(held / REPEAT)):
        sent = len(terminal.send(key, silent=True, quiet=0))
        released = time.monotonic()
        sent += len(terminal.quiet(began + number * REPEAT - released))
        free_at = max(free_at, time.monotonic()) + sent / SLOW_LINE
    quiet_since = time.monotonic()
    while time.monotonic() - quiet_since < STILL:
        if sent := len(terminal.quiet(REPEAT)):
            quiet_since = time.monotonic()
            free_at = max(free_at, quiet_since) + sent / SLOW_LINE
    return max(0.0, free_at - released) + ROUND_TRIP


def memory(runs: int) -> dict[str, list[float]]:
    """Measure the megabytes of every process, with a step on the screen."""
    megabytes: dict[str, list[float]] = defaultdict(list)
    for _ in range(runs):
        with at("all-queries", "product", {}) as terminal:
            _until_still(terminal)
            terminal.send(ENTER, "   live")
            server = _children(terminal.pid)
            child = [each for pid in server for each in _children(pid)]
            for name, pids in (("screen", [terminal.pid]), ("worker", server), ("child", child)):
                for kind in ("Rss", "Pss"):
                    megabytes[f"{name}, {kind.upper()}"].append(sum(_kilobytes(pid, kind) for pid in pids) / 1024)
    return megabytes


def at(lesson: str, step: str, environ: dict[str, str]) -> Pty:
    """Start the tutor for a learner whose position is this step."""
    given = {**os.environ, **environ}
    path = Path(given["XDG_STATE_HOME"], "attn-tutor", "progress.db")
    path.parent.mkdir(parents=True, exist_ok=True)
    progress = Progress.open(path)
    progress.set_position(lesson, step)
    progress.close()
    return Pty(TUTOR, given)


def _until_still(terminal: Pty) -> bytes:
    """Return what is sent until PyTorch is loaded."""
    return terminal.send(b"", lambda: is_loaded(terminal), seconds=180)


def is_loaded(terminal: Pty) -> bool:
    """Return whether the map is shown, and PyTorch is loaded."""
    return LAST_LESSON in terminal.text and "loading" not in terminal.text


def _to_cells(terminal: Pty) -> None:
    """Leave the overview on which a large matrix opens."""
    if "arrows block" in terminal.text:
        terminal.send(ESCAPE, "arrows cell")


def _shows(terminal: Pty, title: str, live: bool) -> Callable[[], bool]:
    return lambda: title in terminal.text and ("   live" in terminal.text or not live)


def _children(pid: int) -> list[int]:
    return [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]


def _kilobytes(pid: int, kind: str) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith(f"{kind}:"):
            return int(line.split()[1])
    return 0
