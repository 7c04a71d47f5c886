"""Call sites of operations: the watched code that an operation was called from, read off the stack of the interpreter.

This runs for every operation. Equal sites are one object, so a loop makes no new ones. While a call of a function
lasts, its callers wait where they are: the stack is read up to the first call that lasted already at the operation
before, and no further.
"""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
import tokenize
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import torch

from attn_tutor.lessons.worker.recording.event import CallSites, Site

DEPTH = 200
"""Frames that are looked at, and sites that an operation has, at most."""

NO_SITES: CallSites = ((), False)
MOST_KNOWN = 4096
"""Different call sites that are remembered; beyond that they are made anew."""

OnCalls = Callable[[FrameType, Sequence[FrameType], Sequence[FrameType] | None], None]
"""Is given the frame that calls an operation, the calls that are new, and those that have ended, innermost first.

None for the latter if they are not known. Calls of generators and coroutines are new at each operation, and never end.
"""

RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Marks of functions that may be called from several places while they last."""

PACKAGE = str(Path(__file__).parents[3] / "attention") + os.sep
"""The folder of the layers that the course builds. A user's `attention.py` or `attention_2/` beside it isn't in it."""

OWN = str(Path(__file__).parents[2]) + os.sep
"""The folder of the tutor's own code, which a program in a copy of its repository does not mean."""

_PRINTING = torch._tensor_str.__file__

INSTALLED = ("site-packages", "dist-packages")
"""Folders that installed packages lie in, wherever they are."""


@dataclass(slots=True)
class _Call:
    """A call of a watched function that lasts.

    Attributes:
        depth: how many of the calls that last came before.
        callers: the sites that it was called from, innermost first.
        own: the sites of operations that the function calls itself, by the position in it.
        others: those of operations that are called by what it calls.
    """

    depth: int
    callers: tuple[Site, ...]
    own: dict[int, CallSites] = field(default_factory=dict)
    others: dict[int, CallSites] = field(default_factory=dict)


