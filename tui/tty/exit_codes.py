"""The exit codes of the command `attn-tutor`, on which scripts depend."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class ExitCode(IntEnum):
    """An exit code with its meaning for people. Python and argparse agree on `USAGE`."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Self:
        """Make a member from its number and its meaning."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    OK = 0, "success (for `check`: passed)"
    NOT_PASSED = 1, "not passed, or findings"
    USAGE = 2, "a mistake in the command line"
    FAILURE = 3, "a failure of the tutor"
    INCOMPLETE = 4, "a package that the tutor needs is missing or damaged"
    UNDECIDED = 5, "not all of a program was looked at, so that there is no answer, or only a part of one"


def ended_by(signal_number: int) -> int:
    """Return the exit code of a program that a signal has ended, as shells report it."""
    return 128 + signal_number
