"""The words that the course does not use, each with what to write in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

FORBIDDEN: tuple[tuple[str, str], ...] = (
    (r"simply", "Leave it out: what is simple shows itself."),
    (r"just", "Leave it out, or say 'only'."),
    (r"obviously|of course|clearly|needless to say", "Leave it out, or say why."),
    (r"stray(?:s|ed|ing)?", "Write 'have a standard deviation of'."),
    (r"somebody|whoever", "Say who: the learner is 'you'."),
    (r"(?:some|many|most)? ?people (?:say|think|believe)|some (?:say|think|call)", "Ask for a prediction instead."),
    (r"the way back", "Write 'the backward pass'."),
    (r"(?:is|are) (?:another|others)", "Write 'is different', 'are different'."),
    (r"(?<!square )roots? of (?=the (?:width|size|number))", "Write 'square root of'."),
    (r"nota bene|thereby|whereby|hence", "Write 'so', 'because', 'which means'."),
)
"""Patterns of words and phrases, and the remedy for each."""

BRITISH = re.compile(
    r"\b(?:\w*(?:normalis|initialis|generalis|summaris|visualis|optimis|recognis|organis|memoris|serialis|vectoris)\w*"
    r"|neighbour\w*|colou?red(?<!colored)|colour\w*|behaviour\w*|favour\w*|labell\w+|modell\w+|cancell\w+|grey|centre\w*"
    r"|analyse\w*|whilst|towards|afterwards|learnt|spelt)\b",
    re.IGNORECASE,
)
"""British spellings of words that a course like this uses."""

_PATTERNS = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), remedy) for pattern, remedy in FORBIDDEN]
_EXCLAMATION = re.compile(r"\w!(?:\s|$)")


def complaints(prose: str) -> Iterator[tuple[str, str]]:
    """Yield problem and remedy for each word in a text that does not belong there. `prose` has no code in it."""
    for pattern, remedy in _PATTERNS:
        if match := pattern.search(prose):
            yield f"the course does not say '{match[0]}'", remedy
    if match := BRITISH.search(prose):
        yield f"'{match[0]}' is not American spelling", "Use the American one."
    if _EXCLAMATION.search(prose):
        yield "an exclamation mark", "End the sentence with a full stop."
