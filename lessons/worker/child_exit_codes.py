"""Exit codes of a process of the worker that could not continue."""

from __future__ import annotations

CUT_OFF = 97
"""The program in the child has closed the child's connection to the parent."""

PARENT_GONE = 98
"""The process that started the child is gone."""

NO_PROCESS = 96
"""The system let this account start no further process."""

BROKEN = 99
"""The child's own tools no longer work, since its program has changed them."""
