"""The outcome of one look at the installation or the host, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["ok", "note", "broken"]
"""All is well; the tutor works, but something is worth knowing; the tutor does not work."""


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """What was looked at, what was found, and what to do about it.

    Attributes:
        id: what was looked at, for programs.
        name: the same for people.
        outcome: how it is.
        found: what was found.
        remedy: what to do, "" if nothing is to be done or can be.
    """

    id: str
    name: str
    outcome: Outcome
    found: str
    remedy: str = ""
