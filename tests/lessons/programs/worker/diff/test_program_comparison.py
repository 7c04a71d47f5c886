"""Two runs compared by value: what agrees whatever it is called, and the first thing that differs."""

from __future__ import annotations

import pytest
import torch

from attn_tutor.lessons.programs.render import comparison_text
from attn_tutor.lessons.programs.results.comparison import Gaps, RunComparison
from attn_tutor.lessons.programs.worker.diff import comparison, traced_result
from attn_tutor.lessons.programs.worker.diff.result_log import TracingRecorder
from attn_tutor.lessons.programs.worker.diff.traced_result import ResultTrace
from tests.lessons.programs.worker.diff.compared_code import compare, different
from tests.lessons.recorded_code import Traced

START = """
torch.manual_seed(0)
x = torch.randn(4, 6)
w = torch.randn(6, 6)
"""

REFERENCE = f"""{START}
scores = x @ w @ x.T / 6**0.5
scores = scores.masked_fill(torch.ones(4, 4).triu(1).bool(), float("-inf"))
weights = scores.softmax(dim=-1)
context = weights @ x
loss = context.pow(2).mean()
"""

REFACTORED = f"""{START}
def attend(tokens, matrix):
    queries = tokens @ matrix
    products = torch.einsum("qd,kd->qk", queries, tokens) * 6**-0.5
    products = products + torch.full((4, 4), float("-inf")).triu(1)
    return torch.einsum("kd,qk->dq", tokens, torch.softmax(products, 1))

result = attend(x, w)
error = (result * result).sum() / 24
"""


def test_a_refactoring_agrees_whatever_its_names_and_views() -> None:
    comparison = compare(REFERENCE, REFACTORED)
    assert comparison.difference is None
    agreed = {(item.one.name, item.other.name): item.how for item in comparison.agreed}
    assert agreed["loss", "error"] == "same"
    assert agreed["scores", "products"] == "same"
    assert ("context", "result") in agreed or any(one == "context" for one, _ in agreed)


@pytest.mark.parametrize(
    ("good", "bad", "name"),
    [
        ("softmax(dim=-1)", "softmax(dim=0)", "weights"),
        ("/ 6**0.5", "/ 6", "scores"),
        ("pow(2).mean()", "pow(2).sum()", "loss"),
        ("manual_seed(0)", "manual_seed(1)", "x"),
    ],
)
def test_the_first_difference_is_named_with_both_lines(good: str, bad: str, name: str) -> None:
    comparison = compare(REFERENCE, REFERENCE.replace(good, bad))
    difference = comparison.difference
    assert difference is not None
    assert difference.one is not None
    assert difference.other is not None
    assert (difference.one.name, difference.other.name) == (name, name)
    assert difference.one.line == difference.other.line
    assert difference.cells
    first = difference.cells[0]
    assert abs(first.one - first.other) > 1e-5


def test_the_same_numbers_in_another_order_are_said_to_be() -> None:
    comparison = compare(f"{START}\ny = x @ w", f"{START}\ny = x.flip(0) @ w")
    assert comparison.difference is not None
    assert comparison.difference.permuted


def test_what_only_one_program_goes_on_to_compute_stands_beside_nothing() -> None:
    comparison = compare(f"{START}\ny = x @ w", f"{START}\ny = x @ w\nz = y.tanh()")
    difference = comparison.difference
    assert difference is not None
    assert difference.one is None
    assert difference.other is not None
    assert difference.other.name == "z"


def test_the_tolerance_is_that_of_the_type_unless_it_is_given() -> None:
    one, other = f"{START}\ny = x * 2", f"{START}\ny = x * 2.0001"
    assert compare(one, other).difference is not None
    assert compare(one, other, rtol=1e-3).difference is None
    halves = [f"x = torch.linspace(1, 2, 7, dtype=torch.float16)\ny = x * {factor}" for factor in (1, 1.0003)]
    assert compare(halves[0], halves[1]).difference is None


