"""Names of tensors, and words of them, as learners type them: whole, or of a long name only the end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from attn_tutor.lessons.texts.wording import Wording


def has_words(words: str, *texts: str) -> bool:
    """Return whether each of some words stands in one of the texts, in whatever case; also for no words."""
    folded = [text.casefold() for text in texts]
    return all(any(word in text for text in folded) for word in words.casefold().split())


say = Wording("names/typed")

MOST_NAMED = 8
"""Names that are listed of those that a text may mean."""


def typed(text: str, names: Iterable[str]) -> tuple[tuple[str, ...], str]:
    """Return the names that a text means, and what it has in brackets behind them, "" for nothing.

    `forward.scores[1,0]` and `scores[1,0]` mean `Attention.forward.scores`. A whole name goes before the end of
    another, and a longer end before a shorter one, since names may have brackets of their own. No name is returned if
    the text means none, several if it is the end of each.
    """
    text = text.strip()
    best, found, inner = (False, 0), list[str](), ""
    for name in dict.fromkeys(names):
        for end in _ends(name):
            rest = rest_after(end, text)
            rank = (end == name, len(end))
            if rest is None or rank < best:
                continue
            if rank > best:
                best, inner = rank, rest
                found.clear()
            found.append(name)
    return tuple(found), inner


def meant(text: str, *groups: Iterable[str]) -> tuple[tuple[str, ...], str]:
    """Return the names that a text means in the first of some groups of names where it means any, as `typed` does.

    What is at hand goes before what is elsewhere: the names of a page, then those of its function, then all.
    """
    for names in groups:
        found, inner = typed(text, names)
        if found:
            return found, inner
    return (), ""


def listed(names: Sequence[str]) -> str:
    """Return names that may be meant, as a sentence has them: of many the first ones, and how many more there are."""
    text = ", ".join(names[:MOST_NAMED])
    left = len(names) - MOST_NAMED
    return text if left <= 0 else say("more", "{names} and {count} more", names=text, count=left)


def rest_after(name: str, text: str) -> str | None:
    """Return what stands in brackets behind a name, "" for nothing; None if something else follows, or stands there."""
    if not name or not text.startswith(name):
        return None
    rest = text[len(name) :].strip()
    if not rest:
        return ""
    match = re.fullmatch(r"\[([^\[\]]*)\]", rest)
    return match[1].strip() if match else None


def _ends(name: str) -> Iterator[str]:
    """Yield a name, then what stands behind each of its dots."""
    yield name
    while "." in name:
        name = name.partition(".")[2]
        yield name
