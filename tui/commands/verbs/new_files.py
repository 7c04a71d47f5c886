"""The verb `new`: a course, a lesson or an exercise with comments, for an author to write over."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from attn_tutor.lessons.authoring import skeleton
from attn_tutor.lessons.courses import course_list
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.files import write_new
from attn_tutor.tui.commands.output import UsageError, print_lines
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/new")

MAKE: dict[str, Callable[[Path], skeleton.Files]] = {
    "course": skeleton.course_files,
    "lesson": skeleton.lesson_files,
    "exercise": skeleton.exercise_files,
}


def run(options: argparse.Namespace) -> ExitCode:
    """Write the files, and say what to type next. None is written if one of them is there already."""
    path = Path(options.path)
    try:
        files = MAKE[options.what](path)
    except skeleton.NoName:
        shown = clean(options.path, keep="")
        raise UsageError(
            say("no-name", "No id can be made of {path}. Use letters and digits in its name.", path=shown)
        ) from None
    if options.what == "course":
        _check_id(path)
    _check_free(files)
    for file, text in files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            shown, reason = clean(str(file.parent), keep=""), error.strerror or str(error)
            raise UsageError(
                say("no-folder", "The folder {folder} cannot be made: {reason}.", folder=shown, reason=reason)
            ) from None
        write_new(str(file), text)
    print_lines([*_written(files), "", *_next(options.what, next(iter(files)))])
    return ExitCode.OK


def _check_id(folder: Path) -> None:
    """Raise `UsageError` if a course would have the id of another one, which would be opened in its place."""
    course_id = skeleton.slug_of(os.path.basename(os.path.realpath(folder)))
    if course_id in {course.id for course in course_list.available()}:
        raise UsageError(say("known", "There is a course '{id}' already. Choose another name.", id=course_id))


def _check_free(files: skeleton.Files) -> None:
    """Raise `UsageError` if one of the files is there already."""
    for file in files:
        if file.exists() or file.is_symlink():
            shown = clean(str(file), keep="")
            raise UsageError(say("exists", "{file} is there already. Nothing was written.", file=shown))
        if file.parent.exists() and not file.parent.is_dir():
            shown = clean(str(file.parent), keep="")
            raise UsageError(say("file", "{file} is a file, and no folder. Nothing was written.", file=shown))


def _written(files: skeleton.Files) -> Iterator[str]:
    yield say("written", "Written:")
    yield from (f"  {clean(str(file), keep='')}" for file in files if file.parent.name != skeleton.SCHEMAS)
    schemas = {file.parent for file in files if file.parent.name == skeleton.SCHEMAS}
    for folder in schemas:
        shown = clean(str(folder), keep="")
        yield "  " + say("schemas", "{folder}/ (what lets an editor complete and check the fields)", folder=shown)


def _next(what: str, first: Path) -> Iterator[str]:
    """Yield what to do next with new files, the first of which is this."""
    lesson = skeleton.folder_with(skeleton.LESSON, first) if what == "exercise" else None
    if lesson is not None:
        name, file = first.resolve().relative_to(lesson).as_posix(), _typed(lesson / skeleton.LESSON)
        yield say("include", "Add this to the steps in {file}, where it belongs:", file=file)
        yield " ".join(["  -", "include:", clean(name, keep="")])
        yield ""
    yield say("next", "Next:")
    shown = first.parent / skeleton.FIRST_LESSON / skeleton.LESSON if what == "course" else first
    rows = [("preview", shown, say("preview", "see it, and again after each save"))]
    course = skeleton.folder_with(loader.COURSE_FILE, first)
    if course is not None:
        rows.append(("lint", course, say("lint", "find out what is wrong, and prove the exercises")))
        rows.append(("--course", course, say("open", "open it as a learner")))
    commands = [" ".join(["attn-tutor", verb, _typed(path)]) for verb, path, _ in rows]
    width = max(map(len, commands))
    yield from (f"  {command:{width}}  {about}" for command, (*_, about) in zip(commands, rows, strict=True))


def _typed(path: Path) -> str:
    """Return a path as one types it here."""
    here = Path.cwd()
    shown = os.path.relpath(path, here) if path.resolve().is_relative_to(here.resolve().parent) else str(path)
    return shlex.quote(clean(shown, keep=""))
