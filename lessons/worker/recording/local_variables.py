"""The variables of functions: which tensors they are when a function returns, and which modules they are when called.

What assignments in the source name (`names`) is less: not what is unpacked, nor what another function returned. This
looks at the variables themselves, so it needs Python's profiler, which takes time for each call. Lessons do without.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FrameType, ModuleType
from typing import Any
from weakref import WeakSet, ref

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from lessons.worker.recording.record import Variables
from lessons.worker.recording.recorder import Recorder
from lessons.worker.recording.regions import Region, plain_region, unlisted_kind

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
        self._began: dict[int, int] = {}
        """When each call began that has not returned, by the identity of its frame."""

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note variables while code runs in this context."""
        with self.naming_modules():
            _setprofile(self._profile)
            try:
                yield
            finally:
                _setprofile(None)

    @contextmanager
    def naming_modules(self) -> Iterator[None]:
        """Name only the parameters of modules while code runs in this context, which needs no profiler."""
        hook = register_module_forward_pre_hook(self._before_call)
        try:
            yield
        finally:
            hook.remove()

    def name_items(self, namespace: Mapping[str, Any]) -> None:
        """Name the tensors of a namespace that have no name yet: those in lists, and the variables of loops."""
        recorder = self._recorder
        named = {_layout(item.region) for items in recorder.record.bindings.values() for item in items}
        for variable, value in list(namespace.items()):
            for name, tensor in tensors_in(variable, value):
                region = plain_region(tensor)
                if region is None:
                    recorder.record.unlisted[None, name] = unlisted_kind(tensor)
                elif _layout(region) not in named and not variable.startswith("__"):
                    named.add(_layout(region))
                    recorder.bound.bind(name, tensor)

    def _profile(self, frame: FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        # The variables of a comprehension are gone when it ends, as those of a file are not.
        if event == "return":
            if not code.co_name.startswith("<") and self._recorder.is_watched(code):
                self._note(frame, self._began.pop(id(frame), 0))
        elif event == "call" and (id(code) in self._entered or self._recorder.is_watched(code)):
            self._entered.setdefault(id(code), (len(self._entered), code))
            if not code.co_name.startswith("<"):
                self._began[id(frame)] = self._recorder.record.time

    def _note(self, frame: FrameType, since: int) -> None:
        record, code = self._recorder.record, frame.f_code
        if record.stopped:
            return
        held = frame.f_locals
        found: dict[str, Region] = {}
        for variable, value in held.items():
            for name, tensor in tensors_in(variable, value):
                if (region := plain_region(tensor)) is not None:
                    found[name] = region
                elif kind := unlisted_kind(tensor):
                    record.unlisted[code, name] = kind
        before = record.variables.get(code)
        order = self._entered.get(id(code), (-1, code))[0]
        owner: Any = held.get("self")
        module: ref[torch.nn.Module] | None = ref(owner) if isinstance(owner, torch.nn.Module) else None
        call = before.call + 1 if before is not None else 1
        record.variables[code] = now = Variables(found, since, record.time, call, order, module)
        if self._every_call:
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
                        self._recorder.bound.name_module(name, found)
                        self._named.update(found.modules())
        self._named.update(module.modules())


def _layout(region: Region) -> tuple[object, ...]:
    return region.storage, region.offset, region.shape, region.stride


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
