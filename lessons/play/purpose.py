"""Why a learner opens a step, which decides what counts as the place where they work."""

from __future__ import annotations

from enum import Enum, auto


class Purpose(Enum):
    """The purpose for which a learner opens a step."""

    WORK = auto()
    """To work through the lesson; "continue" leads back here."""
    LOOK = auto()
    """To look something up, from the glossary; "continue" leads to where they worked before."""
    REVIEW = auto()
    """To do an exercise again from the start."""
    CHALLENGE = auto()
    """To pass the challenge of a lesson in place of its other steps."""
