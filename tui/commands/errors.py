"""What ends a command early, with a sentence for standard error."""

from __future__ import annotations

from tui.tty.exit_codes import ExitCode


class CommandError(Exception):
    """A command cannot do what it was asked to do, and that is not the user's fault."""

    exit_code = ExitCode.FAILURE


class UsageError(CommandError):
    """The command line names something that does not exist."""

    exit_code = ExitCode.USAGE
