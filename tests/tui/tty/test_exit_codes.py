"""The table of exit codes, and its copy in `docs/reference.md`."""

from __future__ import annotations

import signal
from pathlib import Path

from attn_tutor.tui.tty.exit_codes import ExitCode, ended_by

REFERENCE = Path(__file__).parents[3] / "docs" / "reference.md"


def test_codes_that_scripts_depend_on() -> None:
    assert [(code.name, int(code)) for code in ExitCode] == [
        ("OK", 0), ("NOT_PASSED", 1), ("USAGE", 2), ("FAILURE", 3), ("INCOMPLETE", 4),
        ("UNDECIDED", 5),
    ]  # fmt: skip
    assert (ended_by(signal.SIGINT), ended_by(signal.SIGTERM)) == (130, 143)


def test_the_reference_explains_the_exit_codes() -> None:
    meanings = ", ".join(f"{code.value} {code.meaning}" for code in ExitCode)
    sentence = f"Exit status: {meanings}, 128 plus its number for a signal."
    assert sentence in " ".join(REFERENCE.read_text(encoding="utf-8").split())
