"""What a teacher is told: of one learner how far they are and which mistakes they made, of a class where it is stopped.

It is made from the rows of their progress. It holds no code, nor what a verdict said about code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from statistics import median
from typing import TYPE_CHECKING

from attn_tutor.lessons.learner import milestones
from attn_tutor.lessons.learner.records import GAVE_UP, HINT, RANK, SOLUTION, TOOK_BACK
from attn_tutor.lessons.learner.renames import renames_of
from attn_tutor.lessons.learner.tables import Row

if TYPE_CHECKING:
    from attn_tutor.lessons.format.lesson import Course, Exercise, Lesson


@dataclass(frozen=True, slots=True)
class LessonReport:
    """How far a learner is with a lesson; only its main path counts.

    Attributes:
        id, number, title: of the lesson.
        steps: how many steps it has.
        done, skipped: how many of them the learner has done, and has skipped.
        tested_out: whether they passed its challenge in place of its other steps.
    """

    id: str
    number: int
    title: str
    steps: int
    done: int
    skipped: int
    tested_out: bool


@dataclass(frozen=True, slots=True)
class ExerciseReport:
    """What a learner did at an exercise, a question or the like that they tried, took a hint for or gave up on.

    Attributes:
        exercise, number, title: of the exercise; only some have a number.
        lesson: the number of its lesson.
        noun: what it is called in front of learners.
        tries: how many answers they gave, reviews included.
        tries_to_pass: how many they gave until one passed, None if none did.
        hints: how many hints they read.
        gave_up: whether they gave up and did not take that back.
        solution: whether they read the model answer.
        first, last: when they gave the first and the last answer, None if they gave none.
        seconds_to_pass: the time from the first answer to the one that passed, None if none did.
        mistakes: how often each mistake was named, by its id.
    """

    exercise: str
    number: str
    title: str
    lesson: int
    noun: str
    tries: int
    tries_to_pass: int | None
    hints: int
    gave_up: bool
    solution: bool
    first: datetime | None
    last: datetime | None
    seconds_to_pass: float | None
    mistakes: Mapping[str, int]

    @property
    def passed(self) -> bool:
        """Whether an answer passed."""
        return self.tries_to_pass is not None

    @property
    def stopped(self) -> bool:
        """Whether the learner tried it or gave up on it, and no answer passed."""
        return not self.passed and (self.tries > 0 or self.gave_up)


@dataclass(frozen=True, slots=True)
class LearnerReport:
    """What a teacher is told of one learner.

    Attributes:
        name: the name of the learner's file.
        first, last: when the learner did the first and the last thing that is known, None if there is nothing.
        lesson, step: the ids of where the learner was last, "" if that is not known or no longer in the course.
        lessons: all lessons, in order.
        exercises: those that the learner tried, took a hint for or gave up on, in the order of the course.
        elsewhere: how many answers belong to exercises that the course does not have.
    """

    name: str
    first: datetime | None
    last: datetime | None
    lesson: str
    step: str
    lessons: tuple[LessonReport, ...]
    exercises: tuple[ExerciseReport, ...]
    elsewhere: int

    @property
    def passed(self) -> int:
        """How many exercises the learner passed."""
        return sum(each.passed for each in self.exercises)

    @property
    def questions(self) -> tuple[ExerciseReport, ...]:
        """The questions that the learner answered."""
        return tuple(each for each in self.exercises if each.noun == "question" and each.tries)


def learner_report(name: str, course: Course, rows: Mapping[str, Sequence[Row]]) -> LearnerReport:
    """Make the report of a learner from the rows of their progress."""
    rows = renames_of(course).apply_to_all(rows)
    states = _states(rows.get("states", ()))
    attempts, help_rows = (_by_exercise(rows.get(table, ())) for table in ("attempts", "help"))
    exercises = [(lesson, step) for lesson in course.lessons for step in lesson.exercises]
    # A draft is saved while the learner types, so it says when they were there as well.
    times = [time for table in rows.values() for row in table if (time := _moment(row["time"]))]
    known = {(lesson.id, step.id) for lesson in course.lessons for step in lesson.steps}
    position = next(((row["lesson"], row["step"]) for row in rows.get("position", ())), ("", ""))
    return LearnerReport(
        name,
        min(times, default=None),
        max(times, default=None),
        *(position if position in known else ("", "")),
        tuple(_lesson_report(lesson, states) for lesson in course.lessons),
        tuple(
            _exercise_report(lesson.number, step, attempts.get(step.exercise, ()), help_rows.get(step.exercise, ()))
            for lesson, step in exercises
            if step.exercise in attempts or step.exercise in help_rows
        ),
        sum(len(attempts[name]) for name in attempts.keys() - {step.exercise for _, step in exercises}),
    )


def _states(rows: Iterable[Row]) -> dict[tuple[str, str], str]:
    """Return the state of each step that has one, by lesson and step."""
    states: dict[tuple[str, str], str] = {}
    for row in rows:
        step = (row["lesson"], row["step"])
        states[step] = max(states.get(step, "new"), row["state"], key=RANK.__getitem__)
    return states


def _by_exercise(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each exercise, oldest first."""
    found: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["time"]):
        found.setdefault(row["exercise"], []).append(row)
    return found


def _lesson_report(lesson: Lesson, states: Mapping[tuple[str, str], str]) -> LessonReport:
    of_steps = list(milestones.main_states(lesson, states).values())
    return LessonReport(
        lesson.id,
        lesson.number,
        lesson.title,
        len(of_steps),
        of_steps.count("done"),
        of_steps.count("skipped"),
        milestones.is_tested_out(lesson, states),
    )


def _exercise_report(lesson: int, step: Exercise, attempts: Sequence[Row], help_rows: Sequence[Row]) -> ExerciseReport:
    times = [_moment(row["time"]) for row in attempts]
    known = [time for time in times if time]
    at = next((index for index, row in enumerate(attempts) if row["verdict"] == "passed"), None)
    passed_at = None if at is None else times[at]
    kinds = [row["kind"] for row in help_rows]
    turns = [kind for kind in kinds if kind in (GAVE_UP, TOOK_BACK)]
    mistakes = Counter(name for row in attempts for name in row["mistake"].split(",") if name)
    return ExerciseReport(
        step.exercise,
        step.number,
        step.title,
        lesson,
        step.noun,
        tries=len(attempts),
        tries_to_pass=None if at is None else at + 1,
        hints=max((int(kind.removeprefix(HINT)) for kind in kinds if kind.startswith(HINT)), default=0),
        gave_up=turns[-1:] == [GAVE_UP],
        solution=SOLUTION in kinds,
        first=min(known, default=None),
        last=max(known, default=None),
        seconds_to_pass=(passed_at - min(known)).total_seconds() if passed_at else None,
        mistakes=dict(mistakes),
    )


def _moment(text: str) -> datetime | None:
    """Return the moment of a time of the file, None for a text that is none."""
    try:
        time = datetime.fromisoformat(text)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


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
            yield from (((step.exercise, each), name) for each, name in kinds.items())
            yield from (((step.exercise, each.id), each.name) for each in step.nameable)


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
