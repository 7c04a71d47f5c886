"""The folder that the tutor is imported from, for processes of its own that start without the usual path."""

from __future__ import annotations

from pathlib import Path

# Not resolved: in a checkout, links lead from this package to the folders at the root.
IMPORT_FOLDER = str(Path(__file__).absolute().parents[3])
