"""The variables of functions: which tensors they are when a function returns, and which modules they are when called.

What assignments in the source name (`names`) is less: not what is unpacked, nor what another function returned. This
looks at the variables themselves. There are two ways to learn that a function has returned. Python's profiler tells of
every call, and takes longer than the recorder itself. The recorder sees the stack at every operation: a call that is
gone from it has returned. That costs next to nothing, but tells only of calls in which an operation was called. Lessons
do without.

Where a run failed, what the statement had computed by then was not assigned to its name any more; it is noted, too.
"""

from __future__ import annotations

import itertools
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any
from weakref import WeakSet, ref

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.worker.recording import beside_compiler
from attn_tutor.lessons.worker.recording.call_sites import RESUMED
from attn_tutor.lessons.worker.recording.record import FailedStatement, Variables
from attn_tutor.lessons.worker.recording.recorder import Recorder
from attn_tutor.lessons.worker.recording.regions import Region, plain_region, unlisted_kind
from attn_tutor.lessons.worker.recording.source_positions import SourcePositions

MODULE = "<module>"
"""What Python calls the code of a file outside of all functions."""

MOST_ITEMS = 8
"""Items of a list, tuple or dictionary up to which its tensors are named one by one."""

MOST_CALLS = 256
"""Calls of one function that are kept."""

_setprofile, _getframe = sys.setprofile, sys._getframe


