"""The verb `report`: tell a teacher how learners come along, from their files or from the learner's own progress."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner import exports
from attn_tutor.lessons.learner.exports import SavedRows, read_saved
from attn_tutor.lessons.learner.reports import (
    LearnerReport,
    exercise_totals,
    learner_report,
    mistake_names,
    mistake_totals,
    names_of_files,
)
from attn_tutor.lessons.reading import repair_kinds
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.course_lookup import read_course
from attn_tutor.tui.commands.files import read_file
from attn_tutor.tui.commands.open_progress import open_to_read
from attn_tutor.tui.commands.output import UsageError, print_error, print_json, print_lines
from attn_tutor.tui.render import report_text
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/report")


def run(options: argparse.Namespace) -> ExitCode:
    """Print the report. A file that cannot be used is told, and the others are reported all the same."""
    course = read_course(options)
    refused: dict[str, str] = {}
    learners = _of_files(course, options.files, refused) if options.files else [_own(course)]
    for reason in refused.values():
        print_error(reason)
    mistakes = mistake_totals(learners, mistake_names(course, _names_of_kinds()))
    exercises = exercise_totals(learners)
    if options.json:
        print_json(
            {
                "learners": [_document(each) for each in learners],
                "exercises": [asdict(each) for each in exercises],
                "mistakes": [asdict(each) for each in mistakes],
                "refused": [{"file": _text(file), "reason": reason} for file, reason in refused.items()],
            }
        )
    elif learners:
        width = shutil.get_terminal_size().columns
        if len(learners) == 1:
            print_lines(report_text.learner(learners[0], course, mistakes, width))
        else:
            print_lines(report_text.classroom(learners, exercises, mistakes, width))
    return ExitCode.USAGE if refused else ExitCode.OK


def _own(course: Course) -> LearnerReport:
    with closing(open_to_read(course)) as progress:
        return learner_report("", course, exports.parse(progress.export(), course.export_id))


def _of_files(course: Course, files: Sequence[str], refused: dict[str, str]) -> list[LearnerReport]:
    """Return a report for each file that can be used; `refused` receives what is wrong with the others."""
    # A file that is given twice is one learner.
    different = {Path(file).absolute() if file != "-" else Path(file): file for file in files}
    reports = {}
    for file in different.values():
        try:
            reports[file] = learner_report("", course, _rows(file, course))
        except UsageError as error:
            refused[file] = str(error)
    names = names_of_files(list(reports))
    return [replace(report, name=name) for name, report in zip(names, reports.values(), strict=True)]


def _rows(file: str, course: Course) -> SavedRows:
    """Return the rows of a file. Raises `UsageError`."""
    content = read_file(file, regular=True)
    try:
        return read_saved(content, course.export_id)
    except ValueError as error:
        raise UsageError(
            say("refused", "{file} is left out. {reason}", file=clean(_text(file), keep=""), reason=error)
        ) from None


def _names_of_kinds() -> dict[str, str]:
    return {kind: repair_kinds.kind_text(kind).name for kind in repair_kinds.kind_texts()}


def _text(file: str) -> str:
    """Return the name of a file as text: on disk it may contain bytes that are not."""
    return file.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _document(report: LearnerReport) -> dict[str, Any]:
    """Return a report as a part of a JSON document."""
    document = asdict(report)
    for part in (document, *document["exercises"]):
        for field in ("first", "last"):
            time: datetime | None = part[field]
            part[field] = None if time is None else time.isoformat()
    for part, exercise in zip(document["exercises"], report.exercises, strict=True):
        part |= {"passed": exercise.passed, "stopped": exercise.stopped}
    right = sum(each.tries_to_pass == 1 for each in report.questions)
    return document | {
        "name": _text(report.name),
        "passed": report.passed,
        "questions": {"answered": len(report.questions), "right_at_first": right},
    }
