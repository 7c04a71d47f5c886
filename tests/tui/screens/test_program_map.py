"""The list of the tensors of a program."""

from __future__ import annotations

from tui.screens.program_map import ProgramMap
from tui.state.tensor_rows import TensorRow
from tui.tty.terminal import Terminal


def test_a_terminal_without_unicode_gets_ascii() -> None:
    rows = [TensorRow("page-1", "x", ("5×4", "float32"), "x", "5×4 numbers.")]
    for terminal, text in ((Terminal(), "5×4"), (Terminal(unicode=False), "5x4")):
        view = ProgramMap(terminal)
        view.list_tensors(rows)
        assert view.row is not None
        assert (view.row.columns[0], view.row.about) == (text, f"{text} numbers.")
