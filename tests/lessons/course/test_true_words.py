"""What the course never says, since it would be false, in any text that learners read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attn_tutor.lessons.reading.mistake_library import load_library
from tests.course import COURSE

MASK = COURSE.lesson("causal-mask").number


def texts(before: int = len(COURSE.lessons)) -> Iterator[tuple[str, str]]:
    """Yield the texts that learners read in lessons up to a number, without it, each with its step."""
    for lesson in COURSE.lessons:
        if lesson.number < before:
            yield lesson.id, lesson.goal
            for step in lesson.steps:
                for text in (step.title, *(found.text for found in step.learner_texts)):
                    yield f"{lesson.id}/{step.id}", " ".join(text.split())
    if before == len(COURSE.lessons):
        for name, mistake in load_library().items():
            yield name, " ".join(str(mistake).split())


def test_no_lesson_before_the_mask_has_attention_predict_the_next_word() -> None:
    """Without a mask, the next word stands in the input, so it would be copied."""
    promise = re.compile(r"\bnext[- ](word|token)s?\b", re.IGNORECASE)
    assert [step for step, text in texts(MASK) if promise.search(text)] == []
    assert any(promise.search(text) for _, text in texts())


def test_softmax_is_never_called_the_logistic_function() -> None:
    """It is one function of two scores only, of the distance between them."""
    called = re.compile(
        r"softmax\W+(is|or|are|also|often|sometimes|known|called)\b[^.]{0,30}\b(logistic|sigmoid)", re.IGNORECASE
    )
    assert called.search("Softmax is often called the logistic function.")
    assert [step for step, text in texts() if called.search(text)] == []


def test_no_text_says_that_training_changes_a_mask() -> None:
    """A mask that is a parameter gets no gradient through `.bool()` and `masked_fill`, so it stays as it is."""
    trained = re.compile(
        r"(optimi[sz]er|training)\W+(would|will|could|can)\W+(change|train)\w*\W+the\W+mask", re.IGNORECASE
    )
    assert trained.search("The mask is a parameter, and the optimizer would change the mask.")
    assert [step for step, text in texts() if trained.search(text)] == []
