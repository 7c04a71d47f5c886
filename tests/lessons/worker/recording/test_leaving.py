"""What a record knows of tensors that the program changes when it is no longer recorded."""

from __future__ import annotations

import pytest
import torch

from attn_tutor.lessons.programs.record.recording import leave
from attn_tutor.lessons.worker.recording.element_history import ValueLost
from attn_tutor.lessons.worker.recording.regions import Region
from tests.lessons.recorded_code import Traced

CODE = """
x = torch.rand(3, 4)
wide = torch.rand(20, dtype=torch.float64)
parts = torch.rand(2, 2, dtype=torch.complex64)
y = x @ x.T
y[0] = 7.0
"""


def test_what_changes_later_is_as_it_was() -> None:
    traced = Traced(CODE)
    held = {name: value for name, value in traced.namespace.items() if isinstance(value, torch.Tensor)}
    before = {name: value.clone() for name, value in held.items()}
    until = leave(traced.recorder.record, traced.recorder.known(), 1 << 20)
    for tensor in held.values():
        tensor.mul_(0)
    history = traced.explainer.history
    for name, tensor in held.items():
        assert torch.equal(history.tensor(Region.of(tensor), until), before[name])
    traced.explainer.show_region(None, "y", Region.of(held["y"]), until)
    found = traced.explainer.ask(None, "y", (1, 2))
    assert found["value"] == pytest.approx(float(before["x"][1] @ before["x"][2]))
    assert {name for name, *_ in zip(found["names"], strict=True)} == {"x"}
    assert traced.explainer.ask(None, "y", (0, 2))["value"] == 7.0


def test_what_has_no_room_cannot_be_asked_about() -> None:
    traced = Traced("small, large = torch.rand(2), torch.rand(1000)")
    small, large = traced.namespace["small"], traced.namespace["large"]
    until = leave(traced.recorder.record, traced.recorder.known(), 100)
    assert torch.equal(traced.explainer.history.tensor(Region.of(small), until), small)
    with pytest.raises(ValueLost, match="no room"):
        traced.explainer.history.tensor(Region.of(large), until)
