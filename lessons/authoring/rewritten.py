"""The lessons that keep all rules of voice and rhythm. The others follow, lesson by lesson."""

from __future__ import annotations

from attn_tutor.lessons.format.lesson import Lesson

IDS: frozenset[str] = frozenset(
    {
        # One line each, in the order of the course.
        "why-attention",
        "one-query",
        "all-queries",
        "trainable-weights",
        "attention-classes",
        "causal-mask",
        "dropout",
        "causal-class",
        "stacked-heads",
        "weight-split",
        "multi-head-class",
        "gpt2-size",
        "library-attention",
        "buffers",
        "speed",
        "key-value-cache",
        "induction",
        # Of the course "Reading tensors".
        "shapes-and-axes",
        "broadcasting",
        "views-and-copies",
    }
)
"""The ids of the lessons that were rewritten by these rules."""

SHORT_IDS: frozenset[str] = frozenset({"shapes-and-axes", "broadcasting", "views-and-copies"})
"""The ids of the short lessons: those of a course that leads up to another."""


def is_rewritten(lesson: Lesson) -> bool:
    """Return whether a lesson of the course keeps all rules."""
    return lesson.id in IDS


def is_short(lesson: Lesson) -> bool:
    """Return whether a lesson has the length of a short one."""
    return lesson.id in SHORT_IDS
