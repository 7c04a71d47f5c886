"""The texts of a step that a learner reads, each with its position in the lesson file."""

from __future__ import annotations

import re
from dataclasses import dataclass

Path = tuple[int | str, ...]
"""Keys and indices that lead to a node of a lesson file, such as `("hints", 0)`."""


FIELDS = re.compile(r"\{[^{}]*\}")
"""The fields of a template."""


@dataclass(frozen=True, slots=True)
class LearnerText:
    """A text that a learner reads.

    Attributes:
        path: its path in its step.
        text: the text as the author wrote it, with its fields.
        is_task: whether it says exactly what is wanted in an exercise, or why the solution works.
        is_sentence: whether it consists of whole sentences.
    """

    path: Path
    text: str
    is_task: bool = False
    is_sentence: bool = True


def count_words(text: str) -> int:
    """Count the words of a text; a field counts as one."""
    return len(FIELDS.sub("N", text).split())
