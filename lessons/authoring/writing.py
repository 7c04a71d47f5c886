"""The rules of writing for prose, code and the structure of a lesson, and findings where they are broken.

A text that is read beside matrices is short; its numbers come from the run, unless the lesson gives their source; at
least every third step runs or asks something; a lesson ends with what to remember. Words that the course does not use
have others in their place. Lessons that were rewritten keep all rules; the others follow, lesson by lesson.

English may not stand where translators cannot reach it: in the fields of templates, and in the code of an exercise.
Strings that name something are no English: keys of dicts, attributes, dtypes, the specs of `einsum`, codes such as
"none" that a check compares.

The main path takes nothing from side steps, which a learner may leave out. Their code runs in order with all other
code. So a later main step would show what a learner has not seen being made, if it used a variable that a side step has
bound, or changed.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.base_steps import TEMPLATE_FIELDS, LearnerText, Path, count_words
from attn_tutor.lessons.format.lesson import (
    Lesson,
    Step,
)
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.findings import Finding
from attn_tutor.lessons.reading.yaml_nodes import locate, position_of
from attn_tutor.lessons.what_if import name_use
from attn_tutor.lessons.what_if.name_use import NameUse

REWRITTEN: frozenset[str] = frozenset(
    {
        # One line each, in the order of the course.
        "why-attention",
        "one-query",
        "all-queries",
        "trainable-weights",
        "attention-classes",
        "causal-mask",
        "dropout",
        "causal-class",
        "stacked-heads",
        "weight-split",
        "multi-head-class",
        "gpt2-size",
        "library-attention",
        "buffers",
        "speed",
        "key-value-cache",
        "induction",
        # Of the course "Reading tensors".
        "shapes-and-axes",
        "broadcasting",
        "views-and-copies",
    }
)
"""The ids of the lessons that were rewritten by these rules."""

SHORT: frozenset[str] = frozenset({"shapes-and-axes", "broadcasting", "views-and-copies"})
"""The ids of the short lessons: those of a course that leads up to another."""


def is_rewritten(lesson: Lesson) -> bool:
    """Return whether a lesson of the course keeps all rules."""
    return lesson.id in REWRITTEN


def is_short(lesson: Lesson) -> bool:
    """Return whether a lesson has the length of a short one."""
    return lesson.id in SHORT


FORBIDDEN: tuple[tuple[str, str], ...] = (
    (r"simply", "Leave it out: what is simple shows itself."),
    (r"just", "Leave it out, or say 'only'."),
    (r"obviously|of course|clearly|needless to say", "Leave it out, or say why."),
    (r"stray(?:s|ed|ing)?", "Write 'have a standard deviation of'."),
    (r"somebody|whoever", "Say who: the learner is 'you'."),
    (r"(?:some|many|most)? ?people (?:say|think|believe)|some (?:say|think|call)", "Ask for a prediction instead."),
    (r"the way back", "Write 'the backward pass'."),
    (r"(?:is|are) (?:another|others)", "Write 'is different', 'are different'."),
    (r"(?<!square )roots? of (?=the (?:width|size|number))", "Write 'square root of'."),
    (r"nota bene|thereby|whereby|hence", "Write 'so', 'because', 'which means'."),
)
"""Patterns of words and phrases, and the remedy for each."""

BRITISH = re.compile(
    r"\b(?:\w*(?:normalis|initialis|generalis|summaris|visualis|optimis|recognis|organis|memoris|serialis|vectoris)\w*"
    r"|neighbour\w*|colou?red(?<!colored)|colour\w*|behaviour\w*|favour\w*|labell\w+|modell\w+|cancell\w+|grey|centre\w*"
    r"|analyse\w*|whilst|towards|afterwards|learnt|spelt)\b",
    re.IGNORECASE,
)
"""British spellings of words that a course like this uses."""

_PATTERNS = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), remedy) for pattern, remedy in FORBIDDEN]
_EXCLAMATION = re.compile(r"\w!(?:\s|$)")


def voice_complaints(prose: str) -> Iterator[tuple[str, str]]:
    """Yield problem and remedy for each word in a text that does not belong there. `prose` has no code in it."""
    for pattern, remedy in _PATTERNS:
        if match := pattern.search(prose):
            yield f"the course does not say '{match[0]}'", remedy
    if match := BRITISH.search(prose):
        yield f"'{match[0]}' is not American spelling", "Use the American one."
    if _EXCLAMATION.search(prose):
        yield "an exclamation mark", "End the sentence with a full stop."


PHRASE = re.compile(r"[^\W\d_]{2,}[,;:.]?\s+[^\W\d_]{2,}")
"""Two words with white space between them."""

OPEN_PHRASE = re.compile(r"(?<!\S)[^\W\d_]{2,}[,;:.]?\s|\s[^\W\d_]{2,}(?!\S)")
"""A word with white space beside it, which waits for another."""

WORD = re.compile(r"[^\W\d_]{2,}[.]?")
IN_FIELD = "Write it as a text of its own: a case of a message, or a sentence beside the field."
IN_CODE = "Let the code return a code such as 'none', and let cases of a message say the sentence."
LONGEST_QUOTED = 40


def english_complaints(step: Step) -> Iterator[tuple[Path, str, str]]:
    """Yield each English string in the code of a step that reaches learners, as path, problem and remedy."""
    for text in step.learner_texts:
        yield from _in_template(text.path, text.text)
    for path, part, is_template in step.message_parts:
        yield from (_in_template if is_template else _in_code)(path, part)


def _in_template(path: Path, text: str) -> Iterator[tuple[Path, str, str]]:
    # Braces in a text that no run fills in are braces.
    try:
        fields = template.fields(text)
    except template.TemplateError:
        return
    for field in fields:
        for found in english_in_field(field.expression):
            yield path, f"'{_shortened(found)}' stands in a field, where it cannot be translated", IN_FIELD


def _in_code(path: Path, code: str) -> Iterator[tuple[Path, str, str]]:
    for found in english_in(code):
        yield path, f"'{_shortened(found)}' stands in code, where it cannot be translated", IN_CODE


def english_in(code: str) -> list[str]:
    """Return the strings of code that consist of several words, in order, but for those that are only compared."""
    return [text for text, _, is_data in _strings(code) if PHRASE.search(text) and not is_data]


def english_in_field(expression: str) -> list[str]:
    """Return the strings in the field of a template that are English, in order: also words that wait for others."""
    found = []
    for text, parent, is_data in _strings(expression):
        phrase = PHRASE.search(text) or OPEN_PHRASE.search(text)
        word = WORD.fullmatch(text) and isinstance(parent, ast.IfExp | ast.BinOp)
        if (phrase or word) and not is_data:
            found.append(text)
    return found


def _strings(code: str) -> list[tuple[str, ast.AST, bool]]:
    """Return the strings of code in order, each with what it is a part of, and whether it is only looked at."""
    found = [
        (child.lineno, child.col_offset, child.value, parent, _is_data(child, parent))
        for parent in ast.walk(ast.parse(code.strip()))
        for child in ast.iter_child_nodes(parent)
        if isinstance(child, ast.Constant) and isinstance(child.value, str)
    ]
    return [(text, parent, is_data) for _, _, text, parent, is_data in sorted(found, key=lambda item: item[:2])]


def _is_data(node: ast.Constant, parent: ast.AST) -> bool:
    """Return whether a string is only looked at: compared, used as a key, split into words, or a docstring.

    So is the noun that `beside` is given, which has translations (`lessons/worker/jobs/exercise_tools.py`).
    """
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "beside":
        return node in parent.args[2:3]
    if isinstance(parent, ast.Attribute):
        return parent.attr == "split"
    return isinstance(parent, ast.Compare | ast.Subscript | ast.Expr) or (
        isinstance(parent, ast.Dict) and any(node is key for key in parent.keys)
    )


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUOTED else f"{line[: LONGEST_QUOTED - 1]}…"


REMEDY_OF_SIDE_VARIABLES = "Let a main step make it, or give the variable of the side step another name."


def side_variable_complaints(lesson: Lesson) -> Iterator[tuple[Path, str, str]]:
    """Yield main steps that use variables of side steps, as path, problem and remedy."""
    if not any(step.side for step in lesson.steps):
        return
    setup = name_use.of_program(lesson.setup)
    modules, known = set(setup.imports), set(setup.binds | setup.imports)
    # The side step that has bound or changed a variable last.
    owners: dict[str, str] = {}
    for position, step in enumerate(lesson.steps):
        said: set[str] = set()
        for path, use in _uses(step, modules):
            if step.side:
                owners |= dict.fromkeys(use.binds | use.changes | (use.imports - known), step.id)
            else:
                for name in sorted(use.reads & owners.keys() - said):
                    how = "has changed" if name in known else "alone has made"
                    yield (
                        ("steps", position, *path),
                        f"'{name}' is what the side step '{owners[name]}' {how}",
                        REMEDY_OF_SIDE_VARIABLES,
                    )
                    said.add(name)
                for name in use.binds | use.imports:
                    owners.pop(name, None)
                known |= use.binds | use.imports
            modules |= use.imports


def _uses(step: Step, modules: Set[str]) -> Iterator[tuple[Path, NameUse]]:
    """Yield how each piece of code of a step uses the variables of the lesson, with its path in the step."""
    # It runs apart from the lesson, after the answer.
    attempt, defined = step.scratch
    if attempt:
        yield ("attempt",), NameUse(reads=name_use.of_program(attempt, modules).reads - set(defined))
    for field, code in step.programs:
        yield (field,), name_use.of_program(code, modules)
    for path, expression in step.expressions:
        yield path, NameUse(reads=name_use.of_expression(expression).reads)


FEWEST_STEPS, MOST_STEPS = 15, 20
"""How many steps the main path of a lesson has."""

FEWEST_IF_SHORT, MOST_IF_SHORT = 8, 10
"""How many steps the main path of a short lesson has."""

CODE_EVERY = 5
"""On the main path, the learner writes code at this step at the latest, and then at least as often again."""


def rhythm_complaints(lesson: Lesson) -> Iterator[tuple[Path, str, str]]:
    """Yield what is wrong in the rhythm of a lesson, as path, problem and remedy."""
    path = lesson.main_steps
    fewest, most = (FEWEST_IF_SHORT, MOST_IF_SHORT) if is_short(lesson) else (FEWEST_STEPS, MOST_STEPS)
    if not fewest <= len(path) <= most:
        problem = f"the main path has {len(path)} steps, not {fewest} to {most}"
        yield ("steps",), problem, "Cut or merge steps, or make side steps of them."
    for what in ("experiment", "find"):
        if not any(step.noun == what for step in path):
            yield ("steps",), f"the main path has no step of the kind '{what}'", "Give the learner one."
    without = 0
    for step in path:
        without = 0 if step.answered_in_code else without + 1
        if without == CODE_EVERY and step is not path[-1]:
            problem = f"{CODE_EVERY} steps of the main path without code by the learner"
            yield ("steps", lesson.index(step.id)), problem, "Let the learner write a line before."
    for position, step in enumerate(lesson.steps):
        if not _has_something_to_see(step):
            yield ("steps", position), "the step is text alone", "Show a tensor or code."


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How a lesson moves.

    Attributes:
        lesson: the id of the lesson.
        main_steps: the number of steps on its main path.
        side_steps: the number of its side steps.
        first_code: the number of the main step in which the learner first writes code; None if there is none.
        code, experiments, finds, questions: the numbers of main steps of these kinds.
        words: the mean number of words in the text of a step.
    """

    lesson: str
    main_steps: int
    side_steps: int
    first_code: int | None
    code: int
    experiments: int
    finds: int
    questions: int
    words: float


