"""The verb `courses`: list the courses that can be opened, add one of somebody else, look at one again, remove one."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from attn_tutor.lessons.courses import added_courses, consent, course_list
from attn_tutor.lessons.courses.course_content import RefusedCourse
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner import progress_file
from attn_tutor.lessons.reading import kept_course
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.folders import CourseFolder
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import course_consent
from attn_tutor.tui.commands.output import CommandError, UsageError, print_error, print_json, print_lines
from attn_tutor.tui.render import course_text
from attn_tutor.tui.state import course_entries
from attn_tutor.tui.state.course_entries import CourseEntry
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/courses")

MOST_FINDINGS = 10
"""The most findings that are printed of a course that cannot be added."""


def run(options: argparse.Namespace) -> ExitCode:
    """Do what is asked for. Raises `CommandError`."""
    if options.action in ("add", "remove") and options.what is None:
        raise UsageError(
            say("add-what", "Say which course: a folder, or an archive .tar.gz.")
            if options.action == "add"
            else say("remove-what", "Say which course, by its id.")
        )
    return ACTIONS[options.action](options)


# The list -------------------------------------------------------------------------------------------------------------


def _list(options: argparse.Namespace) -> ExitCode:
    if options.what is not None:
        raise UsageError(say("too-many", "'{extra}' is one word too many.", extra=options.what))
    packages = {found.course: found.distribution for found in course_list.installed_courses()}
    entries = list(course_entries.entries())
    if options.json:
        print_json({"courses": [_document(entry, packages.get(entry.course, "")) for entry in entries]})
        return ExitCode.OK
    print_lines(course_text.listed([_row(entry, packages.get(entry.course, "")) for entry in entries]))
    print_lines(["", say("how", "Open one with: attn-tutor --course ID")])
    return ExitCode.OK


def _row(entry: CourseEntry, package: str) -> course_text.Row:
    match entry.course.source:
        case "built-in":
            source = ""
        case "added":
            source = say("added", "added by you")
        case _:
            source = say("installed", "from the package {package}", package=package)
    return entry.course.id, entry.title, entry.status, source


def _document(entry: CourseEntry, package: str) -> dict[str, Any]:
    return {
        "id": entry.course.id,
        "title": entry.title,
        "about": entry.about.strip(),
        "source": entry.course.source,
        "package": package or None,
        "folder": str(entry.course.path),
        "steps": entry.steps,
        "done": entry.done,
        "allowed": entry.allowed,
        "problem": entry.problem or None,
    }


# Adding one -----------------------------------------------------------------------------------------------------------


def _add(options: argparse.Namespace) -> ExitCode:
    source = Path(options.what).expanduser()
    shown = clean(options.what, keep="")
    try:
        if not source.exists():
            raise UsageError(say("no-source", "There is no file or folder {name}.", name=shown))
        with added_courses.staged(source) as course:
            copy = CourseFolder(course.id, course.folder, source="added")
            digest = consent.digest_of(copy)
            known = added_courses.find(course.id)
            if known is not None and _may_stay(known, digest):
                print_lines([say("same", "The course '{id}' is added already, as it is there.", id=course.id)])
                return ExitCode.OK
            print_lines([*course_consent.what_runs_in(course.course, digest), ""])
            if known is not None:
                print_lines(
                    [say("replaces", "It replaces the course '{id}' that you have; progress stays.", id=course.id)]
                )
            if not _agreed(options, say("add-it", "Add it, and let it run?"), course.course):
                print_error(say("not-added", "Nothing was added."))
                return ExitCode.NOT_PASSED
            added = added_courses.add(course)
        course_consent.remember(added, digest)
    except RefusedCourse as error:
        raise UsageError(say("refused", "{name} cannot be added. {reason}", name=shown, reason=error)) from None
    except LessonError as error:
        raise UsageError(_findings(shown, error)) from None
    except OSError as error:
        raise CommandError(
            say("not-copied", "{name} cannot be added: {reason}.", name=shown, reason=error.strerror)
        ) from None
    print_lines([say("is-added", "Added. Open it with: attn-tutor --course {id}", id=added.id)])
    return ExitCode.OK


def _may_stay(known: CourseFolder, digest: str) -> bool:
    """Return whether a course is there already that has this hash and may run."""
    with suppress(RefusedCourse, OSError):
        return consent.digest_of(known) == digest and consent.is_allowed(known)
    return False


def _agreed(options: argparse.Namespace, question: str, course: Course) -> bool:
    """Return whether the learner agrees: on the command line, or asked. Raises `UsageError` if nobody can be asked."""
    if options.yes:
        return True
    if not course_consent.can_ask():
        raise UsageError(say("cannot-ask", "Nobody can be asked here. To agree, say so with --yes."))
    return course_consent.ask(question, lambda: course_consent.show_code(course))


def _findings(name: str, error: LessonError) -> str:
    """Say what is wrong with a course that cannot be read."""
    lines = [str(found) for found in error.findings[:MOST_FINDINGS]]
    if more := len(error.findings) - len(lines):
        lines.append(say.count("more-findings", more, "and {count} more", "and {count} more"))
    sentence = say("unreadable", "{name} cannot be added, because it cannot be read:", name=name)
    return "\n".join([sentence, *lines])


# Looking at one again -------------------------------------------------------------------------------------------------


def _verify(options: argparse.Namespace) -> ExitCode:
    courses = [_named(options.what)] if options.what is not None else list(course_list.available())
    found = [_is_in_order(course, options) for course in courses]
    return ExitCode.OK if all(found) else ExitCode.NOT_PASSED


def _is_in_order(course: CourseFolder, options: argparse.Namespace) -> bool:
    """Print whether a course can be read and may run; ask about one that may not. Returns whether it may."""
    name = course.id
    try:
        loaded = course_consent.load_as(course)
        if consent.is_allowed(course):
            print_lines(
                [
                    say("in-order", "{id}: can be read, and is as it was when it was allowed.", id=name)
                    if consent.needs_consent(course)
                    else say("ours", "{id}: can be read.", id=name)
                ]
            )
            return True
        print_lines(
            [
                say("has-changed", "{id}: has changed since it was allowed.", id=name)
                if consent.was_allowed(course)
                else say("is-new", "{id}: is not allowed to run yet.", id=name)
            ]
        )
        digest = consent.digest_of(course)
        print_lines(["", *course_consent.what_runs_in(loaded, digest), ""])
        if not options.yes and not _may_run(loaded):
            return False
        course_consent.remember(course, digest)
        print_lines([say("is-allowed", "{id}: may run, as it is now.", id=name)])
    except (RefusedCourse, LessonError) as error:
        print_lines([say("broken", "{id}: cannot be opened. {reason}", id=name, reason=error)])
        return False
    except OSError as error:
        print_lines([say("broken", "{id}: cannot be opened. {reason}", id=name, reason=error.strerror)])
        return False
    return True


def _may_run(course: Course) -> bool:
    """Return whether somebody who can be asked lets a course run."""
    if not course_consent.can_ask():
        return False
    return course_consent.ask(say("may-run", "May it run?"), lambda: course_consent.show_code(course))


def _named(course_id: str) -> CourseFolder:
    """Return the course of an id. Raises `UsageError`."""
    known = list(course_list.available())
    for course in known:
        if course.id == course_id:
            return course
    ids = ", ".join(course.id for course in known)
    raise UsageError(say("no-course", "There is no course '{id}'. The courses are: {ids}", id=course_id, ids=ids))


# Removing one ---------------------------------------------------------------------------------------------------------


def _remove(options: argparse.Namespace) -> ExitCode:
    course = _named(options.what)
    if course.source == "built-in":
        raise UsageError(say("built-in", "The course '{id}' is a part of the tutor.", id=course.id))
    if course.source == "installed":
        found = course_list.find_installed(course.id)
        package = found.distribution if found is not None else ""
        raise UsageError(
            say(
                "of-package",
                "The course '{id}' belongs to the package {package}. To remove it, uninstall that.",
                id=course.id,
                package=package,
            )
        )
    try:
        added_courses.remove(course)
        consent.forget(course)
        kept_course.forget(course)
        progress = _progress_folder(course)
        if progress is not None and options.progress:
            shutil.rmtree(progress)
    except OSError as error:
        raise CommandError(say("not-removed", "It cannot be removed: {reason}.", reason=error.strerror)) from None
    print_lines([say("removed", "Removed: {id}", id=course.id)])
    if progress is not None and not options.progress:
        print_lines(
            [
                say(
                    "progress-stays",
                    "Your progress and code stay in {folder}, for when you add it again. --progress removes them too.",
                    folder=progress,
                )
            ]
        )
    return ExitCode.OK


def _progress_folder(course: CourseFolder) -> Path | None:
    """Return the folder with the learner's progress, None if there is none."""
    with suppress(RuntimeError):
        folder = progress_file.default_path(course.state_folder).parent
        return folder if folder.is_dir() else None
    return None


ACTIONS: dict[str, Callable[[argparse.Namespace], ExitCode]] = {
    "list": _list,
    "add": _add,
    "verify": _verify,
    "remove": _remove,
}
"""What follows `courses` on the command line, and what does it."""
