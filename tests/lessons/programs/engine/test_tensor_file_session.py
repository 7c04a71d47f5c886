"""A file of tensors as pages, which read only what they show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.programs.engine import tensor_file
from attn_tutor.lessons.programs.engine.tensor_file import TensorFilePages, TensorFileSession
from attn_tutor.lessons.programs.render import tensor_file_text
from attn_tutor.lessons.programs.results.tensor_file import ListedTensor, TensorList
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import StepResult, WorkerError
from attn_tutor.lessons.results.tensor_questions import ExplainQuestion
from attn_tutor.lessons.what_if import cells
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes
from tests.lessons.programs.worker.tensor_files.tensor_file_builders import larger_than_memory


@contextmanager
def opened(worker: Session, path: Path, heads: Mapping[str, int] | None = None) -> Iterator[TensorFileSession]:
    """Open a file in the worker that all tests share."""
    with tensor_file.opened_tensors(worker, path) as file:
        found = file.found
    session = TensorFileSession(path, found, tensor_file_text.table, heads, worker.launcher)
    try:
        yield session
    finally:
        session.release_all()


def page_of(session: TensorFileSession, number: int, changes: Changes = UNCHANGED) -> StepResult:
    """Return what a page shows."""
    step = f"page-{number}"
    result = session.run(session.pages.lesson, step, changes).result(step)
    assert result is not None
    return result


def checkpoint(folder: Path) -> Path:
    """Return a checkpoint with two layers, an empty tensor and a number."""
    path = folder / "model.pt"
    layers = {
        f"layers.{number}.{name}": torch.arange(6.0).view(2, 3) + number
        for number in (0, 1)
        for name in ("q", "k", "v")
    }
    torch.save({**layers, "norm": torch.tensor([torch.nan, 0, 2]), "empty": torch.zeros(0), "epoch": 3}, path)
    return path


def test_the_pages_of_a_file_have_the_tensors_of_a_module_each(worker: Session, tmp_path: Path) -> None:
    path = checkpoint(tmp_path)
    with opened(worker, path, {"layers.1.q": 2}) as session:
        titles = [step.title for step in session.pages.lesson.steps]
        assert titles == ["layers.0: q, k, v", "layers.1: q, k, v", "norm, empty"]
        assert session.pages.page_of("layers.1.k") == ("page-2", "k")
        result = page_of(session, 2)
        assert [(tensor.name, tensor.shape) for tensor in result.tensors] == [
            ("q", (2, 1, 3)),
            ("k", (2, 3)),
            ("v", (2, 3)),
        ]
        assert result.tensors[0].values == (1, 2, 3, 4, 5, 6)
        found = dict(session.statistics["page-2"])["k"]
        assert (found.low, found.high, found.mean, found.zeros) == (1, 6, 3.5, 0)
        # A page that is looked at again is not read again.
        assert session.run(session.pages.lesson, "page-2") is session.run(session.pages.lesson, "page-2")
        run = session.run(session.pages.lesson, "page-2")
        explained = run.ask(ExplainQuestion("q", (1, 0, 2), CodeUnit.step("page-2")))
        assert isinstance(explained, Explanation)
        assert explained.value == 6
        assert explained.notes[0].startswith(f"Read from {path}, byte offset ")


def test_a_number_of_a_file_is_changed_on_its_page_only(worker: Session, tmp_path: Path) -> None:
    with opened(worker, checkpoint(tmp_path)) as session:
        lesson = session.pages.lesson
        changes = Changes().with_cell(lesson, cells.parse(lesson, "page-1:k[0,1] = 9"))
        assert page_of(session, 1, changes).tensors[1].values == (0, 9, 2, 3, 4, 5)
        assert page_of(session, 2, changes).notes == ()
        assert page_of(session, 1).tensors[1].values == (0, 1, 2, 3, 4, 5)


def test_a_file_that_is_gone_says_so(worker: Session, tmp_path: Path) -> None:
    path = checkpoint(tmp_path)
    with opened(worker, path) as session:
        path.unlink()
        error = page_of(session, 1).error
        assert error is not None
        assert "No such file" in error.message
        with pytest.raises(WorkerError, match="No such file"):
            session.open(session.program)


def test_a_page_of_a_file_that_is_larger_than_the_memory(
    worker: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensor_file, "PAGE_SECONDS", 0.1)
    path, rows, columns = larger_than_memory(tmp_path)
    with opened(worker, path) as session:
        result = page_of(session, 1)
        assert result.error is None
        window = result.tensors[0].window
        assert window is not None
        assert window.rows[0][:3] == (1.5, -2.5, 0)
        assert 0 < session.statistics["page-1"][0][1].seen < rows * columns


@pytest.mark.parametrize(
    ("name", "shape", "dtype", "line"),
    [
        ("0", (3,), "float32", "tensor_0 = tensors['0']"),
        ("a.class", (3,), "float32", "a_class = tensors['a.class']"),
        ("open_tensors", (3,), "float32", "tensor = tensors['open_tensors']"),
        ("it's", (3,), "float32", 'it_s = tensors["it\'s"]'),
        ("x", (2, 1 << 20), "float32", "x = tensors['x'][:, :262144]"),
        ("x", (2,), "complex64", "x = tensors['x'].abs()"),
    ],
)
def test_the_line_that_reads_a_tensor(name: str, shape: tuple[int, ...], dtype: str, line: str) -> None:
    listed = TensorList("torch", 0, (ListedTensor(name, shape, dtype, 0, 0, ""),), ())
    (page,) = TensorFilePages(Path("/nowhere/it's.pt"), listed).pages
    lines = page.step.code.splitlines()
    assert lines[2:] == ['tensors = open_tensors("/nowhere/it\'s.pt")', line]


def test_no_two_tensors_of_a_page_share_a_variable() -> None:
    names = ("m.a-b", "m.a b", "m.a_b", "m.tensors")
    listed = TensorList("torch", 0, tuple(ListedTensor(name, (1,), "float32", 0, 0, "") for name in names), ())
    (page,) = TensorFilePages(Path("x.pt"), listed).pages
    assert [variable for variable, _ in page.tensors] == ["a_b", "a_b_2", "a_b_3", "tensor"]


def test_a_file_without_tensors_has_a_page_that_says_nothing() -> None:
    bad = ListedTensor("x", (1,), "object", 0, None, "It holds Python objects.")
    pages = TensorFilePages(Path("x.npy"), TensorList("npy", 0, (bad,), ()))
    assert (pages.pages, len(pages.lesson.steps), pages.page_of("x")) == ((), 1, ("", ""))
