"""The bindings of views and widgets, derived from the table of actions, also for keyboards of non-Latin scripts.

A learner whose keyboard is switched to another script presses the same key but sends a different letter, so every
action listens to both. To support one more layout, add an entry to `LAYOUTS`.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import Binding

from attn_tutor.tui.actions.hints import CHARACTERS
from attn_tutor.tui.actions.table import of_context

QWERTY = "qwertyuiop[]asdfghjkl;'zxcvbnm,./`" + 'QWERTYUIOP{}ASDFGHJKL:"ZXCVBNM<>?~'
"""The keys of a US keyboard row by row, then with Shift. A layout lists its own characters in the same order."""

RUSSIAN = "йцукенгшщзхъфывапролджэячсмитьбю.ё" + "ЙЦУКЕНГШЩЗХЪФЫВАПРОЛДЖЭЯЧСМИТЬБЮ,Ё"

LAYOUTS: tuple[str, ...] = (RUSSIAN,)
"""The layouts that are supported besides QWERTY."""


def twins(character: str, layouts: Sequence[str] = LAYOUTS) -> tuple[str, ...]:
    """List what other layouts type on the key that types a character on QWERTY.

    ASCII characters are left out: `?` means help on every keyboard, whatever else its key types there.

    Args:
        character: One character.
        layouts: The other layouts.

    Returns:
        The characters of the other layouts, each once; none for a character that QWERTY has no key for.
    """
    index = QWERTY.find(character)
    found = (layout[index] for layout in layouts if index >= 0)
    return tuple(dict.fromkeys(each for each in found if not each.isascii()))


def bindings(context: str) -> list[Binding]:
    """Return the bindings of a context, each also on the keys of other keyboard layouts.

    Args:
        context: What stands before the dot in the ids of its actions.

    Raises:
        ValueError: The table has no key for this context.
    """
    found = [
        Binding(
            on_all_layouts(stroke.keys),
            stroke.call,
            action.help or action.hint or action.id,
            show=False,
            priority=stroke.priority,
            id=action.binding_id(stroke),
        )
        for action in of_context(context)
        for stroke in action.strokes
        if stroke.call
    ]
    if not found:
        raise ValueError(f"no action is bound in the context {context!r}")
    return found


def on_all_layouts(keys: str) -> str:
    """Add to keys (`n,space`) the characters that the same keys type on other layouts (`n,space,т`)."""
    names = keys.split(",")
    others = [twin for name in names for twin in twins(CHARACTERS.get(name, name))]
    return ",".join(dict.fromkeys((*names, *others)))
