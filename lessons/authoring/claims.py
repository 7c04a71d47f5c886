"""The claims of the course: expressions that a run must make true, evaluated where they stand in the lesson."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lessons.engine.session import Session
from lessons.format import template
from lessons.format.lesson import Lesson, RunningStep, Step
from lessons.reading import loader
from lessons.reading.yaml_nodes import Finding, locate, position_of


def findings(lesson: Lesson, session: Session) -> Iterator[Finding]:
    """Find claims that do not hold in a run of a lesson that was loaded from a folder. Raises `WorkerError`."""
    root = loader.read_nodes(lesson)
    for path, problem, remedy in complaints(lesson, session):
        yield Finding(*position_of(locate(root, path)[1].start_mark), problem, remedy)


def complaints(lesson: Lesson, session: Session) -> Iterator[tuple[tuple[int | str, ...], str, str]]:
    """Yield claims that do not hold in a run of a lesson, as path, problem and remedy. Raises `WorkerError`."""
    run = session.run(lesson.model_copy(update={"steps": tuple(map(_with_claims, lesson.steps))}))
    run.close()
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
    claiming = type("Claiming", (type(step),), {"facts": property(lambda self: tuple(map(_truth, self.claims)))})
    return claiming.model_construct(**dict(step))  # type: ignore[attr-defined, no-any-return]
