"""How steps get their results."""

from __future__ import annotations

from enum import Enum, auto


class Runner(Enum):
    """The way in which a step gets its results."""

    WITH_CHANGES = auto()
    """The lesson is run up to the step, with the learner's changes; a prompt can be opened there."""
    WITH_OWN_CHANGES = auto()
    """The same with changes that hold in this step only, so that an experiment begins with the lesson as written."""
    AS_WRITTEN = auto()
    """The lesson is run up to the step as its author wrote it."""
    ON_REQUEST = auto()
    """The step runs only when the learner asks for it."""


CHANGING = (Runner.WITH_CHANGES, Runner.WITH_OWN_CHANGES)
"""The ways in which a step runs with changes of the learner."""
