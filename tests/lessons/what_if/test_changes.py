"""Changes of a learner: cells and knobs as plain data, undo and redo, and their effect on a run."""

from __future__ import annotations

import math

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Lesson, ShownTensor
from attn_tutor.lessons.results import comparison
from attn_tutor.lessons.results.result import StepResult, Tensor
from attn_tutor.lessons.what_if import cells, changes
from attn_tutor.lessons.what_if.cells import CellChange, StatementPosition
from attn_tutor.lessons.what_if.changes import UNCHANGED, ChangeError, ChangeHistory, Changes
from tests.course import COURSE, EVERY_COURSE
from tests.lessons.lesson_builders import code_step, lesson_of, text_step

KNOBS = [
    {"kind": "number", "name": "half", "label": "Divisor", "find": "/ 2", "replace": "/ {value}", "default": 2,
     "values": [1, 2, 4]},
    {"kind": "seed", "name": "seed", "label": "Seed"},
]  # fmt: skip


def lesson_with_bindings() -> Lesson:
    """Build a lesson that binds variables in every way."""
    return lesson_of(
        code_step("one", "a = torch.zeros(2, 2)\nfor i in range(2):\n    a[i, 0] = 1\nb = a / 2", "a", "b"),
        text_step("why", "Read."),
        code_step("two", "c = b + a\na = torch.ones(2, 2)\nd = a + 1", "a", "c", "d"),
        code_step("three", "e = c * 2\n(p, q), r = (e + 1, e + 2), e + 3", "e", "p"),
        setup="import torch\nfrom torch import nn\nx = torch.eye(2)\nlayer = nn.Linear(2, 2)\n",
        knobs=KNOBS,
    )


def tensors(results: list[StepResult], step: str) -> dict[str, Tensor]:
    found = next(result for result in results if result.id == step)
    assert found.error is None, found.error
    return {tensor.name: tensor for tensor in found.tensors}


def run_with(worker: Session, lesson: Lesson, *written: CellChange, upto: str | None = None) -> list[StepResult]:
    """Return the results of a lesson with these cells changed."""
    run = worker.run(lesson, upto, Changes(cells=written))
    run.close()
    return run.steps


# Where a cell is changed ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "name", "position"),
    [
        ("setup", "x", StatementPosition("setup", 3, 0)),
        ("three", "x", StatementPosition("setup", 3, 0)),
        ("setup", "layer.weight", StatementPosition("setup", 4, 0)),
        ("one", "a", StatementPosition("one", 2, 0)),  # after the loop that fills it
        ("why", "a", StatementPosition("one", 2, 0)),
        ("two", "a", StatementPosition("two", 2, 0)),
        ("three", "a", StatementPosition("two", 2, 0)),
        ("three", "q", StatementPosition("three", 2, 0)),
    ],
)
def test_a_cell_changes_after_the_last_statement_that_writes_it(
    step: str, name: str, position: StatementPosition
) -> None:
    assert cells.statement_before(lesson_with_bindings(), CellChange(step, name, (0, 0), 1)) == position


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("a = b = 1", {"a", "b"}),
        ("a, (b, *c) = x", {"a", "b", "c"}),
        ("a: int = 1", {"a"}),
        ("a += 1", {"a"}),
        ("a[0].b[1] = 2", {"a"}),
        ("a.weight = 2", {"a"}),
        ("a.view(2).masked_fill_(m, 0)", {"a"}),
        ("with torch.no_grad():\n    getattr(a, n).weight.copy_(b)", {"a"}),
        ("for i, x in y:\n    a[i] = x", {"i", "x", "a"}),
        ("if (n := f(1)):\n    a = 1\nelse:\n    b = 1", {"n", "a", "b"}),
        ("with f() as a:\n    pass", {"a"}),
        ("[a for a in b]", set()),
        ("x = {k: v for k, v in b}", {"x"}),
        ("def f(a):\n    b = a", set()),
        ("class A:\n    b = 1", set()),
        ("x = lambda a: (b := a)", {"x"}),
        ("import torch", set()),
        ("a.__init__()\nprint(a)", set()),
        ("del a", set()),
    ],
)
def test_names_that_a_statement_changes(code: str, names: set[str]) -> None:
    assert set().union(*(found for _, found in cells.statements(code))) == names


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("x[1,0]=0.9", CellChange("setup", "x", (1, 0), 0.9)),
        (" a [ -1 , 0 ] = -3 ", CellChange("one", "a", (-1, 0), -3)),
        ("two:a[0,0]=inf", CellChange("two", "a", (0, 0), math.inf)),
        ("three : layer.weight[0,1]=-inf", CellChange("three", "layer.weight", (0, 1), -math.inf)),
        ("layer.blocks[0].weight[1]=True", CellChange("setup", "layer.blocks[0].weight", (1,), True)),
        ("e=1e3", CellChange("three", "e", (), 1000.0)),
        ("e=" + "9" * 50, CellChange("three", "e", (), 1e50)),
        ("e[]=false", CellChange("three", "e", (), False)),
    ],
)
def test_text_of_a_cell_change_is_parsed(text: str, cell: CellChange) -> None:
    found = cells.parse(lesson_with_bindings(), text)
    assert (found, type(found.value)) == (cell, type(cell.value))


