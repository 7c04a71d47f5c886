"""Files of tensors: what is read of each format, and that a file made to do harm gets a sentence."""

from __future__ import annotations

import json
import os
import pickle
import struct
import zipfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from attn_tutor.lessons.programs import record
from attn_tutor.lessons.programs.worker.tensor_files import array_headers, stored_tensor
from attn_tutor.lessons.programs.worker.tensor_files.job import listed
from attn_tutor.lessons.programs.worker.tensor_files.stored_tensor import UnreadableFile
from attn_tutor.lessons.programs.worker.tensor_files.tensor_files import open_tensors
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.worker.jobs.run_state import RunState
from attn_tutor.lessons.worker.recording import tensor_parts
from tests.lessons.programs.worker.tensor_files.tensor_file_builders import npy, safetensors

GREETING: list[str] = []


def greet() -> str:
    """Stand for code that a file would like to run."""
    GREETING.append("ran")
    return "ran"


class Greeting:
    """An object whose pickle calls a function."""

    def __reduce__(self) -> tuple[Callable[[], str], tuple[()]]:
        return greet, ()


# Checkpoints ---------------------------------------------------------------------------------------------------------


def saved(folder: Path, value: object) -> Path:
    torch.save(value, folder / "checkpoint.pt")
    return folder / "checkpoint.pt"


def test_a_checkpoint_of_a_training(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2, bias=False))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    path = saved(
        tmp_path,
        {"model": model.state_dict(), "opt": optimizer.state_dict(), "epoch": 3, "args": Namespace(lr=1), "best": None},
    )
    file = open_tensors(path)
    assert file.kind == "torch"
    for name, tensor in model.state_dict().items():
        assert torch.equal(file[f"model.{name}"], tensor)
    assert torch.equal(file["opt.state.0.exp_avg"], optimizer.state_dict()["state"][0]["exp_avg"])
    others = dict(file.others)
    assert (others["epoch"], others["args"], others["best"]) == ("3", "argparse.Namespace", "None")
    assert (others["opt.param_groups.0.lr"], others["opt.param_groups.0.betas"]) == ("0.5", "(0.9, 0.999)")


def test_tensors_of_all_kinds(tmp_path: Path) -> None:
    base = torch.arange(12.0)
    values = {
        "transposed": base.view(3, 4).t(),
        "part": base[5:9],
        "expanded": torch.ones(3, 1).expand(3, 5),
        "single": torch.tensor(2.5, dtype=torch.float64),
        "empty": torch.zeros(0, 3),
        "truths": torch.tensor([True, False]),
        "half": torch.ones(2, dtype=torch.bfloat16),
        "eighth": torch.ones(2).to(torch.float8_e4m3fn),
        "unsigned": torch.ones(2, dtype=torch.uint16),
        "complex": torch.tensor([3 + 4j]),
        "parameter": nn.Parameter(base),
    }
    file = open_tensors(saved(tmp_path, values))
    for name, value in values.items():
        assert file[name].dtype == value.dtype
        assert torch.equal(file[name].to(torch.complex128), value.detach().to(torch.complex128)), name
    assert file["part"].untyped_storage()._cdata == file["transposed"].untyped_storage()._cdata
    one = open_tensors(saved(tmp_path, base))
    assert list(one) == ["tensor"]
    whole = open_tensors(saved(tmp_path, nn.Linear(2, 2)))
    assert list(whole) == ["weight", "bias"]
    with pytest.deprecated_call():
        script = torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    script.save(tmp_path / "script.pt")
    assert torch.equal(open_tensors(tmp_path / "script.pt")["0.weight"], script.state_dict()["0.weight"])
    kept = open_tensors(saved(tmp_path, {"mean": Namespace(value=base, axis=0), "args": Namespace(axis=0)}))
    assert (list(kept), dict(kept.others)) == (["mean.value"], {"args": "argparse.Namespace"})


