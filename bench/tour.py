"""Walk through the first fifteen minutes of the course and write down what is on the screen: `make tour`.

The walk uses the running tutor at 80x24, with a worker of its own and a progress file that is thrown away. It presses
the keys of a learner who does what the screen asks for, and fails if what is expected does not appear.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from textual.pilot import Pilot

from attn_tutor.tui.app import TutorApp
from attn_tutor.tui.sources.course_source import CourseSource
from attn_tutor.tui.tty.terminal import Terminal
from bench.screens import PATIENCE, text_of

FILE = Path(__file__).parents[1] / "docs" / "tour.md"
SIZE = (80, 24)

INTRODUCTION = """\
# The first fifteen minutes

What a learner sees at 80 by 24, from the start on. `make tour` writes this file: it opens the tutor, presses the keys
that are named, and copies the screen.
"""


class Stop(NamedTuple):
    """A moment of the walk: what the learner does, the keys for that, and a text that is on the screen then.

    A key that is longer than one character and begins with a quotation mark is text to type. A stop with a `place`, the
    ids of a lesson and a step, begins there.
    """

    does: str
    keys: tuple[str, ...]
    expected: str
    place: tuple[str, str] | None = None


STOPS: tuple[Stop, ...] = (
    Stop("The start: enter opens the first lesson", (), "Start: 0"),
    Stop("The first screen is alive, and asks for a key", ("enter",), "live"),
    Stop("The cursor moves, and the line below reads the cell out", ("down", "right", "right"), "weights[1,2] ="),
    Stop("Where does this number come from?", ("enter",), "scores[1,:]"),
    Stop("The next step asks to follow a number down to an input", ("escape", "n"), "step 2 of"),
    Stop("The share comes from a row of scores", ("enter",), "a this is it"),
    Stop("One of them, chosen and followed, is a sum of products", ("right", "right", "enter"), "inputs[1,:]"),
    Stop("A factor of the largest product is the answer", ("right", "a"), "Right"),
    Stop("Now the learner changes the sentence", ("n", "w"), "What if"),
    Stop(
        "The matrix follows the words, and the change is judged",
        ("down", "enter", "ctrl+u", '"the cat and the dog', "enter"),
        "Done",
    ),
    Stop("Only then comes the question, and the first line of code", ("tab", "n"), "f5 check"),
    Stop("An answer that does not work yet", ("enter", '"[table[word] for word in table]', "f5"), "Not yet"),
    Stop("The right one", ("end", "ctrl+u", '"    english = [table[word] for word in german]', "f5"), "Passed"),
    Stop("What the sentence says word by word, and what it should say", ("f8",), "step 5 of"),
    Stop("A prediction, by pointing at a hidden number", ("down", "down", "right", "right", "enter"), "✗"),
    Stop("The right word", ("right", "right", "right", "enter"), "Right"),
    Stop("The encoder, live", ("n",), "live"),
    Stop("A number of the second state, and the first state in it", ("tab", "enter"), "backspace back"),
    Stop("The learner's turn: the same update for any word", ("escape", "n"), "f5 check"),
    Stop(
        "The gap is selected, so typing fills it", ("enter", '"torch.tanh(x @ W_in + state @ W_state)', "f5"), "Passed"
    ),
    Stop("Now every word goes through it, and the learner predicts a shape", ("f8",), "step 8 of"),
    Stop("Sizes are typed in any usual form", ('"6, 4', "enter"), "Right"),
)
"""The walk."""


async def walk(
    stops: Sequence[Stop] = STOPS, size: tuple[int, int] = SIZE, terminal: Terminal | None = None
) -> list[tuple[Stop, str]]:
    """Return each stop with its screen."""
    app = TutorApp(terminal or Terminal(), CourseSource())
    screens: list[tuple[Stop, str]] = []
    try:
        async with app.run_test(size=size) as pilot:
            await _until(pilot, app, "course map", ready=True)
            for stop in stops:
                if stop.place is not None:
                    lesson, step = stop.place
                    app.open_when_made(lesson, step)
                    await _until(pilot, app, app.source.lesson(lesson).step(step).title)
                    await _until(pilot, app, stop.expected if not stop.keys else "live,")
                for key in stop.keys:
                    for each in key[1:] if key.startswith('"') and len(key) > 1 else (key,):
                        await pilot.press("space" if each == " " else each)
                await _until(pilot, app, stop.expected)
                screens.append((stop, await _settled(pilot, app)))
    finally:
        app.close()
    return screens


async def _until(pilot: Pilot[None], app: TutorApp, expected: str, *, ready: bool = False) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            while expected not in text_of(app) or (ready and not app.ready_to_run.is_set()):
                await pilot.pause(0.05)
    except TimeoutError:
        raise SystemExit(f"'{expected}' did not appear. The screen:\n{text_of(app)}") from None


async def _settled(pilot: Pilot[None], app: TutorApp) -> str:
    """Return the screen as soon as it has stood still, and without what differs each time."""
    before = ""
    while (now := text_of(app)) != before:
        before = now
        await pilot.pause(1.0)
    return re.sub(r"(trained here in|recorded in|about) \d+ s", r"\1 20 s", re.sub(r"live, \d+ ms", "live, 2 ms", now))


def markdown(screens: list[tuple[Stop, str]], introduction: str = INTRODUCTION) -> Iterator[str]:
    """Yield the lines of the document."""
    yield introduction
    for number, (stop, screen) in enumerate(screens, 1):
        keys = " ".join(f"`{key.removeprefix(chr(34)) if len(key) > 1 else key}`" for key in stop.keys)
        yield f"## {number}. {stop.does}\n"
        if keys:
            yield f"Keys: {keys}\n"
        yield "```text"
        yield from (line.rstrip() for line in screen.splitlines())
        yield "```\n"


def main() -> None:
    """Write the document."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_DATA_HOME": folder, "XDG_STATE_HOME": folder}
        FILE.write_text("\n".join(markdown(asyncio.run(walk()))), encoding="utf-8")
    print(FILE)


if __name__ == "__main__":
    main()
