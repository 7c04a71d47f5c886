"""Proofs of exercises: what an author relies on, checked by running it. `attn-tutor lint` reports each failure.

The starter fails, the model answer passes with ten seeds, every listed mistake fails and is named as itself, every
accepted variant passes, cheats fail, and no hint contains a line of the model answer. A question is checked against the
results of a run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from attn_tutor.lessons.authoring import claims
from attn_tutor.lessons.engine import scratch_run
from attn_tutor.lessons.engine.judging import JudgeAnswer
from attn_tutor.lessons.engine.questions import answering, experiment_judging, question_facts
from attn_tutor.lessons.engine.questions.answer_forms import judge, problems_of, right_answer
from attn_tutor.lessons.engine.questions.question_facts import Index, names_of
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Exercise, ExerciseStep, ExperimentStep, Lesson, Question
from attn_tutor.lessons.reading import line_exercises, loader, mistake_edits, yaml_nodes
from attn_tutor.lessons.reading.findings import Finding
from attn_tutor.lessons.results import explanation_tree
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.result import Judgement, StepResult, WorkerError
from attn_tutor.lessons.results.tensor_questions import FlowQuestion

SEED, ROUNDS = 1, 10
"""The first seed of the hidden inputs, which is fixed so that failures can be reproduced, and the number of seeds."""

SHORTEST_LINE = 12
"""The least number of characters in a line of a model answer that a hint must not contain."""

BLANK = "…"
"""The placeholder in a message for a value that could not be computed."""

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

for name in [name for name in sys.modules if name.partition(".")[0] == "attn_tutor"]:
    vars(sys.modules.pop(name)).clear()
gc.collect()

{starter}
""",
}


@dataclass
class Proof:
    """The result of proving an exercise.

    Attributes:
        exercise: the id of the exercise.
        solution: how many of the seeds the model answer passes.
        seeds: how many seeds were tried.
        mistakes: whether each listed mistake fails and is named as itself.
        accepted: whether each accepted variant passes.
        cheats: whether each cheat fails.
        findings: what is wrong.
    """

    exercise: str
    solution: int = 0
    seeds: int = 0
    mistakes: dict[str, bool] = field(default_factory=dict)
    accepted: dict[str, bool] = field(default_factory=dict)
    cheats: dict[str, bool] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


Report = Callable[[tuple[int | str, ...], str, str], None]
"""Adds a finding: path in the exercise, problem, remedy."""


def prove_exercise(lesson: Lesson, step: ExerciseStep, session: Session) -> Proof:
    """Prove an exercise of a lesson, as far as its hidden inputs can be made and its model answer runs on them."""
    proof = Proof(step.exercise)
    report = _reporter(proof, lesson, step)
    try:
        with session.judge_on_same_inputs(step, SEED):
            pass
    except WorkerError as error:
        report(("context",), f"the hidden inputs cannot be made. {error}", "Mend this code.")
        return proof
    try:
        _prove_code(step, session, proof, report)
        if step.attempt and not proof.findings:
            _prove_attempt(lesson, step, session, report)
    except WorkerError as error:
        report((), str(error), "Mend its 'probe' or its 'solution'.")
    return proof


def prove_question(lesson: Lesson, step: Question, run: Run) -> Proof:
    """Prove a question: in a run of its lesson its right answer passes, and the feedback on wrong ones makes sense."""
    proof = Proof(step.exercise)
    report = _reporter(proof, lesson, step)
    result = run.result(step.id)
    if result is None or result.error is not None:
        # It is told in the words in which those of the lesson are told, so that it is told once.
        proof.findings += claims.failures(lesson, run) if lesson.folder else ()
        if not proof.findings:
            error = next((item.error for item in run.steps if item.error), None)
            report((), f"the lesson does not run so far: {error.message if error else 'it ended'}", "Mend its code.")
        return proof
    for path, problem in problems_of(step, result):
        report(path, problem, "Mend the question.")
    proof.seeds = 1
    try:
        proof.solution = int(judge(step, result, right_answer(step, result)).passed)
    except WorkerError as error:
        if not proof.findings:
            report((), str(error), "Mend the question.")
        return proof
    if not proof.solution:
        report((), "its own right answer does not pass", "Mend the question.")
    else:
        (_prove_box if step.answer_form == "box" else _prove_start)(step, result, run, report)
    return proof


