"""The verb `glossary`: what the terms of the course mean."""

from __future__ import annotations

import argparse

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.course_lookup import read_course, read_glossary
from attn_tutor.tui.commands.output import UsageError, print_json, print_lines
from attn_tutor.tui.render import glossary_text
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/glossary")


def run(options: argparse.Namespace) -> ExitCode:
    """Print the terms that match, or all of them."""
    course = read_course(options)
    glossary = read_glossary(course)
    text = " ".join(options.term)
    found = glossary.search(text) if text else glossary.terms
    if not found:
        raise UsageError(say("not-found", "The glossary has nothing about '{text}'.", text=text))
    if options.json:
        print_json({"terms": [term.model_dump() for term in found]})
    else:
        print_lines(glossary_text.terms(found, course))
    return ExitCode.OK
