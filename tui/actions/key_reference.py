"""The table of keys in `docs/reference.md`: `python -m attn_tutor.tui.actions.key_reference` writes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attn_tutor.lessons.files import rewrite
from attn_tutor.tui.actions.help_pages import (
    BACK_TO_EDITOR,
    NEXT_ANYWHERE,
    PANE_OF_EXERCISE,
    READING,
    HelpEntry,
    either,
)
from attn_tutor.tui.actions.table import ACTIONS, of_context

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference.md"
BEGIN, END = "<!-- keys: written by python -m attn_tutor.tui.actions.key_reference -->\n", "<!-- end of keys -->\n"

SECTIONS: dict[str, tuple[str | HelpEntry, ...]] = {
    "everywhere": (
        either("", "tutor.help", "tutor.help-anywhere"),
        *(
            "tutor.map",
            "tutor.glossary",
            "screen.pane",
            "tutor.export",
            "tutor.take-home",
            "tutor.redraw",
            "tutor.quit",
        ),
    ),
    "course map": ("list", "map"),
    "a step": (
        *("tutor.next", "tutor.back", "tutor.side-step", "tutor.jump-back", "tutor.rerun", "tutor.stop"),
        *("tutor.prompt", "text"),
    ),
    "a matrix": ("matrix",),
    "a number": ("number",),
    "its explanation": ("explanation",),
    "the flow": ("tutor.flow", "flow", "flow-matrix"),
    "what if": ("step", "rows", "what-if"),
    "a training": ("training",),
    "a program of your own": ("program", "tensors"),
    "the prompt": ("prompt-line",),
    "a question": ("options", "answer-line", "question", NEXT_ANYWHERE),
    "an experiment": ("experiment",),
    "a find": ("find",),
    "an exercise": ("task", "exercise", PANE_OF_EXERCISE, NEXT_ANYWHERE),
    "its editor": ("editor",),
    "its own run": ("number", BACK_TO_EDITOR),
    "the difference": ("difference",),
    "the model answer": ("solution",),
    "taking home": ("home",),
    "the glossary": ("glossary", READING),
}
"""The sections of the table: single actions, and whole contexts of them."""


def entries(section: str) -> list[HelpEntry]:
    """List what a learner can do in a section, as far as the table has a sentence for it."""
    found: list[HelpEntry] = []
    for each in SECTIONS[section]:
        if isinstance(each, HelpEntry):
            found.append(each)
        else:
            actions = (ACTIONS[each],) if "." in each else of_context(each)
            found += [HelpEntry((action.id,)) for action in actions if action.help]
    return found


def table() -> str:
    """Write the table in Markdown."""
    return "| where | key | does |\n| --- | --- | --- |\n" + "".join(_rows())


def _rows() -> Iterator[str]:
    for where in SECTIONS:
        for index, entry in enumerate(entries(where)):
            cells = ("" if index else where, entry.keys, entry.sentence)
            yield "|" + "|".join(f" {_escaped(cell)} " if cell else " " for cell in cells) + "|\n"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


def with_table(page: str) -> str:
    """Put the table into a page, in place of the one between its markers.

    Raises:
        ValueError: The page has no markers.
    """
    head, found, rest = page.partition(BEGIN)
    _, ended, tail = rest.partition(END)
    if not found or not ended:
        raise ValueError("the markers of the table of keys are not there")
    return f"{head}{BEGIN}\n{table()}\n{END}{tail}"


if __name__ == "__main__":
    rewrite(PAGE, with_table(PAGE.read_text(encoding="utf-8")).encode())