MOST_EXPLAINED = 2000
"""Numbers behind the start of a find that are looked through."""


def _prove_start(step: Question, result: StepResult, run: Run, report: Report) -> None:
    """Report a find whose answer is not met on the way down from the number at which it starts."""
    cell, start = step.starting_cell, step.explained_from
    if cell is None:
        return
    tree = explanation_tree.grow(run, CodeUnit.step(step.id), *cell, most=MOST_EXPLAINED, once=True)
    if not isinstance(tree, explanation_tree.Node):
        report(("start",), f"{start} cannot be explained: {tree or 'the worker is gone'}", "Start elsewhere.")
        return
    right = set(question_facts.right_cells(step, result))
    met: set[Index] = set()
    for node, _ in explanation_tree.walk(tree):
        met |= set((node.explanation.lit or {}).get(step.pointed_at, ()))
        if node.explanation.name == step.pointed_at:
            met.add(node.explanation.index)
    if not met & right:
        report(("start",), f"explaining {start} never leads to the right {step.answer_form}", "Start elsewhere.")


def _prove_box(step: Question, result: StepResult, run: Run, report: Report) -> None:
    """Report boxes that the flow does not have, among the right and the wrong ones."""
    flow = run.ask(FlowQuestion(unit=CodeUnit.step(step.id)))
    known = {box.name for box in flow.boxes} if isinstance(flow, Flow) else set()
    for name in dict.fromkeys(name for fact in question_facts.read_facts(step, result) for name in names_of(fact)):
        if name not in known:
            report(("answer",), f"the flow has no box '{name}'", f"Its boxes: {', '.join(sorted(known)) or 'none'}.")


def prove_experiment(lesson: Lesson, step: ExperimentStep, session: Session) -> Proof:
    """Prove an experiment: each proof of a way is told as that way. Raises `WorkerError` if nothing can be run."""
    proof = Proof(step.exercise)
    report = _reporter(proof, lesson, step)
    for position, way in enumerate(step.ways):
        kept = True
        for number, text in enumerate(way.proof):
            path = ("ways", position, "proof", number)
            made = experiment_judging.read(lesson, step, text.replace(";", "\n"))
            if isinstance(made, Judgement):
                kept = False
                report(path, made.message, "Mend the change.")
                continue
            result = answering.result_of(session, lesson, step, made)
            if result.error is not None and (failures := _failures_unchanged(lesson, session)):
                # No change is to blame, and what is has to be told only once.
                return Proof(step.exercise, findings=failures)
            found = experiment_judging.way_of(step, made, result)
            judgement = experiment_judging.judge(step, made, result)
            if found is not way:
                kept = False
                what = f"is told as '{found.id}'" if found else f"is not told as a way ({judgement.message})"
                report(path, f"'{text}' {what}", "Tell the two apart, or mend the change.")
            elif BLANK in judgement.message:
                kept = False
                report((*path[:2], "why"), f"it has a gap: {judgement.message}", "Use what the changed run has.")
        if way.right:
            proof.seeds, proof.solution = proof.seeds + 1, proof.solution + int(kept)
        else:
            proof.mistakes[way.id] = kept
    return proof


def _failures_unchanged(lesson: Lesson, session: Session) -> list[Finding]:
    """Return what keeps a lesson from running as it stands, if it was loaded from a folder."""
    if not lesson.folder:
        return []
    with closing(claims.run_with_claims(lesson, session)) as run:
        return list(claims.failures(lesson, run))


def _reporter(proof: Proof, lesson: Lesson, step: Exercise) -> Report:
    root, position = loader.read_nodes(lesson) if lesson.folder else None, lesson.index(step.id)

    def report(path: tuple[int | str, ...], problem: str, remedy: str) -> None:
        where = ("", 1, 1)
        if root is not None:
            where = yaml_nodes.place_of(root, ("steps", position, *path))
        proof.findings.append(Finding(*where, f"exercise '{proof.exercise}': {problem}", remedy))

    return report


