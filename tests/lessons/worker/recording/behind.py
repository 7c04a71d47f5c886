"""All numbers that stand behind another one."""

from __future__ import annotations

from collections.abc import Iterator

from attn_tutor.lessons.results import explanation as x
from tests.lessons.recorded_code import Traced


def behind(traced: Traced, told: x.Explanation) -> Iterator[x.Operand]:
    """Yield the operands of an explanation, and theirs, down to numbers that were computed from no others."""
    for operand in told.operands:
        yield operand
        yield from behind(traced, traced.follow(operand))
