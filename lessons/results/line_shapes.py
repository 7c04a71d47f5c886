"""The shapes that the lines of a step took and made, as plain data: what stands beside the code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

Joint = Literal["@", ","]
"""What stands between two tensors that a line took: a matrix product, or anything else."""

AxesOf = Callable[[str, int], tuple[str, ...]]
"""The names of the axes of a tensor of that name with so many axes; nothing if they are not known."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A tensor in a line of code.

    Attributes:
        name: what the line calls it, say `keys.T`; "" if nothing names it.
        sizes: of its axes, outermost first.
        axes: their names; "" for one that is not known.
    """

    name: str
    sizes: tuple[int, ...]
    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LineShapes:
    """What a line of code took and made. In a loop it is that of the last round.

    `joints` stand between the tensors that it took: one less than these.
    """

    line: int
    took: tuple[Shape, ...] = ()
    joints: tuple[Joint, ...] = ()
    made: tuple[Shape, ...] = ()


def of_worker(data: Iterable[dict[str, Any]], axes_of: AxesOf) -> tuple[LineShapes, ...]:
    """The shapes of a step from the worker's report, their axes named.

    Raises `ValueError`, `KeyError` or `TypeError` for a wrong report.
    """
    return tuple(
        LineShapes(
            int(line["line"]),
            tuple(_named(item, axes_of) for item in line["took"]),
            tuple(map(_joint, line["joints"])),
            tuple(_named(item, axes_of) for item in line["made"]),
        )
        for line in data
    )


def _named(item: dict[str, Any], axes_of: AxesOf) -> Shape:
    """A shape whose axes are some of those of a tensor with a name (`base`), which has `dims` of them."""
    sizes = tuple(map(int, item["sizes"]))
    names = axes_of(str(item["base"]), int(item["dims"]))
    axes = (names[place] if names and place is not None else "" for place in item["axes"])
    return Shape(str(item["name"]), sizes, tuple(name for name, _ in zip(axes, sizes, strict=True)))


def to_json(lines: tuple[LineShapes, ...]) -> list[dict[str, Any]]:
    """The shapes as JSON can hold them."""

    def shape(item: Shape) -> dict[str, Any]:
        return {"name": item.name, "shape": list(item.sizes), "axes": list(item.axes)}

    return [
        {
            "line": line.line,
            "took": [shape(item) for item in line.took],
            "joints": list(line.joints),
            "made": [shape(item) for item in line.made],
        }
        for line in lines
    ]


def of_json(data: list[dict[str, Any]]) -> tuple[LineShapes, ...]:
    """The way back. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""

    def shape(item: dict[str, Any]) -> Shape:
        return Shape(str(item["name"]), tuple(map(int, item["shape"])), tuple(map(str, item["axes"])))

    return tuple(
        LineShapes(
            int(line["line"]),
            tuple(map(shape, line["took"])),
            tuple(map(_joint, line["joints"])),
            tuple(map(shape, line["made"])),
        )
        for line in data
    )


def _joint(given: Any) -> Joint:
    return "@" if given == "@" else ","
