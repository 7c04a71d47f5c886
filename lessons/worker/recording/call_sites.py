"""Call sites of operations: the watched code that an operation was called from, read off the stack of the interpreter.

This runs for every operation. Equal sites are one object, so a loop makes no new ones. While a call of a function
lasts, its callers wait where they are, so they are looked up for its first operation only.
"""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
import tokenize
from pathlib import Path
from types import CodeType, FrameType

import attention
from lessons.worker.recording.record import CallSites, Site

DEPTH = 200
MOST_KNOWN = 4096
"""Different call sites that are remembered; beyond that they are made anew."""

RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Marks of functions that may be called from several places while they last."""

PACKAGE = str(Path(attention.__file__).parent)

OWN = str(Path(__file__).parents[2]) + os.sep
"""The folder of the tutor's own code, which a program in a copy of its repository does not mean."""

_PRINTING = "_tensor_str.py"

INSTALLED = ("site-packages", "dist-packages")
"""Folders that installed packages lie in, wherever they are."""


class SiteFinder:
    """Finds the call sites of operations in watched files.

    Attributes:
        aside: sites that stand behind those of every operation: what is computed now explains an operation there.
        outermost: the frame whose callers are not looked at; None if that is the code of a module.
    """

    def __init__(self, sources: dict[str, str]) -> None:
        self._sources = sources
        self._watched: dict[str, bool | None] = {}
        self._folders: list[str] = []
        self._known: dict[tuple[int, ...], CallSites] = {}
        self._module: CodeType | None = None
        self._in_module: dict[int, CallSites] = {}
        self._frame: FrameType | None = None
        self._of_frame: CallSites | None = None
        self._in_frame: dict[int, CallSites] = {}
        self.aside: tuple[Site, ...] = ()
        self.outermost: FrameType | None = None

    def watch(self, filename: str, source: str) -> None:
        """Watch a source file: an operation is attributed to the innermost watched code that called it."""
        self._sources[filename] = source
        self._watched[filename] = True
        self._module = None
        self.release()

    def watch_below(self, folder: str) -> None:
        """Watch each source file below a folder, which ends with a separator, but no installed package."""
        self._folders.append(folder)
        self._watched = {name: seen for name, seen in self._watched.items() if seen}

    def is_watched(self, code: CodeType) -> bool:
        """Return whether operations that this code calls are attributed to it."""
        name = code.co_filename
        try:
            return bool(self._watched[name])
        except KeyError:
            seen = self._watched[name] = self._is_watched(name)
            return bool(seen)

    def release(self) -> None:
        """Let go of the frame of the last operation, which keeps the variables of a function that has returned."""
        self._frame = None

    def find(self, frame: FrameType) -> CallSites | None:
        """Return the sites that called an operation, given the frame that did; None for the printing of a tensor."""
        if self.aside:
            return self._walk(frame)
        if frame is self._frame:
            return self._of_frame or self._in_frame.get(frame.f_lasti) or self._walk(frame)
        self._frame = None
        if frame.f_code is self._module:
            # Code outside of all functions: the position in it says everything.
            return self._in_module.get(frame.f_lasti) or self._walk(frame)
        return self._walk(frame)

    def _walk(self, first: FrameType) -> CallSites | None:
        watched = self._watched
        found: list[Site] = []
        key: list[int] = []
        direct = resumed = False
        frame: FrameType | None = first
        for _ in range(DEPTH):
            if frame is None:
                break
            code = frame.f_code
            name = code.co_filename
            try:
                seen = watched[name]
            except KeyError:
                seen = watched[name] = self._is_watched(name)
            if code.co_flags & RESUMED:
                resumed = True
            if seen:
                if frame is first:
                    direct = True
                found.append((code, frame.f_lasti))
                # By identity: the hash of a code object takes long.
                key += id(code), frame.f_lasti
                if code.co_name == "<module>" or frame is self.outermost:
                    break
            elif seen is None and code.co_name == "_str":
                return None
            frame = frame.f_back
        if self.aside:
            return (*found, *self.aside), direct
        key.append(direct)
        whole = tuple(key)
        sites = self._known.get(whole)
        if sites is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
                self._module = None
            # These tuples keep the code objects, so another one cannot get the same identity.
            sites = self._known[whole] = tuple(found), direct
        if frame is first and found:
            if first.f_code is not self._module:
                self._module = first.f_code
                self._in_module = {}
            self._in_module[first.f_lasti] = sites
        elif not resumed:
            if first is not self._frame:
                self._frame = first
                self._in_frame = {}
            self._of_frame = None if direct else sites
            self._in_frame[first.f_lasti] = sites
        return sites

    def _is_watched(self, name: str) -> bool | None:
        """Return whether to attribute operations to a file; None for the one that prints tensors."""
        if name.endswith(_PRINTING):
            return None
        if name.startswith(PACKAGE):
            if Path(name).name.startswith("_"):
                return False
        elif not any(map(name.startswith, self._folders)) or name.startswith(OWN) or _is_installed(name):
            return False
        try:
            with tokenize.open(name) as file:
                self._sources[name] = file.read()
        except (OSError, SyntaxError, UnicodeError):
            return False
        return True


def _is_installed(name: str) -> bool:
    """Return whether a file belongs to Python itself or to a package that was installed."""
    paths = sysconfig.get_paths()
    own = (paths["stdlib"], paths["platstdlib"], *((sys.prefix,) if sys.prefix != sys.base_prefix else ()))
    return any(name.startswith(folder + os.sep) for folder in own) or not set(INSTALLED).isdisjoint(Path(name).parts)