def test_constants_of_a_layer_are_the_same_in_another_precision() -> None:
    start = (
        "from torch import nn\ntorch.manual_seed(0)\na, norm = torch.randn(16, 32), nn.LayerNorm(32)\n"
        "with torch.no_grad():\n    for value in [a, *norm.parameters()]:\n        value.copy_(value.bfloat16())\n"
    )
    end = "x = a + 3\ny = norm(x).abs().sum(dim=1)\n"
    difference = compare(start + end, f"{start}norm, a = norm.bfloat16(), a.bfloat16()\n{end}").difference
    assert difference is not None
    assert difference.one is not None
    assert difference.one.name == "norm(x)"


def test_a_variable_is_named_though_its_numbers_are_in_a_derivative_of_the_other_one() -> None:
    source = (
        "torch.manual_seed(0)\nlogvar = torch.randn(3, 4, requires_grad=True)\nstd = torch.{function}(0.5 * logvar)\n"
        "z = torch.ones(3, 4) + torch.randn(3, 4) * std\nz.sum().backward()\n"
    )
    for functions in (("exp", "expm1"), ("expm1", "exp")):
        one, other = (source.format(function=function) for function in functions)
        difference = compare(one, other).difference
        assert difference is not None
        assert [part and part.name for part in (difference.one, difference.other)] == ["std", "std"]


def test_of_a_large_result_a_sample_is_compared() -> None:
    source = "torch.manual_seed(0)\nx = torch.randn(300, 400)\ny = x * {factor}\n"
    assert compare(source.format(factor=2), source.format(factor=2)).difference is None
    difference = compare(source.format(factor=2), source.format(factor=3)).difference
    assert difference is not None
    assert difference.sampled
    torch.manual_seed(0)
    x = torch.randn(300, 400)
    cell = difference.cells[1]
    assert cell.one == pytest.approx(2 * float(x[cell.index]))


def test_nonsense_in_place_of_a_trace_is_refused() -> None:
    with pytest.raises(ValueError, match="size"):
        traced_result.of_plain([["x", True, 1, torch.ones(2), "add", "", "", "", "3", "float32", False, None]], 0)


def test_nonsense_in_place_of_a_sketch_is_refused() -> None:
    entry = ["x", True, 1, torch.ones(4000), "add", "", "", "", "60000", "float32", False, [torch.ones(4000)] * 5]
    with pytest.raises(TypeError):
        traced_result.of_plain([entry], 0)
    entry[-1] = [*[torch.ones(4000)] * 4, torch.ones(1, 64)]
    with pytest.raises(ValueError, match="size"):
        traced_result.of_plain([entry], 0)


def test_a_draw_in_the_shape_of_a_result_does_not_depend_on_its_numbers() -> None:
    code = f"{START}\nh = {{}}(x @ w)\nnoise = torch.randn_like(h)\ny = h + noise"
    first, _ = different(code.format("torch.relu"), code.format("torch.tanh"))
    assert first.name == "h"


def test_a_result_is_not_excused_by_a_later_one_that_hardly_depends_on_it() -> None:
    code = f"{START}\nh = {{}}(x @ w)\nbig = 1e6 + 1e-9 * h.sum()\ny = h * 2"
    first, _ = different(code.format("torch.relu"), code.format("torch.tanh"))
    assert first.name == "h"


LARGE = """
torch.manual_seed(0)
x = torch.randn(30, 40, 50)
"""


def test_one_number_of_a_large_result_that_differs_is_found() -> None:
    torch.manual_seed(0)
    x = torch.randn(30, 40, 50)
    least, second = x.flatten().topk(2, largest=False).values.tolist()
    assert least < second - 0.02
    codes = [f"{LARGE}y = x.clamp(min={bound}) * 2" for bound in (least, second - 0.01)]
    difference = compare(codes[0], codes[1]).difference
    assert difference is not None
    assert difference.cells == ()
    assert difference.stretch is not None
    start = sum(at * step for at, step in zip(difference.stretch.index, (2000, 50, 1), strict=True))
    assert start < int(x.argmin()) < start + difference.stretch.length
    text = "\n".join(comparison_text.lines(RunComparison((), 0, 1, 1, difference), ("one", "other")))
    assert f"\namong the 15 numbers from [{','.join(map(str, difference.stretch.index))}] on." in text


def test_two_numbers_of_a_large_result_that_are_exchanged_are_found() -> None:
    exchange = "z[0, 0, 1], z[0, 0, 2] = x[0, 0, 2] * 2, x[0, 0, 1] * 2"
    assert compare(f"{LARGE}y = x * 2", f"{LARGE}z = x * 2\n{exchange}\ny = z * 1").difference is not None