def measure_rhythm(lesson: Lesson) -> Rhythm:
    """Return how a lesson moves."""
    path = lesson.main_steps
    count = Counter(step.noun for step in path)
    words = sum(count_words(step.prose) for step in lesson.steps) / len(lesson.steps)
    return Rhythm(
        lesson.id,
        len(path),
        len(lesson.steps) - len(path),
        first_code(lesson),
        count["exercise"],
        count["experiment"],
        count["find"],
        count["question"],
        round(words, 1),
    )


def first_code(lesson: Lesson) -> int | None:
    """Return the number, from 1, of the step of the main path in which the learner first writes code."""
    numbers = (number for number, step in enumerate(lesson.main_steps, 1) if step.answered_in_code)
    return next(numbers, None)


def _has_something_to_see(step: Step) -> bool:
    return step.answered_in_code or bool(step.run_code or step.shown_at_first)


MOST_WORDS = 95
"""The largest number of words in a text that is read beside matrices. Whether it fits there, `screen_fit` measures."""

MOST_WORDS_OF_TASK = 125
"""The largest number of words in a task, which has to say exactly what is wanted."""

LONGEST_TITLE = 40
MOST_CODE_LINES, WIDEST_CODE = 14, 80

MOST_READING = 2
"""The largest number of consecutive steps with nothing but text."""

