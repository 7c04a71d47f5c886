"""The folders of the course that ships."""

from __future__ import annotations

from pathlib import Path

COURSE = Path(__file__).parent.parent / "course"
MISTAKES = Path(__file__).parent.parent / "mistakes"
"""The library of mistakes, from which exercises choose by id."""
