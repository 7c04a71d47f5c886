"""The registry of rules: patterns of exceptions, and the functions that explain them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from attn_tutor.lessons.worker.advice.offers import Said
from attn_tutor.lessons.worker.advice.scene import Scene

Match = re.Match[str]
Advise = Callable[[Scene, Match], Said | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A function that explains exceptions of one kind whose message matches a pattern."""

    kind: type[BaseException]
    pattern: re.Pattern[str]
    advise: Advise


RULES: list[Rule] = []
"""All rules in the order in which they are tried; the first that says something wins."""


def rule(kind: type[BaseException], *patterns: str) -> Callable[[Advise], Advise]:
    """Register the decorated function for exceptions of a kind whose message matches one of the patterns."""

    def register(advise: Advise) -> Advise:
        RULES.extend(Rule(kind, re.compile(pattern), advise) for pattern in patterns)
        return advise

    return register


def fixed_advice(kind: type[BaseException], sentences: dict[str, Callable[[], str]]) -> None:
    """Register sentences that do not depend on the program, by the pattern of the message."""
    for pattern, sentence in sentences.items():
        rule(kind, pattern)(lambda scene, match, sentence=sentence: sentence())  # type: ignore[misc]
