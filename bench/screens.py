"""Take pictures of the screens at four sizes, into `docs/screens/`: `make screens`.

They are made from the running tutor, with a worker of its own and a progress file that is thrown away.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from attn_tutor.tui.app import TutorApp
from attn_tutor.tui.sources.course_source import CourseSource
from attn_tutor.tui.tty.terminal import Terminal

FOLDER = Path(__file__).parents[1] / "docs" / "screens"
SIZES = ((80, 24), (120, 40), (160, 50), (200, 60))
PATIENCE = 60.0
"""Seconds until a screen that does not come is an error."""

SCREENS: dict[str, tuple[str, str, tuple[tuple[str, str], ...]]] = {
    "map": ("", "", ()),
    "step": ("causal-mask", "context", (("", "   live"),)),
    "comparison": ("causal-mask", "causal-weights", (("", "   live"),)),
    "explanation": ("causal-mask", "causal-weights", (("", "   live"), ("down", "[1,0]"), ("enter", "softmax("))),
    "flow": ("causal-mask", "context", (("", "   live"), ("f", "weights"), ("up", "weights = torch"))),
    "exercise": ("causal-mask", "write-causal-weights", (("", "f5 check"),)),
    "verdict": ("causal-mask", "write-causal-weights", (("f5", "Not yet"),)),
}
"""For each picture: a lesson, its step, and keys with what is to be seen after each."""


async def take(name: str, size: tuple[int, int]) -> str:
    """Return a picture as SVG."""
    lesson, step, keys = SCREENS[name]
    app = TutorApp(Terminal(), CourseSource())
    try:
        async with app.run_test(size=size) as pilot:
            await _until(pilot, lambda: app.assembled.is_set() and app.ready_to_run.is_set(), name)
            if lesson:
                app.open_when_made(lesson, step)
            for key, expected in keys:
                if key:
                    await pilot.press(key)
                await _until(pilot, lambda text=expected: text in text_of(app), f"{name}: {expected}")  # type: ignore[misc]
            # What was asked for last arrives after the text: the flow beside it, its matrix.
            before = ""
            while (now := text_of(app)) != before:
                before = now
                await pilot.pause(1.0)
            return without_chance(app.export_screenshot(title="attn-tutor"))
    finally:
        app.close()


async def _until(pilot: Pilot[None], holds: Callable[[], bool], what: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await pilot.pause(0.05)
    assert holds(), what


def text_of(app: TutorApp) -> str:
    """Return the painted lines."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text for strip in strips)


def without_chance(svg: str) -> str:
    """Return a picture without what differs each time: the number in its ids, and how long a step took."""
    return re.sub(r"terminal-\d+-", "terminal-", re.sub(r"live,&#160;\d+&#160;ms", "live,&#160;2&#160;ms", svg))


def main() -> None:
    """Take the pictures named on the command line, or all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_DATA_HOME": folder, "XDG_STATE_HOME": folder}
        for name in sys.argv[1:] or SCREENS:
            for columns, lines in SIZES:
                path = FOLDER / f"{name}-{columns}x{lines}.svg"
                path.write_text(asyncio.run(take(name, (columns, lines))) + "\n", encoding="utf-8")
                print(path.name)


if __name__ == "__main__":
    main()
