"""The tensors that earlier steps of a lesson have shown, to stay in sight beside the current step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.lesson import Lesson, RunStep
from attn_tutor.lessons.results.result import StepResult, Tensor


@dataclass(frozen=True, slots=True)
class EarlierTensor:
    """A tensor that a step has shown.

    Attributes:
        tensor: with all of its values, or with a window of them.
        where: the step, or the lesson, for people.
    """

    tensor: Tensor
    where: str


def before(lesson: Lesson, index: int, result_of: Callable[[str], StepResult | None]) -> tuple[EarlierTensor, ...]:
    """List the tensors that the steps behind a learner have shown, the latest first.

    Each name is listed once, and none that the step itself shows. What questions show is left out: some of it is hidden
    until they are answered.

    Args:
        lesson: the lesson.
        index: of the step.
        result_of: returns the result of a step of the lesson, None if there is none.
    """
    own = result_of(lesson.steps[index].id)
    names = {tensor.name for tensor in own.tensors} if own is not None else set()
    found: list[EarlierTensor] = []
    for step in reversed(main_path.steps_behind(lesson.steps, lesson.steps[index].id)):
        result = result_of(step.id) if isinstance(step, RunStep) else None
        for tensor in result.tensors if result is not None else ():
            if tensor.name not in names and _is_drawn(tensor):
                names.add(tensor.name)
                found.append(EarlierTensor(tensor, main_path.name_of(lesson.steps, step.id)))
    return tuple(found)


def emblem(lesson: Lesson, result_of: Callable[[str], StepResult | None], where: str) -> tuple[EarlierTensor, ...]:
    """Return the tensor that stands for a lesson on the map; none if the lesson has none.

    Args:
        lesson: the lesson.
        result_of: returns the result of a step of the lesson, None if there is none.
        where: what to say of where it comes from.
    """
    step, _, name = lesson.thumbnail.partition("/")
    result = result_of(step)
    tensors = result.tensors if result is not None else ()
    return tuple(EarlierTensor(tensor, where) for tensor in tensors if tensor.name == name and _is_drawn(tensor))


def _is_drawn(tensor: Tensor) -> bool:
    return tensor.size > 1 and (tensor.values is not None or tensor.window is not None)
