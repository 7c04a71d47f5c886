"""Files that a program writes while limits hold: copies in its temporary folder, which it then finds in their place.

A training script writes logs and checkpoints, often before it computes anything. Refused, it would end there, and run
with changes, it would overwrite what an earlier training has left. So what it writes elsewhere goes to a copy below a
folder of its own, and whoever reads the file later in the same run reads the copy. This holds for what goes through
Python's own functions, and for `torch.save`; what does not is still refused by the layers around the program.
"""

from __future__ import annotations

import errno
import functools
import io
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from attn_tutor.lessons.worker.fence import limits

FREE = ("/dev", "/proc", "/sys")
"""Folders without files of anybody."""

_open, _stat, _mkdir, _scandir, _listdir = io.open, os.stat, os.mkdir, os.scandir, os.listdir
_os_open = os.open

_FINDING = ("stat", "lstat", "access", "listxattr", "getxattr", "remove", "unlink", "rmdir")
"""Functions of `os` that ask something of the path of a file, or remove it."""

_MARKING = ("chmod", "chown", "lchown", "utime", "setxattr")
"""Functions of `os` that change what a file is marked with. The layers around the program refuse them."""

_KEPT = (("builtins", "open"), ("io", "open"), ("tarfile", "bltn_open"), ("bz2", "_builtin_open"))
"""Modules of the standard library and their names for `open`: some keep what it was when they were imported."""

_PathType = str | bytes | os.PathLike[str] | os.PathLike[bytes]


