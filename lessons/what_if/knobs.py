"""A lesson with its knobs set. Pure text, without running anything.

All substitutions are made at once in the code as the lesson has it, so that their order does not matter; the linter
makes sure that no two knobs replace the same text. What a knob replaces is up to its kind (`lessons.format.knobs`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from attn_tutor.lessons.format.knobs.knob import ChangeError, Knob, Rewrite, Setting, join_with_or
from attn_tutor.lessons.format.lesson import SETUP, Lesson, RunningStep, ShownTensor, TrainStep
from attn_tutor.lessons.texts.wording import Wording

say = Wording("change/knobs")

Complaint = tuple[tuple[int | str, ...], str, str]
"""A mistake of an author: its path in the lesson file, what is wrong, and what to do about it."""


def find(lesson: Lesson, name: str) -> Knob:
    """Return the knob of that name. Raises `ChangeError`, which lists the knobs that there are."""
    try:
        return lesson.knob(name)
    except KeyError:
        names = ", ".join(knob.name for knob in lesson.knobs)
        known = say("known", "Its knobs are: {names}.", names=names) if names else say("none", "It has no knobs.")
        unknown = say("unknown", "Lesson '{lesson}' has no knob '{name}'.", lesson=lesson.id, name=name)
        raise ChangeError(f"{unknown} {known}") from None


def reaching(lesson: Lesson, step_id: str) -> tuple[Knob, ...]:
    """Return the knobs that change code which has run when a step has: of the setup, earlier steps, or its own.

    Raises `KeyError` for a step that the lesson does not have.
    """
    has_run = {SETUP, *(step.id for step in lesson.steps[: lesson.index(step_id) + 1])}
    return tuple(knob for knob in lesson.knobs if has_run & set(knob.changed_parts(lesson)))


def alter(lesson: Lesson, settings: Mapping[str, Setting]) -> Lesson:
    """Return the lesson with its knobs set. Raises `ChangeError` for a knob or a setting that does not exist."""
    rewrites: list[tuple[Knob, Rewrite]] = []
    for name, value in settings.items():
        knob = find(lesson, name)
        if (setting := knob.read(value)) != knob.initial(lesson):
            rewrites.append((knob, knob.rewrite(setting)))
    if not rewrites:
        return lesson
    tokens = next((rewrite.tokens for _, rewrite in rewrites if rewrite.tokens is not None), lesson.tokens)
    seeds: dict[str, int] = {}
    for knob, rewrite in rewrites:
        if rewrite.seed is not None:
            seeds |= dict.fromkeys(knob.changed_parts(lesson), rewrite.seed)

    def relabeled(shown: Sequence[ShownTensor]) -> tuple[ShownTensor, ...]:
        return tuple(_relabeled(tensor, lesson.tokens, tokens) for tensor in shown)

    steps = []
    for step in lesson.steps:
        if isinstance(step, RunningStep):
            # A step that no knob reaches keeps its seed, even if that is the lesson's.
            seed = seeds.get(step.id, lesson.seed if step.seed is None and SETUP in seeds else step.seed)
            code = _rewritten(step.id, step.code, rewrites)
            update: dict[str, object] = {"code": code, "seed": seed, "show": relabeled(step.show)}
            if isinstance(step, TrainStep):
                update["training"] = _rewritten(step.id, step.training, rewrites)
                update["watch"] = relabeled(step.watch)
            step = step.model_copy(update=update)
        steps.append(step)
    return lesson.model_copy(
        update={
            "setup": _rewritten(SETUP, lesson.setup, rewrites),
            "seed": seeds.get(SETUP, lesson.seed),
            "tokens": tokens,
            "steps": tuple(steps),
        }
    )


def _rewritten(part: str, code: str, rewrites: Sequence[tuple[Knob, Rewrite]]) -> str:
    edits = sorted((*span, rewrite.code) for knob, rewrite in rewrites for span in knob.spans(part, code))
    for start, end, text in reversed(edits):
        code = code[:start] + text + code[end:]
    return code


def _relabeled(shown: ShownTensor, old: Sequence[str], new: Sequence[str]) -> ShownTensor:
    """Replace the labels of a tensor that are the old words, or these in reverse order, by the new words."""
    if new == old:
        return shown
    labels = dict(shown.labels)
    for axis, words in shown.labels.items():
        if words == tuple(old):
            labels[axis] = tuple(new)
        elif words == tuple(reversed(old)):
            labels[axis] = tuple(reversed(new))
    return shown.model_copy(update={"labels": labels})


# Mistakes of authors -----------------------------------------------------------------------------------------------


def complaints(lesson: Lesson) -> Iterator[Complaint]:
    """Yield what is wrong with the knobs of a lesson whose code is Python."""
    parts = dict(lesson.parts)
    names: set[str] = set()
    for position, knob in enumerate(lesson.knobs):
        path = ("knobs", position)
        is_repeated = knob.name in names
        if is_repeated:
            yield (*path, "name"), f"two knobs are called '{knob.name}'", "Give one of them another name."
        names.add(knob.name)
        for number, part in enumerate(knob.within):
            if part not in parts:
                known = ", ".join(parts)
                yield (*path, "in", number), f"there is no code in '{part}'", f"Use one of: {known}."
        problems = list(knob.problems(lesson, lesson.knobs[:position]))
        if not knob.changed_parts(lesson):
            problems.append(knob.unused(f" of '{join_with_or(knob.within)}'" if knob.within else ""))
        for field, problem, remedy in problems:
            yield (*path, field), problem, remedy
        if not problems and not is_repeated:
            yield from _not_python(lesson, position)
        yield from _overlaps(lesson, position)


def _not_python(lesson: Lesson, position: int) -> Iterator[Complaint]:
    """Yield the first setting of a knob with which the code is no longer Python."""
    knob = lesson.knobs[position]
    known = {code for _, code in lesson.texts}  # most code is left as it is, and that is Python
    for setting in knob.samples:
        for part, code in alter(lesson, {knob.name: setting}).texts:
            if code in known:
                continue
            try:
                compile(code, "lesson", "exec")
            except (SyntaxError, ValueError) as error:
                problem = f"with '{setting}' the code of '{part}' is not Python: {getattr(error, 'msg', error)}"
                yield ("knobs", position, knob.replaced_in), problem, "Mend the text that is put in."
                return


def _overlaps(lesson: Lesson, position: int) -> Iterator[Complaint]:
    """Yield the earlier knobs that replace some of the same text."""
    knob = lesson.knobs[position]
    for other in lesson.knobs[:position]:
        for part, code in lesson.texts:
            pairs = itertools.product(knob.spans(part, code), other.spans(part, code))
            if any(one[0] < two[1] and two[0] < one[1] for one, two in pairs):
                problem = f"'{knob.name}' and '{other.name}' change the same place in '{part}'"
                yield ("knobs", position, "name"), problem, "Let their texts not overlap."
                break
