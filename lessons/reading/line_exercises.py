"""How exercises in one line are judged that have no probe and no checks of their own: data beside the mistakes."""

from __future__ import annotations

import ast
import functools
from typing import Any

from attn_tutor.lessons.format.exercises import ExerciseStep
from attn_tutor.lessons.reading import yaml_nodes
from attn_tutor.lessons.reading.folders import MISTAKES

FILE = MISTAKES / "checks" / "line.yaml"
FUNCTION, ARGUMENTS = "FUNCTION", "ARGUMENTS"
"""The names in the probe that stand for the function of the exercise and for the hidden inputs that it is given."""


def fill_in_line(step: Any) -> None:
    """Give the data of an exercise in one line a probe and checks, if it has none of its own."""
    # Checks read what the probe gives: a step that has one of the two must have both.
    if not isinstance(step, dict) or step.get("form") != "line" or "probe" in step or "checks" in step:
        return
    defined = step.get("defines")
    if isinstance(defined, list) and defined and str(defined[0]).isidentifier():
        step.update(probe=_probe(str(defined[0]), str(step.get("solution"))), checks=_read()["checks"])


def has_shared_probe(step: ExerciseStep) -> bool:
    """Return whether an exercise is judged by what `fill_in` has given it."""
    return step.form == "line" and step.probe == _probe(step.defines[0], step.solution)


def gap_line(starter: str, answer: str) -> int | None:
    """Return the line of an answer that fills the gap of a starter; None if more than this line was changed."""
    given, lines = starter.rstrip().splitlines(), answer.rstrip().splitlines()
    at = next((index for index, line in enumerate(given) if "..." in line), None)
    if at is None or len(lines) != len(given):
        return None
    return at + 1 if [*given[:at], *given[at + 1 :]] == [*lines[:at], *lines[at + 1 :]] else None


def shared_checks() -> list[dict[str, Any]]:
    """Return the data of the checks that exercises in one line have if they give none. Raises `LessonError`."""
    checks: list[dict[str, Any]] = _read()["checks"]
    return checks


def _probe(function: str, solution: str) -> str:
    """Return the probe of a function, which it gives the hidden inputs that the model answer takes, in their order."""
    probe: str = _read()["probe"]
    arguments = ", ".join(f"context.{name}" for name in _arguments(function, solution))
    return probe.replace(FUNCTION, function).replace(ARGUMENTS, arguments)


def _arguments(function: str, solution: str) -> list[str]:
    """Return the names of what a function takes; none if the program has no such function."""
    try:
        tree = ast.parse(solution)
    except SyntaxError:
        return []
    found = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function)
    return [argument.arg for node in found for argument in node.args.args]


@functools.cache
def _read() -> dict[str, Any]:
    """Return the probe and the checks. Raises `LessonError` if the file cannot be read."""
    data = yaml_nodes.data_of(yaml_nodes.parse(yaml_nodes.read(FILE), str(FILE)))
    assert isinstance(data, dict)
    return data
