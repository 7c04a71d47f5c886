"""The verb `texts`: every text that learners read, with its id."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from lessons.reading import glossary, mistake_library, text_catalog
from lessons.reading.loader import load_course
from lessons.reading.text_catalog import Catalog
from tui.commands.errors import UsageError
from tui.commands.output import print_json, print_lines
from tui.tty.exit_codes import ExitCode


def run(options: argparse.Namespace) -> ExitCode:
    """Print the texts of the whole course, or of one group of them."""
    found = read()
    if options.group:
        found = {group: texts for group, texts in found.items() if group == options.group}
        if not found:
            raise UsageError(f"there are no texts of '{options.group}'. There are: {', '.join(read())}")
    if options.json:
        print_json({"texts": [asdict(text) for texts in found.values() for text in texts]})
    else:
        print_lines(f"{text.id}: {' '.join(text.text.split())}" for texts in found.values() for text in texts)
    return ExitCode.OK


def read() -> Catalog:
    """Read the files of the course as they are, in English. Raises `LessonError`."""
    return text_catalog.catalog(load_course(), mistake_library.load_library(), glossary.load())
