"""What is said of an exercise, as styled text: below the editor, the verdict on an answer, and the solution."""

from __future__ import annotations

import difflib

from rich.style import Style
from rich.text import Text

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.exercises import ExerciseStep
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.learner.records import DAMAGED
from attn_tutor.lessons.reading import folders
from attn_tutor.lessons.results.result import AnswerComparison, AnswerDifference, Intermediate, Judgement, NamedMistake
from attn_tutor.lessons.results.verdict import Verdict
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import GAP, key_line, mention, short_keys
from attn_tutor.tui.render.palette import BOLD, DIM
from attn_tutor.tui.render.prose import rich_text
from attn_tutor.tui.tty.terminal import in_ascii

say = Wording("exercise/text")


def welcome(
    step: ExerciseStep, hints: int, help_key: str, *, reviewed: bool, passed: bool, gave_up: bool, skips: bool
) -> Text:
    """Return the text for an exercise without a verdict: the learner's progress on it, and the keys to use next.

    Args:
        step: the exercise.
        hints: how many of its hints the learner has read.
        help_key: what the key for hints does now.
        reviewed, passed, gave_up: what the learner has done with it; only the first that is true is mentioned.
        skips: whether passing it skips unfinished steps of the lesson.
    """
    said = ""
    if reviewed:
        last = mention("exercise.reset", say("last-code", "your last code"))
        said = say("once-more", "Once more, from the starter ({last}).", last=last) + GAP
    elif passed:
        said = say("passed-before", "Passed before.") + GAP
    elif gave_up:
        said = say("gave-up", "You gave up on this one; you can still solve it.") + GAP
    elif skips:
        said = say(
            "challenge", "This is the challenge of the lesson: pass it, and the rest of the lesson is behind you."
        )
        said += "\n"
    left = len(step.hints) - hints
    many = say("hints-left", "({count} left)", count=left) if hints else say("hints", "(there are {count})", count=left)
    more = left > 0 and (reviewed or not (passed or gave_up))
    ask = mention("exercise.hint", help_key) + (f" {many}" if more else "")
    keys = key_line([mention("exercise.check"), mention("exercise.run", say("run", "run and look")), ask])
    return Text(f"{said}{keys}", DIM)


def other_code(why: str, more: Text | None = None) -> Text:
    """Return the remark that there is different code and how to see it, followed by `more`; `why` as it is archived."""
    offer = Text(
        (
            say("damaged-code", "The disk has changed a part of your code; your last whole code is kept as well.")
            if why == DAMAGED
            else say("other-code", "Another session of yours wrote other code for this exercise. Both are kept.")
        )
        + GAP
        + mention("exercise.reset", say("see-other-code", "the other one (again: this one)"))
    )
    return offer if more is None else Text("\n").join((offer, more))


def no_more_hints() -> Text:
    """Return the warning that one more press of the key for hints gives up."""
    again = say(
        "give-up",
        "{key} again: give up and see the solution (can be taken back)",
        key=short_keys("exercise.hint"),
    )
    return Text(say("no-more-hints", "There are no more hints.") + GAP + again)


def after_giving_up() -> Text:
    """Return the text below the editor after the learner has given up."""
    keys = key_line([mention("exercise.hint", say("solution", "solution")), mention("exercise.check")])
    return Text(say("given-up", "You gave up; your code is as it was.") + GAP + keys, DIM)


def nothing_to_compare(judgement: Judgement | None) -> str:
    """Say why there is no difference to show after a verdict, or before the first one (None)."""
    if judgement is None or judgement.stopped:
        return say("nothing-checked", "Nothing has been checked yet.") + GAP + mention("exercise.check")
    if judgement.passed:
        return say("nothing-wrong", "There is nothing to compare: this code has passed.")
    return say(
        "nothing-beside",
        "There is nothing to compare: the check has found no result to set beside one of the model answer.",
    )


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
        text.append_text(departure_text(judgement.difference))
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


def departure_text(difference: AnswerDifference) -> Text:
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
