"""The cells of every tensor that the course shows are explained, and the arithmetic is right."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import pytest
import torch

from attn_tutor.lessons.format.lesson import Lesson, RunningStep, TrainStep
from attn_tutor.lessons.learner import trained_models
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.worker.jobs import lesson_run
from attn_tutor.lessons.worker.jobs.execute import seed_generators
from attn_tutor.lessons.worker.jobs.run_state import as_tensor
from tests.course import COURSE, EVERY_COURSE
from tests.lessons.recorded_code import SAMPLE, Traced, indices


@pytest.fixture(autouse=True)
def _calm() -> None:
    warnings.filterwarnings("ignore", "Failed to initialize NumPy")


MOST_BEHIND = 40
"""Numbers behind the cells of one tensor that are checked too; the exam of explanations follows all (`--course`)."""


@pytest.mark.parametrize("lesson", EVERY_COURSE.lessons, ids=lambda lesson: lesson.id)
def test_every_shown_cell_is_explained(lesson: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The formula of each cell evaluates to its value, and so do the formulas of its operands."""
    monkeypatch.chdir(tmp_path)  # lessons may write files where they run
    traced = Traced(most_behind=MOST_BEHIND)
    namespace = traced.namespace
    namespace.pop("torch")
    seed_generators(lesson.seed)
    traced.run(lesson.setup, "setup")
    cells = explained = wanted = 0
    for step in lesson.steps:
        if not isinstance(step, RunningStep):
            continue
        if isinstance(step, TrainStep):
            namespace["trained"], failure = lesson_run.unpack_trained(trained_models.find(lesson, step).data)
            assert failure is None
        seed_generators(step.seed if step.seed is not None else lesson.seed)
        traced.run(step.code, step.id)
        for shown in step.tensors:
            place = f"<{step.id}: {shown.name}>"
            traced.recorder.watch(place, shown.expression)
            with traced.recorder:
                tensor = as_tensor(eval(compile(shown.expression, place, "eval"), namespace))
            size = tensor.numel()
            wanted += size if size <= SAMPLE else len(list(indices(tuple(tensor.shape))))
            done = traced.check(step.id, shown.name, tensor)
            cells, explained = cells + done[0], explained + done[1]
    assert not traced.recorder.record.stopped
    assert cells == wanted
    print(f"{lesson.id}: {cells} cells of shown tensors, {explained} numbers behind them")


def test_named_operands_have_the_values_of_their_variables() -> None:
    """An operand with the name of a variable of the lesson has the value that the variable had at that time."""
    lesson = COURSE.lesson("causal-mask")
    traced = Traced()
    traced.namespace.pop("torch")
    seed_generators(lesson.seed)
    traced.run(lesson.setup, "setup")
    checked = 0
    for step in (step for step in lesson.steps if isinstance(step, RunningStep)):
        seed_generators(step.seed if step.seed is not None else lesson.seed)
        traced.run(step.code, step.id)
        for shown in step.tensors:
            with traced.recorder:
                tensor = as_tensor(eval(shown.expression, traced.namespace))
            traced.explainer.show(CodeUnit.step(step.id), shown.name, tensor)
            for index in indices(tuple(tensor.shape)):
                explanation = traced.explainer.ask(CodeUnit.step(step.id), shown.name, index)
                for name, at, value, *_ in explanation["operands"]:
                    variable = traced.namespace.get(explanation["names"][name])
                    if isinstance(variable, torch.Tensor):
                        held = float(variable.detach()[tuple(at)])
                        assert held == value or (math.isnan(held) and math.isnan(value))
                        checked += 1
    assert checked > 500