class ScratchFiles:
    """The copies of files that a program writes. They lie below `folder`; what lies in `around` is written as it is."""

    def __init__(self, folder: Path, around: Path) -> None:
        self._folder, self._around = str(folder), str(around)
        self.written: dict[str, None] = {}
        """The paths of the files that the program has written, in the order of time."""

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let code find the copies while it runs in this context."""
        here = vars(os)
        patches: list[tuple[dict[Any, Any], str | None, Callable[..., Any]]] = [
            *((names, name, self.open) for names, name in _names_of_open()),
            (here, "open", self._open_descriptor),
            (here, "mkdir", self._make_folder),
            (here, "listdir", self._list),
            (here, "scandir", self._scan),
            *((here, name, self._finding(here[name])) for name in _FINDING if name in here),
            *((here, name, self._marking(here[name])) for name in _MARKING if name in here),
            *((here, name, self._moving(here[name])) for name in ("rename", "replace")),
            *((vars(module), "save", self._saving(torch.save)) for module in (torch, torch.serialization)),
        ]
        originals = [(names, name, names[name]) for names, name, _ in patches]
        for names, name, patch in patches:
            names[name] = patch
        try:
            yield
        finally:
            for names, name, original in originals:
                names[name] = original

    def open(self, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        """Open a file as `open` does: to write, its copy; to read, the copy if there is one."""
        path = _absolute(file)
        if path is None:
            return _open(file, mode, *args, **kwargs)
        if set(mode) & set("wax+"):
            copy = self.to_write(file, mode)
            opened = _open(copy, mode, *args, **kwargs)
            self._note(file, copy)
            return opened
        return _open(self._found(file), mode, *args, **kwargs)

    def to_write(self, file: Any, mode: str = "w") -> Any:
        """Return the path of the copy that is written in place of a file, or the file if it needs none."""
        path = _absolute(file)
        if path is None or not self._is_kept(path):
            return file
        copy = self._copy(path)
        if not os.path.lexists(copy):
            if "x" in mode and os.path.lexists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), file)
            if "r" in mode and not _is_there(path):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
            self._make_parents(path, file)
            if set(mode) & set("ra") and _is_there(path):
                limits.allow_files()
                with _open(path, "rb") as source, _open(copy, "wb") as target:
                    shutil.copyfileobj(source, target)
        limits.allow_files()
        return copy

    def _note(self, file: Any, copy: Any) -> None:
        """Note that a copy was written in place of a file."""
        if copy is not file and (path := _absolute(file)) is not None:
            self.written[path] = None

    def _copy(self, path: str) -> str:
        return self._folder + path

    def _found(self, file: Any) -> Any:
        """Return the path to read for a file: its copy if it has one."""
        path = _absolute(file)
        copy = None if path is None else self._copy(path)
        return copy if copy is not None and _is_there(copy) else file

    def _is_kept(self, path: str) -> bool:
        """Return whether a copy is written in place of a file: of an ordinary one that the user may write."""
        if any(path == folder or path.startswith(folder + os.sep) for folder in (self._around, *FREE)):
            return False
        if _is_there(path):
            return stat.S_ISREG(_stat(path).st_mode) and os.access(path, os.W_OK)
        parent = os.path.dirname(path)
        return not _is_there(parent) or os.access(parent, os.W_OK)

    def _make_parents(self, path: str, file: Any) -> None:
        """Make the folder of a copy, if the folder of its file is there. Raises `FileNotFoundError`."""
        parent = os.path.dirname(path)
        if not (_is_folder(parent) or _is_folder(self._copy(parent))):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
        _make_folders(self._copy(parent))

    # What takes the place of functions of `os` ------------------------------------------------------------------------

    def _finding(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of a path that takes the copy of a file if it has one."""

        def called(path: Any, *args: Any, **kwargs: Any) -> Any:
            found = path if kwargs.get("dir_fd") is not None else self._found(path)
            return function(found, *args, **kwargs)

        return functools.wraps(function)(called)

    def _marking(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that marks files, and leaves copies as they are, which are gone when the program ends."""

        def called(path: Any, *args: Any, **kwargs: Any) -> Any:
            if kwargs.get("dir_fd") is None and self._found(path) is not path:
                return None
            return function(path, *args, **kwargs)

        return functools.wraps(function)(called)

    def _open_descriptor(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        is_read = not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        return _os_open(self._found(path) if is_read and dir_fd is None else path, flags, mode, dir_fd=dir_fd)

    def _make_folder(self, path: _PathType, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        whole = None if dir_fd is not None else _absolute(path)
        if whole is None or any(whole.startswith(folder + os.sep) for folder in (self._around, *FREE)):
            return _mkdir(path, mode, dir_fd=dir_fd)
        if os.path.lexists(whole) or os.path.lexists(self._copy(whole)):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        parent = os.path.dirname(whole)
        if _is_folder(parent) and not os.access(parent, os.W_OK):
            return _mkdir(path, mode)
        self._make_parents(whole, path)
        return _mkdir(self._copy(whole), mode)

    def _list(self, path: Any = ".") -> list[Any]:
        whole = _absolute(path)
        copy = None if whole is None else self._copy(whole)
        if copy is None or not _is_folder(copy):
            return _listdir(path)
        added: list[Any] = _listdir(os.fsencode(copy) if isinstance(path, bytes) else copy)
        there: list[Any] = _listdir(path) if _is_folder(str(whole)) else []
        return there + [name for name in added if name not in there]

    def _scan(self, path: Any = ".") -> Any:
        whole = _absolute(path)
        copy = None if whole is None else self._copy(whole)
        if copy is None or not _is_folder(copy):
            return _scandir(path)
        with _scandir(os.fsencode(copy) if isinstance(path, bytes) else copy) as entries:
            added: list[os.DirEntry[Any]] = list(entries)
        there = []
        if _is_folder(str(whole)):
            names = {entry.name for entry in added}
            with _scandir(path) as entries:
                there = [entry for entry in entries if entry.name not in names]
        return _Entries([*there, *added])

    def _moving(self, move: Callable[..., None]) -> Callable[..., None]:
        def moved(source: Any, target: Any, **kwargs: Any) -> None:
            found = source if kwargs else self._found(source)
            if found is source:
                return move(source, target, **kwargs)
            # Such as a checkpoint that is written beside the one before and then put in its place.
            copy = self.to_write(target)
            move(found, copy)
            self._note(target, copy)
            if (path := _absolute(source)) is not None:
                self.written.pop(path, None)
            return None

        return functools.wraps(move)(moved)

    def _saving(self, save: Callable[..., None]) -> Callable[..., None]:
        def saved(obj: object, f: Any, *args: Any, **kwargs: Any) -> None:
            # PyTorch opens the file itself, without Python.
            copy = self.to_write(f) if isinstance(f, str | os.PathLike) else f
            save(obj, copy, *args, **kwargs)
            self._note(f, copy)

        return functools.wraps(save)(saved)


def _names_of_open() -> Iterator[tuple[dict[Any, Any], str | None]]:
    """Yield the places from which code that is loaded takes `open`."""
    for module, name in _KEPT:
        if module in sys.modules:
            yield vars(sys.modules[module]), name
    # numpy keeps it by the ending of a file: it reads and writes text with it.
    openers = getattr(sys.modules.get("numpy.lib._datasource"), "_file_openers", None)
    by_ending = getattr(openers, "_file_openers", None)
    if isinstance(by_ending, dict) and None in by_ending:
        yield by_ending, None


class _Entries:
    """The entries of a folder, as `os.scandir` gives them."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> _Entries:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: the folder was read whole."""


def _absolute(file: Any) -> str | None:
    """Return the whole path of a file; None of what is open already, or is no path."""
    if isinstance(file, str | bytes | os.PathLike):
        with suppress(TypeError, ValueError, OSError):
            return os.path.abspath(os.fsdecode(file))
    return None


def _is_there(path: str) -> bool:
    try:
        _stat(path)
    except (OSError, ValueError):
        return False
    return True


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(_stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _make_folders(path: str) -> None:
    if not _is_folder(path):
        _make_folders(os.path.dirname(path))
        _mkdir(path)
