"""The verb `references`: further reading."""

from __future__ import annotations

import argparse

from attn_tutor.tui.commands.course_lookup import read_course, read_glossary
from attn_tutor.tui.commands.output import print_json, print_lines
from attn_tutor.tui.render import glossary_text
from attn_tutor.tui.tty.exit_codes import ExitCode


def run(options: argparse.Namespace) -> ExitCode:
    """Print the references."""
    found = read_glossary(read_course(options)).references
    if options.json:
        print_json({"references": [reference.model_dump() for reference in found]})
    else:
        print_lines(glossary_text.references(found))
    return ExitCode.OK
