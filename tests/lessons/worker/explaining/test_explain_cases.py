"""Programs whose explanations were once wrong: labels, masks, overflow, literal numbers."""

from __future__ import annotations

import operator
from fractions import Fraction

import pytest

from attn_tutor.lessons.results import explanation as x
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.floats import rounded
from attn_tutor.lessons.results.tensor_questions import ExplainQuestion, FollowQuestion
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.explainer import NoSuchCell
from attn_tutor.lessons.worker.jobs import tensor_questions
from attn_tutor.lessons.worker.jobs.run_state import RunState
from attn_tutor.lessons.worker.message_parts import NamedExpression
from attn_tutor.lessons.worker.recording.element_history import Element, ElementHistory
from tests.lessons.recorded_code import Traced

ATTEND = """
def attend(q, k, v):
    weights = torch.softmax(q @ k.T, dim=-1)
    context = weights @ v
    return context
x = torch.rand(4, 3)
both = attend(x, x, x) + attend(2 * x, x, x)
context = attend(x, x, x) * 2
error = context - attend(x, x, x)
"""

ONE = CodeUnit.step("one")


def test_variables_of_two_calls_have_different_names() -> None:
    """The local variables of each call differ from one another and from the variables of the lesson."""
    traced = Traced(ATTEND)
    assert x.python(traced.explain("both", 0, 1)) == "context#1[0,1] + context#2[0,1]"
    assert x.python(traced.explain("error", 0, 1)) == "context[0,1] - context#5[0,1]"
    traced.check_all("both", "error")


STALE = """
def f(t):
    x = t * 2
    return x
x = torch.ones(2) * 5
keep = [x]
x = torch.ones(2) * 7
s = torch.stack([keep[0], x, f(x), f(x)]).sum(0)
"""


def test_numbered_names_do_not_collide() -> None:
    """The number of an earlier tensor of a variable is not used for a different tensor."""
    traced = Traced(STALE)
    assert x.python(traced.explain("s", 0)) == "x#1[0] + x[0] + x#3[0] + x#4[0]"
    traced.check_all("s")


def test_earlier_value_of_a_cell_has_a_numbered_name() -> None:
    """A cell is never an operand of itself."""
    traced = Traced("c = torch.ones(2)\nc[0] = c[0] + 2\nc[0] = c[0] * 2\nc *= 3")
    explanation = traced.explain("c", 0)
    formulas = []
    while explanation.operands:
        formulas.append(f"{explanation.label} = {x.python(explanation)}")
        explanation = traced.follow(explanation.operands[0])
    assert formulas == ["c[0] = c#3[0] * 3.0", "c#3[0] = c#2[0] * 2.0", "c#2[0] = c#1[0] + 2.0"]


def test_a_label_means_one_number_in_a_whole_tree() -> None:
    """Rounds of a loop, calls of a function, writes in place: every number of a tree has a label of its own."""
    traced = Traced(
        """
        def double(t):
            h = t * 2
            return h + 1
        x = torch.tensor([0.5])
        h = torch.ones(1)
        for _ in range(4):
            x = torch.tanh(double(x) * h)
            h += 1
        x = x * h
        """
    )
    values: dict[str, float | None] = {}
    pending = [traced.explain("x", 0)]
    while pending:
        told = pending.pop()
        assert values.setdefault(told.label, told.value) == told.value
        pending += map(traced.follow, told.operands)
    assert {"x[0]", "x#1[0]", "x#5[0]", "h[0]"} <= values.keys()


def test_views_of_the_same_name_have_different_labels() -> None:
    """No write distinguishes the views, so their labels are numbered."""
    traced = Traced(
        """
        def first(t):
            row = t.view(2)
            return row
        x = torch.rand(2, 2)
        r = first(x[0]) + first(x[1])
        """
    )
    traced.check_all("r")


@pytest.mark.parametrize("grad", [True, False])
def test_grouped_queries(grad: bool) -> None:
    """Several heads of queries meet one head of keys."""
    traced = Traced(
        f"""
        q = torch.rand(1, 4, 3, 2, requires_grad={grad})
        k, v = torch.rand(1, 2, 3, 2), torch.rand(1, 2, 3, 2)
        r = torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
        """
    )
    traced.check_all("r")


