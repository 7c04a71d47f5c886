"""How steps of each kind get their results. A new kind of step is one line here."""

from __future__ import annotations

from collections.abc import Mapping
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

RUNNERS: Mapping[str, Runner] = {
    "read": Runner.WITH_CHANGES,
    "run": Runner.WITH_CHANGES,
    "train": Runner.WITH_CHANGES,
    "exercise": Runner.ON_REQUEST,
    "choice": Runner.AS_WRITTEN,
    "predict": Runner.AS_WRITTEN,
    "point": Runner.AS_WRITTEN,
    "find": Runner.AS_WRITTEN,
    "experiment": Runner.WITH_OWN_CHANGES,
}
"""The way of each kind of step, by the `kind` that lesson files use."""
