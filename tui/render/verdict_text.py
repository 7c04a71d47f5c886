"""The judge's word as styled text: first what matters, then check by check. Pure functions."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text

from lessons.results.clean_text import clean
from lessons.results.result import AnswerDifference, Judgement, NamedMistake
from tui.actions.hints import mention
from tui.render.prose import rich_text

BOLD, DIM = Style(bold=True), Style(dim=True)
GOOD, BAD = Style(bold=True, color="green"), Style(bold=True, color="red")

WORDS = {"failed": "Not yet", "error": "Error", "timeout": "Too long", "memory": "Out of memory", "crash": "Crash"}
EARLIER = "   (of earlier code)"


def verdict(judgement: Judgement, *, help: str = "", more: str = "", unicode: bool = True) -> Text:
    """All that the judge says of an answer.

    Args:
        judgement: what it says.
        help: what f3 does now, for the end of the first line.
        more: what else has come of it, a sentence.
        unicode: whether check marks can be drawn.
    """
    if judgement.stopped:
        return Text(clean(judgement.message))
    yes, no = ("✓", "✗") if unicode else ("+", "x")
    text = _headline(judgement, yes, no, help)
    if more:
        text.append(f"\n{more}", BOLD)
    for mistake in judgement.mistakes:
        text.append("\n")
        text.append_text(named(mistake, judgement.line if mistake is judgement.mistakes[0] else None))
    # What is wrong, one line each; what is right, in one line together.
    for check in judgement.checks:
        if check.message:
            text.append(f"\n{no} ", BAD)
            text.append(f"{check.name}: ")
            text.append_text(rich_text(clean(check.message)))
    right = [check.name for check in judgement.checks if check.passed]
    for place, name in enumerate(right):
        text.append("   " if place else "\n")
        text.append(f"{yes} ", GOOD)
        text.append(name)
    if judgement.difference is not None:
        text.append("\n")
        text.append_text(parting(judgement.difference))
    if judgement.stdout:
        text.append("\nIt printed:\n", DIM)
        text.append(clean(judgement.stdout))
        text.rstrip()
    if judgement.verdict == "failed" and judgement.seed is not None:
        text.append(f"\n{again(judgement)}", DIM)
    return text


def _headline(judgement: Judgement, yes: str, no: str, help: str) -> Text:
    text = Text()
    if judgement.passed:
        text.append(f"{yes} Passed.", GOOD)
        text.append(f"{help and f'   {help}'}   {mention('tutor.next-anywhere', 'go on')}", DIM)
    elif judgement.verdict == "failed" and _looked_at(judgement):
        text.append(f"{no} Not yet.", BAD)
        # Also here: the sentence about it may be below the end of the pane.
        both = (
            f"   {mention('exercise.difference', 'see where it differs')}" if judgement.difference is not None else ""
        )
        text.append(f"{both}{help and f'   {help}'}", DIM)
    else:
        where = f", line {judgement.untold_line}" if judgement.untold_line else ""
        text.append(f"{no} {WORDS.get(judgement.verdict, judgement.verdict.capitalize())}{where}: ", BAD)
        # Not as prose: what Python says of `a * b * c` has no emphasis in it.
        text.append(clean(judgement.message))
    return text


def _looked_at(judgement: Judgement) -> bool:
    """Whether there is more to say of an answer than the one sentence."""
    checked = any(check.passed or check.message for check in judgement.checks)
    return checked or bool(judgement.mistakes) or judgement.difference is not None


def named(mistake: NamedMistake, line: int | None) -> Text:
    """A known mistake: its name, the line, what to tell the learner."""
    text = Text.assemble((clean(mistake.name), BOLD), f" (line {line}): " if line else ": ")
    return text.append_text(rich_text(clean(mistake.text)))


def parting(difference: AnswerDifference) -> Text:
    """Where an answer leaves the way of the model answer, in one sentence."""
    what = "differs" if difference.expected is not None else "the model answer does not have"
    text = Text(f"The first result that {what}: ")
    text.append(clean(difference.name), Style(color="cyan"))
    text.append(f", line {difference.line}" if difference.line else "")
    if difference.agreed:
        text.append(f" (agreeing before: {clean(', '.join(difference.agreed))})")
    return text.append(".")


def again(judgement: Judgement) -> str:
    """How the same check is made again."""
    return f"seed {judgement.seed}: attn-tutor check {judgement.exercise} FILE --seed {judgement.seed} repeats this"


def aged(text: Text) -> Text:
    """What was said of earlier code: all of it dimmed, and the first line says so."""
    first, _, rest = text.plain.partition("\n")
    return Text.assemble((f"{first}{EARLIER}\n{rest}".rstrip("\n"), DIM))