@pytest.mark.parametrize(
    "view", ["x.transpose(0, 2)", "x.permute(1, 2, 0).reshape(40, 1500)", "x.transpose(1, 2).flatten()"]
)
def test_a_large_result_is_recognized_with_its_axes_in_another_order(view: str) -> None:
    comparison = compare(f"{LARGE}y = x.tanh()", f"{LARGE}z = ({view}).tanh()")
    assert [(item.other.name, item.how) for item in comparison.agreed if item.one.name == "y"] == [("z", "arranged")]
    assert comparison.difference is None


def test_a_large_result_in_another_order_that_no_view_has_is_said_to_be() -> None:
    difference = compare(f"{LARGE}y = x.tanh()", f"{LARGE}y = x.flip(1).tanh()").difference
    assert difference is not None
    assert difference.permuted


def test_a_difference_late_in_a_long_run_is_found() -> None:
    code = f"{START}\nh = x[0] * 1\nfor step in range(900):\n    y = h * 0.5\n    h = y + step"
    comparison = compare(code, code.replace("+ step", "+ step + 0.01 * (step > 890)"))
    assert comparison.of_one > 1500
    assert comparison.difference is not None
    assert comparison.difference.one is not None
    assert comparison.difference.one.name == "h"
    assert comparison.gaps_of_one == comparison.gaps_of_other == Gaps()


PIECES = f"""{START}
out = torch.zeros(4, 6)
for row in range(4):
    h = x[row] * 2
    out[row] = h.softmax(0)
    del h
total = out.sum(dim=1)
large = torch.zeros(4, 6000)
large[1] = torch.randn(6000)
large[2] = 3.0
end = large @ torch.randn(6000, 2)
"""


@pytest.mark.parametrize("code", [REFERENCE, REFACTORED, PIECES, f"{LARGE}y = x.transpose(0, 1).relu()"])
@pytest.mark.parametrize("most", [10_000, 8])
def test_results_are_the_same_whether_they_are_read_from_a_record_or_logged_as_they_come(code: str, most: int) -> None:
    recorder = TracingRecorder(keep=1 << 16, most=most)
    Traced.under(recorder, code)
    logged, read = recorder.trace(), comparison.trace(Traced(code).explainer)
    assert [(item.name, item.line, item.code, item.shape) for item in logged.results] == [
        (item.name, item.line, item.code, item.shape) for item in read.results
    ]
    assert all(torch.equal(one.value, other.value) for one, other in zip(logged.results, read.results, strict=True))
    assert comparison.compare(logged, read).difference is None
    assert not logged.gaps


def test_a_record_that_is_not_complete_is_not_compared_to_its_end() -> None:
    trace = comparison.trace(Traced(f"{START}\ny = x @ w", most=2).explainer)
    assert comparison.compare(trace, trace).agree is None


HEADS = f"""
{START}
def split(tensor):
    return tensor.view(4, 2, 3).transpose(0, 1)

q, k = x @ w, x @ w.T
q, k = split(q), split(k)
scores = q @ k.transpose(1, 2)
"""


def test_heads_that_are_split_in_another_order_differ_where_they_are_split() -> None:
    # Both are views of what was there before.
    difference = compare(HEADS, HEADS.replace("view(4, 2, 3).transpose(0, 1)", "view(2, 4, 3)")).difference
    assert difference is not None
    assert difference.one is not None
    assert difference.other is not None
    assert "transpose" in difference.one.code
    assert "view(2, 4, 3)" in difference.other.code
    assert difference.permuted


def test_a_transposed_end_is_no_difference() -> None:
    assert compare(f"{START}\ny = x @ w", f"{START}\ny = (w.T @ x.T).T.contiguous().T.contiguous()").difference is None


@pytest.mark.parametrize("end", ["h.argmax(dim=1)", "h.new_zeros(3) + 0 * h.sum()", "(h > -9).sum()"])
def test_what_agrees_by_coincidence_or_after_rounding_excuses_nothing(end: str) -> None:
    one = f"{START}\nh = x @ w * 2\nend = {end}"
    other = f"{START}\ng = x @ w * 3\nend = {end.replace('h.', 'g.').replace('(h', '(g')}"
    first, _ = different(one, other)
    assert first.code == "x @ w * 2"


