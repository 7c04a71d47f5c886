"""The named tensors of a run: which there are, what they are called, and which values they have."""

from __future__ import annotations

from attn_tutor.lessons.programs.worker.named_tensors import NamedTensor, named_tensors
from attn_tutor.lessons.worker.recording.local_variables import LocalVariables
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


def noted(code: str) -> Traced:
    """Run code while the variables of its functions are noted."""
    program = Traced()
    with LocalVariables(program.recorder).noting():
        program.run(code)
    return program


def test_variables_come_first_then_those_of_functions_then_parameters() -> None:
    tensors = found(noted(PROGRAM))
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


def test_names_that_are_printed_alike_stay_two() -> None:
    program = Traced()
    tensors = (f"globals()['g{end}'] = torch.full((2,), {value})" for end, value in (("\\x1b", 1.0), ("\ufffd", 3.0)))
    program.run("import torch\n" + "\n".join(tensors) + "\n")
    items = found(program)
    assert list(items) == [r"g\x1b", "g\ufffd"]
    values = [program.explainer.history.tensor(item.region, item.time)[0].item() for item in items.values()]
    assert values == [1.0, 3.0]


def test_a_tensor_has_the_values_at_the_end_of_what_its_function_did_with_it() -> None:
    program = noted(PROGRAM)
    tensors, history = found(program), program.explainer.history
    scores = tensors["Attention.forward.scores"]
    assert history.tensor(scores.region, scores.time)[0].tolist() == [7.0] * 4
    second = tensors["second"]
    assert history.tensor(second.region, second.time)[0].tolist() == [9.0] * 4


def test_functions_of_one_name_are_told_apart() -> None:
    program = Traced()
    with LocalVariables(program.recorder).noting():
        program.run("def f(x):\n    y = x + 1\n    return y\n\nf(torch.ones(2))\n")
        program.run("def f(x):\n    y = x + 2\n    return y\n\nf(torch.ones(2))\n", "other")
    assert list(found(program)) == ["<code>.f.x", "<code>.f.y", "<other>.f.x", "<other>.f.y"]


def test_functions_come_in_the_order_in_which_they_first_ran() -> None:
    code = """\
def inner(x):
    i = x + 1
    return i

def train(x):
    t = inner(x)
    return t

def test(x):
    e = x * 2
    return e

def main():
    x = torch.ones(2)
    for epoch in range(2):
        train(x)
        test(x)

main()
"""
    assert list(found(noted(code))) == ["main.x", "train.t", "inner.i", "test.e"]


def test_what_a_function_was_only_given_is_listed_once() -> None:
    code = """\
class Data:
    def __init__(self):
        self.items = torch.ones(4, 2)

    def __len__(self):
        return len(self.items)

    def rows(self):
        for row in self.items:
            yield row, 0

def norm(module):
    total = 0.0
    for p in module.parameters():
        total = total + p.norm()
    return total

data = Data()
len(data)
first, _ = next(data.rows())
model = torch.nn.Linear(2, 1)
also = model
length = norm(model)
"""
    tensors = found(noted(code))
    assert tensors["Data.__init__.self.items"].line == 3
    assert list(tensors) == [
        "first",
        "length",
        "Data.__init__.self.items",
        "norm.total",
        "model.weight",
        "model.bias",
    ]


def test_buffers_stand_beside_the_parameters_of_their_module() -> None:
    tensors = found(Traced("model = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 1))\n"))
    names = [name.removeprefix("model.") for name in tensors]
    assert names[:2] == ["0.weight", "0.bias"]
    assert (names[2:5], names[5:]) == (
        ["0.running_mean", "0.running_var", "0.num_batches_tracked"],
        ["1.weight", "1.bias"],
    )


def test_variables_that_are_bound_together_are_variables_of_the_function() -> None:
    # One instruction binds two of them from Python 3.13 on.
    code = "def split(x):\n    q, k = x.split(2)\n    for row in q: pass\n    return k\n\ns = split(torch.ones(4, 2))\n"
    lines = {name: item.line for name, item in found(noted(code)).items()}
    assert lines == {"s": 6, "split.x": 1, "split.q": 2, "split.k": 2, "split.row": 3}


def test_parameters_of_a_module_that_a_function_made_have_a_line_there() -> None:
    code = "def main():\n    net = Attention()\n    for one in [Attention()]:\n        one(net(first).T[:, :3])\nmain()"
    tensors = found(noted(f"{PROGRAM}\n{code}"))
    assert [tensors[f"{name}.query.weight"].line for name in ("model", "net", "one")] == [13, 20, 4]
