"""Results as JSON: the form that scripts depend on."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from attn_tutor.lessons.render.numbers import exact
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.explanation_tree import Node
from attn_tutor.lessons.results.result import CheckResult, Failure, Judgement, NamedMistake, StepResult, Tensor
from attn_tutor.tui.commands import documents
from tests.lessons.lesson_builders import code_step, doubling_exercise, lesson_of, text_step


def tensor(values: tuple[float, ...] | None, shape: tuple[int, ...], dtype: str = "float32", name: str = "x") -> Tensor:
    labels = tuple(tuple(f"{axis}{index}" for index in range(size)) for axis, size in zip("abcd", shape, strict=False))
    axes = ("batch", "head", "query", "key")[-len(shape) :] if shape else ()
    return Tensor(name, "weight", dtype, shape, axes, labels, 0.0, 1.0, values)


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        ("bfloat16", 1.0078125, "1.0078"),
        ("float16", 0.300048828125, "0.3"),
        ("float32", 1.4754000902175903, "1.4754001"),
        ("float64", 1.4754000902175903, "1.4754000902175903"),
    ],
)
def test_digits_are_those_of_the_screen(dtype: str, value: float, text: str) -> None:
    explained = Node(Explanation("x", (0,), value, dtype, "literal", "", "", None, None, f.Number(value), ()))
    entry, values = documents.explanation(explained), documents.tensor(tensor((value,), (1,), dtype))["values"]
    assert exact(value, dtype) == text
    assert [json.dumps(entry["value"]), entry["formula"], json.dumps(values)] == [text, text, f"[{text}]"]


@pytest.mark.parametrize(
    ("values", "shape", "dtype", "expected"),
    [
        ((1.5,), (), "float32", 1.5),
        ((1,), (), "bool", True),
        ((1.0, 2.0), (2,), "float32", [1.0, 2.0]),
        ((0, 1), (2,), "bool", [False, True]),
        ((1, 2, 3, 4, 5, 6), (2, 3), "int64", [[1, 2, 3], [4, 5, 6]]),
        ((1, 2, 3, 4), (2, 1, 2), "int64", [[[1, 2]], [[3, 4]]]),
        ((), (0,), "float32", []),
        ((), (2, 0), "float32", [[], []]),
        ((), (0, 2), "float32", []),
        ((math.nan, -math.inf), (1, 2), "float32", [["nan", "-inf"]]),
    ],
)
def test_values_are_nested_like_the_tensor(
    values: tuple[float, ...], shape: tuple[int, ...], dtype: str, expected: Any
) -> None:
    nested = documents.tensor(tensor(values, shape, dtype))["values"]
    assert nested == expected
    assert repr(nested) == repr(expected)
    json.dumps(nested, allow_nan=False)


def test_tensor() -> None:
    assert documents.tensor(tensor((0.25, 0.75), (1, 2))) == {
        "shape": [1, 2],
        "dtype": "float32",
        "values": [[0.25, 0.75]],
        "rows": ["a0"],
        "cols": ["b0", "b1"],
        "axes": ["query", "key"],
        "kind": "weight",
    }


def test_tensor_without_rows_or_columns() -> None:
    vector, scalar = documents.tensor(tensor((1.0,), (1,))), documents.tensor(tensor((1.0,), ()))
    assert (vector["rows"], vector["cols"]) == ([], ["a0"])
    assert (scalar["rows"], scalar["cols"], scalar["shape"]) == ([], [], [])


def test_large_tensor_has_no_values() -> None:
    assert documents.tensor(tensor(None, (100, 100)))["values"] is None


LESSON = lesson_of(
    text_step("why", "Because of {x}."), code_step("one", "x = 1", "x", prose="{x:.1f}"), code_step("two", "y = 2"),
    doubling_exercise().model_dump(by_alias=True),
)  # fmt: skip
RESULTS = {
    "why": StepResult("why", text={"x": "it"}),
    "one": StepResult(
        "one", stdout="here\n", tensors=(tensor((1,), (1,), "int64"),), text={"x:.1f": "1.0"}, seconds=0.1
    ),
    "two": StepResult("two", error=Failure("error", "NameError", 3)),
}


def test_lesson() -> None:
    document = documents.lesson(LESSON, RESULTS)
    assert (document["lesson"], document["title"]) == ("made", "Made")
    why, one, two, task = document["steps"]
    assert [step["id"] for step in document["steps"]] == ["why", "one", "two", "doubling"]
    assert [step["kind"] for step in document["steps"]] == ["read", "run", "run", "exercise"]
    assert why == {
        "id": "why",
        "kind": "read",
        "title": "A text",
        "side": False,
        "prose": "Because of it.",
        "code": "",
        "stdout": "",
        "error": None,
        "notes": [],
        "shapes": [],
        "tensors": {},
    }
    assert (one["prose"], one["code"], one["stdout"], one["error"]) == ("1.0", "x = 1", "here\n", None)
    assert one["tensors"] == {"x": documents.tensor(RESULTS["one"].tensors[0])}
    assert two["error"] == {"kind": "error", "message": "NameError", "line": 3}
    assert (task["stdout"], task["error"], task["tensors"]) == ("", None, {})
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_one_step_of_a_lesson() -> None:
    document = documents.lesson(LESSON, RESULTS, "two")
    assert [step["id"] for step in document["steps"]] == ["two"]


def test_a_step_that_was_not_reached_is_empty() -> None:
    document = documents.lesson(LESSON, {})
    assert all((step["stdout"], step["error"], step["tensors"]) == ("", None, {}) for step in document["steps"])
    assert document["steps"][0]["prose"] == "Because of …."


def test_judgement() -> None:
    checks = (CheckResult("shape", True), CheckResult("values", False, "They differ."))
    named = (NamedMistake("m34", "something", "It is wrong.", 3), NamedMistake("m35", "more", "So is this."))
    given = Judgement("one", "failed", "values: They differ.", 3, named, None, checks, 0.25, "printed\n", 7)
    document = documents.judgement(given)
    assert document == {
        "exercise": "one",
        "passed": False,
        "verdict": "failed",
        "message": "values: They differ.",
        "line": 3,
        "mistake": "m34+m35",
        "mistakes": [
            {"id": "m34", "name": "something", "text": "It is wrong.", "line": 3},
            {"id": "m35", "name": "more", "text": "So is this.", "line": None},
        ],
        "difference": None,
        "seed": 7,
        "checks": [
            {"name": "shape", "passed": True, "message": ""},
            {"name": "values", "passed": False, "message": "They differ."},
        ],
        "seconds": 0.25,
        "stdout": "printed\n",
    }


def test_passed_judgement() -> None:
    document = documents.judgement(Judgement("one", "passed", "All checks pass."))
    assert (document["passed"], document["line"], document["mistake"], document["checks"]) == (True, None, None, [])
