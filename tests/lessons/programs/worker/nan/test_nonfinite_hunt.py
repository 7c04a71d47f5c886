"""The hunt through runs that are much longer than their record."""

from __future__ import annotations

import math

import pytest

from attn_tutor.lessons.programs.results import nonfinite
from attn_tutor.lessons.programs.results.nonfinite import NonfiniteReport
from attn_tutor.lessons.programs.worker.nan import first_nonfinite
from attn_tutor.lessons.programs.worker.nan.hunt import HuntingRecorder
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from tests.lessons.recorded_code import Traced

TRAINING = """
torch.manual_seed(0)
layer = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
mask = torch.ones(4, 4).tril().log()
for step in range(120):
    weights = torch.softmax(layer(torch.randn(4, 4)) + mask, dim=-1)
    loss = -weights.diagonal().log().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {fault}
"""


def _hunt(source: str, **limits: int) -> tuple[NonfiniteReport, HuntingRecorder]:
    recorder = HuntingRecorder(**limits)
    return nonfinite.of_json(recorder.report(Traced.under(recorder, source).explainer)), recorder


def test_a_nan_is_found_long_after_the_record_is_full() -> None:
    fault = "layer.bias.data[1] += float('inf') if step == 100 else 0"
    report, recorder = _hunt(TRAINING.format(fault=fault), most=1000, after=200)
    origin = report.origins[-1]
    # The mean of the bias and minus infinity: the first softmax after the fault.
    assert (origin.kind, origin.first.line, origin.step) == ("infinities", 7, 102)
    assert len(origin.losses) == 101
    assert all(map(math.isfinite, origin.losses))
    assert report.unkept > 1000
    assert report.is_over
    assert recorder.record.stopped
    assert not report.stopped
    assert any(item.name == "layer.weight" for item in report.reached)


def test_nothing_is_blamed_of_a_long_run_with_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def origins(run: Explainer, watched: first_nonfinite.Watched) -> tuple[list[object], first_nonfinite.Watched]:
        asked.append(watched)
        return [], watched

    monkeypatch.setattr(first_nonfinite, "origins", origins)
    report, recorder = _hunt(TRAINING.format(fault="pass"), most=1000)
    assert (report.origins, report.reached, report.is_over) == ((), (), False)
    # The logarithm of the mask has to be looked into once; what comes of it never.
    assert len(asked) == 1
    assert report.operations > 2000
    assert len(recorder.record.events) < 1100
    assert recorder.record.since == report.unkept + 1


def test_an_infinity_that_was_computed_is_told_also_after_it_was_forgotten() -> None:
    source = """
        x = torch.tensor([1.0, 0.0])
        worst = (1 / x).max()
        for step in range(400):
            x = (x + 1).clamp(max=2)
        y = (x - 2) / (x - 2)
    """
    report, _ = _hunt(source, most=300)
    assert [(item.kind, item.first.line) for item in report.origins] == [("divided-by-0", 3), ("zero-by-zero", 6)]
    assert [item.first.label for item in report.origins] == ["(reciprocal in 1 / x)[1]", "y[0]"]


def test_of_numbers_before_the_record_it_is_said_that_they_are_older() -> None:
    source = "x = torch.zeros(2)\nfor step in range(400):\n    y = torch.ones(3) * 2\nz = x / x"
    report, _ = _hunt(source, most=300)
    (origin,) = report.origins
    assert origin.operands[0].notes == ("It is older than the operations that are kept of this long run.",)


def test_the_record_keeps_what_fits_into_its_room() -> None:
    source = """
        x = torch.ones(50_000)
        for step in range(60):
            y = torch.sqrt(x * step)
            x.copy_(y / y.max().clamp(min=1))
        z = (x - x).log() * 0
    """
    report, recorder = _hunt(source, keep=4 << 20)
    assert [item.kind for item in report.origins] == ["logarithm-of-0"]
    assert report.unkept > 100
    assert recorder.kept <= 4 << 20
    assert report.lost == 0


def test_a_nan_that_marks_what_is_missing_is_blamed_only_if_it_is_used() -> None:
    source = "table = torch.full((3,), math.nan)\nfor i in range(3):\n    table[i] = i\ntotal = table.sum()"
    assert _hunt("import math\n" + source)[0].origins == ()
    report, _ = _hunt("import math\n" + source.replace("range(3)", "range(2)"))
    assert [(item.kind, item.first.line) for item in report.origins] == [("from-data", 2)]


