"""Journeys to what can be taken home, and back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from attn_tutor.lessons.learner.exports import parse
from attn_tutor.tui.screens.home_view import HomeView
from attn_tutor.tui.widgets.text import TextPane
from tests.course import COURSE
from tests.tui.learner import position_text, tutor

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Start the tutor in an empty folder."""
    found = tmp_path / "here"
    found.mkdir()
    monkeypatch.chdir(found)
    return found


async def test_the_matrix_under_the_cursor_and_the_screen_are_written(folder: Path) -> None:
    async with tutor(size=(120, 30)) as learner:
        await learner.goes_to("one-query", "softmax")
        await learner.press("tab")
        await learner.sees(lambda: learner.lesson_view.flow_subject)
        tensor = learner.lesson_view._matrix.tensor if learner.lesson_view._matrix else None
        assert tensor is not None
        assert tensor.values is not None
        await learner.is_answered()
        before, focus = learner.lines[3:12], learner.focus
        await learner.press("k")
        await learner.sees("Take home", "File to write >", f"{tensor.name}.txt", f" {tensor.name} as CSV")
        await learner.press("down")
        await learner.sees(f"{tensor.name}.csv")
        await learner.press("enter")
        await learner.sees("Written:")
        rows = list(csv.reader((folder / f"{tensor.name}.csv").read_text().splitlines()))
        numbers = [float(cell) for row in rows[1:] for cell in (row[1:] if len(tensor.shape) > 1 else row)]
        assert numbers == pytest.approx(tensor.values)

        await learner.press("down", "down")
        await learner.sees("screen.svg", "the screen as SVG")
        await learner.press("enter")
        await learner.sees(lambda: (folder / "screen.svg").exists())
        await learner.press("escape")
        await learner.sees(position_text("one-query", "softmax"), lambda: learner.lines[3:12] == before)
        assert learner.focus == focus
        picture = (folder / "screen.svg").read_text(encoding="utf-8")
        assert 'xml:space="preserve"' in picture  # else librsvg and Inkscape leave out spaces
        root = ElementTree.fromstring(picture)
        title, text = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
        assert title is not None
        assert text is not None
        assert title.text
        assert text.text
        assert COURSE.lesson("one-query").step("softmax").title in title.text
        assert before[0] in text.text
        assert root.get("role") == "img"
        assert root.get("aria-label") == title.text
        # Nothing is fetched by whoever looks at it.
        assert picture.count("http") == picture.count('xmlns="http://www.w3.org/2000/svg"')


async def test_a_file_of_somebody_stays(folder: Path) -> None:
    (folder / "screen.svg").write_text("mine")
    async with tutor() as learner:
        # On the map there is no matrix.
        await learner.press("k")
        await learner.sees("the screen as SVG", "screen-2.svg")
        await learner.press("home", *["delete"] * len("screen-2.svg"), *"screen.svg", "enter")
        about = learner.app.query_one("#offer-about", TextPane)
        await learner.sees(lambda: "screen.svg is there already, and stays as it is." in about.text)
        assert (folder / "screen.svg").read_text() == "mine"
        await learner.press("home", *["delete"] * len("screen.svg"), *"no/where.svg", "enter")
        await learner.sees(lambda: "there is no such folder" in about.text)


async def test_progress_and_what_was_read(folder: Path) -> None:
    async with tutor() as learner:
        await learner.press("k")
        view = learner.app.query_one(HomeView)
        await learner.press("pagedown", "up")
        await learner.sees("what you read as HTML", lambda: view.file.value == "my_attention.html")
        # Nobody has read anything, so nothing has to be run to say so.
        await learner.press("enter")
        await learner.sees("You have not read any of it yet.")
        learner.progress.add_attempt("two-wide", "x", "failed")
        for _ in range(2):
            # Written a second time, it replaces what it has written itself.
            await learner.press("down")
            await learner.sees("your progress and code", lambda: view.file.value == "my_progress.json")
            await learner.press("enter")
            await learner.sees("Written:")
            await learner.press("up")
            await learner.sees(lambda: view.file.value == "my_attention.html")
        found = parse(json.loads((folder / "my_progress.json").read_text()))
        assert [row["exercise"] for row in found["attempts"]] == ["two-wide"]
        assert sorted(each.name for each in folder.iterdir()) == ["my_progress.json"]
