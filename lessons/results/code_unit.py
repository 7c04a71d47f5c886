"""The pieces of code that run under a name of their own: the setup, steps, inputs of the prompt, answers."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Literal

UnitKind = Literal["setup", "step", "input", "expression", "answer", "internal"]

SETUP_TEXT, ANSWER_TEXT = "setup", "your code"
INTERNAL = ("prose", "probe", "string")
"""Names that no step has: what fills prose, what probes an answer, what Python's own library compiles."""

_STEP = re.compile(r"[a-z0-9-]+")
_INPUT = re.compile(r"input (\d+)")
_EXPRESSION = re.compile(r"([a-z0-9-]+|input \d+): (.*)", re.DOTALL)
_FRAME = re.compile(r'File "<([^<>\n]+)>", line (\d{1,9})(?!\d)')


@dataclass(frozen=True, slots=True)
class CodeUnit:
    """A piece of code by its name. `str` gives its written form, `parse` takes it; `filename` is what Python sees.

    The written form is the same in every language: it stands in tracebacks, recordings and JSON documents. What
    learners read instead, `lessons/render/source_text.py` says.

    Three neighbors stay text, because they name more, or less, than a unit of code. The id of a step is a key: in the
    lesson file, the recordings, the progress file and JSON documents; `StepResult.id` is one (of an input, its form for
    people). A part of a lesson (`lessons.what_if`) is `setup` or the id of a step as authors and learners write it, and
    is only ever compared. `Explanation.file` may also be a module of the `attention` package; `Explanation.unit` is the
    unit of code, if it is one.

    Attributes:
        kind: `step` and `input` are what tensors are shown of; an `expression` is evaluated to show one;
            `answer` is the answer to an exercise while it is judged; `internal` is code of the tutor itself.
        name: the id of a step, the expression's name, or what internal code is called.
        number: of an input, counted from 1.
        of: what an expression belongs to, in its form for people.
    """

    kind: UnitKind
    name: str = ""
    number: int = 0
    of: str = ""

    @classmethod
    def step(cls, step_id: str) -> CodeUnit:
        """Name the code of a step."""
        return cls("step", step_id)

    @classmethod
    def input(cls, number: int) -> CodeUnit:
        """Name an input of the prompt."""
        return cls("input", number=number)

    @classmethod
    def internal(cls, name: str) -> CodeUnit:
        """Name a piece of the tutor's own code."""
        return cls("internal", name)

    @classmethod
    def parse(cls, text: str) -> CodeUnit:
        """Read the form for people. Raises `ValueError` for what names no code."""
        if text == SETUP_TEXT:
            return SETUP
        if text == ANSWER_TEXT:
            return ANSWER
        if text in INTERNAL:
            return cls.internal(text)
        if found := _INPUT.fullmatch(text):
            return cls.input(int(found[1]))
        if _STEP.fullmatch(text):
            return cls.step(text)
        if found := _EXPRESSION.fullmatch(text):
            return cls("expression", found[2], of=found[1])
        raise ValueError(f"no code is called {text!r}")

    def expression(self, name: str) -> CodeUnit:
        """Name an expression that is evaluated to show a tensor of this unit."""
        return CodeUnit("expression", name, of=str(self))

    def __str__(self) -> str:
        if self.kind == "setup":
            return SETUP_TEXT
        if self.kind == "answer":
            return ANSWER_TEXT
        if self.kind == "input":
            return f"input {self.number}"
        return f"{self.of}: {self.name}" if self.kind == "expression" else self.name

    @property
    def filename(self) -> str:
        """The name of the file that the code is compiled as, which stands in tracebacks."""
        return f"<{self}>"

    @property
    def of_learner(self) -> bool:
        """Whether a line of it is a line of the code that a learner sees running."""
        return self.kind in ("step", "input", "answer")


SETUP = CodeUnit("setup")
PROGRAM = CodeUnit.step("program")
"""A program of one's own: the only step of a lesson that is made of it."""
ANSWER = CodeUnit("answer")


def find(text: str) -> CodeUnit | None:
    """Return the unit with this form for people, None if the text names no code."""
    try:
        return CodeUnit.parse(text)
    except ValueError:
        return None


def of_filename(filename: str) -> CodeUnit | None:
    """Return the unit that was compiled under this name, None for a file of any other kind."""
    return find(filename[1:-1]) if filename.startswith("<") and filename.endswith(">") else None


def learner_line(trace: str) -> int | None:
    """Return the first line in a printed traceback that is in code of the learner's, None if there is none."""
    for found in _FRAME.finditer(trace):
        unit = find(found[1])
        if unit is not None and unit.of_learner:
            return int(found[2])
    return None


def with_file(text: str, unit: CodeUnit, file: str) -> str:
    """Return what a program printed with the name of a file in place of a unit of code in its tracebacks."""
    return text.replace(f'File "{unit.filename}", line ', f'File "{file}", line ')


def without_frames(text: str, folder: str) -> str:
    """Return what a program printed without the frames of files in a folder in its tracebacks."""
    return re.sub(rf'^ +File "{re.escape(folder + os.sep)}.*\n(?: {{4}}.*\n)*', "", text, flags=re.MULTILINE)
