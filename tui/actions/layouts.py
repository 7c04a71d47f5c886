"""Keyboards for non-Latin scripts: the letters that they type where QWERTY types Latin ones.

A learner whose keyboard is switched to another script presses the same key but sends a different letter, so every
action listens to both. To support one more layout, add an entry to `LAYOUTS`.
"""

from __future__ import annotations

from collections.abc import Sequence

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
