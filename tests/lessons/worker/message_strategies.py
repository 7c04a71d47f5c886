"""Messages made by chance from the types of their fields, and frames that are nearly such messages."""

from __future__ import annotations

import json
import math
import string
import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from attn_tutor.lessons.programs.results import nonfinite
from attn_tutor.lessons.results import clean_text, explanation
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.field_bounds import LARGEST_INTEGER, LEAST_INTEGER, Between, Items, Longest, ReadBy
from attn_tutor.lessons.results.flow import Flow, FlowArrow, FlowBox, OpenBox
from attn_tutor.lessons.results.line_shapes import LineReport, ShapeReport
from attn_tutor.lessons.results.result import MOST_STEPS, Failure, MemoryLayout
from attn_tutor.lessons.worker import channel, wire
from attn_tutor.lessons.worker.judging_messages import HiddenInputs
from attn_tutor.lessons.worker.message_parts import BYTES, TensorReport, of_child
from attn_tutor.lessons.worker.messages import BlocksReport, Snapshot, WindowReport

Made = st.SearchStrategy[Any]

FEW = 3
"""The most items of a list or an object."""

TEXTS = st.text(string.printable + "Ω\u200f\ud800", max_size=8)
NUMBERS = st.floats(width=64) | st.integers(-9, 9).map(float)
INTEGERS = st.integers(0, 9) | st.integers(LEAST_INTEGER, LARGEST_INTEGER)
PLAIN = st.recursive(
    st.none() | st.booleans() | INTEGERS | NUMBERS | TEXTS, lambda inner: st.lists(inner, max_size=FEW)
)
RANGES = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda ends: tuple(sorted(ends)))
UNITS = st.sampled_from(
    [CodeUnit.step("one"), CodeUnit.input(2), CodeUnit.parse("setup"), CodeUnit.parse("one: x + 1")]
)