def test_a_wrong_operand_is_named_although_the_next_step_of_an_optimizer_hides_it() -> None:
    code = f"""{START}
w.requires_grad_()
optimizer = torch.optim.Adam([w], lr=0.01)
h = torch.tanh(x @ w)
g = torch.cat((x, {{}}), dim=1)
loss = (g * g.detach().sign()).sum()
loss.backward()
optimizer.step()
"""
    first, _ = different(code.format("h"), code.format("torch.tanh(x * 0.5 + h * 0.5)"))
    assert first.name == "g"


def test_a_result_of_the_same_name_that_differs_is_told_although_what_follows_agrees() -> None:
    code = f"{START}\nh = x @ w\nh = {{}}\nend = (h * 1e-6).sum(dim=0)"
    first, second = different(code.format("0.5 * h * (1 + h.tanh())"), code.format("torch.sigmoid(h) * h"))
    assert (first.code, second.code) == ("0.5 * h * (1 + h.tanh())", "torch.sigmoid(h) * h")


def test_a_result_that_is_nearly_the_same_is_told_whatever_it_is_called() -> None:
    code = f"{START}\nh = x @ w\n{{}}\nend = (h * 1e-6).sum(dim=0)"
    one, other = "h = torch.nn.GELU()(h)", "g = torch.nn.functional.gelu(h, approximate='tanh')\nh = g * 1"
    first, second = different(code.format(one), code.format(other))
    assert (first.name, second.name) == ("h", "g")


def test_what_one_program_computes_besides_is_told_where_it_ends() -> None:
    one = f"{START}\nweights = (x @ w @ x.T / 6).softmax(1)\nout = weights @ x"
    other = f"{START}\ns = x / 6\nweights = (s @ w @ x.T).softmax(1)\nout = weights @ x\nmean = (s @ x.T).mean(dim=0)"
    difference = compare(one, other).difference
    assert difference is not None
    assert difference.one is None
    assert difference.other is not None
    assert difference.other.code == "s @ x.T"
    # Not all: the products are scaled at different times.
    text = comparison_text.summary(compare(one, other), ("one.py", "other.py"))
    assert text.startswith("The two programs differ. 6 of 8 results of one.py are among the 11 of other.py.")
    more = comparison_text.summary(compare(one, f"{one}\nmean = out.mean()"), ("one.py", "other.py"))
    assert more.startswith("other.py computes all that one.py does, and more.")


def test_programs_that_both_go_elsewhere_are_shown_side_by_side_although_nothing_is_alike() -> None:
    first, second = different(f"{START}\ny = x @ w", f"{START}\nz = (x * 2).exp().flatten().max()")
    assert (first.name, second.name) == ("y", "x * 2")


def test_a_factor_that_an_optimizer_cancels_is_told() -> None:
    code = f"""{START}
w.requires_grad_()
optimizer = torch.optim.Adam([w], lr=0.01, eps=1e-30)
loss = (x @ w).pow(2).mean()
loss = loss / {{}}
loss.backward()
optimizer.step()
"""
    for one, other in ((1, 2), (2, 1)):
        first, second = different(code.format(one), code.format(other))
        assert (first.code, second.code) == (f"loss / {one}", f"loss / {other}")


def test_a_trace_that_ends_early_leaves_out_nothing_that_the_other_one_goes_on_with() -> None:
    trace = comparison.trace(Traced(f"{START}\ny = x @ w\nz = y.tanh()\nend = z * 2").explainer)
    early = ResultTrace(trace.results[:3], Gaps(many=True))
    assert comparison.compare(early, trace).difference is None
    assert comparison.compare(trace, early).difference is None
    assert comparison.compare(trace, ResultTrace(trace.results[:3])).difference is not None


def test_a_view_on_the_way_inside_of_a_product_is_no_difference() -> None:
    start = "torch.manual_seed(0)\nx, w = torch.randn(2, 3, 5, 5), torch.randn(4, 3, 3, 3)\n"
    unfolded = "y = (w.view(4, -1) @ torch.nn.functional.unfold(x, 3)).view(2, 4, 3, 3)\nz = y.relu()"
    assert compare(f"{start}y = torch.conv2d(x, w)\nz = y.relu()", start + unfolded).difference is None


