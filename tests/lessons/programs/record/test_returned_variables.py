"""The variables of functions in a trace, as plain Python has them when they return, and tools of others beside it."""

from __future__ import annotations

import asyncio
import contextlib
import cProfile
import re
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from types import FrameType
from typing import Any

import pytest
import torch

from attn_tutor.lessons.programs.record import Trace, record


def plus(t: torch.Tensor, more: float = 1) -> torch.Tensor:
    w = t + more
    return w


def counting(t: torch.Tensor) -> Generator[torch.Tensor, None, None]:
    w = t
    try:
        while True:
            w = plus(w)
            yield w
    finally:
        w = w * 10


def dropped_generators(t: torch.Tensor) -> None:
    w = next(counting(t))
    w = next(counting(w))
    w = sum(counted for counted, _ in zip(counting(w), range(2), strict=False))  # type: ignore[assignment]


def delegating(t: torch.Tensor) -> Iterator[torch.Tensor]:
    yield from (plus(each) for each in t)
    w = plus(t)
    yield w


def two_generators_in_turn(t: torch.Tensor) -> None:
    one, other = counting(t), counting(t * 2)
    for w in (next(one), next(other), next(one)):
        plus(w)
    one.close()
    other.close()


async def waiting(t: torch.Tensor, rounds: int) -> torch.Tensor:
    w = t
    for _ in range(rounds):
        w = plus(w)
        await asyncio.sleep(0)
    w = w[:1]
    return w


async def streaming(t: torch.Tensor) -> AsyncGenerator[torch.Tensor, None]:
    w = t
    while True:
        w = plus(w)
        yield w


async def together(t: torch.Tensor) -> torch.Tensor:
    parts = await asyncio.gather(waiting(t, 1), waiting(t * 2, 3), waiting(t * 3, 2))
    w = torch.cat(list(parts))
    async with contextlib.aclosing(streaming(w)) as stream:
        async for each in stream:
            w = each
            break
    return w


def coroutines(t: torch.Tensor) -> None:
    w = asyncio.run(together(t))
    w = w[1:]


def closures(t: torch.Tensor) -> None:
    w = t + 1

    def change() -> None:
        nonlocal w
        w = w * 2
        kept = w
        w = plus(w)
        del kept

    change()
    change()


def unwinding(t: torch.Tensor) -> None:
    def fail(depth: int) -> None:
        w = t + depth
        if depth == 3:
            raise ValueError(w)
        try:
            fail(depth + 1)
        finally:
            w = w * 2

    w = t
    with contextlib.suppress(ValueError):
        w = plus(w)
        fail(0)
    try:
        w = plus(w)
        raise KeyError
    except KeyError as error:
        w = plus(w)
        del error


def deleting(t: torch.Tensor) -> None:
    u = w = t + 1
    w = plus(w)
    del u
    w, v = w[0], w
    del v


def comprehensions(t: torch.Tensor) -> None:
    w = t
    ws = [w := plus(t, more) for more in range(3)]
    v = {str(more): (w := plus(w)) for more in range(2)}
    ws[1] = w
    v["1"] = plus(w)


def recursive(t: torch.Tensor, depth: int = 4) -> torch.Tensor:
    w = t * depth
    if depth:
        w = recursive(w, depth - 1)
        w = w + depth
    return w


def in_place(t: torch.Tensor) -> None:
    def changed(x: torch.Tensor) -> torch.Tensor:
        w = x + 1
        v = w.view(-1)
        return v

    w = changed(t)
    w.unsqueeze_(0)
    w.transpose_(0, 1)
    w.resize_(1)
    w = changed(t)
    w.set_(torch.ones(4).untyped_storage())


def executed(t: torch.Tensor) -> torch.Tensor:
    space: dict[str, Any] = {"w": t, "plus": plus}
    exec("w = plus(w)\nw = plus(w)", space)
    exec("def plus(t):\n    w = t * 7\n    return w\nw = plus(w)", space)
    w: torch.Tensor = space["w"] + 1
    return w


