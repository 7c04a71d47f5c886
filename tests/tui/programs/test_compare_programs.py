"""The verb `diff`: two programs beside each other, traces in files, and its exit status."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from tests.tui.commands.command_line import Command, document

ONE = """import torch
torch.manual_seed(0)
x = torch.randn(3, 4)
scores = x @ x.T / 4 ** 0.5
weights = scores.softmax(dim=-1)
"""
OTHER = ONE.replace("scores", "products").replace("dim=-1", "dim=0")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text(ONE)
    other.write_text(OTHER)
    return one, other


def test_it_prints_what_agrees_and_the_first_difference(
    command: Command, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    status, out, err = command("diff", *files)
    assert (status, err) == (1, "")
    assert out.startswith("The two programs differ.")
    assert "  scores 3×3, line 4   products 3×3, line 4\n" in out
    assert "    weights = scores.softmax(dim=-1)\n    3×3 float32\n" in out
    assert "    weights = products.softmax(dim=0)\n    3×3 float32\n" in out
    assert " of 9 numbers differ, by up to " in out
    assert "one.py   other.py" in out
    monkeypatch.setenv("COLUMNS", "130")
    wide = command("diff", *files)[1]
    [line] = [line for line in wide.splitlines() if "softmax(dim=-1)" in line]
    assert line.endswith("weights = products.softmax(dim=0)")


def test_a_saved_trace_takes_the_place_of_a_program(command: Command, files: tuple[Path, Path], tmp_path: Path) -> None:
    trace = tmp_path / "one.trace"
    assert command("diff", files[0], "--save", trace)[0] == 0
    assert command("diff", trace, files[0])[0] == 0
    data = document(command("diff", trace, files[1], "--json"), 1)
    assert data["difference"]["one"]["code"] == "scores.softmax(dim=-1)"
    assert data["difference"]["other"]["line"] == 5
    assert [item["one"]["name"] for item in data["agreed"]][:2] == ["x", "x.T"]
    content = trace.read_bytes()
    for damaged, why in ((content[:-3], "damaged"), (content.replace(b"trace 3", b"trace 9"), "version")):
        trace.write_bytes(damaged)
        status, _, err = command("diff", trace, files[1])
        assert status == 2
        assert why in err


def test_a_variable_can_be_given_another_value_in_both(command: Command, files: tuple[Path, Path]) -> None:
    # Where all numbers are equal, both directions of a softmax are.
    assert command("diff", *files, "--set", "x=torch.ones(3, 4)")[0] == 0
    status, _, err = command("diff", *files, "--set", "y=torch.ones(3, 4)")
    assert status == 2
    assert "has no line that begins with 'y ='" in err
    assert "is not Python" in command("diff", *files, "--set", "x=(")[2]
    assert "sets nothing" in command("diff", *files, "--set", "x")[2]


def test_a_single_program_is_a_mistake_in_the_command_line(command: Command, files: tuple[Path, Path]) -> None:
    status, _, err = command("diff", files[0])
    assert status == 2
    assert "Name two programs" in err


def test_the_tensors_of_a_file_are_given_to_both_programs(
    command: Command, files: tuple[Path, Path], tmp_path: Path
) -> None:
    tensors = tmp_path / "it's.pt"
    torch.save({"x": torch.ones(3, 4), "scores": torch.full((3, 3), 2.0)}, tensors)
    # Where all numbers are equal, both directions of a softmax are.
    status, _, err = command("diff", *files, "--inputs", tensors)
    assert (status, err) == (
        0,
        "attn-tutor: other.py has no line that begins with 'scores ='.\n".replace("other.py", str(files[1])),
    )
    torch.save({"y": torch.ones(3)}, tensors)
    status, _, err = command("diff", *files, "--inputs", tensors)
    assert status == 2
    assert "No program assigns" in err
    assert "cannot be shown" in command("diff", *files, "--inputs", files[0])[2]


def test_a_program_that_fails_does_not_agree(command: Command, files: tuple[Path, Path]) -> None:
    files[1].write_text(ONE + "raise SystemExit(3)\n")
    status, out, err = command("diff", *files)
    assert status == 5
    text = " ".join(out.split())
    assert text.startswith("No difference was found, but not everything was compared.")
    assert "other.py did not come to its end. What it had computed by then is compared." in text
    assert "line 6" in err
    files[0].write_text("")
    files[1].write_text("")
    status, out, _ = command("diff", *files)
    assert (status, out[:27]) == (5, "There is nothing to compare")


def test_a_saved_trace_remembers_that_it_is_not_whole(
    command: Command, files: tuple[Path, Path], tmp_path: Path
) -> None:
    trace = tmp_path / "one.trace"
    files[1].write_text(ONE + "raise SystemExit(3)\n")
    status, out, _ = command("diff", files[1], "--save", trace)
    assert (status, "did not come to its end" in out) == (5, True)
    data = document(command("diff", trace, files[0], "--json"), 5)
    assert (data["agree"], data["unfinished"]) == (None, ["one.trace"])


def test_the_trace_of_a_long_run_may_be_larger_than_other_files(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attn_tutor.tui.commands.files.MOST", 1 << 16)
    program, trace = tmp_path / "large.py", tmp_path / "large.trace"
    program.write_text("import torch\nx = torch.rand(300, 300)\ny = x.relu()\nz = x.neg()\n")
    assert command("diff", program, "--save", trace)[0] == 0
    assert trace.stat().st_size > 1 << 16
    assert command("diff", trace, program)[0] == 0


def test_a_trace_is_not_saved_to_a_pipe(command: Command, tmp_path: Path) -> None:
    """That would wait for somebody at its other end."""
    (tmp_path / "mine.py").write_text("x = 1\n")
    os.mkfifo(tmp_path / "pipe")
    status, _, err = command("diff", tmp_path / "mine.py", "--save", tmp_path / "pipe")
    assert (status, "pipe is a pipe. Name a file" in err) == (2, True)
