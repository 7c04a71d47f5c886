"""Keys as people write them, and what they do now, in a few words, for the line of keys and for messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.table import ACTIONS, Action, hint_of, label_of, short_of

say = Wording("keys/line")

GAP = "   "


def hint(action: str, words: str = "") -> str:
    """Write an action for the line of keys: `n next`.

    Args:
        action: Its id.
        words: What the key does now, if that is not what the table says: `f3 give up`.

    Raises:
        KeyError: There is no such action.
    """
    return f"{short_keys(action)} {words or hint_of(action)}"


def mention(action: str, words: str = "") -> str:
    """Write an action for a message: `f5: check`. The arguments are those of `hint`."""
    return f"{short_keys(action)}: {words or hint_of(action)}"


def then(*actions: str) -> str:
    """Write keys to be pressed one after the other: `tab, then arrows`."""
    return say("then", ", then ").join(map(short_keys, actions))


def with_side_step(hints: Sequence[str], title: str, width: int) -> list[str]:
    """Add the way to a side step behind the way to the next step, if the line of keys names that.

    Args:
        hints: The hints, the most important first.
        title: The title of the side step, which is named where there is room: at most the last two hints give way.
        width: Columns of the line.
    """
    found = hint("tutor.next")
    if found not in hints:
        return list(hints)
    at = list(hints).index(found) + 1
    full = [*hints[:at], hint("tutor.side-step", f"{hint_of('tutor.side-step')}: {title}"), *hints[at:]]
    if len(key_line(full[: max(at + 1, len(hints) - 1)])) + 2 <= width:
        return full
    return [*hints[:at], hint("tutor.side-step"), *hints[at:]]


def key_line(hints: Sequence[str], width: int | None = None) -> str:
    """Join hints to a line.

    Args:
        hints: The hints, the most important first.
        width: Columns of the line: the last hints go where it is too narrow, but two stay, and the ways to the next
            step and to a side step are among them. None: all stay.
    """
    fitting = list(hints)
    ways_on = {hint("tutor.next"), hint("tutor.next-anywhere"), hint("tutor.side-step")}
    while width is not None and len(fitting) > 2 and len(GAP.join(fitting)) + 2 > width:
        last = max(index for index, each in enumerate(fitting) if each not in ways_on)
        fitting.pop(last)
    return GAP.join(fitting)


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
