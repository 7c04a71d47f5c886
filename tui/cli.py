"""The command `attn-tutor`: parse the command line and dispatch to a module of `tui.commands`."""

from __future__ import annotations

import argparse
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from tui.commands import open_tutor
from tui.commands.errors import CommandError, UsageError
from tui.commands.output import discard_output, print_error
from tui.commands.verbs import VERBS, Verb
from tui.tty.exit_codes import ExitCode, ended_by

VERSION = "0.1.0"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code, one of `ExitCode` or that of a signal."""
    try:
        options = _parser().parse_args(arguments)
        if sys.stdout is None:
            raise UsageError("standard output is closed")
        exit_code: int = options.run(options)
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
        print_error(error.strerror or error)
        discard_output()
        return ExitCode.FAILURE
    except Exception:
        # Python's own exit code for this is 1, which would say that an answer did not pass.
        traceback.print_exc()
        return ExitCode.FAILURE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attn-tutor",
        description="Understand attention by touching every number. Without a command: open the tutor.",
    )
    parser.add_argument("--version", action="version", version=f"attn-tutor {VERSION}")
    parser.set_defaults(run=open_tutor.run)
    commands = parser.add_subparsers(metavar="COMMAND", title="commands", parser_class=_VerbParser)
    for verb in VERBS:
        commands.add_parser(verb.name, help=verb.summary, description=verb.summary, verb=verb)
    return parser


class _VerbParser(argparse.ArgumentParser):
    """The parser for the arguments of one verb, which loads the verb's module only when the command line names it."""

    def __init__(self, *, verb: Verb, **settings: Any) -> None:
        super().__init__(**settings)
        self._verb = verb

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Load the verb's module, add its arguments, and parse the rest of the command line."""
        command = self._verb.load()
        command.add_arguments(self)
        self.set_defaults(run=command.run)
        return super().parse_known_args(args, namespace)
