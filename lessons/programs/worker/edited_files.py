"""Files of a program that run with changes: with another source, and with cells that are written on their way.

A changed file stays as it is on disk. What Python compiles when the program imports it is its changed source, with a
call after each statement behind which a cell is written.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

from attn_tutor.lessons.worker.jobs.cell_changes import CellWriter
from attn_tutor.lessons.worker.message_parts import CellWrite
from attn_tutor.lessons.worker.recording.recorder import Recorder


class EditedFiles:
    """The changed files of a program; while it runs, imports find them as they were changed."""

    def __init__(
        self, folder: Path, sources: Mapping[str, str], cells: Sequence[CellWrite], recorder: Recorder
    ) -> None:
        """Initialize; `sources` are the changed sources by their paths from the folder on."""
        self._sources = {str(folder / file): source for file, source in sources.items()}
        self._recorder = recorder
        self._writers: dict[str, CellWriter] = {}
        for file in dict.fromkeys(cell.file for cell in cells):
            own = [cell for cell in cells if cell.file == file]
            # What is inserted into a module finds its function among the builtins.
            self._writers[str(folder / file)] = CellWriter(own, builtins.__dict__, recorder.by_hand)

    @contextlib.contextmanager
    def imported(self) -> Iterator[None]:
        """Have the files compiled with their changes when they are imported in this context."""
        if not self._sources and not self._writers:
            yield
            return
        original = SourceFileLoader.get_code

        def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
            path = loader.get_filename(fullname)
            if path in self._sources or path in self._writers:
                return self._compiled(path)
            return original(loader, fullname)

        SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]
        try:
            yield
        finally:
            SourceFileLoader.get_code = original  # type: ignore[method-assign]

    def take_notes(self) -> list[str]:
        """Return why cells could not be written."""
        return [note for writer in self._writers.values() for note in writer.take_notes()]

    def _compiled(self, path: str) -> CodeType:
        source = self._sources.get(path)
        if source is None:
            with tokenize.open(path) as file:
                source = file.read()
        self._recorder.watch(path, source)
        tree = ast.parse(source, path)
        if path in self._writers:
            self._writers[path].insert_everywhere(tree)
        return compile(tree, path, "exec", dont_inherit=True)
