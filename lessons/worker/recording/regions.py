"""Regions: tensors as an operation saw them, by the elements of a storage that they show."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from attn_tutor.lessons.texts.wording import Wording

say = Wording("worker/regions")

Layout = tuple[Any, ...]
"""A tensor as an operation saw it: storage, offset, shape, stride, dtype. Operations take no other tuples.

Two more items, `conj` and `neg`, stand behind these if one of them is true.
"""

QUANTIZED = frozenset({torch.qint8, torch.quint8, torch.qint32, torch.quint4x2, torch.quint2x4})
"""The types of tensors whose memory does not say what numbers they have."""

OPAQUE = object()
"""Stands for a tensor without a storage, such as a sparse one."""


View = tuple[int, int, tuple[int, ...], tuple[int, ...]]
"""Storage, offset, shape and strides."""


@dataclass(slots=True, eq=False)
class Region:
    """A tensor as an operation saw it: which elements of which storage, in which shape.

    It keeps the storage alive and not the tensor, which may get a different storage later (`.data = ...`). The bytes
    of the storage may be dropped meanwhile; `Record.restore` brings them back. `conj` and `neg` are the lazy views of
    PyTorch that show imaginary parts, or all numbers, with the other sign.
    """

    storage: int
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype
    memory: torch.UntypedStorage
    conj: bool = False
    neg: bool = False
    _steps: tuple[tuple[int, int, int], ...] | None = None

    @classmethod
    def of(cls, tensor: torch.Tensor) -> Region:
        """Return the region of a tensor."""
        return cls.of_layout(layout(tensor))

    @classmethod
    def of_layout(cls, raw: Layout) -> Region:
        """Return the region that a layout describes."""
        memory, offset, shape, stride, dtype, *signs = raw
        return cls(memory._cdata, offset, tuple(shape), stride, dtype, memory, *signs)

    @property
    def view(self) -> View:
        """Which elements of which storage it has, in which shape: the same for tensors that show the same."""
        return self.storage, self.offset, self.shape, self.stride

    @property
    def tensor(self) -> torch.Tensor:
        """The present contents of the region, as a view. Not to be used while the recorder is entered."""
        return self.inside(self.memory)

    def inside(self, memory: torch.UntypedStorage) -> torch.Tensor:
        """Return the elements of this region in another storage of the same size, as a view."""
        tensor = torch.empty(0, dtype=self.dtype).set_(memory, self.offset, self.shape, self.stride)
        tensor = tensor.conj() if self.conj else tensor
        return torch._neg_view(tensor) if self.neg else tensor

    def part(self, index: Any) -> Region:
        """Return the part of the region that an index of its tensor selects."""
        outline = torch.empty_strided(self.shape, self.stride, dtype=self.dtype, device="meta")[index]
        offset = self.offset + int(outline.storage_offset())
        shape, signs = tuple(outline.shape), (self.conj, self.neg)
        return Region(self.storage, offset, shape, outline.stride(), self.dtype, self.memory, *signs)

    @property
    def parts(self) -> Region:
        """The real and imaginary parts of a complex tensor, along one more axis; any other tensor as it is."""
        if not self.dtype.is_complex:
            return self
        return Region(
            self.storage,
            2 * self.offset,
            (*self.shape, 2),
            (*(2 * step for step in self.stride), 1),
            self.dtype.to_real(),
            self.memory,
        )

    def half(self, position: int) -> Region:
        """Return the real parts of a complex tensor, or with position 1 the imaginary ones."""
        half = self.parts.part((..., position))
        half.neg = self.neg != (self.conj and position > 0)
        return half

    def flips(self, offset: int) -> bool:
        """Return whether the region shows the number at an offset with the other sign."""
        imaginary = offset % self.dtype.itemsize > 0
        return self.neg != (self.conj and imaginary)

    def at(self, index: tuple[int, ...]) -> int:
        """Return the offset of an element in the storage, in bytes."""
        steps: int = sum(map(operator.mul, index, self.stride))
        return (self.offset + steps) * self.dtype.itemsize

    def find(self, offset: int) -> tuple[int, ...] | None:
        """Return the index of the element that holds the byte at an offset; None if it is not in this region."""
        left = offset // self.dtype.itemsize - self.offset
        if left < 0 or 0 in self.shape:
            return None
        steps = self._steps
        if steps is None:
            # Largest strides first; an axis of size 1 or stride 0 only has index 0.
            axes = [axis for axis, step in enumerate(self.stride) if step > 0 and self.shape[axis] > 1]
            axes.sort(key=lambda axis: -self.stride[axis])
            steps = self._steps = tuple((axis, self.stride[axis], self.shape[axis] - 1) for axis in axes)
        index = [0] * len(self.shape)
        rest = left
        for axis, step, last in steps:
            index[axis] = min(rest // step, last)
            rest -= index[axis] * step
        return tuple(index) if rest == 0 else self._search(left)

    def _search(self, left: int) -> tuple[int, ...] | None:
        """Find an index by trying all: where rows overlap, as `as_strided` allows, the largest step may lead astray."""
        steps = self._steps or ()
        if left > sum(step * last for _, step, last in steps) or not self._overlaps(steps):
            return None
        ways = itertools.product(*(range(min(left // step, last), -1, -1) for _, step, last in steps[:-1]))
        for way in ways:
            rest = left - sum(step * position for (_, step, _), position in zip(steps, way, strict=False))
            axis, step, last = steps[-1]
            if rest % step == 0 and 0 <= rest // step <= last:
                index = [0] * len(self.shape)
                for (earlier, _, _), position in zip(steps, way, strict=False):
                    index[earlier] = position
                index[axis] = rest // step
                return tuple(index)
        return None

    @staticmethod
    def _overlaps(steps: tuple[tuple[int, int, int], ...]) -> bool:
        """Return whether two indices may have the same offset: a step that is no longer than all smaller ones."""
        reach = 0
        for _, step, last in reversed(steps):
            if step <= reach:
                return True
            reach += step * last
        return False

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def indices(self) -> Iterator[tuple[int, ...]]:
        """Iterate over all indices; the last axis changes fastest."""
        return itertools.product(*map(range, self.shape))

    def offsets(self) -> Iterator[int]:
        """Iterate over the offsets of all elements in the storage, in bytes, in the order of their indices."""
        return map(self.at, self.indices())


def plain_region(tensor: torch.Tensor) -> Region | None:
    """Return the region of a tensor whose numbers lie in a storage; None for one that has others in place of numbers.

    These are sparse, nested and quantized tensors, those of the meta device, those that stand for several tensors, as
    inside of `torch.vmap`, and those of classes that do operations in their own way.
    """
    special = tensor.is_meta or tensor.is_quantized or tensor.is_nested or tensor.layout != torch.strided
    if special or type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return None
    try:
        found = Region.of(tensor)
        return found if found.memory.data_ptr() or 0 in found.shape else None
    except RuntimeError:
        return None


def unlisted_kind(tensor: torch.Tensor) -> str:
    """Return what kind of tensor it is that has no page because its numbers do not lie in a storage; "" for others."""
    if tensor.is_nested:
        return say("nested", "nested")
    if tensor.is_quantized:
        return say("quantized", "quantized")
    if tensor.is_meta:
        return say("meta", "on the meta device")
    if tensor.layout in (torch.strided, torch._mkldnn):  # type: ignore[attr-defined]
        return "" if tensor.layout is torch.strided else say("blocked", "in a layout of its own")
    return say("sparse", "sparse")


def is_finite_inside(tensor: torch.Tensor) -> bool:
    """Return whether all numbers of a tensor without a storage are finite, as far as they can be looked at."""
    try:
        if tensor.layout is torch.sparse_coo:
            tensor = tensor._values()
        elif tensor.layout is not torch.strided or tensor.is_nested:
            tensor = tensor.values()
        return bool(tensor.isfinite().all())
    except Exception:
        # Classes of tensors of others may raise anything.
        return False


def layout(tensor: torch.Tensor) -> Layout:
    """Return the layout of a tensor that has a storage. Raises `RuntimeError` for any other."""
    if tensor._is_zerotensor() or type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        # Nothing was allocated for zeros, or for what consists of other tensors, although their storage has a size.
        raise RuntimeError
    plain = tensor.untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype
    conj, neg = tensor.is_conj(), tensor.is_neg()
    return (*plain, conj, neg) if conj or neg else plain


def as_noted(value: Any) -> Layout | Any:
    """Return an argument or a result as a recorder notes it: tensors as layouts, also in lists."""
    if isinstance(value, torch.Tensor):
        try:
            return layout(value)
        except RuntimeError:
            return OPAQUE
    if isinstance(value, list | tuple):
        return [as_noted(item) for item in value]
    # The storage of `set_` is no part of a layout.
    return [value] if type(value) is torch.UntypedStorage else value
