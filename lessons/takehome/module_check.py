"""The check at the end of a module that a learner takes home, and what it compares with.

Each piece is called on small inputs, those of the `sample` of its exercise. What comes out is compared with what came
out of the course's own code, when the module was written: the class of the package `attention` with the same name, or
else the model answer. The check itself needs PyTorch and nothing else.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.results.result import Failure, StepResult
from attn_tutor.lessons.takehome.module_sections import Section
from attn_tutor.lessons.takehome.passing_answers import PassingAnswer
from attn_tutor.lessons.texts.wording import Wording

say = Wording("take-home/check")

Plain = Any
"""What a piece gave, as literals: numbers, texts, and lists of them."""

LONGEST_LINE = 116

# The code of the check is Python that is pasted into the module, and that computes what it compares with as well.
TOOLS_CODE = """
import math

import torch
from torch import nn

inf, nan = math.inf, math.nan

def wave(*shape, start=1):
    count = math.prod(shape)
    return torch.sin(torch.arange(start, start + count).float()).reshape(shape)

def filled(module):
    with torch.no_grad():
        for number, (_, parameter) in enumerate(sorted(module.named_parameters())):
            parameter.copy_(wave(*parameter.shape, start=1 + number))
    return module

def plain(value):
    if isinstance(value, torch.Tensor):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value
"""

COMPARE_CODE = """
def same(given, expected):
    if isinstance(expected, list):
        return (
            isinstance(given, list)
            and len(given) == len(expected)
            and all(same(*pair) for pair in zip(given, expected))
        )
    if isinstance(expected, float):
        if not isinstance(given, (int, float)):
            return False
        return given == expected or math.isclose(given, expected, rel_tol=1e-4, abs_tol=1e-4)
    return given == expected
"""

EXPECTED_CODE = """
import attention

def rounded(value):
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value

def results(given, sample):
    scope = {**TOOLS, **given}
    exec(sample, scope)
    return plain(scope["result"])

def expected_results(samples):
    found = []
    for solution, defines, sample in samples:
        scope = {"__name__": "solution"}
        exec(solution, scope)
        given = {name: scope[name] for name in defines}
        for name in defines:
            if isinstance(given[name], type) and isinstance(getattr(attention, name, None), type):
                given[name] = getattr(attention, name)
        found.append(rounded(results(given, sample)))
    return found

TOOLS = {name: globals()[name] for name in ("torch", "nn", "wave", "filled")}
"""

LIMITS = {"cpu": 120, "wall": 240, "memory": 2048}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of the check of a module.

    Attributes:
        different: the ids of the exercises whose pieces gave something else.
        failure: why the module did not run to its end, None if it did.
    """

    different: tuple[str, ...] = ()
    failure: Failure | None = None


def expected_results(session: Session, answers: Sequence[PassingAnswer]) -> dict[str, Plain]:
    """Return what the course's own code gives for the samples, by the ids of the exercises. Raises `WorkerError`."""
    sampled = [each for each in answers if each.exercise.sample]
    samples = [(each.exercise.solution, each.exercise.defines, each.exercise.sample) for each in sampled]
    code = f"{TOOLS_CODE}\n{EXPECTED_CODE}\nfound = expected_results({samples!r})\n"
    result = _run(session, code, "found")
    if result.error is not None:
        raise ValueError(result.error.message)
    return dict(zip((each.id for each in sampled), _read(result), strict=True))


def run_check(session: Session, module: str) -> Outcome:
    """Run the check of a module where it can do no harm. Raises `WorkerError`."""
    result = _run(session, f"{module}\n\ndifferent = _check()\n", "different")
    if result.error is not None:
        return Outcome(failure=result.error)
    return Outcome(tuple(map(str, _read(result))))


def _run(session: Session, code: str, name: str) -> StepResult:
    """Run a program and have it fill in the value of a name."""
    step = {"kind": "run", "id": "module", "title": name, "prose": f"{{{name}!r}}", "code": code}
    fields = {"id": "module", "number": 1, "folder": "", "title": name, "goal": name, "limits": LIMITS, "steps": [step]}
    run = session.run(Lesson.model_validate(fields))
    run.close()
    return run.steps[0]


def _read(result: StepResult) -> list[Plain]:
    """Return the list that a program filled in; of anything else, an empty one."""
    try:
        # What is no number has no literal: `inf` and `nan` stand for themselves.
        text = next(iter(result.text.values()), "[]")
        value = eval(compile(ast.parse(text, mode="eval"), "filled in", "eval"), {"__builtins__": {}}, NO_LITERALS)
    except (SyntaxError, NameError, ValueError):
        return []
    return list(value) if isinstance(value, list | tuple) else []


NO_LITERALS = {"inf": float("inf"), "nan": float("nan")}


# Text ----------------------------------------------------------------------------------------------------------------


def code_of_check(sections: Sequence[Section], expected: Mapping[str, Plain]) -> str:
    """Return the function `_check` for the sections with expected results, and the call of it."""
    checked = [each for each in sections if each.answer is not None and each.answer.id in expected]
    cases = [_case(each) for each in checked]
    rows = [_row(each, expected[each.answer.id]) for each in checked if each.answer is not None]
    body = "\n\n".join([TOOLS_CODE.strip(), COMPARE_CODE.strip(), *cases, _list(rows), _loop()])
    doc = say("doc", "Call each piece on small inputs; return the exercises whose pieces give something else.")
    return (
        f'def _check():\n    """{doc}"""\n'
        + textwrap.indent(body, "    ")
        + '\n\n\nif __name__ == "__main__":\n    raise SystemExit(1 if _check() else 0)\n'
    )


def _case(section: Section) -> str:
    assert section.answer is not None
    arguments = ", ".join(section.names)
    sample = textwrap.indent(section.answer.exercise.sample.rstrip(), "    ")
    return f"def {_name(section)}({arguments}):\n{sample}\n    return result"


def _name(section: Section) -> str:
    """Return the name of the function that calls a piece; no piece is called like this."""
    assert section.answer is not None
    return f"case_{section.answer.id.replace('-', '_')}"


def _row(section: Section, expected: Plain) -> str:
    assert section.answer is not None
    given = "".join(f"{name}, " for name in section.names.values()).strip()
    text = "\n".join(textwrap.wrap(repr(expected), LONGEST_LINE - 12, break_long_words=False, break_on_hyphens=False))
    head = f"{section.answer.id!r}, {_name(section)}, ({given}),"
    return f"(\n    {head}\n{textwrap.indent(text, '    ')},\n),"


def _list(rows: Sequence[str]) -> str:
    return f"cases = [\n{textwrap.indent(chr(10).join(rows), '    ')}\n]"


def _loop() -> str:
    """Return the part of the check that runs the cases, with its sentences in the learner's language."""
    fine, wrong = say("same", "as in the course"), say("different", "DIFFERENT")
    total = say("total", "{same} of {all} pieces compute what the course's own code computes.", same="{0}", all="{1}")
    return f"""different = []
for name, case, given, expected in cases:
    try:
        outcome = {fine!r} if same(plain(case(*given)), expected) else {wrong!r}
    except Exception as error:
        outcome = f"{{type(error).__name__}}: {{error}}"
    if outcome != {fine!r}:
        different.append(name)
    print(f"{{name:24}} {{outcome}}")
print({total!r}.format(len(cases) - len(different), len(cases)))
return different"""
