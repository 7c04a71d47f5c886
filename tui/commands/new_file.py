"""Write a file that the learner has named, without destroying one that is there."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

from attn_tutor.lessons.files.whole_file import create_whole, rewrite
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.errors import UsageError
from attn_tutor.tui.commands.files import is_pipe_on_disk

say = Wording("command/new-file")

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
            raise UsageError(say("pipe", "{file} is a pipe. Name a file, or - for standard output.", file=shown))
        if stat.S_ISREG(path.stat().st_mode) and not force:
            raise UsageError(say("exists", "{file} is there already. With --force it is replaced.", file=shown))
    except (OSError, ValueError) as error:
        raise _not_written(shown, error) from None


def write(file: str, text: str, *, force: bool = False) -> None:
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
