"""The list of the tensors of a program or a file."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from attn_tutor.tui.programs.program_map import TensorRowList
from attn_tutor.tui.sources.source import TensorRow
from tests.tui.painted import painted_lines

ROWS = (
    TensorRow("page-1", "x", ("5×4", "float32", "line 12")),
    TensorRow("page-1", "model.layers.0.self_attention.in_proj_weight", ("96×32", "float32", "line 9")),
    *(TensorRow("page-2", f"y{number}", ("one number", "int64", "")) for number in range(98)),
)


class ListApp(App[None]):
    CSS = "TensorList { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.theme = "ansi-dark"
        self.list = TensorRowList()

    def compose(self) -> ComposeResult:
        yield self.list

    def on_mount(self) -> None:
        self.list.show_rows(ROWS, ["▶", *" " * (len(ROWS) - 1)])
        self.list.focus()


@pytest.mark.parametrize(
    ("columns", "lines"),
    [
        (90, [
            " ▶ x                                             5×4         float32  line 12",
            "   model.layers.0.self_attention.in_proj_weight  96×32       float32  line 9",
            "   y0                                            one number  int64",
        ]),
        (60, [
            " ▶ x                                    5×4         float32",
            "   …rs.0.self_attention.in_proj_weight  96×32       float32",
            "   y0                                   one number  int64",
        ]),
        (30, [
            " ▶ x               5×4",
            "   …n_proj_weight  96×32",
            "   y0              one number",
        ]),
    ],
)  # fmt: skip
async def test_columns_follow_the_names_and_the_last_go_first(columns: int, lines: list[str]) -> None:
    app = ListApp()
    async with app.run_test(size=(columns, 6)) as pilot:
        await pilot.pause()
        assert [line.rstrip() for line in painted_lines(app)[:3]] == lines


async def test_the_keys_for_pages_move_by_what_is_to_be_seen() -> None:
    app = ListApp()
    async with app.run_test(size=(60, 11)) as pilot:
        await pilot.press("pagedown")
        assert app.list.cursor == 10
        await pilot.press("end", "pageup")
        assert app.list.cursor == len(ROWS) - 11
        await pilot.press("home")
        assert app.list.cursor == 0