def test_missing_slow_and_failed_explanations_have_different_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in a rule is not mistaken for a wrong index."""
    state = RunState()
    state.run("import torch\nx = torch.ones(2) + 1", ONE)
    state.explainer.show(ONE, "x", state.namespace["x"])

    def refusal_of(question: ExplainQuestion | FollowQuestion) -> str:
        with pytest.raises(tensor_questions.QuestionRefused) as caught:
            tensor_questions.HANDLERS[type(question)](state, question)
        return str(caught.value)

    unknown = (ExplainQuestion("x", (2,), ONE), ExplainQuestion("y", (0,), ONE))
    assert {*map(refusal_of, unknown), refusal_of(FollowQuestion(10**6, ONE))} == {"no such cell"}

    with monkeypatch.context() as patch:
        patch.setattr(tensor_questions, "PATIENCE", -1.0)
        assert refusal_of(ExplainQuestion("x", (0,), ONE)) == "This would take longer than -1 seconds to find out."
    assert tensor_questions.explain(state, ExplainQuestion("x", (0,), ONE)).explanation["value"] == 2

    def raise_index_error(*given: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(state.explainer, "derive", raise_index_error)
    assert (
        refusal_of(ExplainQuestion("x", (0,), ONE))
        == "this cell cannot be explained (IndexError: list index out of range)"
    )
    with pytest.raises(NoSuchCell):
        state.explainer.follow(10**6)


def test_the_rounds_of_a_loop_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting all of them again for each binding of `total` took ten seconds for a few thousand rounds."""
    rounds = 200
    traced = Traced(f"total = torch.zeros(())\nfor v in torch.arange({rounds}.0):\n    total += v\n")
    history, counted = traced.explainer.history, list[int]()
    times = type(history).write_times

    def counting(self: ElementHistory, element: Element, since: int) -> list[int]:
        found = times(self, element, since)
        counted.extend(found)
        return found

    monkeypatch.setattr(type(history), "write_times", counting)
    assert len(traced.explain("total").operands) == rounds + 1
    assert rounds <= len(counted) < 5 * rounds


SCORES = "s = torch.rand(4, 4)\nlow = torch.tril(torch.ones(4, 4))\n"

MASKS = [
    "m = s.masked_fill(low == 0, -torch.inf)",
    "m = s.masked_fill(low == 0, -1e9)",
    "m = s + torch.triu(torch.full((4, 4), -torch.inf), diagonal=1)",
    "m = torch.where(low == 1, s, -torch.inf)",
    "m = torch.where(low == 1, s, torch.tensor(-1e9))",
    "m = torch.where(low == 0, torch.full_like(s, -torch.inf), s)",
    "m = s - 1e9 * (1 - low)",
    "m = s + (1 - low) * -1e9",
    "m = s.clone(); m[low == 0] = -torch.inf",
    "m = s.clone(); m[0, 1:] = -torch.inf; m = m.masked_fill(low == 2, 0)",
    "m = s.clone(); m[0, 1] = -1e9",
    "m = s.clone(); m.masked_fill_(low == 0, -torch.inf)",
]


@pytest.mark.parametrize("code", MASKS)
def test_weights_name_the_line_of_the_mask(code: str) -> None:
    """However a score was hidden, its weight says on which line."""
    traced = Traced(SCORES + code + "\nw = torch.softmax(m / 2, dim=-1)\n")
    assert "(masked on line 3)" in " ".join(traced.explain("w", 0, 1).notes)
    assert "masked on" not in " ".join(traced.explain("w", 0, 0).notes)
    traced.check_all("w")


@pytest.mark.parametrize("code", ["m = s * -1e5 + low", "m = torch.log(low) + s", "m = (s - 1) * 1e6 - s"])
def test_low_scores_are_not_called_masked(code: str) -> None:
    """A score may be low for other reasons."""
    traced = Traced(SCORES + code + "\nw = torch.softmax(m, dim=-1)\n")
    assert not any("masked on" in note for position in range(4) for note in traced.explain("w", 0, position).notes)


