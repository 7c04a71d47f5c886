"""The layers of the course, which code imports as in the worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from attn_tutor.lessons.worker.jobs import course_package


@pytest.fixture(autouse=True, scope="module")
def course_names() -> Iterator[None]:
    """Let code import the layers of the course, as in the worker."""
    course_package.provide()
    yield
    course_package.take_away()
