"""The exam of the judge: answers that the courses do not contain, judged on several seeds.

`answers/ID.yaml` holds answers to the exercise ID as novices write them: right ones, and wrong ones with the known
mistakes that they make. `variations.py` writes every right answer in further ways. The totals say how many right
answers were refused, how many wrong ones passed, how many were given a wrong name, and how many verdicts depended on
the seed. `python -m tests.exam.answer_exam` takes it whole, with the names of exercises a part of it.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from attn_tutor.lessons.engine.judging import Diagnosis
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.reading.mistake_edits import apply_edits
from attn_tutor.lessons.reading.repair_kinds import kind_texts
from attn_tutor.lessons.results.result import Judgement
from tests.course import EVERY_COURSE
from tests.exam import variations

FOLDER = Path(__file__).with_name("answers")
SEEDS = (11, 2026)


@dataclass(frozen=True)
class Answer:
    """An answer of the exam.

    Attributes:
        right: whether it must pass.
        names: the names that a verdict may give to it, each the ids of one or two mistakes joined by `+`.
        lines: the lines on which it differs from the model answer, for a wrong answer made by edits; for another the
            line on which it goes wrong, if it has one.
    """

    exercise: str
    name: str
    code: str
    right: bool
    names: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()


@dataclass
class Totals:
    """The totals of an exam; each list names the answers, with what was said about them."""

    right: int = 0
    wrong: int = 0
    named: int = 0
    repaired: int = 0
    placed: int = 0
    lines: int = 0
    seconds: float = 0.0
    refused: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    misnamed: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    misplaced: list[str] = field(default_factory=list)
    flips: list[str] = field(default_factory=list)

    def table(self) -> str:
        """Return the totals as lines of text."""
        rows = (
            f"{self.right} right answers, refused: {len(self.refused)}",
            f"{self.wrong} wrong answers, passed: {len(self.passed)}",
            f"named: {self.named} of {self.wrong} ({self.repaired} by a repair), misnamed: {len(self.misnamed)}, "
            f"with a name that was not given: {len(self.unnamed)}",
            f"line of the edit: {self.placed} of {self.lines} lines given",
            f"verdicts that depend on the seed: {len(self.flips)}",
            f"{self.seconds:.0f} seconds",
        )
        return "\n".join(rows)


def exercise_ids() -> list[str]:
    """Return the exercises of the courses that ask for code."""
    return [
        step.exercise for lesson in EVERY_COURSE.lessons for step in lesson.exercises if isinstance(step, ExerciseStep)
    ]


def exercise_of(name: str) -> ExerciseStep:
    """Return an exercise of a course that asks for code."""
    exercise = EVERY_COURSE.exercise(name)[1]
    assert isinstance(exercise, ExerciseStep)
    return exercise


def answers(name: str) -> Iterator[Answer]:
    """Yield the answers to an exercise, right ones first, without variations."""
    exercise = exercise_of(name)
    data = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    for item in data["right"]:
        yield Answer(name, item["name"], _code(exercise, item), right=True)
    for item in data["wrong"]:
        code = _code(exercise, item)
        lines = (
            (item["line"],) if "line" in item else changed_lines(exercise.solution, code) if "code" not in item else ()
        )
        yield Answer(name, item["name"], code, False, tuple(item.get("is", ())), lines)


def _code(exercise: ExerciseStep, item: dict[str, Any]) -> str:
    if "code" in item:
        return str(item["code"])
    edits = item["edits"] if "edits" in item else [[item["find"], item["replace"]]]
    base = exercise.solution if item.get("of", "solution") == "solution" else exercise.starter
    code = apply_edits(base, [(find, replace) for find, replace in edits])
    assert code is not None, f"{exercise.exercise}: '{item['name']}' does not fit the {item.get('of', 'solution')}"
    ast.parse(code)
    return code


def changed_lines(before: str, after: str) -> tuple[int, ...]:
    """Return the lines of a changed program that differ, and the ones beside which something is missing."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    lines: set[int] = set()
    for tag, _, _, start, end in matcher.get_opcodes():
        if tag == "delete":
            lines |= {start, start + 1}
        elif tag != "equal":
            lines |= set(range(start + 1, end + 1))
    return tuple(sorted(_whole_statements(after, lines)))


