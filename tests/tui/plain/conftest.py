"""Fixtures for tests of the dialogue."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tui.plain.conversation import Conversation


@pytest.fixture
def learner() -> Iterator[Conversation]:
    """Return a conversation of a new learner, without a worker."""
    conversation = Conversation()
    yield conversation
    conversation.close()