GOAL = "You will be able to "
LAST_STEP = "remember"
"""The id of the last step of a lesson, which says what to remember."""

CODE = re.compile(r"`[^`]*`")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
NAMES_WITH_DIGITS = re.compile(r"GPT-2|float(?:16|32|64)")
"""Names that contain digits."""

ALLOWED_NUMBERS = frozenset({"0", "1"})
"""Numbers that may be typed, since they hardly ever come from a run."""


def findings(lesson: Lesson) -> Iterator[Finding]:
    """Find what breaks the rules of writing in a lesson that was loaded from a folder."""
    root = loader.read_nodes(lesson)
    for path, problem, remedy in complaints(lesson):
        yield Finding(*position_of(locate(root, path)[1].start_mark), problem, remedy)


def complaints(lesson: Lesson) -> Iterator[tuple[Path, str, str]]:
    """Yield what breaks the rules of writing in a lesson, as path, problem and remedy."""
    yield from _complaints_of_lesson(lesson)
    yield from side_variable_complaints(lesson)
    for position, step in enumerate(lesson.steps):
        at: Path = ("steps", position)
        if len(step.title) > LONGEST_TITLE:
            yield (*at, "title"), f"the title is longer than {LONGEST_TITLE} characters", "Shorten it."
        if step.title[-1] in ".!":
            yield (*at, "title"), "a title has no full stop", "Take it away."
        if is_rewritten(lesson):
            yield from (((*at, "title"), *found) for found in voice_complaints(CODE.sub(" ", step.title)))
            for inside, problem, remedy in english_complaints(step):
                yield (*at, *inside), problem, remedy
        for text in step.learner_texts:
            for problem, remedy in (*_complaints_of_text(text, lesson), *_complaints_of_keys(text.text, step, lesson)):
                yield (*at, *text.path), problem, remedy
        for field, code in step.programs:
            yield from (((*at, field), problem, remedy) for problem, remedy in _complaints_of_code(code))