def _prove_code(step: ExerciseStep, session: Session, proof: Proof, report: Report) -> None:
    # Whoever relies on an answer being right relies on more inputs than one that is wrong has to fail on.
    with (
        session.judge_on_same_inputs(step, SEED) as judge_wrong,
        session.judge_on_same_inputs(step, SEED, ROUNDS) as judge_right,
    ):
        proof.seeds = ROUNDS
        right = judge_right(step.solution)
        if right.verdict not in ("passed", "failed"):
            # No other answer can be compared with what a model answer gives that does not run.
            _report_failure(step, right, report)
            return
        if starter_passes := judge_wrong(step.starter).passed:
            report(("starter",), "the starter passes", "Take something out of it that the learner is to write.")
        if right.passed:
            proof.solution = ROUNDS
        else:
            checks = (
                session.check(step, step.solution, SEED + position, 1, diagnosis="none") for position in range(ROUNDS)
            )
            proof.solution = sum(judgement.passed for judgement in checks)
            if not proof.solution:
                # Then other right answers are refused too, and mistakes for the same reason as the model answer.
                _report_check(right, report)
                return
            report(("solution",), f"the model answer does not pass: {_verdict_text(right)}", "Mend it, or the checks.")
        _prove_mistakes(step, judge_wrong, proof, report)
        _prove_accepted(step, judge_right, proof, report)
        for name, cheat, path in _cheats(step):
            proof.cheats[name] = not judge_wrong(cheat).passed
            # A cheat that contains a starter which passes is no finding of its own.
            if not proof.cheats[name] and not (starter_passes and step.starter in cheat):
                report(path, f"the cheat '{name}' passes", "Check what it leaves out.")
    for position, problem in _revealing_hints(step):
        report(("hints", position), problem, "Say where to look, and leave the line to the learner.")


def _report_failure(step: ExerciseStep, right: Judgement, report: Report) -> None:
    """Report a model answer that does not run: at its line, or in the probe if that is what fails."""
    if right.verdict == "error" and not right.line:
        # What an answer would read begins with words to a learner.
        why = right.message.partition(": ")[2] or right.message
        if line_exercises.has_shared_probe(step):
            problem = f"the model answer does not take what 'context' holds: {why}"
            report(("context",), problem, "Give 'context' one entry for each argument, by its name.")
            return
        report(("probe",), f"the probe fails on the model answer: {why}", "Mend it, or the 'solution'.")
        return
    report(("solution", right.line or 1), f"the model answer does not run: {_reason(right)}", "Mend it.")


def _report_check(right: Judgement, report: Report) -> None:
    """Report a model answer that passes with no input: at the check that refuses it."""
    number, check = next((number, each) for number, each in enumerate(right.checks) if not each.passed)
    problem = f"the model answer does not pass: {check.name}: {check.message}"
    report(("checks", number, "test"), problem, "Mend this check, or the 'solution'.")


def _prove_accepted(step: ExerciseStep, judge: JudgeAnswer, proof: Proof, report: Report) -> None:
    for position, variant in enumerate(step.accepted):
        answer = mistake_edits.variant_code(step, variant)
        judgement = judge(answer) if answer is not None else None
        proof.accepted[variant.name] = judgement is not None and judgement.passed
        if judgement is None:
            missing = mistake_edits.not_found(step.solution, [(edit.find, edit.replace) for edit in variant.edits])
            report(("accepted", position, "edits"), _unfit(f"'{variant.name}'", missing), _REMEDY_OF_UNFIT)
        elif not judgement.passed:
            report(
                ("accepted", position),
                f"'{variant.name}' is refused: {_verdict_text(judgement)}",
                "Mend it, or the checks.",
            )


