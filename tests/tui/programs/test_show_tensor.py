"""The verb `show`: the tensors of a file, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from attn_tutor.lessons.programs.engine.tensor_file import TensorFileSession
from attn_tutor.tui.programs import open_program, show_tensor
from attn_tutor.tui.programs.saved_program import SavedProgram
from attn_tutor.tui.tty.terminal import Terminal
from tests.lessons.processes import with_enough_time
from tests.lessons.programs.worker.tensor_files.tensor_file_builders import larger_than_memory, npy
from tests.tui.commands.command_line import Command, document


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint with a matrix, a vector and a number."""
    values = {"layer.0.weight": torch.arange(6.0).view(2, 3), "layer.0.bias": torch.tensor([torch.nan, 1]), "epoch": 3}
    torch.save(values, tmp_path / "model.pt")
    return tmp_path / "model.pt"


def test_the_list_of_a_file(command: Command, checkpoint: Path) -> None:
    status, out, err = command("show", checkpoint)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith(f"{checkpoint}  torch, ")
    assert lines[0].endswith(", 2 tensors")
    assert lines[2:] == [
        "  layer.0.weight  2×3  float32  24 bytes",
        "  layer.0.bias    2    float32  8 bytes",
        "",
        "Besides tensors:",
        "  epoch = 3",
        "",
        "Show one of them with: attn-tutor show FILE NAME",
    ]
    data = document(command("show", checkpoint, "--json"))
    assert (data["format"], data["others"]) == ("torch", {"epoch": "3"})
    assert [(item["name"], item["shape"], item["bytes"]) for item in data["tensors"]] == [
        ("layer.0.weight", [2, 3], 24), ("layer.0.bias", [2], 8),
    ]  # fmt: skip


def test_a_tensor_of_a_file(command: Command, checkpoint: Path) -> None:
    status, out, err = command("show", checkpoint, "weight")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "layer.0.weight  2×3  float32"
    start = lines.index("")
    assert " from byte " in " ".join(lines[1:start])
    assert lines[start + 1 : start + 7] == [
        "  least               0",
        "  greatest            5",
        "  mean                2.5",
        "  standard deviation  1.7078",
        "  zeros               1 of 6",
        "  not finite          0",
    ]
    assert lines[-2:] == ["  0  0.0000  1.0000  2.0000", "  1  3.0000  4.0000  5.0000"]
    data = document(command("show", checkpoint, "layer.0.bias", "--json"))
    assert data["values"] == ["nan", 1]
    assert data["statistics"] | {"std": 0} == {
        "count": 2, "seen": 2, "min": 1, "max": 1, "mean": 1, "std": 0, "zeros": 0, "nan": 1, "infinite": 0,
    }  # fmt: skip


def test_a_file_that_is_larger_than_the_memory_of_the_worker(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rows, columns = larger_than_memory(tmp_path)

    def document_within(seconds: float) -> Any:
        monkeypatch.setattr(show_tensor, "SECONDS", seconds)
        return document(command("show", path, "--json"))

    # On a busy machine, the time may be over after the first part.
    data, _ = with_enough_time(document_within, lambda data: data["statistics"]["seen"] > 1 << 18, 0.1)
    assert (data["bytes"], data["shape"], data["values"]) == (rows * columns * 4, [rows, columns], None)
    assert data["corner"][0][:3] == [1.5, -2.5, 0]
    assert (data["statistics"]["count"], data["statistics"]["nan"]) == (rows * columns, 0)
    assert data["statistics"]["seen"] > 1 << 18
    out = command("show", path)[1]
    assert "were looked at" in out
    assert "the first 24 of 200000 rows" in out


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"hello", "x cannot be shown. It is no file of tensors that this tutor reads"),
        (npy("|O", (1,), b""), "tensor in {path} cannot be shown. It holds Python objects instead of numbers."),
        (npy("<f4", (1 << 40,), b""), "tensor in {path} cannot be shown. Its numbers would lie beyond the end of the"),
    ],
)
def test_a_file_that_cannot_be_shown(command: Command, tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    status, out, err = command("show", path)
    assert (status, out) == (2, "")
    assert err.startswith("attn-tutor: ")
    assert sentence.format(path=path) in err
    assert err.count("\n") == 1


def test_names_that_a_file_does_not_have(command: Command, checkpoint: Path) -> None:
    assert command("show", checkpoint, "layer.0.wait")[2] == (
        "attn-tutor: There is no tensor 'layer.0.wait'. There are: layer.0.weight, layer.0.bias\n"
    )
    assert command("show", checkpoint.parent / "nowhere.pt")[0] == 2


# Its page ------------------------------------------------------------------------------------------------------------


def test_on_a_terminal_a_file_opens(command: Command, checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[TensorFileSession, str]] = []

    def note(terminal: Terminal, session: TensorFileSession, name: str = "") -> int:
        opened.append((session, name))
        return 0

    monkeypatch.setattr(show_tensor, "this_terminal", Terminal)
    monkeypatch.setattr(open_program, "open_file", note)
    assert command("show", checkpoint, "weight", "--heads", "2") == (0, "", "")
    assert command("show", checkpoint) == (0, "", "")
    (with_heads, name), (plain, none) = opened
    assert (name, none) == ("layer.0.weight", "")
    (page,) = with_heads.pages.pages
    assert f"weight = tensors['{name}'].unflatten(0, (2, -1))\n" in page.step.code
    assert "unflatten" not in plain.pages.pages[0].step.code
    assert SavedProgram(plain.program).read(plain.program) is plain.program
    assert "cannot be split into 4 heads" in command("show", checkpoint, "weight", "--heads", "4")[2]
    assert "--heads needs the NAME" in command("show", checkpoint, "--heads", "4")[2]


def test_as_plain_text_a_file_is_talked_about(command: Command, checkpoint: Path) -> None:
    status, out, err = command("show", checkpoint, "weight", "--plain", given=b"explain weight[1,2]\nquit\n")
    assert (status, err) == (0, "")
    assert "Page 1 of 1: layer.0: weight, bias\n" in out
    assert "byte offset" in " ".join(out.split())


def test_a_tensor_beyond_those_that_can_be_listed_is_not_said_to_be_missing(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "many.safetensors"
    header = {
        f"layers.{number}.{'w' * 200}": {"dtype": "F32", "shape": [1], "data_offsets": [4 * number, 4 * number + 4]}
        for number in range(3000)
    }
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(4 * 3000))
    said = command("show", path, f"layers.2999.{'w' * 200}")[2]
    assert "is not among the" in said
    assert "There is no tensor" not in said
