"""What a knob does to a lesson: other text in its code. Pure text, without running anything.

All substitutions are made in the code as the lesson has it, at once, so that their order does not matter; the linter
sees to it that no two knobs want the same place.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from lessons.format.lesson import (
    SETUP,
    ChoiceKnob,
    Knob,
    Lesson,
    NumberKnob,
    RunningStep,
    SeedKnob,
    ShownTensor,
    TrainStep,
    WordsKnob,
)
from lessons.what_if import words

Setting = int | float | str
"""What a knob is set to: a number, the words for a choice, a seed, or a sentence with a space between its words."""

Span = tuple[int, int]
Complaint = tuple[tuple[int | str, ...], str, str]
"""Where in the lesson file, what is wrong, and what to do about it."""

VALUE = "{value}"
MOST_SEED = 2**32 - 1


class ChangeError(ValueError):
    """A change that cannot be made; the message is one sentence for people."""


# Settings ----------------------------------------------------------------------------------------------------------


def default(lesson: Lesson, knob: Knob) -> Setting | None:
    """What a knob is set to as long as nobody has touched it; None for the seed of a lesson that has several."""
    if isinstance(knob, NumberKnob | ChoiceKnob):
        return knob.default
    if isinstance(knob, WordsKnob):
        return " ".join(lesson.tokens)
    seeds = {lesson.seed} if not knob.within or SETUP in knob.within else set()
    for step in lesson.steps:
        if isinstance(step, RunningStep) and _reaches(knob, step.id):
            seeds.add(lesson.seed_of(step))
    return seeds.pop() if len(seeds) == 1 else None


def settled(knob: Knob, value: Setting) -> Setting:
    """The setting that is meant, checked; text stands for any kind. Raises `ChangeError`."""
    if isinstance(knob, WordsKnob):
        try:
            return " ".join(words.split(str(value), knob.least, knob.most))
        except words.WordsError as error:
            raise ChangeError(str(error)) from None
    if isinstance(knob, ChoiceKnob):
        for option in knob.options:
            if option.casefold() == str(value).strip().casefold():
                return option
        raise ChangeError(f"'{value}' is none of the choices of '{knob.name}': {_listed(knob.options)}.")
    number = value if isinstance(value, int | float) else _number(value)
    if isinstance(knob, SeedKnob):
        if type(number) is not int or not 0 <= number <= MOST_SEED:
            raise ChangeError(f"'{value}' is no seed: it is a whole number from 0 to {MOST_SEED}.")
        return number
    if knob.values:
        for listed in knob.values:
            if number == listed:
                return listed
        raise ChangeError(f"'{knob.name}' cannot be {value}; it can be {_listed(map(str, knob.values))}.")
    least, most = knob.least, knob.most
    assert least is not None
    assert most is not None
    whole = all(isinstance(item, int) for item in (least, most, knob.step))
    if number is None or not least <= number <= most or (whole and number != int(number)):
        what = "a whole number" if whole else "a number"
        raise ChangeError(f"'{knob.name}' cannot be {value}; it can be {what} from {least} to {most}.")
    return int(number) if whole else number


def trials(knob: Knob) -> tuple[Setting, ...]:
    """Settings worth a test: every value and choice, or the least, the default and the greatest."""
    if isinstance(knob, ChoiceKnob):
        return tuple(knob.options)
    if isinstance(knob, SeedKnob):
        return (0, MOST_SEED)
    if isinstance(knob, WordsKnob):
        return tuple(" ".join(map(str, range(count))) for count in (knob.least, knob.most))
    ends = (knob.least, knob.default, knob.most)
    return knob.values or tuple(number for number in ends if number is not None)


def _number(text: object) -> int | float | None:
    for kind in (int, float):
        try:
            number = kind(str(text))
        except ValueError:
            continue
        return number if math.isfinite(number) else None
    return None


def _listed(items: object) -> str:
    *rest, last = [str(item) for item in items]  # type: ignore[attr-defined]
    return f"{', '.join(rest)} or {last}" if rest else last


# Where a knob is ---------------------------------------------------------------------------------------------------


def at(lesson: Lesson, step_id: str) -> tuple[Knob, ...]:
    """The knobs that change code which has run when a step has: those of the setup, of earlier steps and its own.

    Raises `KeyError` for a step that the lesson does not have.
    """
    before = {SETUP, *(step.id for step in lesson.steps[: lesson.index(step_id) + 1])}
    return tuple(knob for knob in lesson.knobs if before & set(places(lesson, knob)))


def places(lesson: Lesson, knob: Knob) -> tuple[str, ...]:
    """The parts of a lesson that a knob changes: `setup` or ids of steps."""
    if isinstance(knob, SeedKnob):
        return tuple(part for part, _ in lesson.parts if _reaches(knob, part))
    return tuple(dict.fromkeys(part for part, code in lesson.texts if spans(knob, part, code)))


def spans(knob: Knob, part: str, code: str) -> tuple[Span, ...]:
    """Where in the code of a part a knob puts other text: start and end of each place."""
    if isinstance(knob, SeedKnob) or not _reaches(knob, part):
        return ()
    if isinstance(knob, WordsKnob):
        return _inputs(code)
    found, start = [], code.find(knob.find)
    while knob.find and start >= 0:
        found.append((start, start + len(knob.find)))
        start = code.find(knob.find, start + len(knob.find))
    return tuple(found)


def _reaches(knob: Knob, part: str) -> bool:
    return not knob.within or part in knob.within


@functools.lru_cache(64)
def _inputs(code: str) -> tuple[Span, ...]:
    """The statements `inputs = torch.tensor(...)`, each with the comment behind it."""
    lines = code.split("\n")
    starts = [0, *itertools.accumulate(len(line) + 1 for line in lines)]
    found = []
    for node in ast.parse(code).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="inputs")], value=ast.Call(func=ast.Attribute(attr="tensor"))):
                assert node.end_lineno is not None
                start = len(lines[node.lineno - 1].encode()[: node.col_offset].decode())
                found.append((starts[node.lineno - 1] + start, starts[node.end_lineno] - 1))
    return tuple(found)


# Other code --------------------------------------------------------------------------------------------------------


def alter(lesson: Lesson, settings: Mapping[str, Setting]) -> Lesson:
    """The lesson with its knobs set. Raises `ChangeError` for a knob or a setting that there is not."""
    active: list[tuple[Knob, Setting]] = []
    for name, value in settings.items():
        knob = find(lesson, name)
        if (value := settled(knob, value)) != default(lesson, knob):
            active.append((knob, value))
    if not active:
        return lesson
    update: dict[str, object] = {"setup": _altered(SETUP, lesson.setup, active)}
    tokens: tuple[str, ...] = ()
    seeds: dict[str, Setting] = {}
    for knob, value in active:
        if isinstance(knob, WordsKnob):
            tokens = update["tokens"] = tuple(str(value).split(" "))
        elif isinstance(knob, SeedKnob):
            seeds |= dict.fromkeys(places(lesson, knob), value)
    if SETUP in seeds:
        update["seed"] = seeds[SETUP]
    steps = []
    for step in lesson.steps:
        if isinstance(step, RunningStep):
            # A step that the knob does not reach keeps its seed, also when that is the lesson's.
            own = seeds.get(step.id, lesson.seed if step.seed is None and SETUP in seeds else step.seed)
            show = [_shown(shown, lesson.tokens, tokens) if tokens else shown for shown in step.show]
            code = _altered(step.id, step.code, active)
            changed: dict[str, object] = {"code": code, "seed": own, "show": tuple(show)}
            if isinstance(step, TrainStep):
                changed["training"] = _altered(step.id, step.training, active)
                changed["watch"] = tuple(_shown(item, lesson.tokens, tokens) if tokens else item for item in step.watch)
            step = step.model_copy(update=changed)
        steps.append(step)
    return lesson.model_copy(update={**update, "steps": tuple(steps)})


def find(lesson: Lesson, name: str) -> Knob:
    """The knob of that name. Raises `ChangeError`, which lists those that there are."""
    try:
        return lesson.knob(name)
    except KeyError:
        known = ", ".join(knob.name for knob in lesson.knobs)
        told = f"Its knobs: {known}." if known else "It has no knobs."
        raise ChangeError(f"Lesson '{lesson.id}' has no knob '{name}'. {told}") from None


def _altered(part: str, code: str, active: Sequence[tuple[Knob, Setting]]) -> str:
    edits = sorted((*span, _text(knob, value)) for knob, value in active for span in spans(knob, part, code))
    for start, end, text in reversed(edits):
        code = code[:start] + text + code[end:]
    return code


def _text(knob: Knob, value: Setting) -> str:
    """The code for a setting."""
    if isinstance(knob, NumberKnob):
        return knob.replace.replace(VALUE, repr(value))
    if isinstance(knob, ChoiceKnob):
        return knob.options[str(value)]
    return words.statement(str(value).split(" "))


def _shown(shown: ShownTensor, old: Sequence[str], new: Sequence[str]) -> ShownTensor:
    """The same tensor with labels from the new words, where its own are the old ones, perhaps backwards."""
    labels = dict(shown.labels)
    for axis, given in shown.labels.items():
        if given == tuple(old):
            labels[axis] = tuple(new)
        elif given == tuple(reversed(old)):
            labels[axis] = tuple(reversed(new))
    return shown.model_copy(update={"labels": labels})


# What is wrong with knobs ------------------------------------------------------------------------------------------


def complaints(lesson: Lesson) -> Iterator[Complaint]:
    """What the linter has to say about the knobs of a lesson whose code is Python."""
    parts = dict(lesson.parts)
    names: set[str] = set()
    for position, knob in enumerate(lesson.knobs):
        path = ("knobs", position)
        repeated = knob.name in names
        if repeated:
            yield (*path, "name"), f"two knobs are called '{knob.name}'", "Give one of them another name."
        names.add(knob.name)
        for place, part in enumerate(knob.within):
            if part not in parts:
                known = ", ".join(parts)
                yield (*path, "in", place), f"there is no code in '{part}'", f"Use one of: {known}."
        wrong = list(_numbers(knob)) if isinstance(knob, NumberKnob) else []
        wrong += list(_words(lesson, position, knob)) if isinstance(knob, WordsKnob) else []
        for key, problem, remedy in wrong:
            yield (*path, key), problem, remedy
        if not places(lesson, knob):
            yield _nowhere(path, knob)
        elif not wrong and not repeated:
            yield from _not_python(lesson, path, knob)
        yield from _overlaps(lesson, position)


def _numbers(knob: NumberKnob) -> Iterator[tuple[str, str, str]]:
    if VALUE not in knob.replace:
        yield "replace", f"there is no {VALUE} in it", f"Write {VALUE} where the number belongs."
    ends = (knob.least, knob.most, knob.step)
    if bool(knob.values) == any(end is not None for end in ends):
        yield "name", "its numbers are not told in one way", "Give either 'values' or 'least', 'most' and 'step'."
    elif knob.values:
        if knob.default not in knob.values:
            yield "default", f"the default {knob.default} is not among the values", "Add it, or choose another."
        for number in knob.refused:
            if number not in knob.values:
                yield "refused", f"{number} is not among the values", "List values that the code refuses."
    elif knob.least is None or knob.most is None or knob.step is None:
        yield "name", "a range needs 'least', 'most' and 'step'", "Add what is missing."
    elif not (knob.least < knob.most and knob.step > 0):
        yield "least", "the range is empty", "Let 'least' be below 'most', and 'step' above 0."
    elif not knob.least <= knob.default <= knob.most:
        yield "default", f"the default {knob.default} is outside the range", "Choose one from 'least' to 'most'."


def _words(lesson: Lesson, position: int, knob: WordsKnob) -> Iterator[tuple[str, str, str]]:
    if knob.within:
        yield "in", "words are the same in the whole lesson", "Leave out 'in'."
    if any(isinstance(other, WordsKnob) for other in lesson.knobs[:position]):
        yield "kind", "a second knob for words", "Keep one of them."
    if not knob.least <= len(lesson.tokens) <= knob.most:
        yield (
            "kind",
            f"the lesson's own {len(lesson.tokens)} tokens are not from {knob.least} to {knob.most}",
            "Let 'least' and 'most' allow them.",
        )


def _nowhere(path: tuple[int | str, ...], knob: Knob) -> Complaint:
    where = f" of '{_listed(knob.within)}'" if knob.within else ""
    if isinstance(knob, WordsKnob):
        return (*path, "kind"), "no code has 'inputs = torch.tensor(...)'", "Write it at the top level of some code."
    if isinstance(knob, SeedKnob):
        return (*path, "kind"), f"there is no code{where} to seed", "Let 'in' name steps that run code."
    key = "find" if isinstance(knob, NumberKnob) else "options"
    return (*path, key), f"the text '{knob.find}' is nowhere in the code{where}", "Copy it from the code, spaces too."


def _not_python(lesson: Lesson, path: tuple[int | str, ...], knob: Knob) -> Iterator[Complaint]:
    for value in trials(knob):
        altered = alter(lesson, {knob.name: value})
        for part, code in altered.texts:
            try:
                compile(code, "lesson", "exec")
            except (SyntaxError, ValueError) as error:
                key = "options" if isinstance(knob, ChoiceKnob) else "replace"
                problem = f"with '{value}' the code of '{part}' is not Python: {getattr(error, 'msg', error)}"
                yield (*path, key), problem, "Mend the text that is put in."
                return


def _overlaps(lesson: Lesson, position: int) -> Iterator[Complaint]:
    knob = lesson.knobs[position]
    for other in lesson.knobs[:position]:
        for part, code in lesson.texts:
            pairs = itertools.product(spans(knob, part, code), spans(other, part, code))
            if any(one[0] < two[1] and two[0] < one[1] for one, two in pairs):
                problem = f"'{knob.name}' and '{other.name}' change the same place in '{part}'"
                yield ("knobs", position, "name"), problem, "Let their texts not overlap."
                break