@pytest.mark.parametrize(
    ("code", "statement"),
    [
        ("b[0] = 7", "b[0] = 7"),
        ("b[:2] = 7", "b[:2] = 7"),
        ("b[b < 1] = 7", "b[b < 1] = 7"),
        ("n = 7\nb[0] = n", "b[0] = n"),
    ],
)
def test_numbers_that_a_statement_sets(code: str, statement: str) -> None:
    """The explanation quotes the statement."""
    explanation = Traced(f"b = torch.zeros(3)\n{code}").explain("b", 0)
    assert explanation.notes == ("Set to 7 here.",)
    assert (explanation.code, explanation.line, explanation.leaf) == (statement, 1 + len(code.splitlines()), True)


def test_literal_numbers_are_not_operands() -> None:
    """PyTorch wraps them in tensors that a reader of the code does not see."""
    traced = Traced("s = torch.rand(2)\nr = torch.where(s > 2, s, -torch.inf)")
    explanation = traced.explain("r", 0)
    assert x.python(explanation) == "s[0] if (s > 2)[0] else -inf"
    assert not any("born" in note for note in explanation.notes)


def test_a_shown_expression_has_no_line() -> None:
    """It is not part of the code of the step."""
    state = RunState()
    state.run("import torch\nx = torch.ones(2) + 1", ONE)
    _, failure = state.show(ONE, [NamedExpression("double", "x * 2")], bytearray())
    assert failure is None
    explanation = x.of_json(state.explainer.ask(ONE, "double", (0,)))
    assert (explanation.line, explanation.lesson_line, explanation.code) == (None, None, "x * 2")
    inner = x.of_json(state.explainer.follow(explanation.operands[0].ref))
    assert inner.line == 2


@pytest.mark.parametrize(
    ("code", "note"),
    [
        ("r = torch.full((1,), 1e30) * 1e30", "beyond the largest number of float32"),
        ("r = torch.full((1,), 3e38) + 3e38", "beyond the largest number of float32"),
        ("r = torch.full((1,), 1e6).half()", "beyond the largest number of float16"),
        ("h = torch.full((1,), 6e4).half()\nr = h * 2 + 1", "beyond the largest number of float16"),
        ("r = torch.full((1,), 1e30) / 1e-30", "beyond the largest number of float32"),
        ("r = torch.full((1,), 1e300, dtype=torch.double) ** 2", "beyond the largest number of float64"),
        ("r = 1 / torch.zeros(1)", "divided by 0"),
    ],
)
def test_notes_on_overflow(code: str, note: str) -> None:
    """An infinity that is computed from finite numbers says why."""
    assert note in " ".join(Traced(code).explain("r", 0).notes)


def test_a_copy_of_another_type_is_a_conversion() -> None:
    """Even if the value stays the same."""
    assert Traced("q = torch.rand(2)\nr = q.double()").explain("r", 0).op == "convert"


def test_a_deep_copy() -> None:
    """Its memory is copied as bytes; the explanation leads to the original."""
    traced = Traced("import copy\na = torch.rand(2, 3) * 2\nr = copy.deepcopy(a.T)\na[0] = 0\ns = copy.deepcopy(a)")
    traced.check_all("a", "r", "s")
    explanation = traced.explain("r", 2, 1)
    assert (explanation.op, [operand.label for operand in explanation.operands]) == ("copy", ["a[1,2]"])


def test_result_that_a_fused_kernel_saves_for_the_backward_pass() -> None:
    """It is the logarithm of the sum of the exponentials, also computed by the definition."""
    traced = Traced(
        """
        q = torch.rand(1, 2, 3, 4, requires_grad=True)
        r = torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)
        r.sum().backward()
        g = q.grad
        """
    )
    traced.check_all("r", "g")