class SiteFinder:
    """Finds the call sites of operations in watched files.

    Attributes:
        aside: sites that stand behind those of every operation: what is computed now explains an operation there.
        on_calls: called before an operation if calls of watched functions have begun or ended since the one before.
    """

    def __init__(self, sources: dict[str, str]) -> None:
        self._sources = sources
        self._watched: dict[str, bool | None] = {}
        self._folders: list[str] = []
        # With what their keys mean by identity, so that nothing else can get the same.
        self._known: dict[tuple[int, int, int], tuple[tuple[Site, ...], tuple[Site, ...]]] = {}
        self._pairs: dict[tuple[int, bool], CallSites] = {}
        self._calls: dict[FrameType, _Call] = {}
        self._frame: FrameType | None = None
        self._of_frame: CallSites | None = None
        self._in_frame: dict[int, CallSites] = {}
        self.aside: tuple[Site, ...] = ()
        self.on_calls: OnCalls | None = None
        self._outermost: FrameType | None = None

    def watch(self, filename: str, source: str) -> None:
        """Watch a source file: an operation is attributed to the innermost watched code that called it."""
        self._sources[filename] = source
        self._watched[filename] = True
        self.release()

    def watch_below(self, folder: str) -> None:
        """Watch each source file below a folder, which ends with a separator, but no installed package."""
        self._folders.append(folder)
        self._watched = {name: seen for name, seen in self._watched.items() if seen}
        self.release()

    def begin_at(self, frame: FrameType | None) -> None:
        """Look at no callers of a frame; with None, at no callers of the code of a module."""
        self._outermost = frame
        self.release()

    def is_watched(self, code: CodeType) -> bool:
        """Return whether operations that this code calls are attributed to it."""
        name = code.co_filename
        try:
            return bool(self._watched[name])
        except KeyError:
            seen = self._watched[name] = self._is_watched(name)
            return bool(seen)

    def release(self) -> None:
        """Let go of the frames of the last operation, which keep the variables of functions that have returned."""
        self._frame = None
        self._calls.clear()

    def find(self, frame: FrameType) -> CallSites | None:
        """Return the sites that called an operation, given the frame that did; None for the printing of a tensor."""
        sites = (self._of_frame or self._in_frame.get(frame.f_lasti)) if frame is self._frame else None
        if sites is None:
            sites = self._walk(frame)
        return sites if sites is None or not self.aside else ((*sites[0], *self.aside), sites[1])

    def _walk(self, first: FrameType) -> CallSites | None:
        """Read the stack from the frame that called an operation up to the first call that is known to last."""
        watched, calls = self._watched, self._calls
        frame: FrameType | None = first
        entered: list[FrameType] = []
        call: _Call | None = None
        self._frame = None
        for _ in range(DEPTH):
            if frame is None:
                break
            code = frame.f_code
            name = code.co_filename
            try:
                seen = watched[name]
            except KeyError:
                seen = watched[name] = self._is_watched(name)
            if seen:
                call = calls.get(frame)
                if call is not None:
                    break
                entered.append(frame)
                if code.co_name == "<module>" or frame is self._outermost:
                    break
            elif seen is None and code.co_name == "_str":
                return None
            frame = frame.f_back
        last = 0 if call is None else call.depth + 1
        ended: list[FrameType] = []
        while len(calls) > last:
            ended.append(calls.popitem()[0])
        if self.on_calls is not None and (entered or ended):
            self.on_calls(first, entered, ended if call is not None else None)
        if entered:
            sites, call = self._enter(entered, frame, call, first)
            frame = entered[0]
        elif call is None or frame is None:
            sites = NO_SITES
        else:
            there = call.own if frame is first else call.others
            position = frame.f_lasti
            sites = there.get(position) or self._pair(self._site(frame, call.callers), frame is first)
            there[position] = sites
        if not first.f_code.co_flags & RESUMED:
            self._frame = first
            self._of_frame = None if frame is first else sites
            self._in_frame = call.own if frame is first and call is not None else {}
        return sites

    def _enter(
        self, entered: list[FrameType], caller: FrameType | None, call: _Call | None, first: FrameType
    ) -> tuple[CallSites, _Call | None]:
        """Note calls that are new, innermost first; return the sites of an operation, and the innermost call.

        That is None for a generator, which may be called from several places while it lasts.
        """
        found = () if call is None or caller is None else self._site(caller, call.callers)
        for frame in reversed(entered):
            call = None
            if not frame.f_code.co_flags & RESUMED:
                call = self._calls[frame] = _Call(len(self._calls), found)
            found = self._site(frame, found)
        innermost = entered[0]
        direct = innermost is first
        sites = self._pair(found, direct)
        if call is not None:
            (call.own if direct else call.others)[innermost.f_lasti] = sites
        return sites, call

    def _site(self, frame: FrameType, callers: tuple[Site, ...]) -> tuple[Site, ...]:
        """Return the sites of a frame and its callers."""
        code, position = frame.f_code, frame.f_lasti
        # By identity: the hash of a code object takes long.
        key = id(code), position, id(callers)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
                self._pairs.clear()
            known = self._known[key] = ((code, position), *callers)[:DEPTH], callers
        return known[0]

    def _pair(self, sites: tuple[Site, ...], direct: bool) -> CallSites:
        key = id(sites), direct
        found = self._pairs.get(key)
        if found is None:
            found = self._pairs[key] = sites, direct
        return found

    def _is_watched(self, name: str) -> bool | None:
        """Return whether to attribute operations to a file; None for the one that prints tensors."""
        if name == _PRINTING:
            return None
        if name.startswith(PACKAGE):
            if Path(name).name.startswith("_"):
                return False
        elif not any(map(name.startswith, self._folders)) or name.startswith(OWN) or is_installed(name):
            return False
        try:
            with tokenize.open(name) as file:
                self._sources[name] = file.read()
        except (OSError, SyntaxError, UnicodeError):
            return False
        return True


def is_installed(name: str) -> bool:
    """Return whether a file belongs to Python itself or to a package that was installed."""
    paths = sysconfig.get_paths()
    own = (paths["stdlib"], paths["platstdlib"], *((sys.prefix,) if sys.prefix != sys.base_prefix else ()))
    return any(name.startswith(folder + os.sep) for folder in own) or not set(INSTALLED).isdisjoint(Path(name).parts)
