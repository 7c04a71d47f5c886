"""Findings: what is wrong in the files of a course, and where. Without YAML, which only reading them needs."""

from __future__ import annotations

from dataclasses import dataclass

from attn_tutor.lessons.results.clean_text import clean


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem in a file of a course: its position (line and column from 1), what it is, and a remedy."""

    file: str
    line: int
    column: int
    problem: str
    remedy: str

    def __str__(self) -> str:
        # A problem may quote text with line breaks, but a finding is one line; and files of others may have any names.
        said = " ".join(sentences(self.problem, self.remedy).split())
        return clean(f"{self.file}:{self.line}:{self.column}: {said}", keep="")


def sentences(problem: str, remedy: str) -> str:
    """Join a problem and its remedy; a problem may end with a sentence of others, which brings its own full stop."""
    return f"{problem}{'' if problem.rstrip().endswith(('.', '?', '!')) else '.'} {remedy}"


class LessonError(Exception):
    """A lesson or course that cannot be used; `findings` holds all that is wrong with it."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("\n".join(str(finding) for finding in findings))
        self.findings = findings
