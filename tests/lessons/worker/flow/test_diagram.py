"""The flow of programs: which boxes there are, what they are called, and which were computed from which."""

from __future__ import annotations

import json
import math
import textwrap

import pytest
import torch

from attn_tutor.lessons.results.flow import Flow, longest_path
from attn_tutor.lessons.worker import plain_codec
from attn_tutor.lessons.worker.flow.diagram import Diagram, NoBox
from tests.lessons.recorded_code import CODE, Traced

Drawn = dict[str, list[str]]
"""The name of each box with those that it was computed from."""


def flow_of(source: str, *opened: str, shown: str = "") -> Flow:
    """Return the flow of a program, with the named boxes open, one after the other."""
    run = Traced("torch.manual_seed(3)\n" + source)
    if shown:
        run.keep(shown)
    flow = Diagram(run.explainer, CODE, ()).flow()
    ids: tuple[str, ...] = ()
    for name in opened:
        [id] = [box.id for box in flow.boxes if box.name == name and box.opens]
        ids = (*ids, id)
        flow = Diagram(run.explainer, CODE, ids).flow()
    return flow


def drawn(flow: Flow) -> Drawn:
    """Return names and arrows of a flow whose boxes have different names."""
    names = {box.id: box.name for box in flow.boxes}
    assert len(set(names.values())) == len(names)
    return {box.name: [names[source] for source in flow.sources(box.id)] for box in flow.boxes}


ATTENTION = """
x = torch.rand(3, 4)
W_query, W_key, W_value = torch.rand(4, 2), torch.rand(4, 2), torch.rand(4, 2)
queries = x @ W_query
keys = x @ W_key
values = x @ W_value
scores = queries @ keys.T
weights = torch.softmax(scores / 2 ** 0.5, dim=-1)
unused = torch.rand(2)
context = weights @ values
"""

CLASS = """
class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.W_query = torch.nn.Linear(4, 2)
        self.W_key = torch.nn.Linear(4, 2)

    def forward(self, x):
        queries = self.W_query(x)
        keys = self.W_key(x)
        scores = queries @ keys.transpose(0, 1)
        return torch.softmax(scores, dim=-1)


x = torch.rand(3, 4)
attention = Attention()
weights = attention(x)
"""


def test_boxes_are_named_and_joined_as_in_the_source() -> None:
    flow = flow_of(ATTENTION, shown="context")
    assert drawn(flow) == {
        "x": [],
        "W_query": [],
        "W_key": [],
        "W_value": [],
        "queries": ["x", "W_query"],
        "keys": ["x", "W_key"],
        "values": ["x", "W_value"],
        "scores": ["queries", "keys"],
        "weights": ["scores"],
        "context": ["weights", "values"],
    } | {"unused": []}
    context = flow.boxes[-1]
    assert (context.shape, context.dtype, context.shown, context.line) == ((3, 2), "float32", ("context",), 11)
    assert (context.code, context.unit, context.times) == ("context = weights @ values", "code", 1)


def test_what_nothing_asks_for_is_left_out() -> None:
    run = Traced(ATTENTION)
    run.run("again = scores * 2\n", "later")
    run.keep("again")
    flow = Diagram(run.explainer, CODE, ()).flow()
    assert "again" not in drawn(flow), "later code belongs to later flows"
    unit = CODE.step("later")
    run.explainer.show(unit, "again", run.namespace["again"])
    later = drawn(Diagram(run.explainer, unit, ()).flow())
    assert later["again"] == ["scores"]
    assert not {"context", "unused"} & later.keys()


def test_a_statement_opens_into_its_expressions() -> None:
    flow = flow_of(ATTENTION, "weights", shown="context")
    assert drawn(flow)["scores / 2 ** 0.5"] == ["scores"]
    [opened] = flow.opened
    inside = [box for box in flow.boxes if box.parent == opened.id]
    assert opened.name == "weights"
    assert [box.code for box in inside] == ["scores / 2 ** 0.5", "torch.softmax(scores / 2 ** 0.5, dim=-1)"]


