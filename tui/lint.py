"""What an author is told: what is wrong in the files of a course, and which promises its exercises do not keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lessons import proof
from lessons.load import COURSE, read_course
from lessons.model import Lesson
from lessons.proof import Proof
from lessons.reading import Finding
from lessons.session import Session

HEAD = f"{'exercise':24}{'solution':>10}{'mistakes':>10}{'accepted':>10}{'cheats':>10}"


@dataclass
class Report:
    """What was read and what was proved."""

    lessons: Sequence[Lesson]
    findings: list[Finding]
    proofs: list[Proof] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "findings": [asdict(finding) for finding in self.findings],
            "exercises": [
                {
                    "exercise": each.exercise,
                    "solution": [each.solution, each.seeds],
                    "mistakes": each.mistakes,
                    "accepted": each.accepted,
                    "cheats": each.cheats,
                }
                for each in self.proofs
            ],
        }

    def summary(self) -> str:
        """How much was looked at, or how much was found."""
        if count := len(self.findings):
            return f"{count} finding{'' if count == 1 else 's'}"
        steps = sum(len(lesson.steps) for lesson in self.lessons)
        return f"{len(self.lessons)} lessons, {steps} steps: no findings"


def read(folder: Path | None) -> Report:
    """Read all lessons of a folder; what cannot be read is a finding."""
    return Report(*read_course(folder or COURSE))


def prove(report: Report, session: Session, only: Sequence[str], say: Callable[[str], None]) -> None:
    """Prove the exercises of the lessons that could be read, or only some of them. Raises `WorkerError`."""
    for lesson in report.lessons:
        if only and not any(step.exercise in only for step in lesson.exercises):
            continue
        for found in proof.prove(lesson, session, only):
            if not report.proofs:
                say(HEAD)
            report.proofs.append(found)
            report.findings += found.findings
            say(line(found))


def line(found: Proof) -> str:
    """What was kept of what was promised of an exercise: `7/7`."""

    def kept(promises: dict[str, bool]) -> str:
        return f"{sum(promises.values())}/{len(promises)}" if promises else "-"

    solution = f"{found.solution}/{found.seeds}" if found.seeds else "-"
    cells = (solution, kept(found.mistakes), kept(found.accepted), kept(found.cheats))
    return f"{found.exercise:24}" + "".join(f"{cell:>10}" for cell in cells)
