"""The command `attn-tutor`: parse the command line and run the verb that it names."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import open_tutor
from attn_tutor.tui.commands.output import CommandError, UsageError, discard_output, print_error, use_given_encoding
from attn_tutor.tui.tty import clean_output
from attn_tutor.tui.tty.exit_codes import ExitCode, ended_by

if TYPE_CHECKING:
    import argparse

say = Wording("command/main")

OF_SOME_VERBS = ("plain", "columns", "course")
"""Options of the tutor that some verbs have too; they may stand before the verb or behind it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code, one of `ExitCode` or that of a signal."""
    use_given_encoding()
    with clean_output.installed():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        given = sys.argv[1:] if arguments is None else arguments
        # Without a verb there is nothing to parse, and to declare all verbs takes as long as to read the map.
        given, of_program = own_arguments(given)
        options = _parsed(given) if given else None
        if options is not None:
            options.arguments = of_program or getattr(options, "arguments", [])
        if sys.stdout is None:
            raise UsageError(say("no-output", "Nothing can be printed, because standard output is closed."))
        exit_code: int = options.run(options) if options else open_tutor.run()
        sys.stdout.flush()
        return exit_code
    except CommandError as error:
        print_error(error)
        return error.exit_code
    except BrokenPipeError:
        # The reader (such as `head`) has seen enough.
        discard_output()
        return ExitCode.OK
    except KeyboardInterrupt:
        return ended_by(signal.SIGINT)
    except OSError as error:
        named = f"{error.filename}: " if isinstance(error.filename, str) else ""
        print_error(f"{named}{error.strerror}" if error.strerror else error)
        discard_output()
        return ExitCode.FAILURE
    except Exception as error:
        sentence = _incomplete(error) if isinstance(error, ImportError) else _changed(error)
        if sentence:
            print_error(sentence)
            return ExitCode.INCOMPLETE
        # Python's own exit code for this is 1, which would say that an answer did not pass.
        traceback.print_exc()
        return ExitCode.FAILURE


def _parsed(given: Sequence[str]) -> argparse.Namespace:
    """Return the arguments by name; prints what is wrong with them and exits if they make no sense."""
    parser = _parser()
    options, unknown = parser.parse_known_args(given)
    if unknown:
        words = " ".join(unknown)
        said = say("unrecognized", "unrecognized arguments: {words}", words=words)
        file = getattr(options, "file", None)
        if isinstance(file, str) and file.endswith(".py"):
            example = f"attn-tutor {given[0]} {file} -- {words}"
            said = f"{said}. " + say("behind", "What is for the program stands behind --: {example}", example=example)
        parser.error(said)
    for name in OF_SOME_VERBS:
        # What stands before a verb and is nothing to it would be ignored without a word.
        if getattr(options, name) and options.verb is not None and options.verb.get_default(name) is None:
            options.verb.error(say("nothing-to-it", "this command has no option --{name}", name=name))
    return options


def own_arguments(given: Sequence[str]) -> tuple[Sequence[str], list[str]]:
    """Return the arguments up to the first `--`, and those behind it, which are for a program of the user's own."""
    if "--" not in given:
        return given, []
    end = given.index("--")
    return given[:end], list(given[end + 1 :])


def _incomplete(error: ImportError) -> str:
    """Say how to install a package that could not be imported, "" if it is one of our own."""
    from attn_tutor.lessons.engine.launching.reinstalling import missing_package, reinstall_command

    package = missing_package(error)
    if not package:
        return ""
    command = reinstall_command(package)
    if isinstance(error, ModuleNotFoundError) and error.name == package:
        return say(
            "missing", "The package {package} is not installed. To install it: {command}",
            package=package, command=command,
        )  # fmt: skip
    return say(
        "damaged", "The package {package} is damaged ({why}). To install it again: {command}",
        package=package, why=error, command=command,
    )  # fmt: skip


def _changed(error: Exception) -> str:
    """Say how to install a package that is not what was installed, which any error may come from; "" if all are."""
    from attn_tutor.lessons.engine.launching.reinstalling import changed_package, reinstall_command

    package, file = changed_package()
    if not package:
        return ""
    return say(
        "changed", "The package {package} is damaged: {file} is not what was installed ({why}). "
        "To install it again: {command}",
        package=package, file=file, why=error, command=reinstall_command(package),
    )  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    import argparse

    from attn_tutor.tui.commands.print_version import PrintVersion
    from attn_tutor.tui.commands.verb_table import VERBS

    parser = argparse.ArgumentParser(
        prog="attn-tutor",
        description=say(
            "description", "Understand attention by touching every number. Without a command, this opens the tutor."
        ),
    )
    parser.add_argument("--version", action=PrintVersion, nargs=0, help=say("version", "print versions and exit"))
    parser.add_argument(
        "--plain",
        action="store_true",
        help=say("plain", "open the course as a dialogue in plain text, without a screen"),
    )
    parser.add_argument(
        "--columns", type=int, metavar="N", help=say("columns", "with --plain: the width of a line of text")
    )
    parser.add_argument(
        "--course",
        metavar="COURSE",
        help=say(
            "course", "open a different course: its id ('attn-tutor courses' lists them), or a folder with its files"
        ),
    )
    parser.set_defaults(run=open_tutor.run, verb=None)
    commands = parser.add_subparsers(metavar="COMMAND", title=say("commands", "commands"))
    for verb in VERBS:
        summary = verb.summary()
        verb_parser = commands.add_parser(verb.name, help=summary, description=f"{summary[:1].upper()}{summary[1:]}.")
        verb.add_arguments(verb_parser)
        verb_parser.set_defaults(run=verb.run, verb=verb_parser)
    return parser
