"""The source of a number in words: which line, of what. Ids of steps are keys, and no words for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.results import code_unit
from attn_tutor.lessons.texts.wording import Wording

if TYPE_CHECKING:
    from attn_tutor.lessons.format.lesson import Lesson

say = Wording("explanation/source")

NO_NAMES: Mapping[str, str] = {}


def names_of_steps(lesson: Lesson, *, with_ids: bool = False) -> dict[str, str]:
    """Return the names of steps by their ids: `step 4`, or `step 4 [scores]` where learners type ids."""
    names = {step.id: main_path.name_of(lesson.steps, step.id) for step in lesson.steps}
    return {step: f"{name} [{step}]" for step, name in names.items()} if with_ids else names


def source(file: str, line: int | None, here: str = "", steps: Mapping[str, str] = NO_NAMES) -> str:
    """Return where code stands: `line 4`, `line 3 of the setup`, `line 1 of step 4`, `attention/causal.py, line 95`.

    Args:
        file: the form for people of a unit of code, the path of a module, or "".
        line: the line, None if it is not known.
        here: the form for people of the unit that the reader looks at: nothing is said but the line.
        steps: the names of steps by their ids. Of code without a name nothing is said.
    """
    at = say("line", "line {line}", line=line) if line is not None else ""
    unit = code_unit.find(file)
    if unit is None:
        return ", ".join(filter(None, (file, at)))
    # An expression that is shown belongs to its step.
    name = unit.of or str(unit)
    if name == here:
        return at
    if unit == code_unit.SETUP:
        return say("setup-line", "line {line} of the setup", line=line) if at else say("setup", "the setup")
    if unit == code_unit.ANSWER:
        return say("answer-line", "line {line} of your code", line=line) if at else say("answer", "your code")
    if (code_unit.find(name) or unit).kind == "input":
        return (
            say("input-line", "line {line} of an earlier input", line=line) if at else say("input", "an earlier input")
        )
    step = steps.get(name, "")
    return say("step-line", "line {line} of {step}", line=line, step=step) if step and at else step
