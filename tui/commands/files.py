"""The files that the command line names: read, and written without destroying one that is there."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from attn_tutor.lessons.files import NotRegular, create_whole, open_regular, read_most, rewrite
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.output import UsageError

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


STANDARD_OUTPUT = "-"


def check_free(file: str, *, force: bool = False) -> None:
    """Raise `UsageError` if a file cannot be written, as far as that is known before there is anything to write."""
    if file == STANDARD_OUTPUT:
        return
    path, shown = Path(file), clean(file, keep="")
    try:
        if not path.exists():
            if not path.is_symlink() and not path.parent.is_dir():
                raise UsageError(say("no-folder", "{file} cannot be written: there is no such folder.", file=shown))
            return
        if path.is_dir():
            raise UsageError(say("folder", "{file} is a folder. Name a file in it.", file=shown))
        if is_pipe_on_disk(file):
            raise UsageError(
                say("new-file-pipe", "{file} is a pipe. Name a file, or - for standard output.", file=shown)
            )
        if stat.S_ISREG(path.stat().st_mode) and not force:
            raise UsageError(say("exists", "{file} is there already. With --force it is replaced.", file=shown))
    except (OSError, ValueError) as error:
        raise _not_written(shown, error) from None


def write_new(file: str, text: str, *, force: bool = False) -> None:
    """Write a text to a file, or to standard output for `-`. Raises `UsageError`.

    A file that is there is replaced only with `force`, and only once the whole text is on the disk.
    """
    check_free(file, force=force)
    # The file will be looked at on a terminal, too.
    content = clean(text).encode()
    if file == STANDARD_OUTPUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    path = Path(file)
    try:
        if path.exists():
            rewrite(path, content)
        else:
            create_whole(path, content)
    except (OSError, ValueError) as error:
        raise _not_written(clean(file, keep=""), error) from None


def _not_written(shown: str, error: OSError | ValueError) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) else error
    return UsageError(say("not-written", "{file} cannot be written: {reason}.", file=shown, reason=reason))
