"""The rows of a session that its progress file does not take, kept aside until it does.

They are in a file of their own: a session may be killed before that. Each session has one such file at most. It is an
export, so it can also be imported. Whatever session opens the progress file next takes the rows over. Merging is
idempotent, so it does no harm if two do, or if one is killed in the middle.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from attn_tutor.lessons.files import open_regular, read_most, write_whole
from attn_tutor.lessons.learner import exports
from attn_tutor.lessons.learner.tables import Rows
from attn_tutor.lessons.results.clean_text import printable
from attn_tutor.lessons.texts.wording import Wording

PREFIX, SUFFIX = "unsaved-", ".json"

MOST_BYTES = 32 * 1024 * 1024
"""The largest file that is written or read, which is as much as `import` reads."""

MOST_FILES = 100
"""The most files that are taken over at once; the others wait for the next start."""


class RowsAside:
    """The rows of a session that are kept aside, and those of other sessions with the same progress file.

    Attributes:
        file: where rows of this session are, None if there are none.
        path: the progress file, None if nothing is kept.
    """

    def __init__(self, path: Path | None, course: str) -> None:
        """Keep rows for the progress file at a path, which is with the course of this id; without a path keep none."""
        self.file: Path | None = None
        self.path, self._course = path, course
        self._name = f"{secrets.token_hex(8)}{SUFFIX}"

    @property
    def is_temporary(self) -> bool:
        """Whether the file is in a folder that the system may empty."""
        return self.file is not None and self.path is not None and self.file.parent != self.path.parent

    def write(self, rows: Rows) -> bool:
        """Write rows in place of those that were written before; return whether they are kept somewhere."""
        content = json.dumps(exports.document(rows, self._course)).encode()
        for folder, prefix in self._places() if len(content) <= MOST_BYTES else ():
            file = folder / f"{prefix}{self._name}"
            with suppress(OSError, ValueError):
                if folder.name == _shared_name():
                    with suppress(FileExistsError):
                        folder.mkdir(mode=0o700)
                if not _is_ours(folder):
                    continue
                write_whole(file, content)
                if self.file != file:
                    self.remove()
                self.file = file
                return True
        return False

    def remove(self) -> None:
        """Remove the file of this session: its rows are in the progress file."""
        if self.file is not None:
            with suppress(OSError):
                self.file.unlink()
            self.file = None

    def of_others(self) -> list[Path]:
        """Return the files of other sessions."""
        found: list[Path] = []
        for folder, prefix in self._places():
            with suppress(OSError, ValueError):
                if _is_ours(folder):
                    names = [name for name in os.listdir(folder) if name.startswith(prefix) and name.endswith(SUFFIX)]
                    found += [folder / name for name in sorted(names)]
        return [file for file in found if file != self.file][:MOST_FILES]

    def read(self, file: Path) -> dict[str, list[dict[str, str]]] | None:
        """Return the rows in a file of another session, None if there are none that can be read."""
        try:
            with open_regular(file, links=False) as opened:
                if not _belongs_to_user(os.fstat(opened.fileno())):
                    return None
                content = read_most(opened, MOST_BYTES)
            return exports.parse(exports.decode(content), self._course)
        except (OSError, ValueError):
            return None

    def take(self, file: Path) -> Path | None:
        """Rename a file of another session, so that what that session writes from now on is not removed with it.

        Returns the file, None if it is gone.
        """
        prefix = next(prefix for folder, prefix in self._places() if folder == file.parent)
        taken = file.with_name(f"{prefix}{secrets.token_hex(8)}{SUFFIX}")
        try:
            return file.rename(taken)
        except OSError:
            return None

    def _places(self) -> Iterator[tuple[Path, str]]:
        """Yield folders for the files, with what the names of files begin with there.

        The first one is that of the progress file; what helps on a full disk is a folder on a different one.
        """
        if self.path is None:
            return
        yield self.path.parent, PREFIX
        of_path = hashlib.blake2b(os.fsencode(self.path), digest_size=8).hexdigest()
        # Of these, /var/tmp is the one that a restart of the system leaves as it is.
        for folder in (os.environ.get("TMPDIR", ""), "/var/tmp", "/tmp", os.environ.get("XDG_RUNTIME_DIR", "")):
            if os.path.isabs(folder):
                yield Path(folder, _shared_name()), f"{of_path}-"


def _shared_name() -> str:
    """Return the name of this user's folder in a folder that others may share."""
    return f"unsaved-attn-tutor-{os.geteuid()}"


def _is_ours(folder: Path) -> bool:
    """Return whether a folder belongs to this user, and is no link: in a shared one, others may have put it there."""
    return _belongs_to_user(folder.lstat() if folder.name == _shared_name() else folder.stat(), folder=True)


def _belongs_to_user(found: os.stat_result, *, folder: bool = False) -> bool:
    """Return whether what was found is a file, or folder, of this user that nobody else may write to."""
    kind = stat.S_ISDIR(found.st_mode) if folder else stat.S_ISREG(found.st_mode)
    return kind and found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


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
