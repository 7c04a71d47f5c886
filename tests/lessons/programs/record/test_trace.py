"""The door for Python: what a block records, how it is asked, and that it changes nothing."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.modules import module as torch_modules
from torch.utils._python_dispatch import _get_current_dispatch_mode

from attn_tutor.lessons.programs.record import NoCell, NoTensor, NotKept, Trace, TraceError, record


class Attention(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key = torch.nn.Linear(width, width), torch.nn.Linear(width, width)
        self.dropout = torch.nn.Dropout(0.1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        queries, keys = self.query(tokens), self.key(tokens)
        scores = queries @ keys.transpose(-2, -1)
        weights = self.dropout(torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1))
        context: torch.Tensor = weights @ tokens
        return context


def train(block: contextlib.AbstractContextManager[Any], steps: int = 3) -> tuple[list[torch.Tensor], Any]:
    """Train a small layer inside a block; return all that is left of it, and what the block gives."""
    torch.manual_seed(3)
    tokens = torch.rand(5, 4)
    with block as trace:
        layer = Attention(4)
        optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1)
        for _ in range(steps):
            context = layer(tokens)
            loss = ((context - tokens) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return [context, loss, *layer.parameters(), torch.rand(3), torch.get_rng_state()], trace


def test_numbers_and_random_state_stay_what_they_are() -> None:
    plain, _ = train(contextlib.nullcontext())
    recorded, trace = train(record())
    assert all(torch.equal(one, other) for one, other in zip(plain, recorded, strict=True))
    before = torch.get_rng_state()
    str(trace), str(trace.explain("context", 1, 2)), str(trace.flow()), trace._repr_html_()
    assert torch.equal(torch.get_rng_state(), before)


def test_numbers_are_explained_by_the_names_of_the_code() -> None:
    _, trace = train(record())
    number = trace.explain("context", 1, 2)
    assert str(number).startswith("context[1,2] = ")
    assert "weights @ tokens" in number.code
    assert number.file == "test_trace.py"
    first = number.operands[0].explain()
    assert first.label.startswith("weights#")
    assert trace.explain("scores", 0, -1).label == "Attention.forward.scores[0,4]"
    assert trace.explain("Attention.scores", 0, 1).operation == "matmul"
    weight = trace.explain("layer.query.weight", 0, 0)
    assert "optimizer.step()" in weight.code
    assert any(item.label.startswith("layer.query.weight#") for item in weight.operands)
    made = [arrow for arrow in trace.flow().arrows if arrow[1] == "loss"]
    assert ("context", "loss") in made
    assert ("scores", "weights") in trace.flow("context").arrows
    with pytest.raises(NoTensor, match="no box 'tokens' to open"):
        trace.flow("tokens")


def test_a_tensor_can_stand_for_its_name() -> None:
    with record() as trace:
        both = torch.stack([torch.arange(3.0), torch.ones(3)])
        row = both[0]
        nameless = [row + 1]
    assert trace.explain(both, 0, 2).label == "both[0,2]"
    assert trace.explain(nameless[0], 1).value == 2
    with pytest.raises(NoTensor, match="nothing to do"):
        trace.explain(torch.ones(2), 0)


def test_what_cannot_be_asked_is_said_in_a_sentence() -> None:
    with record() as trace:
        scores = torch.rand(2, 3)
    with pytest.raises(NoTensor, match=r"There is no tensor 'score'\. There are: scores\."):
        trace.explain("score", 0)
    with pytest.raises(NoCell, match=r"scores has the shape \(2, 3\)"):
        trace.explain("scores", 2, 0)
    with pytest.raises(NoCell, match="needs 2 numbers"):
        trace.explain("scores", 0)
    with record() as trace:
        pass
    with pytest.raises(NoTensor):
        trace.explain("anything")
    assert scores.shape == (2, 3)


def test_a_block_in_a_method_names_attributes_and_items() -> None:
    class Runner:
        def run(self, x: torch.Tensor) -> Trace:
            with record() as trace:
                self.last = x * 2
                pair = (x + 1, x + 2)
                both = self.last + pair[1]
            assert both.shape == (2,)
            return trace

    trace = Runner().run(torch.ones(2))
    assert {*trace.tensors} == {"x", "self.last", "pair[0]", "pair[1]", "both"}
    assert [operand.label for operand in trace.explain("both", 0).operands] == ["self.last[0]", "pair[1][0]"]
    with pytest.raises(TypeError, match="integer"):
        trace.explain("both", (0,))  # type: ignore[arg-type]


def test_later_changes_are_not_taken_for_what_was_recorded() -> None:
    _, trace = train(record())
    value = trace.tensors["layer.query.weight"].value.clone()
    before = str(trace.explain("context", 0, 0))
    with torch.no_grad():
        for tensor in gc.get_objects():
            if type(tensor) is torch.nn.Parameter and tensor.shape == (4, 4):
                tensor.zero_()
    assert torch.equal(trace.tensors["layer.query.weight"].value, value)
    assert str(trace.explain("context", 0, 0)) == before


def test_an_exception_goes_on_and_leaves_a_trace() -> None:
    traces: list[Trace] = []

    def fail() -> None:
        with record() as trace:
            traces.append(trace)
            left = torch.ones(2, 3)
            product = left @ left
        assert product is left

    with pytest.raises(RuntimeError, match="mat1"):
        fail()
    [trace] = traces
    assert trace.failure.startswith("RuntimeError: mat1")
    assert trace.explain("left", 1, 1).value == 1
    assert "product" not in trace.tensors
    assert "The block ended with RuntimeError" in str(trace)


def list_hooks() -> dict[str, list[object]]:
    """The hooks of all modules."""
    return {name: [*value] for name, value in vars(torch_modules).items() if isinstance(value, dict)}


def test_nothing_is_left_behind() -> None:
    hooks = list_hooks()
    forward, profile, trace_function = torch.nn.Linear.__call__, sys.getprofile(), sys.gettrace()

    def use() -> weakref.ref[torch.nn.Module]:
        with record() as trace:
            layer = Attention(2)
            layer(torch.ones(2, 2))
        assert trace.operations
        return weakref.ref(layer)

    kept = use()
    gc.collect()
    assert kept() is None
    assert _get_current_dispatch_mode() is None
    assert list_hooks() == hooks
    assert (torch.nn.Linear.__call__, sys.getprofile(), sys.gettrace()) == (forward, profile, trace_function)


def test_blocks_inside_each_other() -> None:
    with record() as outer:
        x = torch.ones(2)
        with record() as inner:
            y = x + 1
        y = y * 5
        z = y + 1
    assert inner.explain("y", 0).value == 2
    assert "z" not in inner.tensors
    assert outer.explain("y", 0).value == 10
    assert outer.explain("z", 0).operands[0].explain().operands[0].value == 2
    assert z[0] == 11


def test_a_trace_can_be_asked_in_its_block() -> None:
    with record() as trace:
        x = torch.rand(2, 2)
        y = x @ x
        first = trace.explain("y", 0, 0)
        count = trace.operations
        y += 1
    assert str(first).startswith("y[0,0]")
    assert count == 2
    assert trace.explain("y", 0, 0).operation == "add"


def test_modes_and_other_ways_to_run() -> None:
    def steps() -> Iterator[torch.Tensor]:
        value = torch.ones(1)
        for _ in range(2):
            value = value * 2
            yield value

    elsewhere: list[torch.Tensor] = []
    with contextlib.ExitStack() as stack:
        trace = stack.enter_context(record())
        with torch.no_grad():
            free = torch.ones(2) + 1
        with torch.inference_mode():
            inference = free * 3
        generated = list(steps())[-1]
        thread = threading.Thread(target=lambda: elsewhere.append(torch.ones(1) + 5))
        thread.start()
        thread.join()
        half = inference.to(torch.bfloat16)
        empty = torch.zeros(0, 3)
        number = torch.tensor(4) + 1
        joined = elsewhere[0] + 1
    assert trace.explain("free", 0).value == 2
    assert trace.explain("inference", 0).operands[0].label == "free[0]"
    assert trace.explain("generated", 0).value == 4
    assert trace.explain("half", 0).dtype == "bfloat16"
    assert trace.explain("number").value == 5
    assert "outside" in " ".join(trace.explain("joined", 0).operands[0].explain().notes)
    assert trace.tensors["empty"].shape == (0, 3)
    assert all((generated is not None, half is not None, empty is not None, number is not None, joined is not None))
    trace._repr_html_()


def test_memory_is_bounded() -> None:
    with record(keep=1 << 16) as trace:
        first = torch.rand(4)
        large = [torch.rand(1 << 14) for _ in range(8)]
        last = large[-1] + 1
    assert "64 KiB" in trace.stopped or "bytes" in trace.stopped
    assert "Recording had stopped" in str(trace)
    assert trace.tensors["first"].value.shape == (4,)
    assert "Uniform draw" in str(trace.explain("first", 0))
    unknown = trace.explain("last", 0)
    assert unknown.value is None
    assert "last[0] = unknown" in str(unknown)
    with pytest.raises(NotKept, match="no room"):
        _ = trace.tensors["last"].value
    assert first.shape == (4,)
    assert last.shape == (1 << 14,)
    with record(keep=1 << 12) as trace:
        wide = torch.rand(1 << 9)
    wide.zero_()
    with record(keep=1 << 8) as trace:
        wide += 1
    with pytest.raises(NotKept, match="no room"):
        _ = trace.tensors["wide"].value


def test_what_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import torch\ndef double(x):\n    doubled = x * 2\n    return doubled\n"
    (tmp_path / "far_module.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    import far_module  # type: ignore[import-not-found]

    for watched, expected in ((), False), ([far_module], True), (tmp_path, True), (str(tmp_path), True):
        with record(watch=watched) as trace:  # type: ignore[arg-type]
            result = far_module.double(torch.ones(1))
        assert ("double.doubled" in trace.tensors) == expected
        assert result == 2
    with pytest.raises(TraceError, match="no file or folder"):
        record(watch=["/nowhere/at/all"])
    block = record()
    with block:
        pass
    with pytest.raises(TraceError, match="once"), block:
        pass


def test_text_is_what_the_command_prints_and_html_is_complete() -> None:
    with record() as trace:
        tokens = torch.tensor([[0.5, -1.0], [2.0, float("nan")]])
        name = torch.relu(tokens) @ tokens
    number = trace.explain("name", 0, 0)
    assert str(number).splitlines()[1].strip() == "= torch.relu(tokens)[0,:]·tokens[:,0]"
    shown = number._repr_html_()
    assert shown.count("<details") == shown.count("</details>") >= 2
    assert "script" not in shown
    assert "http" not in shown
    assert "torch.relu(tokens)" in shown
    assert "#b00020" in trace.tensors["tokens"]._repr_html_()
    assert repr(trace.tensors["tokens"]) == "<tokens: 2×2, float32>"
    assert name.shape == (2, 2)


def test_html_is_escaped() -> None:
    with record() as trace:
        x = torch.ones(2)
        y = x * (x < 2) * {"<b>&'": x}["<b>&'"]
    text = trace._repr_html_() + trace.explain("y", 0)._repr_html_() + trace.flow()._repr_html_()
    assert "<b>&" not in text
    assert "x &lt; 2" in text
    assert y.shape == (2,)


def test_the_first_nan_is_found_also_when_it_is_gone() -> None:
    with record() as trace:
        x = torch.tensor([4.0, 0.0], requires_grad=True)
        root = torch.sqrt(x)
        root.sum().backward()
        step = x.grad
        assert step is not None
        hidden = torch.zeros(2, 2).masked_fill(torch.eye(2).bool(), -torch.inf)
        same = step.clone() - step
    step.zero_()
    same.zero_()
    # What is computed to explain a number is no part of the program.
    trace.explain(hidden, 0, 0)
    found = trace.first_nan()
    assert found
    assert found.first is not None
    assert "derivative" in str(found)
    assert "torch.sqrt(x)" in str(found)
    assert found.cures[0] in found._repr_html_().replace("&#x27;", "'").replace("&gt;", ">").replace("&lt;", "<")
    with record() as trace:
        fine = torch.ones(2) / 2
    assert not trace.first_nan()
    assert "Everything is finite" in str(trace.first_nan()) + trace.first_nan()._repr_html_()
    assert fine[0] == 0.5


def test_parameters_of_a_module_that_only_a_function_has() -> None:
    def compute() -> torch.Tensor:
        own = Attention(2)
        result: torch.Tensor = own(torch.ones(1, 2))
        return result

    with record() as trace:
        compute()
    assert trace.explain("own.query.weight", 0, 0).operation == "draw"


def attention_by(scale: float) -> Trace:
    torch.manual_seed(2)
    tokens = torch.rand(4, 3)
    with record() as trace:
        products = tokens @ tokens.T
        scaled = products / scale
        weights = torch.softmax(scaled, dim=-1)
        context = weights @ tokens
    assert context.shape == (4, 3)
    return trace


def test_two_traces_are_compared_by_value() -> None:
    one = attention_by(3**0.5)
    torch.manual_seed(2)
    words = torch.rand(4, 3)
    with record() as other:
        similar = torch.einsum("id,jd->ij", words, words)
        mixed = torch.softmax(similar / 3**0.5, dim=-1) @ words
    words.zero_()
    assert mixed.shape == (4, 3)
    same = one.compare(other)
    assert same
    assert ("context", "mixed") in {(item.one.name, item.other.name) for item in same.agreed}
    assert "The two traces agree." in str(same)
    different = one.compare(attention_by(3.0))
    assert not different
    assert [item.one.name for item in different.agreed if item.one.named] == ["products"]
    assert different.first is not None
    assert different.first.one is not None
    assert (different.first.one.name, different.first.count) == ("scaled", 16)
    assert "scaled" in str(different)
    assert "16 of 16 numbers differ" in different._repr_html_()
    assert different.first.one.line is not None
    # A tolerance as wide as the numbers themselves.
    assert one.compare(attention_by(3.0), atol=10.0)


def test_a_tensor_of_another_kind_is_said_to_be_one() -> None:
    with record() as trace:
        x = torch.eye(2).to_sparse()
    assert x.is_sparse
    with pytest.raises(NoTensor, match="'x' is sparse, and no plain table of numbers"):
        trace.explain("x", 0, 0)