@pytest.mark.filterwarnings("ignore")
def test_tensors_without_a_plain_matrix_are_listed(tmp_path: Path) -> None:
    quantized = torch.quantize_per_tensor(torch.ones(1), 1, 0, torch.qint8)
    file = open_tensors(saved(tmp_path, [torch.ones(3).to_sparse(), torch.ones(2, device="meta"), quantized]))
    assert list(file) == ["0", "1", "2"]
    assert all(stored.problem for stored in file.stored.values())
    assert "0" in file
    with pytest.raises(UnreadableFile, match=r"0 in .* cannot be shown"):
        file["0"]


def test_no_code_of_a_file_is_run(tmp_path: Path) -> None:
    path = saved(tmp_path, {"x": torch.ones(2), "evil": Greeting(), "more": [Greeting()]})
    file = open_tensors(path)
    assert torch.equal(file["x"], torch.ones(2))
    assert file.others[0] == ("evil", f"{__name__}.greet")
    assert GREETING == []
    # The file is no empty threat.
    torch.load(path, weights_only=False)
    assert GREETING == ["ran", "ran"]
    GREETING.clear()


def archive_with(path: Path, pickled: bytes, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        for name, data in members.items():
            archive.writestr(f"archive/data/{name}", data)
    return path


def billion_laughs() -> bytes:
    value: Any = {"x": 1}
    for _ in range(60):
        value = [value, value]
    return pickle.dumps(value)


@pytest.mark.parametrize(
    "pickled",
    [
        b"\x80\x02X\xff\xff\xff\x7f",
        b"\x80\x02r\xff\xff\xff\x7f.",
        b"",
    ],
    ids=range(3),
)
def test_pickles_that_are_damaged(tmp_path: Path, pickled: bytes) -> None:
    with pytest.raises(UnreadableFile, match="damaged"):
        open_tensors(archive_with(tmp_path / "x.pt", pickled))


@pytest.mark.parametrize(
    "pickled",
    [
        b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.",
        b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R.",
        b"\x80\x02]" + b"]" * 5000 + b"a" * 5000 + b".",
        b"(i__main__\nx\n.",
    ],
    ids=range(4),
)
def test_pickles_that_would_do_harm_hold_no_tensor(tmp_path: Path, pickled: bytes) -> None:
    assert len(open_tensors(archive_with(tmp_path / "x.pt", pickled))) == 0


def test_lists_that_hold_each_other_without_end_are_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_tutor.lessons.programs.worker.tensor_files.checkpoint_outline.MOST_ITEMS", 100)
    file = open_tensors(archive_with(tmp_path / "x.pt", billion_laughs()))
    assert len(file.others) == 100
    loop: list[Any] = [torch.ones(1)]
    loop.append(loop)
    assert list(open_tensors(saved(tmp_path, loop))) == ["0"]


def test_a_storage_that_is_too_small(tmp_path: Path) -> None:
    data = saved(tmp_path, torch.zeros(7)).read_bytes()
    # The length of the tensor, as the pickle has it: BININT1.
    at = data.index(b"K\x07\x85")
    (tmp_path / "x.pt").write_bytes(data[:at] + b"K\xff" + data[at + 2 :])
    [stored] = open_tensors(tmp_path / "x.pt").stored.values()
    assert "more numbers than the file has" in stored.problem


# Arrays of numpy -----------------------------------------------------------------------------------------------------


def test_arrays(tmp_path: Path) -> None:
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    expected = torch.tensor(values).view(2, 3)
    path = tmp_path / "x.npy"
    for version in (1, 2, 3):
        path.write_bytes(npy("<f4", (2, 3), struct.pack("<6f", *values), version=version))
        file = open_tensors(path)
        assert file.kind == "npy"
        assert torch.equal(file["tensor"], expected)
    path.write_bytes(npy(">f8", (2, 3), struct.pack(">6d", *values)))
    assert torch.equal(open_tensors(path)["tensor"], expected.double())
    path.write_bytes(npy(">c8", (1,), struct.pack(">2f", 3, 4)))
    assert torch.equal(open_tensors(path)["tensor"], torch.tensor([3 + 4j]))
    path.write_bytes(npy("<i2", (3, 2), struct.pack("<6h", 1, 2, 3, 4, 5, 6), fortran=True))
    assert open_tensors(path)["tensor"].tolist() == [[1, 4], [2, 5], [3, 6]]
    path.write_bytes(npy("|b1", (), b"\1"))
    assert open_tensors(path)["tensor"].item() is True
    path.write_bytes(npy("<f8", (0, 5), b""))
    assert open_tensors(path)["tensor"].shape == (0, 5)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_archives_of_arrays(tmp_path: Path, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w", method) as archive:
        archive.writestr("w.npy", npy("<f4", (2,), struct.pack("<2f", 1, 2)))
        archive.writestr("names.npy", npy("<U1", (2,), b"a\0\0\0b\0\0\0"))
        archive.writestr("notes.txt", "hello")
    file = open_tensors(tmp_path / "x.npz")
    assert list(file) == ["w", "names", "notes.txt"]
    assert file["w"].tolist() == [1, 2]
    assert [bool(stored.problem) for stored in file.stored.values()] == [False, True, True]
    assert (file.stored["w"].start is None) == (method == zipfile.ZIP_DEFLATED)


def test_a_bomb_of_zeros_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_tensor, "CONVERTED", 1000)
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy("<f8", (1000,), bytes(8000)))
        archive.writestr("y.npy", npy("<f8", (100,), bytes(8)))
    file = open_tensors(tmp_path / "x.npz")
    assert "too large" in file.stored["x"].problem
    with pytest.raises(UnreadableFile, match="end too early"):
        file["y"]


