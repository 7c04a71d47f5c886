"""The verb `texts`: every text that learners read, with its id: those of the course, of the code, and of the tables."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from attn_tutor.lessons.authoring import interface_texts, translation_files
from attn_tutor.lessons.format.text_walk import CourseText
from attn_tutor.lessons.reading import glossary, loader
from attn_tutor.lessons.reading.course_texts import Catalog, catalog, merged
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.folders import BUILT_IN, COURSE
from attn_tutor.lessons.texts.translations import LANGUAGE_CODE
from attn_tutor.tui.actions import help_pages
from attn_tutor.tui.actions.table import table_texts
from attn_tutor.tui.commands import verb_table
from attn_tutor.tui.commands.chosen_course import chosen_course
from attn_tutor.tui.commands.output import CommandError, UsageError, print_json, print_lines
from attn_tutor.tui.plain import command_table
from attn_tutor.tui.tty.exit_codes import ExitCode


def course_texts(folder: Path) -> Catalog:
    """Read the texts of the course in a folder, and of all that ship if it is one of them, in English.

    Raises `LessonError`.
    """
    ours = [course.path.resolve() for course in BUILT_IN]
    return merged(
        catalog(loader.load_course(path), loader.library_of(path), glossary.load(path))
        for path in (ours if folder.resolve() in ours else [folder])
    )


def own_texts() -> Catalog:
    """Return the texts of the tutor itself by their groups."""
    found = {group: list(texts) for group, texts in interface_texts.catalog().items()}
    tables = table_texts() | help_pages.texts() | command_table.texts() | verb_table.texts()
    for text_id, text in tables.items():
        found.setdefault(text_id.partition("/")[0], []).append(CourseText(text_id, text, True))
    return found


def run(options: argparse.Namespace) -> ExitCode:
    """Print the texts of the whole course, or of one group of them."""
    found = read_all(chosen_course(options).path)
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
    if not LANGUAGE_CODE.fullmatch(folder.name):
        raise UsageError(f"The folder must be named by the code of a language, such as ru, and not '{folder.name}'.")
    try:
        amounts = translation_files.update(folder, found)
    except (LessonError, OSError) as error:
        raise CommandError(str(error)) from None
    print_lines(
        f"{folder / group}.po: {done} of {whole} texts are translated" for group, (done, whole) in amounts.items()
    )
    return ExitCode.OK


def read_all(folder: Path = COURSE) -> Catalog:
    """Read the files of courses and the code of the tutor as they are, in English. Raises `LessonError`."""
    return {**course_texts(folder), **own_texts()}
