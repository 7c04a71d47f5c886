"""The recorder: which operation wrote which element of which storage, when, and on which line.

PyTorch calls a dispatch mode for every operation below autograd, whether lesson code, a library module or the backward
pass asked for it. Views share their storage, so an element is known by its storage and offset, whatever names and
shapes it is seen through. Nothing is explained here; `explain` reads the record backwards.

The record is bounded: it keeps at most `KEEP` bytes of tensors and `MOST_EVENTS` operations, then stops, and says so.
"""

from __future__ import annotations

import ast
import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import attention

KEEP = 512 << 20
"""Bytes of storages, and of copies of what was overwritten, that are kept alive."""

MOST_EVENTS = 40_000
DEPTH = 200
PACKAGE = str(Path(attention.__file__).parent)

RESHAPING = frozenset("squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_ detach_ as_strided_ resize_ set_".split())
"""Operations in place that change the shape of a tensor, and none of its elements."""

Site = tuple[CodeType, int]
"""A place in code: a code object and the offset of the instruction in it."""

_getframe = sys._getframe


@dataclass(slots=True, eq=False)
class Region:
    """A tensor as it was when an operation took or made it: which elements of which storage, seen in which shape."""

    storage: int
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    tensor: torch.Tensor

    @classmethod
    def of(cls, tensor: torch.Tensor) -> Region:
        """The region of a tensor."""
        return cls(
            tensor.untyped_storage()._cdata,
            int(tensor.storage_offset()),
            tuple(tensor.shape),
            tensor.stride(),
            tensor,
        )

    def at(self, index: tuple[int, ...]) -> int:
        """Offset of an element in the storage."""
        return self.offset + sum(place * step for place, step in zip(index, self.stride, strict=True))

    def find(self, offset: int) -> tuple[int, ...] | None:
        """Index of the element at an offset, None if it is not in this region."""
        left = offset - self.offset
        if left < 0:
            return None
        index = [0] * len(self.shape)
        # Largest strides first; an axis of size 1 or stride 0 has only its first place.
        for axis in sorted(range(len(self.shape)), key=lambda axis: -self.stride[axis]):
            if self.stride[axis] > 0 and self.shape[axis] > 1:
                index[axis] = min(left // self.stride[axis], self.shape[axis] - 1)
                left -= index[axis] * self.stride[axis]
            elif self.shape[axis] == 0:
                return None
        return tuple(index) if left == 0 else None

    @property
    def size(self) -> int:
        """Number of elements."""
        count = 1
        for length in self.shape:
            count *= length
        return count


@dataclass(slots=True, frozen=True)
class Draw:
    """Random numbers: `first` is the count of numbers drawn since the seed, from 0; None if that is not known."""

    seed: int
    first: int | None


@dataclass(slots=True)
class Info:
    """What the schema of an operation says."""

    func: Any
    op: str
    names: dict[str, int]
    defaults: dict[str, Any]
    written: tuple[int, ...]
    random: bool


@dataclass(slots=True)
class Event:
    """One operation.

    Attributes:
        time: its place in the record, from 1.
        info: the operation.
        args, kwargs: what it was called with; tensors are `Region`s.
        outs: what it returned, tensors only.
        sites: where in watched code it was called, innermost first.
        before: for an operation in place, a copy of what it overwrote, in the shape of `outs[0]`; None if not kept.
        draw: for random operations.
        hand: the learner set this value as a "what if".
        view: it made a view and wrote nothing.
    """

    time: int
    info: Info
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outs: tuple[Region, ...]
    sites: tuple[Site, ...]
    before: torch.Tensor | None = None
    draw: Draw | None = None
    hand: bool = False
    view: bool = False

    @property
    def op(self) -> str:
        """Name of the operation without its overload: `mm`, `_softmax`, `add_`."""
        return self.info.op

    def arg(self, name: str) -> Any:
        """An argument by its name in the schema, or its default."""
        if name in self.kwargs:
            return self.kwargs[name]
        place = self.info.names.get(name)
        if place is None:
            return None
        return self.args[place] if place < len(self.args) else self.info.defaults.get(name)

    def operands(self) -> Iterator[Region]:
        """All tensors that it was called with, those in lists among them."""
        for value in (*self.args, *self.kwargs.values()):
            if isinstance(value, Region):
                yield value
            elif isinstance(value, list):
                yield from (item for item in value if isinstance(item, Region))


@dataclass(slots=True)
class Binding:
    """A name for a region, valid from a time on. `top` tells names of the lesson from those inside functions."""

    time: int
    name: str
    region: Region
    top: bool


@dataclass(slots=True)
class Record:
    """What was recorded: operations in order, those that wrote to a storage, names of regions by storage."""

    events: list[Event] = field(default_factory=list)
    writes: dict[int, list[Event]] = field(default_factory=dict)
    bindings: dict[int, list[Binding]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    time: int = 1
    stopped: str = ""
    """Why nothing more was recorded, if so."""
    stopped_site: Site | None = None


class Recorder(TorchDispatchMode):
    """Records all operations while it is entered (`with recorder:`). It may be entered again and again."""

    def __init__(self, keep: int = KEEP, most: int = MOST_EVENTS) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.record = Record()
        self._keep, self._most = keep, most
        self._bytes = 0
        self._known: dict[str, tuple[Any, int]] = {}
        self._watched: dict[CodeType, bool] = {}
        self._infos: dict[Any, Info] = {}
        self._draws: dict[int, tuple[int, int | None, torch.Tensor]] = {}
        self._loops: set[str] = set()
        self._hand = False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # True, the default, wraps every call in a function of torch._dynamo, which takes a second to import.
        return False

    # What code is watched, and what is called how -----------------------------------------------------------------

    def watch(self, filename: str, source: str) -> None:
        """Find lines in this source; operations are attributed to the innermost code that is watched."""
        self.record.sources[filename] = source

    def name(self, namespace: dict[str, Any], statement: ast.stmt) -> None:
        """Note which tensors the names of a namespace stand for after a statement, parameters and buffers included.

        Variables of loops are no names: they stand for another tensor in every round.
        """
        for node in ast.walk(statement):
            if isinstance(node, ast.For):
                self._loops.update(item.id for item in ast.walk(node.target) if isinstance(item, ast.Name))
        for key, value in list(namespace.items()):
            if key in self._loops or key.startswith("__"):
                continue
            if isinstance(value, torch.Tensor):
                self._bind(key, value)
            elif isinstance(value, torch.nn.Module):
                for kind in (value.named_parameters, value.named_buffers):
                    for path, tensor in kind():
                        self._bind(f"{key}.{path}", tensor)

    def _bind(self, name: str, tensor: torch.Tensor) -> None:
        if self.record.stopped or tensor.layout != torch.strided or tensor.is_meta:
            return
        # The storage can change under a tensor (`.data = ...`), so it belongs to what is compared.
        known = (tensor, tensor.untyped_storage()._cdata)
        before = self._known.get(name)
        if before is not None and before[0] is known[0] and before[1] == known[1]:
            return
        self._known[name] = known
        region = Region.of(tensor)
        self.record.bindings.setdefault(region.storage, []).append(Binding(self.record.time, name, region, True))

    @contextlib.contextmanager
    def by_hand(self) -> Iterator[None]:
        """What is written meanwhile was set by the learner."""
        self._hand = True
        try:
            yield
        finally:
            self._hand = False

    # Recording ----------------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation and note it."""
        kwargs = kwargs or {}
        if self.record.stopped:
            return func(*args, **kwargs)
        before = generator = state = None
        try:
            info = self._infos.get(func) or self._info(func)
            if info.written:
                before = self._copy(info, args, kwargs)
            if info.random:
                generator = kwargs.get("generator") or torch.default_generator
                state = generator.get_state()
            taken = tuple(map(_region, args)), {key: _region(value) for key, value in kwargs.items()}
        except Exception as error:
            self._stop(f"{type(error).__name__}: {error}", ())
            return func(*args, **kwargs)
        out = func(*args, **kwargs)
        try:
            self._note(info, taken, out, before, generator, state)
        except Exception as error:
            # The learner's program goes on: only its record ends.
            self._stop(f"{type(error).__name__}: {error}", ())
        return out

    def _info(self, func: Any) -> Info:
        schema = func._schema
        op = schema.name.partition("::")[2]
        written = tuple(
            place
            for place, item in enumerate(schema.arguments)
            if item.alias_info and item.alias_info.is_write and op not in RESHAPING
        )
        info = Info(
            func,
            op,
            {item.name: place for place, item in enumerate(schema.arguments)},
            {item.name: item.default_value for item in schema.arguments if item.has_default_value()},
            written,
            torch.Tag.nondeterministic_seeded in func.tags,
        )
        self._infos[func] = info
        return info

    def _copy(self, info: Info, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor | None:
        """What an operation in place is about to overwrite, unless it is too much to keep."""
        place = info.written[0]
        target = args[place] if place < len(args) else None
        if not isinstance(target, torch.Tensor) or target.is_meta or target.layout != torch.strided:
            return None
        size = target.numel() * target.element_size()
        if self._bytes + size > self._keep:
            return None
        self._bytes += size
        return target.detach().clone()

    def _note(self, info: Info, taken: Any, out: Any, before: torch.Tensor | None, generator: Any, state: Any) -> None:
        record = self.record
        sites = self._sites()
        if sites is None:
            return
        results = out if isinstance(out, list | tuple) else (out,)
        outs = tuple(region for item in results if isinstance(region := _region(item), Region))
        args, kwargs = taken
        event = Event(record.time, info, args, kwargs, outs, sites, before, hand=self._hand)
        if generator is not None:
            event.draw = self._draw(generator, state, outs)
        record.time += 1
        record.events.append(event)
        if info.written:
            # What is written may not be what is returned.
            targets = [value for place in info.written if isinstance(value := _argument(event, place), Region)]
            outs = tuple(targets) or outs
            event.outs = outs
            for region in outs:
                self._write(region, event)
        else:
            sources = {region.storage for region in event.operands()}
            event.view = bool(outs)
            for region in outs:
                if region.storage not in sources or info.op == "lift_fresh":
                    event.view = False
                    self._write(region, event)
        if self._bytes > self._keep:
            self._stop(f"the tensors of this run fill more than {self._keep >> 20} MiB", sites)
        elif len(record.events) >= self._most:
            self._stop(f"this run has made more than {self._most:,} operations", sites)

    def _write(self, region: Region, event: Event) -> None:
        writes = self.record.writes.get(region.storage)
        if writes is None:
            writes = self.record.writes[region.storage] = []
            self._bytes += region.tensor.untyped_storage().nbytes()
        writes.append(event)

    def _sites(self) -> tuple[Site, ...] | None:
        """Where the operation was called, in watched code; None for what only prints a tensor."""
        found: list[Site] = []
        frame: FrameType | None = _getframe(3)
        for _ in range(DEPTH):
            if frame is None:
                break
            code = frame.f_code
            watched = self._watched.get(code)
            if watched is None:
                watched = self._watched[code] = self._is_watched(code)
            if watched:
                found.append((code, frame.f_lasti))
                if code.co_name == "<module>":
                    break
            elif code.co_name == "_str" and code.co_filename.endswith("_tensor_str.py"):
                return None
            frame = frame.f_back
        return tuple(found)

    def _is_watched(self, code: CodeType) -> bool:
        name = code.co_filename
        if name in self.record.sources:
            return True
        if not name.startswith(PACKAGE) or Path(name).name.startswith("_"):
            return False
        self.record.sources[name] = Path(name).read_text(encoding="utf-8")
        return True

    def _draw(self, generator: torch.Generator, state: torch.Tensor, outs: tuple[Region, ...]) -> Draw:
        """Count the numbers that a generator has given since it was seeded."""
        seed = generator.initial_seed()
        known = self._draws.get(id(generator))
        if known is not None and known[0] == seed and torch.equal(known[2], state):
            first = known[1]
        else:
            # It was seeded anew, or has given numbers that were not seen.
            fresh = torch.Generator()
            fresh.manual_seed(seed)
            first = 0 if torch.equal(fresh.get_state(), state) else None
        after = None if first is None else first + sum(region.size for region in outs)
        self._draws[id(generator)] = (seed, after, generator.get_state())
        return Draw(seed, first)

    def _stop(self, why: str, sites: tuple[Site, ...]) -> None:
        self.record.stopped = why
        self.record.stopped_site = sites[-1] if sites else None


def _region(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return Region.of(value) if value.layout == torch.strided and not value.is_meta else None
    if isinstance(value, list | tuple):
        return [_region(item) for item in value]
    return value


def _argument(event: Event, place: int) -> Any:
    if place < len(event.args):
        return event.args[place]
    return next((event.kwargs.get(name) for name, at in event.info.names.items() if at == place), None)
