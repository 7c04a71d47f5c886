"""Earlier calls of functions: what their variables held, also when the record has forgotten operations since."""

from __future__ import annotations

import sys
import textwrap
from types import FrameType
from typing import Any

import pytest
import torch

from attn_tutor.lessons.worker.recording.local_variables import LocalVariables
from attn_tutor.lessons.worker.recording.record import Variables
from tests.lessons.recorded_code import Traced

TRAINING = """\
class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 4))
        self.seen = torch.zeros(4)
        self.last = torch.zeros(4, 4)

    def forward(self, x):
        seen = self.seen
        seen += x.detach().mean(0)
        self.last.copy_(x.detach())
        last = self.last
        h = x @ self.weight
        best = h.argmax(-1)
        h = h.relu()
        h.data[0, 0] += 1
        return h

torch.manual_seed(0)
layers = torch.nn.ModuleList([Layer() for _ in range(2)])
optimizer = torch.optim.SGD(layers.parameters(), lr=0.01)
for step in range(STEPS):
    x = torch.randn(4, 4)
    for layer in layers:
        x = layer(x)
    optimizer.zero_grad(set_to_none=False)
    x.sum().backward()
    optimizer.step()
"""


def noted(code: str, **limits: int) -> Traced:
    """Run code while the variables of every call of its functions are noted."""
    program = Traced("", **limits)
    with LocalVariables(program.recorder, every_call=True).noting():
        program.run(code)
    return program


def calls_of(program: Traced, function: str) -> list[Variables]:
    """Return the calls of a function that are kept."""
    return next(list(calls) for code, calls in program.recorder.record.calls.items() if code.co_qualname == function)


def plainly(code: str, function: str) -> list[dict[str, torch.Tensor]]:
    """Run code as Python does; return copies of the tensors that the variables of each call of a function held."""
    found: list[dict[str, torch.Tensor]] = []

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        if event == "return" and frame.f_code.co_qualname == function:
            held = frame.f_locals.items()
            found.append({name: value.detach().clone() for name, value in held if isinstance(value, torch.Tensor)})

    sys.setprofile(profile)
    try:
        exec(compile(textwrap.dedent(code), "<plain>", "exec"), {"torch": torch, "__name__": "__plain__"})
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("limits", [{}, {"few": 40}, {"few": 200, "segment": 2048}])
def test_each_call_has_the_values_of_plain_python(limits: dict[str, int]) -> None:
    code = TRAINING.replace("STEPS", "30")
    program, expected = noted(code, **limits), plainly(code, "Layer.forward")
    calls, history = calls_of(program, "Layer.forward"), program.explainer.history
    assert [each.call for each in calls] == list(range(1, 61))
    compared = 0
    for each in calls:
        for name, region in each.regions.items():
            if name.isidentifier():
                assert torch.equal(history.tensor(region, each.time), expected[each.call - 1][name]), (each.call, name)
                compared += 1
        # Whatever is not recorded any more is counted.
        assert len(each.regions) + each.forgotten == len(calls[-1].regions)
    assert compared >= 60 * 3
    assert any(each.forgotten for each in calls) == bool(limits)
    assert not calls[-1].forgotten


def test_what_nothing_depends_on_is_not_kept_in_memory_for_its_names() -> None:
    code = """\
    def look(size):
        table = torch.ones(size)
        return table + 1

    for _ in range(50):
        look(100)
    """
    program = noted(code, few=20)
    calls = calls_of(program, "look")
    assert len(calls) == 50
    kept = {region.memory for each in calls for region in each.regions.values()}
    assert kept <= program.recorder.record.events.memories()
    assert not calls[0].regions


def test_the_last_calls_are_kept_and_modules_have_the_name_that_was_seen_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_tutor.lessons.worker.recording.local_variables.MOST_CALLS", 6)
    program = noted(TRAINING.replace("STEPS", "4"))
    calls, names = calls_of(program, "Layer.forward"), program.recorder.record.modules
    assert [each.call for each in calls] == [3, 4, 5, 6, 7, 8]
    modules = [each.module() for each in calls if each.module is not None]
    assert [names[module] for module in modules if module is not None] == ["layers.0", "layers.1"] * 3
