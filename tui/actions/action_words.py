"""The words of the table of actions and of the help, in the learner's language.

They stand in tables and not where they are said, so their ids are made of the ids of actions, and of the names of pages
with the positions of lines.
"""

from __future__ import annotations

import re

from attn_tutor.lessons.texts.wording import of_table
from attn_tutor.tui.actions.table import ACTIONS

GROUP = "keys"
"""The group of these texts."""

FIELDS = ("hint", "help", "label", "short")

WORD = re.compile(r"[^\W\d_]{2}")
"""What tells a text from a list of signs such as `[ ]`."""


def hint_of(action: str) -> str:
    """Return the words of an action for the line of keys. Raises `KeyError` if there is no such action."""
    return of_table(f"{GROUP}/{action}/hint", ACTIONS[action].hint)


def help_of(action: str) -> str:
    """Return the sentence of an action for the help. Raises `KeyError` if there is no such action."""
    return of_table(f"{GROUP}/{action}/help", ACTIONS[action].help)


def label_of(action: str) -> str:
    """Return how the help writes the keys of an action, "" for a plain list. Raises `KeyError` if there is none."""
    return of_table(f"{GROUP}/{action}/label", ACTIONS[action].label)


def short_of(action: str) -> str:
    """Return how the line of keys writes these keys, "" for a plain list. Raises `KeyError` if there is none."""
    return of_table(f"{GROUP}/{action}/short", ACTIONS[action].short)


def texts() -> dict[str, str]:
    """Return the English words of all actions by their ids."""
    return {
        f"{GROUP}/{action.id}/{field}": text
        for action in ACTIONS.values()
        for field, text in zip(FIELDS, (action.hint, action.help, action.label, action.short), strict=True)
        if WORD.search(text)
    }
