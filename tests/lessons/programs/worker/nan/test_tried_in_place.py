"""Cures in place: none is offered with which the lines that follow fail, or are not finite either."""

from __future__ import annotations

import pytest
import torch

from attn_tutor.lessons.programs.render import nonfinite_text
from attn_tutor.lessons.programs.results import nonfinite
from attn_tutor.lessons.programs.results.nonfinite import NonfiniteReport
from attn_tutor.lessons.programs.worker.nan import tried_in_place
from attn_tutor.lessons.programs.worker.nan.hunt import HuntingRecorder
from tests.lessons.recorded_code import Traced


def hunt(source: str) -> NonfiniteReport:
    torch.manual_seed(0)
    recorder = HuntingRecorder()
    return nonfinite.of_json(recorder.report(Traced.under(recorder, source).explainer))


START = "x = torch.tensor([300.0, 2.0]).half()\nw = torch.ones(2, 3).half()\n"


@pytest.mark.parametrize(
    ("after", "is_offered"),
    [
        ("y = x.pow(2)\nz = y.sqrt()", True),
        ("y = x.pow(2)\nz = y[None].float() @ w.float()", True),
        # The product of two types is refused.
        ("y = x.pow(2)\nz = y[None] @ w", False),
        ("y = x.pow(2)\nu = y[None].t()\nz = u * 2\nv = z.t() @ w", False),
        # What follows is converted back, and is too large again.
        ("y = x.pow(2)\nz = y.to(torch.float16, copy=True) * 2", False),
    ],
)
def test_a_wider_type_is_offered_where_the_next_lines_can_be_computed_with_it(after: str, is_offered: bool) -> None:
    (origin, *_) = hunt(START + after).origins
    assert any(".float() before" in cure for cure in origin.cures) == is_offered
    assert not any("scale its operands down" in cure for cure in origin.cures)


def test_masks_that_are_added_are_not_to_be_the_least_number() -> None:
    masked = "scores = torch.full((2, 2), -20.0).half()\nhidden = torch.ones(2, 2).bool()\n"
    added = "mask = torch.zeros(2, 2).half().masked_fill(hidden, float('-inf'))\nscores = scores + mask\n"
    filled = "scores = scores.masked_fill(hidden, float('-inf'))\n"
    for made, is_offered in ((filled, True), (added, False)):
        (origin, *_) = hunt(masked + made + "weights = scores.softmax(-1)").origins
        assert any("finfo" in cure for cure in origin.cures) == is_offered
        assert any("at least one key" in cure for cure in origin.cures)


def test_what_became_finite_again_is_not_said_to_be_right() -> None:
    report = hunt(START + "y = x * torch.rsqrt(x.pow(2).sum())\n")
    assert report.reached == ()
    text = " ".join("\n".join(nonfinite_text.lines(report, here="code")).split())
    assert "Nothing of it is left" not in text
    assert "all numbers of the variables are finite. Those that were computed from it may be wrong" in text


def test_what_a_checkpoint_brings_is_counted_where_it_is_loaded() -> None:
    report = hunt(
        "kept = {'weight': torch.tensor([[1.0, float('nan')], [2.0, 3.0]])}\n"
        "model = torch.nn.Linear(2, 2, bias=False)\nmodel.load_state_dict(kept)\ny = model(torch.ones(5, 2))\n"
    )
    (origin,) = report.origins
    assert (origin.count, origin.size) == (1, 4)


def test_other_results_go_on_through_views_and_not_through_what_is_unknown() -> None:
    traced = Traced("a = torch.ones(2, 2)\nb = a + 1\nc = b.t()\nd = c * 2\n")
    event = next(event for event in traced.recorder.record.events if event.op == "add")
    assert tried_in_place.goes_on(traced.explainer, event, torch.zeros(2, 2))
    assert not tried_in_place.goes_on(traced.explainer, event, torch.full((2, 2), float("nan")))
    traced = Traced("a = torch.ones(2, 2)\nb = a + 1\nb[0] = 5\nd = b * 2\n")
    event = next(event for event in traced.recorder.record.events if event.op == "add")
    assert not tried_in_place.goes_on(traced.explainer, event, torch.full((2, 2), float("inf")))


@pytest.mark.parametrize(
    ("made", "helps", "fails", "cure"),
    [
        ("s = torch.tensor([2.5]).std()", "y = s + 1", "y = 0 / s", "correction=0"),
        ("d = torch.tensor([1.0, 2.0]) - 2.0; s = d.sqrt()", "y = s + 1", "y = 0 / s[:1]", "clamp(min=0)"),
        (
            "x = torch.tensor([torch.inf, 2.0]); s = x * torch.tensor([0.0, 1.0])",
            "y = s + 1",
            "y = s / s",
            "torch.where(keep, x, 0)",
        ),
        (
            "s = torch.tensor([[0.0, 1.0], [1.0, 1.0]]) * -torch.inf",
            "y = s + 1",
            "y = s.softmax(-1)",
            "masked_fill(hidden, float('-inf'))",
        ),
        (
            "s = torch.full((1, 2), -torch.inf).masked_fill(torch.tensor([True, False]), -torch.inf).softmax(-1)",
            "y = s + 1",
            "y = 1 / (s - 0.5)",
            "torch.finfo(dtype).min",
        ),
        ("s = torch.ones(3).std().log()", "y = s + 1", "y = 1 / s", "torch.where(x > 0, x, 1).log()"),
        (
            "m, v = torch.zeros(2), torch.ones(2)\n"
            "s = torch.batch_norm(torch.ones(1, 2), None, None, m, v, True, 0.1, 1e-5, False)",
            "y = s + 1",
            "y = (s - 2).sqrt()",
            "After eval()",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:std")
def test_a_cure_is_offered_only_if_what_follows_is_finite_with_it(made: str, helps: str, fails: str, cure: str) -> None:
    for follows, is_offered in ((helps, True), (fails, False)):
        (origin, *_) = hunt(f"{made}\n{follows}").origins
        assert any(cure in item for item in origin.cures) == is_offered, follows


def test_a_cure_is_offered_only_if_its_derivative_is_finite() -> None:
    source = "x = torch.tensor([-1e-3, {second}], requires_grad=True)\ny = x.sqrt()\ny.sum().backward()"
    for second, is_offered in ((1.0, True), (0.0, False)):
        (origin, *_) = hunt(source.format(second=second)).origins
        assert any("clamp(min=0)" in cure for cure in origin.cures) == is_offered


def test_of_what_cannot_be_tried_it_is_asked() -> None:
    (origin, *_) = hunt(
        "w = torch.tensor([1.0], requires_grad=True)\noptimizer = torch.optim.SGD([w], lr=9.0)\n"
        "for _ in range(200):\n    optimizer.zero_grad()\n    (w ** 4).sum().backward()\n    optimizer.step()\n"
    ).origins
    clipping = [cure for cure in origin.cures if "clip_grad_norm_" in cure]
    assert clipping
    assert all("?" in cure for cure in clipping)
