"""A recorder of operations: which one wrote which element of which storage, when, and on which line.

PyTorch calls a dispatch mode for every operation below autograd, whether lesson code, a library module or the backward
pass asked for it. Views share their storage, so an element is identified by its storage and offset, whatever names and
shapes it has. Nothing is explained here; `lessons.worker.explaining` reads the record backwards.

The record is bounded. Values that the program has let go of are dropped when they fill more than `SEGMENT` bytes, and
computed again when somebody asks (`rematerialization`). Operations that no tensor of the program depends on are
forgotten (`reachability`). Beyond `KEEP` bytes or `MOST_EVENTS` operations recording stops, and says so. From then on
it only notes which tensors are written to, so that their present values are not taken for earlier ones.
"""

from __future__ import annotations

import ast
import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import attention
from lessons.worker.recording import reachability
from lessons.worker.recording.draw import Draw
from lessons.worker.recording.optimizer_steps import OptimizerSteps
from lessons.worker.recording.record import (
    OPAQUE,
    SNAPSHOT,
    Binding,
    Event,
    GradientNode,
    Info,
    Layout,
    Record,
    Region,
    Site,
    layout,
)
from lessons.worker.recording.rematerialization import Rematerializer

KEEP = 512 << 20
"""Bytes of storages, and of copies of overwritten values, that a record keeps alive."""

SEGMENT = 32 << 20
"""Bytes of values after which those that can be computed again are dropped."""

MOST_EVENTS = 200_000
FEW_EVENTS = 10_000
"""Operations up to which none is forgotten."""

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

SIGNS = frozenset({"_conj", "_neg_view"})
"""Operations whose results are only marked as having the other sign."""

UNIFORM = frozenset({"rand", "rand_like", "uniform_"})
"""Operations that draw one uniform number from a generator for each element."""

FAST: dict[str, set[str]] = {
    "Tensor": {"add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_"},
    "Tensor_Scalar": {"pow"},
    "int": {"transpose", "select"},
    "dim": {"squeeze", "mean"},
    "dim_IntList": {"sum"},
    "Scalar": {"masked_fill", "masked_fill_", "fill_", "lerp_", "eq", "ne", "gt", "lt"},
    "": {
        "mm", "bmm", "addmm", "dot", "mv", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "neg", "abs",
        "square", "sin", "cos", "clone", "detach", "t", "permute", "unsqueeze", "expand", "view", "sum", "mean",
        "triu", "tril", "maximum", "embedding", "native_layer_norm", "_softmax", "_log_softmax",
        "_softmax_backward_data", "copy_", "zero_", "addcmul_", "addcdiv_",
    },
}  # fmt: skip
"""Operations, by overload, whose function in `torch` takes the same arguments by position.

Calling that one is faster than calling the operation itself, which compares the arguments with its schema first.
"""

