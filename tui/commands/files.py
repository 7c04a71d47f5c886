"""Read the files that the command line names."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from attn_tutor.lessons.files.regular_file import NotRegular, open_regular, read_most
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.errors import UsageError

say = Wording("command/files")


MEBIBYTE = 1024 * 1024

MOST = 32 * MEBIBYTE
"""The largest file that is read, in bytes. Exported progress has a few; a device has no end."""


def read_file(file: str, *, regular: bool = False, most: int | None = None) -> bytes:
    """Return the content of a file, or of standard input for `-`. Raises `UsageError`.

    With `regular`, a file that is none, such as a pipe that nobody writes to, is refused rather than waited for. `most`
    is the largest size in bytes, if that is not `MOST`.
    """
    shown = clean(file, keep="")
    most = MOST if most is None else most
    if file == "-":
        if sys.stdin is None:
            raise UsageError(say("no-input", "Nothing can be read, because standard input is closed."))
        content = sys.stdin.buffer.read(most + 1)
    else:
        try:
            if not regular and is_pipe_on_disk(file):
                raise UsageError(say("pipe", "{file} is a pipe. Name a file, or - for standard input.", file=shown))
            with open_regular(file) if regular else Path(file).open("rb") as opened:
                content = read_most(opened, most + 1)
        except NotRegular:
            raise UsageError(say("no-file", "{file} is no ordinary file.", file=shown)) from None
        except OSError as error:
            raise UsageError(
                say("cannot-read", "{file} cannot be read: {reason}.", file=shown, reason=error.strerror)
            ) from None
    if len(content) > most:
        most //= MEBIBYTE
        if file == "-":
            raise UsageError(say("input-too-large", "Standard input has more than {most} MiB.", most=most))
        raise UsageError(say("too-large", "{file} has more than {most} MiB.", file=shown, most=most))
    return content


def is_pipe_on_disk(file: str) -> bool:
    """Return whether to open a file would wait for somebody at its other end, where nobody may ever come.

    Pipes that a shell has opened for this process have names in /dev or /proc, and are open.
    """
    return stat.S_ISFIFO(os.stat(file).st_mode) and not os.path.realpath(file).startswith(("/dev/", "/proc/"))


def read_code(file: str) -> str:
    """Return the code in a file, or on standard input for `-`. Raises `UsageError`.

    Bytes that are not UTF-8 stay in the text as surrogates: the judge says in which line they are.
    """
    return read_file(file).decode("utf-8", "surrogateescape").removeprefix("\ufeff")
