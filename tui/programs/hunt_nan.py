"""The verb `nan`: the first number of a program that is not finite, where it came from, and what cures it."""

from __future__ import annotations

import argparse
import contextlib
import shutil
from typing import Any

from attn_tutor.lessons.programs.engine import running
from attn_tutor.lessons.programs.render import nonfinite_text
from attn_tutor.lessons.programs.results.nonfinite import NonfiniteOrigin, NonfiniteReport, NotableTensor
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.explanation_tree import Node
from attn_tutor.lessons.results.floats import json_number
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import documents, own_program
from attn_tutor.tui.commands.open_session import interruptible, open_session
from attn_tutor.tui.commands.output import CommandError, print_json, print_lines
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/nan")

Json = dict[str, Any]

NARROWEST = 30
"""The fewest columns that lines are wrapped for."""


def run(options: argparse.Namespace) -> ExitCode:
    """Run the program and print where its first number came from that is not finite; none is success."""
    limited = not options.no_limits
    program = own_program.read_program(options.file, options.arguments, limited=limited)
    with open_session(limited=limited) as session:
        with interruptible(session):
            program_run = running.run_program(session, program, purpose="hunt")
        with contextlib.closing(program_run):
            result = program_run.steps[0]
            # What it did before may well be the reason.
            own_program.say_failure(program, result)
            report = running.first_nonfinite(program_run) if program_run.alive else None
    if not isinstance(report, NonfiniteReport):
        raise CommandError(
            report.reason
            if isinstance(report, Refusal)
            else say("no-answer", "The process that ran the program ended before its numbers were looked at.")
        )
    if options.json:
        print_json(_document(report) | {"error": documents.failure(result.error)})
    else:
        names = {PROGRAM.name: options.file}
        failed = result.error is not None
        width = max(NARROWEST, min(nonfinite_text.WIDTH, shutil.get_terminal_size().columns))
        print_lines(nonfinite_text.lines(report, PROGRAM.name, names, width, failed=failed))
    if report.is_finite is False or result.error is not None:
        return ExitCode.NOT_PASSED
    return ExitCode.OK if report.is_finite else ExitCode.UNDECIDED


def _document(report: NonfiniteReport) -> Json:
    return {
        "finite": report.is_finite,
        "origins": [_origin(item) for item in report.origins],
        "reached": [_tensor(item) for item in report.reached],
        "large": [_tensor(item) for item in report.large],
        "operations": report.operations,
        "numbers": report.numbers,
        "forgotten": report.forgotten,
        "unkept": report.unkept,
        "skipped_steps": report.skipped,
        "ended": report.is_over,
        "marks": list(report.marks),
        "unfollowed": list(report.unfollowed),
        "lost": report.lost,
        "unseen": report.unseen,
        "unjudged": report.unjudged,
        "stopped": report.stopped,
        "stopped_line": report.stopped_line,
    }


def _origin(value: NonfiniteOrigin) -> Json:
    code, file, line = value.forward
    return {
        "kind": value.kind,
        "reason": value.reason,
        "phase": value.phase,
        "step": value.step,
        "times": value.times,
        "of": value.of,
        "count": value.count,
        "size": value.size,
        "chain": [documents.explanation(Node(item)) for item in value.chain],
        "operands": [documents.explanation(Node(item)) for item in value.operands],
        "forward": {"code": code, "file": file, "line": line} if code else None,
        "afterwards": list(value.afterwards),
        "losses": [json_number(loss) for loss in value.losses],
        "grown": None if value.grown is None else documents.explanation(Node(value.grown)),
        "cures": list(value.cures),
    }


def _tensor(value: NotableTensor) -> Json:
    return {
        "name": value.name,
        "count": value.count,
        "size": value.size,
        "largest": None if value.largest is None else json_number(value.largest),
        "dtype": value.dtype,
        "file": value.file,
        "line": value.line,
    }