def test_nan_is_parsed() -> None:
    assert math.isnan(cells.parse(lesson_with_bindings(), "x[0,0]=nan").value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x[0,0]", "'x[0,0]' does not say which cell to change. Write it like 'inputs[1,0]=0.9'"),
        ("x + 1=2", "does not say which cell to change"),
        ("x[0][1]=2", "does not say which cell to change"),
        ("weights[:, None]=2", "'[:, None]' is not an index. Write whole numbers with commas between them."),
        ("x[a]=2", "'[a]' is not an index"),
        ("x[0,0]=many", "'many' is not a number. Write a number, or one of inf, -inf, nan, true, and false."),
        ("x[" + "9" * 5000 + "]=1", "is not an index"),
        ("x[0,\n0]", "'x[0, 0]' does not say which cell to change"),
        ("x" * 5000, "'" + "x" * 40 + "…' does not say which cell to change"),
        ("y[0]=1", "There is no variable 'y'. These exist: x, layer, a, i, b, c, d, e, p, q, r."),
        ("one:c[0]=1", "There is no variable 'c' up to 'one'. These exist: x, layer, a, i, b."),
        ("setup:a[0]=1", "There is no variable 'a' up to 'setup'. These exist: x, layer."),
        ("four:a[0]=1", "Lesson 'made' has no step 'four'. Its steps are: setup, one, why, two, three."),
        ("torch.x[0]=1", "There is no variable 'torch'"),
    ],
)
def test_invalid_text_of_a_cell_change_is_refused(text: str, message: str) -> None:
    with pytest.raises(ChangeError) as caught:
        cells.parse(lesson_with_bindings(), text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_computed_tensor_is_not_a_variable() -> None:
    for expression, expected in (
        ("weights", "weights"), ("v2.W_query.weight", "v2.W_query.weight"), ("a.b[0].c", "a.b[0].c"),
        ("weights[:, None] * inputs", None), ("[count, lost]", None), ("split(batch)", None),
    ):  # fmt: skip
        assert cells.variable(ShownTensor(name="x", kind="vector", expr=expression)) == expected
    with pytest.raises(ChangeError, match="is not a variable, so it cannot be changed"):
        cells.statement_before(lesson_with_bindings(), CellChange("one", "a * 2", (0,), 1))


# Changes as data -----------------------------------------------------------------------------------------------------


def test_changes_are_equal_whatever_their_order() -> None:
    lesson = lesson_with_bindings()
    one = UNCHANGED.with_knob(lesson, "seed", 5).with_knob(lesson, "half", "4")
    other = UNCHANGED.with_knob(lesson, "half", 1).with_knob(lesson, "half", 4).with_knob(lesson, "seed", "5")
    assert one == other
    assert hash(one) == hash(other)
    assert one.settings == {"half": 4, "seed": 5}
    assert one.with_knob(lesson, "half", 2).with_knob(lesson, "seed", 123) == UNCHANGED
    assert one
    assert not UNCHANGED


def test_later_change_of_a_cell_replaces_the_earlier_one() -> None:
    lesson = lesson_with_bindings()
    first, second = CellChange("one", "a", (0, 0), 5), CellChange("one", "a", (0, 1), 6)
    both = UNCHANGED.with_cell(lesson, first).with_cell(lesson, second)
    again = both.with_cell(lesson, CellChange("one", "a", (0, 0), 7))
    assert again.cells == (second, CellChange("one", "a", (0, 0), 7))
    assert again.without_cell(first).cells == (second,)
    with pytest.raises(ChangeError):
        both.with_cell(lesson, CellChange("one", "d", (0, 0), 7))


def test_apply_changes_the_code() -> None:
    lesson = lesson_with_bindings()
    assert changes.apply(lesson, UNCHANGED) is lesson
    assert changes.apply(lesson, Changes(cells=(CellChange("one", "a", (0, 0), 1),))) is lesson
    altered = changes.apply(lesson, Changes(knobs=(("half", 4),)))
    assert dict(altered.parts)["one"].endswith("b = a / 4")
    with pytest.raises(ChangeError):
        changes.apply(lesson, Changes(knobs=(("half", 3),)))


def test_changes_are_parsed_from_a_command_line() -> None:
    lesson = COURSE.lesson("all-queries")
    parsed = changes.parse(lesson, ["temperature=2"], "a b c", ["inputs[1,0]=0.9", "product:scores[0,0]=1"])
    assert parsed.settings == {"temperature": 2, "words": "a b c"}
    assert parsed.cells == (CellChange("setup", "inputs", (1, 0), 0.9), CellChange("product", "scores", (0, 0), 1))
    assert changes.describe(lesson, parsed) == [
        "Temperature: 2", "Your own words: a b c", "inputs[1,0] = 0.9", "scores[0,0] = 1"
    ]  # fmt: skip
    assert changes.parse(lesson) == UNCHANGED
    with pytest.raises(ChangeError, match="'temperature' does not say what to set"):
        changes.parse(lesson, ["temperature"])
    with pytest.raises(ChangeError, match="In lesson 'gpt2-size', the words cannot be changed"):
        changes.parse(COURSE.lesson("gpt2-size"), words="a b")


def test_history_undoes_and_redoes() -> None:
    states = [Changes(knobs=(("n", number),)) for number in range(4)]
    start = ChangeHistory()
    assert start.current == UNCHANGED
    assert start.undo() == start.redo() == start
    history = start
    for state in (*states[:3], states[2]):
        history = history.do(state)
    assert start.current == UNCHANGED
    history = history.undo()
    assert history.current == states[1]
    history = history.undo()
    assert history.current == states[0]
    history = history.redo()
    assert history.current == states[1]
    assert history.do(states[1]) == history  # equal changes are no step, so the undone step stays
    history = history.do(states[3])
    assert history.redo() == history  # a new step drops the undone ones
    assert history.undo().current == states[1]
    assert history.undo().undo().current == states[0]
    history = history.undo().undo().undo()
    assert history.current == UNCHANGED
    assert history.undo() == history


# The effect on a run -------------------------------------------------------------------------------------------------


def test_cell_changes_only_what_follows(worker: Session) -> None:
    plain = run_with(worker, lesson_with_bindings())
    changed = run_with(worker, lesson_with_bindings(), CellChange("one", "a", (0, 0), 9))
    assert tensors(plain, "one")["a"].values == (1, 0, 1, 0)
    assert tensors(changed, "one")["a"].values == (9, 0, 1, 0)
    assert tensors(changed, "one")["b"].values == (4.5, 0, 0.5, 0)
    assert tensors(changed, "two")["c"].values == (13.5, 0, 1.5, 0)
    # Step two binds `a` again.
    assert tensors(changed, "two")["a"] == tensors(plain, "two")["a"]
    assert tensors(changed, "three")["e"].values == (27, 0, 3, 0)


def test_cell_of_a_later_step_leaves_earlier_steps_unchanged(worker: Session) -> None:
    changed = run_with(worker, lesson_with_bindings(), CellChange("two", "a", (1, 1), -1))
    assert tensors(changed, "two")["a"].values == (1, 1, 1, -1)
    assert tensors(changed, "two")["d"].values == (2, 2, 2, 0)
    assert tensors(changed, "two")["c"].values == (1.5, 0, 1.5, 0)


def test_cell_of_a_step_after_the_run_is_not_written(worker: Session) -> None:
    results = run_with(worker, lesson_with_bindings(), CellChange("two", "a", (9, 9), -1), upto="one")
    assert [(result.id, result.notes) for result in results] == [("one", ())]


def test_cells_and_knobs_apply_together(worker: Session) -> None:
    run = worker.run(lesson_with_bindings(), None, Changes((("half", 4),), (CellChange("one", "a", (0, 0), 8),)))
    run.close()
    assert tensors(run.steps, "one")["b"].values == (2, 0, 0.25, 0)


VALUES = """
f = torch.zeros(3)
h = torch.zeros(3).half()
d = torch.zeros(3).double()
i = torch.zeros(3).long()
u = torch.zeros(3).to(torch.uint8)
b = torch.zeros(3).bool()
s = torch.tensor(1.0)
n = [1, 2, 3]
k = 7
nothing = None
wide = torch.zeros(1).expand(3)
with torch.inference_mode():
    closed = torch.zeros(3)
p = nn.Linear(3, 1, bias=False)
module = nn.ModuleList([p])
"""


@pytest.mark.parametrize(
    ("name", "index", "value", "shown", "expected"),
    [
        ("f", (1,), 0.5, "f", (0, 0.5, 0)),
        ("f", (-1,), True, "f", (0, 0, 1)),
        ("f", (0,), math.inf, "f", (math.inf, 0, 0)),
        ("f", (0,), 10**30, "f", (pytest.approx(1e30), 0, 0)),
        ("h", (0,), 65504, "h", (65504, 0, 0)),
        ("d", (2,), 0.1, "d", (0, 0, 0.1)),
        ("i", (0,), -3.0, "i", (-3, 0, 0)),
        ("i", (0,), True, "i", (1, 0, 0)),
        ("u", (0,), 255, "u", (255, 0, 0)),
        ("b", (0,), 1.0, "b", (1, 0, 0)),
        ("b", (0,), True, "b", (1, 0, 0)),
        ("s", (), -2, "s", (-2,)),
        ("p.weight", (0, 2), 5, "p.weight[0, 2:]", (5,)),
        ("module[0].weight", (0, 2), 5, "p.weight[0, 2:]", (5,)),
        ("p.weight.data", (0, 2), 5, "p.weight[0, 2:]", (5,)),
    ],
)
def test_value_is_written(
    worker: Session, name: str, index: tuple[int, ...], value: float, shown: str, expected: tuple[float, ...]
) -> None:
    lesson = lesson_of(
        code_step("one", VALUES, {"name": "x", "expr": shown, "kind": "vector"}),
        setup="import torch\nfrom torch import nn",
    )
    results = run_with(worker, lesson, CellChange("one", name, index, value))
    assert results[0].notes == ()
    assert tensors(results, "one")["x"].values == expected


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        (CellChange("one", "f", (3,), 1), "f[3] = 1 was not made: f has the shape (3,), so it has no such cell."),
        (CellChange("one", "f", (-4,), 1), "f[-4] = 1 was not made: f has the shape (3,), so it has no such cell."),
        (CellChange("one", "f", (0, 0), 1), "f[0,0] = 1 was not made: f has the shape (3,), so it has no such cell."),
        (CellChange("one", "f", (), 1), "f = 1 was not made: f has the shape (3,), so it has no such cell."),
        (CellChange("one", "s", (0,), 1), "s[0] = 1 was not made: s is a single number."),
        (
            CellChange("one", "f", (0,), 10**400),
            "was not made: f holds numbers up to 3.4e+38: write inf if you mean infinity.",
        ),
        (CellChange("one", "h", (0,), -1e9), "h holds numbers up to 6.55e+04: write inf if you mean infinity."),
        (CellChange("one", "i", (0,), 0.5), "i[0] = 0.5 was not made: i holds whole numbers only."),
        (CellChange("one", "i", (0,), math.nan), "i[0] = nan was not made: i holds whole numbers only."),
        (CellChange("one", "i", (0,), math.inf), "i[0] = inf was not made: i holds whole numbers only."),
        (CellChange("one", "u", (0,), -1), "u[0] = -1 was not made: u holds whole numbers from 0 to 255."),
        (CellChange("one", "b", (0,), 0.5), "b[0] = 0.5 was not made: b holds only True and False."),
        (CellChange("one", "n", (0,), 1), "n[0] = 1 was not made: n is a list, not a tensor."),
        (CellChange("one", "k", (), 1), "k = 1 was not made: k is a number, not a tensor."),
        (CellChange("one", "nothing", (), 1), "nothing = 1 was not made: nothing is None, not a tensor."),
        (CellChange("one", "p", (0,), 1), "p[0] = 1 was not made: p is a Linear, not a tensor."),
        (CellChange("one", "p.wait", (0,), 1), "p.wait[0] = 1 was not made: p has no wait."),
        (CellChange("one", "module[1].weight", (0,), 1), "module[1].weight[0] = 1 was not made: module has no [1]."),
        (CellChange("one", "wide", (0,), 1), "wide[0] = 1 was not made: wide shows one number in several cells."),
        (
            CellChange("one", "closed", (0,), 1),
            "closed[0] = 1 was not made: PyTorch refuses it (Inplace update to inference",
        ),
        (CellChange("one", "maybe", (0,), 1), "maybe[0] = 1 was not made: there is no maybe."),
    ],
)
def test_cell_that_cannot_be_written_is_reported(worker: Session, cell: CellChange, why: str) -> None:
    code = VALUES + "if False:\n    maybe = f\n"
    lesson = lesson_of(code_step("one", code, "f"), setup="import torch\nfrom torch import nn")
    (result,) = run_with(worker, lesson, cell)
    assert result.error is None
    (note,) = result.notes
    assert note.startswith("Your change ")
    assert why in note
    assert note.endswith(".")
    assert tensors([result], "one")["f"].values == (0, 0, 0)


