"""The door for Python with what programs have besides plain tensors and files: each case was wrong once."""

from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from attn_tutor.lessons.programs.record import NoCell, NoTensor, record
from attn_tutor.lessons.worker.jobs import intermediates


def test_a_statement_that_fails_binds_no_name() -> None:
    def multiplied(factors: list[torch.Tensor]) -> torch.Tensor:
        product = torch.ones(2, 3, 3)
        for factor in factors:
            product = product @ factor
        return product

    twos = torch.full((2, 3, 3), 2.0)
    with pytest.raises(RuntimeError), record() as trace:
        multiplied([twos, twos, torch.ones(2, 4, 4)])
    assert trace.explain("product", 0, 0, 0).value == 36, "what it was before, and no view of it"
    with pytest.raises(RuntimeError), record() as trace:
        # First, both sides are looked at in another shape.
        wrong = torch.ones(2, 4, 8) @ torch.ones(2, 4, 8)
    with pytest.raises(NoTensor, match="There is no tensor 'wrong'"):
        trace.explain("wrong", 0, 0, 0)
    assert "wrong" not in locals()


def test_zeros_without_memory() -> None:
    # `torch.func.hessian` makes such tensors. To read one that claims to have memory ends the process.
    x = torch.tensor([1.0, 2.0])
    with record() as trace:
        zeros = torch._efficientzerotensor(2)
        turned = zeros.view(2, 1)
        total = x + zeros.clone()
    assert not trace.stopped
    assert not trace.first_nan()
    assert trace.compare(trace)
    assert torch.equal(trace.tensors["total"].value, total)
    assert "zeros" not in trace.tensors
    assert turned.shape == (2, 1)


def test_parts_of_complex_numbers() -> None:
    with record() as trace:
        given = torch.tensor([1 + 2j, 3 - 4j])
        square = given * given
        lower = given.conj().imag
        copied = lower + 0
    with pytest.raises(NoCell, match=r"square.real or square.imag"):
        trace.explain("square", 1)
    assert trace.explain("square.imag", 1).value == square[1].imag == -24
    assert trace.tensors["square"].real.explain(1).label == "square.real[1]"
    assert trace.explain("given.imag", 0).notes == ("A part of a complex number that Python gave to PyTorch here.",)
    assert str(trace.tensors["square"]).count("square.") == 2
    assert trace.tensors["square"]._repr_html_().count("<table>") == 2
    # A conjugate is a mark on the same memory.
    assert torch.equal(trace.tensors["lower"].value, lower)
    assert trace.explain("copied", 0).value == copied[0] == -2
    with pytest.raises(NoCell, match="marks its numbers"):
        trace.explain("lower", 0)
    with pytest.raises(NoTensor, match="not complex"):
        _ = trace.tensors["copied"].real


@pytest.mark.filterwarnings("ignore:.*quantized.*:DeprecationWarning", "ignore::UserWarning")
def test_quantized_tensors_are_left_out() -> None:
    with record() as trace:
        quantized = torch.quantize_per_tensor(torch.eye(2), 0.1, 0, torch.quint8)
        back = quantized.dequantize()
    assert ("quantized", "back") in trace.flow().arrows
    assert torch.equal(trace.tensors["back"].value, back)
    assert "quantized tensor" in " ".join(trace.explain("back", 0, 0).notes)


class Trainer:
    def __init__(self) -> None:
        self.model = torch.nn.Linear(3, 1)

    def run(self) -> Any:
        with record() as trace:
            out = self.model(torch.ones(2, 3))
        return out, trace

    def step(self) -> torch.Tensor:
        loss: torch.Tensor = self.model(torch.ones(2, 3)).mean()
        return loss


def test_parameters_go_by_the_attributes_of_any_object() -> None:
    _, trace = Trainer().run()
    assert trace.explain("self.model.weight", 0, 0).is_leaf
    trainer = Trainer()
    holder = SimpleNamespace(head=torch.nn.Linear(3, 1))
    with record() as trace:
        loss = trainer.step() + holder.head(torch.ones(3))
    assert {"self.model.weight", "holder.head.weight"} <= set(trace.tensors)
    boxes = {box.name: box for box in trace.flow().boxes}
    assert boxes["self.model.weight"].shape == (1, 3), "and not as a product has read it"
    assert loss.shape == (1,)


