"""The files of a program of one's own on disk: whether one was saved since it ran, and its source now."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from lessons.engine.running_program import OwnProgram


class SavedProgram:
    """The files of a program, as they were when it ran."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self._seen: dict[Path, tuple[int, int] | None] = {}

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.path.name

    def changed(self, others: Iterable[str]) -> bool:
        """Return whether a file has changed since the last call; a file that is seen for the first time has not.

        `others` are other files, from the folder of the program on.
        """
        changed = False
        folders = [self.path.parent, *self.path.parents]
        files = [self.path, *(folder / other for other in others for folder in folders if (folder / other).is_file())]
        for file in files:
            now = _stamp(file)
            if now is not None:
                changed |= self._seen.setdefault(file, now) != now
                self._seen[file] = now
        return changed

    def read(self, program: OwnProgram) -> OwnProgram | None:
        """Return the program with its source as it is now; None if it cannot be read, as while an editor saves it.

        What reads a file of tensors is no part of that file.
        """
        if program.data:
            return program
        try:
            return replace(program, code=self.path.read_text(encoding="utf-8-sig", errors="surrogateescape"))
        except OSError:
            return None


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
