"""The table of rules: what an exception looks like, and the function that has a sentence for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from lessons.worker.advice.scene import Scene

Match = re.Match[str]
Tell = Callable[[Scene, Match], str | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A function for the exceptions of a kind whose message has a pattern."""

    kind: type[BaseException]
    pattern: re.Pattern[str]
    tell: Tell


RULES: list[Rule] = []
"""In the order in which they are tried; the first that has a sentence is heard."""


def rule(kind: type[BaseException], *patterns: str) -> Callable[[Tell], Tell]:
    """Register a function for the exceptions of a kind whose message has one of these patterns."""

    def register(tell: Tell) -> Tell:
        RULES.extend(Rule(kind, re.compile(pattern), tell) for pattern in patterns)
        return tell

    return register


def always(kind: type[BaseException], sentences: dict[str, str]) -> None:
    """Register sentences that are the same for every program, by pattern."""
    for pattern, sentence in sentences.items():
        rule(kind, pattern)(lambda scene, match, sentence=sentence: sentence)  # type: ignore[misc]
