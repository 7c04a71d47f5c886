"""A recorder of operations: which one wrote which element of which storage, when, and on which line.

PyTorch calls a dispatch mode for every operation below autograd, whether lesson code, a library module or the backward
pass asked for it. Views share their storage, so an element is identified by its storage and offset, whatever names and
shapes it has. Nothing is explained here; `lessons.worker.explaining` reads the record backwards.

The record is bounded. Values that the program has let go of are dropped when they fill more than `SEGMENT` bytes, and
computed again when somebody asks (`rematerialization`). Operations that no tensor of the program depends on are
forgotten (`reachability`). Beyond `KEEP` bytes or `MOST_EVENTS` operations recording stops, and says so. From then on
it only notes which tensors are written to, so that their present values are not taken for earlier ones. A
`RollingRecorder`, for runs of any length, forgets the older half instead of stopping.

A storage that operations read and did not make (data from files, from arrays, or from before the recording began) costs
nothing as long as the program has it itself. When the program has let go of it, the record keeps it alive.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import string_at
from dataclasses import dataclass, field, replace
from types import CodeType, FrameType
from typing import Any
from weakref import WeakMethod

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.recording import beside_compiler, operation_info, reachability, tangents
from attn_tutor.lessons.worker.recording.autograd_nodes import NodeNotes
from attn_tutor.lessons.worker.recording.call_sites import OnCalls, SiteFinder
from attn_tutor.lessons.worker.recording.draw import Draws
from attn_tutor.lessons.worker.recording.event import IN_PLACE, NO_KWARGS, SNAPSHOT, SPECIAL, Bytes, Event, Info, Site
from attn_tutor.lessons.worker.recording.events import SAME, Noted, Rare
from attn_tutor.lessons.worker.recording.operation_info import DATA
from attn_tutor.lessons.worker.recording.optimizer_steps import OptimizerSteps
from attn_tutor.lessons.worker.recording.reachability import is_held
from attn_tutor.lessons.worker.recording.record import Record, VariableNames
from attn_tutor.lessons.worker.recording.regions import OPAQUE, Region, as_noted, is_finite_inside, plain_region
from attn_tutor.lessons.worker.recording.rematerialization import Rematerializer

MOST_DIMS = 4096
"""Shapes and strides that are shared, until they are forgotten."""

NUMBERS = frozenset(
    {
        *(int, float, bool, type(None), complex, str),
        *(torch.dtype, torch.device, torch.layout, torch.memory_format),
    }
)
"""The types of arguments that are recorded as they are."""

PACKED = frozenset(
    {
        *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.complex64, torch.complex128),
    }
)
"""The types of numbers that can be read from bytes."""


class SharedDims(dict[tuple[int, ...], tuple[int, ...]]):
    """Shapes and strides, each of them once."""

    def __missing__(self, dims: tuple[int, ...]) -> tuple[int, ...]:
        if len(self) >= MOST_DIMS:
            self.clear()
        # The shape of a tensor is of another type, which the garbage collector would look at again and again.
        found = self[tuple(dims)] = tuple(dims)
        return found


Memory = torch.UntypedStorage


class LentStorages(dict[Memory, None]):
    """The storages that operations of a record read and did not make.

    Attributes:
        counted: how many bytes of them count as kept by the record.
    """

    def __init__(self, memories: Iterable[Memory] = ()) -> None:
        super().__init__(dict.fromkeys(memories))
        self.counted = 0

    def add(self, memory: Memory) -> int:
        """Add a storage; return its bytes, which count until it is known that the program has it."""
        self[memory] = None
        size = memory.nbytes()
        self.counted += size
        return size

    def add_all(self, noted: Any, made: dict[Memory, None]) -> int:
        """Add the storages among arguments as they are noted that an operation has not made; return their bytes."""
        if type(noted) is tuple:
            memory = noted[0]
            return 0 if memory in made or memory in self else self.add(memory)
        return sum(self.add_all(item, made) for item in noted) if type(noted) is list else 0

    def settle(self) -> int:
        """Count only what the program has let go of; return how many bytes more there are than were counted."""
        before = self.counted
        self.counted = sum(memory.nbytes() for memory in self if not is_held(memory))
        return self.counted - before


say = Wording("explaining/recording")

KEEP = 512 << 20
"""Bytes of storages, and of copies of overwritten values, that a record keeps alive."""

SEGMENT = 32 << 20
"""Bytes of values after which those that can be computed again are dropped."""

MOST_EVENTS = 200_000
FEW_EVENTS = 10_000
"""Operations up to which none is forgotten."""

SMALL = 4096
"""Bytes up to which overwritten values are copied as bytes, which takes less time than a copy by PyTorch."""

_getframe, _known_infos = sys._getframe, operation_info.KNOWN
_nodes_made = torch._C._autograd._get_sequence_nr
_current_node = torch._C._current_autograd_node
_TENSOR, _PARAMETER, _STRIDED = torch.Tensor, torch.nn.Parameter, torch.strided


@dataclass(slots=True)
class _Special:
    """What was noted before an operation ran.

    Attributes:
        kwargs, before: as in the event, but with layouts.
        generator, state: the generator that a random operation draws from, and its state.
        args: the arguments, if the operation may change what they look like.
    """

    kwargs: dict[str, Any]
    before: tuple[torch.Tensor | Bytes | None, ...]
    generator: torch.Generator | None = None
    state: torch.Tensor | None = None
    args: list[Any] = field(default_factory=list)


class Recorder(TorchDispatchMode):
    """Records all operations while it is entered (`with recorder:`), which may happen repeatedly."""

    def __init__(
        self, keep: int = KEEP, most: int = MOST_EVENTS, segment: int = SEGMENT, few: int = FEW_EVENTS
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.record = Record()
        self._keep, self._most, self._segment = keep, most, segment
        self._few = self._next_sweep = min(few, most)
        self.optimizers = OptimizerSteps(self.record)
        self._entered: list[contextlib.ExitStack] = []
        self.values = Rematerializer(self.record)
        self.record.restore = self.values.restore
        self.kept = 0
        """Bytes of storages, and of copies of overwritten values, that the record keeps alive."""
        self._drop_at = min(keep, segment)
        self._storages: dict[torch.UntypedStorage, None] = {}
        self._lent = LentStorages()
        self._draws = Draws()
        self._hand = False
        self._observe: Callable[[Noted, Any], None] | None = None
        """Called with each operation that was recorded, and what it returned."""
        self._marks = False
        self._sites = SiteFinder(self.record.sources)
        self.naming = VariableNames(self.record, WeakMethod(self.has), self._sites.release)
        self._made = _nodes_made()
        self._nodes = NodeNotes()
        self._dims = SharedDims()

    supports_higher_order_operators = True

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Return whether PyTorch's compiler compiles code now although operations are recorded."""
        return beside_compiler.is_ignored()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # True, the default, wraps every call in a function of torch._dynamo, which takes a second to import.
        return False

    def __enter__(self) -> Recorder:
        stack = contextlib.ExitStack()
        if not self._entered:
            stack.enter_context(self.optimizers.watching())
            stack.enter_context(beside_compiler.as_written())
            stack.enter_context(tangents.noting(self.record))
        self._entered.append(stack)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self._sites.release()
        super().__exit__(kind, error, traceback)  # type: ignore[no-untyped-call]
        self._entered.pop().close()

    # Watched code and names ---------------------------------------------------------------------------------------

    def watch(self, filename: str, source: str) -> None:
        """Watch a source file: an operation is attributed to the innermost watched code that called it."""
        self._sites.watch(filename, source)

    def begin_at(self, frame: FrameType | None) -> None:
        """Attribute operations to what runs in this frame and what it calls, not to its own callers."""
        self._sites.begin_at(frame)

    def watch_below(self, folder: str) -> None:
        """Watch each source file below a folder as soon as it calls an operation, but no installed package."""
        self.record.folder = os.path.join(folder, "")
        self._sites.watch_below(self.record.folder)

    def is_watched(self, code: CodeType) -> bool:
        """Return whether operations that this code calls are attributed to it."""
        return self._sites.is_watched(code)

    def follow(self, on_calls: OnCalls | None) -> None:
        """Call a function before an operation if calls of watched functions have begun or ended; None ends that."""
        self._sites.on_calls = on_calls

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
        stopped, self.record.stopped, self._sites.aside = self.record.stopped, "", sites
        since = self.record.time
        try:
            with self:
                yield
        finally:
            self.record.stopped, self._sites.aside = stopped, ()
            self.record.asides.append((since, self.record.time))

    def snapshot(self, tensor: torch.Tensor, region: Region, time: int) -> None:
        """Record that a new tensor holds what a region held at a time."""
        self._add_copy(region, time, Region.of(tensor), (), False)

    # Recording ----------------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation and record it.

        This runs for every operation, however small, so it only notes what cannot be found out later. Most of it is
        written out instead of in functions: to call one takes as long as to note two items.
        """
        record = self.record
        # By identity: the hash of an operation is a function in Python.
        info = _known_infos.get(id(func)) or self._info(func)
        if info.runs_code:
            return self._run_code(info, args, kwargs or NO_KWARGS)
        if info.composite is not None and operation_info.are_plain((*args, *(kwargs or NO_KWARGS).values())):
            with self:
                return info.composite(*args, **(kwargs or NO_KWARGS))
        if record.stopped:
            self._lose(info, args, kwargs or NO_KWARGS)
            return func(*args, **(kwargs or NO_KWARGS))
        try:
            # Before it runs: it may change what the tensors look like that functions have left.
            sites = self._sites.find(_getframe(1))
            nodes, made = _nodes_made(), -1
            if nodes != self._made:
                self._made, made = nodes, nodes - 1
            current = _current_node()
            node = None if current is None else self._nodes.note(current)
            rare: Any = None
            kind = SPECIAL if self._hand else info.kind
            if kind == SPECIAL:
                rare = self._special(info, args, kwargs or NO_KWARGS)
            elif kwargs:
                rare = self._named(kwargs), (self._copy(args[0]),) if kind == IN_PLACE else (), None, False, None
            elif kind == IN_PLACE:
                rare = self._bytes(args[0])
                if rare is None:
                    rare = NO_KWARGS, (self._clone(args[0]),), None, False, None
            call = info.call
            if call is None or self._marks or (type(args[0]) is not _TENSOR and type(args[0]) is not _PARAMETER):
                call = func._op
        except Exception as error:
            self._stop(f"{type(error).__name__}: {error}", ())
            return func(*args, **(kwargs or NO_KWARGS))
        out = call(*args, **kwargs) if kwargs else call(*args)
        if sites is None:
            return out
        events, time = record.events, record.time
        items = events.items
        start = len(items)
        try:
            dims, marks, storages, lent = self._dims, self._marks, self._storages, self._lent
            noted: list[Any] = []
            results: Any = ()
            if kind == SPECIAL:
                noted, rare = rare.args, self._rare(info, rare, out)
            if info.in_place and args[0] is out:
                items += time, info, sites, node, made, rare, SAME
            elif type(out) is _TENSOR and not marks:
                try:
                    place = out.untyped_storage(), out.storage_offset(), dims[out.shape], dims[out.stride()], out.dtype
                    items += (time, info, sites, node, made, rare, *place)
                    results = (place,)
                except RuntimeError:
                    items += time, info, sites, node, made, rare, [OPAQUE]
                    self._note_opaque(out)
            else:
                results = [as_noted(item) for item in _several(out) if isinstance(item, _TENSOR)]
                if not results and not info.tensors:
                    # A mark for the profiler.
                    return out
                items += time, info, sites, node, made, rare, results
                if OPAQUE in results:
                    self._note_opaque(out)
            if noted:
                items += noted
                self.kept += lent.add_all(noted, storages)
            for value in () if noted else args:
                type_of = type(value)
                if (type_of is _TENSOR or type_of is _PARAMETER) and not marks:
                    try:
                        memory = value.untyped_storage()
                        items += memory, value.storage_offset(), dims[value.shape], dims[value.stride()], value.dtype
                        if memory not in storages and memory not in lent and info.op != DATA:
                            self.kept += lent.add(memory)
                    except RuntimeError:
                        items.append(OPAQUE)
                elif type_of in NUMBERS or (type_of is list and value and type(value[0]) is int):
                    items.append(value)
                else:
                    plain = as_noted(value)
                    items.append(plain)
                    self.kept += lent.add_all(plain, storages)
            # What is a view of something lent is not made here.
            for place in results:
                if place is not OPAQUE and place[0] not in storages and place[0] not in lent:
                    storages[place[0]] = None
                    self.kept += place[0].nbytes()
            events.starts.append(start)
            record.time = time + 1
            if self._observe is not None:
                self._observe(events.last(), out)
            if info.reshaping:
                self._reshaped(info, args[0])
            if (self.kept > self._drop_at or time >= self._next_sweep) and not self._sites.aside:
                self.kept += lent.settle()
                if self.kept > self._drop_at or time >= self._next_sweep:
                    self._make_room(sites[0])
        except Exception as error:
            # The learner's program goes on: only its record ends.
            if record.time == time:
                del items[start:]
            self._stop(f"{type(error).__name__}: {error}", ())
        return out

    def _run_code(self, info: Info, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an operation that runs functions of the program, and record what it took and gave."""
        sites = self._sites.find(_getframe(2))
        out = info.func(*args, **kwargs)
        if sites is None or self.record.stopped:
            return out
        try:
            taken, made = (
                [item for item in tree_leaves(tree) if isinstance(item, _TENSOR)] for tree in ((args, kwargs), out)
            )
            regions = tuple(filter(None, map(plain_region, taken)))
            outs = tuple(filter(None, map(plain_region, made)))
            known = {region.storage for region in regions}
            written = tuple(region for region in outs if region.storage not in known)
            time = self.record.time
            self.record.events.add(Event(time, info, regions, {}, outs, *sites, written=written, opaque=True))
            self.record.time = time + 1
            self.kept += self._lent.add_all(list(map(as_noted, taken)), self._storages)
            for region in written:
                if region.memory not in self._storages:
                    self._storages[region.memory] = None
                    self.kept += region.memory.nbytes()
            if self._observe is not None:
                self._observe(Noted(time, info, sites, list(map(as_noted, taken))), made)
        except Exception as error:
            # The learner's program goes on: only its record ends.
            self._stop(f"{type(error).__name__}: {error}", ())
        return out

    def _special(self, info: Info, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Special:
        """Note what most operations do not have: several results that are overwritten, a generator, another shape."""
        before = tuple(map(self._copy, info.targets(args, kwargs))) if info.written else ()
        special = _Special(self._named(kwargs), before)
        if info.random:
            special.generator = kwargs.get("generator") or torch.default_generator
            special.state = special.generator.get_state()
        if info.reshaping:
            special.args = list(map(as_noted, args))
        if info.marking:
            self._marks = True
        return special

    def _rare(self, info: Info, special: _Special, out: Any) -> Rare:
        """Note what is known of such an operation after it ran."""
        draw = None
        if special.generator is not None and special.state is not None:
            tensors = [item for item in _several(out) if isinstance(item, _TENSOR) and item.layout is _STRIDED]
            draw = self._draws.note(info.op, special.generator, special.state, tensors)
            self.kept += 0 if draw is None else draw.nbytes
        initial = self._copy(out) if info.op == DATA else None
        return special.kwargs, special.before, draw, self._hand, initial

    def _named(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Note the named arguments of an operation."""
        for value in kwargs.values():
            if type(value) not in NUMBERS:
                plain = {key: as_noted(item) for key, item in kwargs.items()}
                self.kept += self._lent.add_all(list(plain.values()), self._storages)
                return plain
        return kwargs

    def _note_opaque(self, out: Any) -> None:
        """Count results whose numbers the record does not hold."""
        for item in _several(out):
            # A tensor of the compiler, on its way through a program, has no numbers.
            if isinstance(item, _TENSOR) and as_noted(item) is OPAQUE and not hasattr(item, "fake_mode"):
                if item._is_zerotensor() or item.is_meta:
                    continue
                self.record.opaque += 1
                self.record.hidden += not is_finite_inside(item)

    def _lose(self, info: Info, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record which storages of the record an operation writes to after recording stopped."""
        record = self.record
        with contextlib.suppress(Exception):
            # Functions go on to return.
            self._sites.find(_getframe(2))
        record.time += 1
        for tensor in info.targets(args, kwargs) if info.written else ():
            storage = tensor.untyped_storage()._cdata
            if storage in record.writes or storage in record.bindings:
                record.lost[storage] = record.lost.get(storage, (record.time, 0))[0], record.time

    def _info(self, func: Any) -> Info:
        try:
            return operation_info.read(func)
        except Exception as error:
            if not self.record.stopped:
                self._stop(f"{type(error).__name__}: {error}", ())
            return Info(func, func.name(), {}, {}, (), False)

    def _copy(self, target: torch.Tensor) -> torch.Tensor | Bytes | None:
        """Copy what an in-place operation is about to overwrite; None if there is no room for it."""
        data = self._bytes(target)
        return self._clone(target) if data is None else Bytes(data, target.shape, target.dtype)

    def _clone(self, target: torch.Tensor) -> torch.Tensor | None:
        """Copy what is too large for bytes, or of another kind; None if there is no room for it."""
        if target.is_meta or target.layout != torch.strided:
            return None
        size = target.nbytes
        if self.kept + size > self._keep:
            return None
        self.kept += size
        return (target.detach() if target.requires_grad else target).clone()

    def _bytes(self, target: torch.Tensor) -> bytes | None:
        """Copy a small tensor as bytes; None if that is not possible, or if there is no room for it."""
        kind = type(target)
        if not (kind is _TENSOR or kind is _PARAMETER) or self._marks or not target.is_cpu:
            return None
        if target.layout is not torch.strided or target.dtype not in PACKED or not target.is_contiguous():
            return None
        size = target.nbytes
        if size > SMALL or self.kept + size > self._keep:
            return None
        self.kept += size
        return string_at(target.data_ptr(), size)

    def _make_room(self, sites: tuple[Site, ...]) -> None:
        """Drop what can be computed again and forget what nothing depends on; stop if that is not enough."""
        record = self.record
        if self.kept > self._drop_at:
            self._drop()
        if record.time > self._next_sweep or self.kept > self._keep:
            self._sweep()
            if self.kept > self._keep:
                self._drop()
        if self.kept > self._keep:
            why = say("full", "the tensors of this run fill more than {size}", size=_mebibytes(self._keep))
            self._stop(why, sites)
        elif len(record.events) >= self._most:
            self._stop(say("long", "this run has made {count:,} operations", count=self._most), sites)

    def _drop(self) -> None:
        """Drop what can be computed again, if that is more than has to be copied for it, or there is no room."""
        left = self.values.seal(self._storages, is_full=self.kept > self._keep)
        if left is not None:
            self.kept = left + self._lent.counted
        self._drop_at = min(self._keep, self.kept + max(self._segment, self.kept // 2))

    def _sweep(self) -> None:
        """Forget what nothing depends on."""
        record = self.record
        remaining, forgotten = reachability.sweep(record)
        self._storages = dict.fromkeys(memory for memory in remaining if memory in self._storages)
        counted = self._lent.counted
        self._lent = LentStorages(memory for memory in record.events.memories() if memory not in self._storages)
        self._lent.settle()
        self.kept += self._lent.counted - counted
        self.values.forget()
        count = len(record.events)
        self._next_sweep = record.time + min(max(self._few, count), self._most - count) - 1

        record.forget_in_calls(lambda region: region.storage in forgotten or not self.has(region.memory))

    def has(self, memory: torch.UntypedStorage) -> bool:
        """Return whether an operation of the record has made or read a storage."""
        return memory in self._storages or memory in self._lent

    def known(self) -> set[torch.UntypedStorage]:
        """Return the storages that operations of the record have made or read."""
        return {*self._storages, *self._lent}

    def _reshaped(self, info: Info, target: Any) -> None:
        """Note the layout and the memory that a tensor may have got."""
        if isinstance(target, _TENSOR):
            self.naming.bind_again(target)
        if info.op == "set_":
            self._adopt(self.record.events[-1])
        elif info.op == "resize_" and type(target) is _TENSOR and not target.is_meta:
            # Too much, until it is counted again.
            self.kept += target.untyped_storage().nbytes()

    def _adopt(self, event: Event) -> None:
        """Record what a tensor is a copy of if its new memory was copied as bytes, as `copy.deepcopy` does."""
        region = event.outs[0]
        last = next(reversed(self.record.writes.get(region.storage, ())), None)
        source = last.arg("src") if last is not None and last.op == "copy_" else None
        if last is not None and isinstance(source, Region) and source.dtype == torch.uint8 != region.dtype:
            original = replace(region, storage=source.storage, memory=source.memory)
            self._add_copy(original, last.time, region, event.sites, event.direct)

    def _add_copy(self, source: Region, time: int, copy: Region, sites: tuple[Site, ...], direct: bool) -> None:
        event = Event(self.record.time, SNAPSHOT, (source, time), {}, (copy,), sites, direct, written=(copy,))
        self.record.time += 1
        self.record.events.add(event)

    def _stop(self, why: str, sites: tuple[Site, ...]) -> None:
        self.record.stopped = why
        self.record.stopped_site = sites[-1] if sites else None


beside_compiler.leave_alone(Recorder.__torch_dispatch__.__code__)


def _several(out: Any) -> Sequence[Any]:
    return out if isinstance(out, list | tuple) else (out,)


def _mebibytes(size: int) -> str:
    if size < 1 << 20:
        return say("bytes", "{size:,} bytes", size=size)
    return say("mebibytes", "{size} MiB", size=size >> 20)


class RollingRecorder(Recorder):
    """A recorder whose record always holds the latest operations.

    What they read that was computed earlier is as if it had come from outside. Nothing is dropped to be computed again:
    room comes from forgetting.
    """

    def __init__(self, keep: int = KEEP, most: int = MOST_EVENTS) -> None:
        super().__init__(keep=keep, most=most, few=most)
        # The last quarter is for copies of what is overwritten, which are refused where there is no room.
        self._room = self._drop_at = keep - keep // 4

    def _make_room(self, sites: tuple[Site, ...]) -> None:
        record = self.record
        memories: set[torch.UntypedStorage] = set()
        while len(record.events) > 1:
            forget_before(record, len(record.events) // 2)
            memories = record.events.memories()
            self.kept = record.events.copied_bytes()
            # What the program holds itself costs nothing.
            self.kept += sum(memory.nbytes() for memory in memories if not is_held(memory))
            if self.kept <= self._room // 2:
                break
        self._storages = dict.fromkeys(memories)
        self._lent = LentStorages()
        self.optimizers.forget_before(record.since)
        self._drop_at = max(self._room, 2 * self.kept)
        self._next_sweep = record.time + max(1, self._most - len(record.events))


def forget_before(record: Record, position: int) -> None:
    """Forget the operations before a position, and the names of tensors that are gone."""
    record.since = record.events[position].time
    record.keep(range(position, len(record.events)))
    memories = record.events.memories()
    for storage, bindings in list(record.bindings.items()):
        memory = bindings[0].region.memory
        if memory not in memories and not is_held(memory):
            del record.bindings[storage]
