"""The table of keys in the README: `python -m tui.actions.readme` writes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tui.actions.help_pages import NEXT_ANYWHERE, PANE_OF_EXERCISE, Entry, either

README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- keys: written by python -m tui.actions.readme -->\n", "<!-- end of keys -->\n"

SECTIONS: dict[str, tuple[str | Entry, ...]] = {
    "everywhere": (
        either("", "tutor.help", "tutor.help-anywhere"),
        *("tutor.map", "tutor.glossary", "screen.pane", "tutor.quit"),
    ),
    "course map": ("list.move", "map.open", "map.challenge", "map.review", "tutor.export"),
    "a step": ("tutor.next", "tutor.back", "tutor.rerun", "tutor.stop", "tutor.prompt", "text.scroll"),
    "a matrix": (
        *("matrix.move", "matrix.jump", "matrix.lead", "matrix.statistics", "matrix.overview"),
        *("matrix.zoom", "matrix.shades"),
    ),
    "a number": ("number.explain",),
    "its explanation": ("explanation.choose", "explanation.follow", "explanation.close"),
    "what if": ("step.what-if", "rows.choose", "rows.type", "step.flip", "what-if.undo", "what-if.restore"),
    "a training": ("training.go", "training.look", "training.look-far"),
    "the prompt": ("prompt-line.run", "prompt-line.earlier", "prompt-line.complete", "prompt-line.leave"),
    "a question": (
        *("options.letter", "answer-line.check", "question.hint", "question.explain", "question.leave"),
        NEXT_ANYWHERE,
    ),
    "an exercise": (
        *("task.edit", "exercise.check", "exercise.run", "exercise.hint", "exercise.difference", "exercise.fold"),
        *(PANE_OF_EXERCISE, "exercise.reset", NEXT_ANYWHERE, "exercise.outside"),
    ),
    "its editor": ("editor.leave", "editor.indent", "editor.undo", "editor.comment"),
    "the difference": ("difference.flip", "difference.leave"),
    "the model answer": ("solution.take-back", "solution.leave"),
    "the glossary": ("glossary.search", "glossary.move", "glossary.go", "glossary.close"),
}
"""Where a learner is, and what they can do there."""


def table() -> str:
    """Write the table in Markdown."""
    return "| where | key | does |\n| --- | --- | --- |\n" + "".join(_rows())


def _rows() -> Iterator[str]:
    for where, actions in SECTIONS.items():
        for place, action in enumerate(actions):
            entry = Entry((action,)) if isinstance(action, str) else action
            cells = ("" if place else where, entry.keys, entry.sentence)
            yield "|" + "|".join(f" {_escaped(cell)} " if cell else " " for cell in cells) + "|\n"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


def with_table(readme: str) -> str:
    """Put the table into a README, in place of the one between its markers.

    Raises:
        ValueError: The README has no markers.
    """
    head, found, rest = readme.partition(BEGIN)
    _, ended, tail = rest.partition(END)
    if not found or not ended:
        raise ValueError("the markers of the table of keys are not there")
    return f"{head}{BEGIN}\n{table()}\n{END}{tail}"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