STEPS = [
    "torch.fmod(torch.tensor([-2.0, 5.3]), 0.4)",
    'torch.div(torch.tensor([0.7, 1.0]), torch.tensor([0.1, 0.1]), rounding_mode="trunc")',
    'torch.div(torch.tensor([1.0, 0.7]), 0.1, rounding_mode="floor")',
    "torch.tensor([1.0, -0.3]) // 0.1",
    "torch.tensor([5.3, 1.0, 0.3]).half() % 0.7",
    "torch.tensor([5.3, 1.0, 0.3]).bfloat16() % 0.7",
    "torch.fmod(torch.tensor([5.3, -1.0]).half(), 0.3)",
    "torch.tensor([0.1, 0.2]) >= 0.1",
    "torch.tensor([0.1, 0.2]).half() >= 0.1",
    "torch.tensor([0.7, 0.3]).bfloat16() == 0.7",
    "torch.tensor([2.675, 1.005]).round(decimals=2)",
    "torch.heaviside(torch.tensor([-1.0, 0.0, 2.0]), torch.tensor([0.5]))",
    "torch.sign(torch.tensor([-1.5, 0.0]))",
]


@pytest.mark.parametrize("code", STEPS)
def test_functions_that_jump(code: str) -> None:
    """A formula with one comes out exactly: a last digit of an argument decides between 0 and -0.4."""
    traced = Traced(f"r = {code}")
    for index in range(traced.namespace["r"].numel()):
        told = traced.explain("r", index)
        got = f.evaluate(told.formula, told.values)
        assert rounded(got, told.dtype) == told.value
        assert told.operands


def test_a_jump_that_no_formula_gives_is_not_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operation and its operands are named, with what exact arithmetic would give."""
    traced = Traced("a = torch.tensor([-2.0])\nr = torch.fmod(a, 0.4)")
    wrong = f.Op("fmod", (f.OperandRef(0), f.Number(0.5)))
    monkeypatch.setattr(Derivation, "first_that_gives", lambda derivation, value, formulas: [*formulas] and wrong)
    told = traced.explain("r", 0)
    assert ([operand.label for operand in told.operands], told.formula) == (["a[0]"], f.Number(told.value or 0.0))
    assert told.notes[0].startswith("The formula for this operation comes to 0, which is not this value")


def test_a_jump_that_rounding_caused_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operation gives one number in its own type, and the one of the formula in double precision."""
    traced = Traced("a = torch.tensor([2.675])\nr = a.round(decimals=2)")
    monkeypatch.setattr(Derivation, "first_that_gives", lambda derivation, value, formulas: next(iter(formulas)))
    told = traced.explain("r", 0)
    assert told.value is not None
    assert (told.value > 2.675, told.formula) == (True, f.Number(told.value))
    assert told.notes[-1].startswith("Without rounding, these numbers would give 2.67, ")


COMPLEX = """
q = torch.rand(2, 4)
freqs = torch.polar(torch.ones(2, 2), torch.rand(2, 2))
qc = torch.view_as_complex(q.reshape(2, 2, 2))
turned = qc * freqs
r = torch.view_as_real(turned).flatten(1)
size, angle = turned.abs(), torch.angle(turned)
kept = turned.clone()
s = torch.view_as_real(torch.stack([kept[0] + 1, -kept[1]]) - 2j * turned.conj().resolve_conj())
kept[0, 1] = 3 + 4j
real, imag = kept.real + 0, kept.imag * 1
w = torch.view_as_real(torch.rand(2).to(torch.complex64) * qc[0])
mirrored = turned.conj()
down = mirrored.imag
n = down * 3
m = down.clone()
"""


def test_complex_numbers() -> None:
    """Each part is a number of its own, which the code calls `.real` and `.imag`."""
    traced = Traced(COMPLEX)
    traced.check_all("r", "size", "angle", "s", "real", "imag", "w", "n", "m")
    parts = "qc.real[0,0] * freqs.imag[0,0] + qc.imag[0,0] * freqs.real[0,0]"
    assert x.python(traced.explain("r", 0, 1)) == parts
    assert [x.python(traced.explain(name, 0, 1)) for name in ("real", "imag")] == [
        "kept.real[0,1] + 0.0",
        "kept.imag[0,1] * 1.0",
    ]


