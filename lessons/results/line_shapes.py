"""The shapes of the tensors that each line of a step took and made, as plain data, shown beside the code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from attn_tutor.lessons.results.field_bounds import Between, Line, Longest, Name, Sizes

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


MOST_TENSORS = 6
"""Tensors that are listed for one line, at most: those that it took, and those that it made."""


@dataclass(frozen=True, slots=True)
class ShapeReport:
    """A tensor in a line, as a worker sends it; `axes` holds for each axis that of the tensor called `base`.

    `dims` is how many axes that tensor has.
    """

    name: Name
    sizes: Sizes
    base: Name
    dims: Annotated[int, Between(0, 64)]
    axes: Annotated[tuple[Annotated[int, Between(0, 63)] | None, ...], Longest(64)]

    def check(self) -> None:
        """Raise `ValueError` if an axis is not there."""
        if len(self.axes) != len(self.sizes) or any(axis is not None and axis >= self.dims for axis in self.axes):
            raise ValueError("the axes of another tensor")


ShapeReports = Annotated[tuple[ShapeReport, ...], Longest(MOST_TENSORS)]


@dataclass(frozen=True, slots=True)
class LineReport:
    """The tensors that a line of code took and made, as a worker sends them; see `LineShapes`."""

    line: Line
    took: ShapeReports
    joints: Annotated[tuple[Joint, ...], Longest(MOST_TENSORS)]
    made: ShapeReports


def of_worker(reports: Iterable[LineReport], axes_of: AxesOf) -> tuple[LineShapes, ...]:
    """Return the shapes of a step from the worker's report, with the names of their axes."""
    return tuple(
        LineShapes(
            report.line,
            tuple(_named(item, axes_of) for item in report.took),
            report.joints,
            tuple(_named(item, axes_of) for item in report.made),
        )
        for report in reports
    )


def _named(item: ShapeReport, axes_of: AxesOf) -> Shape:
    names = axes_of(item.base, item.dims)
    return Shape(item.name, item.sizes, tuple(names[axis] if names and axis is not None else "" for axis in item.axes))


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
