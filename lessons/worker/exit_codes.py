"""The exit codes by which a child says that it could not go on."""

from __future__ import annotations

CUT_OFF = 97
"""Its program has closed the connection to the screen."""

PARENT_GONE = 98
"""The process that started it has gone."""

BROKEN = 99
"""Its own tools no longer work, since its program has changed them."""
