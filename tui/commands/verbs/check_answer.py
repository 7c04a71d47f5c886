"""The verb `check`: judge a file as the answer to an exercise, and keep it as an attempt."""

from __future__ import annotations

import argparse
from contextlib import closing

from attn_tutor.lessons.engine.questions import answering
from attn_tutor.lessons.learner import outcomes
from attn_tutor.lessons.reading.folders import option_about
from attn_tutor.tui.commands import documents
from attn_tutor.tui.commands.course_lookup import find_exercise, read_course
from attn_tutor.tui.commands.files import read_code
from attn_tutor.tui.commands.open_progress import open_to_record, say_unsaved
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.commands.output import print_json, print_lines
from attn_tutor.tui.render import linear_text
from attn_tutor.tui.tty.exit_codes import ExitCode


def run(options: argparse.Namespace) -> ExitCode:
    """Judge the file and print the verdict."""
    course = read_course(options)
    lesson, exercise = find_exercise(course, options.exercise)
    code = read_code(options.file)
    with open_session() as session:
        # Wait first, so that the duration in the verdict is that of the judging alone.
        session.wait_ready()
        verdict = answering.judge(session, lesson, exercise, code, options.seed)
    with closing(open_to_record(course)) as progress:
        shown, held_back = outcomes.symptoms_of_first_check(progress, exercise, verdict)
        more = outcomes.record_outcome(progress, lesson, exercise, code, verdict) or held_back
    if options.json:
        print_json(documents.judgement(verdict))
    else:
        print_lines(linear_text.judgement(shown, more))
    if say_unsaved(progress, option_about(course)):
        return ExitCode.FAILURE
    return ExitCode.OK if verdict.passed else ExitCode.NOT_PASSED
