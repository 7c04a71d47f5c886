"""The keys of which lessons speak: in their texts, `{key:explain}` stands for the key that explains a number.

So a text says what a learner does, and not with which key: the screen writes the key in its place, and the dialogue,
which has no keys, says what to type. `tui.actions.table` takes these keys from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attn_tutor.lessons.texts.wording import Wording

say = Wording("keys/in-texts")

KEYS: Mapping[str, str] = MappingProxyType(
    {
        "move": "up",
        "explain": "enter",
        "answer": "a",
        "point": "enter",
        "enter": "enter",
        "change": "w",
        "turn": "right",
        "undo": "ctrl+z",
        "run": "f6",
        "check": "f5",
        "rerun": "r",
        "train": "g",
        "flow": "f",
        "prompt": "p",
        "pane": "tab",
        "next-slice": "right_square_bracket",
        "previous-slice": "left_square_bracket",
    }
)
"""What a text can have a learner do, with the (first) key for it by Textual's name.

"Keys in texts" of docs/authoring.md says what each of them does.
"""


def written(action: str) -> str:
    """Write the key of an action as texts do: Enter, or a letter in backquotes. Raises `KeyError` for no action."""
    key = KEYS[action]
    match key:
        case "up":
            return say("arrows", "the arrow keys")
        case "right":
            return say("right", "the right arrow key")
        case "enter":
            return say("enter", "Enter")
        case "tab":
            return say("tab", "Tab")
        case "left_square_bracket":
            key = "["
        case "right_square_bracket":
            key = "]"
    return f"`{key}`"
