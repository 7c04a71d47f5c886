"""The verb `nan`: what it prints of a program's first number that is not finite, and its exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.commands.command_line import Command, document

FOLDER = Path(__file__).parents[2] / "data/nonfinite"


def test_it_names_operation_operands_line_and_what_helps(command: Command) -> None:
    status, out, err = command("nan", FOLDER / "sqrt_backward.py")
    assert (status, err) == (1, "")
    text = " ".join(out.split())
    assert text.startswith("The first number that is not finite: (gradient of x.pow(2).sum(dim=1))[1] is inf.")
    assert "this is the backward pass" in text
    assert "(gradient of x.pow(2).sum(dim=1))[1] = inf line 7: loss.backward()" in text
    assert "distances[1] = 0 line 5: x.pow(2).sum(dim=1).sqrt()" in text
    assert "(gradient of x)[1,0] = nan line 7" in text
    assert "(x + 1e-12).sqrt()" in text
    assert "2 of the 4 numbers of gradient of x are not finite" in text


def test_a_finite_program_succeeds(command: Command) -> None:
    status, out, err = command("nan", FOLDER / "mask_by_logarithm.py")
    assert (status, err) == (0, "")
    text = " ".join(out.split())
    assert text.startswith("Everything is finite, but for what the code itself set or left out: torch.tril(")
    assert ".log() on line 6; " in text
    assert "on line 9. Looked at: 12 operations, which wrote 147 numbers." in text


def test_what_a_failing_program_did_before_is_looked_at(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import sys\nimport torch\n\nx = torch.tensor([float(sys.argv[1])]).log()\nx @ torch.ones(3)\n")
    status, out, err = command("nan", path, "--", "-1")
    assert status == 1
    assert err.startswith("attn-tutor: mine.py, line 5: RuntimeError")
    assert "There is no logarithm of a number below 0." in out


def test_the_document_has_the_kind_and_the_chain(command: Command) -> None:
    data = document(command("nan", FOLDER / "adam_no_eps.py", "--json"), 1)
    (origin,) = data["origins"]
    assert (origin["kind"], origin["phase"], origin["step"], origin["count"]) == ("zero-by-zero", "optimizer", 1, 1)
    assert [(item["tensor"], item["line"], item["value"]) for item in origin["chain"]] == [("weight#2", 10, "nan")]
    assert data["finite"] is False
    assert (data["ended"], data["unkept"], data["skipped_steps"], data["stopped"]) == (False, 0, 0, "")
    assert data["error"] is None


def test_a_program_that_would_never_end_is_ended_when_enough_is_known(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "endless.py"
    path.write_text("import torch\n\nx = torch.zeros(1)\nwhile True:\n    x = (x - 1).log()\n")
    status, out, err = command("nan", path)
    assert (status, err) == (1, "")
    text = " ".join(out.split())
    assert "There is no logarithm of a number below 0." in text
    assert "When the program was ended, x is not finite." in text
    assert text.endswith("the program was ended: nothing of what comes later is needed.")


def test_a_file_that_is_not_there_is_a_mistake_in_the_command_line(command: Command) -> None:
    status, _, err = command("nan", "nowhere.py")
    assert status == 2
    assert "nowhere.py" in err


def test_what_argparse_says_is_told(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    code = "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--data', required=True)\n"
    path.write_text(f"{code}parser.parse_args()\n")
    status, out, err = command("nan", path)
    assert (status, out) == (1, "No number was computed before the program stopped.\n")
    assert "train.py, line 5: It ended itself with sys.exit(2). It last wrote: " in err
    assert "the following arguments are required: --data" in err
    path.write_text("count = input('how many? ')\n")
    assert "train.py, line 1: It waits for input, and there is none here." in command("nan", path)[2]
    path.write_text("raise SystemExit('no data here')\n")
    assert "and says: no data here" in command("nan", path)[2]


def test_of_a_long_message_the_first_lines_are_printed(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import torch\n\nraise ValueError(f'bad values: {torch.ones(50, 2)}')\n")
    _, _, err = command("nan", path)
    assert len(err.splitlines()) == 5
    assert err.endswith("...\n")


def test_lines_fit_into_a_narrow_terminal(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    _, out, _ = command("nan", FOLDER / "log_of_negative.py")
    assert max(map(len, out.splitlines())) in range(30, 41)


def test_what_is_no_program_is_refused(command: Command, tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "idle.py").write_text("x = 1\n")
    assert command("nan", tmp_path / "empty.py")[0] == 2
    assert command("nan", tmp_path / "model.pt")[0] == 2
    status, out, _ = command("nan", tmp_path / "idle.py")
    assert (status, out) == (5, "The program computed nothing with PyTorch, so nothing was looked at.\n")


TRAINER = """\
import torch

class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1e30)

    def run(self):
        model = self.model
        for step in range(3):
            model(torch.ones(2, 3)).pow(2).sum().backward()
            self.optimizer.step()

net = torch.nn.Linear(3, 1)
Trainer(net).run()
"""


def test_a_parameter_is_listed_by_one_name(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(TRAINER)
    _, out, _ = command("nan", path)
    text = " ".join(out.split())
    # The parameter, and its gradient.
    assert text.count("weight is not finite") == text.count("net.weight is not finite") == 2
    assert "self.model" not in text
