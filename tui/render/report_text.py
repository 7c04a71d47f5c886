"""The report for a teacher as text: one learner in detail, or a class in tables that fit the width of the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from rich.cells import cell_len, set_cell_size

from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner.reports import (
    ExerciseReport,
    ExerciseTotals,
    LearnerReport,
    LessonReport,
    MistakeTotals,
)
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording

say = Wording("report/text")

MOST = 20
"""How many exercises and mistakes of a class are listed."""

LEAST_NAME, MOST_NAME = 8, 24
"""How many columns the name of a learner takes."""

LEAST_TEXT = 14
"""To how many columns a text in a table may be cut; where that is not enough, the table becomes a list."""

Cells = Sequence[str]


# One learner ---------------------------------------------------------------------------------------------------------


def learner(report: LearnerReport, course: Course, mistakes: Sequence[MistakeTotals], width: int) -> Iterator[str]:
    """Yield the report of one learner."""
    for line in _head(report, course):
        yield from textwrap.wrap(line, width)
    yield ""
    yield from _table(
        [(say("lesson", "lesson"), say("steps-done", "steps done"), ""), *map(_lesson_row, report.lessons)],
        width,
        "lrl",
    )
    if report.exercises:
        yield ""
        yield from _table([_exercise_head(), *map(_exercise_row, report.exercises)], width, "rllrrr")
    if report.questions:
        right = sum(each.tries_to_pass == 1 for each in report.questions)
        yield ""
        answered = say(
            "questions",
            "Questions answered: {all}, right at the first try: {right}.",
            all=len(report.questions),
            right=right,
        )
        yield from textwrap.wrap(answered, width)
    if mistakes:
        yield ""
        rows = [(str(each.times), each.name, ", ".join(each.exercises)) for each in mistakes]
        head = (say("times", "times"), say("mistake", "mistake"), say("exercises", "exercises"))
        yield from _table([head, *rows], width, "rll")


def _head(report: LearnerReport, course: Course) -> Iterator[str]:
    if report.first is None or report.last is None:
        yield say("nothing-yet", "{name}: nothing done yet.", name=_name(report))
        return
    yield say(
        "head",
        "{name}: from {first} to {last}, {passed} of {all} exercises and questions passed.",
        name=_name(report),
        first=_local(report.first),
        last=_local(report.last),
        passed=report.passed,
        all=sum(len(lesson.exercises) for lesson in course.lessons),
    )
    if report.lesson:
        lesson = course.lesson(report.lesson)
        where = main_path.position_of(lesson.steps, report.step)
        yield say("position", "Now in lesson {number}, {where}.", number=lesson.number, where=where)
    if report.elsewhere:
        yield say.count(
            "elsewhere",
            report.elsewhere,
            "{count} answer belongs to an exercise that this course does not have.",
            "{count} answers belong to exercises that this course does not have.",
        )


def _lesson_row(lesson: LessonReport) -> Cells:
    note = ""
    if lesson.tested_out:
        note = say("tested-out", "tested out")
    elif lesson.skipped:
        note = say("skipped", "{count} skipped", count=lesson.skipped)
    return f"{lesson.number:2}. {lesson.title}", f"{lesson.done}/{lesson.steps}", note


def _exercise_head() -> Cells:
    return (
        say("lesson", "lesson"),
        say("exercise", "exercise"),
        say("outcome", "outcome"),
        say("tries", "tries"),
        say("hints", "hints"),
        say("first-to-last", "first to last"),
    )


def _exercise_row(exercise: ExerciseReport) -> Cells:
    outcomes = []
    if exercise.tries_to_pass == 1:
        outcomes.append(say("at-once", "passed at once"))
    elif exercise.passed:
        outcomes.append(say("at-try", "passed at try {number}", number=exercise.tries_to_pass))
    if exercise.gave_up:
        outcomes.append(say("given-up", "gave up"))
    elif exercise.stopped:
        outcomes.append(say("not-passed", "not passed"))
    span = _span(exercise.first, exercise.last) if exercise.tries > 1 else ""
    counts = (str(count or "") for count in (exercise.tries, exercise.hints))
    return str(exercise.lesson), exercise.title, ", ".join(outcomes), *counts, span


# A class -------------------------------------------------------------------------------------------------------------


def classroom(
    learners: Sequence[LearnerReport],
    exercises: Sequence[ExerciseTotals],
    mistakes: Sequence[MistakeTotals],
    width: int,
) -> Iterator[str]:
    """Yield the report of several learners."""
    title = say("learners", "Steps done in each lesson (T: tested out, >: where the learner is now)")
    yield from textwrap.wrap(title, width)
    yield ""
    yield from _learner_table(learners, width)
    stopping = [each for each in exercises if each.stopped or (each.tries_to_pass or 0) > 1]
    yield ""
    if stopping:
        title = say(
            "stopping",
            "Exercises that stop learners (they tried or gave up, and never passed), then those that take several "
            "tries",
        )
        yield from textwrap.wrap(title, width)
        yield ""
        head = (
            say("lesson", "lesson"),
            say("exercise", "exercise"),
            say("stopped", "stopped"),
            say("tried", "tried"),
            say("passed", "passed"),
            say("tries-to-pass", "tries to pass"),
            say("gave-up", "gave up"),
        )
        yield from _table([head, *map(_totals_row, stopping[:MOST])], width, "rlrrrrr")
        yield from _more(len(stopping))
    else:
        yield say("none-stops", "No exercise stops anybody.")
    if mistakes:
        yield ""
        yield from textwrap.wrap(say("mistakes", "Mistakes, the ones that most learners made first"), width)
        yield ""
        rows = [(str(each.learners), str(each.times), each.name, ", ".join(each.exercises)) for each in mistakes[:MOST]]
        names = (say("of-learners", "learners"), say("times", "times"), say("mistake", "mistake"))
        yield from _table([(*names, say("exercises", "exercises")), *rows], width, "rrll")
        yield from _more(len(mistakes))


def _learner_table(learners: Sequence[LearnerReport], width: int) -> Iterator[str]:
    """Yield the table of learners by lessons: names get the width that is left, the last column shows if it fits."""
    lessons = learners[0].lessons
    columns = [
        [str(each.number), str(each.steps), *(_progress_cell(learner, at) for learner in learners)]
        for at, each in enumerate(lessons)
    ]
    columns.append([say("passed", "passed"), "", *(str(each.passed) for each in learners)])
    seen = [say("last-seen", "last seen"), "", *(_day(each.last) for each in learners)]
    names = [say("lesson", "lesson"), say("all-steps", "(steps)"), *map(_name, learners)]
    longest = min(_column_width(names), MOST_NAME)
    for number, part in enumerate(_parts(columns, width - LEAST_NAME)):
        taken = sum(_column_width(column) + 1 for column in part)
        name_width = max(LEAST_NAME, min(longest, width - taken))
        if part[-1] is columns[-1] and longest + taken + 1 + _column_width(seen) <= width:
            part.append(seen)
        if number:
            yield ""
        for row in zip(names, *part, strict=True):
            cells = [_right(text, _column_width(column)) for text, column in zip(row[1:], part, strict=True)]
            yield " ".join([_cut(row[0], name_width), *cells]).rstrip()


def _parts(columns: Sequence[list[str]], width: int) -> Iterator[list[list[str]]]:
    """Yield the columns of a table in as few parts as fit into so many columns of the terminal each."""
    part: list[list[str]] = []
    for column in columns:
        if part and sum(_column_width(each) + 1 for each in (*part, column)) > width:
            yield part
            part = []
        part.append(column)
    yield part


def _progress_cell(learner: LearnerReport, at: int) -> str:
    lesson = learner.lessons[at]
    here = ">" if lesson.id == learner.lesson else ""
    return here + ("T" if lesson.tested_out else str(lesson.done or "·"))


def _totals_row(totals: ExerciseTotals) -> Cells:
    tries = "" if totals.tries_to_pass is None else f"{totals.tries_to_pass:g}"
    counts = (totals.stopped, totals.tried, totals.passed)
    return str(totals.lesson), totals.title, *map(str, counts), tries, str(totals.gave_up or "")


def _more(count: int) -> Iterator[str]:
    if count > MOST:
        yield say.count("more", count - MOST, "{count} more is listed by --json.", "{count} more are listed by --json.")


# Tables --------------------------------------------------------------------------------------------------------------


def _table(rows: Sequence[Cells], width: int, sides: str) -> Iterator[str]:
    """Yield rows with their cells below each other, two blanks apart; the first row is the head.

    A column with nothing below its head is left out. `sides` says for each column whether it is aligned to the left
    (`l`) or the right (`r`). If the rows are wider than `width`, the columns on the left side are cut, the widest
    first. If little would be left of these, the rows become a list.
    """
    filled = [at for at in range(len(sides)) if any(row[at] for row in rows[1:])]
    rows, sides = [[row[at] for at in filled] for row in rows], "".join(sides[at] for at in filled)
    widths = [_column_width(column) for column in zip(*rows, strict=True)]
    while sum(widths) + 2 * (len(widths) - 1) > width:
        at = max((at for at, side in enumerate(sides) if side == "l"), key=widths.__getitem__)
        if widths[at] <= LEAST_TEXT:
            yield from _list(rows, width, sides.index("l"))
            return
        widths[at] -= 1
    for row in rows:
        cells = (
            _right(text, wide) if side == "r" else _cut(text, wide)
            for text, wide, side in zip(row, widths, sides, strict=True)
        )
        yield "  ".join(cells).rstrip()


def _list(rows: Sequence[Cells], width: int, at: int) -> Iterator[str]:
    """Yield the text of each row at a position, and below it what its other cells say, each behind its head."""
    head = rows[0]
    for row in rows[1:]:
        yield from textwrap.wrap(row[at].strip(), width, subsequent_indent="  ")
        others = ", ".join(
            f"{name} {text}".strip()
            for place, (name, text) in enumerate(zip(head, row, strict=True))
            if place != at and text
        )
        yield from textwrap.wrap(others, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _column_width(column: Iterable[str]) -> int:
    return max(map(cell_len, column))


def _cut(text: str, width: int) -> str:
    """Return a text that takes so many columns: filled with blanks, or cut, which an ellipsis shows."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, width - 1) + "…"


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text


# Words ---------------------------------------------------------------------------------------------------------------


def _name(report: LearnerReport) -> str:
    """Return the name of a learner, safe to print: whoever named the file may have chosen anything."""
    return clean(report.name.encode("utf-8", "replace").decode(), keep="") or say("you", "You")


def _local(time: datetime) -> str:
    try:
        return f"{time.astimezone():%Y-%m-%d %H:%M}"
    except (OverflowError, OSError, ValueError):  # the first and the last days of the calendar have no local time
        return f"{time:%Y-%m-%d %H:%M}"


def _day(time: datetime | None) -> str:
    return _local(time)[:10] if time else ""


def _span(first: datetime | None, last: datetime | None) -> str:
    """Return the time between two moments, in one unit."""
    if first is None or last is None:
        return ""
    minutes = round((last - first).total_seconds() / 60)
    if minutes < 120:
        return say("minutes", "{count} min", count=minutes)
    if minutes < 48 * 60:
        return say("hours", "{count} h", count=round(minutes / 60))
    return say("days", "{count} days", count=round(minutes / 60 / 24))
