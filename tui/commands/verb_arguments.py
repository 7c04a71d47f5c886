"""Arguments that several verbs of the command `attn-tutor` have."""

from __future__ import annotations

import argparse

from attn_tutor.lessons.texts.wording import Wording

say = Wording("command/arguments")


def add_json(parser: argparse._ActionsContainer) -> None:
    """Add the option for a JSON document."""
    parser.add_argument("--json", action="store_true", help=say("json", "print a JSON document instead of text"))


def add_course(parser: argparse.ArgumentParser) -> None:
    """Add the option for another course."""
    # It may also stand before the verb; then this must not replace it.
    parser.add_argument(
        "--course",
        metavar="COURSE",
        default=argparse.SUPPRESS,
        help=say("course", "use a different course: its id, or a folder with its files"),
    )


def add_plain(parser: argparse._ActionsContainer) -> None:
    """Add the option for a dialogue in plain text."""
    # It may also stand before the verb, as --course may.
    parser.add_argument(
        "--plain",
        action="store_true",
        default=argparse.SUPPRESS,
        help=say("plain", "open it as a dialogue in plain text"),
    )


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the width of a line of a dialogue."""
    parser.add_argument(
        "--columns",
        type=int,
        metavar="N",
        default=argparse.SUPPRESS,
        help=say("columns", "with --plain: the width of a line of text"),
    )


def add_lesson(parser: argparse.ArgumentParser) -> None:
    """Add a lesson."""
    parser.add_argument("lesson", metavar="LESSON", help=say("lesson", "the id or number of a lesson"))


def add_lesson_or_program(parser: argparse.ArgumentParser) -> None:
    """Add a lesson with a step, or a program of the user's own."""
    parser.add_argument(
        "lesson",
        metavar="LESSON",
        help=say(
            "lesson-or-program",
            "the id or number of a lesson, or a Python file of your own, with - in place of STEP; what follows -- are "
            "its arguments",
        ),
    )
    parser.add_argument("step", metavar="STEP", help=say("step", "the id of a step of the lesson"))
    add_no_limits(parser)


def add_own_program(parser: argparse.ArgumentParser) -> None:
    """Add a program of the user's own."""
    parser.add_argument("file", metavar="FILE", help=say("own-program", "a Python file of your own"))
    add_own_arguments(parser)


def add_own_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what a program of the user's own is given."""
    parser.add_argument(
        "arguments",
        metavar="ARGUMENT",
        nargs="*",
        help=say("own-arguments", "what your program is given on its command line, behind --"),
    )
    add_no_limits(parser)


def add_no_limits(parser: argparse.ArgumentParser) -> None:
    """Add the option to lift the limits."""
    parser.add_argument(
        "--no-limits",
        action="store_true",
        help=say(
            "no-limits", "let your program write files, use the network, and take as much time and memory as it needs"
        ),
    )


def add_exercise(parser: argparse.ArgumentParser) -> None:
    """Add an exercise."""
    parser.add_argument("exercise", metavar="EXERCISE", help=say("exercise", "the id or number of an exercise"))


def add_set(parser: argparse.ArgumentParser) -> None:
    """Add the option to set knobs."""
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        help=say("set", "set a knob ('attn-tutor list --knobs LESSON' names them); you can repeat this"),
    )
