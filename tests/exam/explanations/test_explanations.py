"""The short form of the examination, and proofs that the examiner notices what is false."""

from __future__ import annotations

import ast
import itertools
import math
from pathlib import Path

import pytest
import torch

from attn_tutor.lessons.authoring import interface_texts
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.results import formula
from tests.exam.explanations import deciders, documents, reader, sentences
from tests.exam.explanations.exam import examine_programs
from tests.exam.explanations.plain_run import PlainRun

_REFS = (formula.OperandRef(0), formula.OperandRef(1))

COUNT = 6
SEED = 20261128
"""A day, chosen before the programs of this seed were seen."""


@pytest.mark.long
def test_random_programs_are_explained_truly(session: Session) -> None:
    totals = examine_programs(session, itertools.count(SEED), COUNT)
    assert totals.found == []
    assert totals.programs == COUNT
    assert len(totals.styles) > COUNT / 2
    # Programs differ much in size: this only says that the examination looked at their numbers at all.
    assert totals.nodes > 10 * COUNT


ROOT = Path(__file__).parents[3]
SAYING = (
    *sorted((ROOT / "lessons" / "worker" / "explaining").rglob("*.py")),
    *sorted((ROOT / "lessons" / "worker" / "recording").rglob("*.py")),
    *(
        ROOT / "lessons" / "render" / f"{name}.py"
        for name in ("explanation_text", "explanation_lines", "formula_digits")
    ),
    ROOT / "lessons" / "results" / "explanation.py",
)
"""The modules that say something about a number."""


def test_each_sentence_has_a_computation_that_decides_it() -> None:
    """A new sentence, or other words for an old one, needs a row in `sentences.yaml`, and a look at what decides it."""
    found = (text for path in SAYING for text in interface_texts.texts_in(path.read_text(encoding="utf-8")))
    said = {text.id: tuple(filter(None, (text.text, text.plural))) for text in found}
    rows = sentences.table()
    assert {text_id: row.texts for text_id, row in rows.items()} == said
    assert {row.decided for row in rows.values()} <= set(deciders.DECIDERS)


def _item(value: float, formula: str, *operands: documents.Json, **more: object) -> documents.Json:
    fields = {"tensor": "r", "index": [0], "dtype": "float32", "op": "", "line": 3, "code": "r", "more": False}
    return {**fields, "value": value, "formula": formula, "operands": list(operands), "notes": [], **more}


ONE, TWO, ZERO = (_item(float(at), str(at), tensor=name) for at, name in ((1, "a"), (2, "b"), (0, "c")))

TOLD = [
    ("Something that was not recorded has changed this number. Here it was made 2.", ONE, "a.apply_(len)"),
    ("The record does not account for this value: what it holds comes to 2. Something that was not recorded has "
     "changed this number, or one that it was computed from.", ONE, "a.map_(b, max)"),
    ("Rounded to bfloat16.", _item(0.5, "bfloat16(a[0])", ONE), ""),
    ("Without rounding, these numbers would give 3. (bfloat16 keeps about 2 to 3 digits.)",
     _item(3.015625, "a[0] + b[0]", ONE, TWO, dtype="bfloat16"), ""),
    ("Without rounding, these numbers would give 1.3. (PyTorch rounds each result.)",
     _item(1.25, "a[0] * 1.3", ONE, dtype="float8_e4m3fn"), ""),
    ("Set to 1 here.", ONE, ""),
    ("Cut off to a whole number.", _item(1.0, "trunc(a[0])", ONE), ""),
    ("Masked on line 3: the mask is 1 here, so the value is replaced.",
     _item(2.0, "b[0] if a[0] else 5", ONE, TWO), ""),
    ("Divided by 4 - 1.", _item(1 / 3, "a[0] / 3.0", ONE), ""),
    ("The type uint8 holds 0 to 255; what is beyond starts again at the other end.",
     _item(1.0, "(a[0] * 257) % 256", ONE), ""),
    ("Number 0 came 1st.", _item(1.0, "a[0]", ONE), ""),
    ("This inf was born here. It was divided by 0.", _item(math.inf, "a[0] / c[0]", ONE, ZERO), ""),
    ("This NaN was born here. 0 / 0 is not a number.", _item(math.nan, "c[0] / c[0]", ZERO), ""),
    ("This inf was born here. The result is beyond the largest number of float16.",
     _item(math.inf, "a[0] * 70000", ONE, dtype="float16"), ""),
    ("Added up in 2 steps.", _item(4.0, "a[0] + b[0] + 1", ONE, TWO), ""),
    ("Set to 0: row 1, column 0 is not on or above the main diagonal.", _item(0.0, "0.0"), ""),
]  # fmt: skip
"""Sentences with a number and a program of which they are true."""