def of_type(hint: Any) -> Made:
    """Return values of a type, within its bounds."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return bounded(args[0], args[1:])
    if hint is CodeUnit:
        return UNITS
    if hint in SIMPLE:
        return SIMPLE[hint]
    if origin in (Union, types.UnionType):
        return st.one_of(*map(of_type, args))
    if origin is Literal:
        return st.sampled_from(args)
    if origin is tuple and args[1:] == (Ellipsis,):
        return st.lists(of_type(args[0]), max_size=FEW).map(tuple)
    if origin is tuple:
        return st.tuples(*map(of_type, args))
    if origin is dict:
        return st.dictionaries(of_type(args[0]), of_type(args[1]), max_size=FEW)
    assert is_dataclass(hint), hint
    return message_of(hint)


SIMPLE: dict[Any, Made] = {
    Any: PLAIN,
    bool: st.booleans(),
    int: INTEGERS,
    float: NUMBERS,
    str: TEXTS,
    bytes: st.binary(max_size=64),
    types.NoneType: st.none(),
}


def bounded(base: Any, marks: tuple[Any, ...]) -> Made:
    for mark in marks:
        if isinstance(mark, ReadBy):
            return READ_BY[mark.read]
        if isinstance(mark, Between) and base is int:
            least, most = int(mark.least), int(mark.most)
            return st.integers(least, min(most, least + 9)) | st.integers(least, most)
        if isinstance(mark, Between):
            return st.floats(mark.least, mark.most, allow_nan=False)
        assert isinstance(mark, Items | Longest)
        if isinstance(mark, Longest) and mark.length < FEW:
            return of_type(base).filter(partial(_is_short, mark.length))
    return of_type(base)


def _is_short(length: int, value: Any) -> bool:
    return len(value) <= length


def message_of(kind: Any) -> Made:
    """Return messages of a kind, or parts of messages, whose fields fit together."""
    names = [field.name for field in fields(kind)]
    given = {"stdout": RANGES} if "stdout" in names else {}
    made = SPECIAL[kind]() if kind in SPECIAL else plain_message(kind, **given)
    return made.map(with_numbers) if "blob" in names and kind not in SPECIAL else made


def plain_message(kind: Any, /, **given: Made) -> Made:
    """Return dataclasses with these fields, and all others by their types."""
    hints = get_type_hints(kind, include_extras=True)
    return st.builds(kind, **{name: given[name] if name in given else of_type(hint) for name, hint in hints.items()})


def with_numbers(message: Any) -> Any:
    """Return a message whose blob has the numbers of all tensors in it, one after the other."""
    blob = b""

    def placed(part: Any) -> Any:
        nonlocal blob
        if isinstance(part, TensorReport):
            start, blob = len(blob), blob + bytes(range(part.size))
            return replace(part, offset=start)
        if isinstance(part, tuple):
            return tuple(map(placed, part))
        if is_dataclass(part) and not isinstance(part, type):
            return replace(part, **{field.name: placed(getattr(part, field.name)) for field in fields(part)})
        return part

    message = placed(message)
    return replace(message, blob=blob) if blob else message


# Classes whose fields have to fit together ---------------------------------------------------------------------------


@st.composite
def tensor_reports(draw: st.DrawFn) -> TensorReport:
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    code, whole = draw(st.sampled_from(list(BYTES))), draw(st.booleans())
    rows, cols = (1, 1, *shape)[-2:]
    count = math.prod(shape)
    if not whole and count:
        rows, cols = draw(st.integers(1, rows)), draw(st.integers(1, cols))
        count = rows * cols
    elif count == 0:
        whole = True
    strides = tuple(draw(st.integers(0, 9)) for _ in shape)
    layout = MemoryLayout(strides, draw(st.integers(0, 9)), draw(st.integers(0, 99)), draw(st.booleans()), str(1 << 40))
    return TensorReport(
        name=draw(TEXTS),
        dtype=draw(st.sampled_from(["float32", "bool", "int64", "?"])),
        shape=shape,
        low=draw(st.none() | st.floats(allow_nan=False, allow_infinity=False)),
        high=draw(st.none() | st.just(1.0)),
        whole=whole,
        rows=rows,
        code=code,
        offset=0,
        size=count * BYTES[code],
        layout=draw(st.none() | st.just(layout)),
    )


@st.composite
def shape_reports(draw: st.DrawFn) -> ShapeReport:
    sizes, dims = tuple(draw(st.lists(st.integers(0, 9), max_size=3))), draw(st.integers(1, 3))
    axes = tuple(draw(st.none() | st.integers(0, dims - 1)) for _ in sizes)
    return ShapeReport(draw(TEXTS), sizes, draw(TEXTS), dims, axes)


@st.composite
def flows(draw: st.DrawFn) -> Flow:
    ids = draw(st.lists(TEXTS.filter(bool), max_size=6, unique=True))
    count = draw(st.integers(0, min(2, len(ids))))
    opened = [
        OpenBox(id, draw(TEXTS), draw(TEXTS), draw(st.sampled_from(["", *ids[:at]]))) for at, id in enumerate(ids)
    ]
    boxes = [
        replace(draw(message_of(FlowBox)), id=id, parent=draw(st.sampled_from(["", *ids[:count]])))
        for id in ids[count:]
    ]
    pairs = st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: max(pair) < len(boxes))
    arrows = [
        FlowArrow(boxes[one].id, boxes[other].id, one >= other)
        for one, other in (draw(st.lists(pairs, max_size=8)) if boxes else [])
    ]
    path = draw(st.lists(st.sampled_from(ids[count:]), max_size=3)) if boxes else []
    return Flow(tuple(boxes), tuple(arrows), tuple(opened[:count]), tuple(path), draw(st.integers(0, 9)))


def flow_boxes() -> Made:
    rows = st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[NUMBERS] * width), max_size=3).map(tuple))
    return plain_message(FlowBox, thumbnail=rows, kind=st.just("vector"))


@st.composite
def windows(draw: st.DrawFn) -> Any:
    code, rows, cols = draw(st.sampled_from(list(BYTES))), draw(st.integers(0, 3)), draw(st.integers(0, 3))
    return WindowReport(rows, code, bytes(range(rows * cols * BYTES[code])))


@st.composite
def blocks(draw: st.DrawFn) -> BlocksReport:
    rows, cols = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    cells = b"".join((row * cols + col).to_bytes(8, "little") for row in range(rows) for col in range(cols))
    return BlocksReport(rows, cols, bytes(8 * rows * cols) + cells)


@st.composite
def snapshots(draw: st.DrawFn) -> Any:
    total = draw(st.integers(0, MOST_STEPS))
    done = draw(st.integers(0, total))
    return with_numbers(draw(plain_message(Snapshot, done=st.just(done), total=st.just(total), blob=st.just(b""))))


def hidden_inputs() -> Made:
    return plain_message(HiddenInputs, inputs=st.lists(PLAIN, max_size=3))


SPECIAL: dict[Any, Callable[[], Made]] = {
    TensorReport: tensor_reports,
    ShapeReport: shape_reports,
    LineReport: lambda: plain_message(LineReport),
    Flow: flows,
    FlowBox: flow_boxes,
    WindowReport: windows,
    BlocksReport: blocks,
    Snapshot: snapshots,
    HiddenInputs: hidden_inputs,
}
"""How to make what is more than its fields."""


# Plain data that one function reads ----------------------------------------------------------------------------------


@st.composite
def explanations(draw: st.DrawFn) -> dict[str, Any]:
    index = st.lists(st.integers(0, 9), max_size=2)
    operands = draw(st.lists(st.tuples(st.just(0), index, NUMBERS, st.integers(0, 9), st.integers(0, 1)).map(list)))
    number = st.builds(lambda value, code: ["n", repr(value), code], NUMBERS | st.integers(-(1 << 70), 1 << 70), TEXTS)
    leaf = number | st.integers(0, len(operands) - 1) if operands else number
    formula = st.recursive(
        leaf,
        lambda part: (
            st.lists(part, min_size=1, max_size=3).map(lambda parts: ["+", *parts])
            | st.tuples(st.sampled_from(["-", "/", "**", "fmod"]), part, part).map(list)
            | part.map(lambda part: ["exp", part])
        ),
        max_leaves=8,
    )
    lines = st.none() | st.integers(1, 99)
    return {
        **{key: draw(TEXTS) for key in ("name", "dtype", "op", "code", "file")},
        "index": draw(index),
        "value": draw(NUMBERS),
        "line": draw(lines),
        "lesson_line": draw(lines),
        "formula": draw(formula),
        "names": [draw(TEXTS)],
        "dtypes": ["float32"],
        "operands": operands,
        "notes": draw(st.lists(TEXTS, max_size=2)),
        "details": draw(st.lists(st.tuples(TEXTS, st.lists(NUMBERS, max_size=3)).map(list), max_size=2)),
        "lit": draw(st.dictionaries(TEXTS, st.lists(index, max_size=2), max_size=2)),
    }


@st.composite
def searches(draw: st.DrawFn) -> dict[str, Any]:
    count = st.integers(0, 9)
    tensor = st.tuples(TEXTS, count, count, st.none() | NUMBERS, TEXTS, TEXTS, st.none() | count).map(list)
    origin = st.fixed_dictionaries(
        {
            **dict.fromkeys(("kind", "reason"), TEXTS),
            **dict.fromkeys(("step", "times", "of", "count", "size"), count),
            "phase": st.sampled_from(nonfinite.PHASES),
            "chain": st.lists(explanations(), min_size=1, max_size=2),
            "operands": st.lists(explanations(), max_size=1),
            "forward": st.tuples(TEXTS, TEXTS, st.none() | count).map(list),
            "losses": st.lists(NUMBERS, max_size=3),
            "cures": st.lists(TEXTS, max_size=2),
            "afterwards": st.lists(TEXTS, max_size=2),
            "is_apart": st.booleans(),
            "grown": st.none() | explanations(),
        }
    )
    counts = dict.fromkeys(
        ("operations", "numbers", "forgotten", "lost", "unkept", "skipped", "unseen", "unjudged"), count
    )
    return draw(
        st.fixed_dictionaries(
            {
                **counts,
                "origins": st.lists(origin, max_size=2),
                "reached": st.lists(tensor, max_size=2),
                "large": st.lists(tensor, max_size=2),
                "stopped": TEXTS,
                "stopped_line": st.none() | count,
                "is_over": st.booleans(),
                "marks": st.lists(TEXTS, max_size=3),
                "unfollowed": st.lists(TEXTS, max_size=3),
            }
        )
    )


READ_BY: dict[Callable[[Any], Any], Made] = {
    explanation.of_json: explanations(),
    nonfinite.of_json: searches(),
    of_child: st.deferred(lambda: plain_message(Failure, kind=st.sampled_from(["error", "memory"]))),
    clean_text.clean: TEXTS,
    clean_text.in_one_line: TEXTS,
}


# Forged frames -------------------------------------------------------------------------------------------------------


def _deep(depth: int) -> Any:
    return json.loads("[" * depth + "]" * depth)


HOSTILE: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 63, 64, 65, 255, 4096, 4097, (1 << 18), (1 << 18) + 1, 10**9),
    *((1 << 31) - 1, 1 << 53, (1 << 63) - 1, 1 << 63, 1 << 64, -(1 << 63), -(1 << 70), 10**400, 10**4000),
    *(math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.5, -0.0),
    *("", "x", "\ud800", "\x1b[2J", "x" * 70_000, "9" * 5000, "float64", "nan"),
    *([], {}, [[]], [0] * 9, [1 << 18] * 8, [0, 1 << 18], [""] * 9, {"x": 1}, _deep(60), _deep(900)),
    *([["+", *[["n", "10", ""]] * 2], 0], ["**", ["n", "10", ""], ["n", "1000000000", ""]], ["+", *[0] * 50_000]),
]
"""Values that a field may be given in place of its own."""


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the paths to all values in plain data."""
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [found for key, value in inside for found in [(*path, key), *places(value, (*path, key))]]


def replace_at(data: Any, path: tuple[Any, ...], value: Any) -> None:
    """Replace the value at a path in plain data."""
    for key in path[:-1]:
        data = data[key]
    data[path[-1]] = value


def bytes_on_the_way(message: object) -> wire.Frame:
    """Return the frame of a message as the receiver has it."""
    return wire.unpacked(wire.packed(channel.frame_of(message)), 0)[0]


@st.composite
def forged(draw: st.DrawFn, kind: Any) -> wire.Frame:
    """Return the frame of a message in which some values are hostile ones, or belong elsewhere."""
    frame = bytes_on_the_way(draw(message_of(kind)))
    header = json.loads(json.dumps(frame.header))
    at = [path for path in places(header) if path != ("op",)]
    if at:
        # The innermost first: afterwards, it may not be there any more.
        chosen = draw(st.lists(st.sampled_from(at), min_size=1, max_size=3, unique=True))
        for path in sorted(chosen, key=len, reverse=True):
            replace_at(header, path, draw(st.sampled_from(HOSTILE)))
    blob = draw(st.just(frame.blob) | st.just(b"") | st.binary(max_size=64) | st.just(frame.blob * 3))
    return wire.Frame(header, blob)
