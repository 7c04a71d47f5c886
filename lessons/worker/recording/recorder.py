"""The recorder: which operation wrote which element of which storage, when, and on which line.

PyTorch calls a dispatch mode for every operation below autograd, whether lesson code, a library module or the backward
pass asked for it. Views share their storage, so an element is known by its storage and offset, whatever names and
shapes it is seen through. Nothing is explained here; `explain` reads the record backwards.

The record is bounded: it keeps at most `KEEP` bytes of tensors and `MOST_EVENTS` operations, then stops, and says so.
From then on it only notes which tensors are written to, so that nobody takes what they hold now for what they held.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import math
import operator
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
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

RESHAPING = frozenset(
    {
        "squeeze_",
        "unsqueeze_",
        "t_",
        "transpose_",
        "swapaxes_",
        "swapdims_",
        "detach_",
        "as_strided_",
        "resize_",
        "set_",
        "requires_grad_",
    }
)
"""Operations in place that change the shape of a tensor, and none of its elements."""

UNSAID = {"native_batch_norm": ("running_mean", "running_var")}
"""Arguments that an operation writes to in training although its schema does not say so."""

UNIFORM = frozenset({"rand", "rand_like", "uniform_"})
"""Operations that take one uniform number of a generator for each element."""

Site = tuple[CodeType, int]
"""A place in code: a code object and the offset of the instruction in it."""

_getframe = sys._getframe


@dataclass(slots=True, eq=False)
class Region:
    """A tensor as it was when an operation took or made it: which elements of which storage, seen in which shape.

    It keeps the storage, not the tensor, which may be given another one (`.data = ...`).
    """

    storage: int
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype
    memory: torch.UntypedStorage
    _steps: tuple[tuple[int, int, int], ...] | None = None

    @classmethod
    def of(cls, tensor: torch.Tensor) -> Region:
        """The region of a tensor."""
        memory = tensor.untyped_storage()
        return cls(memory._cdata, tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype, memory)  # type: ignore[arg-type]

    @property
    def tensor(self) -> torch.Tensor:
        """What is there now, seen in this shape. Not to be asked for while the recorder is entered."""
        return torch.empty(0, dtype=self.dtype).set_(self.memory, self.offset, self.shape, self.stride)

    def at(self, index: tuple[int, ...]) -> int:
        """Offset of an element in the storage."""
        steps: int = sum(map(operator.mul, index, self.stride))
        return self.offset + steps

    def find(self, offset: int) -> tuple[int, ...] | None:
        """Index of the element at an offset, None if it is not in this region."""
        left = offset - self.offset
        if left < 0:
            return None
        steps = self._steps
        if steps is None:
            # Largest strides first; an axis of size 1 or stride 0 has only its first place.
            axes = [axis for axis, step in enumerate(self.stride) if step > 0 and self.shape[axis] > 1]
            axes.sort(key=lambda axis: -self.stride[axis])
            steps = self._steps = tuple((axis, self.stride[axis], self.shape[axis] - 1) for axis in axes)
        index = [0] * len(self.shape)
        for axis, step, last in steps:
            place = left // step
            index[axis] = place = min(place, last)
            left -= place * step
        return tuple(index) if left == 0 and 0 not in self.shape else None

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def indices(self) -> Iterator[tuple[int, ...]]:
        """All indices, the last axis first."""
        return itertools.product(*map(range, self.shape))

    def offsets(self) -> Iterator[int]:
        """Offsets of all elements in the storage."""
        return map(self.at, self.indices())


@dataclass(slots=True, frozen=True)
class Draw:
    """Random numbers of a generator.

    Attributes:
        seed: what it was seeded with.
        call: how many random operations it has served since, this one included; None if that is not known.
        first: how many numbers it had given before, if all were uniform and in single precision: then number k of
            this operation is made of number `first + k` of `torch.rand` after the same seed. Else None: other
            operations use up another count of random bits for a number.
    """

    seed: int
    call: int | None
    first: int | None


@dataclass(slots=True)
class Info:
    """What the schema of an operation says; `written` are the arguments that it writes to."""

    func: Any
    op: str
    names: dict[str, int]
    defaults: dict[str, Any]
    written: tuple[tuple[int, str], ...]
    random: bool


SNAPSHOT = Info(None, "snapshot", {"region": 0, "time": 1}, {}, (), False)
"""No operation: a tensor that was made to hold what a region held at a time."""


@dataclass(slots=True)
class Event:
    """One operation.

    Attributes:
        time: its place in the record, from 1.
        info: the operation.
        args, kwargs: what it was called with; tensors are `Region`s.
        outs: what it wrote or returned, tensors only.
        sites: where in watched code it was called, innermost first.
        direct: the innermost watched code called it itself, not a function or module in between.
        before: of an operation in place copies of what it overwrote, in the shapes of the first of `outs`; None for
            what could not be kept.
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
    direct: bool = False
    before: tuple[torch.Tensor | None, ...] = ()
    draw: Draw | None = None
    hand: bool = False
    view: bool = False

    @property
    def op(self) -> str:
        """Name of the operation without its overload: `mm`, `_softmax`, `add_`."""
        return self.info.op

    def index_of(self, storage: int, offset: int) -> tuple[int, tuple[int, ...]] | None:
        """Which of its results an element is in, and where."""
        for place, region in enumerate(self.outs):
            if region.storage == storage and (index := region.find(offset)) is not None:
                return place, index
        return None

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
    lost: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Storages that were written to after that: the times of the first and the last of these writes."""


class Recorder(TorchDispatchMode):
    """Records all operations while it is entered (`with recorder:`). It may be entered again and again."""

    def __init__(self, keep: int = KEEP, most: int = MOST_EVENTS) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.record = Record()
        self._keep, self._most = keep, most
        self._bytes = 0
        self._known: dict[str, tuple[Any, int]] = {}
        self._watched: dict[str, bool] = {}
        self._infos: dict[Any, Info] = {}
        self._draws: dict[int, tuple[Draw, torch.Tensor, int | None]] = {}
        self._loops: set[str] = set()
        self._hand = False
        self._aside: tuple[Site, ...] | None = None

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # True, the default, wraps every call in a function of torch._dynamo, which takes a second to import.
        return False

    # What code is watched, and what is called how -----------------------------------------------------------------

    def watch(self, filename: str, source: str) -> None:
        """Find lines in this source; operations are attributed to the innermost code that is watched."""
        self.record.sources[filename] = source
        self._watched[filename] = True

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

    @contextlib.contextmanager
    def aside(self, sites: tuple[Site, ...]) -> Iterator[None]:
        """Record what is computed only to explain what was called at `sites`, without limits."""
        stopped, self.record.stopped, self._aside = self.record.stopped, "", sites
        try:
            with self:
                yield
        finally:
            self.record.stopped, self._aside = stopped, None

    def snapshot(self, tensor: torch.Tensor, region: Region, time: int) -> None:
        """Note that a new tensor holds what a region held at a time."""
        self._add(Event(self.record.time, SNAPSHOT, (region, time), {}, (Region.of(tensor),), ()))
        self._write(self.record.events[-1].outs[0], self.record.events[-1])

    # Recording ----------------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation and note it."""
        kwargs = kwargs or {}
        if self.record.stopped:
            self._lose(func, args, kwargs)
            return func(*args, **kwargs)
        before: tuple[torch.Tensor | None, ...] = ()
        generator = state = None
        try:
            info = self._infos.get(func) or self._info(func)
            if info.written:
                before = tuple(map(self._copy, _targets(info, args, kwargs)))
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

    def _lose(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note which recorded storages an operation that is not recorded writes to."""
        record = self.record
        record.time += 1
        info = self._infos.get(func) or self._info(func)
        for tensor in _targets(info, args, kwargs) if info.written else ():
            storage = tensor.untyped_storage()._cdata
            if storage in record.writes:
                record.lost[storage] = record.lost.get(storage, (record.time, 0))[0], record.time

    def _info(self, func: Any) -> Info:
        schema = func._schema
        op = schema.name.partition("::")[2]
        written = tuple(
            (place, item.name)
            for place, item in enumerate(schema.arguments)
            if (item.alias_info and item.alias_info.is_write and op not in RESHAPING) or item.name in UNSAID.get(op, ())
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

    def _copy(self, target: torch.Tensor) -> torch.Tensor | None:
        """What an operation in place is about to overwrite, unless it is too much to keep."""
        if target.is_meta or target.layout != torch.strided:
            return None
        size = target.numel() * target.element_size()
        if self._bytes + size > self._keep:
            return None
        self._bytes += size
        return target.detach().clone()

    def _note(self, info: Info, taken: Any, out: Any, before: Any, generator: Any, state: Any) -> None:
        record = self.record
        sites, direct = self._sites()
        if sites is None:
            return
        results = out if isinstance(out, list | tuple) else (out,)
        outs = tuple(region for item in results if isinstance(region := _region(item), Region))
        args, kwargs = taken
        event = Event(record.time, info, args, kwargs, outs, sites, direct, before, hand=self._hand)
        if generator is not None:
            event.draw = self._draw(info.op, generator, state, outs)
        self._add(event)
        if info.op == "set_":
            event.view = True
            self._adopt(event)
        elif info.written:
            # What is written may not be what is returned.
            targets = tuple(_targets(info, args, kwargs))
            storages = {region.storage for region in targets}
            event.outs = outs = (*targets, *(region for region in outs if region.storage not in storages))
            for region in outs:
                self._write(region, event)
        else:
            sources = {region.storage for region in event.operands()}
            event.view = bool(outs)
            for region in outs:
                if region.storage not in sources or info.op == "lift_fresh":
                    event.view = False
                    self._write(region, event)
        if self._aside is not None:
            return
        if self._bytes > self._keep:
            self._stop(f"the tensors of this run fill more than {_mebibytes(self._keep)}", sites)
        elif len(record.events) >= self._most:
            self._stop(f"this run has made {self._most:,} operations", sites)

    def _adopt(self, event: Event) -> None:
        """Note whose copy a tensor is that was given its memory, if that was copied as bytes: `copy.deepcopy`."""
        region = event.outs[0]
        last = next(reversed(self.record.writes.get(region.storage, ())), None)
        source = last.arg("src") if last is not None and last.op == "copy_" else None
        if last is not None and isinstance(source, Region) and source.dtype == torch.uint8 != region.dtype:
            original = replace(region, storage=source.storage, memory=source.memory)
            copy = Event(self.record.time, SNAPSHOT, (original, last.time), {}, (region,), event.sites, event.direct)
            self._add(copy)
            self._write(region, copy)

    def _add(self, event: Event) -> None:
        self.record.time += 1
        self.record.events.append(event)

    def _write(self, region: Region, event: Event) -> None:
        writes = self.record.writes.get(region.storage)
        if writes is None:
            writes = self.record.writes[region.storage] = []
            self._bytes += region.tensor.untyped_storage().nbytes()
        writes.append(event)

    def _sites(self) -> tuple[tuple[Site, ...] | None, bool]:
        """Where the operation was called, in watched code, and whether directly; None for what only prints a tensor."""
        found: list[Site] = []
        frame: FrameType | None = _getframe(3)
        watched = self._watched
        direct = False
        for depth in range(DEPTH):
            if frame is None:
                break
            code = frame.f_code
            name = code.co_filename
            seen = watched.get(name)
            if seen is None:
                seen = watched[name] = self._is_watched(name)
            if seen:
                if not found:
                    direct = depth == 0
                found.append((code, frame.f_lasti))
                if code.co_name == "<module>":
                    break
            elif code.co_name == "_str" and name.endswith("_tensor_str.py"):
                return None, False
            frame = frame.f_back
        return (*found, *(self._aside or ())), direct

    def _is_watched(self, name: str) -> bool:
        if not name.startswith(PACKAGE) or Path(name).name.startswith("_"):
            return False
        self.record.sources[name] = Path(name).read_text(encoding="utf-8")
        return True

    def _draw(self, op: str, generator: torch.Generator, state: torch.Tensor, outs: tuple[Region, ...]) -> Draw:
        """Count the operations that a generator has served since it was seeded, and the numbers that it has given."""
        seed = generator.initial_seed()
        known = self._draws.get(id(generator))
        if known is not None and known[0].seed == seed and torch.equal(known[1], state):
            last, _, first = known
            call = None if last.call is None else last.call + 1
        else:
            # It was seeded anew, or has given numbers that were not seen.
            fresh = torch.Generator()
            fresh.manual_seed(seed)
            call, first = (1, 0) if torch.equal(fresh.get_state(), state) else (None, None)
        plain = op in UNIFORM and all(region.dtype == torch.float32 for region in outs)
        draw = Draw(seed, call, first if plain else None)
        after = None if draw.first is None else draw.first + sum(region.size for region in outs)
        self._draws[id(generator)] = (draw, generator.get_state(), after)
        return draw

    def _stop(self, why: str, sites: tuple[Site, ...]) -> None:
        self.record.stopped = why
        self.record.stopped_site = sites[-1] if sites else None


def _region(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return Region.of(value) if value.layout == torch.strided and not value.is_meta else None
    if isinstance(value, list | tuple):
        return [_region(item) for item in value]
    return value


def _targets(info: Info, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """The tensors (or their regions) that an operation writes to."""
    training = info.names.get("training")
    if info.op in UNSAID and training is not None and not args[training]:
        return
    for place, name in info.written:
        value = args[place] if place < len(args) else kwargs.get(name)
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, torch.Tensor | Region):
                yield item


def _mebibytes(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size:,} bytes"
