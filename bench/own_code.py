"""Open a program of one's own and write the screens into `docs/own-code.md`: `python -m bench.own_code`.

Only what stands between the two marks of the document is written; the rest of it is written by hand.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from textual.pilot import Pilot

from bench.screens import PATIENCE, text_of
from lessons.engine.program_session import ProgramSession
from lessons.engine.running_program import OwnProgram
from tui.program_app import ProgramApp
from tui.tty.terminal import Terminal

FILE = Path(__file__).parents[1] / "docs" / "own-code.md"
BEGIN, END = "<!-- screens of open -->\n", "<!-- end of screens -->\n"
SIZE = (100, 36)

MODEL = """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        weights = scores.softmax(dim=-1)
        return weights @ v
"""

TRAIN = """\
import argparse

import torch
from model import Attention


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(0)
    x = torch.randn(5, 4)
    model = Attention(4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(args.steps):
        out = model(x)
        loss = (out - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
"""

STOPS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "The variables of `main`, as they were when it returned. What ran, and under which limits, stands on top",
        (),
        "live",
    ),
    ("Enter on the loss: how it was computed, from which numbers, on which line", ("tab", "tab", "enter"), "pow"),
    ("`n` goes on to the next function, which is in another file", ("escape", "n"), "Attention.forward"),
    ("`w` changes a cell, or any literal of the program, and runs it again", ("b", "w", "down", "down"), "What if"),
    ("`m` lists all tensors that the program names", ("escape", "m"), "tensors"),
)
"""What the user does, the keys for that, and a text that is on the screen then."""


async def walk(folder: Path) -> list[tuple[str, tuple[str, ...], str]]:
    """Return what is done at each stop, its keys, and its screen."""
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    path = folder / "train.py"
    path.write_text(TRAIN, encoding="utf-8")
    session = ProgramSession(OwnProgram.here(path, TRAIN, ("--steps", "2")))
    session.open(session.program)
    app = ProgramApp(Terminal(), session)
    screens: list[tuple[str, tuple[str, ...], str]] = []
    try:
        async with app.run_test(size=SIZE) as pilot:
            for does, keys, expected in STOPS:
                for key in keys:
                    await pilot.press(key)
                screens.append((does, keys, await _settled(pilot, app, expected)))
    finally:
        app.close()
    return screens


async def _settled(pilot: Pilot[None], app: ProgramApp, expected: str) -> str:
    """Return the screen as soon as it shows a text and stands still, without what differs each time."""
    before = ""
    try:
        async with asyncio.timeout(PATIENCE):
            while (now := text_of(app)) != before or expected not in now:
                before = now
                await pilot.pause(1.0)
    except TimeoutError:
        raise SystemExit(f"'{expected}' did not appear. The screen:\n{text_of(app)}") from None
    now = re.sub(r"live, \d+ ms", "live, 90 ms", now)
    return re.sub(r"ran in \S+ for [\d.]+ seconds", "ran in /home/you/code for 0.1 seconds", now)


def markdown(screens: list[tuple[str, tuple[str, ...], str]]) -> Iterator[str]:
    """Yield the lines between the marks."""
    for does, keys, screen in screens:
        yield f"\n{does}.\n"
        if keys:
            yield f"Keys: {' '.join(f'`{key}`' for key in keys)}\n"
        yield "```text"
        yield from (line.rstrip() for line in screen.splitlines())
        yield "```"
    yield ""


def main() -> None:
    """Write the screens into the document."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_DATA_HOME": folder, "XDG_STATE_HOME": folder}
        os.chdir(folder)
        screens = asyncio.run(walk(Path(folder)))
    text = FILE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    FILE.write_text(before + BEGIN + "\n".join(markdown(screens)) + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
