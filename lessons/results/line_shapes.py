"""The shapes of the tensors that each line of a step took and made, as plain data, shown beside the code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

Joint = Literal["@", ","]
"""The sign between two tensors that a line took: `@` for a matrix product, a comma for anything else."""

AxesOf = Callable[[str, int], tuple[str, ...]]
"""Returns the axis names of a tensor by its name and number of axes; an empty tuple if they are not known."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A tensor in a line of code.

    Attributes:
        name: its name in the line, such as `keys.T`; "" if it has none.
        sizes: the sizes of its axes, outermost first.
        axes: the names of its axes; "" for one that is not known.
    """

    name: str
    sizes: tuple[int, ...]
    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LineShapes:
    """The tensors that a line of code took and made, in a loop in its last round.

    `joints` are the signs between the tensors that it took: one fewer than these.
    """

    line: int
    took: tuple[Shape, ...] = ()
    joints: tuple[Joint, ...] = ()
    made: tuple[Shape, ...] = ()


def line_of(lines: Iterable[LineShapes], name: str) -> int | None:
    """Return the last line that made the tensor called `name`, None if none did."""
    return max((each.line for each in lines if name in (shape.name for shape in each.made)), default=None)


def of_worker(data: Iterable[dict[str, Any]], axes_of: AxesOf) -> tuple[LineShapes, ...]:
    """Read the shapes of a step from the worker's report, and name their axes.

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
    """Read a shape; its axes are among the `dims` axes of the tensor called `base`, and get their names."""
    sizes = tuple(map(int, item["sizes"]))
    names = axes_of(str(item["base"]), int(item["dims"]))
    axes = (names[axis] if names and axis is not None else "" for axis in item["axes"])
    return Shape(str(item["name"]), sizes, tuple(name for name, _ in zip(axes, sizes, strict=True)))


def to_json(lines: tuple[LineShapes, ...]) -> list[dict[str, Any]]:
    """Return the shapes as plain data for JSON."""

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
    """Read what `to_json` returned. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""

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
