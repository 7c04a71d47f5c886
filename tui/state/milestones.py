"""How far a learner is with a lesson, what follows from passing or passing over a step, and what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lessons.format.lesson import Course, Exercise, Lesson, Step
    from tui.state.progress_store import ProgressStore

BEHIND = ("done", "skipped")
"""The states of steps that are behind the learner."""


def here(course: Course, store: ProgressStore) -> tuple[Lesson, str]:
    """Where the learner goes on: where they were, or the first step."""
    if store.position is not None:
        for lesson in course.lessons:
            if lesson.id == store.position[0] and any(step.id == store.position[1] for step in lesson.steps):
                return lesson, store.position[1]
    return course.lessons[0], course.lessons[0].steps[0].id


def first_open(lesson: Lesson, store: ProgressStore) -> str:
    """The first step of a lesson that is not behind the learner; else, of what they have skipped; else its first."""
    left = [step.id for step in lesson.steps if store.state(lesson.id, step.id) not in BEHIND]
    skipped = [step.id for step in lesson.steps if store.state(lesson.id, step.id) == "skipped"]
    # Who has tested out has skipped nothing that is to be done.
    return next(iter([*left, *([] if tested_out(lesson, store) else skipped)]), lesson.steps[0].id)


def state_of(lesson: Lesson, store: ProgressStore) -> tuple[str, str]:
    """The state of a lesson, and the words for it."""
    states = [store.state(lesson.id, step.id) for step in lesson.steps]
    done = f"{states.count('done')}/{len(states)}"
    if all(state == "done" for state in states):
        state, word = "done", "done"
    elif tested_out(lesson, store):
        state, word = "done", "tested out"
    elif all(state in BEHIND for state in states):
        state, word = "skipped", f"{done}, rest skipped"
    elif any(state != "new" for state in states):
        state, word = "seen", done
    else:
        return "new", ""
    if any(is_due(store, lesson, step) for step in lesson.exercises):
        return "due", f"{word}, review"
    return state, word


def tested_out(lesson: Lesson, store: ProgressStore) -> bool:
    """Whether the learner has passed the challenge of a lesson in the place of what else it has."""
    challenge = next((step for step in lesson.steps if _is_challenge(step)), None)
    return (
        challenge is not None
        and store.state(lesson.id, challenge.id) == "done"
        and all(store.state(lesson.id, step.id) in BEHIND for step in lesson.steps)
    )


def pass_step(store: ProgressStore, lesson: Lesson, exercise: Exercise) -> str:
    """An exercise was passed. Returns what else follows from that, as a sentence, "" for nothing.

    Who passes the challenge without having been through what stands before it has tested out of the lesson.
    """
    store.mark(lesson.id, exercise.id, "done")
    place = lesson.index(exercise.id)
    if not exercise.challenge or all(store.state(lesson.id, step.id) == "done" for step in lesson.steps[:place]):
        return ""
    left = [step for step in lesson.steps if store.state(lesson.id, step.id) not in BEHIND]
    for step in left:
        store.mark(lesson.id, step.id, "skipped")
    if not left:
        return ""
    steps = "step is" if len(left) == 1 else f"{len(left)} steps are"
    return f"You have tested out of this lesson: its other {steps} marked skipped."


def pass_over(store: ProgressStore, lesson: Lesson, step: Step) -> str:
    """The learner goes on from a step. Returns what to say of that on the next one, "" for nothing.

    What was read or run is done then; an exercise that was not passed is skipped.
    """
    if not is_exercise(step):
        store.mark(lesson.id, step.id, "done")
        return ""
    if store.state(lesson.id, step.id) in BEHIND:
        return ""
    store.mark(lesson.id, step.id, "skipped")
    return "exercise skipped" if step.kind == "exercise" else "question skipped"


def due(course: Course, store: ProgressStore) -> list[tuple[Lesson, Exercise]]:
    """The exercises that are to be done again now, in the order of the course."""
    return [(lesson, step) for lesson in course.lessons for step in lesson.exercises if is_due(store, lesson, step)]


def is_due(store: ProgressStore, lesson: Lesson, step: Exercise) -> bool:
    """Whether an exercise is to be done again now. One that the learner is at for the first time is not done again."""
    first = store.state(lesson.id, step.id) in ("new", "seen") and not store.gave_up(step.exercise)
    return not first and store.is_due(step.exercise)


def is_exercise(step: Step) -> bool:
    """Whether there is something to do in a step; told by its kind, since the models are not loaded yet."""
    return step.kind not in ("read", "run", "train")


def _is_challenge(step: Step) -> bool:
    return getattr(step, "challenge", False) is True