def test_modules_are_one_box_and_open() -> None:
    closed = flow_of(CLASS, shown="weights")
    assert drawn(closed) == {"x": [], "attention": [], "weights": ["attention", "x"]}
    module = next(box for box in closed.boxes if box.name == "attention")
    assert module.shape is None
    opened = flow_of(CLASS, "weights", shown="weights")
    assert drawn(opened) == {
        "x": [],
        "attention": [],
        "queries": ["attention", "x"],
        "keys": ["attention", "x"],
        "scores": ["queries", "keys"],
        "torch.softmax(scores, dim=-1)": ["scores"],
    }
    assert [box.shown for box in opened.boxes if box.shown] == [("weights",)]


def test_a_loop_is_one_box() -> None:
    source = """
    x = torch.rand(3, 4)
    scores = torch.empty(3, 3)
    for i in range(3):
        for j in range(3):
            scores[i, j] = x[i] @ x[j]
    state = torch.zeros(4)
    for row in x:
        state = torch.tanh(state + row)
    """
    flow = flow_of(textwrap.dedent(source))
    by_name = {box.name: box for box in flow.boxes if box.code != "state = torch.zeros(4)"}
    assert (by_name["scores"].times, by_name["scores"].loops) == (9, False)
    assert (by_name["state"].times, by_name["state"].loops) == (3, True)
    assert [flow.box(id).name for id in flow.sources(by_name["scores"].id)] == ["x"]  # type: ignore[union-attr]


def test_arrows_back_are_marked() -> None:
    source = "a = torch.rand(2)\nfor _ in range(3):\n    b = a * 2\n    a = b + 1\n"
    flow = flow_of(source)
    back = [(flow.box(arrow.source), flow.box(arrow.target)) for arrow in flow.arrows if arrow.back]
    assert [(one.code, other.code) for one, other in back if one and other] == [("a = b + 1", "b = a * 2")]


def test_writing_in_place_makes_a_new_box_unless_it_only_fills() -> None:
    flow = flow_of("a = torch.rand(3)\na.mul_(2)\nb = a + 1\nc = torch.zeros(2)\nc[0] = b[0]\n")
    codes = {box.code: [flow.box(id).code for id in flow.sources(box.id)] for box in flow.boxes}  # type: ignore[union-attr]
    assert codes["a.mul_(2)"] == ["a = torch.rand(3)"]
    assert codes["b = a + 1"] == ["a.mul_(2)"]
    assert codes["c[0] = b[0]"] == ["b = a + 1"]
    assert "c = torch.zeros(2)" not in codes


def test_views_are_boxes_where_the_code_names_them() -> None:
    flow = flow_of("a = torch.rand(2, 6)\nheads = a.view(2, 3, 2)\nturned = heads.transpose(0, 1)\nb = turned * 2\n")
    assert drawn(flow) == {"a": [], "heads": ["a"], "turned": ["heads"], "b": ["turned"]}


def test_a_list_of_tensors_is_no_source_of_them() -> None:
    lines = "listed = list(layer.state_dict())\ny = layer(torch.rand(2, 3))\n"
    flow = flow_of(f"layer = torch.nn.Linear(3, 3)\n{lines}", shown="y")
    assert "listed" not in drawn(flow)["y"]
    named = "w = layer.weight.detach()\ny = w + 1\n"
    flow = flow_of(f"layer = torch.nn.Linear(3, 3)\n{named}", shown="y")
    assert drawn(flow)["y"] == ["w"]


