"""The exam uses the worker that all tests of the engine share."""

from __future__ import annotations

from tests.lessons.conftest import worker

__all__ = ["worker"]