class LocalVariables:
    """Notes the tensors among the variables of every watched function when it returns.

    The parameters of a module that only a function knows get the name that it has there.
    """

    def __init__(self, recorder: Recorder, *, every_call: bool = False) -> None:
        """Initialize; with `every_call`, earlier calls are kept beside the last one, as far as they are recorded."""
        self._recorder, self._every_call = recorder, every_call
        self._named: WeakSet[torch.nn.Module] = WeakSet()
        self._entered: dict[int, tuple[int, CodeType]] = {}
        """By identity, each watched function with how many of them were called first. It keeps the functions alive."""
        self._files: dict[CodeType, dict[str, Any]] = {}
        """The variables of each watched file that was imported."""
        self._began: dict[int, int] = {}
        """When each call began whose return the profiler will tell, by the identity of its frame."""
        self._lasting: dict[FrameType, int] = {}
        """When each call began that has returned as soon as it is gone from the stack."""
        self._block: FrameType | None = None
        self._profiler: Any = None
        """The profiler of somebody else, which goes on."""

    @contextmanager
    def noting_at_operations(self, block: FrameType) -> Iterator[None]:
        """Note the variables of calls in which an operation is called in this context, when they have returned.

        That of the block itself is no such call.
        """
        self._block = block
        with self.naming_modules():
            self._recorder.follow(self._follow)
            try:
                yield
            finally:
                self._recorder.follow(None)
                if sys.getprofile() == self._until_left:
                    _setprofile(self._profiler)
                self.note_returned()
                self._lasting.clear()
                self._began.clear()
                self._block = None

    def note_returned(self) -> None:
        """Note the variables of calls that have returned since the last operation."""
        self._follow(_getframe(1), (), None)

    def _follow(self, innermost: FrameType, begun: Sequence[FrameType], ended: Sequence[FrameType] | None) -> None:
        """Note calls that have begun, and the variables of those that have ended.

        A frame that somebody holds keeps its variables as they were when it returned. That of a generator does not in
        Python 3.13.0: it may not outlive the generator.
        """
        for each in reversed(begun):
            code = each.f_code
            if each is self._block or each in self._lasting:
                continue
            if not code.co_flags & RESUMED:
                self._lasting[each] = self._enter(code)
            elif not code.co_name.startswith("<"):
                self._began.setdefault(id(each), self._enter(code))
                self._profile_until_left(code)
        for each in self._gone_from(innermost) if ended is None else ended:
            if each in self._lasting:
                self._leave(each, self._lasting.pop(each))

    def _gone_from(self, frame: FrameType | None) -> list[FrameType]:
        """Return the calls that do not wait for a frame, innermost first."""
        gone = dict.fromkeys(reversed(self._lasting))
        while frame is not None and gone:
            gone.pop(frame, None)
            frame = frame.f_back
        return list(gone)

    def _profile_until_left(self, code: CodeType) -> None:
        """Have the profiler tell when a generator or coroutine that runs waits or returns."""
        profiler: Any = sys.getprofile()
        if profiler is None or callable(profiler):
            if profiler != self._until_left:
                self._profiler = profiler
                _setprofile(self._until_left)
        else:
            # Up to Python 3.11, that of cProfile cannot be set again, so it stays. Old values would not be true.
            self._recorder.record.variables.pop(code, None)

    def _until_left(self, frame: FrameType, event: str, arg: object) -> None:
        if self._profiler is not None:
            self._profiler(frame, event, arg)
        if event == "return" and id(frame) in self._began:
            self._leave(frame, self._began.pop(id(frame)))
            if not self._began:
                _setprofile(self._profiler)

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note the variables of every call of a watched function while code runs in this context."""
        with self.naming_modules():
            before = sys.getprofile()
            _setprofile(self._profile)
            try:
                yield
            finally:
                # Up to Python 3.11, that of cProfile cannot be set again.
                _setprofile(before if callable(before) else None)

    @contextmanager
    def naming_modules(self) -> Iterator[None]:
        """Name only the parameters of modules while code runs in this context, which needs no profiler."""
        hook = register_module_forward_pre_hook(self._before_call)
        try:
            yield
        finally:
            hook.remove()

    def name_items(self, namespace: Mapping[str, Any]) -> None:
        """Name the tensors of a namespace that have no name yet, and note the variables of files as they are now.

        Such tensors are those in lists, and the variables of loops.
        """
        recorder = self._recorder
        for code, held in self._files.items():
            self._note(code, held, 0)
        named: dict[object, set[str]] = {}
        for item in itertools.chain.from_iterable(recorder.record.bindings.values()):
            named.setdefault(item.region.view, set()).add(item.name)
        for variable, value in list(namespace.items()):
            for name, tensor in tensors_in(variable, value):
                region = plain_region(tensor)
                if region is None:
                    recorder.record.unlisted[None, name] = unlisted_kind(tensor)
                    continue
                names = named.setdefault(region.view, set())
                if (not names and not variable.startswith("__")) or name in names:
                    names.add(name)
                    recorder.naming.bind(name, tensor)

    def _profile(self, frame: FrameType, event: str, arg: object) -> None:
        if event[0] == "c" and event != "call":
            # Functions of C, which are most of all, and have no variables.
            return
        code = frame.f_code
        if event == "return":
            if self._recorder.is_watched(code):
                self._leave(frame, self._began.pop(id(frame), 0))
        elif event == "call" and (id(code) in self._entered or self._recorder.is_watched(code)):
            self._began[id(frame)] = self._enter(code)

    def _enter(self, code: CodeType) -> int:
        """Note that a function is called; return the time."""
        self._entered.setdefault(id(code), (len(self._entered), code))
        return self._recorder.record.time

    def _leave(self, frame: FrameType, since: int) -> None:
        """Note what a call has left that began at a time."""
        code = frame.f_code
        # The variables of a comprehension are gone when it ends; those of a file are looked at when the program ends.
        if code.co_name == MODULE and code.co_filename != PROGRAM.filename:
            self._files[code] = frame.f_globals
        elif not code.co_name.startswith("<"):
            self._note(code, frame.f_locals, since)

    def _note(self, code: CodeType, held: Mapping[str, Any], since: int) -> None:
        """Note the variables that a function, or a file, has left; of a file, the present ones."""
        record = self._recorder.record
        found: dict[str, Region] = {}
        for variable, value in list(held.items()):
            if variable.startswith("__"):
                continue
            for name, tensor in tensors_in(variable, value):
                if (region := plain_region(tensor)) is not None:
                    # What was made after recording had stopped, nobody knows later.
                    if not record.stopped or self._recorder.has(region.memory):
                        found[name] = region
                elif kind := unlisted_kind(tensor):
                    record.unlisted[code, name] = kind
        before = record.variables.get(code)
        order = self._entered.get(id(code), (-1, code))[0]
        owner: Any = held.get("self")
        module: ref[torch.nn.Module] | None = ref(owner) if isinstance(owner, torch.nn.Module) else None
        call = before.call + 1 if before is not None and code.co_name != MODULE else 1
        record.variables[code] = now = Variables(found, since, record.time, call, order, module)
        if self._every_call and code.co_name != MODULE:
            calls = record.calls.setdefault(code, deque(maxlen=MOST_CALLS))
            if calls:
                # What no operation has touched would stay in memory for this alone.
                calls[-1] = calls[-1].without(lambda region: not self._recorder.has(region.memory))
            calls.append(now)

    def _before_call(self, module: torch.nn.Module, args: Any) -> None:
        """Name the parameters of modules by the variables of the watched function that calls one of them first."""
        if module in self._named or self._recorder.record.stopped:
            return
        frame: FrameType | None = _getframe(1)
        while frame is not None and not self._recorder.is_watched(frame.f_code):
            frame = frame.f_back
        if frame is not None:
            # The modules among the variables of a file have names already.
            whole = frame.f_code.co_name != "<module>"
            # A module goes by a variable of its own rather than by an attribute of another one.
            variables = sorted(frame.f_locals.items(), key=lambda item: not isinstance(item[1], torch.nn.Module))
            for variable, value in variables:
                for name, found in modules_in(variable, value):
                    if name != "self" and found not in self._named and (whole or name != variable):
                        self._recorder.naming.name_module(name, found)
                        self._named.update(found.modules())
        self._named.update(module.modules())


beside_compiler.leave_alone(LocalVariables._profile.__code__)
beside_compiler.leave_alone(LocalVariables._until_left.__code__)


def modules_in(name: str, value: object) -> Iterator[tuple[str, torch.nn.Module]]:
    """Yield the module that a variable is, or those that an object has as its attributes, as code calls them."""
    if isinstance(value, torch.nn.Module):
        yield name, value
    elif not isinstance(value, type | ModuleType):
        for key, item in list(getattr(value, "__dict__", {}).items()):
            if isinstance(item, torch.nn.Module):
                yield f"{name}.{key}", item


def tensors_in(name: str, value: object) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors that a variable is or holds, each as code calls it; of an object only its own attributes."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif (type(value) is list or isinstance(value, tuple)) and len(value) <= MOST_ITEMS:
        for position, item in enumerate(value):
            if isinstance(item, torch.Tensor):
                yield from tensors_in(f"{name}[{position}]", item)
    elif type(value) is dict and len(value) <= MOST_ITEMS:
        for key, item in value.items():
            if isinstance(item, torch.Tensor) and isinstance(key, str):
                yield from tensors_in(f"{name}[{key!r}]", item)
    elif name == "self":
        for key, item in getattr(value, "__dict__", {}).items():
            if isinstance(item, torch.Tensor):
                yield from tensors_in(f"self.{key}", item)


def note_failed_statement(recorder: Recorder, positions: SourcePositions, traceback: TracebackType | None) -> None:
    """Note in a record which statement an exception has left, given its traceback."""
    record = recorder.record
    innermost: TracebackType | None = None
    while traceback is not None:
        if recorder.is_watched(traceback.tb_frame.f_code):
            innermost = traceback
        traceback = traceback.tb_next
    if innermost is None:
        return
    site = innermost.tb_frame.f_code, innermost.tb_lasti
    names = positions.assigned(site), *positions.unpacked(site)
    held = [region.view for region in _regions(innermost.tb_frame.f_locals, names)]
    events = record.events
    start = len(events)
    while start and events.sites(start - 1)[:1] == (site,):
        start -= 1
    # In a loop, it may have run before. What it assigned then may be looked at again as an operand now.
    ran = (
        position + 1
        for position in range(start, len(events))
        if any(region.view in held for region in events[position].outs)
    )
    start = next(ran, start)
    if start < len(events):
        record.failed = FailedStatement(site, events.time(start), record.time)


def _regions(variables: dict[str, Any], names: tuple[str, ...]) -> Iterator[Region]:
    for name in filter(None, names):
        value = variables.get(name)
        region = plain_region(value) if isinstance(value, torch.Tensor) else None
        if region is not None:
            yield region