FALSE = [
    ("Something that was not recorded has changed this number. Here it was made 2.", ONE, "a.add_(1)"),
    ("Rounded to bfloat16.", _item(0.7071, "sqrt(0.5)", ONE), ""),
    ("Without rounding, these numbers would give 3. (bfloat16 keeps about 2 to 3 digits.)",
     _item(3.0, "a[0] + b[0]", ONE, TWO, dtype="bfloat16"), ""),
    ("Without rounding, these numbers would give 2. (float16 keeps about 7 digits.)",
     _item(3.0, "a[0] + b[0]", ONE, TWO), ""),
    ("Without rounding, these numbers would give 1.3. (PyTorch rounds each result.)",
     _item(1.28, "a[0] * 1.3", ONE, dtype="float8_e4m3fn"), ""),
    ("Set to 2 here.", ONE, ""),
    ("Cut off to a whole number.", _item(1.5, "1.5"), ""),
    ("Masked on line 4: the mask is 1 here, so the value is replaced.",
     _item(2.0, "b[0] if a[0] else 5", ONE, TWO), ""),
    ("Divided by 4 - 1.", _item(0.25, "a[0] / 4.0", ONE), ""),
    ("The type uint8 holds 0 to 127; what is beyond starts again at the other end.",
     _item(1.0, "(a[0] * 257) % 256", ONE), ""),
    ("Number 3 came 1st.", _item(1.0, "a[0]", ONE), ""),
    ("This inf was born here. It was divided by 0.", _item(math.inf, "a[0] * inf", ONE, TWO), ""),
    ("This NaN was born here. 0 / 0 is not a number.", _item(math.nan, "a[0] / 0 - b[0] / 0", ONE, TWO), ""),
    ("This inf was born here. The result is beyond the largest number of float32.",
     _item(math.inf, "a[0] * 70000", ONE, dtype="float32"), ""),
    ("Added up in 3 steps.", _item(4.0, "a[0] + b[0] + 1", ONE, TWO), ""),
    ("Set to 0: row 0, column 1 is not on or above the main diagonal.", _item(0.0, "0.0"), ""),
    ("It was dropped to save memory, and computing it again gave other numbers.", ONE, ""),
    ("A sentence that nobody has decided.", ONE, ""),
]  # fmt: skip


@pytest.mark.parametrize(("note", "item", "code"), TOLD)
def test_true_sentences_hold(note: str, item: documents.Json, code: str) -> None:
    assert sentences.problem(note, item, code, None) == ""


@pytest.mark.parametrize(("note", "item", "code"), FALSE)
def test_false_sentences_are_noticed(note: str, item: documents.Json, code: str) -> None:
    assert sentences.problem(note, item, code, None)


def test_draws_and_labels_are_compared_with_a_plain_run() -> None:
    plain = PlainRun("import torch\nz = torch.rand(3, device='meta')\nx = torch.randn(4)\nr = x.topk(2)[1] * 2\n")
    drawn = float(plain.namespace["x"][1])
    first, second = (f"Normal draw {at} of the 1st random operation after seed 123" for at in (1, 2))
    more = ", with mean 0 and standard deviation 1."
    assert sentences.problem(second + more, _item(drawn, repr(drawn)), "", plain) == ""
    assert sentences.problem(first + more, _item(drawn, repr(drawn)), "", plain)
    place = float(plain.namespace["x"].topk(2)[1][0])
    assert sentences.label_problem(_item(place, "", tensor="x.topk(2)[1]"), plain) == ""
    assert sentences.label_problem(_item(place + 1, "", tensor="x.topk(2)[1]"), plain)


def test_shared_memory_is_that_of_a_plain_run() -> None:
    """A word in the program is not enough: the tensors have to lie in one memory."""
    made = "p, q = (torch.frombuffer(buffer, dtype=torch.float32) for _ in 'ab')"
    code = f"import torch\nbuffer = bytearray(8)\n{made}\nr = torch.zeros(2)\n"
    plain = PlainRun(code)
    note = "The tensor {} has the same memory, and what is written through it is not followed."
    item = _item(0.0, "0.0", tensor="p")
    assert sentences.problem(note.format("q"), item, code, plain) == ""
    assert sentences.problem(note.format("r"), item, code, plain)
    assert sentences.problem(note.format("q"), item | {"tensor": "r"}, code, plain)


def test_numbers_that_count_are_all_below() -> None:
    plain = PlainRun("import torch\na = torch.ones(2)\nb = a.digamma()\n")
    note = "The operation f has no rule here. It took the numbers below; which of them count in this one is not known."
    first, second = (_item(1.0, "1.0", tensor="a", index=[at]) for at in range(2))
    made = {"tensor": "b", "code": "a.digamma()", "op": "digamma", "notes": [note]}
    assert sentences.problem(note, _item(-0.5772157, "-0.5772157", first, **made), "", plain) == ""
    assert sentences.problem(note, _item(-0.5772157, "-0.5772157", second, **made), "", plain)


def test_sparse_tensors_are_in_the_code_of_the_number() -> None:
    code = "import torch\na = torch.ones(2)\nb = a.to_sparse().sum()\nc = a.sum()\n"
    plain = PlainRun(code)
    note = "It took a tensor whose numbers are not recorded, such as a sparse one or zeros that take no memory."
    assert sentences.problem(note, _item(2.0, "2.0", code="a.to_sparse().sum()"), code, plain) == ""
    assert sentences.problem(note, _item(2.0, "2.0", code="a.sum()"), code, plain)


def test_operands_are_read_as_their_type_stores_them() -> None:
    """At seed 13, the digits of float32 were too coarse for the result of Adam, whose first digits cancel."""
    tenth = _item(0.1, "0.1", tensor="a")
    note = "Without rounding, these numbers would give 1.49012e-09. (float32 keeps about 7 digits.)"
    assert sentences.problem(note, _item(0.0, "a[0] - 0.1", tenth), "", None) == ""


@pytest.mark.parametrize("module", ["reader", "documents", "programs", "plain_run", "cases", "deciders", "sentences"])
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