@pytest.mark.parametrize(
    ("description", "shape", "said"),
    [
        ("|O", (1,), "Python objects"),
        ([("a", "<f4")], (1,), "records"),
        ("<M8[s]", (1,), "times"),
        ("<f16", (1,), "PyTorch has no numbers of its type"),
        ("<f4", (1 << 70,), "sizes cannot be right"),
        ("<f4", (0, 1 << 61), "sizes cannot be right"),
        ("<f4", (1 << 31, 1 << 31), "sizes cannot be right"),
        ("<f4", (1000,), "cut off"),
        ("<f4", (1,) * 100, "100 axes"),
    ],
)
def test_arrays_that_cannot_be_shown(tmp_path: Path, description: object, shape: tuple[int, ...], said: str) -> None:
    (tmp_path / "x.npy").write_bytes(npy(description, shape, bytes(16)))
    file = open_tensors(tmp_path / "x.npy")
    assert said in file.stored["tensor"].problem
    assert listed(file).tensors[0].problem
    with pytest.raises(UnreadableFile):
        file["tensor"]


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        b"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (True,)}",
        b"{'descr': '<f4', 'shape': (1,)}",
        b"__import__('os').system('true')",
        b"[" * 5000,
        b"",
        b"\xff\xfe",
    ],
    ids=range(8),
)
def test_headers_of_arrays_that_say_nothing(tmp_path: Path, header: bytes) -> None:
    data = array_headers.NPY_MAGIC + b"\1\0" + struct.pack("<H", len(header)) + header
    (tmp_path / "x.npy").write_bytes(data + bytes(16))
    with pytest.raises(UnreadableFile, match="does not say which array"):
        open_tensors(tmp_path / "x.npy")


# Safetensors ---------------------------------------------------------------------------------------------------------


