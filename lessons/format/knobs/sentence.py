"""A learner's own sentence: its words, and toy embeddings for them. Pure text and numbers, without torch.

Words are told apart by what they look like; there is no vocabulary and no language. A sentence splits

- at white space;
- around punctuation, symbols and emoji: each is a token of its own, in whatever number of code points it is written
  (a flag, a family, a thumb with the colour of a skin). An apostrophe, a hyphen or a point with letters or digits on
  both sides stays in its word: *don't*, *self-attention*, *3.14*;
- around every ideograph and kana sign, since Chinese and Japanese put no spaces between words. Scripts that do not
  either but are written in letters (Thai, Khmer) are split at spaces only.

Marks stay with the letters they stand on, and the text is composed (NFC), so that é is one word however it was typed.
Control characters, line separators, unpaired surrogates and marks of direction are dropped: the words end up in the
comments of code, which they must neither break nor turn around.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Sequence

LONGEST_TEXT = 400
LONGEST_WORD = 24
JOINER, NON_JOINER = "\u200d", "\u200c"
INSIDE = "'\N{RIGHT SINGLE QUOTATION MARK}-\N{HYPHEN}\N{NON-BREAKING HYPHEN}."
SIGNS = (
    "CJK UNIFIED",
    "CJK COMPATIBILITY IDEOGRAPH",
    "IDEOGRAPHIC ITERATION",
    "HIRAGANA",
    "KATAKANA",
    "HALFWIDTH KATAKANA",
)

WIDTH = 3
KNOWN = {
    "Your": (0.43, 0.15, 0.89),
    "journey": (0.55, 0.87, 0.66),
    "starts": (0.57, 0.85, 0.64),
    "with": (0.22, 0.58, 0.33),
    "one": (0.77, 0.25, 0.10),
    "step": (0.05, 0.80, 0.55),
}
"""The words of the course keep its numbers, so that a sentence which borrows some of them can be compared with it."""


class WordsError(ValueError):
    """A sentence that cannot be used; the message says why, for people."""


def split(sentence: str, least: int = 1, most: int = 12) -> tuple[str, ...]:
    """The words of a sentence. Raises `WordsError` for too few or too many of them, or one that is too long."""
    if len(sentence) > LONGEST_TEXT:
        raise WordsError(f"This text is too long: it has {len(sentence)} characters, and {LONGEST_TEXT} are allowed.")
    words = tuple(_words(_clean(sentence)))
    if len(words) < least:
        needed = "one word is" if least == 1 else f"{least} words are"
        raise WordsError(f"At least {needed} needed here, and this has {len(words) or 'none'}.")
    if len(words) > most:
        raise WordsError(f"At most {most} words fit here, and this has {len(words)} (punctuation counts).")
    for word in words:
        if len(word) > LONGEST_WORD:
            raise WordsError(f"'{word[:LONGEST_WORD]}…' is too long: a word has {LONGEST_WORD} characters at most.")
    return words


def vector(word: str) -> tuple[float, ...]:
    """Three numbers from 0 to 0.99 with two decimals that depend on the word alone, its capitals included.

    They are a hash and mean nothing: words that mean the same are no closer than others. Those of `KNOWN` keep the
    numbers of the course.
    """
    if word in KNOWN:
        return KNOWN[word]
    digest = hashlib.blake2b(word.encode("utf-8"), digest_size=4 * WIDTH).digest()
    return tuple(int.from_bytes(digest[at : at + 4], "big") % 100 / 100 for at in range(0, 4 * WIDTH, 4))


def statement(words: Sequence[str]) -> str:
    """The statement that makes `inputs` from the words, one row and comment each, as the lessons write it."""
    rows = ["[" + ", ".join(f"{number:.2f}" for number in vector(word)) + "]" for word in words]
    start = "inputs = torch.tensor(["
    lines = [f"{row},   # {word}" for row, word in zip(rows[:-1], words[:-1], strict=True)]
    lines.append(f"{rows[-1]}])  # {words[-1]}")
    return start + ("\n" + " " * len(start)).join(lines)


# From characters to words ------------------------------------------------------------------------------------------


def _clean(text: str) -> str:
    """Composed text in which every kind of white space is a space and nothing steers a terminal or an editor."""
    kept = []
    for character in unicodedata.normalize("NFC", text):
        category = unicodedata.category(character)
        if character.isspace() or category in ("Zs", "Zl", "Zp"):
            kept.append(" ")
        elif category not in ("Cc", "Cs", "Cn", "Co") and (category != "Cf" or character in (JOINER, NON_JOINER)):
            kept.append(character)
    # What was dropped may have kept two characters apart that compose.
    return unicodedata.normalize("NFC", "".join(kept))


def _words(text: str) -> Iterator[str]:
    clusters = list(_clusters(text))
    word = ""
    for place, cluster in enumerate(clusters):
        following = clusters[place + 1] if place + 1 < len(clusters) else " "
        if _lettered(cluster) or (word and cluster in INSIDE and _lettered(following)):
            word += cluster
            continue
        yield from filter(None, (_finished(word), _finished(cluster)))
        word = ""
    yield from filter(None, (_finished(word),))


def _finished(word: str) -> str:
    """A word without space, and without a joiner at its end, which nobody would see."""
    return word.strip().rstrip(JOINER + NON_JOINER)


def _clusters(text: str) -> Iterator[str]:
    """Spaces, and characters with the marks, joiners and modifiers that belong to them."""
    cluster = ""
    for character in text:
        if cluster and cluster != " " and _continues(cluster, character):
            cluster += character
            continue
        if cluster:
            yield cluster
        # A joiner with nothing to join is not there.
        cluster = "" if character in (JOINER, NON_JOINER) else character
    if cluster:
        yield cluster


def _continues(cluster: str, character: str) -> bool:
    if unicodedata.category(character) in ("Mn", "Mc", "Me") or character in (JOINER, NON_JOINER):
        return True
    if "\U0001f3fb" <= character <= "\U0001f3ff":  # colours of skin
        return True
    if _regional(character):  # two of them are a flag
        return len(cluster) == 1 and _regional(cluster)
    # Joined emoji are one picture; a joiner between letters only shapes them.
    return cluster[-1] == JOINER and character != " " and not character.isalnum()


def _regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _lettered(cluster: str) -> bool:
    """Whether a cluster can be part of a longer word."""
    category = unicodedata.category(cluster[0])
    if category[0] not in "LNM" or _stands_alone(cluster[0]):
        return False
    return "\u20e3" not in cluster  # a digit in a key cap is a picture


def _stands_alone(character: str) -> bool:
    return unicodedata.name(character, "").startswith(SIGNS)