def test_results_in_a_tensor_that_is_given() -> None:
    """`out=` may be empty: then it gets the shape of the result. What it held before is told as it was."""
    traced = Traced(
        """
        a = torch.rand(2, 3)
        s, t, u, v = torch.empty(0), torch.ones(2, 2), torch.empty(0), torch.empty(0)
        t *= 2
        before = t * 3
        torch.add(a, a, out=s)
        torch.matmul(a, a.T, out=t)
        torch.matmul(a, a.T, out=u)
        torch.cat([a, a], out=v)
        """
    )
    traced.check_all("before", "s", "t", "u", "v")
    assert x.python(traced.explain("s", 1, 2)) == "a[1,2] + a[1,2]"
    assert [traced.explain(name, 0, 1).op for name in ("t", "u")] == ["matmul", "matmul"]


def test_rows_that_overlap() -> None:
    """`as_strided` may show an element in several cells; each leads to what made it."""
    traced = Traced(
        """
        x = torch.arange(12.0) * 2
        y = x.as_strided((3, 3), (1, 1))
        z = x.as_strided((3, 3), (2, 3)) * 2
        w = torch.rand(12).as_strided((3, 3), (2, 3))
        v = w.clone()
        """
    )
    traced.check_all("y", "z", "w", "v")


def test_bytes_of_another_type() -> None:
    """They are told as such, and an operation that wrote them is not denied."""
    traced = Traced("a = torch.tensor([1, 2], dtype=torch.int32)\na[1] = 7\nb = a.view(torch.int16)")
    told = traced.explain("b", 2)
    assert told.notes == ("The bytes of a number of another type (int32).",)


CHANGES = {
    "apply_": "x.apply_(lambda number: number + 5)",
    "map_": "x.map_(torch.ones(3), lambda one, other: one + 5)",
    "ctypes": "import ctypes\nctypes.c_float.from_address(x.data_ptr()).value = 7.0",
    "thread": "import threading\nother = threading.Thread(target=lambda: x.add_(5))\nother.start()\nother.join()",
}
"""Ways to change the first number of `x` that PyTorch does not dispatch as an operation of this thread."""

SOURCES = {
    "torch.zeros(3)": "0",
    "torch.full((3,), 2.5)": "2.5",
    "torch.ones_like(torch.rand(3))": "1",
    "torch.arange(3.0)": "0",
    "torch.eye(3)[0]": "1",
    "torch.linspace(1, 2, 3)": "1",
    "torch.tensor([3.5, 1.0, 2.0])": "3.5",
    "torch.tensor([number / 2 for number in range(3)])": "0",
    "torch.rand(3)": "",
    "torch.randn(3)": "",
    "torch.empty(3).uniform_(-1, 1)": "",
    "torch.empty(3).normal_()": "",
    "torch.bernoulli(torch.full((3,), 0.5))": "",
    "torch.rand(3, generator=torch.Generator().manual_seed(5))": "",
    "torch.triu(torch.ones(3, 3), 1)[0]": "0",
    "torch.nn.functional.pad(torch.ones(2), (1, 0))": "0",
}
"""Expressions for three numbers that come from no other, with what the first one is if that is the same each time."""


@pytest.mark.parametrize("source", SOURCES)
def test_numbers_that_came_from_nothing_are_what_they_were_made(source: str) -> None:
    """Each is compared with what its operation gave, also where nothing changed it."""
    traced = Traced(f"torch.manual_seed(3)\nx = {source}")
    told = traced.explain("x", 0)
    assert told.op != "unrecorded"
    assert isinstance(told.formula, f.Number)
    assert told.formula.value == told.value


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("source", SOURCES)
def test_changes_that_are_not_recorded(source: str, change: str) -> None:
    """Neither a constant nor a draw nor data is told as the origin of a number that it did not give."""
    traced = Traced(f"torch.manual_seed(3)\nx = {source}\n{CHANGES[change]}\ny = x * 2")
    told = traced.explain("x", 0)
    sentence = f"Something that was not recorded has changed this number. Here it was made {SOURCES[source]}"
    assert told.op == "unrecorded"
    assert told.notes[0].startswith(sentence)
    # What was computed from it afterwards is as it is told.
    assert traced.explain("y", 0).op == "multiply"


