"""The nodes of autograd's graph that operations of a backward pass ran in, and notes on them while they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from attn_tutor.lessons.worker.recording.regions import OPAQUE, Layout, Region, as_noted


@dataclass(slots=True, frozen=True)
class GradientNode:
    """A node of autograd's graph, in which an operation of the backward pass ran.

    Attributes:
        run: the number of the backward pass.
        number: counts the operations for whose derivatives autograd made a node: `Event.node_made` of one of them.
        name: as autograd calls it, such as `MulBackward0`.
        plain: whether no graph was recorded meanwhile: then it only computed gradients.
        leaf: the tensor whose gradient is added up in its `.grad` here; None in all other nodes.
        targets: number and name of the nodes that take what it computes.
    """

    run: int
    number: int
    name: str
    plain: bool
    leaf: Region | None = None
    targets: tuple[tuple[int, str], ...] = ()


NodeNote = tuple[int, int, str, bool, Layout | None, tuple[tuple[int, str], ...]]
"""The fields of a `GradientNode`, but with a layout for the leaf."""

OF_LEAVES = (1 << 64) - 1
"""The number of all nodes that add up the gradients of leaves."""

_backward_pass = torch._C._current_graph_task_id
_is_grad_enabled = torch.is_grad_enabled


class NodeNotes:
    """Notes what nodes are without keeping them: a node holds the tensors of a whole forward pass."""

    def __init__(self) -> None:
        self._last: NodeNote = -1, -1, "", True, None, ()

    def note(self, node: Any) -> NodeNote:
        """Return a note on a node; the same object as the last time if it is the same node."""
        run, number, last = _backward_pass(), node._sequence_nr(), self._last
        # To ask a node for an attribute that it lacks takes longer than all the rest.
        leaf = getattr(node, "variable", None) if number == OF_LEAVES else None
        if number == last[1] and run == last[0] and leaf is None:
            return last
        place = as_noted(leaf) if leaf is not None and leaf.layout == torch.strided else None
        place = None if place is OPAQUE else place
        targets = tuple([(to._sequence_nr(), to.name()) for to, _ in node.next_functions if to is not None])
        self._last = run, number, node.name(), not _is_grad_enabled(), place, targets
        return self._last
