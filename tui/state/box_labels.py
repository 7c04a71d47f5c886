"""The names and labels of the axes of tensors that a flow shows."""

from __future__ import annotations

from dataclasses import replace

from attn_tutor.lessons.format import axis_labels
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.results.result import Tensor


def labeled(lesson: Lesson, step: str, tensor: Tensor) -> Tensor:
    """Return a tensor with the names and labels of axes that the lesson gives to a tensor of its name and rank."""
    shown = axis_labels.drawn_as(lesson, step, tensor.name, len(tensor.shape), tensor.dtype)
    axes, labels = axis_labels.names_and_labels(lesson, shown, tensor.shape)
    return replace(tensor, kind=shown.kind, axes=axes, labels=labels)
