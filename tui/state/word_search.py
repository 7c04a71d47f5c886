"""What is found by words that a learner types."""

from __future__ import annotations


def has_words(words: str, *texts: str) -> bool:
    """Return whether each of some words stands in one of the texts, in whatever case; also for no words."""
    folded = [text.casefold() for text in texts]
    return all(any(word in text for text in folded) for word in words.casefold().split())
