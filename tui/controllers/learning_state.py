"""The state that all controllers share: what the learner works with, and the session that runs code."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # the first paint needs this module before the others are loaded
    from attn_tutor.lessons.play.learning import Learning
    from attn_tutor.tui.state.async_session import AsyncSession


class LearningState(NamedTuple):
    """What the learner works with, and the session that runs code."""

    learning: Learning
    async_session: AsyncSession