def _prove_mistakes(step: ExerciseStep, judge: JudgeAnswer, proof: Proof, report: Report) -> None:
    for position, mistake in enumerate(step.mistakes):
        path = ("mistakes", position)
        proof.mistakes[mistake.id] = False
        code = mistake_edits.with_mistake(step, mistake)
        if code is None:
            if len(mistake.edits) == 1:
                missing = mistake_edits.not_found(
                    step.solution, [(each.find, each.replace) for each in mistake.edits[0]]
                )
                report((*path, "edits"), _unfit(f"the mistake '{mistake.id}'", missing), _REMEDY_OF_UNFIT)
            else:
                problem = f"the mistake '{mistake.id}' cannot be made in the model answer"
                report(path, problem, "Give it edits or code here.")
            continue
        judgement = judge(code, "mistakes")
        named = "+".join(item.id for item in judgement.mistakes)
        if judgement.passed:
            report(path, f"the mistake '{mistake.id}' passes", "Add a check that sees it.")
        elif named != mistake.id:
            what = f"is named '{named}'" if named else f"is not named ({_verdict_text(judgement)})"
            report(path, f"the mistake '{mistake.id}' {what}", "Tell the two apart, or keep one of them.")
        elif any(BLANK in check.message for check in judgement.checks):
            text = next(check.message for check in judgement.checks if BLANK in check.message)
            report(path, f"a message about the mistake '{mistake.id}' has a gap: {text}", "Mend the check's 'fail'.")
        else:
            proof.mistakes[mistake.id] = True


_REMEDY_OF_UNFIT = "Copy the text from the 'solution', spaces too."


def _unfit(what: str, missing: str) -> str:
    """Say why edits do not fit the model answer."""
    why = f"'{missing}' is not in it" if missing else "they change nothing"
    return f"{what} cannot be made in the model answer: {why}"


def _prove_attempt(lesson: Lesson, step: ExerciseStep, session: Session, report: Report) -> None:
    """Report an `attempt` that fails on the model answer, if the lesson runs so far."""
    _, run = scratch_run.run(session, lesson, step, step.solution)
    run.close()
    *before, result = run.steps
    if result.error is not None and not any(each.error for each in before):
        line = (result.error.line or 0) - scratch_run.lines_before_call(step.solution)
        problem = f"'attempt' fails on the model answer and the lesson's own values: {result.error.message}"
        report(("attempt", max(line, 1)), problem, "Use what the steps before have made.")


def _verdict_text(judgement: Judgement) -> str:
    return f"{judgement.verdict}, {_reason(judgement)}"


def _reason(judgement: Judgement) -> str:
    return judgement.message + (f" (line {judgement.line})" if judgement.line else "")


# Cheats --------------------------------------------------------------------------------------------------------------


def _cheats(step: ExerciseStep) -> Iterator[tuple[str, str, tuple[int | str, ...]]]:
    """Yield answers that must not pass: name, code, and the path to report."""
    for name, code in CHEATS.items():
        yield name, code.replace("{starter}", step.starter), ("checks",)
    yield "constants", _constant_answer(step), ("checks",)
    if (repeating := _first_result_again(step)) is not None:
        yield "the first answer again and again", repeating, ("checks",)
    for position, cheat in enumerate(step.cheats):
        yield cheat.name, mistake_edits.variant_code(step, cheat) or "", ("cheats", position)


def _constant_answer(step: ExerciseStep) -> str:
    """Write an answer whose functions return zeros and whose classes return their input."""
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


def _first_result_again(step: ExerciseStep) -> str | None:
    """Write the model answer so that each callable returns its first result forever; None if that is legal."""
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


def _revealing_hints(step: ExerciseStep) -> Iterator[tuple[int, str]]:
    """Find hints that contain a line of the model answer which the starter does not have."""
    known_lines = {_without_spaces(line) for line in step.starter.splitlines()}
    revealing = [
        line.strip()
        for line in step.solution.splitlines()
        if len(_without_spaces(line)) >= SHORTEST_LINE
        and _without_spaces(line) not in known_lines
        and not line.strip().startswith(("import", "from", "def", "#"))
    ]
    for position, hint in enumerate(step.hints):
        for line in revealing:
            if _without_spaces(line) in _without_spaces(hint):
                yield position, f"hint {position + 1} holds a line of the model answer: {line}"


def _without_spaces(text: str) -> str:
    return "".join(text.split())
