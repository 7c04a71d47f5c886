"""Text for terminals and files that know ASCII only."""

from __future__ import annotations

ASCII = str.maketrans({"·": "*", "√": "sqrt ", "×": "x", "…": "...", "→": "->", "–": "-", "—": "-", "≈": "~"})


def in_ascii(text: str) -> str:
    """Replace the non-ASCII characters that lessons use by ASCII."""
    return text.translate(ASCII)