def typed_numbers(text: str) -> set[str]:
    """Return the numbers in a text that the run does not fill in; numbers in code do not count."""
    return (
        set(NUMBER.findall(NAMES_WITH_DIGITS.sub(" ", CODE.sub(" ", TEMPLATE_FIELDS.sub(" ", text))))) - ALLOWED_NUMBERS
    )


def _complaints_of_lesson(lesson: Lesson) -> Iterator[tuple[Path, str, str]]:
    if not lesson.goal.startswith(GOAL):
        yield ("goal",), "the goal does not say what one will be able to do", f"Begin it with '{GOAL}'."
    last = lesson.steps[-1]
    if last.id != LAST_STEP or last.is_exercise:
        where: Path = ("steps", len(lesson.steps) - 1)
        yield where, "the lesson does not end with what to remember", f"End it with a step 'id: {LAST_STEP}'."
    reading = 0
    for step in lesson.main_steps:
        reading = reading + 1 if step.is_text else 0
        if reading > MOST_READING:
            problem = f"{reading} steps in a row have nothing but text"
            yield ("steps", lesson.index(step.id)), problem, "Let something run, or ask something, in between."
    challenges = [step for step in lesson.exercises if step.challenge]
    if len(challenges) != 1 or not challenges[0].answered_in_code:
        problem = f"the lesson has {len(challenges)} challenges" if challenges else "the lesson has no challenge"
        if len(challenges) == 1:
            problem = "the challenge is a question"
        yield ("steps",), problem, "Give one exercise in code 'challenge: true': who passes it may skip the lesson."
    if is_rewritten(lesson):
        yield from rhythm_complaints(lesson)
    if not any(step.is_question for step in lesson.main_steps):
        yield ("steps",), "the lesson asks nothing", "Add a question: 'kind: choice', 'predict' or 'point'."


