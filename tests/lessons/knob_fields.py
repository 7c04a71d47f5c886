"""A knob of each kind, as the fields of a lesson file."""

from __future__ import annotations

from tests.lessons.lesson_builders import Fields

NUMBER: Fields = {
    "kind": "number",
    "name": "heads",
    "label": "Heads",
    "find": "n=2",
    "replace": "n={value}",
    "default": 2,
}
CHOICE: Fields = {"kind": "choice", "name": "scaling", "label": "Scaling", "options": {"on": " / 2", "off": ""}}
SEED: Fields = {"kind": "seed", "name": "seed", "label": "Seed"}
WORDS: Fields = {"kind": "words", "name": "words", "label": "Words"}