@contextlib.contextmanager
def managed(t: torch.Tensor) -> Iterator[torch.Tensor]:
    w = plus(t)
    try:
        yield w
    finally:
        w = plus(w)


def managing(t: torch.Tensor) -> None:
    with managed(t) as w, contextlib.ExitStack() as stack:
        w = stack.enter_context(managed(w))
        w = plus(w)


def beside_a_thread(t: torch.Tensor) -> None:
    w = t
    thread = threading.Thread(target=lambda: plus(torch.ones(5)))
    w = w + 1
    thread.start()
    thread.join()
    w = w + 2


class Layer(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        w = x * 2
        self.kept = w
        w = plus(w)
        self.kept = w[:1]
        return w


def backward(t: torch.Tensor) -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            w = x * 2
            return w

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> Any:
            w = grad * 2
            w = plus(w)
            return w

    w = t.clone().requires_grad_()
    Layer()(Double.apply(w)).sum().backward()  # type: ignore[no-untyped-call]
    assert w.grad is not None
    w = w.grad


FORMS: tuple[Callable[[torch.Tensor], object], ...] = (
    *(dropped_generators, lambda t: list(delegating(t)), two_generators_in_turn, coroutines, closures, unwinding),
    *(deleting, comprehensions, recursive, in_place, executed, managing, beside_a_thread, Layer(), backward),
)


def plain(form: Callable[[torch.Tensor], object]) -> dict[str, torch.Tensor]:
    """Run code without a recorder; return the tensors that each function of this file held when it last returned."""
    held: dict[str, dict[str, torch.Tensor]] = {}

    def profile(frame: FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        if event == "return" and code.co_filename == __file__ and not code.co_name.startswith("<"):
            found = {name: value for name, value in frame.f_locals.items() if isinstance(value, torch.Tensor)}
            # Whatever is changed in place later was so at the end.
            held[code.co_qualname.replace(".<locals>", "")] = {
                name: value.detach().view_as(value) for name, value in found.items()
            }

    tensor = torch.ones(3)
    sys.setprofile(profile)
    try:
        form(tensor)
    finally:
        sys.setprofile(None)
    return {f"{function}.{name}": value for function, values in held.items() for name, value in values.items()}


def recorded(form: Callable[[torch.Tensor], object]) -> Trace:
    """Run the same code in a block."""
    tensor = torch.ones(3)
    with record() as trace:
        form(tensor)
    return trace


def agree(trace: Trace, form: Callable[[torch.Tensor], object]) -> None:
    """Assert that a trace has the variables of functions that plain Python has, of each tensor one, and no others."""
    expected = {label: value.tolist() for label, value in plain(form).items()}
    found = {label: trace.tensors[label].value.tolist() for label in trace.tensors}
    found = {label: value for label, value in found.items() if re.fullmatch(r"(?!.*\.self\.)\w.*\.\w+", label)}
    assert found == {label: expected.get(label) for label in found}
    every = [trace.tensors[label].value.tolist() for label in trace.tensors]
    assert not {label: value for label, value in expected.items() if value not in every}
    assert [label for label in found if label.endswith(".w")]


@pytest.mark.parametrize("form", FORMS)
def test_variables_are_those_of_plain_python(form: Callable[[torch.Tensor], object]) -> None:
    agree(recorded(form), form)


def test_a_call_has_what_it_left_and_not_what_became_of_it_later() -> None:
    def filled(box: list[torch.Tensor]) -> None:
        w = plus(box[0])
        box[0] = w

    box = [torch.zeros(2)]
    with record() as trace:
        filled(box)
        box[0] = plus(box[0])
        assert next(label for label in trace.tensors if label.endswith("filled.w"))
        later = plus(box[0])
    assert trace.tensors["plus.w"].value.tolist() == later.tolist() == [3.0, 3.0]
    assert next(trace.tensors[label] for label in trace.tensors if label.endswith("filled.w")).value.tolist() == [1, 1]


def test_profilers_and_debuggers_of_others_see_the_block_and_go_on_after_it() -> None:
    called: list[str] = []
    traced: list[str] = []

    def profiler(frame: FrameType, event: str, arg: object) -> None:
        if frame.f_code.co_filename == __file__:
            called.append(f"{event} {frame.f_code.co_name}")

    def tracer(frame: FrameType, event: str, arg: object) -> Any:
        if frame.f_code.co_filename == __file__:
            traced.append(f"{event} {frame.f_code.co_name}")
        return tracer

    before = sys.gettrace()
    sys.setprofile(profiler)
    sys.settrace(tracer)
    try:
        with record() as trace:
            w = next(counting(torch.ones(2)))
            w = plus(w)
        assert sys.getprofile() is profiler
        assert sys.gettrace() is tracer
    finally:
        sys.setprofile(None)
        sys.settrace(before)
    # The generator was closed.
    assert trace.tensors["counting.w"].value.tolist() == [20.0, 20.0]
    assert trace.tensors["plus.w"].value.tolist() == [3.0, 3.0]
    assert [called.count(f"{event} plus") for event in ("call", "return")] == [2, 2]
    assert [called.count(f"{event} counting") for event in ("call", "return")] == [2, 2]
    assert [traced.count(f"{event} plus") for event in ("call", "line", "return")] == [2, 4, 2]


def test_a_profiler_that_begins_or_ends_in_the_block_is_its_own() -> None:
    called: list[str] = []

    def profiler(frame: FrameType, event: str, arg: object) -> None:
        called.append(f"{event} {frame.f_code.co_name}")

    def measured(t: torch.Tensor) -> Iterator[torch.Tensor]:
        w = plus(t)
        sys.setprofile(profiler)
        w = plus(w)
        yield w
        sys.setprofile(None)
        w = plus(w)
        yield w

    with record() as trace:
        steps = measured(torch.zeros(2))
        next(steps)
        assert sys.getprofile() is profiler
        assert torch.equal(next(steps), torch.full((2,), 3.0))
        assert sys.getprofile() is None
    assert "call plus" in called
    found = [trace.tensors[label].value.tolist() for label in trace.tensors if label.endswith("measured.w")]
    assert found in ([], [[3.0, 3.0]])


def test_c_profile_counts_the_calls_of_the_block() -> None:
    profile = cProfile.Profile()
    profile.enable()
    try:
        with record() as trace:
            w = next(counting(torch.ones(2)))
            w = plus(w)
    finally:
        profile.disable()
    counts = {entry.code.co_name: entry.callcount for entry in profile.getstats() if not isinstance(entry.code, str)}
    assert counts["plus"] == 2
    assert trace.tensors["plus.w"].value.tolist() == [3.0, 3.0]
    assert trace.tensors["w"].value.tolist() == [3.0, 3.0]
    assert "counting.w" not in trace.tensors or trace.tensors["counting.w"].value.tolist() == [20.0, 20.0]


def test_no_profiler_runs_where_there_is_no_generator() -> None:
    seen: list[object] = []

    def looking(t: torch.Tensor) -> torch.Tensor:
        w = t + 1
        seen.append(sys.getprofile())
        return plus(w)

    with record():
        looking(torch.ones(2))
        next(counting(torch.ones(2)))
        seen.append(sys.getprofile())
    assert seen == [None, None]


def test_a_block_in_a_coroutine_and_one_that_leaves_early() -> None:
    async def inside() -> Trace:
        w = torch.ones(2)
        with record() as trace:
            w = await waiting(w, 2)
        assert sys.getprofile() is None
        return trace

    trace = asyncio.run(inside())
    assert trace.tensors["waiting.w"].value.tolist() == [3.0]

    def leaving(t: torch.Tensor) -> None:
        w = plus(t)
        raise KeyError(w)

    with pytest.raises(KeyError), record() as trace:
        leaving(torch.ones(2))
    found = [trace.tensors[label].value.tolist() for label in trace.tensors if label.endswith("leaving.w")]
    assert found == [[2.0, 2.0]]