def _complaints_of_text(learner_text: LearnerText, lesson: Lesson) -> Iterator[tuple[str, str]]:
    text, most = learner_text.text, MOST_WORDS_OF_TASK if learner_text.is_task else MOST_WORDS
    if (count := count_words(text)) > most:
        yield f"{count} words; at most {most} are read", "Leave something out, or make two steps of it."
    if unexplained := typed_numbers(text) - set(lesson.constants):
        numbers = ", ".join(sorted(unexplained))
        yield f"the number {numbers} is typed", "Let the run fill it in, or add it to 'constants' with its source."
    prose = CODE.sub(" ", TEMPLATE_FIELDS.sub("N", text))
    if text.count("`") % 2:
        yield "a backquote is left open", "Close it."
    # A star between spaces is a product, not emphasis.
    elif prose.replace("**", "").replace(" * ", "").count("*") % 2:
        yield "a star is left open", "Close it, or write a product in backquotes."
    if "\t" in text or re.search(r"\S {2,}\S", text):
        yield "spaces are left over", "Keep one."
    if is_rewritten(lesson):
        yield from voice_complaints(prose)
    # What is quoted may end the sentence, with its full stop before the closing mark.
    if learner_text.is_sentence and text.strip().rstrip('")*')[-1:] not in (".", "?", "!"):
        yield "the text does not end like a sentence", "End it with a full stop; if it contains ' #', put it in quotes."


def _complaints_of_keys(text: str, step: Step, lesson: Lesson) -> Iterator[tuple[str, str]]:
    """Yield the examples of keys that are neither in a tensor of the step nor a knob of the lesson."""
    shown = [tensor.name for tensor in step.tensors]
    there = {*shown, *(knob.name for knob in lesson.knobs)}
    for key in template.keys_of(text):
        if key.example and key.example.partition("[")[0] not in there:
            yield (
                f"'{{{key.key}}}' names nothing that the step shows",
                "Name a number, a tensor, or a knob, or nothing.",
            )


def _complaints_of_code(code: str) -> Iterator[tuple[str, str]]:
    lines = code.splitlines()
    if len(lines) > MOST_CODE_LINES:
        yield f"{len(lines)} lines of code do not fit on a screen", f"Keep to {MOST_CODE_LINES}, or make two steps."
    if max(map(len, lines), default=0) > WIDEST_CODE:
        yield "a line of the code is too wide", f"Keep to {WIDEST_CODE} columns."
