"""Code that runs under the recorder in this process, and checks of the explanations of its numbers."""

from __future__ import annotations

import ast
import itertools
import math
import textwrap
from collections.abc import Iterator
from typing import Any

import torch

from attn_tutor.lessons.process import stand_ins
from attn_tutor.lessons.results import explanation as x
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.jobs.execute import execute
from attn_tutor.lessons.worker.recording.recorder import Recorder

# As in the worker: several threads gain nothing on small tensors, and wait for each other where other tests run too.
torch.set_num_threads(1)
# Also as in the worker: an optimizer would import torch's compiler, which takes longer than any test that has one.
stand_ins.install()

SAMPLE = 4096
"""The largest number of cells that are all checked; in a larger tensor only a few are."""

MOST_OPERANDS = 2000
"""The number of operands in the explanations of one tensor, above which its cells are checked in steps."""

WIDE = 3
"""The number of operands that are followed if an explanation has far more."""

MOST_WIDE = 100
"""The number of such explanations that are followed in one run."""

Index = tuple[int, ...]
CODE = CodeUnit.step("code")
"""The code unit of the code that a test runs."""


class Traced:
    """A recorded run whose cells can be explained. Raises `AssertionError` for code that fails."""

    def __init__(self, source: str = "", *, most_behind: int | None = None, **limits: int) -> None:
        self.most_behind = most_behind
        self.recorder = Recorder(**limits)
        self.explainer = Explainer(self.recorder)
        self.namespace: dict[str, Any] = {"__name__": "__lesson__", "torch": torch}
        self.checked: set[tuple[int, int, int]] = set()
        self.shown: set[str] = set()
        self.wide = 0
        if source:
            self.run(source)

    @classmethod
    def under(cls, recorder: Recorder, source: str) -> Traced:
        """Run a piece of code under another recorder."""
        traced = cls()
        traced.recorder, traced.explainer = recorder, Explainer(recorder)
        traced.run(source)
        return traced

    def run(self, source: str, name: str = "code") -> None:
        """Run a piece of code."""
        source = textwrap.dedent(source)

        def after(statement: ast.stmt) -> None:
            self.recorder.naming.name(self.namespace, statement)

        self.recorder.watch(f"<{name}>", source)
        with self.recorder:
            failure = execute(source, f"<{name}>", self.namespace, after)
        assert failure is None, failure

    def explain(self, name: str, *index: int) -> x.Explanation:
        """Explain a cell of a variable as it is now, or as it was when `keep` was called."""
        if name not in self.shown:
            self.explainer.show(CODE, name, self.namespace[name])
        return x.of_json(self.explainer.ask(CODE, name, index))

    def keep(self, name: str) -> None:
        """Show a variable as it is now, for later explanations."""
        self.explainer.show(CODE, name, self.namespace[name])
        self.shown.add(name)

    def follow(self, operand: x.Operand) -> x.Explanation:
        """Explain an operand."""
        return x.of_json(self.explainer.follow(operand.ref))

    def check(self, step: str, name: str, tensor: torch.Tensor) -> tuple[int, int]:
        """Check the cells of a tensor down to the leaves; return the numbers of its cells and of all explanations.

        All cells are checked, unless they are very many or made of very many operands; and behind them all numbers, or
        the first `most_behind`.
        """
        unit = CodeUnit.step(step)
        self.explainer.show(unit, name, tensor)
        count = len(self.checked)
        cells, every = list(indices(tuple(tensor.shape))), 1
        for number, index in enumerate(cells):
            if number % every:
                continue
            explanation = x.of_json(self.explainer.ask(unit, name, index))
            true = float(tensor.detach()[index])
            value = explanation.value
            assert value is not None
            assert value == true or (math.isnan(true) and math.isnan(value)), (name, index)
            # An odd step, and so all columns and all rows, where the width of the tensor is even.
            every = max(every, len(cells) * len(explanation.operands) // MOST_OPERANDS | 1)
            self._down(explanation, count)
        return len(cells), len(self.checked) - count

    def check_all(self, *names: str) -> None:
        """Check all cells of these variables."""
        for name in names:
            self.check("code", name, self.namespace[name])

    def _down(self, explanation: x.Explanation, before: int) -> None:
        """Check an explanation and what is behind it, where `before` numbers had been checked before its tensor."""
        pending = [explanation]
        while pending:
            current = pending.pop()
            assert_true(current)
            if self.most_behind is not None and len(self.checked) - before >= self.most_behind:
                continue
            self.wide += len(current.operands) > 16 * WIDE
            if self.wide > MOST_WIDE:
                continue
            # Behind a number of GPT-2's size stand millions: of many operands some are followed.
            step = max(1, len(current.operands) // WIDE)
            for operand in current.operands[::step] if len(current.operands) > 16 * WIDE else current.operands:
                element = self.explainer._asked[operand.ref][0]
                writer = self.explainer.history.writer(element)
                key = (element.storage, element.offset, writer.time if writer else 0)
                if key not in self.checked:
                    self.checked.add(key)
                    pending.append(self.follow(operand))


def indices(shape: Index) -> Iterator[Index]:
    """Return all indices of a small tensor, or a few of a large one."""
    if math.prod(shape) <= SAMPLE:
        return itertools.product(*map(range, shape))
    return itertools.product(*(sorted({size // 3, size - 1}) for size in shape))


def assert_true(explanation: x.Explanation) -> None:
    """Assert that the formula of an explanation evaluates to its value, and that no two cells share a label."""
    assert explanation.op not in ("unrecorded", "view"), explanation
    assert explanation.value is not None
    got = f.evaluate(explanation.formula, explanation.values)
    precision = {"bfloat16": 2.0**-8, "float16": 2.0**-11}.get(explanation.dtype, 2e-6)
    largest = LARGEST_HALF if explanation.dtype == "float16" else LARGEST
    assert is_close(got, explanation.value, scale(explanation), precision, largest), (
        explanation.label,
        explanation.value,
        x.python(explanation),
        explanation.values,
    )
    labels = [explanation.label, *(operand.label for operand in explanation.operands)]
    assert len(set(labels)) == len(labels), (explanation.label, labels)


def scale(explanation: x.Explanation) -> float:
    """Return the magnitude of the numbers that add up to a value, since rounding is relative to them."""
    formula = explanation.formula
    parts = formula.parts if isinstance(formula, f.Op) else (formula,)
    values = explanation.values
    sizes = [abs(f.evaluate(part, values)) for part in parts]
    # A relative error of what a logarithm is taken of is an absolute one of the logarithm.
    sizes += [1.0 for part in parts if isinstance(part, f.Op) and part.op == "log"]
    return max([size for size in sizes if math.isfinite(size)], default=0.0) * max(1, math.sqrt(len(sizes)))


LARGEST, LARGEST_HALF = 3.4e38, 65504.0
"""What overflows beyond these becomes infinity: in single precision and in bfloat16, and in half precision."""


def is_close(got: float, value: float, size: float = 0.0, precision: float = 2e-6, largest: float = LARGEST) -> bool:
    """Return whether two numbers are the same up to rounding, by default that of single precision."""
    if math.isnan(value):
        return math.isnan(got)
    if math.isinf(value):
        return got == value or (abs(got) > largest and (got > 0) == (value > 0))
    return abs(got - value) <= precision * max(abs(value), size) + 1e-37
