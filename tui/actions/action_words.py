"""The words of the table of actions and of the help, in the learner's language.

They stand in tables and not where they are said, so their ids are made of the ids of actions, and of the names of pages
with the positions of lines.
"""

from __future__ import annotations

from lessons.texts.wording import of_table
from tui.actions.table import ACTIONS

GROUP = "keys"
"""The group of these texts."""


def hint_of(action: str) -> str:
    """Return the words of an action for the line of keys. Raises `KeyError` if there is no such action."""
    return of_table(f"{GROUP}/{action}/hint", ACTIONS[action].hint)


def help_of(action: str) -> str:
    """Return the sentence of an action for the help. Raises `KeyError` if there is no such action."""
    return of_table(f"{GROUP}/{action}/help", ACTIONS[action].help)


def texts() -> dict[str, str]:
    """Return the English words of all actions by their ids."""
    return {
        f"{GROUP}/{action.id}/{field}": text
        for action in ACTIONS.values()
        for field, text in (("hint", action.hint), ("help", action.help))
        if text
    }
