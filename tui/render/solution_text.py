"""The solution of an exercise as styled text: why it works, a diff of both codes, and the intermediates of both."""

from __future__ import annotations

import difflib

from rich.style import Style
from rich.text import Text

from lessons.format import template
from lessons.format.lesson import ExerciseStep
from lessons.results.clean_text import clean
from lessons.results.result import AnswerComparison, Intermediate
from tui.render.prose import in_ascii, rich_text

BOLD, DIM = Style(bold=True), Style(dim=True)
YOURS, MODEL = Style(color="red"), Style(color="green")
STYLES = {"-": YOURS, "+": MODEL, " ": Style()}
LEGEND = "- yours   + the model answer"


def solution(
    exercise: ExerciseStep, code: str, compared: AnswerComparison | str, *, gave_up: bool = False, unicode: bool = True
) -> Text:
    """Return the full text of the solution view.

    Args:
        exercise: the exercise.
        code: the learner's code.
        compared: the intermediates of both answers, or a sentence on why there are none.
        gave_up: whether the learner sees it without having passed.
        unicode: whether non-ASCII characters can be drawn.
    """
    text = Text.assemble((f"Why {'it works' if not gave_up else 'the model answer works'}", BOLD), "\n")
    why = template.fill(exercise.why, {})
    text.append_text(rich_text(why if unicode else in_ascii(why)))
    text.append("\n\nYour code and the model answer", BOLD)
    text.append(f"   {LEGEND}\n", DIM)
    text.append_text(code_diff(code, exercise.solution))
    text.append("\n\nIntermediate results", BOLD)
    if isinstance(compared, str):
        return text.append(f"\n{compared}", DIM)
    text.append("   = equal   - only in yours   + only in the model answer\n", DIM)
    return text.append_text(intermediates(compared, unicode))


def code_diff(code: str, model: str) -> Text:
    """Return a diff of the learner's code and the model answer with all lines: `-` yours, `+` the model answer."""
    yours, theirs = (clean(each.rstrip()).split("\n") for each in (code, model))
    if yours == theirs:
        text = Text.assemble(("They are the same.\n", BOLD))
        return text.append("\n".join(f"  {line}" for line in theirs))
    text = Text()
    # Show all equal lines too: a difference is easier to understand in context.
    for line in list(difflib.unified_diff(yours, theirs, lineterm="", n=len(yours) + len(theirs)))[3:]:
        text.append("\n" if text.plain else "")
        text.append(f"{line[0]} {line[1:]}".rstrip(), STYLES.get(line[0], ""))
    return text


def intermediates(comparison: AnswerComparison, unicode: bool = True) -> Text:
    """List the intermediates of the model answer, marking those the learner's code shares, then the learner's own."""
    lines = [
        _entry("=", each.name, each, f"yours `{clean(each.yours)}`{_line(each.your_line)}, equal", unicode)
        if each.yours
        else _entry("+", each.name, each, "not in yours", unicode)
        for each in comparison.intermediates
    ]
    # A line that runs more than once produces several intermediates; list only the first.
    own = {(each.yours or each.name, each.your_line or each.line): each for each in reversed(comparison.own)}
    for (name, line), each in reversed(own.items()):
        lines.append(_entry("-", f"{name}{_line(line)}", each, "only in yours", unicode))
    return Text("\n").join(lines) if lines else Text("Neither makes any that could be compared.", DIM)


def _line(number: int | None) -> str:
    return f", line {number}" if number else ""


def _entry(sign: str, name: str, each: Intermediate, remark: str, unicode: bool) -> Text:
    shape = ("×" if unicode else "x").join(map(str, each.shape)) or "one number"
    text = Text.assemble((f"{sign} {clean(name)} ({shape}): ", STYLES.get(sign, "")))
    return text.append_text(rich_text(remark))
