"""What an author is promised of an exercise, proved by running it: `attn-tutor lint` tells every promise not kept.

The starter fails, the model answer passes under ten seeds, every listed mistake fails and is named as itself, every
accepted variant passes, cheats fail, hints do not give the model answer away.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import yaml

from lessons.authoring.question_complaints import complaints
from lessons.engine.question_judging import judge
from lessons.engine.question_words import right_answer
from lessons.engine.session import Session
from lessons.format.lesson import Exercise, ExerciseStep, Lesson, Question
from lessons.reading import loader, mistake_edits, yaml_nodes
from lessons.reading.yaml_nodes import Finding
from lessons.results.result import Judgement, WorkerError

SEED, SEEDS = 1, 10
"""The hidden inputs of a proof are the same each time: what it finds can be found again."""

SHORTEST_LINE = 12
"""Shorter lines of a model answer give nothing away in a hint."""

BLANK = "…"
"""What stands in a message for a value that could not be had."""

CHEATS = {
    "an empty file": "\n",
    "sys.exit(0)": "import sys\n\nsys.exit(0)\n",
    "os._exit(0)": "import os\n\nos._exit(0)\n",
    "a patched comparison": """
import torch

torch.allclose = torch.equal = lambda *args, **kwargs: True
torch.Tensor.__eq__ = lambda self, other: torch.ones(self.shape, dtype=torch.bool)

{starter}
print("All checks pass.")
""",
    "deleting the checker": """
import gc, sys

for name in [name for name in sys.modules if name.partition(".")[0] == "lessons"]:
    vars(sys.modules.pop(name)).clear()
gc.collect()

