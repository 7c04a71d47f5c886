"""A recorder of operations: which one wrote which element of which storage, when, and on which line.

PyTorch calls a dispatch mode for every operation below autograd, whether lesson code, a library module or the backward
pass asked for it. Views share their storage, so an element is identified by its storage and offset, whatever names and
shapes it has. Nothing is explained here; `lessons.worker.explaining` reads the record backwards.

The record is bounded: it keeps at most `KEEP` bytes of tensors and `MOST_EVENTS` operations, then stops, and says so.
From then on it only notes which tensors are written to, so that their present values are not taken for earlier ones.
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
"""Bytes of storages, and of copies of overwritten values, that a record keeps alive."""

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
"""In-place operations that change the shape of a tensor and none of its elements."""

UNDECLARED_WRITES = {"native_batch_norm": ("running_mean", "running_var")}
"""Arguments that an operation writes to in training although its schema does not say so."""

UNIFORM = frozenset({"rand", "rand_like", "uniform_"})
"""Operations that draw one uniform number from a generator for each element."""

Site = tuple[CodeType, int]
"""A position in running code: a code object and the offset of an instruction in it."""

_getframe = sys._getframe


@dataclass(slots=True, eq=False)
class Region:
    """A tensor as an operation saw it: which elements of which storage, in which shape.

    It keeps the storage alive and not the tensor, which may get a different storage later (`.data = ...`).
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
        """Return the region of a tensor."""
        memory = tensor.untyped_storage()
        return cls(memory._cdata, tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype, memory)  # type: ignore[arg-type]

    @property
    def tensor(self) -> torch.Tensor:
        """The present contents of the region, as a view. Not to be used while the recorder is entered."""
        return torch.empty(0, dtype=self.dtype).set_(self.memory, self.offset, self.shape, self.stride)

    def at(self, index: tuple[int, ...]) -> int:
        """Return the offset of an element in the storage."""
        steps: int = sum(map(operator.mul, index, self.stride))
        return self.offset + steps

    def find(self, offset: int) -> tuple[int, ...] | None:
        """Return the index of the element at an offset; None if it is not in this region."""
        left = offset - self.offset
        if left < 0:
            return None
        steps = self._steps
        if steps is None:
            # Largest strides first; an axis of size 1 or stride 0 only has index 0.
            axes = [axis for axis, step in enumerate(self.stride) if step > 0 and self.shape[axis] > 1]
            axes.sort(key=lambda axis: -self.stride[axis])
            steps = self._steps = tuple((axis, self.stride[axis], self.shape[axis] - 1) for axis in axes)
        index = [0] * len(self.shape)
        for axis, step, last in steps:
            index[axis] = min(left // step, last)
            left -= index[axis] * step
        return tuple(index) if left == 0 and 0 not in self.shape else None

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def indices(self) -> Iterator[tuple[int, ...]]:
        """Iterate over all indices; the last axis changes fastest."""
        return itertools.product(*map(range, self.shape))

    def offsets(self) -> Iterator[int]:
        """Iterate over the offsets of all elements in the storage, in the order of their indices."""
        return map(self.at, self.indices())


@dataclass(slots=True, frozen=True)
class Draw:
    """The state of a generator when a random operation drew from it.

    Attributes:
        seed: the seed of the generator.
        call: how many random operations it has served since, including this one; None if that is unknown.
        first: how many numbers it had given before, if all were uniform and in single precision: then number k of
            this operation is number `first + k` of `torch.rand` after the same seed. Else None, because other
            operations consume a different count of random bits for each number.
    """

    seed: int
    call: int | None
    first: int | None


@dataclass(slots=True)
class Info:
    """The schema of an operation.

    Attributes:
        func: the operation itself.
        op: its name without the overload.
        names: the position of each argument, by name.
        defaults: the default values of arguments, by name.
        written: position and name of the arguments that it writes to.
        random: whether it draws random numbers.
    """

    func: Any
    op: str
    names: dict[str, int]
    defaults: dict[str, Any]
    written: tuple[tuple[int, str], ...]
    random: bool


SNAPSHOT = Info(None, "snapshot", {"region": 0, "time": 1}, {}, (), False)
"""Stands for no operation: the event made a tensor that holds what a region held at a time."""


@dataclass(slots=True)
class Event:
    """One recorded operation.

    Attributes:
        time: its position in the record, from 1.
        info: its schema.
        args, kwargs: its arguments; tensors are `Region`s.
        outs: the tensors that it wrote or returned.
        sites: the positions in watched code that it was called from, innermost first.
        direct: whether the innermost watched code called it itself, without a function or module in between.
        before: for an in-place operation, copies of what it overwrote, in the shapes of the first of `outs`; None
            where there was no room for a copy.
        draw: for a random operation, the state of the generator.
        hand: whether the learner set this value as a "what if".
        view: whether it made a view and wrote nothing.
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
        """The name of the operation without its overload: `mm`, `_softmax`, `add_`."""
        return self.info.op

    def index_of(self, storage: int, offset: int) -> tuple[int, tuple[int, ...]] | None:
        """Return which of the results holds an element, and its index there; None if none of them does."""
        for output, region in enumerate(self.outs):
            if region.storage == storage and (index := region.find(offset)) is not None:
                return output, index
        return None

    def arg(self, name: str) -> Any:
        """Return an argument by its name in the schema, or its default; None if there is no such argument."""
        if name in self.kwargs:
            return self.kwargs[name]
        position = self.info.names.get(name)
        if position is None:
            return None
        return self.args[position] if position < len(self.args) else self.info.defaults.get(name)

    def operands(self) -> Iterator[Region]:
        """Iterate over all tensors among the arguments, also inside lists."""
        for value in (*self.args, *self.kwargs.values()):
            if isinstance(value, Region):
                yield value
            elif isinstance(value, list):
                yield from (item for item in value if isinstance(item, Region))


@dataclass(slots=True)
class Binding:
    """A name for a region, valid from a time on; `top` is True for a variable of the lesson, not of a function."""

    time: int
    name: str
    region: Region
    top: bool


@dataclass(slots=True)
class Record:
    """A record of a run: operations in order, the writes to each storage, and names of regions by storage."""

    events: list[Event] = field(default_factory=list)
    writes: dict[int, list[Event]] = field(default_factory=dict)
    bindings: dict[int, list[Binding]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    time: int = 1
    stopped: str = ""
    """Why recording stopped; "" if it did not."""
    stopped_site: Site | None = None
    lost: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The times of the first and the last write to each storage after recording stopped."""


class Recorder(TorchDispatchMode):
    """Records all operations while it is entered (`with recorder:`), which may happen repeatedly."""

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

    # Watched code and names ---------------------------------------------------------------------------------------

    def watch(self, filename: str, source: str) -> None:
        """Watch a source file: an operation is attributed to the innermost watched code that called it."""
        self.record.sources[filename] = source
        self._watched[filename] = True

    def name(self, namespace: dict[str, Any], statement: ast.stmt) -> None:
        """Record which tensors the names of a namespace refer to after a statement, also parameters and buffers.

        Variables of loops are left out, because they refer to a different tensor in every round.
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
        # A tensor can get a different storage (`.data = ...`), so both are compared.
        known = (tensor, tensor.untyped_storage()._cdata)
        before = self._known.get(name)
        if before is not None and before[0] is known[0] and before[1] == known[1]:
            return
        self._known[name] = known
        region = Region.of(tensor)
        self.record.bindings.setdefault(region.storage, []).append(Binding(self.record.time, name, region, True))

    @contextlib.contextmanager
    def by_hand(self) -> Iterator[None]:
        """Mark everything that is written meanwhile as set by the learner."""
        self._hand = True
        try:
            yield
        finally:
            self._hand = False

    @contextlib.contextmanager
    def aside(self, sites: tuple[Site, ...]) -> Iterator[None]:
        """Record, without limits, what is computed only to explain an operation that was called at `sites`."""
        stopped, self.record.stopped, self._aside = self.record.stopped, "", sites
        try:
            with self:
                yield
        finally:
            self.record.stopped, self._aside = stopped, None

    def snapshot(self, tensor: torch.Tensor, region: Region, time: int) -> None:
        """Record that a new tensor holds what a region held at a time."""
        self._add(Event(self.record.time, SNAPSHOT, (region, time), {}, (Region.of(tensor),), ()))
        self._write(self.record.events[-1].outs[0], self.record.events[-1])

    # Recording ----------------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation and record it."""
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
            self._record(info, taken, out, before, generator, state)
        except Exception as error:
            # The learner's program goes on: only its record ends.
            self._stop(f"{type(error).__name__}: {error}", ())
        return out

    def _lose(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record which storages of the record an operation writes to after recording stopped."""
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
            (position, item.name)
            for position, item in enumerate(schema.arguments)
            if (item.alias_info and item.alias_info.is_write and op not in RESHAPING)
            or item.name in UNDECLARED_WRITES.get(op, ())
        )
        info = Info(
            func,
            op,
            {item.name: position for position, item in enumerate(schema.arguments)},
            {item.name: item.default_value for item in schema.arguments if item.has_default_value()},
            written,
            torch.Tag.nondeterministic_seeded in func.tags,
        )
        self._infos[func] = info
        return info

    def _copy(self, target: torch.Tensor) -> torch.Tensor | None:
        """Copy what an in-place operation is about to overwrite; None if there is no room for it."""
        if target.is_meta or target.layout != torch.strided:
            return None
        size = target.numel() * target.element_size()
        if self._bytes + size > self._keep:
            return None
        self._bytes += size
        return target.detach().clone()

    def _record(self, info: Info, taken: Any, out: Any, before: Any, generator: Any, state: Any) -> None:
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
            # An operation may write to other tensors than it returns.
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
        """Record what a tensor is a copy of if its new memory was copied as bytes, as `copy.deepcopy` does."""
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
        """Return the sites in watched code that called an operation, and whether directly; None for printing."""
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
            # It was seeded again, or gave numbers to an operation that was not recorded.
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
    """Yield the tensors (or their regions) that an operation writes to."""
    training = info.names.get("training")
    if info.op in UNDECLARED_WRITES and training is not None and not args[training]:
        return
    for position, name in info.written:
        value = args[position] if position < len(args) else kwargs.get(name)
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, torch.Tensor | Region):
                yield item


def _mebibytes(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size:,} bytes"
