"""The verb `texts`: every text that learners read, with its id."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from attn_tutor.lessons.authoring import translation_files
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.folders import COURSE
from attn_tutor.lessons.reading.text_catalog import Catalog
from attn_tutor.lessons.texts.language import CODE
from attn_tutor.tui.commands import text_groups
from attn_tutor.tui.commands.chosen_course import chosen_course
from attn_tutor.tui.commands.errors import CommandError, UsageError
from attn_tutor.tui.commands.output import print_json, print_lines
from attn_tutor.tui.tty.exit_codes import ExitCode


def run(options: argparse.Namespace) -> ExitCode:
    """Print the texts of the whole course, or of one group of them."""
    found = read(chosen_course(options).path)
    if options.update:
        return _update(Path(options.update), found)
    if options.group:
        known, found = found, {group: texts for group, texts in found.items() if group == options.group}
        if not found:
            raise UsageError(f"There is no group '{options.group}'. The groups are: {', '.join(known)}")
    if options.json:
        print_json({"texts": [asdict(text) for texts in found.values() for text in texts]})
    else:
        print_lines(f"{text.id}: {' '.join(text.text.split())}" for texts in found.values() for text in texts)
    return ExitCode.OK


def _update(folder: Path, found: Catalog) -> ExitCode:
    if not CODE.fullmatch(folder.name):
        raise UsageError(f"The folder must be named by the code of a language, such as ru, and not '{folder.name}'.")
    try:
        amounts = translation_files.update(folder, found)
    except (LessonError, OSError) as error:
        raise CommandError(str(error)) from None
    print_lines(
        f"{folder / group}.po: {done} of {whole} texts are translated" for group, (done, whole) in amounts.items()
    )
    return ExitCode.OK


def read(folder: Path = COURSE) -> Catalog:
    """Read the files of courses and the code of the tutor as they are, in English. Raises `LessonError`."""
    return {**text_groups.courses(folder), **text_groups.interface()}
