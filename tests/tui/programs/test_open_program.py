"""The verb `open` where there is no terminal: the program as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from attn_tutor.lessons.programs.results.program_result import ProgramResult
from attn_tutor.lessons.results.result import Failure
from attn_tutor.tui.commands import own_program
from attn_tutor.tui.programs import open_program
from attn_tutor.tui.tty.exit_codes import ExitCode
from tests.tui.commands.command_line import Command

assert open_program  # before its session is replaced by a warm one

PROGRAM = "import sys, torch\nx = torch.tensor([1.0, 2.0]) * len(sys.argv)\nprint('hello')\n"

pytestmark = pytest.mark.slow


def test_a_program_is_printed_with_its_tensors(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(PROGRAM)
    status, out, err = command("open", str(file), "--", "one", "two")
    assert (status, err) == (0, "")
    assert "`mine.py one two` ran in" in out
    assert "--no-limits" in out
    assert "    hello\n" in out
    assert out.split()[-2:] == ["3.0000", "6.0000"]


def test_a_program_that_fails_is_printed_with_what_it_did_before(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import torch\nx = torch.ones(2)\nx @ torch.ones(3)\n")
    status, out, _ = command("open", str(file))
    assert status == 1
    assert "1.0000" in out
    assert "inconsistent tensor size" in out
    assert command("open", str(tmp_path / "none.py"))[0] == 2


def test_the_code_of_other_files_is_printed_by_functions(command: Command, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("# all of it\ndef twice(x):\n    y = x * 2\n    return y\n")
    file = tmp_path / "mine.py"
    file.write_text("import torch\nfrom net import twice\nz = twice(torch.ones(2))\n")
    status, out, _ = command("open", str(file))
    assert status == 0
    assert "    from net import twice\n" in out
    assert "    def twice(x):\n        y = x * 2\n" in out
    assert "# all of it" not in out


def test_as_plain_text_a_program_is_talked_about(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(PROGRAM)
    status, out, err = command("open", file, "--plain", "--", "one", given=b"explain x[1]\n")
    assert (status, err) == (0, "")
    assert "= 2·2 = 4\n" in out


def test_that_it_is_plain_text_may_be_said_before_the_verb(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(PROGRAM)
    status, out, err = command("--plain", "--columns", "40", "open", file, "--", "one", given=b"explain x[1]\n")
    assert (status, err) == (0, "")
    assert "= 2·2 = 4\n" in out
    assert "  1: torch.tensor([1.0, 2.0])[1] = 2 (a\n" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("open", "a.ipynb"), "a.ipynb is a notebook. Save it as Python (jupyter nbconvert --to script a.ipynb)"),
        (("open", "model.pt"), "model.pt is no program. To look at its tensors: attn-tutor show model.pt"),
        (("show", "train.py"), "train.py is a program. To look at its tensors: attn-tutor open train.py"),
        (("open", "train.py", "--steps", "2"), "behind --: attn-tutor open train.py -- --steps 2"),
        (("open", __file__, "--watch"), "--watch needs a terminal to draw on"),
        (("--course", "tensors", "open", __file__), "attn-tutor open: error: this command has no option --course\n"),
        (("--plain", "nan", __file__), "attn-tutor nan: error: this command has no option --plain\n"),
    ],
)
def test_what_somebody_may_type_at_first(command: Command, arguments: tuple[str, ...], sentence: str) -> None:
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert sentence in err


def test_what_was_not_recorded_to_its_end_is_no_success() -> None:
    whole = ProgramResult("program")
    assert own_program.status(whole) == ExitCode.OK
    assert own_program.status(replace(whole, stopped="it is long")) == ExitCode.UNDECIDED
    assert own_program.status(replace(whole, stopped="it is long", error=Failure("error", "x"))) == ExitCode.NOT_PASSED
