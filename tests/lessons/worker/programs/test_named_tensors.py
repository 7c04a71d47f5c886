"""The named tensors of a run: which there are, what they are called, and which values they have."""

from __future__ import annotations

from lessons.worker.programs.named_tensors import NamedTensor, named_tensors
from tests.lessons.recorded_code import Traced

PROGRAM = """\
class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.query = torch.nn.Linear(3, 2, bias=False)

    def forward(self, x):
        queries = self.query(x)
        scores = queries @ queries.T
        scores[0] = 7.0
        return scores

torch.manual_seed(0)
model = Attention()
first = torch.ones(4, 3)
second = model(first)
second = model(first) + 1
second += 1
"""


def found(program: Traced) -> dict[str, NamedTensor]:
    """Return the named tensors by label."""
    return {item.label: item for item in named_tensors(program.explainer, "<code>")}


def test_variables_come_first_then_those_of_functions_then_parameters() -> None:
    tensors = found(Traced(PROGRAM))
    assert list(tensors) == [
        "first",
        "second",
        "Attention.forward.queries",
        "Attention.forward.scores",
        "model.query.weight",
    ]
    assert [item.kind for item in tensors.values()] == ["variable", "variable", "local", "local", "parameter"]
    assert [item.line for item in tensors.values()] == [14, 17, 7, 8, 13]
    assert [item.count for item in tensors.values()] == [1, 2, 2, 2, 1]
    assert [item.scope for item in tensors.values()] == ["", "", "Attention.forward", "Attention.forward", ""]


def test_a_tensor_has_the_values_at_the_end_of_what_its_function_did_with_it() -> None:
    program = Traced(PROGRAM)
    tensors, history = found(program), program.explainer.history
    scores = tensors["Attention.forward.scores"]
    assert history.tensor(scores.region, scores.time)[0].tolist() == [7.0] * 4
    second = tensors["second"]
    assert history.tensor(second.region, second.time)[0].tolist() == [9.0] * 4


def test_functions_of_one_name_are_told_apart() -> None:
    program = Traced("def f(x):\n    y = x + 1\n    return y\n\nf(torch.ones(2))\n")
    program.run("def f(x):\n    y = x + 2\n    return y\n\nf(torch.ones(2))\n", "other")
    assert list(found(program)) == ["<code>.f.y", "<other>.f.y"]
