"""An operation of a record, as one looks at it: what it took and made, where it was called, what it overwrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import torch

from attn_tutor.lessons.worker.recording.autograd_nodes import GradientNode
from attn_tutor.lessons.worker.recording.draw import Draw
from attn_tutor.lessons.worker.recording.regions import Region

Site = tuple[CodeType, int]
"""A position in running code: a code object and the offset of an instruction in it."""

CallSites = tuple[tuple[Site, ...], bool]
"""The sites that an operation was called from, innermost first, and whether the innermost did so itself."""

DROPPED: Any = object()
"""Stands in `Event.before` for copies that can be computed again; `Record.restore` brings them back."""

PLAIN, IN_PLACE, SPECIAL = range(3)
"""What is to be noted of an operation beside its arguments and results: nothing; what it overwrites; other things."""

NO_KWARGS: dict[str, Any] = {}


@dataclass(slots=True, eq=False)
class Info:
    """The schema of an operation.

    Attributes:
        func: the operation itself.
        op: its name without the overload.
        names: the position of each argument, by name.
        defaults: the default values of arguments, by name.
        written: position and name of the arguments that it writes to.
        random: whether it draws random numbers.
        call: a faster way to call it, if its first argument is a tensor.
        tensors: whether any argument may be a tensor or a list of tensors.
        undeclared: the position of the argument `training`, if the schema only declares writes without it.
        out: whether it writes to an argument such as `out`, which it resizes to what it computes.
        in_place: whether it writes to its first argument only, and always.
        marking: whether its result does not have in memory what it is: only a mark says that the sign is another.
        reshaping: whether it may give an argument another shape or memory.
        kind: one of `PLAIN`, `IN_PLACE`, `SPECIAL`.
        composite: the function of other operations that it is, if it has no kernel of its own.
        pointwise: whether each number of its result depends only on the numbers at that place, as PyTorch says of it.
        runs_code: whether it runs functions that it is given, as `torch.cond` does; what these compute is not recorded.
    """

    func: Any
    op: str
    names: dict[str, int]
    defaults: dict[str, Any]
    written: tuple[tuple[int, str], ...]
    random: bool
    call: Callable[..., Any] | None = None
    tensors: bool = False
    undeclared: int | None = None
    out: bool = False
    in_place: bool = False
    marking: bool = False
    reshaping: bool = False
    kind: int = SPECIAL
    composite: Callable[..., Any] | None = None
    pointwise: bool = False
    runs_code: bool = False

    def targets(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[Any]:
        """Yield the tensors (or their regions) that a call writes to."""
        if self.undeclared is not None and not args[self.undeclared]:
            return
        for position, name in self.written:
            value = args[position] if position < len(args) else kwargs.get(name)
            for item in value if isinstance(value, list | tuple) else (value,):
                if isinstance(item, torch.Tensor | Region):
                    yield item


SNAPSHOT = Info(None, "snapshot", {"region": 0, "time": 1}, {}, (), False)
"""Stands for no operation: the event made a tensor that holds what a region held at a time."""

LEFT = Info(None, "left", {"memory": 0}, {}, ((0, "memory"),), False)
"""Stands for all that a program may do to a storage when it is no longer recorded: its bytes as they were are kept."""


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
        before: for an in-place operation, copies of what it overwrote, in the shapes of `overwritten`; None
            where there was no room for a copy. `DROPPED` for all of them: see `Record.before`.
        draw: for a random operation, the state of the generator.
        hand: whether the learner set this value as a "what if".
        initial: for data that came from outside, a copy of them as they came.
        written: the tensors that it wrote, new ones included.
        opaque: whether it took or returned a tensor without a storage.
        node_made: the number of the node that autograd had just made when it ran, which is for its derivative if the
            name of the node fits; -1 if there was none.
        node: the node of the backward pass that it ran in; None elsewhere.
    """

    time: int
    info: Info
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outs: tuple[Region, ...]
    sites: tuple[Site, ...]
    direct: bool = False
    before: tuple[torch.Tensor | Bytes | None, ...] = ()
    draw: Draw | None = None
    hand: bool = False
    initial: torch.Tensor | Bytes | None = None
    written: tuple[Region, ...] = ()
    opaque: bool = False
    node_made: int = -1
    node: GradientNode | None = None

    @property
    def op(self) -> str:
        """The name of the operation without its overload: `mm`, `_softmax`, `add_`."""
        return self.info.op

    @property
    def view(self) -> bool:
        """Whether it made a view and wrote nothing."""
        return bool(self.outs) and not self.written

    @property
    def overwritten(self) -> tuple[Region, ...]:
        """The tensors that it wrote, as they were: it may give one in `out` another shape. New ones may follow."""
        return tuple(self.info.targets(self.args, self.kwargs)) if self.info.out else self.outs

    def index_of(self, storage: int, offset: int, size: int = 1) -> tuple[int, tuple[int, ...]] | None:
        """Return which of the results holds bytes from an offset on, and the index there; None if none of them does."""
        for output, region in enumerate(self.outs):
            if region.storage != storage:
                continue
            # What is read as one number may have been written as several shorter ones.
            for start in range(offset, offset + size, region.dtype.itemsize):
                index = region.find(start)
                if index is not None:
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

    def arguments(
        self, tensor_of: Callable[[Region], torch.Tensor], instead: Mapping[str, Any] = NO_KWARGS
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return `args` and `kwargs` with a tensor in the place of each region, also inside lists.

        `instead` has other values for some of them, by their names in the schema.
        """

        def given(name: str, value: Any) -> Any:
            return instead[name] if name in instead else plain(value)

        def plain(value: Any) -> Any:
            if isinstance(value, Region):
                return tensor_of(value)
            return [plain(item) for item in value] if isinstance(value, list) else value

        names = {position: name for name, position in self.info.names.items()}
        args = [given(names.get(position, ""), value) for position, value in enumerate(self.args)]
        return args, {name: given(name, value) for name, value in self.kwargs.items()}

    def operands(self) -> Iterator[Region]:
        """Iterate over all tensors among the arguments, also inside lists."""
        for value in (*self.args, *self.kwargs.values()):
            if isinstance(value, Region):
                yield value
            elif isinstance(value, list):
                yield from (item for item in value if isinstance(item, Region))


@dataclass(slots=True, frozen=True)
class Bytes:
    """A copy of a small tensor. It takes less time to make than a tensor does."""

    data: bytes
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return len(self.data)

    @property
    def tensor(self) -> torch.Tensor:
        """A new tensor with these contents. Not to be used while the recorder is entered."""
        if not self.data:
            return torch.empty(self.shape, dtype=self.dtype)
        return torch.frombuffer(bytearray(self.data), dtype=self.dtype).reshape(self.shape)


def contents(copy: torch.Tensor | Bytes) -> torch.Tensor:
    """Return a copy of overwritten numbers as a tensor. Not to be used while the recorder is entered."""
    return copy.tensor if isinstance(copy, Bytes) else copy


def tensors_of(out: Any) -> list[torch.Tensor]:
    """Return the tensors among what an operation has returned: one, several in a list or tuple, or none."""
    return [item for item in (out if isinstance(out, list | tuple) else (out,)) if isinstance(item, torch.Tensor)]
