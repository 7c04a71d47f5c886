"""Exit codes of a child that could not continue."""

from __future__ import annotations

CUT_OFF = 97
"""The program in the child has closed the child's connection to the parent."""

PARENT_GONE = 98
"""The process that started the child is gone."""

BROKEN = 99
"""The child's own tools no longer work, since its program has changed them."""
