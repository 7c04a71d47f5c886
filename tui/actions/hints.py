"""What keys do now, in a few words, for the line of keys and for messages."""

from __future__ import annotations

from collections.abc import Sequence

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.action_words import hint_of
from attn_tutor.tui.actions.key_names import short_keys

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


def call_hints(step: object) -> list[str]:
    """Return the hint for the keys that show other calls of a function; none for a step that is not about several."""
    return [hint("program.call")] if getattr(step, "calls", 1) > 1 else []
