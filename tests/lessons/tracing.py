"""Run code under the recorder in this process, and check what is told about it."""

from __future__ import annotations

import ast
import itertools
import math
import textwrap
from collections.abc import Iterator
from typing import Any

import torch

from lessons.results import explanation as x
from lessons.results import formula as f
from lessons.results.code_unit import CodeUnit
from lessons.worker.explaining.explainer import Explainer
from lessons.worker.jobs.execute import execute
from lessons.worker.recording.recorder import KEEP, MOST_EVENTS, Recorder

SAMPLE = 4096
"""Cells of a tensor up to which all are checked."""

WIDE = 3
"""Operands that are followed of those that have far more."""

MOST_WIDE = 300
"""Numbers with so many operands that are followed in one run."""

Index = tuple[int, ...]
UNIT = CodeUnit.step("code")
"""What the code is called."""


class Traced:
    """A run whose cells can be asked about. Raises `AssertionError` for code that fails."""

    def __init__(self, source: str = "", *, keep: int = KEEP, most: int = MOST_EVENTS) -> None:
        self.recorder = Recorder(keep, most)
        self.explainer = Explainer(self.recorder)
        self.namespace: dict[str, Any] = {"__name__": "__lesson__", "torch": torch}
        self.checked: set[tuple[int, int, int]] = set()
        self.shown: set[str] = set()
        self.wide = 0
        if source:
            self.run(source)

    def run(self, source: str, name: str = "code") -> None:
        """Run a piece of code."""
        source = textwrap.dedent(source)

        def after(statement: ast.stmt) -> None:
            self.recorder.name(self.namespace, statement)

        self.recorder.watch(f"<{name}>", source)
        with self.recorder:
            failure = execute(source, f"<{name}>", self.namespace, after)
        assert failure is None, failure

    def tell(self, name: str, *index: int) -> x.Explanation:
        """The explanation of a cell of a variable, as it is now."""
        if name not in self.shown:
            self.explainer.show(UNIT, name, self.namespace[name])
        return x.of_json(self.explainer.ask(UNIT, name, index))

    def keep(self, name: str) -> None:
        """Show a variable as it is now."""
        self.explainer.show(UNIT, name, self.namespace[name])
        self.shown.add(name)

    def follow(self, operand: x.Operand) -> x.Explanation:
        """The explanation of an operand."""
        return x.of_json(self.explainer.follow(operand.ref))

    def check(self, step: str, name: str, tensor: torch.Tensor) -> tuple[int, int]:
        """Check all cells of a tensor down to the leaves; gives the numbers of its cells and of all explanations."""
        unit = CodeUnit.step(step)
        self.explainer.show(unit, name, tensor)
        count = len(self.checked)
        cells = 0
        for index in indices(tuple(tensor.shape)):
            told = x.of_json(self.explainer.ask(unit, name, index))
            true = float(tensor.detach()[index])
            assert told.value == true or (math.isnan(true) and math.isnan(told.value)), (name, index)
            cells += 1
            self._down(told)
        return cells, len(self.checked) - count

    def check_all(self, *names: str) -> None:
        """Check all cells of these variables."""
        for name in names:
            self.check("code", name, self.namespace[name])

    def _down(self, told: x.Explanation) -> None:
        todo = [told]
        while todo:
            one = todo.pop()
            assert_true(one)
            self.wide += len(one.operands) > 16 * WIDE
            if self.wide > MOST_WIDE:
                continue
            # Behind a number of GPT-2's size stand millions: of many operands some are followed.
            step = max(1, len(one.operands) // WIDE)
            for operand in one.operands[::step] if len(one.operands) > 16 * WIDE else one.operands:
                element = self.explainer._asked[operand.ref][0]
                writer = self.explainer.history.writer(element)
                key = (element.storage, element.offset, writer.time if writer else 0)
                if key not in self.checked:
                    self.checked.add(key)
                    todo.append(self.follow(operand))


def indices(shape: Index) -> Iterator[Index]:
    """All indices of a tensor; of a large one a few."""
    if math.prod(shape) <= SAMPLE:
        return itertools.product(*map(range, shape))
    return itertools.product(*(sorted({size // 3, size - 1}) for size in shape))


def assert_true(told: x.Explanation) -> None:
    """What an explanation says of itself: the formula comes to the value, no two cells share a label."""
    assert told.op not in ("unrecorded", "view"), told
    got = f.evaluate(told.formula, told.values)
    rough = {"bfloat16": 2.0**-8, "float16": 2.0**-11}.get(told.dtype, 2e-6)
    assert same(got, told.value, scale(told), rough), (told.label, told.value, x.python(told), told.values)
    labels = [told.label, *(operand.label for operand in told.operands)]
    assert len(set(labels)) == len(labels), (told.label, labels)


def scale(told: x.Explanation) -> float:
    """How large the numbers are that add up to a value: rounding is relative to them."""
    formula = told.formula
    parts = formula.parts if isinstance(formula, f.Op) else (formula,)
    values = told.values
    sizes = [abs(f.evaluate(part, values)) for part in parts]
    return max([size for size in sizes if math.isfinite(size)], default=0.0) * max(1, math.sqrt(len(sizes)))


def same(got: float, value: float, size: float = 0.0, rough: float = 2e-6) -> bool:
    """Whether two numbers are the same up to rounding, by default that of single precision."""
    if math.isnan(value):
        return math.isnan(got)
    if math.isinf(value):
        return got == value or abs(got) > 3.4e38
    return abs(got - value) <= rough * max(abs(value), size) + 1e-37
