"""Results as JSON documents: what the commands print with `--json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from attn_tutor.lessons.engine.questions import answer_forms, question_words
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.knobs import Knob
from attn_tutor.lessons.format.lesson import (
    Lesson,
    Step,
)
from attn_tutor.lessons.render import formula_digits
from attn_tutor.lessons.results import exact_formula, line_shapes
from attn_tutor.lessons.results.explanation import Operand, python
from attn_tutor.lessons.results.explanation_tree import Node
from attn_tutor.lessons.results.floats import json_lists, json_number, shortest
from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.result import AnswerDifference, Failure, Judgement, StepResult, Tensor
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes, apply

Json = dict[str, Any]


def tensor(value: Tensor) -> Json:
    """Return a tensor: shape, dtype, values (None above `WHOLE` elements), and the labels of rows and columns.

    A tensor that is drawn as memory has a `layout` too: where its elements lie in their storage.
    """
    entry: Json = {
        "shape": list(value.shape),
        "dtype": value.dtype,
        "values": None if value.values is None else json_lists(value.values, value.shape, value.dtype),
        "rows": list(value.row_labels),
        "cols": list(value.col_labels),
        "axes": list(value.axes),
        "kind": value.kind,
    }
    if value.layout is not None:
        entry["layout"] = asdict(value.layout) | {"strides": list(value.layout.strides)}
    return entry


def failure(value: Failure | None) -> Json | None:
    """Return a failure as a document, None for none."""
    return None if value is None else {"kind": value.kind, "message": value.message, "line": value.line}


def step(spec: Step, result: StepResult | None) -> Json:
    """Return one step of a lesson and what its run gave.

    For a step that trains, the document also has the code of the training and, in `trained`, whose training was used:
    "own", "course" or "missing".
    """
    result = result or StepResult(spec.id)
    entry = {
        "id": spec.id,
        "kind": spec.kind,
        "title": spec.title,
        "side": spec.side,
        "prose": template.fill(spec.prose, result.text),
        "code": spec.run_code,
        "stdout": result.stdout,
        "error": failure(result.error),
        "notes": list(result.notes),
        "shapes": line_shapes.to_json(result.shapes),
        "tensors": {shown.name: tensor(shown) for shown in result.tensors},
    }
    if spec.is_exercise:
        entry["exercise"] = spec.exercise_id
    if how := answer_forms.how_to_answer(spec, result):
        entry["answer"] = how
    if options := question_words.choices(spec, result):
        entry["options"] = [choice.text for choice in options]
    return entry | spec.own_data(result.trained)


def lesson(spec: Lesson, results: dict[str, StepResult], only: str | None = None, changes: Changes = UNCHANGED) -> Json:
    """Return a lesson, or one of its steps, as the learner has changed it, and what its run gave."""
    steps = [item for item in apply(spec, changes).steps if only in (None, item.id)]
    return {
        "lesson": spec.id,
        "title": spec.title,
        "changes": {
            "knobs": changes.settings,
            "cells": [
                {"step": cell.step, "name": cell.name, "index": list(cell.index), "value": json_number(cell.value)}
                for cell in changes.cells
            ],
        },
        "steps": [step(item, results.get(item.id)) for item in steps],
    }


def knob(spec: Lesson, item: Knob) -> Json:
    """Return a knob: its kind, what it can be set to, and the steps whose code it changes."""
    return {
        "name": item.name,
        "kind": item.kind,
        "label": item.label,
        "default": item.initial(spec),
        "places": list(item.changed_parts(spec)),
        **item.limits(),
    }


def explanation(node: Node, exactly: bool = False) -> Json:
    """Return how a number was computed, and in `operands` the same for each of its operands.

    The value and the formula of a number that nobody knows any more are None. `formula` is Python over the labels of
    the operands (`exp`, `sqrt`, `max`, ... are functions, `float32` rounds to that type); for a leaf it is the value.
    `more` says that the operands of a number are left out, because the tree is cut off at that depth. Values have as
    few digits as identify them in their type, or all (`exactly`) where the formula above depends on them.
    """
    value = node.explanation
    known = value.value
    shown = known if exactly or known is None else shortest(known, value.dtype)
    short = [shortest(operand.value, operand.dtype) for operand in value.operands]
    below = exact_formula.needs_exact_operands(value.formula, short, value.values, value.dtype)
    remark = formula_digits.digits(value).remark or formula_digits.rounding_remark(value)
    return {
        "tensor": value.name,
        "index": list(value.index),
        "value": None if shown is None else json_number(shown),
        "dtype": value.dtype,
        "op": value.op,
        "formula": None if shown is None else repr(shown) if value.leaf else python(value),
        "line": value.line,
        "file": value.file,
        "code": value.code,
        "notes": [*value.notes, *([remark] if remark else [])],
        "operands": [_operand(item, below) for item in (value.operands if node.operands is None else node.operands)],
        "more": False,
    }


def _operand(value: Operand | Node, exactly: bool) -> Json:
    """Return an operand. Where the tree was cut off, its formula is its value."""
    if isinstance(value, Node):
        return explanation(value, exactly)
    shown = value.value if exactly else shortest(value.value, value.dtype)
    return {
        "tensor": value.name,
        "index": list(value.index),
        "value": json_number(shown),
        "dtype": value.dtype,
        "op": "",
        "formula": repr(shown),
        "line": None,
        "file": "",
        "code": "",
        "notes": [],
        "operands": [],
        "more": not value.leaf,
    }


def flow(value: Flow) -> Json:
    """Return the boxes of a run in the order of computation, each with the ids of those that it was computed from.

    `again` are those of them that come later, as in a loop: they were read when the code ran once more. `parent` is the
    id of the open box that a box is inside of, `loops` says that it goes on from an earlier value of itself. In
    `opened` are the boxes that were opened, in place of which stand the boxes inside.
    """
    return {
        "boxes": [
            {
                "id": box.id,
                "name": box.name,
                "shape": None if box.shape is None else list(box.shape),
                "dtype": box.dtype,
                "low": None if box.low is None else json_number(box.low),
                "high": None if box.high is None else json_number(box.high),
                "from": list(value.sources(box.id)),
                "again": list(value.sources_again(box.id)),
                "code": box.code,
                "file": box.unit,
                "line": box.line,
                "times": box.times,
                "operations": box.operations,
                "opens": box.opens,
                "parent": box.parent or None,
                "shown": list(box.shown),
                "loops": box.loops,
            }
            for box in value.boxes
        ],
        "opened": [
            {"id": box.id, "name": box.name, "code": box.code, "parent": box.parent or None} for box in value.opened
        ],
        "left_out": value.left_out,
    }


def difference(value: AnswerDifference | None) -> Json | None:
    """Return where an answer departs from the model answer, None if that is not known."""
    if value is None:
        return None
    return {
        "name": value.name,
        "line": value.line,
        "yours": tensor(value.yours),
        "expected": tensor(value.expected),
        "agreed": list(value.agreed),
    }


def judgement(value: Judgement) -> Json:
    """Return the verdict on an answer."""
    return {
        "exercise": value.exercise,
        "passed": value.passed,
        "verdict": value.verdict,
        "message": value.message,
        "line": value.line,
        "mistake": "+".join(item.id for item in value.mistakes) or None,
        "mistakes": [
            {"id": item.id, "name": item.name, "text": item.text, "line": item.line} for item in value.mistakes
        ],
        "difference": difference(value.difference),
        "seed": value.seed,
        "checks": [{"name": item.name, "passed": item.passed, "message": item.message} for item in value.checks],
        "seconds": value.seconds,
        "stdout": value.stdout,
    }