def test_code_without_a_source_has_names_in_a_flow() -> None:
    variables = {"torch": torch, "record": record}
    exec("with record() as trace:\n    x = torch.ones(2)\n    y = x * 2\n    z = (y + 1).exp().sum()", variables)
    trace: Any = variables["trace"]
    assert trace.flow().arrows == (("x", "y"), ("y", "add"), ("add", "exp"), ("exp", "z"))
    assert "outside" not in str(trace.flow())
    assert "outside" not in trace.flow()._repr_html_()


def test_what_a_block_has_nothing_to_do_with_is_not_kept() -> None:
    unused, used = torch.ones(3), torch.ones(3)
    model = torch.nn.Linear(2, 2)
    with record() as trace:
        other = unused
        doubled = used * 2
        with record() as inner:
            tripled = used * 3
    assert list(trace.tensors) == ["used", "other", "doubled", "tripled"]
    assert "model.weight" not in inner.tensors
    with pytest.raises(NoTensor, match="nothing to do"):
        trace.explain(model.weight, 0, 0)
    assert [tensor.numel() for tensor in (other, doubled, tripled)] == [3, 3, 3]


def test_equal_results_are_not_compared_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def gradients() -> Any:
        with record() as trace:
            for number in range(40):
                near_zero = torch.full((2,), 1e-8) * torch.tensor([number, 1])
        assert near_zero is not None
        return trace

    compared = Mock(side_effect=intermediates.kinship)
    monkeypatch.setattr(intermediates, "kinship", compared)
    assert gradients().compare(gradients())
    assert compared.call_count < 40


def test_short_forms_say_where() -> None:
    with record() as trace:
        zero = torch.zeros(2)
        ratio = zero / zero
    text = repr(trace.first_nan())
    assert text.startswith("<TracedNonfinite: ratio[0] = nan (test_trace_corners.py, line ")
    assert text.endswith(": zero / zero)>")
    with record() as other:
        ratio = zero / 1
    text = repr(other.compare(trace))
    assert text.startswith("<TracedComparison: the other trace computes all that this trace does, and more.")
    assert "The first difference: zero / zero (test_trace_corners.py, line " in text
    assert ratio is not None
    for attempt in (pickle.dumps, copy.deepcopy):
        for item in (trace, trace.explain("ratio", 0), trace.tensors["ratio"]):
            with pytest.raises(TypeError, match="cannot be copied or saved"):
                attempt(item)


def test_html_says_what_it_leaves_out() -> None:
    with record() as trace:
        held = (torch.rand(20, 3), torch.rand(3, 20), torch.rand(300), torch.rand(2, 3, 2, 2), torch.zeros(0, 3))
    texts = [trace.tensors[f"held[{position}]"]._repr_html_() for position in range(len(held))]
    assert "The first 16 of 20 rows are shown." in texts[0]
    assert "The first 16 of 20 columns are shown." in texts[1]
    assert "The first 16 of 300 numbers are shown." in texts[2]
    assert "4 of 6 matrices are shown." in texts[3]
    assert "It has no numbers." in texts[4]
    # JupyterLab names two classes where it aligns cells to the right and gives rows and code a background.
    assert ".attn-trace.attn-trace.attn-trace td" in texts[0]


def test_no_answer_commands_the_terminal() -> None:
    """Names come from what a program reads, such as the modules of a checkpoint."""
    command = "\x1b]52;c;MzEzMzc=\x07\x9b6n\u202e"
    values: dict[str, Any] = {f"n{command}": torch.ones(2)}
    with record() as trace:
        held = {f"{name}": value * 2 / 0 for name, value in values.items()}
    (name,) = [each for each in trace.tensors if "held" in each]
    tensor = trace.tensors[name]
    number = tensor.explain(0)
    answers: list[Any] = [trace, trace.tensors, tensor, number, number.operands[0], trace.flow(), trace.first_nan()]
    with pytest.raises(NoTensor) as raised:
        trace.explain(f"x{command}", 0)
    assert held
    for answer in [*answers, trace.compare(trace), raised.value]:
        for text in (str(answer), repr(answer)):
            assert not set(text) & set("\x1b\x07\x9b\u202e"), text
    assert "\x1b" not in number.text()
