"""Explanations of numbers as linear text: each number, and below it those that it was computed from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import replace

from attn_tutor.lessons.engine import explanation_tree
from attn_tutor.lessons.render import explanation_text, operand_choice
from attn_tutor.lessons.render.source_text import NO_NAMES
from attn_tutor.lessons.results.explanation import counts_note
from attn_tutor.lessons.texts.wording import Wording

WIDTH = 80
NARROWEST = 48
"""Columns of a line, however deep it stands."""

say = Wording("linear/explanation")


def lines(
    root: explanation_tree.Node,
    most: int = operand_choice.MOST,
    here: str = "",
    steps: Mapping[str, str] = NO_NAMES,
    width: int = WIDTH,
    in_shell: bool = True,
) -> Iterator[str]:
    """Yield how a number was computed: its formula, then, indented, the formulas of its operands, each only once.

    A tree that was grown with `operand_choice` has the operands of the `most` largest terms; a line sums up the others.
    Lines of the step `here` are called by their number alone; `steps` are the names of other steps by their ids. Only a
    reader who is `in_shell` is told of options.
    """
    explained: dict[tuple[object, ...], list[explanation_tree.Node]] = {}
    said: set[str] = set()
    is_too_much = False
    pending: list[tuple[explanation_tree.Node | str, int]] = [(root, 0)]
    while pending:
        node, level = pending.pop()
        if isinstance(node, str):
            yield from textwrap.wrap(node, width, initial_indent="    " * level, subsequent_indent="    " * (level + 1))
            continue
        above = explained.setdefault(explanation_tree.identity(node), [])
        if any(explanation_tree.covers(known, node) for known in above):
            # The number is explained above already, with all that it was computed from.
            continue
        above.append(node)
        indent = "    " * level
        # Deep in a tree lines are longer rather than narrower.
        room = max(width, len(indent) + min(width, NARROWEST))
        # What counts in labels mean is said once.
        notes = tuple(note for note in node.explanation.notes if note not in said)
        said |= {counts_note(), counts_note(partly=True)} & set(notes)
        for line in explanation_text.report(replace(node.explanation, notes=notes), most=most, here=here, steps=steps):
            hanging = indent + ("      " if line.startswith(" ") else "    ")
            yield from textwrap.wrap(
                line, room, initial_indent=indent, subsequent_indent=hanging, break_long_words=False,
                break_on_hyphens=False,
            )  # fmt: skip
        is_too_much |= node.is_too_much
        if node.operands is not None and len(node.operands) < len(node.explanation.operands):
            rest = operand_choice.choose(node.explanation, most).rest
            pending.append((f"{rest} (--all)" if in_shell else rest, level + 1))
        pending += ((operand, level + 1) for operand in reversed(node.operands or ()))
    if is_too_much:
        yield "  " + say("too-many-numbers", "There are too many numbers behind this one to show them all.")
