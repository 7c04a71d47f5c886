"""The solution of an exercise as styled text: why it works, a diff of both codes, and the intermediates of both."""

from __future__ import annotations

import difflib

from rich.style import Style
from rich.text import Text

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.results.result import AnswerComparison, Intermediate
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.render.ascii_text import in_ascii
from attn_tutor.tui.render.prose import rich_text

say = Wording("exercise/solution")

BOLD, DIM = Style(bold=True), Style(dim=True)
YOURS, MODEL = Style(color="red"), Style(color="green")
STYLES = {"-": YOURS, "+": MODEL, " ": Style()}


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
    title = say("why-model", "Why the model answer works") if gave_up else say("why", "Why it works")
    text = Text.assemble((title, BOLD), "\n")
    why = template.fill(exercise.why, {})
    text.append_text(rich_text(why if unicode else in_ascii(why)))
    text.append("\n\n" + say("codes", "Your code and the model answer"), BOLD)
    text.append(f"   {say('legend', '- yours   + the model answer')}\n", DIM)
    text.append_text(code_diff(code, exercise.solution))
    text.append("\n\n" + say("intermediates", "Intermediate results"), BOLD)
    if isinstance(compared, str):
        return text.append(f"\n{compared}", DIM)
    signs = say("signs", "= equal   - only in yours   + only in the model answer")
    text.append(f"   {signs}\n", DIM)
    return text.append_text(intermediates(compared, unicode))


def code_diff(code: str, model: str) -> Text:
    """Return a diff of the learner's code and the model answer with all lines: `-` yours, `+` the model answer."""
    yours, theirs = (each.rstrip().replace("\r\n", "\n").split("\n") for each in (code, model))
    if yours == theirs:
        text = Text.assemble((say("same", "They are the same.") + "\n", BOLD))
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
        _entry("=" if each.yours else "+", each.name, each, _match(each), unicode) for each in comparison.intermediates
    ]
    # A line that runs more than once produces several intermediates; list only the first.
    own = {(each.yours or each.name, each.your_line or each.line): each for each in reversed(comparison.own)}
    for (name, line), each in reversed(own.items()):
        at = say("name-at-line", "{name}, line {line}", name=name, line=line) if line else name
        lines.append(_entry("-", at, each, say("only-yours", "only in yours"), unicode))
    none = say("none", "Neither of them has intermediate results that can be compared.")
    return Text("\n").join(lines) if lines else Text(none, DIM)


def _match(each: Intermediate) -> str:
    """Say which result of the learner's code an intermediate of the model answer equals, if there is one."""
    if not each.yours:
        return say("not-yours", "not in yours")
    code = f"`{each.yours}`"
    if each.your_line:
        return say("equal-at-line", "yours {code}, line {line}, equal", code=code, line=each.your_line)
    return say("equal", "yours {code}, equal", code=code)


def _entry(sign: str, name: str, each: Intermediate, remark: str, unicode: bool) -> Text:
    shape = ("×" if unicode else "x").join(map(str, each.shape)) or say("scalar", "one number")
    text = Text.assemble((f"{sign} {name} ({shape}): ", STYLES.get(sign, "")))
    return text.append_text(rich_text(remark))
