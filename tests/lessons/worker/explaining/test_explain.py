"""The contents of explanations: names, masks, the origin of infinities, fused kernels."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.results import explanation as x
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.worker.explaining import fused_definitions
from attn_tutor.lessons.worker.jobs.run_state import RunState
from attn_tutor.lessons.worker.message_parts import NamedExpression
from tests.lessons.recorded_code import Traced

DEFINITION = "A fused kernel computed this in one go."

SETUP = "torch.manual_seed(2)\nF = torch.nn.functional\n"

ATTENTION = [
    "F.scaled_dot_product_attention(q, k, v)",
    "F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    "F.scaled_dot_product_attention(q, k, v, scale=0.5)",
    "F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(5, 5).tril().bool())",
    "F.scaled_dot_product_attention(q, k, v, attn_mask=torch.rand(5, 5))",
    "F.scaled_dot_product_attention(q[0], k[0], v[0])",
    "F.scaled_dot_product_attention(q[:, 0], k[:, 0], v[:, 0], is_causal=True)",
]


def told_by_definition(explanation: x.Explanation) -> bool:
    return any(note.startswith(DEFINITION) for note in explanation.notes)


@pytest.mark.parametrize("code", ATTENTION)
@pytest.mark.parametrize("grad", [True, False])
def test_fused_attention_is_explained_by_its_definition(code: str, grad: bool) -> None:
    """A note says that the numbers come from the definition."""
    traced = Traced(SETUP + f"q, k, v = (torch.rand(2, 2, 5, 4, requires_grad={grad}) for _ in range(3))\nr = {code}\n")
    explanation = traced.explain("r", *([0] * traced.namespace["r"].dim()))
    ops = {event.op for event in traced.recorder.record.events}
    assert bool(ops & fused_definitions.DEFINED.keys()) == told_by_definition(explanation)
    traced.check_all("r")


@pytest.mark.parametrize("mode", ["eval", "train"])
@pytest.mark.parametrize("more", ["", ", need_weights=False", ", average_attn_weights=False"])
def test_both_paths_of_multihead_attention(mode: str, more: str) -> None:
    """The fast path is explained by the definition, the slow path by its own operations."""
    traced = Traced(
        SETUP
        + f"""
m = torch.nn.MultiheadAttention(4, 2, batch_first=True).{mode}()
t = torch.rand(2, 3, 4)
with torch.no_grad():
    r, w = m(t, t, t{more})
if w is None:
    w = torch.zeros(1)
"""
    )
    explanation = traced.explain("r", 0, 1, 2)
    fast = any(event.op == "_native_multi_head_attention" for event in traced.recorder.record.events)
    assert told_by_definition(explanation) == fast
    traced.check_all("r", "w")


def test_arguments_of_a_kernel_may_be_overwritten_later() -> None:
    """The definition is computed from the values that the arguments had at that time."""
    traced = Traced(
        SETUP + "q = torch.rand(1, 1, 3, 2)\nr = F.scaled_dot_product_attention(q, q, q)\nq.mul_(100)\nq[0] = 1"
    )
    traced.check_all("r")


def test_names_of_variables_in_a_loop() -> None:
    """An earlier tensor of a variable has a different name than its present tensor."""
    traced = Traced(
        "kept = []\nfor i in range(3):\n    t = torch.ones(2) * (i + 1)\n    kept.append(t)\ns = torch.stack(kept)"
    )
    labels = [traced.explain("s", row, 0).operands[0].label for row in range(3)]
    assert labels == ["t#1[0]", "t#2[0]", "t[0]"]


def test_rounds_of_a_loop() -> None:
    """`t = t + 1` in a loop is explained as one sum over the rounds."""
    traced = Traced("t = torch.zeros(2)\nfor _ in range(3):\n    t = t + 1")
    explanation = traced.explain("t", 0)
    assert "3 steps" in explanation.notes[0]
    assert explanation.value == 3


LEARNER = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.rand(3, 2))
        self.layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    def forward(self, x):
        h = x @ self.w
        return self.layers(h)
def power(x, n):
    return x if n == 0 else power(x, n - 1) * x
net = Net()
with torch.no_grad():
    net.w.copy_(torch.eye(3)[:, :2])
x = torch.rand(4, 3)
y = net(x)
z = net(x + 1) - y
loss = (z ** 2).mean()
loss.backward()
g = net.w.grad
p = power(x, 3)
s = torch.stack([row.sum() for row in x])
total = sum(row * 2 for row in x)
f = lambda a: a.T.T.T
q = f(x) @ x
a, b = x.chunk(2, dim=0)
heads = x.view(2, 2, 3).transpose(0, 1)
alias = heads
alias[0, 0] = 9
r = alias.reshape(-1)
"""


def test_every_number_of_a_learners_module() -> None:
    """It uses classes, recursion, comprehensions, gradients and aliases."""
    traced = Traced(SETUP + LEARNER)
    traced.check_all("y", "z", "loss", "g", "p", "s", "total", "q", "r")
    assert [operand.name for operand in traced.explain("y", 0, 0).operands][-1] == "net.layers.1.bias"