def test_a_training_is_read_as_written() -> None:
    source = """
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.rand(5, 4)
for _ in range(3):
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    flow = flow_of(source)
    names = drawn(flow)
    assert set(names["loss.backward()"]) >= {"loss"}
    assert "loss.backward()" in names["optimizer.step()"]
    assert "optimizer.step()" in names["loss"]
    step = next(box for box in flow.boxes if box.name == "optimizer.step()")
    assert (step.shape, step.times) == (None, 3)


def test_what_came_from_outside_has_a_box() -> None:
    run = Traced()
    run.namespace["given"] = torch.ones(2)
    run.run("made = given * 2\n")
    assert drawn(Diagram(run.explainer, CODE, ()).flow()) == {"given": [], "made": ["given"]}


def test_thumbnails_are_means_of_blocks() -> None:
    flow = flow_of("big = torch.arange(24.).repeat(12, 1)\nsmall = torch.tensor([1., -torch.inf])\n")
    big, small = flow.boxes
    assert len(big.thumbnail) == 6
    assert big.thumbnail[0] == tuple(column + 0.5 for column in range(0, 24, 2))
    assert (big.low, big.high) == (0, 23)
    assert small.thumbnail == ((1.0, -math.inf),)
    assert (small.low, small.high) == (1, 1)


def test_tensors_without_numbers_have_no_thumbnail() -> None:
    """The cache of keys begins empty."""
    flow = flow_of(
        "keys = torch.empty(1, 0, 2)\ngrown = torch.cat((keys, torch.ones(1, 1, 2)), dim=1)\nn = grown[0].sum()\n"
    )
    assert [(box.shape, box.thumbnail) for box in flow.boxes if box.name in ("keys", "n")] == [
        ((1, 0, 2), ()),
        ((), ((2.0,),)),
    ]
    deep = flow_of("x = torch.arange(16.).reshape(2, 2, 2, 2)\n")
    assert deep.boxes[0].thumbnail == ((0.0, 1.0), (2.0, 3.0))


def test_overwritten_numbers_are_shown_as_they_were() -> None:
    flow = flow_of("a = torch.ones(2)\nb = a + 1\na.add_(5)\nc = a + b\n")
    assert [box.thumbnail for box in flow.boxes if box.code == "a = torch.ones(2)"] == [((1.0, 1.0),)]


def test_the_path_of_an_explanation_goes_through_boxes() -> None:
    run = Traced(ATTENTION)
    run.keep("context")
    first = run.explain("context", 0, 0)
    flow = Diagram(run.explainer, CODE, ()).flow(run.explainer.path_of([item.ref for item in first.operands]))
    assert {box.name for box in flow.boxes if box.id in flow.path} == {"weights", "values"}


def test_the_tensor_of_a_box() -> None:
    run = Traced(ATTENTION)
    diagram = Diagram(run.explainer, CODE, ())
    [weights] = [box for box in diagram.flow().boxes if box.name == "weights"]
    name, region, time = diagram.result(weights.id)
    assert name == "weights"
    assert torch.equal(run.explainer.history.tensor(region, time), run.namespace["weights"])
    for wrong in ("", "0.99999", "outside.7", "outside.x"):
        with pytest.raises(NoBox):
            diagram.result(wrong)


def test_the_longest_path() -> None:
    assert [box.name for box in longest_path(flow_of(ATTENTION, shown="context"))] == [
        "x",
        "queries",
        "scores",
        "weights",
        "context",
    ]
    assert [box.name for box in longest_path(flow_of(ATTENTION, shown="keys"))] == ["x", "keys"]
    assert longest_path(Flow((), ())) == ()


def test_only_so_many_boxes() -> None:
    lines = "\n".join(f"a{number} = a{number - 1} + 1" for number in range(1, 140))
    flow = flow_of(f"a0 = torch.rand(1)\n{lines}\n", shown="a139")
    assert (len(flow.boxes), flow.left_out) == (120, 20)
    assert flow.boxes[-1].name == "a139"


def test_it_travels_as_a_message() -> None:
    flow = flow_of(CLASS, "weights")
    text = json.dumps(plain_codec.encode(flow))
    assert plain_codec.decode(Flow, json.loads(text)) == flow


FILLED = """
x = torch.rand(3, 4)
b = torch.zeros(3)
torch.sum(x, 1, out=b)
c = torch.empty(0)
torch.mul(b, 2, out=c)
v, i = torch.empty(0), torch.empty(0, dtype=torch.long)
torch.max(x, 1, out=(v, i))
w = torch.empty(3)
torch.nn.init.ones_(w)
both = w + c
"""


def test_what_is_computed_into_a_tensor_is_what_it_holds() -> None:
    assert drawn(flow_of(FILLED)) == {
        "x": [], "b": ["x"], "c": ["b"], "v, i": ["x"], "w": [], "both": ["w", "c"]
    }  # fmt: skip


def test_a_tensor_that_is_read_and_replaced_has_an_arrow_from_what_it_was() -> None:
    flow = flow_of("b = torch.rand(3)\ntorch.add(b, 1, out=b)\nb.copy_(b.flip(0))\nb.copy_(torch.zeros(3))\n")
    assert [box.line for box in flow.boxes] == [2, 3, 4, 5]
    first, added, turned, replaced = (box.id for box in flow.boxes)
    assert [flow.sources(each) for each in (added, turned)] == [(first,), (added,)]
    assert flow.sources(replaced) == (turned,)
