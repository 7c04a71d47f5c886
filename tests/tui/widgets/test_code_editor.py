"""The editor of an exercise."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.document._syntax_aware_document import SyntaxAwareDocument
from textual.widgets.text_area import Selection

from attn_tutor.tui.widgets import editors
from attn_tutor.tui.widgets.editors import CodeEditor
from tests.tui.painted import painted_lines

CODE = "def f(x):\n    if x:\n\n        return 1\n"


class EditorApp(App[None]):
    CSS = "CodeEditor, CodeEditor:focus { border: none; padding: 0; height: 1fr; scrollbar-size: 0 0; }"

    def __init__(self, code: str = CODE) -> None:
        super().__init__()
        self.theme = "ansi-dark"
        self.editor = CodeEditor()
        self.code = code

    def compose(self) -> ComposeResult:
        yield self.editor

    def on_mount(self) -> None:
        self.editor.open("a", self.code)
        self.editor.focus()

    @property
    def lines(self) -> list[str]:
        return painted_lines(self)


async def test_code_cannot_command_the_terminal() -> None:
    """It may come from a file of anybody's progress. It is drawn without control characters, and stays as it is."""
    code = "a\x1b]0;title\x07b\tc\x9b2J = '\u202e'  # café\n"
    app = EditorApp(code)
    async with app.run_test(size=(60, 5)):
        drawn = "".join(app.lines)
        assert app.editor.text == code
    assert drawn.isprintable()
    assert "a\ufffd]0;title\ufffdb" in drawn
    assert "# café" in drawn


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (editors.indented, ["a", "", "  b"], ["    a", "", "      b"]),
        (editors.dedented, ["      a", "    b", "  c", "d", ""], ["  a", "b", "c", "d", ""]),
        (editors.commented, ["    a", "", "      b"], ["    # a", "", "    #   b"]),
        (editors.commented, ["    # a", "", "    #   b", "#c"], ["    a", "", "      b", "c"]),
        (editors.commented, ["# a", "b"], ["# # a", "# b"]),
        (editors.commented, [""], [""]),
    ],
)
def test_lines(change: object, before: list[str], after: list[str]) -> None:
    assert callable(change)
    assert change(before) == after


async def test_selected_lines_are_indented_and_dedented() -> None:
    app = EditorApp()
    async with app.run_test() as pilot:
        app.editor.selection = Selection((1, 0), (4, 0))
        await pilot.press("tab")
        assert app.editor.text == "def f(x):\n        if x:\n\n            return 1\n"
        # The lines are still selected; no character of the last line was.
        assert app.editor.selection == Selection((1, 0), (4, 0))
        await pilot.press("shift+tab", "shift+tab", "shift+tab")
        assert app.editor.text == "def f(x):\nif x:\n\nreturn 1\n"
        # Undo goes back step by step.
        await pilot.press("ctrl+z")
        assert app.editor.text == "def f(x):\nif x:\n\n    return 1\n"
        await pilot.press("ctrl+z", "ctrl+z", "ctrl+z")
        assert app.editor.text == CODE
        await pilot.press("ctrl+y")
        assert app.editor.text.startswith("def f(x):\n        if x:")


async def test_one_line() -> None:
    app = EditorApp()
    async with app.run_test() as pilot:
        app.editor.move_cursor((3, 12))
        await pilot.press("shift+tab")
        assert (app.editor.text, app.editor.cursor_location) == ("def f(x):\n    if x:\n\n    return 1\n", (3, 8))
        # Without a selection, Tab moves to the next stop.
        await pilot.press("tab")
        assert app.editor.text == "def f(x):\n    if x:\n\n    retu    rn 1\n"
        await pilot.press("ctrl+underscore")
        assert app.editor.text == "def f(x):\n    if x:\n\n    # retu    rn 1\n"


