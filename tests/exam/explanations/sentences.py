"""The sentences of explanations: a table of all, and for each a computation that decides whether it is true.

A text that the tutor has and the table has not, or the other way round, fails a test.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.exam.explanations.cases import Case, code_value, near
from tests.exam.explanations.deciders import DECIDERS, Decide
from tests.exam.explanations.documents import Json, label
from tests.exam.explanations.plain_run import PlainRun


@dataclass(frozen=True)
class Row:
    """A text of the table.

    Attributes:
        texts: its English, for one thing and, if that differs, for several.
        decided: the name of the function that decides it.
    """

    texts: tuple[str, ...]
    decided: str

    def fields_of(self, sentence: str) -> dict[str, str] | None:
        """Return what stands in the fields of the text; None for a sentence that it is not."""
        matches = (pattern.fullmatch(sentence) for pattern in map(_pattern, self.texts))
        return next((match.groupdict() for match in matches if match), None)


@functools.cache
def _pattern(text: str) -> re.Pattern[str]:
    seen: set[str] = set()

    def group(match: re.Match[str]) -> str:
        name = match[1]
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        return f"(?P<{name}>.+?)"

    return re.compile(re.sub(r"\\\{(\w+)[^{}]*\\\}", group, re.escape(text)), re.DOTALL)


@functools.cache
def table() -> dict[str, Row]:
    """Return the rows of the table by the ids of the texts."""
    data = yaml.safe_load((Path(__file__).parent / "sentences.yaml").read_text(encoding="utf-8"))
    return {
        text_id: Row(tuple(filter(None, (row["text"], row.get("several", "")))), row["decided"])
        for text_id, row in data.items()
    }


WHERE = r" on line \d+(?: of (?:the setup|\S+))?"
BORN = re.compile(rf"(This (?:NaN|-?inf) was (?:born|put) (?:here|in .+?{WHERE}|in [^.]+)\.)(?: (.*))?", re.DOTALL)
REMARK = re.compile(r"(Without rounding, these numbers would give .+?\.) \((.*)\)")


def parts_of(note: str) -> list[str]:
    """Return the sentences of a note that consists of several.

    Why a number is not finite that was born elsewhere is decided there, where it is said of the number itself.
    """
    for composed in (BORN, REMARK):
        if found := composed.fullmatch(note):
            first, rest = found.groups()
            is_elsewhere = composed is BORN and " here." not in first
            return [first, *(re.split(r"(?<=[a-z0])\. (?=[A-Z0])", rest) if rest and not is_elsewhere else [])]
    return [note]


def problem(note: str, item: Json, code: str, plain: PlainRun | None) -> str:
    """Return what is wrong with a note of a number; "" if each of its sentences holds."""
    for sentence in parts_of(note):
        rows = [
            (row.decided, fields)
            for row in table().values()
            for text in (sentence if sentence.endswith(".") else f"{sentence}.", sentence)
            if (fields := row.fields_of(text)) is not None
        ]
        if not rows:
            return f"no row: {sentence}"
        cases = [(decided, Case(fields, item, code, plain, sentence)) for decided, fields in rows]
        if not any(_holds(DECIDERS[decided], case) for decided, case in cases):
            return f"{', '.join(sorted({decided for decided, _ in cases}))}: {sentence}"
    return ""


def _holds(decide: Decide, case: Case) -> bool:
    """Return whether a sentence holds. Where a number should be and is none, it was another sentence."""
    try:
        return decide(case)
    except (ValueError, IndexError):
        return False


def label_problem(item: Json, plain: PlainRun) -> str:
    """Return what is wrong with a label that is code: if it is run, it has to give the number."""
    text = str(item["tensor"])
    if "(" not in text and "[" not in text:
        return ""
    got = code_value(text, item["index"], plain)
    value = float(item["value"])
    precision = 2e-2 if "16" in str(item["dtype"]) else 1e-5
    if got is None or near(got, value, 4) or abs(got - value) <= precision * (abs(value) + 1):
        return ""
    return f"{label(item)} is {got!r} and not {value!r}"
