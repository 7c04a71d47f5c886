"""Open a program and a file of one's own and write the screens into `docs/own-code.md`: `python -m bench.own_code`.

Only what stands between the marks of the document is written; the rest of it is written by hand.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from textual.pilot import Pilot

from attn_tutor.lessons.programs.engine import tensor_file
from attn_tutor.lessons.programs.engine.session import ProgramSession
from attn_tutor.lessons.programs.engine.tensor_file import TensorFileSession
from attn_tutor.lessons.programs.render import tensor_file_text
from attn_tutor.lessons.programs.results.program_result import OwnProgram
from attn_tutor.tui.app import TutorApp
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.programs.pages import ProgramSource, TensorFileSource
from attn_tutor.tui.programs.program_map import ProgramMap
from attn_tutor.tui.tty.terminal import Terminal
from bench.screens import PATIENCE, text_of

FILE = Path(__file__).parents[1] / "docs" / "own-code.md"
END = "<!-- end of screens -->\n"
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

SAVE = """\
import torch
from torch import nn

torch.manual_seed(0)
layers = [nn.TransformerEncoderLayer(16, 2, 32) for _ in range(2)]
model = nn.ModuleDict({"embedding": nn.Embedding(50, 16), "layers": nn.ModuleList(layers), "out": nn.Linear(16, 50)})
torch.save({"model": model.state_dict(), "epoch": 3, "lr": 0.001}, "model.pt")
"""

Stops = tuple[tuple[str, tuple[str, ...], str], ...]
"""What the user does, the keys for that, and a text that is on the screen then."""

OPEN: Stops = (
    (
        "These are the variables of `main` when it returned. The first lines say what ran, and under which limits",
        (),
        "live",
    ),
    (
        "Enter on the loss shows how it was computed, from which numbers, and on which line",
        ("tab", "tab", "enter"),
        "pow",
    ),
    ("`n` turns to the next function, which is in a different file", ("escape", "n"), "Attention.forward"),
    ("`w` changes a cell, or any literal of the program, and runs it again", ("b", "w", "down", "down"), "What if"),
    ("`m` lists every tensor that has a name", ("escape", "m"), "tensors"),
)

SHOW: Stops = (
    ("First comes the list", (), "tensors"),
    ("Enter opens the page of a tensor, together with its neighbors", ("down",) * 7 + ("enter",), "live"),
    ("Enter on a number says where in the file it is stored", ("enter",), "byte offset"),
)


async def of_program(folder: Path) -> list[tuple[str, tuple[str, ...], str]]:
    """Return what is done at each stop of a program, its keys, and its screen."""
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    path = folder / "train.py"
    path.write_text(TRAIN, encoding="utf-8")
    session = ProgramSession(OwnProgram.here(path, TRAIN, ("--steps", "2")))
    session.open(session.program)
    return await walk(TutorApp(Terminal(), ProgramSource(session), ProgramMap), OPEN)


async def of_file(folder: Path) -> list[tuple[str, tuple[str, ...], str]]:
    """Return what is done at each stop of a file of tensors, its keys, and its screen."""
    subprocess.run([sys.executable, "-c", SAVE], cwd=folder, check=True)
    path = Path("model.pt")
    with open_session() as session:
        with tensor_file.opened_tensors(session, path) as file:
            found = file.found
        pages = TensorFileSession(path, found, tensor_file_text.table, launcher=session.launcher)
        return await walk(TutorApp(Terminal(), TensorFileSource(pages), ProgramMap), SHOW)


async def walk(app: TutorApp, stops: Stops) -> list[tuple[str, tuple[str, ...], str]]:
    """Return what is done at each stop, its keys, and its screen."""
    screens: list[tuple[str, tuple[str, ...], str]] = []
    try:
        async with app.run_test(size=SIZE) as pilot:
            for does, keys, expected in stops:
                for key in keys:
                    await pilot.press(key)
                screens.append((does, keys, await _settled(pilot, app, expected)))
    finally:
        app.close()
    return screens


async def _settled(pilot: Pilot[None], app: TutorApp, expected: str) -> str:
    """Return the screen as soon as it shows a text and stands still, without what differs each time."""
    before = ""
    try:
        async with asyncio.timeout(PATIENCE):
            while (now := text_of(app)) != before or expected not in now:
                before = now
                await pilot.pause(1.0)
    except TimeoutError:
        raise SystemExit(f"'{expected}' did not appear. The screen:\n{text_of(app)}") from None
    now = re.sub(r"live, \d+ ms", lambda found: "live, 90 ms".rjust(len(found[0])), now)
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
        screens = {"open": asyncio.run(of_program(Path(folder))), "show": asyncio.run(of_file(Path(folder)))}
    text = FILE.read_text(encoding="utf-8")
    for verb, found in screens.items():
        begin = f"<!-- screens of {verb} -->\n"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(END)
        text = before + begin + "\n".join(markdown(found)) + END + after
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