def test_first_step_has_the_notes_of_the_setup(worker: Session) -> None:
    results = run_with(
        worker, lesson_with_bindings(), CellChange("setup", "x", (5, 5), 1), CellChange("two", "a", (5, 5), 1)
    )
    assert [len(result.notes) for result in results] == [1, 0, 1, 0]


def test_change_that_the_lesson_does_not_have_is_refused(worker: Session) -> None:
    with pytest.raises(ChangeError):
        run_with(worker, lesson_with_bindings(), CellChange("one", "nothing", (0,), 1))
    with pytest.raises(ChangeError):
        worker.run(lesson_with_bindings(), None, Changes(knobs=(("nothing", 1),)))


def test_parameter_can_be_changed_and_still_trained(worker: Session) -> None:
    lesson = COURSE.lesson("attention-classes")
    results = run_with(worker, lesson, CellChange("v1", "v1.W_query", (0, 0), 0.0), upto="gradient")
    assert tensors(results, "gradient")["W_query"].values is not None
    assert results[-1].error is None


# The course ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", EVERY_COURSE.lessons, ids=lambda lesson: lesson.id)
def test_initial_settings_change_nothing(lesson: Lesson) -> None:
    parsed = UNCHANGED
    for knob in lesson.knobs:
        if (value := knob.initial(lesson)) is not None:
            parsed = parsed.with_knob(lesson, knob.name, value)
    assert parsed == UNCHANGED


