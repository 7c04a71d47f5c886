"""The rows of a session that its progress file does not take: they are kept aside until it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attn_tutor.lessons.learner.rows_aside import RowsAside
from attn_tutor.lessons.results.clean_text import printable
from attn_tutor.lessons.texts.wording import Wording

say = Wording("progress/unsaved")

QueuedRows = dict[str, list[dict[str, str]]]
"""Rows of each table that wait to be written."""


def queue(rows: QueuedRows, new: Mapping[str, Sequence[dict[str, str]]]) -> None:
    """Add new rows to others that wait, with the newest draft of each exercise only, and the newest position.

    However fast the learner types and however slow the disk is, there are no more than that.
    """
    for table, added in new.items():
        waiting = rows.setdefault(table, [])
        if table == "drafts":
            replaced = {row["exercise"] for row in added}
            waiting[:] = [row for row in waiting if row["exercise"] not in replaced]
        elif table == "position":
            waiting.clear()
        waiting += added


class UnsavedRows:
    """The rows of a session that are not in its progress file.

    Attributes:
        kept: whether all of them are kept aside, or there are none.
    """

    def __init__(self, path: Path | None, course: str) -> None:
        """Keep rows for the progress file at a path, which is with the course of this id; without a path keep none."""
        self.kept = True
        self._path = path
        self._aside = RowsAside(path, course)
        self._rows: QueuedRows = {}

    def add(self, rows: QueuedRows) -> None:
        """Keep rows aside that the file has not taken, with those before them."""
        queue(self._rows, rows)
        # Nothing has changed where nothing is added; but what could not be kept before may be kept now.
        if rows or not self.kept:
            self.kept = self._aside.write(self._rows)

    def settle(self) -> None:
        """Forget all rows, which are in the file now."""
        self._rows, self.kept = {}, True
        self._aside.remove()

    def whereabouts(self, *, may_pass: bool) -> Iterator[str]:
        """Say where the rows are; `may_pass` as `ProgressFile` has it."""
        if not self._rows or self._path is None:
            return
        file = printable(self._aside.file or "")
        if not self.kept:
            yield say("nowhere", "Nor can it be kept anywhere else: what you do is lost when attn-tutor ends.")
        elif not may_pass:
            yield say(
                "instead",
                "What you do is kept in {file} instead. attn-tutor takes it from there by itself once it can be saved "
                "in the usual folder. Elsewhere, 'attn-tutor import' takes that file.",
                file=file,
            )
        elif self._aside.is_temporary:
            yield say(
                "for-now",
                "Until then, what you do is kept in {file}, from where attn-tutor takes it by itself. That is a folder "
                "for temporary files, so do not wait for long.",
                file=file,
            )
        else:
            yield say(
                "until-then",
                "Until then, what you do is kept in {file}, from where attn-tutor takes it by itself.",
                file=file,
            )

    def of_others(self) -> Iterator[tuple[Path, QueuedRows]]:
        """Yield what other sessions with this file keep aside: where it is, and the rows."""
        for file in self._aside.of_others():
            if rows := self._aside.read(file):
                yield file, rows

    def taken_from_others(self) -> Iterator[tuple[Path, QueuedRows]]:
        """Yield what other sessions keep aside, each in a file that none of them writes to any more."""
        for file, _ in self.of_others():
            taken = self._aside.take(file)
            # It may have been written once more before it was taken.
            if taken is not None and (rows := self._aside.read(taken)):
                yield taken, rows
