"""Where the code of one run is executed: its namespace, the record of what it did, the tensors that it has shown."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from lessons.format.template import FACT, Field
from lessons.results.code_unit import CodeUnit
from lessons.results.result import LONGEST_AXIS, MOST_AXES
from lessons.worker.explaining.explainer import Explainer
from lessons.worker.jobs import tensor_entries
from lessons.worker.jobs.cell_changes import CellWriter
from lessons.worker.jobs.execute import describe, execute
from lessons.worker.message_parts import CellWrite, ErrorReport, NamedExpression, TemplateField, TensorReport
from lessons.worker.recording.line_shapes import Line, ShapeCollector
from lessons.worker.recording.recorder import Recorder

PROSE = CodeUnit.internal("prose")


class RunState:
    """The state of a run.

    Attributes:
        namespace: what its code has defined.
        shown: the tensors that were shown, by what shows them and name.
        recorder: records all that its code does.
        explainer: answers questions about the record.
        patch: the cells that the learner has changed.
        lines: the shapes that the lines of the code that was run last took and made.
    """

    def __init__(self, cells: Sequence[CellWrite] = ()) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__lesson__"}
        self.shown: dict[tuple[CodeUnit, str], torch.Tensor] = {}
        self.recorder = Recorder()
        self.explainer = Explainer(self.recorder)
        self.patch = CellWriter(cells, self.namespace)
        self.lines: list[Line] = []

    def run(self, code: str, unit: CodeUnit) -> ErrorReport | None:
        """Run a piece of code under the recorder. Returns why it did not come to its end, if so."""
        file = unit.filename
        shapes = ShapeCollector(self.recorder.record, self.namespace, file, code)
        self.lines = shapes.lines

        def after(statement: ast.stmt) -> None:
            shapes.note(statement)
            with self.recorder.by_hand():
                self.patch.apply(unit, statement)
            self.recorder.name(self.namespace, statement)

        self.recorder.watch(file, code)
        with self.recorder:
            return execute(code, file, self.namespace, after)

    def show(
        self, unit: CodeUnit, specs: Sequence[NamedExpression], blob: bytearray
    ) -> tuple[tuple[TensorReport, ...], ErrorReport | None]:
        """Return the tensors that a step shows, up to the first that cannot be shown, and why it cannot.

        Adds their numbers to the blob.
        """
        reports: list[TensorReport] = []
        for spec in specs:
            file = unit.expression(spec.name).filename
            try:
                self.recorder.watch(file, spec.expression)
                with self.recorder:
                    tensor = as_tensor(eval(compile(spec.expression, file, "eval"), self.namespace))
                reports.append(self.show_tensor(unit, spec.name, tensor, blob))
            except BaseException as error:
                failure = describe(error, unit.filename)
                return tuple(reports), replace(failure, message=f"{spec.name} cannot be shown: {failure.message}")
        return tuple(reports), None

    def show_tensor(self, unit: CodeUnit, name: str, tensor: torch.Tensor, blob: bytearray) -> TensorReport:
        """Return a tensor as it travels, and take questions about it from now on. Adds its numbers to the blob."""
        self.explainer.show(unit, name, tensor)
        report = tensor_entries.entry(name, tensor, blob)
        self.shown[unit, name] = tensor
        return report

    def fill(self, fields: Sequence[TemplateField]) -> tuple[dict[str, str], ErrorReport | None]:
        """Return the values for the templates of a text, up to the first that cannot be had, and why that cannot."""
        text: dict[str, str] = {}
        for item in fields:
            field = Field(item.expression, item.conversion, item.spec)
            try:
                text[field.key] = field.format(eval(field.expression, self.namespace))
            except BaseException as error:
                failure = describe(error, PROSE.filename)
                where = "the answer" if field.conversion == FACT else "the prose"
                return text, replace(failure, message=f"{{{field.key}}} in {where}: {failure.message}")
        return text, None


def as_tensor(value: object) -> torch.Tensor:
    """A value that is to be shown as a tensor. Raises `TypeError` for what cannot be shown."""
    if isinstance(value, torch.Tensor):
        if value.is_complex():
            raise TypeError("its numbers are complex")
        if value.dim() > MOST_AXES or any(size > LONGEST_AXIS for size in value.shape):
            raise TypeError(f"its shape {tuple(value.shape)} is too large for a matrix")
        return value.detach()
    if isinstance(value, bool | int | float | list | tuple):
        return torch.tensor(value)
    raise TypeError(f"it is a {type(value).__name__}, not a tensor")