def test_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    entries = {
        "__metadata__": {"format": "pt"},
        "a.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "b": {"dtype": "BF16", "shape": [], "data_offsets": [16, 18]},
        "c": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [18, 20]},
        "d": {"dtype": "F4", "shape": [2], "data_offsets": [20, 21]},
        "e": {"dtype": "I64", "shape": [0, 3], "data_offsets": [21, 21]},
    }
    path.write_bytes(safetensors(entries, struct.pack("<4f", 1, 2, 3, 4) + b"\x80\x3f" + b"\x38\x38" + b"\0"))
    file = open_tensors(path)
    assert (file.kind, list(file)) == ("safetensors", ["a.weight", "b", "c", "d", "e"])
    assert file["a.weight"].tolist() == [[1, 2], [3, 4]]
    assert (file["b"].item(), file["c"].float().tolist(), file["e"].shape) == (1, [1, 1], (0, 3))
    assert "F4" in file.stored["d"].problem


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({name: {"dtype": "U8", "shape": [4], "data_offsets": [at, at + 4]} for at, name in enumerate("ab")}, "too"),
        ({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, "does not say where"),
        ({"a": {"dtype": "F32", "shape": 1, "data_offsets": [0, 4]}}, "does not say where"),
        ({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}, "does not say where"),
        ({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, True]}}, "does not say where"),
        ({"a": 3}, "does not say where"),
    ],
    ids=range(6),
)  # fmt: skip
def test_headers_of_safetensors_that_lie(tmp_path: Path, entries: dict[str, Any], said: str) -> None:
    (tmp_path / "x").write_bytes(safetensors(entries, bytes(8)))
    with pytest.raises(UnreadableFile, match=said):
        open_tensors(tmp_path / "x")


def test_safetensors_beyond_the_end(tmp_path: Path) -> None:
    entries = {
        "a": {"dtype": "F32", "shape": [100], "data_offsets": [0, 400]},
        "b": {"dtype": "F32", "shape": [1 << 60], "data_offsets": [400, 1 << 62]},
        "c": {"dtype": "F32", "shape": [1] * 100_000, "data_offsets": [1 << 62, (1 << 62) + 4]},
    }
    (tmp_path / "x").write_bytes(safetensors(entries, bytes(8)))
    file = open_tensors(tmp_path / "x")
    assert all(stored.problem for stored in file.stored.values())
    assert len(listed(file).tensors) == 3


