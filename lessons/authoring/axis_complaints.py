"""What a lesson says about the axes of its tensors, compared with the tensors that its run shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.format.lesson import Lesson, ShownTensor
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.findings import Finding
from attn_tutor.lessons.reading.yaml_nodes import locate, position_of
from attn_tutor.lessons.results.result import Tensor

Complaint = tuple[tuple[int | str, ...], str, str]
"""Path, problem and remedy."""


def findings(lesson: Lesson, run: Run) -> Iterator[Finding]:
    """Find axes and labels in a lesson that was loaded from a folder which do not fit what its run shows."""
    yield from _located(lesson, complaints(lesson, run))


def findings_in_step(lesson: Lesson, position: int, tensors: Sequence[Tensor]) -> Iterator[Finding]:
    """Find the same in one step, which shows these tensors. Raises `LessonError` if its file is not there any more."""
    yield from _located(lesson, complaints_in_step(lesson, position, tensors))


def complaints(lesson: Lesson, run: Run) -> Iterator[Complaint]:
    """Yield names of axes that are too few or too many for their tensor, and labels that are not drawn for it."""
    for position, step in enumerate(lesson.steps):
        if result := run.result(step.id):
            yield from complaints_in_step(lesson, position, result.tensors)


def complaints_in_step(lesson: Lesson, position: int, tensors: Sequence[Tensor]) -> Iterator[Complaint]:
    """Yield the same for one step, which shows these tensors."""
    step = lesson.steps[position]
    shapes = {tensor.name: tensor.shape for tensor in tensors}
    for inside, shown in step.tensors_with_paths:
        if shown.name in shapes:
            yield from _of_tensor(("steps", position, *inside), shown, shapes[shown.name])


def _located(lesson: Lesson, found: Iterator[Complaint]) -> Iterator[Finding]:
    root = None
    for path, problem, remedy in found:
        root = root or loader.read_nodes(lesson)
        yield Finding(*position_of(locate(root, path)[1].start_mark), problem, remedy)


def _of_tensor(path: tuple[int | str, ...], shown: ShownTensor, shape: tuple[int, ...]) -> Iterator[Complaint]:
    if shown.axes and len(shown.axes) != len(shape):
        what = f"'{shown.name}' has the shape {shape}, but 'axes' names {len(shown.axes)}"
        yield (*path, "axes"), what, "Name each of its axes, outermost first."
        return
    for axis, texts in shown.labels.items():
        if axis not in shown.axes:
            yield (*path, "labels"), f"'{shown.name}' has no axis '{axis}' to label", "Name it under 'axes'."
        elif len(texts) < (size := shape[shown.axes.index(axis)]):
            what = f"axis '{axis}' of '{shown.name}' has size {size}, but 'labels' has {len(texts)} for it"
            yield (*path, "labels", str(axis)), what, f"Give {size}: with fewer, none of them is drawn."
