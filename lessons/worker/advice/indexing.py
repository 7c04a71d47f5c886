"""Advice on indices, axes and keys that do not exist, divisions by zero, and failed assertions."""

from __future__ import annotations

import ast
import re
from collections import OrderedDict

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.rules import Match, fixed_advice, rule
from attn_tutor.lessons.worker.advice.safe_reading import UNKNOWN, attributes, is_exactly
from attn_tutor.lessons.worker.advice.scene import Scene, nearest, size

say = Wording("advice/indexing")

MOST_KEYS = 6


@rule(IndexError, r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)")
def out_of_bounds(scene: Scene, match: Match) -> str | None:
    """Explain an index beyond the end of an axis, such as `x[6]` of six rows."""
    axis, count = match[2], int(match[3])
    sentence = next((sentence for node in scene.find(ast.Subscript) if (sentence := scene.describe(node.value))), None)
    if count > 1:
        entries = say.count(
            "out-of-range",
            count,
            "Axis {axis} has {count} entry, numbered from 0, so the last one is {last} (or -1).",
            "Axis {axis} has {count} entries, numbered from 0, so the last one is {last} (or -1).",
            axis=axis,
            last=count - 1,
        )
    elif count:
        entries = say("one-place", "Axis {axis} has only one entry, number 0 (or -1).", axis=axis)
    else:
        entries = say("empty-axis", "Axis {axis} is empty.", axis=axis)
    return f"{sentence}. {entries}" if sentence else entries


@rule(IndexError, r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)")
def no_such_axis(scene: Scene, match: Match) -> str | None:
    """Explain an axis that the tensor does not have."""
    low, high = int(match[1]), int(match[2])
    for call in scene.find(ast.Call):
        base = call.func.value if isinstance(call.func, ast.Attribute) else None
        for node in [base, *call.args[:1]]:
            tensor = scene.tensor_info(node)
            if tensor is not None:
                count = len(tensor.shape)
                axes = say("axes", "{count} axes", count=count) if count != 1 else say("one-axis", "one axis")
                if high >= count > 0:
                    return say(
                        "new-axis",
                        "{tensor}. It has {axes}, so the new one can go anywhere from {low} to {high}.",
                        tensor=scene.describe(node),
                        axes=axes,
                        low=low,
                        high=high,
                    )
                if not count:
                    return say("no-axes", "{tensor}, so it has no axes.", tensor=scene.describe(node))
                if high == 0:
                    return say(
                        "only-axis", "{tensor}, so it has only one axis, number 0 (or -1).", tensor=scene.describe(node)
                    )
                return say.count(
                    "dim-out-of-range",
                    count,
                    "{tensor}, so it has {count} axis, numbered from 0 to {high}, or from {low} to -1 when counted "
                    "from the end.",
                    "{tensor}, so it has {count} axes, numbered from 0 to {high}, or from {low} to -1 when counted "
                    "from the end.",
                    tensor=scene.describe(node),
                    high=high,
                    low=low,
                )
    if high == 0:
        return say("tensor-of-one-axis", "The tensor has at most one axis, number 0 (or -1).")
    return say.count(
        "axis-numbers",
        high + 1,
        "The tensor has {count} axis, numbered from 0 to {high}, or from {low} to -1 when counted from the end.",
        "The tensor has {count} axes, numbered from 0 to {high}, or from {low} to -1 when counted from the end.",
        high=high,
        low=low,
    )


@rule(IndexError, r"too many indices for tensor of dimension (\d+)")
def too_many_indices(scene: Scene, match: Match) -> str | None:
    """Explain an index with more entries than the tensor has axes."""
    for node in scene.find(ast.Subscript):
        given = len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
        if sentence := scene.describe(node.value):
            return say(
                "too-many-indices",
                "{sentence}, so it has {axes}, but you gave {given} indices.",
                sentence=sentence,
                axes=count_axes(int(match[1])),
                given=given,
            )
    return say(
        "too-many-indices-of-tensor",
        "The tensor has {axes}, so it takes at most that many indices.",
        axes=count_axes(int(match[1])),
    )


def count_axes(count: int) -> str:
    """Write a number of axes in words."""
    return say("one-axis", "one axis") if count == 1 else say("axes", "{count} axes", count=count)


@rule(IndexError, r"^(list|tuple) index out of range")
def outside_list(scene: Scene, match: Match) -> str | None:
    """Explain an index beyond the end of a list or tuple."""
    for node in scene.find(ast.Subscript):
        container = scene.value(node.value)
        if is_exactly(container, list, tuple):
            code = scene.quote(node.value, say("the-container", "The {name}", name=match[1]))
            if not container:
                return say("empty-list", "{code} is empty.", code=code)
            count = (
                say("entries", "{count} entries", count=len(container))
                if len(container) > 1
                else say("one-entry", "one entry")
            )
            return say(
                "list-out-of-range",
                "{code} has {count}, numbered from 0, so the last one is {value} (or -1).",
                code=code,
                count=count,
                value=len(container) - 1,
            )
    return say("counted-from-0", "Entries are numbered from 0, and the last one is -1.")


