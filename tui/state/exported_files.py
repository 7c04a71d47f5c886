"""The files that a learner has taken home in this session: only those are replaced, and only as they were written."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from attn_tutor.lessons.files.regular_file import read_regular
from attn_tutor.lessons.files.whole_file import create_whole, rewrite
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording

say = Wording("screen/exported-files")


class NotWritten(ValueError):
    """A file cannot be written; the text is a sentence."""


class ExportedFiles:
    """The files that were written in this session, with what was written."""

    def __init__(self) -> None:
        self._written: dict[Path, bytes] = {}

    def proposed(self, name: str) -> str:
        """Return the first of `name`, `name-2`, ... that is free, or was written in this session."""
        path = Path(name)
        number = 1
        while True:
            candidate = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
            if not os.path.lexists(candidate) or self._is_own(candidate):
                return str(candidate)
            number += 1

    def write(self, name: str, text: str) -> Path:
        """Write a file, and return its full path. Raises `NotWritten`, above all if another file is there."""
        shown = clean(name, keep="")
        # The file will be looked at on a terminal, too.
        content = clean(text).encode()
        try:
            path = Path(name).expanduser().absolute()
            self.check(name)
            if os.path.lexists(path):
                rewrite(path, content)
            else:
                create_whole(path, content)
        except FileExistsError:
            raise NotWritten(_taken(shown)) from None
        except (OSError, ValueError, RuntimeError) as error:
            if isinstance(error, NotWritten):
                raise
            reason = error.strerror if isinstance(error, OSError) else error
            raise NotWritten(
                say("not-written", "{file} cannot be written: {reason}.", file=shown, reason=reason)
            ) from None
        self._written[path] = hashlib.sha256(content).digest()
        return path

    def check(self, name: str) -> None:
        """Raise `NotWritten` if a file cannot be written, as far as that is known before there is anything to write."""
        shown = clean(name, keep="")
        try:
            path = Path(name).expanduser().absolute()
            if path.is_dir():
                raise NotWritten(say("folder", "{file} is a folder. Name a file in it.", file=shown))
            if os.path.lexists(path) and not self._is_own(path):
                raise NotWritten(_taken(shown))
            if not path.parent.is_dir():
                raise NotWritten(say("no-folder", "{file} cannot be written: there is no such folder.", file=shown))
        except (OSError, ValueError, RuntimeError) as error:
            if isinstance(error, NotWritten):
                raise
            raise NotWritten(say("no-name", "{file} cannot be the name of a file.", file=shown)) from None

    def _is_own(self, path: Path) -> bool:
        """Return whether a file was written in this session, and nobody has changed it since."""
        path = path.expanduser().absolute()
        written = self._written.get(path)
        try:
            return written is not None and hashlib.sha256(read_regular(path, links=False)).digest() == written
        except OSError:
            return False


def _taken(shown: str) -> str:
    return say("exists", "{file} is there already, and stays as it is. Name another file.", file=shown)
