"""The verb `show`: the tensors of a file, as text and as JSON."""

from __future__ import annotations

import struct
from contextlib import closing
from pathlib import Path

import pytest
import torch

from lessons.engine.program_session import ProgramSession
from lessons.engine.running_program import OwnProgram
from lessons.engine.session import Session
from lessons.engine.stored_tensors import program_of
from lessons.results.code_unit import CodeUnit
from lessons.results.explanation import Explanation
from lessons.results.result import Tensor
from lessons.results.tensor_file import ListedTensor
from lessons.results.tensor_questions import ExplainQuestion, ShowQuestion
from tests.lessons.worker.programs.tensor_file_builders import npy, safetensors
from tests.tui.commands.command_line import Command, document
from tui.commands import open_program, show_tensor
from tui.state.saved_program import SavedProgram
from tui.tty.terminal import Terminal


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
    """Its zeros take no room on the disk, and what is looked at no memory."""
    monkeypatch.setattr(show_tensor, "SECONDS", 0.1)
    rows, columns = 200_000, 50_000
    size = rows * columns * 4
    entries = {"w": {"dtype": "F32", "shape": [rows, columns], "data_offsets": [0, size]}}
    path = tmp_path / "large.safetensors"
    path.write_bytes(safetensors(entries, struct.pack("<2f", 1.5, -2.5)))
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 8 + size)
    data = document(command("show", path, "--json"))
    assert (data["bytes"], data["shape"], data["values"]) == (size, [rows, columns], None)
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


def test_on_a_terminal_a_tensor_opens(command: Command, checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[OwnProgram] = []

    def note(terminal: Terminal, session: ProgramSession) -> int:
        opened.append(session.program)
        return 0

    monkeypatch.setattr(show_tensor, "this_terminal", Terminal)
    monkeypatch.setattr(open_program, "open_pages", note)
    assert command("show", checkpoint, "weight", "--heads", "2") == (0, "", "")
    [program] = opened
    assert program.code.splitlines()[-1] == (
        f"weight = open_tensors({str(checkpoint)!r})['layer.0.weight'].unflatten(0, (2, -1))"
    )
    assert program.data == (
        "`layer.0.weight` of model.pt: 2×3 numbers of type float32, 24 bytes. They lie between 0 and 5. Their mean is "
        "2.5, their standard deviation 1.7078. 1 of them are zero, 0 NaN, 0 infinite."
    )
    assert SavedProgram(program).read(program) is program
    assert command("show", checkpoint)[1].startswith(str(checkpoint))
    assert "cannot be split into 4 heads" in command("show", checkpoint, "weight", "--heads", "4")[2]
    assert command("show", checkpoint, "weight", "--plain")[1].startswith("layer.0.weight")


def test_the_program_of_a_page(session: Session, checkpoint: Path) -> None:
    listed = ListedTensor("layer.0.weight", (2, 3), "float32", 24, None, "")
    with closing(session.run_program(program_of(checkpoint, listed, "A matrix.", heads=2))) as run:
        unit = CodeUnit.step("page-1")
        shown = run.ask(ShowQuestion("weight", unit))
        assert isinstance(shown, Tensor)
        assert (shown.shape, shown.values) == ((2, 1, 3), (0, 1, 2, 3, 4, 5))
        explained = run.ask(ExplainQuestion("weight", (1, 0, 2), unit))
        assert isinstance(explained, Explanation)
        assert explained.value == 5
        assert explained.notes[0].startswith(f"Read from {checkpoint}, byte offset ")


@pytest.mark.parametrize(
    ("name", "shape", "dtype", "line"),
    [
        ("0", (3,), "float32", "tensor = open_tensors({path})['0']"),
        ("a.class", (3,), "float32", "tensor = open_tensors({path})['a.class']"),
        ("open_tensors", (3,), "float32", "tensor = open_tensors({path})['open_tensors']"),
        ("it's", (3,), "float32", 'it_s = open_tensors({path})["it\'s"]'),
        ("x", (2, 1 << 20), "float32", "x = open_tensors({path})['x'][:, :262144]"),
        ("x", (2,), "complex64", "x = open_tensors({path})['x'].abs()"),
    ],
)
def test_the_line_that_reads_a_tensor(name: str, shape: tuple[int, ...], dtype: str, line: str) -> None:
    path = Path("/nowhere/it's.pt")
    program = program_of(path, ListedTensor(name, shape, dtype, 0, 0, ""), "")
    assert program.code.splitlines()[-1] == line.format(path=repr(str(path)))
