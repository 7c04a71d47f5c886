"""The verb `preview`: a lesson that an author is writing, shown as learners will see it, and again after each save."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path

from attn_tutor.lessons.authoring.previewed_course import NoPreview, PreviewedCourse, Version
from attn_tutor.lessons.courses import course_code, course_list
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.play import course_path
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import output
from attn_tutor.tui.commands.chosen_course import allow
from attn_tutor.tui.commands.output import UsageError
from attn_tutor.tui.commands.verbs.run_lesson import print_lesson
from attn_tutor.tui.render import finding_text
from attn_tutor.tui.tty.exit_codes import ExitCode
from attn_tutor.tui.tty.terminal import Terminal, prepare, this_terminal

say = Wording("command/preview")


def run(options: argparse.Namespace) -> int:
    """Read the files, and open the step on the screen, as a dialogue, or print it where there is no terminal."""
    file, step = _split(options.file)
    try:
        previewed = PreviewedCourse.at(Path(file))
    except NoPreview as error:
        raise UsageError(clean(str(error), keep="")) from None
    _check_allowed(previewed)
    version = previewed.read()
    index = _index(version, step)
    terminal = this_terminal()
    if options.plain:
        return _talk(terminal, previewed, version, index, options.columns)
    if not terminal.interactive:
        return _print(previewed, version, index if step or version.step is not None else None)
    print(what_will_run(previewed, version), file=sys.stderr, flush=True)
    return _draw(terminal, previewed, version, index)


def _split(text: str) -> tuple[str, str]:
    """Return the file and the step of `FILE:STEP`; a file may have a colon in its name."""
    if ":" not in text or Path(text).exists():
        return text, ""
    file, _, step = text.rpartition(":")
    return file, step


def _check_allowed(previewed: PreviewedCourse) -> None:
    """Ask whether the code of somebody else may run: a course that was added or installed, but not an author's own.

    Raises `CommandError` if it may not.
    """
    if (previewed.folder / loader.COURSE_FILE).exists():
        with suppress(LessonError):
            allow(course_list.in_folder(previewed.folder, course_list.available()))


def _index(version: Version, step: str) -> int:
    """Return the position of the step to open. Raises `UsageError` if there is no such step."""
    if not step:
        return version.step or 0
    found = course_path.step_named(version.lesson, step)
    if found is None and version.is_new:
        known = ", ".join(each.id for each in version.lesson.steps)
        raise UsageError(
            say(
                "no-step",
                "There is no step '{step}'. The steps are: {known}",
                step=clean(step, keep=""),
                known=known,
            )
        )
    return found or 0


def what_will_run(previewed: PreviewedCourse, version: Version) -> str:
    """Say what a preview runs, and how."""
    found = course_code.what_runs(Course(lessons=(version.lesson,)))
    said = say(
        "runs",
        "A preview of {file}. Lines of code in it: {lines}. They run as a learner's answers do: in processes of their "
        "own, with limits on time, memory and files.",
        file=clean(previewed.path.name, keep=""),
        lines=found.lines,
    )
    claiming = any(step.claimed for step in version.lesson.steps)
    if not (claiming and previewed.is_course):
        return said
    folder = shlex.quote(clean(str(previewed.folder), keep=""))
    lint = say("claims", "Whether its claims are true, this says: attn-tutor lint --claims {folder}", folder=folder)
    return f"{said}\n{lint}"


def _draw(terminal: Terminal, previewed: PreviewedCourse, version: Version, index: int) -> int:
    prepare(terminal, os.environ)
    from attn_tutor.tui.commands.run_app import run_app
    from attn_tutor.tui.sources.draft_source import DraftSource

    return run_app(terminal, DraftSource(previewed, version, index))


def _talk(terminal: Terminal, previewed: PreviewedCourse, version: Version, index: int, columns: int | None) -> int:
    from attn_tutor.lessons.engine.session import Session
    from attn_tutor.tui.plain import dialogue
    from attn_tutor.tui.plain.dialogue import Dialogue
    from attn_tutor.tui.sources.draft_source import DraftSource

    source = DraftSource(previewed, version, index, Session())
    output.print_now([what_will_run(previewed, version), ""])
    dialogue.converse(
        lambda console: Dialogue(source, source.read(), console),
        columns,
        unicode=terminal.unicode,
    )
    return ExitCode.OK


def _print(previewed: PreviewedCourse, version: Version, index: int | None) -> int:
    """Print the lesson, or one step of it."""
    for finding in version.findings:
        print(clean(f"{previewed.shown_position(finding)}: {finding_text.sentence(finding)}", keep=""), file=sys.stderr)
    if not version.is_new:
        return ExitCode.NOT_PASSED
    return print_lesson(version.lesson, None if index is None else version.lesson.steps[index].id)