def test_numbers_of_the_code_lead_to_what_is_computed_with_them() -> None:
    start = "torch.manual_seed(0)\nx = torch.randn(3)\n"
    one = "scale = torch.tensor([0.3, 0.7, 0.9])\ny = x * scale\nz = y.exp()"
    other = "y = torch.stack([x[0] * 0.3, x[1] * 0.7, x[2] * 0.9])\nz = y.exp()"
    assert compare(start + one, start + other).difference is None


def test_an_optimizer_by_hand_needs_no_count_of_steps() -> None:
    start = """
torch.manual_seed(0)
w = torch.nn.Parameter(torch.randn(4))
"""
    one = """
optimizer = torch.optim.Adam([w], lr=0.1)
for step in range(1, 3):
    w.grad = None
    (w**4).sum().backward()
    optimizer.step()
"""
    other = """
m = v = torch.zeros(4)
for step in range(1, 3):
    w.grad = None
    (w**4).sum().backward()
    with torch.no_grad():
        m = 0.9 * m + 0.1 * w.grad
        v = 0.999 * v + 0.001 * w.grad**2
        w -= 0.1 * m / (1 - 0.9**step) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
"""
    assert compare(start + one, start + other).difference is None


def test_what_a_line_computes_besides_is_told_by_its_variable() -> None:
    source = """
torch.manual_seed(0)
scores = torch.randn(3, 4, requires_grad=True)
loss = torch.nn.functional.cross_entropy(scores, torch.tensor([0, 1, 1]), label_smoothing=0.1)
loss.backward()
"""
    comparison = compare(source, source.replace(", label_smoothing=0.1", ""))
    difference = comparison.difference
    assert difference is not None
    assert [item and (item.name, item.line) for item in (difference.one, difference.other)] == [("loss", 4)] * 2
    assert any("They differ by " in line for line in comparison_text.lines(comparison, ("one", "other"), "code"))


def test_of_a_function_that_both_have_it_is_told_who_called_it() -> None:
    source = f"""{START}
def project(tokens, matrix):
    return tokens @ matrix

keys = project(x, w)
values = project(keys, w)
"""
    wrong = compare(source, source.replace("project(keys, w)", "project(x, w.T)"))
    text = "\n".join(comparison_text.lines(wrong, ("one", "other"), "code"))
    assert text.count("called from line 10") == 2


def test_first_weights_that_only_one_layer_has_are_not_blamed_for_what_differs_before() -> None:
    one = f"""{START}
first, second = torch.nn.Linear(6, 6), torch.nn.Linear(6, 6)
h = torch.nn.functional.gelu(first(x), approximate="tanh")
out = second(h).chunk(2, dim=1)[0].contiguous()
"""
    other = one.replace(', approximate="tanh"', "")
    fused = (
        "fused = torch.nn.Linear(6, 12)\nwith torch.no_grad():\n    fused.weight[:6], fused.bias[:6] = second.weight, "
    )
    other = other.replace("out = second(h)", f"{fused}second.bias\nout = fused(h)[:, :6]")
    first, second = different(one, other)
    assert (first.name, second.name) == ("h", "h")


def test_a_layer_that_nothing_reads_stands_beside_nothing() -> None:
    one = f"{START}\nunused = torch.nn.Linear(1, 1)\nweights = (x @ w @ x.T).softmax(1)\nout = weights @ x"
    other = f"{START}\nweights = (x @ w @ x.T).softmax(1)\nout = weights @ x\nmean = weights.mean(dim=0)"
    comparison = compare(one, other)
    assert comparison.difference is not None
    assert comparison.difference.one is None
    assert comparison.difference.other is not None
    assert comparison.difference.other.name == "mean"
    text = "\n".join(comparison_text.lines(comparison, ("one.py", "other.py")))
    assert text.startswith("The two programs differ.")
    assert "one.py: nothing in this place" in text


