"""The state that all parts of the dialogue share: what the learner works with, and the session."""

from __future__ import annotations

from typing import NamedTuple

from attn_tutor.lessons.play.learning import Learning
from attn_tutor.tui.plain.console import Console
from attn_tutor.tui.plain.waiting_session import WaitingSession
from attn_tutor.tui.sources.source import Source


class PlainState(NamedTuple):
    """What the learner works with, where it is printed, and the session that runs code."""

    source: Source
    learning: Learning
    console: Console
    session: WaitingSession