@rule(IndexError, r"The shape of the mask \[([\d, ]*)\] at index \d+ does not match .* \[([\d, ]*)\]")
def mask_as_index(scene: Scene, match: Match) -> str | None:
    """Explain `x[mask]` with a mask of a different shape."""
    mask, tensor = (size(re.findall(r"\d+", group)) for group in match.groups())
    return say(
        "mask-shape",
        "The mask is {mask} and the tensor is {tensor}. To select cells with a mask, both need the same shape.",
        mask=mask,
        tensor=tensor,
    )


@rule(TypeError, r"unhashable type: '(?:list|dict|set)'")
def list_as_key(scene: Scene, match: Match) -> str | None:
    """Explain a lookup with a whole list, which cannot be a key."""
    for node in scene.find(ast.Subscript):
        if is_exactly(scene.value(node.value), dict, OrderedDict) and is_exactly(scene.value(node.slice), list):
            return say(
                "list-as-key",
                "{dictionary} looks up one key at a time, and {keys} is a list: look up its entries one by one.",
                dictionary=scene.quote(node.value, say("dict", "The dictionary")),
                keys=scene.quote(node.slice, say("what-is-looked-up", "what stands in the brackets")),
            )
    return None


@rule(KeyError, r"^(['\"])(.*)\1$")
def no_such_key(scene: Scene, match: Match) -> str | None:
    """Explain a key that a dictionary does not have."""
    for node in scene.find(ast.Subscript, ast.Call):
        base = node.value if isinstance(node, ast.Subscript) else node.func
        container = scene.value(base)
        if not is_exactly(container, dict, OrderedDict):
            container = attributes(container).get("_modules") if container is not UNKNOWN else None
        if not is_exactly(container, dict, OrderedDict):
            continue
        keys = [key for key in container if type(key) is str]
        if near := nearest(match[2], keys, 0.6):
            return say("did-mean", 'Did you mean "{near}"?', near=near)
        if not container:
            return say("empty-dictionary", "{code} is empty.", code=scene.quote(base, say("dict", "The dictionary")))
        if not keys:
            return None
        some = ", ".join(f'"{key}"' for key in keys[:MOST_KEYS])
        if len(keys) > MOST_KEYS:
            return say("some-keys", "Its keys include {some}.", some=some)
        return say("keys", "Its keys are {keys}.", keys=some)
    return None


fixed_advice(
    IndexError,
    {
        r"^index out of range in self": lambda: say(
            "token-number", "Every token ID has to be at least 0 and less than the number of rows of the embedding."
        )
    },
)


# Plain Python --------------------------------------------------------------------------------------------------------


@rule(ZeroDivisionError, r"")
def division_by_zero(scene: Scene, match: Match) -> str | None:
    """Name the divisor that is zero."""
    for node in scene.find(ast.BinOp, ast.AugAssign):
        divisor = node.right if isinstance(node, ast.BinOp) else node.value
        division = isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
        if division and not isinstance(divisor, ast.Constant) and scene.code(divisor):
            return say("zero-here", "`{code}` is 0 here.", code=scene.code(divisor))
    return None


@rule(AssertionError, r"^$")
def failed_assertion(scene: Scene, match: Match) -> str | None:
    """Explain a failed assertion without a message."""
    statement = scene.enclosing(ast.Assert)
    if statement is None or isinstance(statement.test, ast.Constant):
        return None
    asserted = scene.code(statement.test) or say("what-is-asserted", "what this line asserts")
    sentence = say("asserted-false", "`{code}` is not true", code=asserted)
    sides = [statement.test.left, *statement.test.comparators] if isinstance(statement.test, ast.Compare) else []
    values = [
        say("asserted-value", "`{code}` is {value!r}", code=scene.code(side), value=scene.value(side))
        for side in sides
        if not isinstance(side, ast.Constant | ast.Tuple | ast.List)
        and is_printable(scene.value(side))
        and scene.code(side)
    ]
    return f"{sentence}: {say('and', ' and ').join(values)}." if values else f"{sentence}."


def is_printable(value: object) -> bool:
    """Return whether a value is short enough to be written out: a number, a short text, or a shape."""
    if type(value) is tuple:
        return len(value) < MOST_KEYS and all(is_exactly(one, int, float) for one in value)
    if type(value) is int:
        return abs(value) < 10**12
    return is_exactly(value, float, bool) or (type(value) is str and len(value) < 40)
