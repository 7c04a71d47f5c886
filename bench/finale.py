"""Walk through the trainings and the experiments of the last lesson and write down the screens: `make finale`.

Two walks, at 80x24 and at 160x50, each with a worker of its own and a progress file that is thrown away. The trainings
are real and take half a minute each. Without colors, shades say how large a weight is.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from bench.tour import Stop, markdown, walk
from tui.tty.terminal import Terminal

FILE = Path(__file__).parents[1] / "docs" / "finale.md"
SIZES = ((80, 24), (160, 50))

INTRODUCTION = """\
# The last lesson

What a learner sees of the two trainings of lesson 16 and of what follows, at {columns} by {lines}. `make finale` writes
this file: it opens the steps, presses the keys that are named, and copies the screen. Seconds differ, and all read 20.
"""

LESSON = "induction"
CIRCUIT: tuple[Stop, ...] = (
    Stop("The whole circuit: a score and its two parts", ("enter",), "= own[5,2]", (LESSON, "circuit")),
    Stop("The part that came through the first head", ("down", "enter"), "matches[5,1]"),
    Stop("The weight that carried the letter", ("down", "right", "a"), "Right"),
)
"""The find, which is walked on the small screen only: how operands are chosen depends on the width."""

STOPS: tuple[Stop, ...] = (
    Stop("Before the first training: nothing tells what it leads to", (), "before training", (LESSON, "fixed")),
    Stop("The learner trains it: the attention settles on one stripe", ("g",), "trained here in"),
    Stop("A test that decides: the repeat at other distances", (), "10 back", (LESSON, "moved")),
    Stop("Before the second training, with both layers in view", (), "before training", (LESSON, "various")),
    Stop("The recorded training, some steps on", ("full_stop",) * 7, "140"),
    Stop("Trained here: a stripe in each layer, and the loss far below its line of chance", ("g",), "trained here in"),
    Stop("The same test, passed", (), "chance", (LESSON, "distances")),
    Stop("An ablation: the first head is switched off", ("w", "0", "enter"), "Done", (LESSON, "ablation")),
    Stop("What the last head writes", (), "some_raised", (LESSON, "copies")),
    Stop("A letter is changed, and copied", ("right", "right", "w", '"25', "enter"), "Done", (LESSON, "swapped")),
    *CIRCUIT,
    Stop("The end: the heads composed by hand, and the trained one", (), "by_hand", (LESSON, "remember")),
)
"""The walk."""


def main() -> None:
    """Write the document."""
    lines: list[str] = []
    for columns, rows in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            os.environ |= {"XDG_DATA_HOME": folder, "XDG_STATE_HOME": folder}
            stops = STOPS if (columns, rows) == SIZES[0] else [stop for stop in STOPS if stop not in CIRCUIT]
            screens = asyncio.run(walk(stops, (columns, rows), Terminal(depth="none")))
        introduction = INTRODUCTION if not lines else "# At {columns} by {lines}\n"
        lines += markdown(screens, introduction.format(columns=columns, lines=rows))
    FILE.write_text("\n".join(lines), encoding="utf-8")
    print(FILE)


if __name__ == "__main__":
    main()
