"""The verb `schema`: what a file of a course may contain, for editors that complete and check what is typed."""

from __future__ import annotations

import argparse
import json

from attn_tutor.lessons.authoring import format_schema
from attn_tutor.tui.commands.output import print_lines
from attn_tutor.tui.tty.exit_codes import ExitCode


def run(options: argparse.Namespace) -> ExitCode:
    """Print the JSON Schema of a kind of file."""
    print_lines([json.dumps(format_schema.schema_of(options.kind), indent=1)])
    return ExitCode.OK
