"""Probes of exercises ask which tensors of an answer stay behind, why backward fails, and which functions it uses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from attn_tutor.lessons.worker.jobs import exercise_tools


class Masked(nn.Module):
    """Causal weights whose mask comes from where `kind` says."""

    mask: torch.Tensor

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.layer = nn.Linear(3, 3)
        hidden = torch.ones(9, 9).triu(1).bool()
        self.register_buffer("mask", hidden)
        self.kept = [hidden.clone()]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys = self.layer(x)
        n, scores = len(x), keys @ keys.T
        places = torch.arange(n)
        makers: dict[str, Callable[[], torch.Tensor]] = {
            "buffer": lambda: self.mask[:n, :n],
            "list": lambda: self.kept[0][:n, :n],
            "made": lambda: torch.triu(torch.ones(n, n), diagonal=1).bool(),
            "compared": lambda: places[:, None] < places,
            "on the device": lambda: torch.triu(torch.ones(n, n, device=x.device), diagonal=1).bool(),
            "moved": lambda: torch.triu(torch.ones(n, n), diagonal=1).bool().to(x.device),
            "like": lambda: torch.ones_like(scores).triu(1) > 0,
        }
        mask = makers[self.kind]()
        scores = scores / torch.tensor(3.0).sqrt()
        weights = torch.softmax(scores.masked_fill(mask, -torch.inf), dim=-1)
        assert int(weights.sum().item() + 0.5) == n
        return torch.stack([row @ keys for row in weights])


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("buffer", []),
        ("list", ["held"]),
        ("made", ["made"]),
        ("compared", ["made"]),
        ("on the device", []),
        ("moved", []),
        ("like", []),
    ],
)
def test_tensors_that_would_stay_behind_are_found(kind: str, found: list[str]) -> None:
    assert exercise_tools.outsiders(Masked(kind), torch.randn(5, 3)) == found


def test_functions_whose_result_is_used() -> None:
    x, fused = torch.randn(2, 5, 3), nn.functional.scaled_dot_product_attention

    def by_hand() -> torch.Tensor:
        fused(x, x, x)
        return (x @ x.mT).softmax(-1) @ x

    assert exercise_tools.uses("scaled_dot_product_attention", lambda: fused(x, x, x) + 1)
    assert not exercise_tools.uses("scaled_dot_product_attention", by_hand)


def test_why_backward_fails() -> None:
    def weights(*, in_place: bool) -> torch.Tensor:
        made = torch.softmax(torch.randn(3, 3, requires_grad=True), dim=-1)
        return nn.functional.dropout(made, 0.5, inplace=in_place)

    assert exercise_tools.backward(weights(in_place=False)) == ""
    assert "changed in place" in exercise_tools.backward(weights(in_place=True), torch.randn(3, 3))
    assert "cannot be used" in exercise_tools.backward(torch.ones(3))
    assert "cannot be used" in exercise_tools.backward(None)


@pytest.mark.parametrize(
    ("totals", "told"),
    [
        ([1.0, 0.5], "1.00, 0.50"),
        ([1.0, 1.0003], "1.0000, 1.0003"),
        ([[1.0, 1.0], [1.0, 0.5]], "1.00, 0.50"),
        ([1.0] * 7 + [0.5], "0.5 in row 7"),
        ([1.0, float("nan")], "1.00, nan"),
    ],
)
def test_sums_that_are_not_1_are_seen(totals: list[float], told: str) -> None:
    assert exercise_tools.sums(torch.tensor(totals)) == told


def test_two_tensors_are_told_where_they_begin_to_differ() -> None:
    want = torch.arange(24.0).view(4, 6) / 10
    got = want.clone()
    got[0, 1] += 1
    told = "Your first row of weights begins with 0.000, 1.100, 0.200, 0.300. It should begin with 0.000, 0.100, "
    assert exercise_tools.beside(got, want, "weights") == f"{told}0.200, 0.300"
    assert exercise_tools.beside(got[0], want[0], "scores").startswith("Your scores begin with 0.000, 1.100")
    got = want.clone()
    got[2, 5] += 0.00035
    told = (
        "With a bias, row 2 of your weights, counted from 0, is, from column 5 on, 1.70035. There it should be 1.70000"
    )
    assert exercise_tools.beside(got, want, "weights", "With a bias") == told
    assert "have the shape (6,). It should be (4, 6)" in exercise_tools.beside(got[0], want, "weights")
    batch = torch.zeros(2, 3, 2)
    batch[1, 1, 0] = torch.nan
    told = "Row 1 of your result in sentence 1, counted from 0, begins with nan, 0.000. There it should be 0.000, 0.000"
    assert exercise_tools.beside(batch, torch.zeros(2, 3, 2), "result") == told


class Moody(nn.Module):
    """A layer that gives other numbers in some modes."""

    def __init__(self, when: str) -> None:
        super().__init__()
        self.when, self.calls = when, 0
        self.layer = nn.Linear(2, 2)
        self.register_buffer("used", torch.ones(2))
        self.register_buffer("unused", torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        moods = {
            "train": self.training,
            "eval": not self.training,
            "no_grad": not torch.is_grad_enabled(),
            "inference": torch.is_inference_mode_enabled(),
            "graded": x.requires_grad,
            "again": self.calls > 1,
        }
        assert isinstance(self.used, torch.Tensor)
        result: torch.Tensor = self.layer(x) * self.used
        return -result if moods.get(self.when) else result


IN_TRAINING, IN_EVALUATION = ({mode, f"{mode}_no_grad", f"{mode}_inference"} for mode in ("train", "eval"))


@pytest.mark.parametrize(
    ("when", "wrong"),
    [
        ("never", set()),
        ("train", {"again", "graded", *IN_TRAINING}),
        ("eval", IN_EVALUATION),
        ("no_grad", {"train_no_grad", "train_inference", "eval_no_grad", "eval_inference"}),
        ("inference", {"train_inference", "eval_inference"}),
        ("graded", {"graded"}),
        ("again", {"again", "graded", *IN_TRAINING, *IN_EVALUATION}),
    ],
)
def test_results_of_all_modes(when: str, wrong: set[str]) -> None:
    x, model = torch.randn(3, 2), Moody(when)
    results = exercise_tools.in_all_modes(model, x)
    right = model.layer(x)
    assert {mode for mode, result in results.items() if not exercise_tools.close(result, right)} == wrong
    assert bool(exercise_tools.other_mode(results, dict.fromkeys(results, right))) is bool(wrong)
    assert model.training


def test_a_mode_is_told_in_words() -> None:
    wrong = exercise_tools.other_mode({"train": 1, "eval": 2}, {"train": 1, "eval": 1, "eval_no_grad": 1})
    assert wrong == "After `eval()`"
    assert exercise_tools.other_mode({"train": 1}, {"train": 1, "eval_no_grad": 1}).endswith("inside `torch.no_grad()`")


def test_dropout_in_all_modes() -> None:
    model = nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.9))
    drops = exercise_tools.drops_in(model, torch.randn(3, 4))
    assert drops == {mode: not mode.startswith("eval") for mode in drops}


def test_a_buffer_that_is_there_for_show() -> None:
    model, x = Moody("never"), torch.randn(3, 2)
    assert exercise_tools.uses_buffer(model, "used", x)
    assert not exercise_tools.uses_buffer(model, "unused", x)
    assert torch.equal(model.get_buffer("used"), torch.ones(2))
    assert exercise_tools.uses_buffer(Masked("buffer"), "mask", torch.randn(5, 3))
    assert not exercise_tools.uses_buffer(Masked("list"), "mask", torch.randn(5, 3))


def test_tensors_in_the_memory_of_another_module() -> None:
    one, other = nn.Linear(3, 3), nn.Linear(3, 3)
    one.load_state_dict(other.state_dict())
    assert exercise_tools.in_memory_of(one, other) == []
    one.weight = nn.Parameter(other.weight.T)
    assert exercise_tools.in_memory_of(one, other) == ["weight"]
    one.load_state_dict(other.state_dict(), assign=True)
    assert exercise_tools.in_memory_of(one, other) == ["weight", "bias"]


def test_layers_that_start_with_the_same_numbers() -> None:
    def layer() -> nn.Linear:
        torch.manual_seed(5)
        return nn.Linear(3, 3)

    drawn = nn.ModuleList([layer(), nn.Linear(3, 3)])
    assert exercise_tools.started_alike(drawn) == {}
    drawn.append(layer())
    assert exercise_tools.started_alike(drawn) == {"2.weight": "0.weight", "2.bias": "0.bias"}
    for name, parameter in drawn.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
    assert exercise_tools.started_alike(drawn) == {"2.weight": "0.weight"}


def test_a_vector_that_differs_late_is_told_from_there_on() -> None:
    got = torch.zeros(6)
    got[4] = 1
    told = "From place 4 on, counted from 0, your weights are 1.000, 0.000. They should be 0.000, 0.000"
    assert exercise_tools.beside(got, torch.zeros(6), "weights") == told
