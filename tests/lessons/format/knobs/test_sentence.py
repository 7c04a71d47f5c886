"""A learner's own sentence: how it splits, the numbers that it gets, and that it cannot break the code around it."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.lessons.format.sentence import KNOWN, LONGEST_TEXT, LONGEST_WORD, WordsError, split, statement, vector
from tests.course import COURSE

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Your journey starts with one step", ["Your", "journey", "starts", "with", "one", "step"]),
        ("  one\t\n two\u00a0three\u3000four ", ["one", "two", "three", "four"]),
        ("Well, no!", ["Well", ",", "no", "!"]),
        ("don't self-attention 3.14 it’s", ["don't", "self-attention", "3.14", "it’s"]),
        ("the dogs' -- end. 'tis", ["the", "dogs", "'", "-", "-", "end", ".", "'", "tis"]),
        ("a_b x=1", ["a", "_", "b", "x", "=", "1"]),
        ("我爱北京", ["我", "爱", "北", "京"]),
        ("GPTは強い。", ["GPT", "は", "強", "い", "。"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("ภาษาไทย", ["ภาษาไทย"]),
        ("e\u0301te\u0301 été", ["été", "été"]),
        ("x\u0336y\u0336", ["x\u0336y\u0336"]),
        ("\u0301 alone", ["\u0301", "alone"]),
        (f"{FAMILY}🇩🇪🇫🇷👍🏽1️⃣", [FAMILY, "🇩🇪", "🇫🇷", "👍🏽", "1️⃣"]),
        ("a🙂b", ["a", "🙂", "b"]),
        ("a\u200d b\u200c", ["a", "b"]),
        ("\x00a\x1b[2Jb\u202ec\u2028d", ["a", "[", "2Jbc", "d"]),
        ("\ud800x", ["x"]),
    ],
)
def test_split(sentence: str, expected: list[str]) -> None:
    assert list(split(sentence)) == expected


@pytest.mark.parametrize(
    ("sentence", "least", "most", "message"),
    [
        ("", 1, 12, "There is no word here. At least 1 is needed."),
        (" \u200d\x00 ", 2, 12, "There are no words here. At least 2 are needed."),
        ("one", 2, 12, "This is only 1 word. At least 2 are needed."),
        ("a b c", 1, 2, "At most 2 words fit here, and these are 3. Punctuation counts."),
        ("x" * (LONGEST_WORD + 1), 1, 12, f"'{'x' * LONGEST_WORD}…' is too long. A word may have 24 characters."),
        ("x" + "\u0336" * 99, 1, 12, "is too long. A word may have 24 characters."),
        ("x " * LONGEST_TEXT, 1, 12, "This text is too long. It has 800 characters, and 400 are allowed."),
    ],
)
def test_unusable_sentence_is_refused(sentence: str, least: int, most: int, message: str) -> None:
    with pytest.raises(WordsError) as caught:
        split(sentence, least, most)
    assert message in str(caught.value)


def test_shortest_and_longest_sentence_are_allowed() -> None:
    assert split("one", 1, 1) == ("one",)
    assert len(split("a b c d e f g h i j k l", 2, 12)) == 12
    assert split("x" * LONGEST_WORD) == ("x" * LONGEST_WORD,)


@given(st.text(max_size=40))
def test_words_are_clean_and_split_into_themselves(text: str) -> None:
    try:
        found = split(text, 0, 400)
    except WordsError:
        return
    for word in found:
        assert word
        assert not any(character.isspace() or character in "\x00\x1b\u202e" for character in word)
        word.encode("utf-8")
    assert split(" ".join(found), 0, 400) == found


def test_vectors_depend_on_the_word_alone() -> None:
    # Typed numbers, because every Python version and machine must give the same.
    assert vector("cat") == (0.55, 0.19, 0.47)
    assert vector("猫") == (0.76, 0.61, 0.74)
    assert vector("cat") != vector("Cat")
    for word in ("cat", "猫", "🇩🇪", "", "x" * 24):
        assert all(0 <= number < 1 and round(number, 2) == number for number in vector(word))


def test_words_of_the_course_keep_their_numbers() -> None:
    setup = COURSE.lesson("all-queries").setup
    tokens = COURSE.lesson("all-queries").tokens
    assert statement(tokens) in setup
    assert set(KNOWN) == set(tokens)


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=12))
def test_any_words_give_a_single_statement(texts: list[str]) -> None:
    try:
        found = split(" ".join(texts), 1, 96)
    except WordsError:
        return
    code = statement(found)
    (node,) = ast.parse(code).body
    assert isinstance(node, ast.Assign)
    namespace: dict[str, object] = {}
    exec(code.replace("torch.tensor", ""), namespace)
    assert namespace["inputs"] == [list(vector(word)) for word in found]
    lines = code.splitlines()
    assert len(lines) == len(found)
    assert all(line.endswith(f"# {word}") for line, word in zip(lines, found, strict=True))
    assert max(map(len, lines)) <= 76