{starter}
""",
}


@dataclass
class Proof:
    """What was promised of an exercise, and what was kept: names of mistakes, variants and cheats, and findings."""

    exercise: str
    solution: int = 0
    seeds: int = 0
    mistakes: dict[str, bool] = field(default_factory=dict)
    accepted: dict[str, bool] = field(default_factory=dict)
    cheats: dict[str, bool] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


Say = Callable[[tuple[int | str, ...], str, str], None]
"""Adds a finding: where in the exercise, what, and what to do."""


def prove(lesson: Lesson, step: Exercise, session: Session) -> Proof:
    """Prove an exercise of a lesson. Raises `WorkerError` if nothing can be run."""
    proof = Proof(step.exercise)
    say = _sayer(proof, loader.nodes(lesson) if lesson.folder else None, lesson.index(step.id))
    if isinstance(step, ExerciseStep):
        _prove_code(step, session, proof, say)
    else:
        _prove_question(lesson, step, session, proof, say)
    return proof


def _sayer(proof: Proof, root: yaml.Node | None, position: int) -> Say:
    def say(path: tuple[int | str, ...], problem: str, remedy: str) -> None:
        where = ("", 1, 1)
        if root is not None:
            where = yaml_nodes.place(yaml_nodes.locate(root, ("steps", position, *path))[1].start_mark)
        proof.findings.append(Finding(*where, f"exercise '{proof.exercise}': {problem}", remedy))

    return say


def _prove_code(step: ExerciseStep, session: Session, proof: Proof, say: Say) -> None:
    def judge(code: str, rounds: int = 2) -> Judgement:
        return session.check(step, code, SEED, rounds, diagnosis="none")

    if judge(step.starter).passed:
        say(("starter",), "the starter passes", "Take something out of it that the learner is to write.")
    proof.seeds = SEEDS
    right = judge(step.solution, SEEDS)
    if right.passed:
        proof.solution = SEEDS
    else:
        checks = (session.check(step, step.solution, SEED + place, 1, diagnosis="none") for place in range(SEEDS))
        proof.solution = sum(judgement.passed for judgement in checks)
        say(("solution",), f"the model answer does not pass: {_told(right)}", "Mend it, or the checks.")
    _prove_mistakes(step, session, proof, say)
    for place, variant in enumerate(step.accepted):
        answer = mistake_edits.variant(step, variant)
        judgement = judge(answer, SEEDS) if answer is not None else None
        proof.accepted[variant.name] = judgement is not None and judgement.passed
        if judgement is None:
            say(("accepted", place), f"'{variant.name}' does not fit the model answer", "Mend its edits.")
        elif not judgement.passed:
            say(("accepted", place), f"'{variant.name}' is refused: {_told(judgement)}", "Mend it, or the checks.")
    for name, cheat, path in _cheats(step):
        proof.cheats[name] = not judge(cheat).passed
        if not proof.cheats[name]:
            say(path, f"the cheat '{name}' passes", "Check what it leaves out.")
    for place, problem in _loose_hints(step):
        say(("hints", place), problem, "Say where to look, and leave the line to the learner.")


def _prove_question(lesson: Lesson, step: Question, session: Session, proof: Proof, say: Say) -> None:
    """The right answer passes, and what the run gives makes sense of every wrong one."""
    run = session.run(lesson, step.id)
    run.close()
    result = run.result(step.id)
    if result is None or result.error is not None:
        error = next((item.error for item in run.steps if item.error), None)
        say((), f"the lesson does not run so far: {error.message if error else 'it ended'}", "Mend its code.")
        return
    for problem in complaints(step, result):
        say((), problem, "Mend the question.")
    proof.seeds = 1
    try:
        proof.solution = int(judge(step, result, right_answer(step, result)).passed)
    except WorkerError as error:
        say((), str(error), "Mend the question.")
        return
    if not proof.solution:
        say((), "its own right answer does not pass", "Mend the question.")


def _prove_mistakes(step: ExerciseStep, session: Session, proof: Proof, say: Say) -> None:
    for place, mistake in enumerate(step.mistakes):
        path = ("mistakes", place)
        proof.mistakes[mistake.id] = False
        code = mistake_edits.alone(step, mistake)
        if code is None:
            say(path, f"the mistake '{mistake.id}' cannot be made in the model answer", "Give it edits or code here.")
            continue
        judgement = session.check(step, code, SEED, diagnosis="mistakes")
        named = "+".join(item.id for item in judgement.mistakes)
        if judgement.passed:
            say(path, f"the mistake '{mistake.id}' passes", "Add a check that sees it.")
        elif named != mistake.id:
            what = f"is named '{named}'" if named else f"is not named ({_told(judgement)})"
            say(path, f"the mistake '{mistake.id}' {what}", "Tell the two apart, or keep one of them.")
        elif any(BLANK in check.message for check in judgement.checks):
            text = next(check.message for check in judgement.checks if BLANK in check.message)
            say(path, f"a message about the mistake '{mistake.id}' has a gap: {text}", "Mend the check's 'fail'.")
        else:
            proof.mistakes[mistake.id] = True


def _told(judgement: Judgement) -> str:
    where = f" (line {judgement.line})" if judgement.line else ""
    return f"{judgement.verdict}, {judgement.message}{where}"


# Cheats --------------------------------------------------------------------------------------------------------------


def _cheats(step: ExerciseStep) -> Iterator[tuple[str, str, tuple[int | str, ...]]]:
    """Answers that must not pass: name, code, and where in the exercise they stand."""
    for name, code in CHEATS.items():
        yield name, code.replace("{starter}", step.starter), ("checks",)
    yield "constants", _constant(step), ("checks",)
    if (remembering := _remembering(step)) is not None:
        yield "the first answer again and again", remembering, ("checks",)
    for place, cheat in enumerate(step.cheats):
        yield cheat.name, mistake_edits.variant(step, cheat) or "", ("cheats", place)


def _constant(step: ExerciseStep) -> str:
    """An answer whose functions return zeros, and whose classes give back what they are given."""
    parts = ["import torch\nfrom torch import nn\n"]
    for name in step.defines:
        if isinstance(_definition(step, name), ast.ClassDef):
            parts.append(
                f"class {name}(nn.Module):\n    def __init__(self, *args, **kwargs):\n        super().__init__()\n\n"
                "    def forward(self, x, *args):\n        return x\n"
            )
        else:
            parts.append(f"def {name}(*args, **kwargs):\n    return torch.zeros(6, 6)\n")
    return "\n\n".join(parts)


def _remembering(step: ExerciseStep) -> str | None:
    """The model answer, but whatever is called gives what it gave first; None if it takes nothing that may differ."""
    parts = [step.solution]
    for name in step.defines:
        node = _definition(step, name)
        if isinstance(node, ast.ClassDef):
            parts.append(
                f"class {name}({name}):\n    def forward(self, *args):\n        if not hasattr(self, 'first'):\n"
                "            self.first = super().forward(*args)\n        return self.first\n"
            )
        elif isinstance(node, ast.FunctionDef) and (node.args.args or node.args.vararg):
            parts.append(
                f"_real_{name}, _first_{name} = {name}, []\n\n\ndef {name}(*args, **kwargs):\n"
                f"    if not _first_{name}:\n        _first_{name}.append(_real_{name}(*args, **kwargs))\n"
                f"    return _first_{name}[0]\n"
            )
    return "\n\n".join(parts) if len(parts) > 1 else None


def _definition(step: ExerciseStep, name: str) -> ast.stmt | None:
    body = ast.parse(step.solution).body
    return next((node for node in body if getattr(node, "name", None) == name), None)


# Hints ---------------------------------------------------------------------------------------------------------------


def _loose_hints(step: Exercise) -> Iterator[tuple[int, str]]:
    """Hints with a line of the model answer in them that the starter does not have."""
    if not isinstance(step, ExerciseStep):
        return
    known_lines = {_squeezed(line) for line in step.starter.splitlines()}
    telling = [
        line
        for line in map(_squeezed, step.solution.splitlines())
        if len(line) >= SHORTEST_LINE
        and line not in known_lines
        and not line.startswith(("import", "from", "def", "#"))
    ]
    for place, hint in enumerate(step.hints):
        for line in telling:
            if line in _squeezed(hint):
                yield place, f"hint {place + 1} holds a line of the model answer: {line}"


def _squeezed(text: str) -> str:
    return "".join(text.split())
