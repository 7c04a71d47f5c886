"""Feedback on a wrong answer: how it differs from the right one, without giving the right one away. Pure functions."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from lessons.engine.question_facts import Index, is_same_number

_DECIMALS = re.compile(r"[.,](\d+)$")


def describe_number_error(answer: float, right: float, text: str, within: float) -> str:
    """Describe how far off a number is, and in which direction. `text` is the number as the learner wrote it."""
    if math.isnan(answer):
        return "It is a number."
    if math.isnan(right):
        return "Not that. Neither a larger nor a smaller number would be right."
    if math.isfinite(right) and right and is_same_number(-answer, right, within):
        return "The size is right, the sign is not."
    where = "large" if answer > right else "small"
    if not (math.isfinite(answer) and math.isfinite(right)):
        return f"Too {where}."
    decimals = _DECIMALS.search(text.strip())
    if round(right, len(decimals[1]) if decimals else 0) == answer and answer:
        return "Right as far as it goes, but rounded too much: give more digits."
    if right and answer and (right > 0) == (answer > 0):
        ratio = answer / right
        if ratio >= 10 or ratio <= 0.1:
            return f"Too {where}: it is off by a factor of more than ten."
        if 0.9 < ratio < 1.1:
            return f"Close, but too {where}."
    return f"Too {where}."


def describe_shape_error(answer: Index, right: Index) -> str:
    """Describe how a shape differs from the right one."""
    if len(answer) != len(right):
        return f"It has {'fewer' if len(answer) > len(right) else 'more'} axes."
    if sorted(answer) == sorted(right):
        transposed = answer == tuple(reversed(right))
        return "The right sizes in the wrong order" + (": yours is transposed." if transposed else ".")
    good = sum(map(int.__eq__, answer, right))
    if len(right) == 1:
        return f"Too {'large' if answer > right else 'small'}."
    if not good:
        return "As many axes as it has, but none of them has that size."
    return f"As many axes as it has, but only {good} of the {len(right)} sizes {'is' if good == 1 else 'are'} right."


def describe_order_error(answer: Sequence[int], right: Sequence[int]) -> str:
    """Describe how much of an order is right."""
    if tuple(answer) == tuple(reversed(right)):
        return "Right, but the wrong way round: yours begins where it should end."
    good = sum(map(int.__eq__, answer, right))
    return f"{good} of {len(right)} {'is' if good == 1 else 'are'} in the right place."


def point_at_other_row(cell: Index, right: Sequence[Index]) -> str:
    """Say where to look for the right row, given a cell of a wrong one."""
    same = [other for other in right if other[:-2] == cell[:-2]]
    if not same:
        return "Not in this matrix: look at another one of them."
    above, below = any(other[-2] < cell[-2] for other in same), any(other[-2] > cell[-2] for other in same)
    return "Not this row." if above and below else f"Not this row. Look further {'up' if above else 'down'}."


def point_elsewhere(cell: Index, right: Sequence[Index]) -> str:
    """Say where to look for the right cell, given a wrong one."""
    if len(cell) == 1:
        before, after = any(other < cell for other in right), any(other > cell for other in right)
        return "Not this one." if before and after else f"Further to the {'left' if before else 'right'}."
    same = [other for other in right if other[:-2] == cell[:-2]]
    if not same:
        return "Not in this matrix: look at another one of them."
    if any(other[-2] == cell[-2] for other in same):
        return "The row is right; look for another cell of it."
    if any(other[-1] == cell[-1] for other in same):
        return "The column is right, but the cell is in another row."
    return "It is in another row and in another column."