@pytest.mark.parametrize(
    ("name", "step", "shown"),
    [
        ("causal-mask", "proof", "context"),
        ("causal-mask", "causal-weights", "weights"),
        ("dropout", "weights", "weights"),
        ("causal-class", "run", "context"),
        ("stacked-heads", "wrapper", "context"),
        ("stacked-heads", "head-weights", "weights"),
        ("multi-head-class", "run", "context"),
    ],
)
@pytest.mark.parametrize("token", [1, 3, 5])
def test_causal_attention_does_not_see_a_later_token(
    worker: Session, name: str, step: str, shown: str, token: int
) -> None:
    """The results for earlier tokens are the same to the last bit."""
    lesson = COURSE.lesson(name)
    plain = tensors(run_with(worker, lesson, upto=step), step)[shown]
    changed = tensors(run_with(worker, lesson, CellChange("setup", "inputs", (token, 0), 0.9), upto=step), step)[shown]
    found = comparison.difference(plain, changed)
    assert found is not None
    assert found.known
    assert found.changed
    width, tokens = plain.shape[-1], plain.shape[-2]
    assert {position // width % tokens for position in found.changed} <= set(range(token, tokens))
    assert token in {position // width % tokens for position in found.changed}


def test_open_attention_sees_every_token(worker: Session) -> None:
    lesson = COURSE.lesson("all-queries")
    plain = tensors(run_with(worker, lesson, upto="context"), "context")["context"]
    changed = tensors(run_with(worker, lesson, CellChange("setup", "inputs", (5, 0), 0.9), upto="context"), "context")
    found = comparison.difference(plain, changed["context"])
    assert found is not None
    assert len({position // 3 for position in found.changed}) == 6


def test_mask_can_be_opened_by_hand(worker: Session) -> None:
    lesson = COURSE.lesson("causal-mask")
    results = run_with(worker, lesson, CellChange("minus-inf", "mask", (0, 5), 0))
    weights = tensors(results, "causal-weights")["weights"]
    assert [value > 0 for value in weights.row((), 0, 0, 6) or ()] == [True, False, False, False, False, True]
