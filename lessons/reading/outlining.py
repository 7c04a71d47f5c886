"""Making the outline of a course that was read."""

from __future__ import annotations

from attn_tutor.lessons.format.lesson import Course, Lesson, Step
from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.reading.course_outline import SIDE, Corner, CourseOutline, LessonOutline, StepOutline


def outline(course: Course) -> CourseOutline:
    """Return the outline of a course, with the recorded numbers of the tensors that stand for its lessons."""
    about = course.description.about if course.description else ""
    return CourseOutline(tuple(map(lesson_outline, course.lessons)), course.title, about)


def lesson_outline(lesson: Lesson) -> LessonOutline:
    """Return the outline of a lesson."""
    steps = tuple(map(_step, lesson.steps))
    return LessonOutline(lesson.id, lesson.number, lesson.title, lesson.goal, _corner(lesson), steps, lesson.aliases)


def _step(step: Step) -> StepOutline:
    exercise, number = getattr(step, "exercise", ""), getattr(step, "number", "")
    challenge = getattr(step, "challenge", False)
    return StepOutline(
        step.id, step.title, step.noun, step.is_exercise, exercise, number, challenge, step.side, step.aliases
    )


def _corner(lesson: Lesson) -> Corner | None:
    """Return the corner of the recorded tensor that stands for a lesson, None if it has none."""
    step, _, name = lesson.thumbnail.partition("/")
    result = recorded_outputs.load(lesson).get(step) if name else None
    tensor = next((each for each in result.tensors if each.name == name), None) if result else None
    if tensor is None:
        return None
    rows, cols = (min(size, SIDE) for size in tensor.matrix_shape)
    lead = (0,) * len(tensor.lead_shape)
    numbers = tuple(tuple(tensor.row(lead, row, 0, cols) or ()) for row in range(rows))
    return Corner(tensor.name, tensor.kind, tensor.shape, tensor.low, tensor.high, tensor.row_labels[:rows], numbers)
