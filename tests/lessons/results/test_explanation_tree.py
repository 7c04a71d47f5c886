"""The tree of explanations of a number: down to its leaves, or to the depth that is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.render import explanation_lines
from attn_tutor.lessons.results import explanation_tree
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation, Operand
from attn_tutor.lessons.results.explanation_tree import MOST_LEVELS, Node, walk
from attn_tutor.lessons.results.formula import FUNCTIONS, Number, OperandRef, add, evaluate
from attn_tutor.tui.commands import documents
from tests.lessons.lesson_builders import code_step, lesson_of

INDEX = (1, 2)


@pytest.fixture(scope="module")
def scores(worker: Session, course: Course) -> Iterator[Run]:
    """Return a run of `scores = inputs @ inputs.T`, whose first step also shows the inputs."""
    run = worker.run(course.lesson("all-queries"), "context")
    yield run
    run.close()


def grow_tree(
    run: Run, step: str, name: str, index: tuple[int, ...], depth: int | None = None, most: int = 1000
) -> Node:
    found = explanation_tree.grow(run, CodeUnit.step(step), name, index, depth, most)
    assert isinstance(found, Node), found
    return found


def depth_of(node: Node) -> int:
    return 1 + max(level for _, level in walk(node))


# Growing -------------------------------------------------------------------------------------------------------------


def test_the_tree_goes_down_to_the_leaves(scores: Run) -> None:
    root = grow_tree(scores, "context", "context", (1, 0))
    assert root.explanation.label == "context[1,0]"
    for node, _ in walk(root):
        e = node.explanation
        assert node.operands is not None
        # The explanation of each operand has the label and the value of the operand.
        explained = [(operand.explanation.label, operand.explanation.value) for operand in node.operands]
        assert explained == [(operand.label, operand.value) for operand in e.operands]
        assert (e.line is not None) or e.leaf
        assert evaluate(e.formula, e.values) == pytest.approx(e.value, rel=1e-5, abs=1e-6)
    ends = {node.explanation.name for node, _ in walk(root) if node.explanation.leaf}
    assert ends == {"inputs"}


def test_the_tree_is_as_deep_as_asked(scores: Run) -> None:
    whole = grow_tree(scores, "context", "context", (1, 0))
    for depth in range(1, depth_of(whole) + 2):
        cut = grow_tree(scores, "context", "context", (1, 0), depth)
        assert depth_of(cut) == min(depth, depth_of(whole))
        for node, level in walk(cut):
            assert (node.operands is None) == (level + 1 == depth)


def test_the_tree_has_no_more_nodes_than_asked(scores: Run) -> None:
    whole = sum(1 for _ in walk(grow_tree(scores, "context", "context", (1, 0))))
    for most in (1, 2, 13, 50, whole - 1, whole):
        found = list(walk(grow_tree(scores, "context", "context", (1, 0), most=most)))
        assert len(found) <= most
        assert any(node.operands is None for node, _ in found) == (most < whole)


def test_a_tree_with_long_sums_is_cut_off(scores: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the limit, a node has all of its operands or none."""
    monkeypatch.setattr(explanation_tree, "MOST_OPERANDS", 20)
    found = list(walk(grow_tree(scores, "context", "context", (1, 0))))
    assert any(node.operands is None for node, _ in found)
    for node, _ in found:
        assert node.operands is None or len(node.operands) == len(node.explanation.operands)


def test_a_node_comes_before_its_operands() -> None:
    def node(name: str, *operands: Node) -> Node:
        from attn_tutor.lessons.results import formula as f

        e = Explanation(name, (), 1.0, "float32", "", "", "", None, None, f.Number(1.0), ())
        return Node(e, list(operands))

    root = node("a", node("b", node("c")), node("d"))
    assert [(item.explanation.name, level) for item, level in walk(root)] == [("a", 0), ("b", 1), ("c", 2), ("d", 1)]


@pytest.mark.parametrize(("name", "index"), [("context", (9, 9)), ("context", (1,)), ("nothing", (0, 0))])
def test_a_cell_that_does_not_exist_has_no_tree(scores: Run, name: str, index: tuple[int, ...]) -> None:
    assert explanation_tree.grow(scores, CodeUnit.step("context"), name, index) == "no such cell"


def test_without_a_worker_there_is_no_tree(worker: Session, course: Course) -> None:
    run = worker.run(course.lesson("all-queries"), "product")
    run.close()
    assert explanation_tree.grow(run, CodeUnit.step("product"), "scores", INDEX) is None


def test_a_long_loop_is_cut_off(worker: Session) -> None:
    code = "import torch\nx = torch.tensor([1.0])\nfor i in range(600):\n    x = torch.sin(x)\n"
    lesson = lesson_of(code_step("program", code))
    run = worker.run(explanation_tree.with_shown_tensor(lesson, "program", "x"), "program")
    root = grow_tree(run, "program", "x", (0,))
    run.close()
    assert depth_of(root) == MOST_LEVELS
    assert json.loads(json.dumps(documents.explanation(root)))["tensor"] == "x"


# As a document -------------------------------------------------------------------------------------------------------