def test_steps_that_a_scaler_has_skipped_are_counted_through_a_long_run() -> None:
    source = """
        weight = torch.zeros(4, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.01)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**18)
        for step in range(60):
            optimizer.zero_grad()
            loss = (weight.half() * torch.full((4,), 8.0).half()).sum().float()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    """
    report, _ = _hunt(source, most=300, after=100)
    assert (report.origins, report.skipped) == ((), 6)
    assert report.unkept > 300


def test_an_explosion_ends_the_hunt_and_is_told_once() -> None:
    source = """
        torch.manual_seed(0)
        weight = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=30.0)
        for step in range(400):
            loss = (weight.pow(2) * 0.5).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
    report, _ = _hunt(source, most=2000, after=100)
    (origin,) = report.origins
    assert origin.kind == "result-beyond"
    assert "learning rate" in origin.cures[0]
    assert report.is_over
    assert len(origin.losses) < 60


def test_a_loss_is_told_as_it_was_before_a_scaler_multiplied_it() -> None:
    source = """
        weight = torch.ones(2, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.0)
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
        for step in range(3):
            loss = (weight * 3).sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        gone = (weight - 1) / (weight - 1)
    """
    report, _ = _hunt(source)
    assert report.origins[0].losses == (6.0, 6.0, 6.0)


def test_a_step_that_a_scaler_is_about_to_skip_is_not_blamed_when_the_record_is_full() -> None:
    source = """
        weight = torch.zeros(4, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.01)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**18)
        for step in range(8):
            optimizer.zero_grad()
            loss = (weight.half() * torch.full((4,), 8.0).half()).sum().float()
            scaler.scale(loss).backward()
            for _ in range(200):
                other = torch.ones(3) + 1
            scaler.step(optimizer)
            scaler.update()
    """
    report, _ = _hunt(source, most=300, after=100)
    assert (report.origins, report.skipped) == ((), 6)


@pytest.mark.parametrize("between", ["backward", "clip"])
def test_a_skipped_step_is_not_blamed_wherever_the_record_gets_full(between: str) -> None:
    source = """
        weight = torch.zeros(4, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.01)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**18)
        for step in range(8):
            optimizer.zero_grad()
            loss = (weight.half() * torch.full((4,), 8.0).half()).sum().float()
            scaler.scale(loss).backward()
            {backward}
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_([weight], 1.0)
            {clip}
            scaler.step(optimizer)
            scaler.update()
    """
    fill = "[torch.ones(3) + 1 for _ in range(200)]"
    places = {"backward": "pass", "clip": "pass"} | {between: fill}
    # Clipped, the infinite gradients are NaN: an infinity by an infinity.
    report, _ = _hunt(source.format(**places), most=300, after=100)
    assert (report.origins, report.skipped) == ((), 6)


SCALED_ATTENTION = """
torch.manual_seed(0)
weight = torch.randn(4, 4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**21)
mask = torch.ones(4, 4).tril() == 0
for step in range(12):
    optimizer.zero_grad()
    for part in range(2):
        scores = (weight.half() * 2).masked_fill(mask, float("-inf"))
        values = torch.softmax(scores, dim=-1)
        loss = (values.sum(dim=-1, dtype=torch.float16) * 0 + values.diagonal() * 8).sum().float() * {fault}
        scaler.scale(loss / 2).backward()
    scaler.step(optimizer)
    scaler.update()
"""


def test_the_mask_of_a_skipped_step_is_no_nan() -> None:
    # What comes after the first NaN is only noted, and looked at when it matters.
    report, _ = _hunt(SCALED_ATTENTION.format(fault="1"), most=300, after=100)
    assert report.origins == ()
    assert report.skipped > 2
    assert report.unkept > 300


def test_a_loss_that_is_nan_is_blamed_though_the_scaler_skips_the_step() -> None:
    fault = '(float("nan") if step == 3 else 1)'
    report, _ = _hunt(SCALED_ATTENTION.format(fault=fault), most=300, after=100)
    (origin,) = report.origins
    assert (origin.phase, origin.first.line) == ("forward", 12)
