"""Timing calls: how often and in which order they are made, and how the times are summarized."""

from __future__ import annotations

import threading
from itertools import count

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from attn_tutor.attention import measuring
from attn_tutor.attention.measuring import median_times


def test_calls_take_turns_after_a_warm_up() -> None:
    made: list[str] = []
    times = median_times([lambda: made.append("a"), lambda: made.append("b")], rounds=2)
    assert "".join(made) == "ab" + "abab"
    assert times.shape == (2,)
    assert times.dtype == torch.float32
    assert bool((times >= 0).all())


def test_the_median_of_the_rounds_is_taken_in_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    # Three rounds of 1, 9 and 2 seconds: one slow call does not move the median.
    clock = iter((0.0, 1.0, 10.0, 19.0, 20.0, 22.0))
    monkeypatch.setattr(measuring, "perf_counter", lambda: next(clock))
    assert median_times([lambda: None], rounds=3).tolist() == [2000.0]


def test_the_warm_up_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count()
    seen: list[int] = []
    monkeypatch.setattr(measuring, "perf_counter", lambda: float(next(ticks)))
    median_times([lambda: seen.append(next(ticks))], rounds=1)
    # The first call comes before the clock is read at all.
    assert seen[0] == 0


def test_calls_are_made_without_gradients_and_unseen_by_a_dispatch_mode() -> None:
    seen: list[str] = []
    grad: list[bool] = []

    class Watching(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    threads: list[int] = []

    def call() -> None:
        grad.append(torch.is_grad_enabled())
        threads.append(threading.get_ident())
        torch.ones(3).exp()

    with Watching():  # type: ignore[no-untyped-call]
        median_times([call], rounds=1)
    assert grad == [False, False]
    assert not any("exp" in name for name in seen)
    assert threading.get_ident() not in threads


def test_an_exception_in_a_call_is_raised() -> None:
    def fails() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        median_times([fails])
    for calls, rounds in (([], 3), ([fails], 0)):
        with pytest.raises(ValueError, match="nothing to measure"):
            median_times(calls, rounds)
