"""The state of a run: its namespace, the record of its operations, the tensors that it has shown."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import torch

from attn_tutor.lessons.format.template import FACT, Field
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.line_shapes import LineReport
from attn_tutor.lessons.results.result import LONGEST_AXIS, MOST_AXES, Failure
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.jobs import tensor_entries
from attn_tutor.lessons.worker.jobs.cell_changes import CellWriter
from attn_tutor.lessons.worker.jobs.execute import Described, describe, execute, new_namespace
from attn_tutor.lessons.worker.message_parts import CellWrite, NamedExpression, TensorReport
from attn_tutor.lessons.worker.recording.line_shapes import ShapeCollector
from attn_tutor.lessons.worker.recording.recorder import Recorder
from attn_tutor.lessons.worker.recording.regions import Region, unlisted_kind

say = Wording("worker/run-state")

LARGEST_COPY = 256 << 20
"""Bytes of a tensor up to which a copy of it is kept to be shown."""

PROSE = CodeUnit.internal("prose")


class RunState:
    """The state of a run.

    Attributes:
        namespace: the variables of its code.
        shown: the tensors that were shown, by the unit of code that shows them and their name.
        recorder: the recorder of its operations.
        explainer: the explainer of recorded numbers.
        cell_writer: writes the cells that the learner has changed.
        lines: the shapes of the operands and results of each line, for the code that was run last.
        named: tensors that can be asked for by a label, each with the time at which it had its values.
        ends: the labels of variables of an earlier call of a function, each with the time at which that returned.
    """

    def __init__(
        self, cells: Sequence[CellWrite] = (), module: str = "__lesson__", recorder: Recorder | None = None
    ) -> None:
        self.namespace = new_namespace(module)
        self.shown: dict[tuple[CodeUnit, str], torch.Tensor] = {}
        self.recorder = Recorder() if recorder is None else recorder
        self.explainer = Explainer(self.recorder)
        self.cell_writer = CellWriter(cells, self.namespace, self.recorder.by_hand)
        self.lines: list[LineReport] = []
        self.named: dict[str, tuple[Region, int]] = {}
        self.ends: dict[str, int] = {}

    def run(self, code: str, unit: CodeUnit, described: Described = describe) -> Failure | None:
        """Run a piece of code under the recorder. Returns the failure, as it is `described`, if it did not complete."""
        file = unit.filename
        shapes = ShapeCollector(self.recorder.record, self.namespace, file, code)
        self.lines = shapes.lines

        def after(statement: ast.stmt) -> None:
            shapes.note(statement)
            self.cell_writer.apply(unit, statement)
            self.recorder.naming.name(self.namespace, statement)

        self.recorder.watch(file, code)
        with self.recorder:
            return execute(code, file, self.namespace, after, described, partial(self.cell_writer.insert, unit))

    def show(
        self, unit: CodeUnit, specs: Sequence[NamedExpression], blob: bytearray
    ) -> tuple[tuple[TensorReport, ...], Failure | None]:
        """Report the tensors that a step shows, up to the first that cannot be shown, and the failure of that one.

        Appends their numbers to `blob`.
        """
        reports: list[TensorReport] = []
        for spec in specs:
            try:
                tensor = self.evaluate(unit.expression(spec.name), spec.expression)
                reports.append(self.show_tensor(unit, spec.name, tensor, blob))
            except BaseException as error:
                failure = describe(error, unit.filename)
                message = say("not-shown", "{name} cannot be shown: {why}", name=spec.name, why=failure.message)
                return tuple(reports), replace(failure, message=message)
        return tuple(reports), None

    def evaluate(self, unit: CodeUnit, expression: str) -> torch.Tensor:
        """Return the tensor that an expression gives; `unit` is the name under which it is recorded."""
        self.recorder.watch(unit.filename, expression)
        with self.recorder:
            return as_tensor(eval(compile(expression, unit.filename, "eval"), self.namespace))

    def show_named(self, unit: CodeUnit, name: str, blob: bytearray) -> TensorReport:
        """Report a tensor by its label, or the value of an expression, as `show_tensor` does.

        Raises `ValueLost`, `TypeError`, or whatever the expression raises.
        """
        value = self.namespace.get(name)
        if isinstance(value, torch.Tensor):
            # It may have another shape than when it got its name.
            return self.show_tensor(unit, name, as_tensor(value), blob)
        if name not in self.named:
            return self.show_tensor(unit, name, self.evaluate(unit.expression(name), name), blob)
        region, time = self.named[name]
        # A tensor that may be larger than the memory cannot be kept as it was at that time.
        copy = region.size * region.dtype.itemsize <= LARGEST_COPY
        tensor = in_parts(as_tensor(self.explainer.history.tensor(region, time, copy=copy)))
        self.explainer.show_region(unit, name, region, time)
        self.shown[unit, name] = tensor
        return tensor_entries.entry(name, tensor, blob)

    def end_of(self, unit: CodeUnit | None) -> int | None:
        """Return when the earlier call had returned whose variables a unit shows; None if it shows no such ones."""
        names = (name for name, _ in self.explainer.shown_regions(unit))
        return max((self.ends[name] for name in names if name in self.ends), default=None)

    def show_tensor(self, unit: CodeUnit, name: str, tensor: torch.Tensor, blob: bytearray) -> TensorReport:
        """Report a tensor, and accept questions about it from now on. Appends its numbers to `blob`."""
        self.explainer.show(unit, name, tensor)
        tensor = in_parts(tensor)
        report = tensor_entries.entry(name, tensor, blob)
        self.shown[unit, name] = tensor
        return report

    def fill(self, fields: Sequence[Field]) -> tuple[dict[str, str], Failure | None]:
        """Return the values for the fields of a text, up to the first that cannot be computed, and its failure."""
        text: dict[str, str] = {}
        for field in fields:
            try:
                text[field.key] = field.format(eval(field.expression, self.namespace))
            except BaseException as error:
                if field.optional and isinstance(error, Exception):
                    continue
                failure = describe(error, PROSE.filename)
                message = (
                    say("in-answer", "{field} in the answer: {why}", field=f"{{{field.key}}}", why=failure.message)
                    if field.conversion == FACT
                    else say("in-prose", "{field} in the prose: {why}", field=f"{{{field.key}}}", why=failure.message)
                )
                return text, replace(failure, message=message)
        return text, None


def in_parts(tensor: torch.Tensor) -> torch.Tensor:
    """Return a complex tensor with one more axis, for the real and the imaginary part; any other tensor as it is."""
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def as_tensor(value: object) -> torch.Tensor:
    """Convert a value to a tensor that can be shown. Raises `TypeError` if that is not possible."""
    if isinstance(value, torch.Tensor):
        if kind := unlisted_kind(value):
            raise TypeError(say("other-kind", "it is {kind}, and no plain table of numbers", kind=kind))
        if value.is_conj():
            raise TypeError(say("conjugated", "its numbers are complex, and only marked as conjugated"))
        if value.dim() > MOST_AXES or any(size > LONGEST_AXIS for size in value.shape):
            shape = tuple(value.shape)
            raise TypeError(say("too-large", "its shape {shape} is too large for a matrix", shape=shape))
        return value.detach().resolve_neg()
    if isinstance(value, bool | int | float | list | tuple):
        return torch.tensor(value)
    raise TypeError(say("no-tensor", "it is a {type}, not a tensor", type=type(value).__name__))
