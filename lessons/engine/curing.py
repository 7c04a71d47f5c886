"""Naming what is wrong with an answer: by edits that undo it, and by what the message of an exception suggests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from attn_tutor.lessons.engine import judge_children, repairing
from attn_tutor.lessons.engine.judge_children import Answer, Child, Request
from attn_tutor.lessons.engine.launching.launchers import ChildProcess
from attn_tutor.lessons.reading import mistake_edits
from attn_tutor.lessons.reading.giving_away import gives_away, is_a_name
from attn_tutor.lessons.reading.operations import may_make, words_of
from attn_tutor.lessons.reading.repair_kinds import ADDING, outcome_of
from attn_tutor.lessons.reading.statements import Statement, statements_of
from attn_tutor.lessons.results.result import Judgement, NamedMistake, WorkerError
from attn_tutor.lessons.worker.judging_messages import (
    CompareResults,
    ComparisonReport,
    HiddenInputs,
    Recognition,
    Recognize,
    RepairReport,
)


def with_repair(
    judgement: Judgement,
    judge: ChildProcess,
    hidden: HiddenInputs,
    request: Request,
    child: Child,
    answer: Answer,
) -> Judgement:
    """Tell the lines and, unless it has one, the name of a mistake that an edit of the answer undoes."""
    exercise, words = request.exercise, words_of(request.code.decode(errors="replace"))
    known = tuple(
        mistake
        for mistake in map(mistake_edits.KnownMistake.of, exercise.mistakes)
        if (code := mistake.apply_to(exercise.solution)) and may_make(words, code, exercise.solution)
    )

    weighed: dict[tuple[str, bytes], repairing.Judged] = {}

    def weigh(report: RepairReport) -> repairing.Judged:
        key = repr(report.actual), report.blob
        if key not in weighed:
            weighed[key] = newly_weighed(report)
        return weighed[key]

    def newly_weighed(report: RepairReport) -> repairing.Judged:
        decided = judge_children.decide(judge, exercise, Answer(report.actual, report.blob))
        if decided.passed:
            return repairing.Judged(True)
        near = judge_children.ask(judge, Recognize(report.actual, report.blob, known), Recognition)
        passed = tuple(check.name for check in decided.checks if check.passed)
        return repairing.Judged(False, near.found, frozenset((*passed, *near.right)), passed)

    values = None if answer.failure else RepairReport(answer.actual, answer.blob)
    names = frozenset(item.id for item in judgement.mistakes)
    copies = repairing.Copies(exercise, request.own_seed, hidden, child, weigh, values, names)
    try:
        found = repairing.find(request.code.decode(errors="replace"), copies, judgement.line)
        if found.repairs and found.is_later:
            # A copy may disturb later ones in the same process, so what is said has been tried alone.
            copy = found.repairs[0].code.encode()
            alone = judge_children.run(replace(request, code=copy), child, hidden, lambda: False)
            if alone.failure or alone.missing or not _holds(found, weigh(RepairReport(alone.actual, alone.blob))):
                found = repairing.Found()
    except WorkerError:
        # The verdict stands without a diagnosis.
        found = repairing.Found()
    named = _named(judgement.mistakes, found, statements_of(request.code.decode(errors="replace")))
    named += tuple(NamedMistake(item.id, item.name, item.why) for item in exercise.mistakes if item.id == found.leaves)
    lines = [item.line for item in named if item.line]
    # An exception has a line of its own, where it was raised.
    line = judgement.line if judgement.verdict == "error" else next(iter(lines), None)
    difference = judgement.difference
    if found.repairs and difference is not None and difference.line not in lines:
        # What differs first may be another way, and right.
        difference = None
    return replace(judgement, mistakes=named, line=line, difference=difference)


def _holds(found: repairing.Found, judged: repairing.Judged) -> bool:
    """Return whether the edits of an answer do what is said of them."""
    if found.leaves:
        return found.leaves in judged.names
    return {*judged.checks}.issuperset(found.helps) if found.helps else judged.passes


def _named(
    given: tuple[NamedMistake, ...], found: repairing.Found, statements: Sequence[Statement]
) -> tuple[NamedMistake, ...]:
    """Return the mistakes to name, with their lines, after edits have been tried; `given` are those named already."""
    if not given:
        comes = "leaves" if found.leaves else outcome_of(len(found.repairs), helps=bool(found.helps))
        checks = found.helps or ("",) * len(found.repairs)
        return tuple(repair.mistake(comes, check) for repair, check in zip(found.repairs, checks, strict=True))
    if len(found.repairs) == 1:
        repair = found.repairs[0]
        line = repair.lines[0]
        # A line such as `return x` can be made to compute what an earlier one should have.
        plain = repair.kind in ADDING and any(
            item.line <= line <= item.end and not words_of(item.text) for item in statements
        )
        return given if plain else tuple(replace(item, line=line or item.line) for item in given)
    if len(given) == 2:
        # What is left after an edit is one of the two, so the edit is on the line of the other.
        lines = [found.left[other.id].lines[0] if other.id in found.left else None for other in reversed(given)]
        return tuple(replace(item, line=line or item.line) for item, line in zip(given, lines, strict=True))
    return given


def try_suggestions(
    judge: ChildProcess,
    request: Request,
    child: Child,
    hidden: HiddenInputs,
    cancelled: Callable[[], bool],
    answer: Answer,
    *,
    named: bool,
) -> str:
    """Try what the message of a failure suggests. Returns the message with the first suggestion that helps, or "".

    It helps if the answer gets further. If it may run and still be wrong, then the line must also compute a result that
    the model answer has. But it must not be what the exercise asks for; and beside a mistake that is `named`, which
    may be a different one, only a misspelled name is corrected.
    """
    first, first_input = judge_children.short(request, hidden)
    source, models = request.code.decode(errors="replace"), mistake_edits.right_answers(request.exercise)
    for suggestion in answer.suggestions:
        code = suggestion.apply_to(request.code)
        corrects = is_a_name(suggestion.code)
        if code is None or cancelled() or (named and not corrects) or gives_away(suggestion.code, source, models):
            continue
        traced = judge_children.run(replace(first, code=code), child, first_input, cancelled, trace=True)
        if traced.missing or traced.actual is None or not answer.failure:
            continue
        if traced.failure and (traced.failure.kind != "error" or traced.failure.line == answer.failure.line):
            continue
        if not corrects and not traced.failure:
            completed = judge_children.run(replace(request, code=code), child, hidden, cancelled)
            if not completed.failure and judge_children.decide(judge, request.exercise, completed).passed:
                return ""
        if not suggestion.semantic:
            return suggestion.text
        try:
            report = judge_children.ask(judge, CompareResults(traced.actual, traced.blob), ComparisonReport)
        except WorkerError:
            return ""
        if any(item.your_line == answer.failure.line for item in report.intermediates):
            return suggestion.text
    return ""
