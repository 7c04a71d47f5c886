"""The claims of the course: expressions that must be true in a run of the lesson, each right after its step."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lessons.engine.run import Run
from lessons.engine.session import Session
from lessons.format import template
from lessons.format.lesson import FindStep, Lesson, PointStep, PredictStep, RunningStep, Step
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
            yield _failed(("steps", position), step, result.error.message)
        elif result is not None and isinstance(step, RunningStep):
            for number, claim in enumerate(step.claims):
                if json.loads(result.text[template.fact(_truth(claim)).key]) is not True:
                    yield ("steps", position, "claims", number), f"this is not true: {claim}", "Mend it, or the prose."


def _failed(path: tuple[int | str, ...], step: Step, message: str) -> tuple[tuple[int | str, ...], str, str]:
    """Return where a step does not run, what is wrong, and a remedy: at the expression that fails, if it is one."""
    for inside, field, source in _expressions(step):
        beginning, found, why = message.partition(f"{{{field.key}}}")
        if found and not beginning:
            why = why.partition(": ")[2] or why
            return (*path, *inside), f"this cannot be computed: {source}: {why}", "Mend it, or the code of the step."
    return path, f"the step does not run: {message}", "Mend its code, or its claims."


def _expressions(step: Step) -> Iterator[tuple[tuple[int | str, ...], template.Field, str]]:
    """Yield the expressions of a step that its run computes: path in the step, field, and the text in the file."""
    if isinstance(step, RunningStep):
        for number, claim in enumerate(step.claims):
            yield ("claims", number), template.fact(_truth(claim)), claim
    for field in template.fields(step.prose):
        yield ("prose",), field, f"{{{field.key}}}"
    if isinstance(step, PredictStep | FindStep):
        yield ("answer",), template.fact(step.answer), step.answer
    if isinstance(step, PredictStep | FindStep | PointStep):
        for number, wrong in enumerate(step.wrong):
            yield ("wrong", number, "is"), template.fact(wrong.answer), wrong.answer


def _truth(claim: str) -> str:
    return f"bool({claim.strip()})"


def _with_claims(step: Step) -> Step:
    """Return a copy of a step whose run also evaluates its claims."""
    if not isinstance(step, RunningStep) or not step.claims:
        return step
    facts = (*step.facts, *map(_truth, step.claims))
    claiming = type("Claiming", (type(step),), {"facts": property(lambda _: facts)})
    return claiming.model_construct(**dict(step))  # type: ignore[attr-defined, no-any-return]
