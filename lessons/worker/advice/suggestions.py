"""Suggestions in a piece of advice: what code they put in place of which, so that they can be tried first.

A sentence such as "Did you mean `keys.T`?" says what to write and leaves open for what. The expression that failed is
the first guess, then its parts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lessons.worker.advice.scene import Scene
from lessons.worker.message_parts import SuggestionReport

OFFER = re.compile(
    r"(?:Did you mean|It is in a different place:|Slice the mask to the number of tokens:|[Tt]ry|[Ww]rite"
    r"|the matrix product is)"
    r" `([^`]+)`"
)
QUOTED = re.compile(r"`[^`]*`")
SENTENCE = re.compile(r"(?<=[.?!]) |(?<=[。？！])")
SEMANTIC = re.compile(r"@|\bT\b|mT|transpose|permute|squeeze|\[|flip")
"""Code that gives other numbers where it is wrong, rather than an exception."""

MOST = 4


def without_offer(sentence: str, told: str) -> str:
    """Return an advice without its suggestion: the sentence that makes it is left out, or its part after a colon.

    `sentence` is the advice in English, where the suggestion is found; `told` is the same in the learner's language.
    """
    if told == sentence:
        return _without(sentence, OFFER)
    offer = OFFER.search(sentence)
    return _without(told, re.compile(re.escape(f"`{offer[1]}`"))) if offer else told


def _without(sentence: str, offers: re.Pattern[str]) -> str:
    """Return what is left of some sentences if each in which a pattern is found is left out, or cut before a colon."""
    kept: list[str] = []
    # The quoted code may contain the marks at which sentences end.
    codes = iter(QUOTED.findall(sentence))
    for part in SENTENCE.split(QUOTED.sub("`", sentence)):
        whole = re.sub("`", lambda _: next(codes), part)
        offer = offers.search(whole)
        if offer is None:
            kept += [whole] if whole else []
            continue
        cut = max(whole.rfind(mark, 0, offer.start()) for mark in (": ", "; ", "：", "；"))
        if cut >= 0:
            kept.append(f"{whole[:cut]}.")
    return " ".join(kept)


def suggestions(scene: Scene, sentence: str, told: str) -> tuple[SuggestionReport, ...]:
    """Return the edits that the suggestion in an advice may mean, likeliest first; none if it suggests no code.

    `sentence` and `told` are as in `without_offer`.
    """
    offer = OFFER.search(sentence)
    if offer is None or "..." in offer[1] or not isinstance(scene.node, ast.expr | ast.stmt):
        return ()
    found: list[SuggestionReport] = []
    for code in (offer[1], *scene.alternatives):
        said = told.replace(f"`{offer[1]}`", f"`{code}`")
        for node in _replaced(scene, code):
            place = (node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0)
            if len(found) < MOST and scene.code(node) != code:
                found.append(SuggestionReport(said, code, place, bool(SEMANTIC.search(code))))
    return tuple(found)


def _replaced(scene: Scene, code: str) -> Iterator[ast.expr | ast.stmt]:
    """Yield the nodes that a suggested piece of code may stand for."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    node = scene.node
    if not isinstance(node, ast.expr | ast.stmt):
        return
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        if scene.statement is not None:
            yield scene.statement
        return
    yield node
    same = type(tree.body[0].value)
    parts = [part for part in ast.walk(node) if isinstance(part, ast.expr) and part is not node]
    # A part that is contained in what is suggested for it: `keys` for `keys.T`, `mask` for `mask.bool()`.
    inside = [part for part in parts if (text := scene.code(part)) and (text in code or code in text)]
    yield from sorted(inside, key=lambda part: (type(part) is not same, -len(scene.code(part))))[:2]