async def test_backspace_removes_a_level() -> None:
    app = EditorApp()
    async with app.run_test() as pilot:
        app.editor.move_cursor((3, 8))
        await pilot.press("backspace")
        assert app.editor.cursor_location == (3, 4)
        await pilot.press("space", "backspace")
        assert app.editor.cursor_location == (3, 4)
        await pilot.press("backspace")
        assert app.editor.text == "def f(x):\n    if x:\n\nreturn 1\n"
        # At the beginning of a line it joins lines, behind text it deletes one character.
        await pilot.press("backspace")
        assert app.editor.text == "def f(x):\n    if x:\nreturn 1\n"
        await pilot.press("end", "backspace")
        assert app.editor.text == "def f(x):\n    if x:\nreturn \n"


async def test_the_line_of_an_error() -> None:
    app = EditorApp()
    async with app.run_test(size=(40, 3)) as pilot:
        app.editor.mark(2)
        await pilot.pause()
        assert app.lines == ["1  def f(x):", "2✗     if x:", "3"]
        # The mark stays with its line as the text scrolls.
        app.editor.scroll_to(y=1, animate=False)
        await pilot.pause()
        assert app.lines[0] == "2✗     if x:"
        app.editor.mark(None)
        await pilot.pause()
        assert app.lines[0] == "2      if x:"
        app.editor.mark(99)
        await pilot.pause()
        assert "✗" not in "".join(app.lines)


async def test_undo_survives_leaving_the_exercise() -> None:
    app = EditorApp()
    async with app.run_test() as pilot:
        app.editor.move_cursor((1, 4))
        await pilot.press("x", "y")
        here = app.editor.text
        assert app.editor.open("b", "other") is False
        await pilot.press("ctrl+z")
        assert app.editor.text == "other"
        assert app.editor.open("a", here) is True
        assert app.editor.cursor_location == (1, 6)
        await pilot.press("ctrl+z")
        assert app.editor.text == CODE
        # With a different text, there is nothing to undo.
        app.editor.open("b", "other")
        assert app.editor.open("a", "new") is False
        await pilot.press("ctrl+z")
        assert app.editor.text == "new"


def test_the_query_for_the_colors_is_compiled_once() -> None:
    documents = [EditorApp(code).editor.document for code in ("a = 1", "b = 2")]
    assert all(isinstance(document, SyntaxAwareDocument) for document in documents)
    first, second = (document.prepare_query("(comment) @comment") for document in documents)
    assert first is second
    assert documents[0].prepare_query("(string) @string") is not first


async def test_keys_for_the_ends_and_all_of_the_code() -> None:
    app = EditorApp()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+end")
        assert app.editor.cursor_location == app.editor.document.end
        await pilot.press("ctrl+home")
        assert app.editor.cursor_location == (0, 0)
        await pilot.press("ctrl+a", "y")
        assert app.editor.text == "y"


@pytest.mark.parametrize(
    ("top", "marked", "cursor", "expected"),
    [
        (0, 3, 0, 0),  # in sight already
        (5, 2, 6, 2),  # above: both fit
        (0, 12, 8, 3),  # below: both fit
        (0, 40, 2, 35),  # too far from the cursor: the mark in the middle
        (20, 0, 25, 0),
        (0, 3, 12, 3),  # the editor has become smaller
    ],
)
def test_the_marked_line_comes_into_sight(top: int, marked: int, cursor: int, expected: int) -> None:
    assert editors.marked_in_sight(top, 10, marked, cursor) == expected


async def test_a_mark_out_of_sight_is_shown_and_the_cursor_stays() -> None:
    app = EditorApp("\n".join(f"x{number} = {number}" for number in range(60)))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        app.editor.mark(41)
        app.editor.show_marked()
        await pilot.pause()
        assert any(line.startswith("41✗ x40 = 40") for line in app.lines)
        assert app.editor.cursor_location == (0, 0)
        # The next key leads back to where the learner types.
        await pilot.press("y")
        assert app.lines[0].endswith("yx0 = 0")
