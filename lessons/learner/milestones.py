"""How far a learner is with a lesson, what follows from finishing or leaving a step, and what is due for review.

Only the main path counts: a side step is neither missing if it was left out, nor due if it was missed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from attn_tutor.lessons.format.nouns import NOUNS
from attn_tutor.lessons.learner import review

if TYPE_CHECKING:
    from attn_tutor.lessons.format.lesson import Exercise, Lesson, Step
    from attn_tutor.lessons.learner.progress import Progress
    from attn_tutor.lessons.reading.course_outline import CourseOutline, LessonOutline, StepOutline
from attn_tutor.lessons.texts.wording import Wording

say = Wording("progress/milestones")

BEHIND = ("done", "skipped")
"""The states of steps that are behind the learner."""


def current_step(course: CourseOutline, progress: Progress) -> tuple[LessonOutline, str]:
    """Return the lesson and the id of the step where the learner goes on: where they were, or the first step."""
    position = progress.position()
    if position is not None:
        for lesson in course.lessons:
            if lesson.id == position[0] and any(step.id == position[1] for step in lesson.steps):
                return lesson, position[1]
    return course.lessons[0], course.lessons[0].steps[0].id


def first_open(lesson: Lesson | LessonOutline, progress: Progress) -> str:
    """Return the id of the first main step not behind the learner; else of the first skipped one; else the first."""
    states = _states(lesson, progress)
    left = [step for step, state in states.items() if state not in BEHIND]
    skipped = [step for step, state in states.items() if state == "skipped"]
    # What a learner who tested out has skipped need not be done.
    return next(iter([*left, *([] if tested_out(lesson, progress) else skipped)]), lesson.steps[0].id)


class LessonState(NamedTuple):
    """The state of a lesson, and what is said of it: a count of its steps, then words, the least important last."""

    state: str
    steps: str = ""
    words: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All that is said of it."""
        return ", ".join(filter(None, (self.steps, *self.words)))


def state_of(lesson: Lesson | LessonOutline, progress: Progress) -> LessonState:
    """Return the state of a lesson."""
    states = list(_states(lesson, progress).values())
    done = f"{states.count('done')}/{len(states)}"
    if all(state == "done" for state in states):
        found = LessonState("done", words=(say("done", "done"),))
    elif tested_out(lesson, progress):
        found = LessonState("done", words=(say("tested-out", "tested out"),))
    elif all(state in BEHIND for state in states):
        found = LessonState("skipped", done, (say("rest-skipped", "rest skipped"),))
    elif any(state != "new" for state in states):
        found = LessonState("seen", done)
    else:
        return LessonState("new")
    if any(is_due(progress, step) for step in lesson.exercises):
        return LessonState("due", found.steps, (*found.words, say("review", "review")))
    return found


def tested_out(lesson: Lesson | LessonOutline, progress: Progress) -> bool:
    """Return whether the learner passed the challenge of a lesson instead of its other steps.

    Only then is a step skipped that is no exercise: one that a learner goes on from is done.
    """
    return is_tested_out(lesson, progress.states())


def is_tested_out(lesson: Lesson | LessonOutline, known: Mapping[tuple[str, str], str]) -> bool:
    """Return the same as `tested_out`, for a learner whose states are known by lesson and step."""
    challenge = lesson.challenge
    states = main_states(lesson, known)
    return (
        challenge is not None
        and known.get((lesson.id, challenge.id)) == "done"
        and all(state in BEHIND for state in states.values())
        and any(states[step.id] == "skipped" for step in lesson.main_steps if not step.is_exercise)
    )


def complete(progress: Progress, lesson: Lesson, exercise: Exercise, *, challenged: bool = False) -> str:
    """Record that an exercise was passed, with all that follows; return that as a sentence, "" if nothing follows.

    A learner who has come to the challenge as such (`challenged`), rather than on the way through the lesson, and
    passes it with steps before it that are not done, has tested out of the lesson.
    """
    progress.set_state(lesson.id, exercise.id, "done")
    states = _states(lesson, progress)
    before = takewhile(lambda step: step != exercise.id, states)
    if not (challenged and exercise.challenge) or all(states[step] == "done" for step in before):
        return ""
    position = progress.position()
    if position is not None and position[0] == lesson.id:
        # What the learner was working on there is behind them now.
        progress.set_position(lesson.id, exercise.id)
    left = [step for step, state in states.items() if state not in BEHIND]
    for step in left:
        progress.set_state(lesson.id, step, "skipped")
    if not left:
        return ""
    return say.count(
        "steps-skipped",
        len(left),
        "You have tested out of this lesson: its other step is marked skipped.",
        "You have tested out of this lesson: its other {count} steps are marked skipped.",
    )


def leave(progress: Progress, lesson: Lesson, step: Step) -> str:
    """Record that the learner goes on from a step; return what to say about that on the next one, "" for nothing.

    A step to read or to run is done then; an exercise that was not passed is skipped. Who goes on from the last of its
    side steps goes on from a main step.
    """
    if step.side:
        if not step.is_exercise:
            progress.set_state(lesson.id, step.id, "done")
        main = lesson.main_step_of(step.id)
        if step != lesson.side_steps_of(step.id)[-1] or progress.state(lesson.id, main.id) == "new":
            return ""
        return leave(progress, lesson, main)
    if not step.is_exercise:
        progress.set_state(lesson.id, step.id, "done")
        return ""
    if progress.state(lesson.id, step.id) in BEHIND:
        return ""
    progress.set_state(lesson.id, step.id, "skipped")
    return NOUNS[step.noun].skipped()


def due(course: CourseOutline, progress: Progress) -> list[tuple[LessonOutline, StepOutline]]:
    """Return the exercises that are due for review now, in the order of the course."""
    return [(lesson, step) for lesson in course.lessons for step in lesson.exercises if is_due(progress, step)]


def is_due(progress: Progress, step: Exercise | StepOutline) -> bool:
    """Return whether an exercise is due for review now; one beside the main path never is."""
    attempts, give_ups = progress.attempts(step.exercise), progress.give_ups(step.exercise)
    return not step.side and review.is_due_at(attempts, give_ups, datetime.now(UTC))


def _states(lesson: Lesson | LessonOutline, progress: Progress) -> dict[str, str]:
    return main_states(lesson, progress.states())


def main_states(lesson: Lesson | LessonOutline, known: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """Return the states of the main steps of a lesson by their ids, in order; `known` has those that are not new."""
    return {step.id: known.get((lesson.id, step.id), "new") for step in lesson.main_steps}