def test_bytes_that_are_written_through_the_storage() -> None:
    """PyTorch dispatches these as writes of another type; the line is told, and `zeros` is not."""
    told = Traced("x = torch.zeros(3)\ndata = x.untyped_storage()\ndata[3] = 64").explain("x", 0)
    assert (told.value, told.line, told.notes) == (2.0, 3, ("The bytes of a number of another type (uint8).",))


def test_a_result_that_was_changed_since() -> None:
    """The formula does not give it, and the note says what that can mean."""
    told = Traced("a = torch.ones(2)\nx = a * 2\nx.apply_(lambda number: number + 5)").explain("x", 0)
    assert told.op == "unrecorded"
    assert "Something that was not recorded has changed this number" in told.notes[0]
    assert Traced("x = torch.zeros(2)\ny = torch.ones(2)\nx.set_(y)").explain("x", 0).value == 1
    assert Traced("x = torch.zeros(2)\nx.data = torch.ones(2)").explain("x", 0).notes[0].startswith("Every element")


BIG = """
a = torch.tensor([2**53 + 1, 2**60 + 7, -2**62 + 3])
b = a + 2
c = a * 3
d = a - a[0]
e = a.sum().reshape(1)
g = a // 10
h = a % 1000003
i = a * a
j = a.cumsum(0)
k = (a @ torch.tensor([1, 2, 3])).reshape(1)
m = a.clone()
m[1:] += 2**60 + 1
n = a << 1
o = a | 2**54
p = a ^ 12345
q = torch.fmod(-a, 2**53)
"""


def test_whole_numbers_beyond_those_of_a_float_are_exact() -> None:
    """Values, formulas and the text of the formulas, which Python evaluates without a float in between."""
    traced = Traced(BIG)
    functions = {
        "fmod": lambda one, other: one - int(Fraction(one, other)) * other,
        "bitor": operator.or_,
        "bitxor": operator.xor,
    }
    for name in "abcdeghijkmnopq":
        tensor = traced.namespace[name]
        for index, true in enumerate(tensor.tolist()):
            told = traced.explain(name, index)
            assert told.value == true, (name, index)
            assert told.op != "unrecorded", (name, index)
            assert f.evaluate(told.formula, told.values) == true, (name, index)
            text = x.python(told)
            for position, operand in enumerate(told.operands):
                text = text.replace(operand.label, f"values[{position}]")
            values = [int(value) for value in told.values]
            assert eval(text, {"values": values, **functions}) == true, (name, index, text)


@pytest.mark.parametrize(
    "code", ["F.layer_norm(x, (3,))[0, 1]", "x.std()", "x.var(dim=1, correction=0)[0]", "x.half().std()"]
)
def test_mean_and_variance_of_a_kernel_are_followed(code: str) -> None:
    """They are numbers of their own, computed from all numbers of the row."""
    traced = Traced(f"F = torch.nn.functional\nx = torch.tensor([[1.0, 2.0, 4.0], [0.5, 0.25, 3.0]])\nr = {code}")
    traced.check_all("r")
    told = traced.explain("r")
    mean = next(operand for operand in told.operands if operand.label == "mean")
    assert {operand.name for operand in traced.follow(mean).operands} <= {"x", "x.half()"}
    assert traced.follow(mean).line is None


def test_the_count_of_steps_of_an_optimizer_grows_by_a_number() -> None:
    """Optimizers wrap it in a tensor, which a reader of the code does not see."""
    traced = Traced(
        """
        w, u = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        o = torch.optim.Adam([w, u], foreach=True)
        (w * u).sum().backward()
        o.step()
        count = o.state[w]["step"] * 1
        """
    )
    (steps,) = traced.explain("count").operands
    assert x.python(traced.follow(steps)) == "(step count of w)#1 + 1.0"