NONE: dict[str, Any] = {}
_PRINTING = "_tensor_str.py"
_getframe = sys._getframe
_nodes_made = torch._C._autograd._get_sequence_nr
_current_node = torch._C._current_autograd_node


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
        self._known: dict[str, tuple[Any, int, bool]] = {}
        self._watched: dict[str, bool | None] = {}
        self._infos: dict[int, Info] = {}
        self._draws: dict[int, tuple[Draw, torch.Tensor, int | None]] = {}
        self._loops: set[str] = set()
        self._hand = False
        self._signs = False
        self._aside: tuple[Site, ...] | None = None
        self._nodes = _nodes_made()
        self._node: GradientNode | None = None

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # True, the default, wraps every call in a function of torch._dynamo, which takes a second to import.
        return False

    def __enter__(self) -> Recorder:
        stack = contextlib.ExitStack()
        if not self._entered:
            stack.enter_context(self.optimizers.watching())
        self._entered.append(stack)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        super().__exit__(kind, error, traceback)  # type: ignore[no-untyped-call]
        self._entered.pop().close()

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
        # A tensor can get a different storage (`.data = ...`), and become a parameter (`requires_grad_`).
        leaf = tensor.requires_grad and tensor.is_leaf
        known = (tensor, tensor.untyped_storage()._cdata, leaf)
        before = self._known.get(name)
        if before is not None and before[0] is known[0] and before[1:] == known[1:]:
            return
        self._known[name] = known
        region = Region.of(tensor)
        binding = Binding(self.record.time, name, region, True, leaf)
        self.record.bindings.setdefault(region.storage, []).append(binding)

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
        self._add_copy(region, time, Region.of(tensor), (), False)

    # Recording ----------------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation and record it.

        This runs for every operation, however small, so it only notes what cannot be found out later.
        """
        record = self.record
        kwargs = kwargs or {}
        if record.stopped:
            self._lose(func, args, kwargs)
            return func(*args, **kwargs)
        before: tuple[torch.Tensor | None, ...] = ()
        generator = state = None
        try:
            # By identity: the hash of an operation is a function in Python.
            info = self._infos.get(id(func)) or self._info(func)
            taken = list(args)
            for position in info.tensors:
                if position >= len(taken):
                    break
                value = taken[position]
                if isinstance(value, torch.Tensor):
                    try:
                        taken[position] = (
                            value.untyped_storage(),
                            value.storage_offset(),
                            value.shape,
                            value.stride(),
                            value.dtype,
                        )
                        if self._signs and (value.is_conj() or value.is_neg()):
                            taken[position] = layout(value)
                    except NotImplementedError:
                        taken[position] = OPAQUE
                elif isinstance(value, list):
                    taken[position] = [_plain(item) for item in value]
            named = {key: _plain(value) for key, value in kwargs.items()} if kwargs else NONE
            if info.written:
                before = tuple(map(self._copy, info.targets(args, kwargs)))
            if info.random:
                generator = kwargs.get("generator") or torch.default_generator
                state = generator.get_state()
            self._signs = self._signs or info.op in SIGNS
            fast = info.call is not None and type(taken[0]) is tuple
            nodes = _nodes_made()
            made = -1
            if nodes != self._nodes:
                self._nodes, made = nodes, nodes - 1
            current = _current_node()
            node = None if current is None else self._gradient_node(current)
        except Exception as error:
            self._stop(f"{type(error).__name__}: {error}", ())
            return func(*args, **kwargs)
        out = info.call(*args, **kwargs) if fast else func._op(*args, **kwargs)  # type: ignore[misc]
        try:
            sites, direct = self._sites(_getframe(1))
            if sites is None:
                return out
            if isinstance(out, torch.Tensor):
                outs = [_plain(out)]
            else:
                results = out if isinstance(out, list | tuple) else ()
                outs = [_plain(item) for item in results if isinstance(item, torch.Tensor)]
            if not outs and not info.tensors:
                # A mark for the profiler.
                return out
            draw = None if generator is None else self._draw(info.op, generator, state, outs)
            initial = self._copy(out) if info.op == "lift_fresh" else None
            hand = self._hand
            record.events.add(
                (record.time, info, taken, named, outs, sites, direct, before, draw, hand, initial, made, node)
            )
            record.time += 1
            for raw in outs:
                if raw is not OPAQUE and raw[0] not in self._storages:
                    self._storages[raw[0]] = None
                    self.kept += raw[0].nbytes()
            if info.op == "set_":
                self._adopt(record.events[-1])
            if (self.kept > self._drop_at or record.time > self._next_sweep) and self._aside is None:
                self._make_room(sites)
        except Exception as error:
            # The learner's program goes on: only its record ends.
            self._stop(f"{type(error).__name__}: {error}", ())
        return out

    def _gradient_node(self, node: Any) -> GradientNode:
        """Describe a node of autograd's graph, without keeping it: it holds the tensors of a whole forward pass."""
        run, number, last = torch._C._current_graph_task_id(), node._sequence_nr(), self._node
        leaf = getattr(node, "variable", None)
        if last is not None and last.run == run and last.number == number and leaf is None:
            return last
        region = Region.of(leaf) if leaf is not None and leaf.layout == torch.strided else None
        targets = tuple((to._sequence_nr(), to.name()) for to, _ in node.next_functions if to is not None)
        self._node = GradientNode(run, number, node.name(), not torch.is_grad_enabled(), region, targets)
        return self._node

    def _lose(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record which storages of the record an operation writes to after recording stopped."""
        record = self.record
        record.time += 1
        info = self._infos.get(id(func)) or self._info(func)
        for tensor in info.targets(args, kwargs) if info.written else ():
            storage = tensor.untyped_storage()._cdata
            if storage in record.writes:
                record.lost[storage] = record.lost.get(storage, (record.time, 0))[0], record.time

    def _info(self, func: Any) -> Info:
        schema = func._schema
        op = schema.name.partition("::")[2]
        undeclared = UNDECLARED_WRITES.get(op, ())
        written = tuple(
            (position, item.name)
            for position, item in enumerate(schema.arguments)
            if (item.alias_info and item.alias_info.is_write and op not in RESHAPING) or item.name in undeclared
        )
        names = {item.name: position for position, item in enumerate(schema.arguments)}
        info = Info(
            func,
            op,
            names,
            {item.name: item.default_value for item in schema.arguments if item.has_default_value()},
            written,
            torch.Tag.nondeterministic_seeded in func.tags,
            _fast_call(op, schema.overload_name),
            tuple(position for position, item in enumerate(schema.arguments) if "Tensor" in str(item.type)),
            names["training"] if undeclared else None,
            any(item.is_out for item in schema.arguments),
        )
        self._infos[id(func)] = info
        return info

    def _copy(self, target: torch.Tensor) -> torch.Tensor | None:
        """Copy what an in-place operation is about to overwrite; None if there is no room for it."""
        if target.is_meta or target.layout != torch.strided:
            return None
        size = target.nbytes
        if self.kept + size > self._keep:
            return None
        self.kept += size
        return (target.detach() if target.requires_grad else target).clone()

    def _make_room(self, sites: tuple[Site, ...]) -> None:
        """Drop what can be computed again and forget what nothing depends on; stop if that is not enough."""
        record = self.record
        if self.kept > self._drop_at:
            if self.kept > self._keep or self.values.is_worthwhile():
                self.kept = self.values.seal(self._storages)
            self._drop_at = min(self._keep, self.kept + max(self._segment, self.kept // 2))
        if record.time > self._next_sweep:
            reachability.sweep(record)
            self._storages = dict.fromkeys(
                region.memory for event in record.events for region in event.written if region.memory in self._storages
            )
            count = len(record.events)
            self._next_sweep = record.time + min(max(self._few, count), self._most - count) - 1
        if self.kept > self._keep:
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
            self._add_copy(original, last.time, region, event.sites, event.direct)

    def _add_copy(self, source: Region, time: int, copy: Region, sites: tuple[Site, ...], direct: bool) -> None:
        event = Event(self.record.time, SNAPSHOT, (source, time), {}, (copy,), sites, direct, written=(copy,))
        self.record.time += 1
        self.record.events.add(event)

    def _sites(self, frame: FrameType | None) -> tuple[tuple[Site, ...] | None, bool]:
        """Return the sites in watched code that called an operation, and whether directly; None for printing."""
        found: list[Site] = []
        watched = self._watched
        direct = False
        for depth in range(DEPTH):
            if frame is None:
                break
            code = frame.f_code
            name = code.co_filename
            try:
                seen = watched[name]
            except KeyError:
                seen = watched[name] = self._is_watched(name)
            if seen:
                if not found:
                    direct = depth == 0
                found.append((code, frame.f_lasti))
                if code.co_name == "<module>":
                    break
            elif seen is None and code.co_name == "_str":
                return None, False
            frame = frame.f_back
        return (*found, *(self._aside or ())), direct

    def _is_watched(self, name: str) -> bool | None:
        """Return whether to attribute operations to a file; None for the one that prints tensors."""
        if name.endswith(_PRINTING):
            return None
        if not name.startswith(PACKAGE) or Path(name).name.startswith("_"):
            return False
        self.record.sources[name] = Path(name).read_text(encoding="utf-8")
        return True

    def _draw(self, op: str, generator: torch.Generator, state: Any, outs: list[Any]) -> Draw:
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
        regions = [Region.of_layout(raw) for raw in outs if raw is not OPAQUE]
        plain = op in UNIFORM and all(region.dtype == torch.float32 for region in regions)
        draw = Draw(seed, call, first if plain else None, state)
        self.kept += state.numel()
        after = None if draw.first is None else draw.first + sum(region.size for region in regions)
        self._draws[id(generator)] = (draw, generator.get_state(), after)
        return draw

    def _stop(self, why: str, sites: tuple[Site, ...]) -> None:
        self.record.stopped = why
        self.record.stopped_site = sites[-1] if sites else None


def _fast_call(op: str, overload: str) -> Callable[..., Any] | None:
    if op not in FAST.get(overload, ()):
        return None
    functions: Any = torch._C._VariableFunctions
    found: Callable[..., Any] | None = getattr(functions, op, None) or getattr(torch.Tensor, op, None)
    return found


def _plain(value: Any) -> Layout | Any:
    if isinstance(value, torch.Tensor):
        try:
            return layout(value)
        except NotImplementedError:
            return OPAQUE
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _mebibytes(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size:,} bytes"
