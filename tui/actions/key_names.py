"""The names of keys as people write them."""

from __future__ import annotations

from collections.abc import Iterable

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.action_words import label_of, short_of
from attn_tutor.tui.actions.table import ACTIONS, Action

say = Wording("keys/names")

CHARACTERS = {
    "comma": ",",
    "full_stop": ".",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "slash": "/",
    "underscore": "_",
}
"""The characters that Textual refers to by a name."""

ARROWS = frozenset(("up", "down", "left", "right"))


def name_of(key: str) -> str:
    """Convert Textual's name of a key, such as `ctrl+full_stop`, to `ctrl+.`."""
    *modifiers, last = key.split("+")
    return "+".join((*modifiers, CHARACTERS.get(last) or _word_for(last) or last))


def _word_for(key: str) -> str:
    """Return the words for a key that has no character; "" for other keys."""
    match key:
        case "up":
            return say("up", "up")
        case "down":
            return say("down", "down")
        case "left":
            return say("left", "left")
        case "right":
            return say("right", "right")
        case "home":
            return say("home", "home")
        case "end":
            return say("end", "end")
        case "pageup":
            return say("page-up", "page up")
        case "pagedown":
            return say("page-down", "page down")
        case "enter":
            return say("enter", "enter")
        case "escape":
            return say("escape", "escape")
        case "space":
            return say("space", "space")
        case "tab":
            return say("tab", "tab")
        case "backspace":
            return say("backspace", "backspace")
        case "delete":
            return say("delete", "delete")
    return ""


def full_keys(action: str, *, alternatives: bool = True) -> str:
    """Write all keys of an action for the help: `n or space`, `home, end`.

    Args:
        action: Its id.
        alternatives: Also write the keys that do the same as the one before them.
    """
    found = ACTIONS[action]
    if found.label:
        return label_of(action)
    if _walks(found):
        return say("arrows", "arrows")
    keys = [stroke.keys.split(",") for stroke in found.strokes]
    return ", ".join(say("or", " or ").join(map(name_of, each if alternatives else each[:1])) for each in keys)


def short_keys(action: str) -> str:
    """Write the keys of an action for the line of keys, as briefly as possible: `esc`, `up/down`."""
    found = ACTIONS[action]
    if found.short:
        return short_of(action)
    if _walks(found):
        return say("arrows", "arrows")
    return "/".join(_first(found))


def _first(action: Action) -> Iterable[str]:
    """Return the first key of each stroke."""
    for stroke in action.strokes:
        key = stroke.keys.partition(",")[0]
        yield say("esc", "esc") if key == "escape" else name_of(key)


def _walks(action: Action) -> bool:
    """Return whether the strokes of an action are the four arrow keys."""
    return {stroke.keys.partition(",")[0] for stroke in action.strokes} == ARROWS
