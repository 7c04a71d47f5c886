"""The exam of the sentences in verdicts: each kind of sentence, with the computation that decides it.

Two wrong answers that are edits of one right answer are made into an answer with both mistakes. What a verdict says of
it is decided without the code that said it:

| sentence | it is true if |
| --- | --- |
| a known mistake is named | it is one of the two that were made, or gives the same as both on other hidden inputs |
| a line is named | one of the two edits was made there |
| "every check passes", with an edit | the answer with that edit passes, when it is judged by itself |
| "... once the other mistake is put right" | the answer passes with both edits, and with none of them alone |
| "... gives what the other mistake gives" | with that edit, it gives what the right answer with that mistake gives |
| "x passes, and something else ..." | with all these edits, x passes but not all; without this one x fails |
| "The first result that differs is x" | x is on that line, and its numbers or its shape are not the expected ones |
| "These results are as expected: y" | the model answer has a result with the numbers of y, and y is not x |

`python -m tests.exam.verdict_sentences` takes it whole, with the names of exercises a part of it.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import yaml

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.reading.mistake_edits import apply_edits, right_answers, with_mistake
from attn_tutor.lessons.reading.own_edits import OwnEdits
from attn_tutor.lessons.reading.repair_kinds import kind_texts, outcome_of
from attn_tutor.lessons.reading.repairs import repairs
from attn_tutor.lessons.results.result import Judgement, NamedMistake
from tests.exam.answer_exam import FOLDER, changed_lines, exercise_ids, exercise_of

PAIRS = 4
"""How many answers are made of the answers to one exercise."""

SEED = 7
MANY = 10_000
"""More edits than an answer has."""


@dataclass(frozen=True)
class TwoMistakes:
    """An answer with two mistakes: what may be named, and the lines on which it differs from a right answer."""

    exercise: ExerciseStep
    name: str
    code: str
    ids: frozenset[str]
    lines: frozenset[int]


def answers_with_two_mistakes(name: str, count: int = PAIRS) -> Iterator[TwoMistakes]:
    """Yield answers to an exercise with two mistakes each, at most `count`, the same ones each time."""
    exercise = exercise_of(name)
    data = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))["wrong"]
    single = [item for item in data if "code" not in item and item.get("of", "solution") == "solution"]
    pairs = list(itertools.combinations(single, 2))
    random.Random(name).shuffle(pairs)
    for one, other in pairs:
        codes = [apply_edits(exercise.solution, _edits(item)) for item in (one, other)]
        both = apply_edits(codes[0] or "", _edits(other))
        if count == 0:
            return
        if both is None or both in codes or _undone(exercise.solution, both, codes):
            continue
        count -= 1
        ids = {part for item in (one, other) for names in item.get("is", ()) for part in names.split("+")}
        lines = frozenset(changed_lines(exercise.solution, both))
        yield TwoMistakes(exercise, f"{one['name']} + {other['name']}", both, frozenset(ids), lines)


def _edits(item: dict[str, object]) -> list[tuple[str, str]]:
    edits = item["edits"] if "edits" in item else [[item["find"], item["replace"]]]
    return [(find, replacement) for find, replacement in edits]  # type: ignore[attr-defined]


def _undone(solution: str, both: str, codes: list[str | None]) -> bool:
    """Return whether one edit has changed what the other one had, so that less than both is left."""
    return any(len(changed_lines(solution, code or "")) > len(changed_lines(solution, both)) for code in codes)


def false_sentences(session: Session, answer: TwoMistakes, judgement: Judgement) -> list[str]:
    """Return what a verdict says of an answer that is not true; empty if all of it is."""
    found: list[str] = []
    own = [item for item in judgement.mistakes if item.id in kind_texts() and item.name]
    left = [item.id for item in judgement.mistakes if item.id not in kind_texts()] if own else []
    for mistake in judgement.mistakes:
        if mistake.line is not None and mistake.line not in answer.lines:
            found.append(f"{mistake.id} on line {mistake.line}, edited {sorted(answer.lines)}")
        made = mistake.id in answer.ids or mistake.id in kind_texts() or mistake.id in left
        made = made or _gives_the_same(session, answer, mistake.id)
        if not made:
            found.append(f"named {mistake.id}, is {sorted(answer.ids)}")
    if left:
        found += _false_rest(session, answer, own[0], left[0])
    elif own:
        found += _false_repairs(session, answer, judgement, own)
    if judgement.difference is not None:
        found += _false_difference(session, answer, judgement)
    return found


def _false_repairs(
    session: Session, answer: TwoMistakes, judgement: Judgement, named: Sequence[NamedMistake]
) -> list[str]:
    """Return that edits do not do what is said of them: the answer has to pass with them, and with none less.

    If a check is named for each of them, that one has to pass with all of them, and to fail without this one.
    """
    models = right_answers(answer.exercise)
    own = OwnEdits(answer.code, MANY)
    groups = [*repairs(answer.code, models, MANY, gap=answer.exercise.form == "line"), own.repairs]
    every = [item for group in groups for item in group]
    comes = outcome_of(len(named))
    chosen = [[item for item in every if item.mistake(comes) == mistake] for mistake in named]
    if not any(chosen):
        return _false_help(session, answer, judgement, named)
    if len(named) == 1:
        return (
            [] if any(_passes(session, answer, item.code) for item in chosen[0]) else [f"{named[0].id} does not help"]
        )
    indices = [[own.repairs.index(item) for item in items if item in own.repairs] for items in chosen]
    for count in range(1, len(named)):
        for few in itertools.combinations(indices, count):
            if any(_passes(session, answer, code) for code in _codes(own, few)):
                return [f"{count} of {len(named)} edits are enough"]
    return [] if any(_passes(session, answer, code) for code in _codes(own, indices)) else ["the edits do not help"]


def _false_rest(session: Session, answer: TwoMistakes, named: NamedMistake, left: str) -> list[str]:
    """Return that an edit does not leave a known mistake."""
    edited = (item.code for item in OwnEdits(answer.code, MANY).repairs if item.mistake("leaves") == named)
    if any(_gives_the_same(session, replace(answer, code=code), left) for code in edited):
        return []
    return [f"{named.id} does not leave {left}"]


def _false_help(
    session: Session, answer: TwoMistakes, judgement: Judgement, named: Sequence[NamedMistake]
) -> list[str]:
    """Return that a check does not pass with edits, or passes without one of them, or that all checks pass."""
    own = OwnEdits(answer.code, MANY)
    comes = outcome_of(len(named), helps=True)
    names = [check.name for check in judgement.checks]
    indices, checks = [], []
    for mistake in named:
        found = [
            (at, name) for at, item in enumerate(own.repairs) for name in names if item.mistake(comes, name) == mistake
        ]
        if not found:
            return [f"{mistake.id} does not help" if len(named) == 1 else "the edits do not help"]
        indices.append([at for at, _ in found])
        checks.append(found[0][1])
    for edits in itertools.product(*indices):
        judged = _checked(session, answer, next(_codes(own, [[at] for at in edits]), ""))
        fewer = [_codes(own, [[at] for at in edits if at != one]) for one in edits]
        without = [_checked(session, answer, next(codes, answer.code)) for codes in fewer]
        helps = all(judged[name] and not less[name] for name, less in zip(checks, without, strict=True))
        if helps and not all(judged.values()):
            return []
    return ["the edits do not help"]


def _codes(own: OwnEdits, indices: Sequence[Sequence[int]]) -> Iterator[str]:
    """Yield the programs with one of some edits each together."""
    if len(indices) == 1:
        yield from (own.repairs[at].code for at in indices[0])
    elif indices:
        yield from (made[0].code for _, made in own.together(itertools.product(*indices)))


def _checked(session: Session, answer: TwoMistakes, code: str) -> defaultdict[str, bool]:
    """Return which checks some code passes."""
    judgement = session.check(answer.exercise, code, SEED, diagnosis="none")
    return defaultdict(bool, {check.name: check.passed for check in judgement.checks})


def _gives_the_same(session: Session, answer: TwoMistakes, mistake: str) -> bool:
    """Return whether an answer passes where the right answer with a known mistake in it counts as the right one."""
    codes = [with_mistake(answer.exercise, item) for item in answer.exercise.mistakes if item.id == mistake]
    if not codes or codes[0] is None:
        return False
    exercise = answer.exercise.model_copy(update={"solution": codes[0]})
    return session.check(exercise, answer.code, SEED + 1, diagnosis="none").passed


def _passes(session: Session, answer: TwoMistakes, code: str) -> bool:
    return session.check(answer.exercise, code, SEED, diagnosis="none").passed


def _false_difference(session: Session, answer: TwoMistakes, judgement: Judgement) -> list[str]:
    """Return that a difference is none, or that something before it does not agree."""
    difference = judgement.difference
    assert difference is not None
    found = []
    if difference.yours.shape == difference.expected.shape and difference.yours.values == difference.expected.values:
        found.append(f"{difference.name} does not differ")
    if difference.line is not None and difference.name.split("[")[0] not in _statement(answer.code, difference.line):
        found.append(f"{difference.name} is not on line {difference.line}")
    if difference.name in difference.agreed:
        found.append(f"{difference.name} agrees and differs")
    matched = {item.yours for item in session.compare(answer.exercise, answer.code, SEED).intermediates}
    return found + [f"{name} is not as expected" for name in difference.agreed if name not in matched]


def _statement(code: str, line: int) -> str:
    """Return some lines of code from a line on, for a statement that has more than one."""
    return "\n".join(code.split("\n")[line - 1 : line + 5])


def take(session: Session, answer: TwoMistakes) -> tuple[Judgement, list[str]]:
    """Judge an answer. Returns the verdict, and what is false in it."""
    judgement = session.check(answer.exercise, answer.code, SEED)
    return judgement, false_sentences(session, answer, judgement)


def main() -> int:
    """Take the exam; return 1 if a sentence is false."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("exercises", nargs="*", default=exercise_ids())
    parser.add_argument("--count", type=int, default=PAIRS)
    options = parser.parse_args()
    session, count, named, wrong = Session(), 0, 0, 0
    try:
        for name in options.exercises:
            for answer in answers_with_two_mistakes(name, options.count):
                judgement, false = take(session, answer)
                count, named, wrong = count + 1, named + bool(judgement.mistakes), wrong + bool(false)
                if false or judgement.passed:
                    print(f"{name}: {answer.name}: {'passed' if judgement.passed else false}", flush=True)
    finally:
        session.close()
    print(f"{count} answers with two mistakes, named: {named}, with a false sentence: {wrong}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
