"""The claims of the course: expressions that must be true in a run of the lesson, each right after its step."""

from __future__ import annotations

import json
from collections.abc import Iterator

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.base_steps import Complaint, Path
from attn_tutor.lessons.format.lesson import (
    SETUP,
    Lesson,
    ReadStep,
    Step,
)
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.findings import Finding
from attn_tutor.lessons.reading.yaml_nodes import place_of
from attn_tutor.lessons.results.result import Failure

BEFORE = "before-the-steps"
"""The id of an empty step with which a run begins, so that a setup that fails is not taken for the first step."""


def run_with_claims(lesson: Lesson, session: Session) -> Run:
    """Run a lesson and evaluate its claims on the way; the caller closes the run. Raises `WorkerError`."""
    before = ReadStep(kind="read", id=BEFORE, title="...", prose="...")
    return session.run(lesson.model_copy(update={"steps": (before, *map(_with_claims, lesson.steps))}))


def failures(lesson: Lesson, run: Run) -> Iterator[Finding]:
    """Find what keeps a lesson that was loaded from a folder from running, in its run by `run_with_claims`."""
    root = loader.read_nodes(lesson)
    for path, problem, remedy in _failures(lesson, run):
        yield Finding(*place_of(root, path), problem, remedy)


def findings(lesson: Lesson, run: Run) -> Iterator[Finding]:
    """Find claims of a lesson that was loaded from a folder which do not hold in its run by `run_with_claims`."""
    root = loader.read_nodes(lesson)
    for path, problem, remedy in complaints(lesson, run):
        yield Finding(*place_of(root, path), problem, remedy)


def complaints(lesson: Lesson, run: Run) -> Iterator[Complaint]:
    """Yield claims that do not hold in a run by `run_with_claims`, as path, problem and remedy."""
    yield from _failures(lesson, run)
    for position, step in enumerate(lesson.steps):
        result = run.result(step.id)
        if result is not None and result.error is None:
            for number, claim in enumerate(step.claimed):
                if json.loads(result.text[template.fact(_truth(claim)).key]) is not True:
                    yield ("steps", position, "claims", number), f"this is not true: {claim}", "Mend it, or the prose."


def _failures(lesson: Lesson, run: Run) -> Iterator[Complaint]:
    """Yield the failure at which a run ended, if it failed. What comes after it did not run."""
    before = run.result(BEFORE)
    if before is not None and before.error is not None:
        yield (SETUP, before.error.line or 1), f"the setup does not run: {before.error.message}", "Mend its code."
    for position, step in enumerate(lesson.steps):
        result = run.result(step.id)
        if result is not None and result.error is not None:
            yield _failed(("steps", position), step, result.error)


def _failed(path: Path, step: Step, failure: Failure) -> Complaint:
    """Return where a step does not run, what is wrong, and a remedy: at the expression that fails, if it is one."""
    message = failure.message
    for inside, field, source in _expressions(step):
        beginning, found, why = message.partition(f"{{{field.key}}}")
        if found and not beginning:
            why = why.partition(": ")[2] or why
            return (*path, *inside), f"this cannot be computed: {source}: {why}", "Mend it, or the code of the step."
    for inside, shown in step.tensors_with_paths:
        if message.startswith(f"{shown.name} "):
            return (*path, *inside), message, "Show what the code has made, by its name there."
    at = (*path, "code", failure.line) if step.runs and failure.line else path
    return at, f"the step does not run: {message}", "Mend its code."


def _expressions(step: Step) -> Iterator[tuple[Path, template.Field, str]]:
    """Yield the expressions of a step that its run computes: path in the step, field, and the text in the file."""
    for number, claim in enumerate(step.claimed):
        yield ("claims", number), template.fact(_truth(claim)), claim
    for text in step.learner_texts:
        for field in template.fields(text.text) if text.text in step.templates else ():
            source = f"{{{field.key}}}"
            yield (*text.path, text.text.partition(source)[0].count("\n") + 1), field, source
    for path, expression in step.facts_with_paths:
        yield path, template.fact(expression), expression


def _truth(claim: str) -> str:
    return f"bool({claim.strip()})"


def _with_claims(step: Step) -> Step:
    """Return a copy of a step whose run also evaluates its claims."""
    if not step.claimed:
        return step
    facts = (*step.facts, *map(_truth, step.claimed))
    claiming = type("Claiming", (type(step),), {"facts": property(lambda _: facts)})
    return claiming.model_construct(**dict(step))  # type: ignore[attr-defined, no-any-return]
