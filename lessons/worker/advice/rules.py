"""Rules of advice: patterns of exceptions, the functions that explain them, and what these say and offer.

An offer is a sentence that proposes code, and apart from it the code and what it goes in place of. So an advice can be
given without its offer, and an offer can be tried before it is made, whatever its language.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from attn_tutor.lessons.results.result import Suggestion
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.scene import Scene

say = Wording("advice/offers")

SEMANTIC = re.compile(r"@|\bT\b|mT|transpose|permute|squeeze|\[|flip")
"""Code that gives other numbers where it is wrong, rather than an exception."""

GAP = "..."
MOST = 4


@dataclass(frozen=True, slots=True)
class Offer:
    """A sentence that proposes code.

    Attributes:
        node: what the code goes in place of; None if that is not known.
        code: what is proposed, with `...` where it is left to the learner.
        sentence: what proposes it, such as "Did you mean `keys.T`?".
        otherwise: what could be proposed instead, likeliest first.
    """

    node: ast.AST | None
    code: str
    sentence: str
    otherwise: tuple[Offer, ...] = ()


Said = str | Offer | tuple[str | Offer | None, ...]
"""What a rule says: one or more sentences, at most one of them an offer. None and "" are left out."""


def parts_of(said: Said | None) -> tuple[str | Offer | None, ...]:
    """Return the sentences that a rule says."""
    return said if isinstance(said, tuple) else (said,)


def did_you_mean(node: ast.AST | None, code: str, *otherwise: str) -> Offer:
    """Ask whether code was meant; `otherwise` is what else could have been."""
    rest = tuple(did_you_mean(node, other) for other in otherwise)
    return Offer(node, code, say("did-you-mean", "Did you mean `{code}`?", code=code), rest)


def write(node: ast.AST | None, code: str) -> Offer:
    """Propose code that is surely meant."""
    return Offer(node, code, say("write", "Write `{code}`.", code=code))


def try_out(node: ast.AST | None, code: str) -> Offer:
    """Propose code that may be meant."""
    return Offer(node, code, say("try", "Try `{code}`.", code=code))


def suggestions(scene: Scene, offer: Offer, advised: Callable[[Offer], str]) -> tuple[Suggestion, ...]:
    """Return the edits that an offer proposes, likeliest first, each with the advice that makes it (`advised`).

    An offer that leaves something to the learner, or is not known to go in place of anything, proposes none.
    """
    return tuple(
        Suggestion(advised(one), one.code, span, bool(SEMANTIC.search(one.code)))
        for one in (offer, *offer.otherwise)[:MOST]
        if GAP not in one.code and scene.code(one.node) != one.code and (span := _span(one.node))
    )


def _span(node: ast.AST | None) -> tuple[int, int, int, int] | None:
    match node:
        case ast.expr() | ast.stmt() | ast.keyword() | ast.alias():
            return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0
    return None


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
