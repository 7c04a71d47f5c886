"""A learner's own sentence: its words, and toy embeddings for them. Pure text and numbers, without torch.

There is no vocabulary and no knowledge of languages: characters alone decide where words end. A sentence splits

- at white space;
- around punctuation, symbols and emoji: each is a token of its own, however many code points it consists of (a flag, a
  family, a thumb with a skin color). An apostrophe, a hyphen or a point with letters or digits on both sides stays in
  its word: *don't*, *self-attention*, *3.14*;
- around every ideograph and kana sign, since Chinese and Japanese have no spaces between words. Scripts of letters
  without spaces (Thai, Khmer) are split at spaces only.

Marks stay with their letters, and the text is composed (NFC), so that é is the same word however it was typed.
Control characters, line separators, unpaired surrogates and marks of direction are dropped: the words end up in the
comments of code, which they must neither break nor reverse.
"""

from __future__ import annotations

import hashlib
import itertools
import unicodedata
from collections.abc import Iterator, Sequence

from attn_tutor.lessons.texts.wording import Wording

say = Wording("change/sentence")

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

INPUTS_START = "inputs = torch.tensor(["

WIDTH = 3
KNOWN = {
    "Your": (0.43, 0.15, 0.89),
    "journey": (0.55, 0.87, 0.66),
    "starts": (0.57, 0.85, 0.64),
    "with": (0.22, 0.58, 0.33),
    "one": (0.77, 0.25, 0.10),
    "step": (0.05, 0.80, 0.55),
}
"""The vectors of the course, so that a sentence that borrows its words can be compared with it."""


class WordsError(ValueError):
    """A sentence that cannot be used; the message tells people why."""


def split(sentence: str, least: int = 1, most: int = 12) -> tuple[str, ...]:
    """Split a sentence into words. Raises `WordsError` for too few or too many of them, or one that is too long."""
    if len(sentence) > LONGEST_TEXT:
        raise WordsError(
            say(
                "text-too-long",
                "This text is too long. It has {length} characters, and {most} are allowed.",
                length=len(sentence),
                most=LONGEST_TEXT,
            )
        )
    words = tuple(_words(_clean(sentence)))
    if len(words) < least:
        raise WordsError(_too_few(least, len(words)))
    if len(words) > most:
        raise WordsError(
            say.count(
                "too-many",
                len(words),
                "At most {most} words fit here, and this is {count} word. Punctuation counts.",
                "At most {most} words fit here, and these are {count}. Punctuation counts.",
                most=most,
            )
        )
    for word in words:
        if len(word) > LONGEST_WORD:
            raise WordsError(
                say(
                    "word-too-long",
                    "'{start}…' is too long. A word may have {most} characters.",
                    start=word[:LONGEST_WORD],
                    most=LONGEST_WORD,
                )
            )
    return words


def _too_few(least: int, count: int) -> str:
    """Say that there are not enough words, how many there are, and how many are needed."""
    if not count:
        return say.count(
            "no-words",
            least,
            "There is no word here. At least {count} is needed.",
            "There are no words here. At least {count} are needed.",
        )
    return say.count(
        "too-few",
        count,
        "This is only {count} word. At least {least} are needed.",
        "These are only {count} words. At least {least} are needed.",
        least=least,
    )


def vector(word: str) -> tuple[float, ...]:
    """Return three numbers from 0 to 0.99 with two decimals that depend only on the word, including its case.

    They are a hash and mean nothing: synonyms are no closer than other words. Words of `KNOWN` keep the numbers of the
    course.
    """
    if word in KNOWN:
        return KNOWN[word]
    digest = hashlib.blake2b(word.encode("utf-8"), digest_size=4 * WIDTH).digest()
    return tuple(int.from_bytes(digest[start : start + 4], "big") % 100 / 100 for start in range(0, 4 * WIDTH, 4))


def statement(words: Sequence[str]) -> str:
    """Write the statement that makes `inputs` from the words, one row and comment each, as the lessons do."""
    rows = ["[" + ", ".join(f"{number:.2f}" for number in vector(word)) + "]" for word in words]
    start = INPUTS_START
    lines = [f"{row},   # {word}" for row, word in zip(rows[:-1], words[:-1], strict=True)]
    lines.append(f"{rows[-1]}])  # {words[-1]}")
    return start + ("\n" + " " * len(start)).join(lines)


# From characters to words ------------------------------------------------------------------------------------------


def _clean(text: str) -> str:
    """Compose text, make all white space spaces, and drop everything that could control a terminal or an editor."""
    cleaned = []
    for character in unicodedata.normalize("NFC", text):
        category = unicodedata.category(character)
        if character.isspace() or category in ("Zs", "Zl", "Zp"):
            cleaned.append(" ")
        elif category not in ("Cc", "Cs", "Cn", "Co") and (category != "Cf" or character in (JOINER, NON_JOINER)):
            cleaned.append(character)
    # A dropped character may have separated two that compose.
    return unicodedata.normalize("NFC", "".join(cleaned))


def _words(text: str) -> Iterator[str]:
    word = ""
    for cluster, following in itertools.pairwise([*_clusters(text), " "]):
        if _is_letter(cluster) or (word and cluster in INSIDE and _is_letter(following)):
            word += cluster
            continue
        yield from filter(None, (_without_invisible_ends(word), _without_invisible_ends(cluster)))
        word = ""
    yield from filter(None, (_without_invisible_ends(word),))


def _without_invisible_ends(word: str) -> str:
    """Remove spaces around a word, and an invisible joiner at its end."""
    return word.strip().rstrip(JOINER + NON_JOINER)


def _clusters(text: str) -> Iterator[str]:
    """Yield spaces, and characters with the marks, joiners and modifiers that belong to them."""
    cluster = ""
    for character in text:
        if cluster and cluster != " " and _continues(cluster, character):
            cluster += character
            continue
        if cluster:
            yield cluster
        # A joiner with nothing to join is dropped.
        cluster = "" if character in (JOINER, NON_JOINER) else character
    if cluster:
        yield cluster


def _continues(cluster: str, character: str) -> bool:
    if unicodedata.category(character) in ("Mn", "Mc", "Me") or character in (JOINER, NON_JOINER):
        return True
    if "\U0001f3fb" <= character <= "\U0001f3ff":  # skin colors
        return True
    if _is_regional_indicator(character):  # two of them are a flag
        return len(cluster) == 1 and _is_regional_indicator(cluster)
    # A joiner makes one picture of two emoji; between letters it only shapes them.
    return cluster[-1] == JOINER and character != " " and not character.isalnum()


def _is_regional_indicator(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _is_letter(cluster: str) -> bool:
    """Return whether a cluster can be part of a longer word."""
    category = unicodedata.category(cluster[0])
    if category[0] not in "LNM" or _stands_alone(cluster[0]):
        return False
    return "\u20e3" not in cluster  # a digit in a keycap is an emoji


def _stands_alone(character: str) -> bool:
    return unicodedata.name(character, "").startswith(SIGNS)
