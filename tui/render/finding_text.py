"""Findings in the files of a course as text, beside what they are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text

from attn_tutor.lessons.authoring.previewed_course import Version
from attn_tutor.lessons.reading.findings import Finding, sentences
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.render.palette import BOLD, DIM

say = Wording("screen/findings")


Position = Callable[[Finding], str]
"""Says where a finding is: file, line and column."""


def sentence(finding: Finding) -> str:
    """Return what is wrong, and what to do about it."""
    problem = " ".join(clean(finding.problem, keep="").split())
    return sentences(f"{problem[:1].upper()}{problem[1:]}", finding.remedy)


def unreadable(version: Version, position: Position, most: int) -> Text:
    """Return what keeps files from being read, at most so many findings of it, and what is shown nevertheless."""
    findings = version.findings
    text = Text()
    for finding in findings[:most]:
        text.append(clean(position(finding), keep=""), BOLD).append(f"  {sentence(finding)}\n")
    notes = []
    if left := len(findings) - most:
        notes += [say.count("more", left, "{count} more finding", "{count} more findings")] if left > 0 else []
    if version.is_older:
        notes.append(say("older", "Below is the last version that could be read."))
    elif version.is_new:
        notes.append(say("other-file", "What you see is not affected."))
    text.append(" ".join(notes), DIM)
    text.rstrip()
    return text


def remarks(findings: Sequence[Finding], position: Position) -> Text:
    """Return the first of the findings on a step that can be read, in one line."""
    first, left = findings[0], len(findings) - 1
    more = say.count("and-more", left, " (and {count} more)", " (and {count} more)") if left else ""
    return Text.assemble((clean(position(first), keep=""), BOLD), f"  {sentence(first)}", (more, DIM))
