"""The claims of the course: expressions that must be true in a run of the lesson, each right after its step."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lessons.engine.run import Run
from lessons.engine.session import Session
from lessons.format import template
from lessons.format.lesson import Lesson, RunningStep, Step
from lessons.reading import loader
from lessons.reading.findings import Finding
from lessons.reading.yaml_nodes import locate, position_of


def run_with_claims(lesson: Lesson, session: Session) -> Run:
    """Run a lesson and evaluate its claims on the way; the caller closes the run. Raises `WorkerError`."""
    return session.run(lesson.model_copy(update={"steps": tuple(map(_with_claims, lesson.steps))}))


def findings(lesson: Lesson, run: Run) -> Iterator[Finding]:
    """Find claims of a lesson that was loaded from a folder which do not hold in its run by `run_with_claims`."""
    root = loader.read_nodes(lesson)
    for path, problem, remedy in complaints(lesson, run):
        yield Finding(*position_of(locate(root, path)[1].start_mark), problem, remedy)


def complaints(lesson: Lesson, run: Run) -> Iterator[tuple[tuple[int | str, ...], str, str]]:
    """Yield claims that do not hold in a run by `run_with_claims`, as path, problem and remedy."""
    for position, step in enumerate(lesson.steps):
        result = run.result(step.id)
        if result is not None and result.error is not None:
            yield ("steps", position), f"the step does not run: {result.error.message}", "Mend its code, or its claims."
        elif result is not None and isinstance(step, RunningStep):
            for number, claim in enumerate(step.claims):
                if json.loads(result.text[template.fact(_truth(claim)).key]) is not True:
                    yield ("steps", position, "claims", number), f"this is not true: {claim}", "Mend it, or the prose."


def _truth(claim: str) -> str:
    return f"bool({claim.strip()})"


def _with_claims(step: Step) -> Step:
    """Return a copy of a step whose run also evaluates its claims."""
    if not isinstance(step, RunningStep) or not step.claims:
        return step
    facts = (*step.facts, *map(_truth, step.claims))
    claiming = type("Claiming", (type(step),), {"facts": property(lambda _: facts)})
    return claiming.model_construct(**dict(step))  # type: ignore[attr-defined, no-any-return]