# Any file ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"hello", "no file of tensors"),
        (b"\x80\x02}.", "torch.load"),
        (b"\x89HDF\r\n\x1a\n", "HDF"),
        (b'{\n  "metadata": {},\n  "weight_map": {"a": "model-1.safetensors"}\n}', "Show one of those files"),
        (b"PK\3\4" + bytes(40), "damaged"),
        (array_headers.NPY_MAGIC, "no array"),
        (array_headers.NPY_MAGIC + b"\x09\0" + bytes(10), "version 9"),
        (array_headers.NPY_MAGIC + b"\2\0\xff\xff\xff\xff", "bytes"),
        (struct.pack("<Q", 10) + b"{" + bytes(20), "no JSON"),
        (struct.pack("<Q", 50_000) + b'{"a":' + b"[" * 49_995, "no JSON"),
    ],
)
def test_files_of_something_else(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(UnreadableFile, match=said):
        open_tensors(tmp_path / "x")


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(UnreadableFile, match="no ordinary file"):
            open_tensors(path)
    for name in (str(tmp_path / "nowhere"), "a\0b"):
        with pytest.raises(UnreadableFile):
            open_tensors(name)


def test_a_checkpoint_that_is_cut_off_anywhere(tmp_path: Path) -> None:
    """Each beginning of a file gives tensors or a sentence."""
    torch.save({"a": torch.ones(3), "b": [torch.zeros(2, 2)]}, tmp_path / "whole.pt")
    data = (tmp_path / "whole.pt").read_bytes()
    for end in range(1, len(data), 7):
        (tmp_path / "x.pt").write_bytes(data[:end])
        with pytest.raises(UnreadableFile):
            open_tensors(tmp_path / "x.pt")


def test_what_is_written_stays_in_the_process(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(npy("<f4", (2,), struct.pack("<2f", 1, 2)))
    before = path.read_bytes()
    tensor = open_tensors(path)["tensor"]
    tensor += 1
    assert tensor.tolist() == [2, 3]
    assert path.read_bytes() == before


def test_a_number_says_where_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(npy("<f4", (2, 3), struct.pack("<6f", *range(6))))
    start = path.stat().st_size - 24
    state, unit = RunState(), CodeUnit.step("only")
    state.namespace["open_tensors"] = open_tensors
    assert state.run(f"x = open_tensors({str(path)!r})['tensor']\ny = x[1] * 2", unit) is None
    blob = bytearray()
    for name in ("x", "y"):
        state.show_tensor(unit, name, state.namespace[name], blob)
    assert state.explainer.ask(unit, "x", (1, 2))["notes"] == [f"Read from {path}, byte offset {start + 20}."]
    made = state.explainer.ask(unit, "y", (2,))
    assert (made["value"], made["names"]) == (10, ["x"])
    assert state.explainer.follow(made["operands"][0][3])["notes"] == [f"Read from {path}, byte offset {start + 20}."]


def test_a_list_fits_into_a_message(tmp_path: Path) -> None:
    entries = {f"{'n' * 100}{index}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for index in range(5000)}
    (tmp_path / "x").write_bytes(safetensors(entries, b""))
    found = listed(open_tensors(tmp_path / "x"))
    assert 1000 < len(found.tensors) < 5000
    assert len(found.tensors) + found.more_tensors == 5000
    assert len(json.dumps([[item.name, item.shape] for item in found.tensors])) < 1 << 20


def test_every_number_is_in_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor_parts, "PART", 50)
    for shape in ((), (1,), (7,), (200,), (13, 11), (3, 1000), (2, 3, 5, 7), (100, 3, 3), (0, 4)):
        tensor = torch.arange(torch.Size(shape).numel()).view(shape)
        for laid_out in (tensor, tensor.permute(*reversed(range(len(shape)))) if shape else tensor):
            found = list(tensor_parts.parts(laid_out))
            assert all(part.numel() <= 50 for part in found)
            numbers = [number for part in found for number in part.flatten().tolist()]
            assert sorted(numbers) == list(range(tensor.numel()))


def test_a_recording_says_where_a_number_was_read(tmp_path: Path) -> None:
    weights = record.open_tensors(saved(tmp_path, {"w": torch.tensor([1.0, 2.0])}))
    with record.record(watch=[__file__]) as recorded:
        w = weights["w"]
        total = w.sum()
    said = " ".join(str(recorded.explain("total")).split())
    assert "w[1] = 2" in said
    assert said.count(f"Read from {tmp_path / 'checkpoint.pt'}, byte offset ") == 2
    assert total == 3


def test_whole_numbers_without_end_are_described(tmp_path: Path) -> None:
    """Python refuses to write numbers of more than 4300 digits."""
    huge = 10**5000
    held = {"step": huge, "minus": -huge, "few": [1, huge], huge: {"w": torch.ones(2)}, (huge, 1): torch.ones(3)}
    file = open_tensors(saved(tmp_path, {**held, "n": 7}))
    others = dict(file.others)
    assert others["step"] == others["minus"] == "a whole number of about 5,001 digits"
    assert (others["few.0"] if "few.0" in others else others["few"], others["n"]) == ("list of 2 items", "7")
    assert list(file) == ["a whole number of about 5,001 digits.w", "tuple of 2 items"]
    assert [item.problem for item in listed(file).tensors] == ["", ""]


def test_sizes_of_thousands_of_digits_are_impossible(tmp_path: Path) -> None:
    class Odd:
        def __reduce__(self) -> tuple[Any, ...]:
            storage = torch.ones(2)._typed_storage()
            return torch._utils._rebuild_tensor_v2, (storage, 0, (10**5000,), (1,), False, {})

    (only,) = listed(open_tensors(saved(tmp_path, {"w": Odd()}))).tensors
    assert (only.name, only.shape, only.problem) == ("w", (), "Its sizes cannot be right.")
