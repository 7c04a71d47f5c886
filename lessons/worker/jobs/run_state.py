"""Where the code of one run is executed: its namespace, the record of what it did, the tensors that it has shown."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import torch

from lessons.format.template import FACT, Field
from lessons.results.result import LONGEST_AXIS, MOST_AXES
from lessons.worker.explaining.explainer import Explainer
from lessons.worker.jobs import tensor_entries
from lessons.worker.jobs.cell_changes import CellWriter
from lessons.worker.jobs.execute import Failed, describe, execute
from lessons.worker.recording.line_shapes import Line, ShapeCollector
from lessons.worker.recording.recorder import Recorder


class RunState:
    """The state of a run.

    Attributes:
        namespace: what its code has defined.
        kept: the tensors that were shown, by step and name.
        recorder: records all that its code does.
        explainer: answers questions about the record.
        patch: the cells that the learner has changed.
        lines: the shapes that the lines of the code that was run last took and made.
    """

    def __init__(self, cells: Sequence[dict[str, Any]] = ()) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__lesson__"}
        self.kept: dict[tuple[str, str], torch.Tensor] = {}
        self.recorder = Recorder()
        self.explainer = Explainer(self.recorder)
        self.patch = CellWriter(cells, self.namespace)
        self.lines: list[Line] = []

    def run(self, code: str, place: str) -> Failed | None:
        """Run a piece of code under the recorder; `place` is what it is called, `setup` or the id of a step."""
        ribbon = ShapeCollector(self.recorder.record, self.namespace, f"<{place}>", code)
        self.lines = ribbon.lines

        def after(statement: ast.stmt) -> None:
            ribbon.note(statement)
            with self.recorder.by_hand():
                self.patch.apply(place, statement)
            self.recorder.name(self.namespace, statement)

        self.recorder.watch(f"<{place}>", code)
        with self.recorder:
            return execute(code, f"<{place}>", self.namespace, after)

    def show(self, step: str, specs: Sequence[dict[str, str]], blob: bytearray) -> tuple[list[Any], Failed | None]:
        """The tensors that a step shows, as they travel, up to the first that cannot be shown. Adds to the blob."""
        entries: list[dict[str, Any]] = []
        for spec in specs:
            place = f"<{step}: {spec['name']}>"
            try:
                self.recorder.watch(place, spec["expr"])
                with self.recorder:
                    tensor = as_tensor(eval(compile(spec["expr"], place, "eval"), self.namespace))
                self.explainer.show(step, spec["name"], tensor)
                entry = tensor_entries.entry(spec["name"], tensor, blob)
            except BaseException as error:
                failure = describe(error, f"<{step}>")
                failure["message"] = f"{spec['name']} cannot be shown: {failure['message']}"
                return entries, failure
            self.kept[step, spec["name"]] = tensor
            entries.append(entry)
        return entries, None

    def fill(self, fields: Sequence[dict[str, str]]) -> tuple[dict[str, str], Failed | None]:
        """The values for the templates of a text."""
        text: dict[str, str] = {}
        for item in fields:
            field = Field(item["expression"], item["conversion"], item["spec"])
            try:
                text[field.key] = field.format(eval(field.expression, self.namespace))
            except BaseException as error:
                failure = describe(error, "<prose>")
                where = "the answer" if field.conversion == FACT else "the prose"
                failure["message"] = f"{{{field.key}}} in {where}: {failure['message']}"
                return text, failure
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
