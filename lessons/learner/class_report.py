"""What a teacher is told of a class: where its learners are, which exercises stop them, which mistakes they make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from statistics import median
from typing import TYPE_CHECKING

from attn_tutor.lessons.learner.learner_report import ExerciseReport, LearnerReport

if TYPE_CHECKING:
    from attn_tutor.lessons.format.lesson import Course


@dataclass(frozen=True, slots=True)
class ExerciseTotals:
    """What a class did at an exercise that somebody tried, took a hint for or gave up on.

    Attributes:
        exercise, number, title: of the exercise; only some have a number.
        lesson: the number of its lesson.
        tried: how many learners gave an answer.
        passed: how many of them gave one that passed.
        stopped: how many tried it or gave up on it, and never passed.
        tries_to_pass: how many answers those who passed needed, as a median; None if nobody passed.
        hinted: how many read a hint.
        gave_up: how many gave up.
    """

    exercise: str
    number: str
    title: str
    lesson: int
    tried: int
    passed: int
    stopped: int
    tries_to_pass: float | None
    hinted: int
    gave_up: int


@dataclass(frozen=True, slots=True)
class MistakeTotals:
    """A mistake that verdicts named.

    Attributes:
        id: its id in the course.
        name: its name, as verdicts say it.
        learners: in how many learners' answers it was named.
        times: in how many answers.
        exercises: the ids of the exercises where it was named, in the order of the course.
    """

    id: str
    name: str
    learners: int
    times: int
    exercises: tuple[str, ...]


MistakeNames = Mapping[tuple[str, str], str]
"""The names of mistakes, by exercise and id. What has no name is told to nobody."""


def exercise_totals(learners: Sequence[LearnerReport]) -> list[ExerciseTotals]:
    """Return what the learners did at each exercise, those first that stop most of them and take most tries."""
    found: dict[str, list[ExerciseReport]] = {}
    for learner in learners:
        for each in learner.exercises:
            found.setdefault(each.exercise, []).append(each)
    return sorted(map(_totals, found.values()), key=lambda each: (-each.stopped, -(each.tries_to_pass or 0)))


def _totals(reports: Sequence[ExerciseReport]) -> ExerciseTotals:
    tries = [each.tries_to_pass for each in reports if each.tries_to_pass is not None]
    return ExerciseTotals(
        reports[0].exercise,
        reports[0].number,
        reports[0].title,
        reports[0].lesson,
        tried=sum(each.tries > 0 for each in reports),
        passed=len(tries),
        stopped=sum(each.stopped for each in reports),
        tries_to_pass=median(tries) if tries else None,
        hinted=sum(each.hints > 0 for each in reports),
        gave_up=sum(each.gave_up for each in reports),
    )


def mistake_totals(learners: Iterable[LearnerReport], names: MistakeNames) -> list[MistakeTotals]:
    """Return the mistakes that were named, those first that most learners made.

    The same mistake may be named at several exercises; where its name differs it counts as another one.
    """
    of_learners: Counter[tuple[str, str]] = Counter()
    times: Counter[tuple[str, str]] = Counter()
    exercises: dict[tuple[str, str], dict[str, None]] = {}
    for learner in learners:
        made = set()
        for exercise in learner.exercises:
            for mistake, count in exercise.mistakes.items():
                if name := names.get((exercise.exercise, mistake)):
                    made.add((mistake, name))
                    times[mistake, name] += count
                    exercises.setdefault((mistake, name), {})[exercise.exercise] = None
        of_learners.update(made)
    totals = [MistakeTotals(*key, of_learners[key], times[key], tuple(exercises[key])) for key in times]
    return sorted(totals, key=lambda each: (-each.learners, -each.times, each.id))


def mistake_names(course: Course, kinds: Mapping[str, str]) -> MistakeNames:
    """Return the names of all mistakes that a verdict on an exercise of the course may name.

    `kinds` has the names of the kinds of repairs by their ids, which are the same for every exercise.
    """
    return dict(_names(course, kinds))


def _names(course: Course, kinds: Mapping[str, str]) -> Iterator[tuple[tuple[str, str], str]]:
    for lesson in course.lessons:
        for step in lesson.exercises:
            own = [*getattr(step, "mistakes", ()), *getattr(step, "ways", ())]
            yield from (((step.exercise, each), name) for each, name in kinds.items())
            yield from (((step.exercise, each.id), each.name) for each in own)


def names_of_files(files: Sequence[str]) -> list[str]:
    """Return a name for the learner of each file: that of the file, or what tells its path from those of the others.

    So `/home/ada/progress.db` and `/home/max/progress.db` are `ada` and `max`.
    """
    stems = [PurePath(file).stem for file in files]
    if len(set(stems)) == len(stems):
        return stems
    paths = [PurePath(file).parts for file in files]
    shortest = min(map(len, paths), default=0)
    front = next((at for at in range(shortest) if len({parts[at] for parts in paths}) > 1), shortest)
    back = next((at for at in range(shortest - front) if len({parts[-1 - at] for parts in paths}) > 1), 0)
    return ["/".join(parts[front : len(parts) - back]) for parts in paths]
