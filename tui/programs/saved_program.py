"""The files of a program of one's own on disk: whether one was saved since it ran, and its source now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from attn_tutor.lessons.files import read_regular
from attn_tutor.lessons.programs.results.program_result import OwnProgram
from attn_tutor.lessons.results.clean_text import printable
from attn_tutor.tui.state.saved_file import FileFingerprint, Settling, look

MISSING = 3
"""Looks in a row that do not find a file which is gone."""


class SavedProgram:
    """The files of a program that has run."""

    def __init__(self, program: OwnProgram) -> None:
        self.path = Path(program.path)
        self._source = None if program.data else program.code
        self._files: dict[Path, Settling] = {}
        self._looks_without = 0

    @property
    def name(self) -> str:
        """The name of its file."""
        return printable(self.path.name)

    def changed(self, imported: Iterable[str], began: int) -> bool:
        """Return whether one of its files has been saved since it ran, or since the last call that found that.

        `imported` are the files that its last run has imported, and `began` is when that began, in nanoseconds since
        the epoch. Files that earlier runs imported count too: a save may mend what kept the last run from doing so.
        """
        changed = False
        for file in {self.path, *map(Path, imported)} | self._files.keys():
            found = look(file)
            if file not in self._files:
                self._files[file] = Settling(found if self._has_run(file, found, began) else None)
            if self._files[file].settled(found) and found is not None:
                self._files[file].judge(found)
                changed = True
        return changed

    def vanished(self) -> bool:
        """Return True once when the file of the program is gone: an editor may replace it between two looks."""
        self._looks_without = self._looks_without + 1 if look(self.path) is None else 0
        return self._looks_without == MISSING

    def read(self, program: OwnProgram) -> OwnProgram | None:
        """Return the program with its source as it is now; None if it cannot be read, as while an editor saves it.

        What reads a file of tensors is no part of that file.
        """
        if program.data:
            return program
        source = self._read()
        return None if source is None else replace(program, code=source)

    def _has_run(self, file: Path, found: FileFingerprint | None, began: int) -> bool:
        """Return whether a file that is seen for the first time is the one that has run."""
        if file == self.path and self._source is not None:
            # It was read before the program began.
            return self._source == self._read()
        return found is None or found.mtime_ns <= began

    def _read(self) -> str | None:
        try:
            text = read_regular(self.path).decode("utf-8-sig", "surrogateescape")
            return text.replace("\r\n", "\n").replace("\r", "\n")
        except OSError:
            return None