def test_copies_that_a_layer_keeps_for_its_backward_pass_are_no_difference() -> None:
    start = "torch.manual_seed(0)\nx, h = torch.randn(3, 2, 5), torch.zeros(2, 4)\nrnn = torch.nn.GRU(5, 4)\n"
    by_hand = """
wi, wh, bi, bh = rnn.parameters()
outs = []
for t in range(3):
    gi, gh = x[t] @ wi.T + bi, h @ wh.T + bh
    r, z = torch.sigmoid((gi + gh)[:, :8]).chunk(2, dim=-1)
    n = torch.tanh(gi[:, 8:] + r * gh[:, 8:])
    h = (1 - z) * n + z * h
    outs.append(h)
out = torch.stack(outs)
"""
    assert compare(f"{start}out, _ = rnn(x)", start + by_hand).difference is None


def test_complex_numbers_are_compared_by_their_parts() -> None:
    start = "torch.manual_seed(0)\nx = torch.randn(4, 6)\nangles = torch.randn(4, 3)\n"
    real = """
cos, sin = angles.cos(), angles.sin()
a, b = x.view(4, 3, 2).unbind(-1)
y = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(1)
"""
    by_complex = """
turns = torch.polar(torch.ones(4, 3), angles)
turned = torch.view_as_complex(x.view(4, 3, 2)) * turns
y = torch.view_as_real(turned).flatten(1)
"""
    assert compare(start + real, start + by_complex).difference is None
    difference = compare(start + real, start + by_complex.replace("* turns", "* turns * 2")).difference
    assert difference is not None
    assert difference.other is not None
    other = difference.other
    assert other.name == "turned"
    assert (other.shape, other.dtype) == ((4, 3, 2), "float32")


def test_a_formula_by_hand_is_told_as_a_whole_beside_a_function_that_nearly_does_the_same() -> None:
    code = f"{START}\nh = x @ w\nend = {{}}\nout = end.sum(dim=0)"
    by_hand = "0.5 * h * (1 + torch.tanh(torch.sqrt(torch.tensor(2 / torch.pi)) * (h + 0.044715 * h**3)))"
    first, second = different(code.format(by_hand), code.format("torch.nn.functional.gelu(h)"))
    assert (first.code, second.code) == (by_hand, "torch.nn.functional.gelu(h)")


def test_a_line_that_moved_is_told_in_both_places() -> None:
    code = f"""{START}
scale = torch.rand(6) + 0.5
h = x @ w
{{}}
out = torch.softmax(h @ x.T, dim=-1)
"""
    norm, scaled = "h = torch.nn.functional.normalize(h, dim=0)", "h = h * scale"
    first, second = different(code.format(f"{scaled}\n{norm}"), code.format(f"{norm}\n{scaled}"))
    assert (first.code, second.code) == ("h * scale", "h * scale")


def test_rows_of_results_keep_their_shapes_and_lines_whatever_the_width() -> None:
    comparison = compare(REFERENCE, REFERENCE.replace("context", "the_context_of_all_the_words"))
    for width in (40, 64, 80, 120, 160):
        lines = list(comparison_text.lines(comparison, ("one.py", "other.py"), "code", width))
        assert max(map(len, lines)) <= width
        assert sum(line.count("4×6, line 9") for line in lines) == 2
        assert any("the_cont" in line for line in lines)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("torch.tensor([70000, 3])", "torch.tensor([70001, 3])"),
        ("torch.tensor([2**60, 3])", "torch.tensor([2**60 + 1, 3])"),
        ("torch.tensor([1e6, 3.0])", "torch.tensor([1e6 + 1, 3.0])"),
        ("torch.tensor([256.0, 3.0], dtype=torch.bfloat16)", "torch.tensor([257.0, 3.0])"),
        ("torch.tensor([1000, 3])", "torch.tensor([1000.001, 3.0])"),
        ("torch.tensor([True, False])", "torch.tensor([True, True])"),
    ],
)
def test_whole_numbers_are_the_same_or_they_are_not(one: str, other: str) -> None:
    for left, right in ((one, other), (other, one)):
        found = compare(f"x = {left}", f"x = {right}")
        assert found.agree is False
        assert found.agreed == ()


