"""The state that all parts of the dialogue share: what the learner works with, and the session."""

from __future__ import annotations

from typing import NamedTuple

from lessons.play.learning import Learning
from tui.plain.console import Console
from tui.plain.waiting_session import WaitingSession
from tui.sources.source import Source


class PlainState(NamedTuple):
    """What the learner works with, where it is printed, and the session that runs code."""

    source: Source
    learning: Learning
    console: Console
    session: WaitingSession
