"""The node of autograd's graph that an operation of a backward pass ran in."""

from __future__ import annotations

from dataclasses import dataclass

from attn_tutor.lessons.worker.recording.regions import Region


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