def _whole_statements(code: str, lines: set[int]) -> set[int]:
    found = set(lines)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            span = set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            if span & lines:
                found |= span
    return found


def take(session: Session, chosen: Sequence[Answer], seeds: Sequence[int], totals: Totals, verbose: bool) -> None:
    """Judge answers on several seeds and add to the totals."""
    for answer in chosen:
        began = time.monotonic()
        exercise = exercise_of(answer.exercise)
        depth: Diagnosis = "none" if answer.right else "line"
        judgements = [session.check(exercise, answer.code, seed, diagnosis=depth) for seed in seeds]
        seconds = time.monotonic() - began
        totals.seconds += seconds
        _count(answer, judgements, totals)
        if verbose:
            said = " | ".join(dict.fromkeys(_said(judgement) for judgement in judgements))
            print(f"{answer.exercise}: {answer.name} [{seconds:.1f} s]: {said}", flush=True)


def _count(answer: Answer, judgements: Sequence[Judgement], totals: Totals) -> None:
    label = f"{answer.exercise}: {answer.name}"
    given = {"+".join(sorted(mistake.id for mistake in judgement.mistakes)) for judgement in judgements}
    if len({judgement.verdict for judgement in judgements}) > 1 or len(given) > 1:
        totals.flips.append(f"{label}: {' | '.join(map(_said, judgements))}")
    if answer.right:
        totals.right += 1
        if refused := next((judgement for judgement in judgements if not judgement.passed), None):
            totals.refused.append(f"{label}: {_said(refused)}")
        return
    totals.wrong += 1
    if any(judgement.passed for judgement in judgements):
        totals.passed.append(label)
        return
    allowed = {"+".join(sorted(name.split("+"))) for name in answer.names}
    totals.repaired += not given.isdisjoint(kind_texts())
    if strange := sorted(given - allowed - {""}):
        true = " or ".join(sorted(allowed)) or "none of them"
        totals.misnamed.append(f"{label}: named {', '.join(strange)}, is {true}")
    totals.named += "" not in given
    if "" in given and allowed:
        totals.unnamed.append(f"{label}: {_said(judgements[0])}")
    if (line := _blamed(judgements[0])) is not None and answer.lines:
        totals.lines += 1
        totals.placed += line in answer.lines
        if line not in answer.lines:
            totals.misplaced.append(f"{label}: line {line}, edited {answer.lines}")


def _blamed(judgement: Judgement) -> int | None:
    """Return the line that a verdict blames: of the mistake that it names, or else of what it says."""
    named = next((mistake.line for mistake in judgement.mistakes if mistake.line is not None), None)
    return judgement.line if named is None else named


def _said(judgement: Judgement) -> str:
    names = "+".join(mistake.id for mistake in judgement.mistakes)
    first = judgement.message.splitlines()[0][:300]
    return f"{judgement.verdict} {f'<{names}> ' if names else ''}{first} (line {judgement.line}, seed {judgement.seed})"


def main() -> int:
    """Take the exam and print its totals; return 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("exercises", nargs="*", default=exercise_ids())
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--variations", type=int, default=3, help="how many of each right answer")
    parser.add_argument("--only", choices=("right", "wrong"))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    session, totals = Session(), Totals()
    try:
        for name in options.exercises:
            chosen = [item for item in answers(name) if options.only in (None, "right" if item.right else "wrong")]
            chosen += [
                Answer(name, f"{item.name}, {way}", code, right=True)
                for item in chosen
                if item.right
                for way, code in variations.of(item.code, options.variations)
            ]
            take(session, chosen, options.seeds, totals, options.verbose)
    finally:
        session.close()
    for title in ("refused", "passed", "misnamed", "unnamed", "misplaced", "flips"):
        for line in getattr(totals, title):
            print(f"{title}: {line}")
    print(totals.table())
    return int(bool(totals.refused or totals.passed or totals.flips))


if __name__ == "__main__":
    sys.exit(main())
