"""Reports for a teacher: what is told of one learner, and what is told of a class."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner.reports import (
    ExerciseTotals,
    LearnerReport,
    MistakeTotals,
    exercise_totals,
    learner_report,
    mistake_names,
    mistake_totals,
    names_of_files,
)
from attn_tutor.lessons.learner.tables import Row
from tests.lessons.lesson_builders import attention_exercise, doubling_exercise, lesson_of, text_step

DOUBLING = doubling_exercise().model_dump(mode="json", by_alias=True)
ATTENDING = attention_exercise(challenge=True).model_dump(mode="json", by_alias=True)
COURSE = Course(
    lessons=(
        lesson_of(text_step("read", "Read."), DOUBLING, {**text_step("beside", "More."), "side": True}, id="one"),
        lesson_of(text_step("read", "Read."), ATTENDING, id="two", number=2),
    )
)
NAMES = mistake_names(COURSE, {"axis": "wrong axis"})


def time(minute: int) -> str:
    return f"2026-01-01T00:{minute:02}:00+00:00"


def attempt(exercise: str, verdict: str, minute: int, mistake: str = "") -> Row:
    return {
        "exercise": exercise,
        "verdict": verdict,
        "time": time(minute),
        "mistake": mistake,
        "code": "",
        "message": "",
    }


def help_row(kind: str, minute: int, exercise: str = "doubling") -> Row:
    return {"exercise": exercise, "kind": kind, "time": time(minute)}


def state(lesson: str, step: str, word: str) -> Row:
    return {"lesson": lesson, "step": step, "state": word, "time": time(0)}


def report(name: str = "ada", **rows: list[Row]) -> LearnerReport:
    return learner_report(name, COURSE, rows)


def test_nothing_is_known_of_a_new_learner() -> None:
    ada = report()
    assert (ada.first, ada.last, ada.lesson, ada.exercises, ada.passed, ada.questions) == (None, None, "", (), 0, ())
    assert [(lesson.id, lesson.steps, lesson.done) for lesson in ada.lessons] == [("one", 2, 0), ("two", 2, 0)]


def test_only_the_main_path_is_counted() -> None:
    one, _ = report(states=[state("one", "beside", "done"), state("one", "read", "done")]).lessons
    assert (one.done, one.skipped, one.steps) == (1, 0, 2)


def test_who_passed_the_challenge_alone_has_tested_out() -> None:
    _, two = report(states=[state("two", "read", "skipped"), state("two", "attending", "done")]).lessons
    assert (two.done, two.skipped, two.tested_out) == (1, 1, True)


def test_an_exercise_counts_tries_until_it_passed() -> None:
    tried = [
        attempt("doubling", "passed", 12),
        attempt("doubling", "failed", 5, "squared,axis"),
        attempt("doubling", "failed", 7, "squared"),
        attempt("doubling", "failed", 40),
    ]
    [doubling] = report(attempts=tried, help=[help_row("hint-2", 8), help_row("hint-1", 6)]).exercises
    assert (doubling.tries, doubling.tries_to_pass, doubling.hints) == (4, 3, 2)
    assert (doubling.passed, doubling.stopped, doubling.gave_up, doubling.lesson) == (True, False, False, 1)
    assert doubling.mistakes == {"squared": 2, "axis": 1}
    assert doubling.seconds_to_pass == 7 * 60
    assert (doubling.first, doubling.last) == (
        datetime(2026, 1, 1, 0, 5, tzinfo=UTC),
        datetime(2026, 1, 1, 0, 40, tzinfo=UTC),
    )


def test_giving_up_can_be_taken_back() -> None:
    [doubling] = report(help=[help_row("gave-up", 1)]).exercises
    assert (doubling.gave_up, doubling.stopped, doubling.tries) == (True, True, 0)
    [doubling] = report(help=[help_row("took-back", 2), help_row("gave-up", 1)]).exercises
    assert (doubling.gave_up, doubling.stopped) == (False, False)


def test_what_the_course_does_not_have_is_counted_only() -> None:
    ada = report(
        attempts=[attempt("gone", "passed", 1)], position=[{"lesson": "gone", "step": "gone", "time": "no time"}]
    )
    assert (ada.elsewhere, ada.exercises, ada.lesson, ada.step) == (1, (), "", "")
    assert ada.first == ada.last


def classroom() -> list[LearnerReport]:
    return [
        report("ada", attempts=[attempt("doubling", "failed", 1, "squared"), attempt("doubling", "passed", 2)]),
        report("bob", attempts=[attempt("doubling", "passed", 2), attempt("attending", "failed", 3, "columns")]),
        report(
            "eve",
            attempts=[attempt("attending", "error", 3, "columns,axis,unknown")],
            help=[help_row("gave-up", 1, "attending")],
        ),
    ]


def test_what_stops_most_learners_comes_first() -> None:
    assert exercise_totals(classroom()) == [
        ExerciseTotals("attending", "", "Attend", 2, 2, 0, stopped=2, tries_to_pass=None, hinted=0, gave_up=1),
        ExerciseTotals("doubling", "", "Twice as much", 1, 2, 2, stopped=0, tries_to_pass=1.5, hinted=0, gave_up=0),
    ]


def test_mistakes_are_counted_by_learners() -> None:
    assert mistake_totals(classroom(), NAMES) == [
        MistakeTotals("columns", "softmax over the columns", 2, 2, ("attending",)),
        MistakeTotals("axis", "wrong axis", 1, 1, ("attending",)),
        MistakeTotals("squared", "squared", 1, 1, ("doubling",)),
    ]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ([], []),
        (["/home/ada.json"], ["ada"]),
        (["a/ada.json", "b/bob.json"], ["ada", "bob"]),
        (["/home/ada/state/progress.db", "/home/bob/state/progress.db"], ["ada", "bob"]),
        (["/home/x/ada/progress.db", "/home/y/bob/progress.db"], ["x/ada", "y/bob"]),
        (["progress.db", "ada/progress.db"], ["progress.db", "ada/progress.db"]),
        (["a.json", "a.db"], ["a.json", "a.db"]),
    ],
)
def test_learners_are_named_by_what_tells_their_files_apart(files: list[str], names: list[str]) -> None:
    assert names_of_files(files) == names
