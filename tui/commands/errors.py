"""Errors that end a command early, with a sentence for standard error."""

from __future__ import annotations

from attn_tutor.tui.tty.exit_codes import ExitCode


class CommandError(Exception):
    """A command cannot do what it was asked to do, through no fault of the user."""

    exit_code = ExitCode.FAILURE


class NotAllowed(CommandError):
    """Somebody was asked whether a course may run, and did not say yes."""


class UsageError(CommandError):
    """The command line names something that does not exist."""

    exit_code = ExitCode.USAGE
