"""The job that runs a lesson: what a step gets from a training."""

from __future__ import annotations

import io
import os
from pathlib import Path

import torch

from attn_tutor.lessons.results import explanation as x
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.worker.jobs import lesson_run
from attn_tutor.lessons.worker.jobs.run_state import RunState
from attn_tutor.lessons.worker.message_parts import StepRequest


def test_trained_weights_say_that_they_were_trained() -> None:
    """The numbers of a model that was trained before lead to its training, also where they were copied."""
    blob, failure = lesson_run.pack_trained("{'weight': weight}", {"weight": torch.tensor([[0.25, 0.5]])})
    assert failure is None
    code = (
        "import torch\nmodel = torch.nn.Linear(2, 1, bias=False)\nmodel.load_state_dict(trained)\nw = model.weight * 2"
    )
    state = RunState()
    step = StepRequest("train", code, 1, (), (), trained=(0, len(blob)))
    assert lesson_run.run_step(state, step, blob) is None
    unit = CodeUnit.step("train")
    state.explainer.show(unit, "w", state.namespace["w"])
    explanation = x.of_json(state.explainer.ask(unit, "w", (0, 1)))
    while explanation.operands:
        explanation = x.of_json(state.explainer.follow(explanation.operands[0].ref))
    sentence = "Trained: the training of the step 'train' had left this number when it ended."
    assert (explanation.value, explanation.notes) == (0.5, (sentence,))


class Hostile:
    """An object whose pickle names a function to be called."""

    def __init__(self, made: str) -> None:
        self.made = made

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (self.made,)


def test_a_trained_model_that_names_code_is_refused(tmp_path: Path) -> None:
    made = tmp_path / "made"
    file = io.BytesIO()
    torch.save({"weight": Hostile(str(made))}, file)
    tensors, failure = lesson_run.unpack_trained(file.getvalue())
    assert (tensors, failure is None, made.exists()) == ({}, False, False)
    file.seek(0)
    torch.load(file, weights_only=False)
    assert made.exists()