def test_the_formula_gives_the_value_from_the_printed_numbers(scores: Run) -> None:
    """The check uses only Python and the documented functions, as a reader of the JSON would."""

    def check(entry: dict[str, object]) -> None:
        operands = entry["operands"]
        assert isinstance(operands, list)
        names: dict[str, object] = dict(FUNCTIONS)
        formula = str(entry["formula"])
        for number, operand in enumerate(sorted(operands, key=lambda item: -len(label(item)))):
            formula = formula.replace(label(operand), f"v{number}")
            names[f"v{number}"] = operand["value"]
        assert eval(formula, {"__builtins__": {"sum": sum}}, names) == pytest.approx(entry["value"], rel=1e-5, abs=1e-6)
        for operand in operands:
            check(operand)

    check(documents.explanation(grow_tree(scores, "context", "context", (1, 0))))


def label(entry: dict[str, object]) -> str:
    index = entry["index"]
    assert isinstance(index, list)
    return f"{entry['tensor']}[{','.join(map(str, index))}]" if index else str(entry["tensor"])


def test_operands_that_are_cut_off_keep_their_numbers(scores: Run) -> None:
    """The numbers of a formula are always there; only their explanations may be left out."""
    entry = documents.explanation(grow_tree(scores, "weights", "weights", INDEX, 1))
    assert (entry["more"], entry["op"], entry["line"]) == (False, "softmax", 1)
    assert [(item["tensor"], item["op"], item["operands"]) for item in entry["operands"]] == [("scores", "", [])] * 6
    assert all(item["more"] and float(item["formula"]) == item["value"] for item in entry["operands"])


def test_document_nests_the_explained_operands(scores: Run) -> None:
    entry = documents.explanation(grow_tree(scores, "product", "scores", INDEX, 2))
    assert (len(entry["operands"]), entry["more"]) == (6, False)
    assert {operand["more"] for operand in entry["operands"]} == {False}
    assert [operand["value"] for operand in entry["operands"]] == pytest.approx([0.55, 0.57, 0.87, 0.85, 0.66, 0.64])


# Any expression ------------------------------------------------------------------------------------------------------


def test_any_expression_can_be_shown(worker: Session, course: Course) -> None:
    lesson = course.lesson("all-queries")
    altered = explanation_tree.with_shown_tensor(lesson, "product", "scores[1] * 2")
    assert [shown.name for shown in altered.step("product").show] == ["scores", "scores[1] * 2"]  # type: ignore[union-attr]
    run = worker.run(altered, "product")
    root = grow_tree(run, "product", "scores[1] * 2", (2,), 1)
    assert root.explanation.value == pytest.approx(2 * 1.4754)
    run.close()
    # The lesson itself is unchanged.
    assert lesson is course.lesson("all-queries")
    assert explanation_tree.with_shown_tensor(lesson, "product", "scores") is lesson


@pytest.mark.parametrize("step", ["all-scores", "nowhere"])
def test_a_step_without_code_can_show_nothing(course: Course, step: str) -> None:
    with pytest.raises(KeyError):
        explanation_tree.with_shown_tensor(course.lesson("all-queries"), step, "scores")


@pytest.mark.parametrize("name", ["", "x +", "x = 1", "\x00"])
def test_a_name_that_is_no_expression_is_refused(course: Course, name: str) -> None:
    with pytest.raises(ValidationError):
        explanation_tree.with_shown_tensor(course.lesson("all-queries"), "product", name)


def test_a_learners_own_program_is_explained(worker: Session) -> None:
    code = "import torch\na = torch.tensor([1.0, 2.0])\nb = a.exp()\nc = b.sum()\n"
    run = worker.run(
        explanation_tree.with_shown_tensor(lesson_of(code_step("program", code)), "program", "c"), "program"
    )
    root = grow_tree(run, "program", "c", ())
    run.close()
    assert [(node.explanation.label, node.explanation.line) for node, _ in walk(root)] == [
        ("c", 4), ("b[0]", 3), ("a[0]", 2), ("b[1]", 3), ("a[1]", 2),
    ]  # fmt: skip


def number(name: str, *below: Node | str) -> Node:
    """Return a number with operands; those that are only names were cut off."""
    names = [item if isinstance(item, str) else item.explanation.name for item in below]
    operands = tuple(Operand(one, (), 1.0, "float32", 0, False) for one in names)
    formula = add(*map(OperandRef, range(len(names)))) if names else Number(1.0)
    explanation = Explanation(name, (), 1.0, "float32", "sum", "", "", None, None, formula, operands)
    nodes = [item for item in below if isinstance(item, Node)]
    return Node(explanation, nodes if len(nodes) == len(below) else None)


def test_a_number_is_told_again_where_it_was_cut_off_elsewhere() -> None:
    """Of two trees of a number, each may lack what the other has; neither is left out of the text."""
    first = number("x", number("a", number("leaf_a")), number("b", "leaf_b"))
    second = number("x", number("a", "leaf_a"), number("b", number("leaf_b")))
    assert not explanation_tree.covers(first, second)
    lines = [line.strip() for line in explanation_lines.lines(number("r", first, second))]
    assert sum(line.startswith("leaf_a = 1") for line in lines) == 1
    assert sum(line.startswith("leaf_b = 1") for line in lines) == 1
    again = [line.strip() for line in explanation_lines.lines(number("r", first, first))]
    assert sum(line.startswith("x = 1") for line in again) == 1