@pytest.mark.parametrize(
    ("code", "note"),
    [
        ("r = torch.exp(torch.tensor([89.0]))", "beyond the largest number"),
        ("e = torch.exp(torch.tensor([89.0, 1.0]))\nr = e / e.sum()", "inf / inf"),
        ("r = torch.log(torch.zeros(1))", "logarithm of 0"),
        ("z = torch.zeros(1)\nr = z / z", "0 / 0"),
        ("r = torch.ones(1) / torch.zeros(1)", "divided by 0"),
        ("m = torch.full((3,), -torch.inf)\nr = torch.softmax(m, dim=0)", "Nothing in the row"),
        ("m = torch.zeros(1).masked_fill(torch.ones(1).bool(), -torch.inf)\nr = m * 0", "Infinity times 0"),
    ],
)
def test_notes_on_infinities_and_nan(code: str, note: str) -> None:
    """An infinity or NaN says where it comes from and why."""
    notes = traced_notes(code)
    assert note in notes
    assert "born" in notes


def traced_notes(code: str) -> str:
    """Return all notes about the first cell of `r`."""
    return " ".join(Traced(code).explain("r", 0).notes)


def test_a_masked_cell_names_the_line_of_the_mask() -> None:
    """The masked score names it, and so do the weights that are computed from it."""
    traced = Traced(
        """
        s = torch.rand(2, 2)
        mask = torch.triu(torch.ones(2, 2), diagonal=1)
        masked = s.masked_fill(mask.bool(), -torch.inf)
        w = torch.softmax(masked / 2, dim=-1)
        """
    )
    assert traced.explain("masked", 0, 1).notes == ("Masked on line 4: the mask is 1 here, so the value is replaced.",)
    assert "(masked on line 4)" in " ".join(traced.explain("w", 0, 1).notes)
    assert x.python(traced.explain("masked", 0, 0)) == "-inf if mask[0,0] else s[0,0]"


def test_notes_name_a_line_of_other_code_only_with_that_code() -> None:
    """ "On line 1" beside line 1 of one step would be taken for that line."""
    traced = Traced()
    traced.run("n = torch.zeros(1)\nn = n / n", name="setup")
    traced.run("s = torch.zeros(2).masked_fill(torch.tensor([False, True]), -torch.inf)", name="first")
    traced.run("w = torch.softmax(s, dim=-1)\nr = n + 1\nt = s + 1", name="second")
    assert "This NaN was born in n[0] on line 2 of the setup." in " ".join(traced.explain("r", 0).notes)
    assert "This -inf was put in s[1]." in traced.explain("t", 1).notes
    masked = " ".join(traced.explain("w", 1).notes)
    assert "masked" in masked
    assert "on line" not in masked


def test_dropout_is_kept_or_dropped() -> None:
    """The note names the factor, too."""
    traced = Traced("torch.manual_seed(1)\na = torch.ones(20)\nr = torch.nn.functional.dropout(a, 0.2)")
    for position in range(20):
        explanation = traced.explain("r", position)
        word = "kept" if explanation.value else "dropped"
        assert f": {word}" in explanation.notes[0]
        assert "1 / (1 - p) = 1.25" in explanation.notes[0]


def test_a_number_that_is_too_large_for_its_type_says_so() -> None:
    """A literal that becomes infinity is told apart from an infinity that the code wrote."""
    traced = Traced("t = torch.tensor([1e39, -1e39, 1e38])\nu = torch.tensor(70000.0, dtype=torch.float16)")
    notes = [" ".join(traced.explain("t", index).notes) for index in range(3)]
    assert notes[:2] == [
        f"Written in the code. It is beyond the largest number of float32, so it becomes {sign}inf."
        for sign in ("", "-")
    ]
    assert notes[2] == "Written in the code."
    assert "float16" in traced.explain("u").notes[0]


def test_a_number_that_a_step_shows_is_quoted() -> None:
    """A number of Python comes without a line of code: the expression that the step shows says what it is."""
    state, unit = RunState(), CodeUnit.step("one")
    assert state.run("rows = [1, 2, 3]", unit) is None
    state.show(unit, [NamedExpression("count", "len(rows) ** 2")], bytearray())
    explanation = x.of_json(state.explainer.ask(unit, "count", ()))
    assert explanation.notes == ("A number that Python computed: len(rows) ** 2.",)
    assert explanation.value == 9


def test_what_an_augmented_assignment_changes_is_called_by_its_target() -> None:
    traced = Traced("class State: pass\ns = State()\ns.left = torch.ones(2)\ns.left -= 3\ny = s.left * 2")
    assert [operand.label for operand in traced.explain("y", 1).operands] == ["s.left[1]"]
    traced = Traced("def count(c):\n    c[0] -= 3\n    return c[0]\ny = count([torch.ones(2)]) * 2")
    assert [operand.label for operand in traced.explain("y", 1).operands] == ["c[0][1]"]


def test_the_sum_of_no_numbers_says_so() -> None:
    explanation = Traced("t = torch.zeros(0, 3)\ns = t.sum(0)").explain("s", 1)
    assert (explanation.value, explanation.notes) == (
        0,
        ("The axis is empty: this is the result for no numbers at all.",),
    )
