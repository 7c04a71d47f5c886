"""Classic ways to a number that is not finite: what is named as the first one, and what is said of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from attn_tutor.lessons.programs.render import nonfinite_text
from attn_tutor.lessons.programs.results import nonfinite
from attn_tutor.lessons.programs.results.nonfinite import NonfiniteOrigin, NonfiniteReport
from attn_tutor.lessons.programs.worker.nan import first_nonfinite, out_of_sight, tried_in_place
from attn_tutor.lessons.programs.worker.nan.hunt import HuntingRecorder
from tests.lessons.recorded_code import Traced

FOLDER = Path(__file__).parents[4] / "data/nonfinite"
PROGRAMS = sorted(FOLDER.glob("*.py"))
EXPECTED = re.compile(r"# (?P<kind>[\w-]+): (?P<op>\w+) on line (?P<line>\d+), (?P<phase>\w+)\n")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """One of the programs has memory filled that nothing has written to."""
    yield
    torch.use_deterministic_algorithms(False)


def _search(source: str, **limits: int) -> NonfiniteReport:
    torch.manual_seed(0)
    return nonfinite.of_json(first_nonfinite.search(Traced(source, **limits).explainer))


def _hunt(source: str, **limits: int) -> NonfiniteReport:
    """Hunt while the program runs, as the command does, in place of a search through its record."""
    torch.manual_seed(0)
    recorder = HuntingRecorder(**limits)
    return nonfinite.of_json(recorder.report(Traced.under(recorder, source).explainer))


@pytest.mark.filterwarnings("ignore:std")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_classic_failure_is_named(program: Path) -> None:
    source = program.read_text()
    report, expected = _hunt(source), EXPECTED.match(source)
    searched = _search(source)
    assert [_without_references(item) for item in searched.origins] == [
        _without_references(item) for item in report.origins
    ]
    # Which of many large numbers are told depends on the order in which they are looked at.
    assert replace(searched, origins=(), large=()) == replace(report, origins=(), large=())
    if expected is None:
        assert source.startswith("# finite\n")
        assert (report.origins, report.reached) == ((), ())
        return
    origin = report.first
    assert origin is not None
    assert (origin.kind, origin.phase) == (expected["kind"], expected["phase"])
    # What a fused kernel computes inside is on no line: then the line is that of the number where it was noticed.
    lines = [item.line for item in origin.chain if item.line is not None]
    assert (origin.first.op, lines[0]) == (expected["op"], int(expected["line"]))
    assert not math.isfinite(origin.first.value or 0.0)
    assert origin.reason
    assert origin.cures
    assert report.reached


def _without_references(origin: NonfiniteOrigin) -> tuple[object, ...]:
    labels = [(item.label, item.op, item.line, repr(item.value)) for item in (*origin.chain, *origin.operands)]
    return labels, repr(origin.losses), replace(origin, chain=(), operands=(), losses=())


def test_infinities_that_lead_to_nan_are_where_it_came_from() -> None:
    report = _search((FOLDER / "half_exp.py").read_text())
    first = report.origins[0].first
    assert (first.label, first.value) == ("weights#1[1]", math.inf)
    assert repr(report.origins[0].chain[-1].value) == "nan"
    assert len(report.origins) == 1


def test_an_infinity_that_the_first_nan_does_not_come_from_is_told_beside_it() -> None:
    report = _search("x = torch.zeros(2)\na = 1 / x\nb = x / x")
    assert [(item.kind, item.first.line) for item in report.origins] == [("divided-by-0", 2), ("zero-by-zero", 3)]


ROW = "n = h * torch.rsqrt((h * h).mean(-1, keepdim=True))\n"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("x = torch.zeros(2)\na = 1 / x\nb = x / x", "As far as the record shows, the first NaN came from elsewhere:"),
        # The infinity has made a row 0 that is divided by its largest number.
        (f"h = torch.tensor([[400.0, 1, 2]]).half()\n{ROW}g = n / n.abs().max()", "The first NaN is g[0,0]."),
        (f"h = torch.tensor([[400.0, 1, 2]]).half()\n{ROW}k = n + h\nk[0, 1] = 0\nk /= k[0, 1] * n[0, 1]", "k[0,1]."),
        # Another number of the same mask is not infinite before something is added to it.
        (
            "m = torch.tensor([[-65504.0, 0], [-6e4, -6e4]]).half()\nb = torch.tensor([-65504.0, 0]).half()\n"
            "m[0] = m[0] + b\ns = (m - 6e4).softmax(-1)",
            "The first NaN came from (m - 6e4)[1,0], which is -inf.",
        ),
    ],
)
def test_a_nan_came_from_elsewhere_only_if_nothing_carried_the_infinity_there(program: str, said: str) -> None:
    one, other = _search(program).origins
    text = nonfinite_text.headline(other, one)
    assert said in text
    assert ("elsewhere" in text) is other.is_apart
    hunted = _hunt(program).origins
    assert nonfinite_text.headline(hunted[1], hunted[0]) == text


def test_of_a_training_the_step_and_the_losses_are_told() -> None:
    report = _search((FOLDER / "exploding_sgd.py").read_text())
    origin = report.first
    assert origin is not None
    assert (origin.step, origin.times, origin.of) == (13, 13, 40)
    assert len(origin.losses) == 12
    assert origin.losses[-1] > 1e30
    assert "learning rate" in origin.cures[0]
    assert len(report.origins) == 1


def test_what_hides_in_where_is_found_in_both_passes() -> None:
    report = _search((FOLDER / "where_in_backward.py").read_text())
    assert [item.phase for item in report.origins] == ["forward", "backward"]
    assert report.origins[1].forward == ("x.log()", "code", 5)
    assert "Choose before computing" in report.origins[1].cures[0]


def test_of_finite_numbers_the_count_and_the_largest_are_told() -> None:
    report = _search("x = torch.tensor([1.0, 200.0], dtype=torch.float16)\ny = x * 300\nz = torch.arange(3)")
    assert (report.operations, report.numbers, report.origins) == (3, 4, ())
    (large,) = report.large
    assert (large.name, large.largest, large.dtype, large.line) == ("x * 300", 60000.0, "float16", 2)


def test_numbers_that_were_dropped_and_overwritten_are_looked_at() -> None:
    source = """
        x = torch.zeros(2000)
        for round in range(60):
            y = torch.full((2000,), float(round))
            x.copy_(1 / (y - 31))
        x.zero_()
    """
    report = _search(source, segment=50_000)
    origin = report.first
    assert origin is not None
    assert (origin.kind, origin.first.line, origin.count) == ("divided-by-0", 5, 2000)


def test_what_came_after_the_end_of_the_record_is_said_not_to_be_looked_at() -> None:
    report = _search("x = torch.zeros(3)\nfor _ in range(20):\n    x = x + 1\ny = x / 0", most=10)
    assert report.origins == ()
    assert report.stopped
    assert report.stopped_line == 3


def test_a_sum_of_too_many_numbers_to_list_leads_on_to_its_operand() -> None:
    report = _search("x = torch.ones(5000)\nx[77] = 0\ny = (1 / x).mean()\nz = y * 2")
    origin = report.first
    assert origin is not None
    assert (origin.kind, origin.first.index) == ("divided-by-0", (77,))


def test_numbers_from_outside_are_told_as_such() -> None:
    traced = Traced()
    traced.namespace["table"] = torch.tensor([1.0, math.nan])
    traced.run("mean = table.mean()")
    report = nonfinite.of_json(first_nonfinite.search(traced.explainer))
    assert report.first is not None
    assert (report.first.kind, report.first.first.index) == ("from-data", (1,))


def test_a_number_that_is_too_large_inside_of_a_kernel_is_told() -> None:
    report = _search("x = torch.tensor([[1e30, -1e30, 3e29, 0.0]])\ny = torch.nn.functional.layer_norm(x, (4,))")
    assert report.first is not None
    assert report.first.kind == "result-beyond"
    assert "beyond the largest one of float32" in " ".join(report.first.first.notes)


def _origin_of(program: str) -> NonfiniteOrigin:
    origin = _search((FOLDER / f"{program}.py").read_text()).first
    assert origin is not None
    return origin


@pytest.mark.parametrize(
    ("program", "cure"),
    [
        # What a step computes in half precision cannot be converted by the code: its eps is 0.
        ("adam_in_half", "in float16, 1e-08 is 0"),
        ("entropy_in_half", "Computed in float32, it is 83177.7. float16 ends at 65504"),
        # x / (y + eps) is finite, but the slope of the root is not.
        ("norm_in_backward", "x / (y + 1e-8).sqrt() is 0 here"),
        ("sum_of_words", "1 / x.clamp(min=1) is 1 then"),
        # Weights may add up to less than 1, so they are no count.
        ("weights_without_mass", "x / (y + 1e-8) is 0 here"),
        ("division_by_count", "count.clamp(min=1), it is 0"),
        ("loss_per_token", "count.clamp(min=1), it is 0"),
        ("infinity_minus_infinity", "clamp(min=1e-12) before anything is divided by it"),
        ("logsumexp_by_hand", "log(exp(x) / sum) is x - torch.logsumexp(x, dim)"),
        ("logsumexp_of_small", "it gives -120 here"),
        # float32 ends where bfloat16 does.
        ("square_in_bfloat16", "Computed in float64, it is 8.98558e+38"),
        ("bias_correction_from_0", "the first step is 1"),
        # A small number in its place would make the scale a large one.
        ("log_of_spread", "torch.where(x > 0, x, 1).log()"),
    ],
)
def test_what_helps_is_what_helps_in_this_case(program: str, cure: str) -> None:
    (said,) = _origin_of(program).cures
    assert cure in said


def test_what_overflows_only_on_the_way_is_not_called_too_large() -> None:
    assert _origin_of("overflow_in_norm").reason == "On the way, a number was beyond the largest one of float32."
    assert _origin_of("half_matmul").reason == "The result is beyond the largest number of float16."


def test_numbers_that_grow_in_each_round_are_one_explosion() -> None:
    (origin,) = _search(
        """
        x, w = torch.ones(4, 3), torch.ones(3, 1)
        for step in range(30):
            wrong = x @ w - 1
            loss = (wrong**2).sum()
            w = w - 50 * (x.T @ (2 * wrong))
        """
    ).origins
    assert "its largest number was larger: " in origin.cures[0]
    assert "a smaller learning rate" in origin.cures[0]


def test_sums_of_numbers_below_0_are_no_count() -> None:
    (cure,) = _search("x = torch.tensor([-1.0, 1.0])\ny = x / x.sum()").origins[0].cures
    assert "Look at how the divisor came to be 0" in cure


def test_a_step_without_the_scaler_of_its_loss_is_told() -> None:
    report = _hunt(
        """
        weight = torch.ones(2, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**18)
        scaler.scale((weight.half() * 3).sum()).backward()
        optimizer.step()
        """
    )
    assert "scaler.step(optimizer) in place of optimizer.step()" in report.origins[0].cures[-1]


def test_numbers_inside_of_one_derivative_are_one_origin() -> None:
    (origin,) = _search("x = torch.ones(2, requires_grad=True)\n(torch.acos(x) ** 2).sum().backward()").origins
    assert [repr(item.value) for item in origin.chain] == ["inf", "nan"]


def test_the_count_has_infinities_beside_nan() -> None:
    assert _search("x = torch.tensor([0.0, 1.0, 2.0])\ny = x / 0").origins[0].count == 3


def test_nan_that_marks_what_is_missing_is_told_and_not_blamed() -> None:
    report = _search("x = torch.full((3,), float('nan'))\nx[1] = 2\ny = x.nansum()")
    assert (report.origins, report.reached, bool(report.marks)) == ((), (), True)
    (line,) = nonfinite_text.lines(report, here="code", steps={}, failed=False, width=200)
    assert "but for what the code itself set or left out" in line


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("torch.nan_to_num(r)", "torch.nan_to_num(r) on line 2 took it, and all that it gave is finite."),
        ("torch.where(x > 0, r, 0.0)", "on line 2 took it, and all that it gave is finite."),
        ("torch.fmax(r, x)", "torch.fmax(r, x) on line 2 took it, and all that it gave is finite."),
        ("r.long()", "r.long() on line 2 took it and gave whole numbers"),
        ("r.argmax()", "r.argmax() on line 2 took it and gave whole numbers"),
        ("r > 0", "r > 0 on line 2 took it and gave truth values"),
        ("r.nan_to_num_()", "r.nan_to_num_() on line 2 took it, and all that it gave is finite."),
    ],
)
def test_what_hides_a_number_is_said(line: str, said: str) -> None:
    source = f"x = torch.tensor([0.0, 1.0]); r = x / x\ny = {line}"
    for report in (_search(source), _hunt(source)):
        assert report.is_finite is False
        (afterwards,) = report.origins[0].afterwards
        assert said in afterwards


def test_what_python_takes_once_a_number_is_back_is_in_sight() -> None:
    report = _search(
        "x = torch.tensor([0.0, 1.0])\n"
        "w = torch.ones(2, requires_grad=True)\n"
        "for _ in range(2):\n"
        "    kept = torch.where(torch.tensor([False, True]), x / x * w, torch.zeros(2))\n"
        "    loss = kept.sum() + w.sum()\n"
        "    w.grad = None\n"
        "    loss.backward()\n"
        "    with torch.no_grad():\n"
        "        w -= w.grad\n"
        "    print(loss.item())\n"
    )
    lost, back = report.origins[0].afterwards
    assert "torch.where" in lost
    assert "In the backward pass it comes back" in back


@pytest.mark.parametrize(
    "line", ["x.argmax()", "x.long()", "(x > 0).float()", "torch.fmax(x, torch.zeros(2))", "x > 5", "x < -9"]
)
def test_what_depends_on_a_mark_is_computed_from_it(line: str) -> None:
    report = _search(f"x = torch.full((2,), float('nan'))\nx[1] = 2\ny = {line}")
    assert (report.origins[0].kind, report.is_finite) == ("from-data", False)
    assert report.origins[0].afterwards


@pytest.mark.parametrize(
    "line", ["x != x", "x[~x.isnan()].max()", "torch.where(x.isnan(), 0.0, x)", "x.nan_to_num()", "x[1].long()"]
)
def test_what_does_not_depend_on_a_mark_is_not_computed_from_it(line: str) -> None:
    report = _search(f"x = torch.full((2,), float('nan'))\nx[1] = 2\ny = {line}\ndel x")
    assert (report.origins, bool(report.marks), report.is_finite) == ((), True, True)


def test_code_that_leaves_out_what_it_computed_itself_is_named_with_its_line() -> None:
    source = "x = torch.tensor([0.0, 1.0])\ny = (x / x).nansum()"
    for report in (_search(source), _hunt(source)):
        assert (report.marks, report.is_finite) == (("(x / x).nansum() on line 2",), True)
        (line,) = nonfinite_text.lines(report, here="code", steps={}, failed=False, width=200)
        assert "but for what the code itself set or left out: (x / x).nansum() on line 2." in line


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("y = float(x[0])", "on line 3 took it into Python, where numbers are not followed."),
        ("y = 1 if x[0] else 2", "on line 3 took it into Python, where numbers are not followed."),
        ("for _ in range(250): y = x.clone()", "the first 200 were followed."),
    ],
)
def test_what_cannot_be_followed_is_not_said_to_be_finite(lines: str, said: str) -> None:
    source = f"x = torch.full((2,), float('nan'))\nx[1] = 2\n{lines}\ndel x"
    for report in (_search(source), _hunt(source)):
        assert (report.origins, report.is_finite) == ((), None)
        (line, *_) = report.unfollowed
        assert said in line
        assert line in " ".join(nonfinite_text.lines(report, here="code", steps={}, failed=False, width=1000))


def test_an_operation_that_cannot_be_run_again_is_not_said_to_depend_on_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(tried_in_place, "run_again", fail)
    report = _search("x = torch.full((2,), float('nan'))\nx[1] = 2\ny = x[None].argmax()\ndel x")
    assert (report.origins, report.is_finite) == ((), None)
    assert "x[None].argmax() on line 3 took NaN, and could not be run again" in report.unfollowed[-1]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("nan", "nan", True), ("nan", "0", False), ("inf", "inf", True), ("inf", "-inf", False),
        ("inf", str(torch.finfo(torch.float32).max), False),
    ],
)  # fmt: skip
def test_nan_is_the_same_only_as_nan(one: str, other: str, is_same: bool) -> None:
    assert out_of_sight.is_same(torch.tensor([float(one)]), torch.tensor([float(other)])) is is_same


def test_how_a_number_passes_a_finite_loss_is_said() -> None:
    report = _search(
        """
        v = torch.ones(2, 2, requires_grad=True)
        scores = torch.tensor([[0.0, 1.0], [-torch.inf, -torch.inf]])
        weights = scores.softmax(-1)
        context = weights @ v
        keep = torch.tensor([[True], [False]])
        loss = torch.where(keep, context, torch.zeros_like(context)).sum()
        loss.backward()
        """
    )
    hidden, back = report.origins[0].afterwards
    assert "torch.where(keep, context, torch.zeros_like(context)) on line 7 took it" in hidden
    assert "the derivative of weights @ v on line 5 multiplies it by a gradient of 0" in back


def test_infinities_from_outside_are_what_a_nan_comes_from() -> None:
    traced = Traced()
    traced.namespace["batch"] = torch.tensor([math.inf, 1.0])
    traced.run("y = batch - batch.mean()")
    (origin,) = nonfinite.of_json(first_nonfinite.search(traced.explainer)).origins
    assert (origin.kind, origin.first.label) == ("from-data", "batch[0]")
    assert "x.isinf()" in origin.cures[0]


@pytest.mark.parametrize(
    ("subtracted", "helps"),
    [("scores.amax(-1, keepdim=True)", True), ("scores.clone()", False), ("scores.flip(-1)", False)],
)
def test_a_row_of_infinities_is_cured_where_its_largest_number_is_subtracted(subtracted: str, helps: bool) -> None:
    report = _search(f"scores = torch.full((2, 3), -torch.inf)\nscores[0] = 1\nleft = scores - {subtracted}")
    assert any("highest.masked_fill" in cure for cure in report.origins[0].cures) == helps


def test_what_helps_is_said_once() -> None:
    report = _search(
        """
        one, other = (torch.ones(2, dtype=torch.float16, requires_grad=True) for _ in range(2))
        optimizer = torch.optim.AdamW([{"params": [one]}, {"params": [other]}], lr=0.1)
        (one * 1e-4 + other * 0).sum().backward()
        optimizer.step()
        """
    )
    assert [len(origin.cures) for origin in report.origins] == [1, 0]


def test_of_an_explosion_only_the_steps_are_to_blame() -> None:
    assert len(_origin_of("exploding_sgd").cures) == 1


def test_a_nan_from_unrecorded_numbers_is_not_said_to_come_from_elsewhere() -> None:
    report = _search((FOLDER / "sum_of_words.py").read_text())
    first, nan = report.origins
    assert nan.kind == "unrecorded-operands"
    assert "may have come from this infinity" in nonfinite_text.headline(nan, first)
    assert not any("born here" in note for note in nan.first.notes)


def test_a_nan_from_the_derivative_of_the_same_operation_has_no_cure_of_its_own() -> None:
    report = _search(
        """
        scores = torch.tensor([[0.0, 200.0]], requires_grad=True)
        chances = torch.softmax(scores, dim=1)
        torch.nn.functional.nll_loss(torch.log(chances), torch.tensor([1])).backward()
        """
    )
    first, nan = report.origins
    assert (len(first.cures), nan.phase, nan.cures) == (1, "backward", ())
    assert "from the derivative of the same" in nonfinite_text.headline(nan, first)


def test_large_numbers_that_the_code_gives_are_not_told() -> None:
    report = _hunt(
        """
        scores, hidden = torch.zeros(2, 2), torch.eye(2).bool()
        for _ in range(2):
            least = torch.finfo(scores.dtype).min
            masked = scores.masked_fill(hidden, least)
            chosen = torch.where(hidden, least * torch.ones(2), scores)
        square = torch.tensor([1.5e19]) ** 2
        """
    )
    assert [item.name for item in report.large] == ["torch.tensor([1.5e19]) ** 2"]


def test_an_infinity_that_the_code_multiplies_by_is_not_said_to_be_too_large() -> None:
    origin = _hunt("x = float('-inf') * torch.ones(3)\ny = torch.softmax(x, dim=0)").first
    assert origin is not None
    assert origin.kind == "nothing-left"
    assert [item.notes for item in origin.operands] == [()] * 3


def test_of_a_program_that_was_ended_nobody_knows_how_often_code_would_have_run() -> None:
    source = "x = torch.ones(1)\nfor step in range(100):\n    y = 1 / (x - 1 + (step < 2))\n    z = y - y"
    report = _hunt(source, after=20)
    (origin,) = report.origins
    assert report.is_over
    assert "Before, this code had run 2 times." in nonfinite_text.headline(origin)
    assert "this was run" not in nonfinite_text.headline(origin)


def test_an_optimizer_does_not_count_the_parameters_as_rounds() -> None:
    report = _hunt(
        """
        weights = [torch.ones(2, requires_grad=True) for _ in range(3)]
        optimizer = torch.optim.Adam(weights, eps=0)
        sum((weight * 0).sum() for weight in weights).backward()
        optimizer.step()
        """
    )
    (origin,) = report.origins
    assert (origin.phase, origin.times, origin.of) == ("optimizer", 0, 0)


def test_where_an_operand_far_back_became_large_is_told() -> None:
    report = _hunt(
        """
        weight, x = torch.ones(3), torch.ones(2, 3)
        weight[1] *= 1e25
        for _ in range(2):
            hidden = torch.relu(x * weight) + 1
        y = hidden.sum(dim=1) ** 2
        z = torch.nn.functional.layer_norm(hidden * 1e5, (3,))
        """
    )
    # What comes of the layer norm is of the same number.
    (origin,) = report.origins
    assert (origin.kind, origin.first.line) == ("result-beyond", 6)
    assert origin.grown is not None
    assert (origin.grown.line, origin.grown.code) == (3, "weight[1] *= 1e25")
    text = "\n".join(nonfinite_text.lines(report, here="code"))
    assert "Numbers of this size began here:\n  weight#2[1] = 1e+25   line 3" in text


def test_a_large_number_that_the_code_sets_is_where_it_began() -> None:
    origin = _hunt(
        """
        weight = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.Adam([weight])
        weight.sum().backward()
        weight.grad[1] = 3e38
        optimizer.step()
        """
    ).first
    assert origin is not None
    assert origin.grown is not None
    assert origin.grown.line == 5
    assert origin.grown.value == pytest.approx(3e38)


def test_numbers_that_grow_little_by_little_began_nowhere() -> None:
    assert _origin_of("exploding_sgd").grown is None
    assert _origin_of("half_matmul").grown is None


def test_long_code_is_cut_in_its_middle() -> None:
    report = _hunt(
        """
        numbers_with_a_long_name = torch.ones(2, 2)
        log = (numbers_with_a_long_name.flatten(1).sum(1) - numbers_with_a_long_name.sum(1)).pow(2).sum().log()
        """
    )
    assert [item.label for item in report.origins[0].operands] == [
        "(numbers_with_a_long_name.fl ... g_name.sum(1)).pow(2).sum()"
    ]


@pytest.mark.parametrize(
    ("source", "cure"),
    [
        ("x = torch.tensor([4.0, 0.0])\nx.log2_()", "x.clamp(min=1e-12).log2() stays finite: -39.86"),
        # Whole numbers that are divided by their own sum are no count.
        ("x = torch.tensor([[1.0, 2.0], [0.0, 0.0]])\ny = x / x.sum(dim=1, keepdim=True)", "x / (y + 1e-8) is 0 here"),
        # In half precision, 1e-8 is 0, and 1 / 1e-6 is too large.
        ("x = torch.zeros(2).half()\ny = x / x", "x / (y + 1e-6) is 0 here"),
        ("x = torch.zeros(2).half()\ny = 1 / x", "1 / (x + 1e-4) is 10000 here"),
        ("x = torch.zeros(2).half()\ny = x.log()", "x.clamp(min=1e-6).log() stays finite: -13.8"),
        ("x = torch.ones(2, 3)\ny = x / x.std(dim=0)", "x / torch.where(y > 0, y, 1) is 1 here"),
        (
            "x = torch.ones(2, requires_grad=True)\nx.register_hook(lambda g: g / g.sum())\n(x[0] - x[1]).backward()",
            "A small number in it would keep the result finite",
        ),
        (
            "weight = torch.tensor([1.0, 0.0])\n"
            "loss = torch.nn.functional.cross_entropy(torch.ones(2, 2), torch.ones(2).long(), weight)",
            "the weights of the targets that are there, and these are all 0",
        ),
    ],
)
def test_what_helps_fits_the_operands(source: str, cure: str) -> None:
    (said,) = _search(source).origins[0].cures
    assert cure in said


def test_what_a_function_takes_a_part_of_goes_by_the_code_that_made_it() -> None:
    report = _hunt(
        """
        class Schedule:
            def __init__(self):
                self.table = torch.tensor([0.0, 1.0]) / torch.tensor([0.0, 1.0])

            def at(self, t):
                part = self.table[t]
                return part * 2

        schedule = Schedule()
        values = [schedule.at(torch.tensor(t)) for t in (1, 0)]
        """
    )
    (origin,) = report.origins
    assert origin.first.label == "(torch.tensor([0.0, 1.0]) / torch.tensor([0.0, 1.0]))[0]"


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_numbers_of_eight_bits_are_looked_at_too(dtype: str) -> None:
    """PyTorch itself cannot say whether they are finite."""
    assert _search(f"x = torch.ones(2).to(torch.{dtype})\ny = x.float() * 2").origins == ()
    (origin,) = _search(f"x = torch.ones(2) / 0\ny = x.to(torch.{dtype})").origins
    assert origin.first.label == "x[0]"


def test_a_table_that_only_an_operation_sees_may_hold_infinities() -> None:
    alignable = (
        "t = torch.zeros(6, 1, 4).log_softmax(-1)\n"
        "y = torch.nn.functional.ctc_loss(t, torch.tensor([[1, 2]]), torch.tensor([6]), torch.tensor([2]))"
    )
    assert _search(alignable).origins == ()
    (origin,) = _search(alignable.replace("[[1, 2]]", "[[1, 1, 1, 1, 1]]").replace("[2]", "[5]")).origins
    assert "No alignment is possible" in origin.reason
