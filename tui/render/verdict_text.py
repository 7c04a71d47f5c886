"""The verdict on an answer as styled text: the most important part first, then check by check."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text

from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.reading import folders
from attn_tutor.lessons.results.result import AnswerDifference, Judgement, NamedMistake
from attn_tutor.lessons.results.verdict import Verdict
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import mention
from attn_tutor.tui.render.prose import rich_text

say = Wording("verdict/text")

BOLD, DIM = Style(bold=True), Style(dim=True)
GOOD, BAD = Style(bold=True, color="green"), Style(bold=True, color="red")


def verdict(
    judgement: Judgement, lesson: Lesson | None = None, *, help: str = "", more: str = "", unicode: bool = True
) -> Text:
    """Return the full text of a verdict.

    Args:
        judgement: the verdict.
        lesson: the lesson of the exercise, None for one of the first course.
        help: what f3 does now, for the end of the first line.
        more: a sentence on other consequences, such as a challenge that was passed.
        unicode: whether check marks can be drawn.
    """
    if judgement.stopped:
        return Text(judgement.message)
    yes, no = ("✓", "✗") if unicode else ("+", "x")
    text = _headline(judgement, yes, no, help)
    if more:
        text.append(f"\n{more}", BOLD)
    for mistake in (item for item in judgement.mistakes if item.name):
        text.append("\n")
        text.append_text(named(mistake))
    # Failed checks take one line each, passed checks share one.
    for check in judgement.checks:
        if check.message:
            text.append(f"\n{no} ", BAD)
            text.append(f"{check.name}: ")
            text.append_text(rich_text(check.message))
    right = [check.name for check in judgement.checks if check.passed]
    for index, name in enumerate(right):
        text.append("   " if index else "\n")
        text.append(f"{yes} ", GOOD)
        text.append(name)
    if judgement.difference is not None:
        text.append("\n")
        text.append_text(departure(judgement.difference))
    if judgement.stdout:
        text.append("\n" + say("printed", "It printed:") + "\n", DIM)
        text.append(judgement.stdout)
        text.rstrip()
    if judgement.verdict == "failed" and judgement.seed is not None:
        course = folders.option_for(lesson) if lesson is not None else ""
        text.append("" if course is None else f"\n{repeat_hint(judgement, course)}", DIM)
    return text


def _headline(judgement: Judgement, yes: str, no: str, help: str) -> Text:
    text = Text()
    if judgement.passed:
        text.append(f"{yes} {say('passed', 'Passed.')}", GOOD)
        go_on = mention("tutor.next-anywhere", say("go-on", "go on"))
        text.append(f"{help and f'   {help}'}   {go_on}", DIM)
    elif judgement.verdict == "failed" and _has_details(judgement):
        text.append(f"{no} {_outcome('failed')}.", BAD)
        # Repeat the key here: the sentence about the difference may be below the end of the pane.
        both = mention("exercise.difference", say("see-difference", "see where it differs"))
        offers = [*([both] if judgement.difference is not None else []), *([help] if help else [])]
        text.append("".join(f"   {offer}" for offer in offers), DIM)
    else:
        text.append(f"{no} {_outcome(judgement.verdict)}{_line(judgement.unmentioned_line)}: ", BAD)
        # Do not parse it as prose: a Python message about `a * b * c` contains no emphasis.
        text.append(judgement.message)
    return text


def _outcome(verdict: Verdict) -> str:
    """Return a verdict in a few words."""
    match verdict:
        case "failed":
            return say("failed", "Not yet")
        case "error":
            return say("error", "Error")
        case "timeout":
            return say("timeout", "Too long")
        case "memory":
            return say("memory", "Out of memory")
        case "crash":
            return say("crash", "Crash")
    return verdict.capitalize()


def _line(number: int | None) -> str:
    """Return the remark that something is on a line, "" if it is on none."""
    return say("line", ", line {number}", number=number) if number else ""


def _has_details(judgement: Judgement) -> bool:
    """Return whether there is more to say about an answer than one sentence."""
    checked = any(check.passed or check.message for check in judgement.checks)
    return checked or bool(judgement.mistakes) or judgement.difference is not None


def named(mistake: NamedMistake) -> Text:
    """Describe a known mistake: its name, its line, and an explanation."""
    where = " " + say("line-in-brackets", "(line {number})", number=mistake.line) if mistake.line else ""
    text = Text.assemble((mistake.name, BOLD), f"{where}: ")
    return text.append_text(rich_text(mistake.text))


def departure(difference: AnswerDifference) -> Text:
    """Say in one sentence where an answer departs from the model answer."""
    text = Text(f"{say('first-different', 'The first result that differs:')} ")
    text.append(difference.name, Style(color="cyan"))
    text.append(_line(difference.line))
    if difference.agreed:
        text.append(" " + say("agreeing", "(agreeing before: {names})", names=", ".join(difference.agreed)))
    return text.append(".")


def repeat_hint(judgement: Judgement, course: str = "") -> str:
    """Return how to repeat the same check in a shell; `course` is what a command about the course ends with."""
    return say(
        "repeat",
        "seed {seed}: attn-tutor check {exercise} FILE --seed {seed}{course} repeats this",
        seed=judgement.seed,
        exercise=judgement.exercise,
        course=course,
    )


def dimmed(text: Text) -> Text:
    """Dim the verdict on earlier code, and say in its first line that it is about earlier code."""
    first, _, rest = text.plain.partition("\n")
    return Text.assemble((f"{first}   {say('earlier', '(of earlier code)')}\n{rest}".rstrip("\n"), DIM))