def test_numbers_that_are_whole_by_rounding_may_be_apart_by_rounding() -> None:
    kind = "dtype=torch.bfloat16"
    assert compare(f"x = torch.tensor([1000.0, 300.0], {kind})", f"x = torch.tensor([1004.0, 300.0], {kind})").agree
    assert compare("x = torch.tensor([3e9, 2e9])", "x = torch.tensor([3000000256.0, 2e9])").agree


def test_given_tolerances_hold_for_whole_numbers_too() -> None:
    one, other = (comparison.trace(Traced(f"x = torch.tensor([{number}, 3])").explainer) for number in (5, 6))
    assert comparison.compare(one, other, atol=1.0).agree
    assert not comparison.compare(one, other).agree


TARGETS = """
torch.manual_seed(0)
scores = torch.randn(6, 10)
words = torch.tensor([1, 2, 3, 4, 5, 6])
targets = {}
loss = torch.nn.functional.cross_entropy(scores, targets)
"""


def test_whole_numbers_that_stand_in_place_of_others_are_the_difference() -> None:
    same, moved = TARGETS.format("words"), TARGETS.format("words.roll(-1)")
    first, second = different(same, moved)
    assert (first.name, second.name) == ("words", "targets")
    second, first = different(moved, same)
    assert (first.name, second.name) == ("words", "targets")


def test_positions_that_their_type_cannot_hold_are_the_difference() -> None:
    code = """
torch.manual_seed(0)
speed = torch.rand(4)
places = torch.arange(300).to({})
angle = places[:, None] * speed
turned = angle.cos()
"""
    for one, other in (("torch.bfloat16", "torch.float32"), ("torch.float32", "torch.bfloat16")):
        first, second = different(code.format(one), "\n" + code.format(other))
        assert (first.name, second.name) == ("places", "places")


def test_what_is_not_recorded_leaves_a_comparison_open() -> None:
    code = "x = torch.eye(3).to_sparse() * {}\ny = torch.ones(3) + 1"
    found = compare(code.format(2), code.format(3))
    assert (found.agree, found.gaps_of_one.unread > 0) == (None, True)
    text = comparison_text.summary(found, ("one.py", "other.py"))
    assert text.startswith("No difference was found, but not everything was compared.")
    assert "operations of one.py computed is not compared, because their numbers are not kept." in text


def test_all_results_of_an_operation_are_compared() -> None:
    code = "x = torch.tensor([[3.0, 1.0], [3.0, 2.0]])\nbest, place = x{}.max(0)"
    one, other = different(code.format(""), code.format(".flip(0)"))
    assert (one.name, other.name) == ("place", "place")
    one, other = different(
        "i = torch.tensor([3, 1, 2]).sort()[1]", "i = torch.tensor([3, 1, 2]).sort(descending=True)[1]"
    )
    assert one.op == other.op == "sort"


def test_what_a_function_keeps_for_its_derivative_is_no_result() -> None:
    code = "x = torch.arange(6.0).reshape(2, 3)\ny = torch.nn.functional.layer_norm(x, (3,))"
    assert (comparison := compare(code, code)).agree
    assert comparison.of_one == 3


def test_other_types_of_the_same_numbers_are_told() -> None:
    comparison = compare("x = torch.tensor([1.0, 2.0])\ny = x * 2", "x = torch.tensor([1.0, 2.0]).double()\ny = x * 2")
    assert comparison.agree
    assert comparison.of_other_types == 1
    assert comparison.other_type is not None
    assert (comparison.other_type.one.name, comparison.other_type.other.dtype) == ("y", "float64")
    assert "float32 in a.py and float64 in b.py" in comparison_text.summary(comparison, ("a.py", "b.py")).replace(
        ", and", " and"
    )
    assert compare("x = torch.ones(2)", "x = torch.ones(2)").other_type is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a = torch.tensor([0.5, 1.5, 2.5])\nb = a.sum()", "w = torch.rand(4, 4)\nv = w.inverse()"),
        ("a = torch.tensor([0.5, 1.5, 2.5]).exp()", "w = torch.randn(3)"),
    ],
)
def test_results_that_share_nothing_are_no_pair(one: str, other: str) -> None:
    comparison = compare(one, other)
    assert comparison.difference is not None
    assert comparison.difference.unlike
    assert not comparison.difference.cells
    assert any("Neither stands in the place" in line for line in comparison_text.lines(comparison, ("a", "b")))
