"""The report for a teacher as text: columns below each other, and no line wider than the terminal."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from rich.cells import cell_len

from attn_tutor.lessons.learner.reports import (
    ExerciseReport,
    LearnerReport,
    MistakeTotals,
    exercise_totals,
    learner_report,
)
from attn_tutor.tui.render import report_text
from tests.course import COURSE

MOMENT = datetime(2026, 1, 1, 12, tzinfo=UTC)
TWO_WIDE = ExerciseReport(
    *("two-wide", "3.2", "Two heads, two numbers", 3, "exercise"), 4, 3, 2, True, False, MOMENT, MOMENT, 60, {"x": 1}
)
MISTAKES = [
    MistakeTotals("x", "softmax over the columns of a very long name, as names go", 2, 5, ("two-wide", "a", "b"))
]


def learner_of(name: str, *exercises: ExerciseReport, done: int = 0) -> LearnerReport:
    report = learner_report(name, COURSE, {})
    lessons = [replace(lesson, done=min(done, lesson.steps)) for lesson in report.lessons]
    here = (COURSE.lessons[3].id, COURSE.lessons[3].steps[1].id)
    return replace(
        report, first=MOMENT, last=MOMENT, lesson=here[0], step=here[1], lessons=tuple(lessons), exercises=exercises
    )


def test_one_learner() -> None:
    lines = list(report_text.learner(learner_of("ada", TWO_WIDE, done=5), COURSE, MISTAKES, 100))
    assert lines[0].startswith("ada: from 2026-01-01 ")
    assert lines[1] == "Now in lesson 3, step 2 of 20."
    assert " 3. Queries, keys and values               5/20" in lines
    head = next(line for line in lines if line.startswith("lesson  exercise"))
    row = lines[lines.index(head) + 1]
    assert row == "     3  Two heads, two numbers  passed at try 3, gave up      4      2          0 min"
    assert lines[-1].startswith("    5  softmax over the columns")


def test_a_new_learner() -> None:
    lines = list(report_text.learner(learner_report("", COURSE, {}), COURSE, [], 80))
    assert lines[0] == "You: nothing done yet."
    assert not any("exercise" in line for line in lines)


@pytest.mark.parametrize("width", [80, 100])
def test_a_class_fits_the_terminal(width: int) -> None:
    names = ["ada", "a very long name that nobody else has got", "汉字名", "bad\x1b[31m\nname"]
    learners = [learner_of(name, replace(TWO_WIDE, tries_to_pass=None), done=20) for name in names]
    lines = list(report_text.classroom(learners, exercise_totals(learners), MISTAKES, width))
    assert max(map(cell_len, lines)) <= width
    assert all(line.isprintable() for line in lines)
    ada = next(line for line in lines if line.startswith("ada "))
    assert ada.split()[4] == ">20"
    assert ("2026-01-01" in ada) is (width == 100)
    # The columns of a name of wide characters begin where the others do.
    wide = next(line for line in lines if line.startswith("汉"))
    assert cell_len(wide) == cell_len(ada)


def test_a_narrow_report_has_tables_in_parts_and_lists() -> None:
    learners = [learner_of(name, replace(TWO_WIDE, tries_to_pass=None), done=20) for name in ("ada", "bo")]
    lines = list(report_text.classroom(learners, exercise_totals(learners), MISTAKES, 40))
    assert max(map(cell_len, lines)) <= 40
    # The lessons are divided, and each part has all learners.
    heads = [line.split()[1:] for line in lines if line.startswith("lesson  ")]
    assert len(heads) == 2
    assert heads[0] + heads[1] == [*(str(lesson.number) for lesson in COURSE.lessons), "passed"]
    assert sum(line.startswith("ada ") for line in lines) == 2
    text = " ".join(" ".join(lines).split())
    assert "Two heads, two numbers lesson 3, stopped 2, tried 2, passed 0, gave up 2" in text
    assert "softmax over the columns of a very long name, as names go learners 2, times 5, exercises two-wide" in text
    lines = list(report_text.learner(learners[0], COURSE, MISTAKES, 40))
    assert max(map(cell_len, lines)) <= 40


def test_long_lists_end_with_how_much_is_left_out() -> None:
    learners = [
        learner_of(name, *(replace(TWO_WIDE, exercise=str(n), tries_to_pass=None) for n in range(23))) for name in "ab"
    ]
    lines = list(report_text.classroom(learners, exercise_totals(learners), [], 80))
    assert lines[-1] == "3 more are listed by --json."


def test_nothing_stops_a_class_that_has_not_begun() -> None:
    lines = list(report_text.classroom([learner_of("a"), learner_of("b")], [], [], 80))
    assert lines[-1] == "No exercise stops anybody."
