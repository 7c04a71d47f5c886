"""What-if changes: the rows, their effects, and the panel."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.widgets import Input

from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.what_if.cells import CellChange
from attn_tutor.lessons.what_if.changes import UNCHANGED, ChangeError, ChangeHistory, Changes, apply
from attn_tutor.tui.state import what_if_rows
from attn_tutor.tui.state.what_if_rows import Spot, WhatIfRow
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.what_if_panel import Rows, WhatIfPanel, row_text
from tests.lessons.lesson_builders import Fields, code_step, lesson_of, text_step
from tests.tui.painted import painted_lines

INPUTS = "inputs = torch.tensor([[0.43, 0.15, 0.89],   # Your\n                       [0.55, 0.87, 0.66]])  # journey\n"
HEADS = {"kind": "number", "name": "heads", "label": "Heads", "default": 2, "values": [1, 2, 4]}
RATE = {"kind": "number", "name": "rate", "label": "Rate", "default": 0.5, "least": 0, "most": 0.9, "step": 0.2}
SCALING = {"kind": "choice", "name": "scaling", "label": "Scaling", "options": {"on": " / 2", "off": ""}}
KNOBS: list[Fields] = [
    {"kind": "words", "name": "words", "label": "Your own words"},
    {"kind": "seed", "name": "seed", "label": "Seed"},
    HEADS | {"find": "n=2", "replace": "n={value}"},
    RATE | {"find": "p=0.5", "replace": "p={value}"},
    SCALING,
]
LESSON = lesson_of(
    text_step("why", "Read."),
    code_step("one", "n=2\np=0.5\nx = inputs / 2\ntorch.rand(1)", "x"),
    code_step("two", "y = x + n", "y"),
    setup=f"import torch\n{INPUTS}",
    tokens=["Your", "journey"],
    knobs=KNOBS,
    seed=123,
)
SPOT = Spot("x", (1, 0), "0.275")
CELL = CellChange("one", "x", (1, 0), 0.5)


def rows(changes: Changes = UNCHANGED, step: str = "one", spot: Spot | None = SPOT) -> dict[str, WhatIfRow]:
    return {row.label: row for row in what_if_rows.rows(LESSON, step, changes, spot)}


def knob(name: str, changes: Changes = UNCHANGED) -> WhatIfRow:
    return next(row for row in rows(changes).values() if row.knob is not None and row.knob.name == name)


def setting(name: str, value: object) -> Changes:
    return UNCHANGED.with_knob(LESSON, name, value)  # type: ignore[arg-type]


# Rows ---------------------------------------------------------------------------------------------------------------


def test_rows() -> None:
    found = rows()
    assert [(row.kind, row.label, row.value) for row in found.values()] == [
        ("spot", "x[1,0]", "0.275"),
        ("knob", "Your own words", "Your journey"),
        ("knob", "Seed", "123"),
        ("knob", "Heads", "2"),
        ("knob", "Rate", "0.5"),
        ("knob", "Scaling", "on"),
        ("new", "any other cell", ""),
    ]
    assert found["any other cell"].example == "x[1,0] = 1"
    assert not any(row.changed for row in found.values())
    assert [row.hint for row in found.values()][3:6] == [
        "left, right: 1, 2, 4",
        "left, right, or enter a number from 0 to 0.9",
        "left, right: on / off",
    ]
    assert "toy numbers" in found["Your own words"].hint


def test_rows_of_changed_cells() -> None:
    changes = setting("heads", 4).with_cell(LESSON, CELL)
    found = rows(changes, spot=None)
    assert [(row.label, row.value) for row in found.values() if row.changed] == [("x[1,0]", "0.5"), ("Heads", "4")]
    assert next(iter(found.values())).cell == CELL


def test_knobs_that_change_nothing_yet_are_not_offered() -> None:
    assert {row.label for row in rows(step="why").values()} == {"x[1,0]", "Your own words", "Seed", "any other cell"}


# Turning ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "by", "expected"),
    [
        ("heads", 1, [4, 4]),
        ("heads", -1, [1, 1]),
        ("scaling", 1, ["off", "on"]),
        ("scaling", -1, ["off", "on"]),
        ("seed", 1, [124, 125]),
        ("seed", -124, [0, 0]),
        ("rate", 1, [0.7, 0.9, 0.9]),
        ("rate", -1, [0.3, 0.1, 0, 0]),
        ("words", 1, ["Your journey"]),
    ],
)
def test_turning(name: str, by: int, expected: list[object]) -> None:
    changes, seen = UNCHANGED, []
    for _ in expected:
        changes = what_if_rows.turn(LESSON, changes, knob(name, changes), by)
        seen.append(changes.settings.get(name, {"scaling": "on", "words": "Your journey"}.get(name)))
    assert seen == expected


@given(st.lists(st.tuples(st.sampled_from([item["name"] for item in KNOBS]), st.sampled_from([-1, 1])), max_size=20))
def test_any_turn_of_a_knob_gives_valid_code(turns: list[tuple[str, int]]) -> None:
    changes = UNCHANGED
    for name, by in turns:
        changes = what_if_rows.turn(LESSON, changes, knob(name, changes), by)
        apply(LESSON, changes)
    for row in rows(changes).values():
        changes = what_if_rows.restore(changes, row)
    assert changes == UNCHANGED


def test_a_cell_cannot_be_turned() -> None:
    for row in rows(UNCHANGED.with_cell(LESSON, CELL)).values():
        if row.knob is None:
            assert what_if_rows.turn(LESSON, UNCHANGED, row, 1) == UNCHANGED


# Typing -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "text", "expected"),
    [
        ("x[1,0]", "0.5", UNCHANGED.with_cell(LESSON, CELL)),
        ("x[1,0]", "-inf", UNCHANGED.with_cell(LESSON, CellChange("one", "x", (1, 0), float("-inf")))),
        ("any other cell", "two:y[0,1] = 3", UNCHANGED.with_cell(LESSON, CellChange("two", "y", (0, 1), 3))),
        ("any other cell", "inputs[0,0]=1", UNCHANGED.with_cell(LESSON, CellChange("setup", "inputs", (0, 0), 1))),
        ("Your own words", "one two three", setting("words", "one two three")),
        ("Seed", "7", setting("seed", 7)),
        ("Seed", "123", UNCHANGED),
        ("Heads", "4", setting("heads", 4)),
        ("Rate", "0.25", setting("rate", 0.25)),
        ("Scaling", "OFF", setting("scaling", "off")),
    ],
)
def test_typing(label: str, text: str, expected: Changes) -> None:
    assert what_if_rows.set_value(LESSON, "one", UNCHANGED, rows()[label], SPOT, text) == expected


@pytest.mark.parametrize(
    ("label", "text", "sentence"),
    [
        ("x[1,0]", "much", "'much' is not a number"),
        ("any other cell", "0.9", "does not say which cell"),
        ("any other cell", "nothing[0]=1", "There is no variable 'nothing'"),
        ("Your own words", "one", "At least 2 are needed"),
        ("Seed", "-1", "is not a seed"),
        ("Heads", "3", "'heads' cannot be 3. It can be 1, 2 or 4."),
        ("Rate", "1", "It can be a number from 0 to 0.9"),
        ("Scaling", "perhaps", "cannot be 'perhaps'"),
    ],
)
def test_values_that_are_refused(label: str, text: str, sentence: str) -> None:
    with pytest.raises(ChangeError, match=sentence):
        what_if_rows.set_value(LESSON, "one", UNCHANGED, rows()[label], SPOT, text)


def test_a_changed_cell_is_changed_again_or_restored() -> None:
    changes = UNCHANGED.with_cell(LESSON, CELL)
    row = rows(changes, spot=None)["x[1,0]"]
    assert what_if_rows.set_value(LESSON, "two", changes, row, None, "2").cells == (CellChange("one", "x", (1, 0), 2),)
    assert what_if_rows.restore(changes, row) == UNCHANGED
    with pytest.raises(ChangeError, match="no number under the cursor"):
        what_if_rows.set_value(LESSON, "one", changes, rows()["x[1,0]"], None, "2")


def test_a_lesson_of_several_seeds() -> None:
    """No seed is the default of all: turning starts at the seed of the lesson; restoring gives each its own back."""
    lesson = lesson_of(
        code_step("one", "torch.rand(1)", "x"),
        code_step("two", "torch.rand(1)", "y", seed=7),
        knobs=[KNOBS[1]],
        seed=123,
    )

    def row(changes: Changes) -> WhatIfRow:
        return next(row for row in what_if_rows.rows(lesson, "two", changes, None) if row.knob)

    assert (row(UNCHANGED).value, row(UNCHANGED).changed) == ("each step its own", False)
    changes = what_if_rows.turn(lesson, UNCHANGED, row(UNCHANGED), 1)
    assert (row(changes).value, row(changes).changed) == ("124", True)
    assert what_if_rows.restore(changes, row(changes)) == UNCHANGED


# One row on the screen ----------------------------------------------------------------------------------------------


@given(st.integers(10, 160), st.integers(0, 6), st.booleans(), st.booleans())
def test_a_row_fits(width: int, index: int, chosen: bool, unicode: bool) -> None:
    row = list(rows(setting("words", " ".join(["extraordinarily"] * 12)) if index % 2 else UNCHANGED).values())[index]
    text = row_text(row, width, chosen, unicode)
    assert text.cell_len <= width
    assert unicode or text.plain.isascii()


def test_the_hint_of_a_cell_fits_on_80_columns() -> None:
    row = rows(spot=Spot("weights", (0, 0), "0.20983472"))["weights[0,0]"]
    assert row_text(row, 78, True, True).plain.rstrip().endswith("enter or digit: new value")


def test_the_text_of_a_row() -> None:
    assert row_text(knob("heads"), 78, False, True).plain.split() == ["Heads", "2"]
    assert row_text(knob("heads"), 78, True, True).plain.split() == [
        ">",
        "Heads",
        "2",
        "left,",
        "right:",
        "1,",
        "2,",
        "4",
    ]
    changed = knob("heads", setting("heads", 4))
    assert row_text(changed, 78, False, True).plain.split() == ["•", "Heads", "4"]
    assert row_text(changed, 78, False, False).plain.split() == ["*", "Heads", "4"]


# The panel ----------------------------------------------------------------------------------------------------------


class Asking(App[None]):
    """An app with the panel alone, which keeps the posted messages."""

    def __init__(self, lesson: Lesson = LESSON) -> None:
        super().__init__()
        self.theme = "ansi-dark"
        self.view = WhatIfPanel(Terminal(depth="16"), beside_older_text=True)
        self.lesson = lesson
        self.history = ChangeHistory()
        """What is to hold, by the last message."""
        self.changed: list[Changes] = []
        self.closed = 0

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.styles.height = 9
        self.view.show(self.lesson, "one", SPOT)
        self.view.focus_rows()

    def on_what_if_panel_changed(self, event: WhatIfPanel.Changed) -> None:
        self.history = event.history
        self.changed.append(event.history.current)

    def on_what_if_panel_closed(self) -> None:
        self.closed += 1

    @property
    def lines(self) -> list[str]:
        return painted_lines(self)

    @property
    def chosen(self) -> str:
        row = self.query_one(Rows).row
        return row.label if row else ""

    @property
    def written(self) -> str:
        return self.query_one(Input).value


async def test_knobs_are_turned() -> None:
    app = Asking()
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.pause()
        assert app.lines[0] == " What if …"
        assert [line.split()[0] for line in app.lines[1:8]] == [">", "Your", "Seed", "Heads", "Rate", "Scaling", "any"]
        await pilot.press("right")  # a cell cannot be turned
        await pilot.press("down", "down", "down", "right", "right", "plus", "left", "minus")
        assert [changes.settings for changes in app.changed] == [{"heads": 4}, {}, {"heads": 1}]
        assert app.lines[4].split()[:3] == ["•", "Heads", "1"]
        await pilot.press("delete")
        assert app.changed[-1] == app.history.current == UNCHANGED
        # Enter turns what can only be turned.
        await pilot.press("enter")
        assert app.changed[-1].settings == {"heads": 4}
        assert not app.view.typing


async def test_a_number_is_typed() -> None:
    app = Asking()
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.press("-", "2", ".", "5", "enter")
        assert app.changed == [Changes(cells=(CellChange("one", "x", (1, 0), -2.5),))]
        assert (app.view.typing, app.chosen) == (False, "x[1,0]")
        assert any(line.split()[:3] == ["•", "x[1,0]", "-2.5"] for line in app.lines)
        # The row now stands for the changed cell, and typing starts from its value.
        await pilot.press("enter")
        assert (app.view.typing, app.written) == (True, "-2.5")
        await pilot.press("enter")
        assert len(app.changed) == 1
        # An empty input changes nothing. What is there is selected, so that one key clears it.
        await pilot.press("enter", "backspace", "enter")
        assert len(app.changed) == 1
        assert not app.view.typing


async def test_the_panel_opens_on_the_cell_under_the_cursor() -> None:
    app = Asking()
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.press("down", "down")
        assert app.chosen == "Seed"
        app.view.choose_spot()
        assert app.chosen == "x[1,0]"
        # Where no cell can be changed, the row stays.
        await pilot.press("down")
        app.view.show(app.lesson, "one", None)
        app.view.choose_spot()
        assert app.chosen == "Your own words"


async def test_coming_back_from_a_different_cell_means_that_cell() -> None:
    """On the way, the learner may have been in a pane without cells, where the changed cell had a row of its own."""
    app = Asking()
    async with app.run_test(size=(80, 12)) as pilot:
        app.view.choose_spot()
        await pilot.press("0", "enter")
        app.view.set_spot(None)
        app.view.set_spot(Spot("x", (0, 2), "0.445"))
        app.view.choose_spot(if_moved=True)
        assert app.chosen == "x[0,2]"
        # Without a move, the row that was chosen stays.
        await pilot.press("down", "down")
        chosen = app.chosen
        app.view.choose_spot(if_moved=True)
        assert app.chosen == chosen != "x[0,2]"


async def test_what_is_typed_replaces_the_words() -> None:
    app = Asking()
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.press("down", "enter")
        assert (app.view.typing, app.written) == (True, "Your journey")
        await pilot.press(*"One more word")
        assert app.written == "One more word"


async def test_what_the_changes_mean_stands_in_two_lines_if_it_is_long() -> None:
    app = Asking()
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.press("down", "enter", *"one two three", "enter")
        assert app.lines[:2] == [
            " What if …   (toy numbers, drawn from the letters: they mean nothing)",
            " (the text describes the code before your changes)",
        ]
        await pilot.press("delete")
        assert app.lines[0] == " What if …"
        assert app.lines[1].lstrip().startswith("x[1,0]")


async def test_a_wrong_value_stays_with_an_explanation() -> None:
    changed = " What if …   (the text describes the code before your changes)"
    app = Asking()
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.press("down", "down", "1", "x", "enter")
        assert app.lines[0] == " '1x' is not a seed. A seed is a whole number from 0 to 4294967295."
        assert (app.view.typing, app.written, app.changed) == (True, "1x", [])
        await pilot.press("backspace", "enter")
        assert (app.lines[0], app.changed[-1].settings) == (changed, {"seed": 1})
        await pilot.press(*["down"] * 4, "enter", "x", "enter")
        assert app.lines[:2] == [
            " 'x' does not say which cell to change. Write it like 'inputs[1,0]=0.9' or",
            " 'STEP:weights[0,2]=0'.",
        ]
        await pilot.press("escape")
        assert (app.lines[0], app.view.typing, app.closed) == (changed, False, 0)
        assert len(app.changed) == 1
        await pilot.press("escape")
        assert app.closed == 1


async def test_undo_and_redo() -> None:
    app = Asking()
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.press("down", "down", "right", "right", "ctrl+z")
        assert [changes.settings for changes in app.changed] == [{"seed": 124}, {"seed": 125}, {"seed": 124}]
        assert app.lines[3].split()[:3] == ["•", "Seed", "124"]
        await pilot.press("ctrl+z", "ctrl+z", "ctrl+y", "ctrl+y", "ctrl+y")
        assert [changes.settings.get("seed") for changes in app.changed[3:]] == [None, 124, 125]


async def test_any_other_cell() -> None:
    app = Asking()
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.press(*["down"] * 6, "enter")
        await pilot.press(*"inputs", "[", "1", ",", "0", "]", "=", "0", ".", "9", "enter")
        assert app.changed == [Changes(cells=(CellChange("setup", "inputs", (1, 0), 0.9),))]


async def test_the_cursor_moves_on() -> None:
    """The row of the cell under the cursor stays chosen as the cursor moves."""
    app = Asking()
    async with app.run_test(size=(80, 12)) as pilot:
        app.view.set_spot(Spot("x", (0, 2), "0.445"))
        await pilot.pause()
        assert app.lines[1].split()[:3] == [">", "x[0,2]", "0.445"]
        app.view.set_spot(None)
        await pilot.pause()
        assert app.chosen == "Your own words"


async def test_in_little_room_the_chosen_row_is_visible() -> None:
    app = Asking()
    async with app.run_test(size=(40, 12)) as pilot:
        app.view.styles.height = 3
        for _ in range(7):
            await pilot.pause()
            assert any(line.startswith(" > ") for line in app.lines[1:3])
            await pilot.press("down")
        # The row stays visible while a value is typed.
        await pilot.press("enter", "i")
        assert "i" in app.lines[2]