def test_numbers_that_go_through_python() -> None:
    """Numbers that Python reads, computes with, and gives back are followed."""
    traced = Traced(
        """
        import math
        x = torch.tensor([1.5, 2.0]) * 2
        rows = [row.tolist() for row in torch.stack([x, x * 2])]
        half = x[1].item() / 2
        def shifted(number):
            inner = x[0].item() - 1
            return torch.tensor([[inner]])
        a = torch.tensor([x[0].item(), -x[1].item() + 1, half, int(x[1] / 3), math.sqrt(float(x[0])) ** 2])
        b = torch.tensor(x.tolist())
        c = torch.tensor(rows)
        d = torch.tensor([number * 3 for number in x.tolist()])
        e = torch.tensor([float(number) for number in x])
        g = shifted(0)
        """
    )
    traced.check_all(*"abcdeg")
    followed = [
        ("a", (0,), "x[0]"),
        ("a", (1,), "x[1]"),
        ("a", (2,), "x[1]"),
        ("a", (3,), "(x[1] / 3)"),
        ("a", (4,), "x[0]"),
        ("b", (1,), "x[1]"),
        ("c", (1, 0), "(x * 2)[0]"),
        ("d", (1,), "x[1]"),
        ("e", (1,), "x[1]"),
        ("g", (0, 0), "x[0]"),
    ]
    for name, index, label in followed:
        assert [operand.label for operand in traced.explain(name, *index).operands] == [label], (name, index)
    assert traced.explain("a", 1).notes == ("Computed by Python: -x[1].item() + 1.",)
    assert traced.explain("b", 0).notes == ("Python read it: x.tolist().",)


@pytest.mark.parametrize(
    ("code", "formula"),
    [
        ("sum(x.tolist())", "x[0] + x[1] + x[2]"),
        ("sum(x.tolist()) / len(x)", "(x[0] + x[1] + x[2]) / 3.0"),
        ("sum(number * 2 for number in x.tolist())", "x[0] * 2.0 + x[1] * 2.0 + x[2] * 2.0"),
        ("max(kept)", "max(x[0], x[1], x[2])"),
        ("min([x[1].item(), x[2].item()])", "min(x[1], x[2])"),
        ("max(kept, key=abs)", ""),
        ("sum(number for number in x.tolist() if number > 2)", ""),
    ],
)
def test_sums_and_extremes_that_python_computed(code: str, formula: str) -> None:
    traced = Traced(f"x = torch.tensor([1.5, 2.0, 0.25]) * 2\nkept = x.tolist()\nr = torch.tensor([{code}])")
    traced.check_all("r")
    told = traced.explain("r", 0)
    assert (x.python(told) if told.operands else "") == formula


def test_numbers_of_python_that_cannot_be_followed() -> None:
    """If the code may have read another tensor, or did more than is understood, it is quoted."""
    traced = Traced(
        """
        x = torch.ones(2)
        kept = x.tolist()
        x = torch.ones(2) + 0
        a = torch.tensor(kept)
        y = torch.ones(2)
        old = y.tolist()
        y.mul_(1)
        b = torch.tensor(old)
        total = 0.0
        for number in x:
            total += number.item()
        c = torch.tensor([total, sum(x.tolist(), 1.0), [1.0, 2.0][int(x[0]) - 1]])
        def inner():
            z = torch.ones(2)
            return z * 2
        z = torch.ones(2) * 1
        inner()
        d = torch.tensor(z.tolist())
        """
    )
    traced.check_all(*"abcd")
    assert traced.explain("a", 0).notes == ("A number that Python gave to PyTorch here: kept.",)
    assert traced.explain("b", 0).notes == ("A number that Python gave to PyTorch here: old.",)
    assert [traced.explain("c", index).operands for index in range(3)] == [()] * 3
    (operand,) = traced.explain("d", 0).operands
    assert operand.label == "z[0]"
    assert traced.follow(operand).operands


def test_gradients_are_not_called_by_the_name_of_their_norm() -> None:
    """`clip_grad_norm_` changes gradients in place, and returns something else."""
    traced = Traced(
        """
        w = torch.ones(2, requires_grad=True)
        for _ in range(2):
            w.grad = None
            (w * 3).sum().backward()
            norm = torch.nn.utils.clip_grad_norm_([w], 0.5)
        g = w.grad * 1
        """
    )
    told = traced.explain("g", 0)
    assert not any(operand.name.startswith("norm") for operand in told.operands)


