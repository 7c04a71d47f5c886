"""The exam of the judge on cold answers, written by authors who knew neither the judge nor the mistakes that it knows.

`cold/*.yaml` holds answers with what their authors say about them: whether an answer is right, and else its mistakes
and their lines. `read` beside a wrong answer says which names a reader found to be true for it, or true but general.
`once_passed.yaml` is not cold: its answers are of kinds that the judge once let pass.

    python -m tests.exam.cold_answers [FILE...] [--only ID...] [--table OUT.md]

judges them as the tutor does and prints the totals. The table has the whole text of each verdict.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.results.result import Judgement
from attn_tutor.tui.render import exercise_text
from tests.course import EVERY_COURSE

FOLDER = Path(__file__).with_name("cold")
SEED = 2026


@dataclass(frozen=True)
class Answer:
    """An answer with what its author says about it, and what a reader has said about names for it.

    Attributes:
        label: the file and the number of the answer in it.
        mistakes: each mistake with its lines, none if something is missing.
        true: the names that say what is wrong with it, each the ids of one or two mistakes joined by `+`.
        general: the names that are true and say less.
        fair: lines that are as good as the author's, such as the one beside which something is missing.
    """

    label: str
    step: ExerciseStep
    code: str
    right: bool
    mistakes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    true: tuple[str, ...] = ()
    general: tuple[str, ...] = ()
    fair: tuple[int, ...] = ()

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines that a verdict may point at."""
        return (*(line for _, lines in self.mistakes for line in lines), *self.fair)


@dataclass(frozen=True)
class Marks:
    """What a verdict on an answer is worth: `passed`, the worth of its name, and the worth of its line."""

    passed: bool
    name: str
    line: str


@dataclass
class Totals:
    """The totals of an exam."""

    right: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)

    def add(self, answer: Answer, marks: Marks) -> None:
        """Count an answer."""
        if answer.right:
            self.right["passed" if marks.passed else "refused"] += 1
            return
        self.verdicts["passed" if marks.passed else "refused"] += 1
        if not marks.passed:
            self.names[marks.name] += 1
            self.lines[marks.line] += 1

    def text(self) -> str:
        """Return the totals as lines of text."""
        rows = {"right answers": self.right, "wrong answers": self.verdicts, "names": self.names, "lines": self.lines}
        return "\n".join(
            f"{title}: {', '.join(f'{count} {what}' for what, count in sorted(row.items()))}"
            for title, row in rows.items()
        )


def steps() -> dict[str, ExerciseStep]:
    """Return the exercises that ask for code, by the ids of their steps and by their own."""
    found = [step for lesson in EVERY_COURSE.lessons for step in lesson.exercises if isinstance(step, ExerciseStep)]
    return {step.id: step for step in found} | {step.exercise: step for step in found}


def answers(file: Path) -> Iterator[Answer]:
    """Yield the answers in a file."""
    known = steps()
    for number, item in enumerate(yaml.safe_load(file.read_text(encoding="utf-8")), 1):
        said = [item, *item.get("also", ())] if item["kind"] == "wrong" else []
        read = item.get("read", {})
        yield Answer(
            f"{file.stem}-{number}",
            known[item["exercise"]],
            item["code"],
            item["kind"] == "right",
            tuple((each["mistake"], _lines(each.get("line"))) for each in said),
            tuple(read.get("true", ())),
            tuple(read.get("general", ())),
            tuple(read.get("lines", ())),
        )


def _lines(value: Any) -> tuple[int, ...]:
    return () if value is None else tuple(value) if isinstance(value, list) else (value,)


def mark(answer: Answer, judgement: Judgement) -> Marks:
    """Say what a verdict is worth. A name that no reader has read is `unread`, and should be taken for false."""
    # What a repair has found may have no name that is shown.
    given = "+".join(sorted(mistake.id for mistake in judgement.mistakes if mistake.name))
    names = {"": "none"} | _sorted(answer.general, "general") | _sorted(answer.true, "true")
    line = _blamed(judgement)
    where = "none" if line is None else "right" if line in answer.lines else "wrong"
    return Marks(judgement.passed, names.get(given, f"unread ({given})"), where)


def _sorted(names: Sequence[str], worth: str) -> dict[str, str]:
    return {"+".join(sorted(name.split("+"))): worth for name in names}


def told(answer: Answer, judgement: Judgement, marks: Marks) -> str:
    """Return all about an answer as Markdown: its code, its mistakes, the whole verdict, and the marks."""
    kind = "right" if answer.right else "wrong"
    code = "\n".join(f"{number:3} {line}" for number, line in enumerate(answer.code.rstrip().splitlines(), 1))
    said = "".join(f"- {what} (line {', '.join(map(str, lines)) or 'none'})\n" for what, lines in answer.mistakes)
    verdict = "PASSED" if marks.passed else judgement.verdict
    ids = "+".join(mistake.id for mistake in judgement.mistakes) or "no name"
    text = exercise_text.verdict(judgement).plain
    return (
        f"## {answer.label}: {answer.step.exercise}, {kind}\n\n```python\n{code}\n```\n{said}\n"
        f"**{verdict}**, {ids}, line {_blamed(judgement)}: name {marks.name}, line {marks.line}\n\n"
        f"```text\n{text}\n```\n"
    )


def _blamed(judgement: Judgement) -> int | None:
    """Return the line that a verdict blames: of the first mistake that it names, or else of what it says."""
    named = next((mistake.line for mistake in judgement.mistakes if mistake.line is not None), None)
    return judgement.line if named is None else named


def main() -> int:
    """Judge cold answers and print the totals; return 1 if a right one is refused or a wrong one passes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(FOLDER.glob("*.yaml")))
    parser.add_argument("--only", nargs="+", metavar="ID", help="only these exercises, or answers by their labels")
    parser.add_argument("--table", type=Path, metavar="OUT", help="write the whole verdicts to this file")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    session, totals, parts = Session(), Totals(), []
    try:
        for answer in (answer for file in options.files for answer in answers(file)):
            if options.only and {answer.label, answer.step.id, answer.step.exercise}.isdisjoint(options.only):
                continue
            judgement = session.check(answer.step, answer.code, options.seed)
            marks = mark(answer, judgement)
            totals.add(answer, marks)
            parts.append(told(answer, judgement, marks))
            if marks.passed != answer.right or (not answer.right and (marks.name, marks.line) != ("true", "right")):
                print(f"{answer.label} {answer.step.exercise}: {marks}", flush=True)
            if options.table:
                options.table.write_text("\n".join(parts), encoding="utf-8")
    finally:
        session.close()
    print(totals.text())
    return int(bool(totals.right["refused"] or totals.verdicts["passed"]))


if __name__ == "__main__":
    sys.exit(main())
