"""The memory layout of a tensor: from the worker over the wire to recordings and documents."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from attn_tutor.lessons.authoring import recordings
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.results.result import MemoryLayout, Tensor
from attn_tutor.tui.commands import documents
from tests.lessons.lesson_builders import Fields, code_step, lesson_of

CODE = """\
import torch
grid = torch.arange(12.0).view(3, 4)
turned = grid.T
part = grid[1:, ::2]
copy = turned.contiguous()
row = torch.tensor([1.0, 2.0]).expand(3, 2)
"""


def memory(name: str, **fields: object) -> Fields:
    return {"name": name, "kind": "vector", "draw": "memory"} | fields


NAMES = ("grid", "turned", "part", "copy", "row")


def tensors(lesson: Lesson, worker: Session) -> dict[str, Tensor]:
    run = worker.run(lesson)
    run.close()
    (step,) = run.steps
    assert step.error is None
    return {tensor.name: tensor for tensor in step.tensors}


def lesson() -> Lesson:
    drawn = [*map(memory, NAMES), memory("sums", expr="(grid + 1)[0]")]
    return lesson_of(code_step("stored", CODE, *drawn, memory("grid_too", expr="grid", draw="matrix")))


def test_strides_offsets_and_storages_come_from_the_worker(worker: Session) -> None:
    found = {name: tensor.layout for name, tensor in tensors(lesson(), worker).items()}
    assert found == {
        "grid": MemoryLayout((4, 1), 0, 12, True, "A"),
        "turned": MemoryLayout((1, 4), 0, 12, False, "A"),
        "part": MemoryLayout((4, 2), 4, 12, False, "A"),
        "copy": MemoryLayout((3, 1), 0, 12, True, "B"),
        "row": MemoryLayout((0, 1), 0, 2, False, "C"),
        "sums": MemoryLayout((1,), 0, 12, True, "D"),
        # A tensor that is drawn as a matrix needs no layout.
        "grid_too": None,
    }


def test_a_tensor_that_requires_a_gradient_has_strides(worker: Session) -> None:
    code = "import torch\nweight = torch.nn.Linear(3, 2).weight.T\n"
    found = tensors(lesson_of(code_step("stored", code, memory("weight"))), worker)
    assert found["weight"].layout == MemoryLayout((1, 3), 0, 6, False, "A")


def test_layouts_are_recorded_and_read_again(worker: Session, tmp_path: Path) -> None:
    made = lesson().model_copy(update={"folder": str(tmp_path)})
    run = worker.run(made)
    run.close()
    recordings.save(made, run.steps)
    again = recorded_outputs.load(made)["stored"]
    assert again.tensors == run.steps[0].tensors
    # A lesson that now draws the tensor differently ignores it.
    shown = tuple(spec.model_copy(update={"draw": "matrix"}) for spec in made.steps[0].show)  # type: ignore[union-attr]
    plain = made.model_copy(update={"steps": (made.steps[0].model_copy(update={"show": shown}),)})
    assert {tensor.layout for tensor in recorded_outputs.load(plain)["stored"].tensors} == {None}


def test_layouts_are_in_documents() -> None:
    stored = Tensor(
        "x",
        "vector",
        "float32",
        (2, 1),
        (),
        ((), ()),
        0.0,
        1.0,
        (0.0, 1.0),
        layout=MemoryLayout((3, 1), 2, 6, False, "A"),
    )
    entry = documents.tensor(stored)
    assert entry["layout"] == {"strides": [3, 1], "offset": 2, "size": 6, "contiguous": False, "storage": "A"}
    assert json.loads(json.dumps(entry)) == entry
    assert "layout" not in documents.tensor(replace(stored, layout=None))