def test_a_value_that_was_overwritten_before_a_name_was_bound_does_not_have_that_name() -> None:
    traced = Traced(
        """
        w = torch.ones(2, requires_grad=True)
        (w * 3).sum().backward()
        torch.nn.utils.clip_grad_norm_([w], 0.5)
        gradient = w.grad
        g = gradient * 1
        """
    )
    clipped = traced.follow(traced.explain("g", 0).operands[0])
    assert clipped.label == "gradient[0]"
    names = {operand.value: operand.name for operand in clipped.operands}
    assert not names[3.0].startswith("gradient")


def test_the_mean_of_numbers_without_a_name_allows_for_the_rounding_of_their_own_type() -> None:
    """The mean behind a standard deviation is a double, of numbers that were divided, and rounded, before."""
    traced = Traced("x = torch.randn(40) * 8\ns = (x / 768 ** 0.5).std()")
    spread = traced.explain("s")
    mean = traced.follow(spread.operands[-1])
    assert (mean.label, mean.op) == ("mean", "mean")
    assert mean.dtype == "float64"
    assert {operand.name for operand in mean.operands} == {"(x / 768 ** 0.5)"}
    assert f.evaluate(mean.formula, mean.values) == mean.value


@pytest.mark.parametrize("name", ["bfloat16", "half"])
def test_what_was_rounded_stays_rounded_in_a_wider_type(name: str) -> None:
    """The copy into the wider type is the same number, whose formula rounds."""
    found = Traced(f"a = torch.full((2,), 0.3)\nr = a.{name}().float()").explain("r", 1)
    rounding = {"bfloat16": "bfloat16", "half": "float16"}[name]
    assert x.python(found) == f"{rounding}(a[1])"
    assert f.evaluate(found.formula, found.values) == found.value


def test_what_was_computed_with_a_sparse_tensor_says_so() -> None:
    """The numbers of a sparse tensor are not recorded, so there is no formula."""
    traced = Traced("links = torch.eye(3).to_sparse()\nx = torch.ones(3, 2)\ny = links @ x")
    found = traced.explain("y", 0, 0)
    assert (found.op, found.value) == ("mm", 1.0)
    assert "such as a sparse one" in found.notes[0]
    assert [operand.name for operand in found.operands] == ["x"] * 6


def test_rows_that_overlap_are_not_said_to_be_changed() -> None:
    """An operation in place writes some of their elements twice."""
    traced = Traced("a = torch.linspace(-2, 2, 6).view(2, 3)\nv = a.as_strided((2, 2), (1, 1))\nv += 1\nc = v * 3")
    for index in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert not any("not recorded" in note for note in traced.explain("v", *index).notes)


def test_a_row_with_a_nan_has_no_largest_number() -> None:
    """The NaN comes first, and nothing is said of the others."""
    told = Traced("x = torch.tensor([1.0, torch.nan])\nr = torch.softmax(x, 0)").explain("r", 0)
    assert not any("largest" in note for note in told.notes)


@pytest.mark.parametrize(
    ("code", "index", "note"),
    [
        ("r = torch.bincount(torch.tensor([1, 1]), weights=torch.tensor([0.5, 0.25]))", (1,), "The weights of the num"),
        ("r = torch.tril_indices(3, 3)", (1, 2), "The column of cell 2"),
        ("r = torch.tensor([3.0, 1.0, 2.0]).mode()[0]", (), "No number occurs more often than number 1."),
        ("r = torch.tensor([-2.5, 1.5]).floor().to(torch.int16)", (0,), ""),
    ],
)
def test_notes_that_once_said_too_much(code: str, index: tuple[int, ...], note: str) -> None:
    notes = " ".join(Traced(code).explain("r", *index).notes)
    assert notes.startswith(note) if note else "Rounded" not in notes


def test_rsub_takes_its_factor_from_what_it_subtracts() -> None:
    told = Traced("r = torch.rsub(torch.tensor([3.0]), 10, alpha=2)").explain("r", 0)
    assert told.value == f.evaluate(told.formula, told.values) == 4
