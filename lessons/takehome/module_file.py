"""The learner's passing answers together as a module, such as `my_attention.py`, with a check of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.takehome import module_check, module_sections
from attn_tutor.lessons.takehome.module_check import Outcome
from attn_tutor.lessons.takehome.module_sections import LeftOut, Section, Sections
from attn_tutor.lessons.takehome.passing_answers import PassingAnswer
from attn_tutor.lessons.texts.wording import Wording

say = Wording("take-home/module")

RULER = 120


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """The module, and what is known of it.

    Attributes:
        text: the file.
        answers: the answers that are in it; each passes its exercise as it stands there.
        checked: the ids of those that its own check calls; each gives there what the course's own code gives.
        left_out: the answers that are not in it.
    """

    text: str
    answers: tuple[PassingAnswer, ...]
    checked: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


def module_name(course: Course) -> str:
    """Return what a learner's module of a course is called, such as `my_attention`."""
    found = course.description.id if course.description is not None else "attention"
    return f"my_{found.replace('-', '_')}"


def build(
    session: Session,
    course: Course,
    answers: Sequence[PassingAnswer],
    on_judged: Callable[[PassingAnswer], object] | None = None,
) -> ModuleFile:
    """Put answers to exercises of a course together, judge each as it stands in the module, and run its own check.

    What does not pass there is left out, with what is said of it, and the rest is put together without it. Calls
    `on_judged` after each answer that is judged. Raises `WorkerError`.
    """
    expected = module_check.expected_results(session, answers)
    left_out: list[LeftOut] = []
    remaining = list(answers)
    while True:
        sections = module_sections.put_together(remaining)
        text = _text(course, sections, expected)
        outcome = module_check.run_check(session, text)
        failed = [*sections.left_out] or _stopping(outcome, text, sections)
        failed = failed or _failing(session, text, sections, on_judged)
        if not failed and not outcome.different:
            break
        # What passes its exercise and differs on other inputs may be right in its own way: only the check goes.
        expected = {name: result for name, result in expected.items() if name not in outcome.different}
        left_out += failed
        gone = {each.answer.id for each in failed}
        remaining = [each for each in remaining if each.id not in gone]
    order = {each.id: number for number, each in enumerate(answers)}
    return ModuleFile(
        text,
        tuple(remaining),
        tuple(each.id for each in remaining if each.id in expected),
        tuple(sorted(left_out, key=lambda each: order[each.answer.id])),
    )


def _stopping(outcome: Outcome, text: str, sections: Sections) -> list[LeftOut]:
    """Return the answer at which the module stops when it is imported, if it does and its line tells."""
    if outcome.failure is None:
        return []
    for section in sections.sections:
        if section.answer is not None and outcome.failure.line in _lines(text, section):
            return [LeftOut(section.answer, outcome.failure.message)]
    return []


def _failing(
    session: Session, text: str, sections: Sections, on_judged: Callable[[PassingAnswer], object] | None
) -> list[LeftOut]:
    """Return the answers that do not pass as they stand in the module."""
    failed: list[LeftOut] = []
    for section in sections.sections:
        if section.answer is None:
            continue
        aliases = "".join(f"{old} = {new}\n" for old, new in section.names.items() if old != new)
        judgement = session.check(section.answer.exercise, f"{text}\n{aliases}", rounds=1, diagnosis="none")
        if on_judged is not None:
            on_judged(section.answer)
        if not judgement.passed:
            failed.append(LeftOut(section.answer, judgement.message))
    return failed


def _lines(text: str, section: Section) -> range:
    """Return the lines of the module that a section takes."""
    before, found, _ = text.partition(section.code)
    first = before.count("\n") + 1
    return range(first, first + section.code.count("\n") + 1) if found else range(0)


def _text(course: Course, sections: Sections, expected: dict[str, module_check.Plain]) -> str:
    """Return the text of the module."""
    count = sum(each.answer is not None for each in sections.sections)
    doc = say.count(
        "doc",
        count,
        "{title}, written by me in attn-tutor: {count} piece.",
        "{title}, written by me in attn-tutor: {count} pieces, in the order of the course.",
        title=_in_docstring(course.title or "Attention"),
    )
    file = f"{module_name(course)}.py"
    how = say(
        "how", "Running this file checks each piece: python {file}. It needs PyTorch and nothing else.", file=file
    )
    future = [line for line in sections.imports if module_sections.is_future(line)]
    plain = [line for line in sections.imports if line not in future]
    parts = [
        f'"""{doc}\n\n{how}\n"""',
        *(["\n".join(future)] if future else []),
        *(["\n".join(plain)] if plain else []),
    ]
    head = "\n\n".join(parts)
    blocks = [
        f"{_heading(each, number, sections.sections)}{each.code}" for number, each in enumerate(sections.sections)
    ]
    ruler = f"# {say('check', 'The check')} "
    check = ruler.ljust(RULER, "-") + "\n\n\n" + module_check.code_of_check(sections.sections, expected)
    return "\n\n\n".join([head, *blocks, check])


def _in_docstring(text: str) -> str:
    """Return a text of a course without what could end the string that it stands in."""
    return clean(text, keep="").replace("\\", "/").replace('"', "'")


def _heading(section: Section, number: int, sections: Sequence[Section]) -> str:
    """Return the comments above a section: where it comes from, and what its names were."""
    answer = section.answer
    if answer is None:
        again = number > 0 and sections[number - 1].answer is None
        return "" if again else f"# {say('of-course', 'From the package `attention` of the course.')}\n\n\n"
    lesson = clean(answer.lesson.title, keep="")
    title = clean(answer.exercise.title, keep="")
    lines = [
        say("section", "Lesson {number}, {lesson}: {title}", number=answer.lesson.number, lesson=lesson, title=title)
    ]
    for old, new in section.names.items():
        if old != new:
            lines.append(say("renamed", "Called `{old}` there, a name that an earlier piece has.", old=old))
    return "".join(f"# {line}\n" for line in lines)
