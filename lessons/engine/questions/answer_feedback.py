"""Feedback on a wrong answer: how it differs from the right one, without giving the right one away. Pure functions."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from attn_tutor.lessons.engine.questions.question_facts import Index, is_same_number
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/feedback")

_DECIMALS = re.compile(r"[.,](\d+)$")


def describe_number_error(answer: float, right: float, text: str, within: float) -> str:
    """Describe how far off a number is, and in which direction. `text` is the number as the learner wrote it."""
    if math.isnan(answer):
        return say("is-number", "It is a number.")
    if math.isnan(right):
        return say("neither-larger-nor-smaller", "Not that. Neither a larger nor a smaller number would be right.")
    if math.isfinite(right) and right and is_same_number(-answer, right, within):
        return say("wrong-sign", "The size is right, the sign is not.")
    large = answer > right
    if not (math.isfinite(answer) and math.isfinite(right)):
        return _too_large() if large else _too_small()
    decimals = _DECIMALS.search(text.strip())
    if round(right, len(decimals[1]) if decimals else 0) == answer and answer:
        return say("rounded-too-much", "Right as far as it goes, but rounded too much: give more digits.")
    if right and answer and (right > 0) == (answer > 0):
        ratio = answer / right
        if ratio >= 10 or ratio <= 0.1:
            if large:
                return say("much-too-large", "Too large: it is off by a factor of more than ten.")
            return say("much-too-small", "Too small: it is off by a factor of more than ten.")
        if 0.9 < ratio < 1.1:
            if large:
                return say("a-little-too-large", "Close, but too large.")
            return say("a-little-too-small", "Close, but too small.")
    return _too_large() if large else _too_small()


def _too_large() -> str:
    return say("too-large", "Too large.")


def _too_small() -> str:
    return say("too-small", "Too small.")


def describe_shape_error(answer: Index, right: Index) -> str:
    """Describe how a shape differs from the right one."""
    if len(answer) > len(right):
        return say("fewer-axes", "It has fewer axes.")
    if len(answer) < len(right):
        return say("more-axes", "It has more axes.")
    if sorted(answer) == sorted(right):
        if answer == tuple(reversed(right)):
            return say("transposed", "The right sizes in the wrong order: yours is transposed.")
        return say("wrong-order-of-sizes", "The right sizes in the wrong order.")
    good = sum(map(int.__eq__, answer, right))
    if len(right) == 1:
        return _too_large() if answer > right else _too_small()
    if not good:
        return say("no-size-right", "The number of axes is right, but none of the sizes is.")
    return say.count(
        "some-sizes-right",
        good,
        "The number of axes is right, but only {count} of the {sizes} sizes is.",
        "The number of axes is right, but only {count} of the {sizes} sizes are.",
        sizes=len(right),
    )


def describe_order_error(answer: Sequence[int], right: Sequence[int]) -> str:
    """Describe how much of an order is right."""
    if tuple(answer) == tuple(reversed(right)):
        return say("reversed", "Right, but the wrong way around: yours begins where it should end.")
    return say.count(
        "some-in-place",
        sum(map(int.__eq__, answer, right)),
        "{count} of {all} is in the right place.",
        "{count} of {all} are in the right place.",
        all=len(right),
    )


def point_at_other_row(cell: Index, right: Sequence[Index]) -> str:
    """Say where to look for the right row, given a cell of a wrong one."""
    same = [other for other in right if other[:-2] == cell[:-2]]
    if not same:
        return _other_matrix()
    above, below = any(other[-2] < cell[-2] for other in same), any(other[-2] > cell[-2] for other in same)
    if above and below:
        return say("not-this-row", "Not this row.")
    if above:
        return say("row-further-up", "Not this row. Look further up.")
    return say("row-further-down", "Not this row. Look further down.")


def point_elsewhere(cell: Index, right: Sequence[Index]) -> str:
    """Say where to look for the right cell, given a wrong one."""
    if len(cell) == 1:
        before, after = any(other < cell for other in right), any(other > cell for other in right)
        if before and after:
            return say("not-this-one", "Not this one.")
        return say("further-left", "Further to the left.") if before else say("further-right", "Further to the right.")
    same = [other for other in right if other[:-2] == cell[:-2]]
    if not same:
        return _other_matrix()
    if any(other[-2] == cell[-2] for other in same):
        return say("right-row", "The row is right; look for another cell of it.")
    if any(other[-1] == cell[-1] for other in same):
        return say("right-column", "The column is right, but the cell is in another row.")
    return say("other-row-and-column", "It is in another row and in another column.")


def _other_matrix() -> str:
    return say("other-matrix", "Not in this matrix: look at another one of them.")
