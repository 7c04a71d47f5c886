"""The bindings of views and widgets, derived from the table of actions."""

from __future__ import annotations

from textual.binding import Binding

from attn_tutor.tui.actions.key_names import CHARACTERS
from attn_tutor.tui.actions.layouts import twins
from attn_tutor.tui.actions.table import of_context


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
