"""The short form of the examination, and proofs that the examiner notices what is false."""

from __future__ import annotations

import ast
import itertools
import math
from pathlib import Path

import pytest
import torch

from lessons.engine.session import Session
from lessons.results import formula
from tests.exam.explanations import documents, reader
from tests.exam.explanations.exam import examine_programs
from tests.exam.explanations.programs import STYLES

_REFS = (formula.OperandRef(0), formula.OperandRef(1))

COUNT = 20
SEED = 1


@pytest.mark.long
def test_random_programs_are_explained_truly(session: Session) -> None:
    totals = examine_programs(session, itertools.count(SEED), COUNT)
    assert totals.found == []
    assert totals.programs == COUNT
    assert len(totals.styles) > len(STYLES) / 2
    assert totals.nodes > 10_000


@pytest.mark.parametrize("module", ["reader", "documents", "programs", "plain_run"])
def test_examiner_shares_no_code_with_the_tutor(module: str) -> None:
    tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported += [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert not [name for name in imported if name.partition(".")[0] in ("lessons", "tui", "attention")]


@pytest.mark.parametrize(
    ("line", "true"),
    [
        ("fmod(-2, 0.40000001) ≈ -0.4000", True),
        ("-2 - (0.4·trunc(-2 / 0.4)) ≈ -0.4000", False),
        ("trunc(float32(0.7 / 0.1)) = 7", True),
        ("1 // 0.1 = 9", False),
        ("0.55·0.57 + 0.87·(-0.85) ≈ -0.426", True),
        ("0.55·0.57 + 0.87·(-0.85) = -0.426", True),
        ("0.55·0.57 + 0.87·(-0.85) ≈ -0.427", False),
        ("1 + 1.25 + (3 more: 1.5) ≈ 3.75", True),
        ("1^2 + sqrt(2) ≈ 2.4142", True),
        ("0 / 0 = nan", True),
        # Divisions by 0 as PyTorch makes them, in each type.
        ("-1.1969 // 0 = -inf", True),
        ("-1.1969 // 0 = nan", False),
        ("1 // (2 - 2) = inf", True),
        ("0 // 0 = nan", True),
        ("3 / exp(-inf) = inf", True),
        ("2 - 0^(-1) = -inf", True),
        ("-7 % 0 = nan", True),
        ("-inf if 1 > 0 else 3 = -inf", True),
    ],
)
def test_printed_arithmetic(line: str, true: bool) -> None:
    value = line.rpartition(" ")[2]
    (node,) = reader.read([f"x[0] = {value}   line 1: f(x)", "  = f(x)", f"  = {line}"])
    assert (reader.problem(node) == "") == true


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floor_division_by_zero_is_that_of_pytorch(dtype: str) -> None:
    for above, below in itertools.product((-1.1969, 1.5, 0.0, math.inf, -math.inf, math.nan), (0.0, -0.0)):
        numbers = (torch.tensor(number, dtype=getattr(torch, dtype)) for number in (above, below))
        wanted = float(torch.floor_divide(*numbers))
        got = reader.evaluate("-(-a) // b", {"a": above, "b": below})
        assert str(got) == str(wanted)
        assert str(formula.evaluate(formula.Op("//", _REFS), (above, below))) == str(wanted)


def test_printed_tree_is_read_with_its_folded_lines() -> None:
    text = [
        "a[0] = 2   line 3 of 'program': some(long,",
        "    call)",
        "  = b[0] + c",
        "  = 1 + 1 = 2",
        "    b[0] = 1",
        "      Written in the",
        "          code.",
        "    c = 1",
    ]
    nodes = list(reader.read(text))
    assert [(node.level, node.label, node.value) for node in nodes] == [
        (0, "a[0]", "2"),
        (1, "b[0]", "1"),
        (1, "c", "1"),
    ]
    assert (nodes[0].formulas, nodes[1].notes) == (["b[0] + c", "1 + 1 = 2"], ["Written in the code."])


def test_formulas_of_a_document() -> None:
    def node(value: float, formula: str, *operands: documents.Json) -> documents.Json:
        fields = {"index": [0], "dtype": "float32", "op": "", "notes": [], "more": False}
        return {**fields, "tensor": f"t{value}", "value": value, "formula": formula, "operands": list(operands)}

    one, tenth = node(1.0, "1.0"), node(0.10000000149011612, "0.10000000149011612")
    assert documents.problem(node(9.0, "t1.0[0] // t0.10000000149011612[0]", one, tenth)) == ""
    assert documents.problem(node(10.0, "t1.0[0] // t0.10000000149011612[0]", one, tenth))
    assert documents.problem(node(2.0, "3.0"))
