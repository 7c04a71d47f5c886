"""The judge of an answer, in a process that never runs the answer and sees only its results, as plain values.

`judge` makes hidden inputs from seeds, waits for the answer's results on them, runs the model answer on the same
inputs, and evaluates the checks. Everything that the learner's process sends is only data, so neither `sys.exit(0)`
nor a patched comparison decides anything. For a wrong answer, `diagnose` compares the results with those of every
known mistake on the same inputs, and `find_difference` finds the first intermediate result that differs.
"""

from __future__ import annotations

import ast
import functools
import math
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import torch

from attn_tutor.lessons.format import template
from attn_tutor.lessons.reading import mistake_edits
from attn_tutor.lessons.reading.mistake_edits import KnownMistake
from attn_tutor.lessons.reading.operations import may_make
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import AnswerComparison, CheckResult, Failure, Intermediate, NamedMistake
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel
from attn_tutor.lessons.worker.advice.scene import may_be_same_operation
from attn_tutor.lessons.worker.jobs import exercise_tools, intermediates, tensor_entries, values
from attn_tutor.lessons.worker.jobs.answer_run import run_own_code
from attn_tutor.lessons.worker.jobs.divergence import Comparison, find_line, line_of_edit
from attn_tutor.lessons.worker.jobs.execute import seed_generators
from attn_tutor.lessons.worker.jobs.intermediates import AnswerTrace, is_mask, match_results
from attn_tutor.lessons.worker.judging_messages import (
    CheckRequest,
    CompareResults,
    Decide,
    Decision,
    Diagnose,
    DiagnosisReport,
    DifferenceReport,
    DifferingPlace,
    FindDifference,
    HiddenInputs,
    Judge,
    MistakeRequest,
    Recognition,
    Recognize,
)

say = Wording("worker/judge")

CONTEXT, SOLUTION, MISTAKE = (CodeUnit.internal(name).filename for name in ("context", "solution", "mistake"))
DIAGNOSIS = 1.0
"""Seconds after which no more pairs of mistakes are tried."""

CLOSE = 1e-4
SAID = "said"

Values = dict[str, Any]
Outcome = tuple[Values | None, Failure | None]
"""The values that a probe got, or the failure."""


@dataclass
class _Case:
    """An exercise and its hidden inputs, with the results of the learner's answer and of the model answer."""

    exercise: Judge
    contexts: list[Values]
    actual: list[Values]
    expected: list[Values]
    theirs: AnswerTrace = field(default_factory=AnswerTrace)
    """The trace of the answer on the first hidden input, empty if it is unknown."""

    outcomes: dict[tuple[str, int], Outcome] = field(default_factory=dict)
    """What each answer of the course's own gave on each hidden input, as far as it has run."""

    traces: dict[str, AnswerTrace] = field(default_factory=dict)
    """The traces of answers of the course's own on the first hidden input, by their code."""

    def outcome(self, code: str, index: int) -> Outcome:
        """Return the outcome of a known mistake on a hidden input. It runs once, however many answers are judged."""
        key = code, index
        if key not in self.outcomes:
            self.outcomes[key] = self.run(code, MISTAKE, index)
        return self.outcomes[key]

    def run(self, code: str, filename: str, index: int) -> Outcome:
        """Run an answer of the course's own on a copy of a hidden input, since it may change its inputs in place."""
        exercise, context = self.exercise, deepcopy(self.contexts[index])
        how = self.seeds[index], self.recorded[index]
        return run_own_code(code, filename, exercise.defines, exercise.probe, context, *how)

    @functools.cached_property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the hidden inputs: those that were asked for, and of a function the first of them once more.

        A function has to give the same without gradients, so where there are several, one more call is without. A
        module has modes, and probes that go backward need gradients: such a probe itself has to try how it is without.
        """
        exercise = self.exercise
        functions = {node.name for node in ast.parse(exercise.solution).body if isinstance(node, ast.FunctionDef)}
        always = "backward" in exercise.probe or not functions.issuperset(exercise.defines)
        return exercise.seeds if always or len(exercise.seeds) == 1 else (*exercise.seeds, exercise.seeds[0])

    @property
    def recorded(self) -> tuple[bool, ...]:
        """For each hidden input, whether gradients are recorded."""
        return tuple(index < len(self.exercise.seeds) for index in range(len(self.seeds)))

    def scope(self, index: int) -> Values:
        """Return the names that checks and templates may use, for one hidden input."""
        got = self.actual[index] if index < len(self.actual) else {}
        parts = {"got": got, "want": self.expected[index], "context": self.contexts[index]}
        return exercise_tools.tools() | {name: exercise_tools.attributes(part) for name, part in parts.items()}


def judge(exercise: Judge, talk: socket.socket) -> None:
    """Make the hidden inputs, then answer questions about the learner's results until the connection is closed."""
    case = _Case(exercise, [], [], [])
    tree, blob = values.encode([_context(exercise.context, number) for number in case.seeds])
    # The course's own code gets what the answer gets, with the same layout in memory.
    case.contexts = values.decode(tree, blob)
    channel.send(talk, HiddenInputs(tree, case.seeds, case.recorded, blob))
    while True:
        question = channel.receive(talk)
        if not case.expected:
            case.expected = [_expected(case, index) for index in range(len(case.seeds))]
        channel.send(talk, HANDLERS[type(question)](case, question))


def _context(code: str, number: int) -> Values:
    namespace = exercise_tools.tools() | {"seed": number}
    seed_generators(number)
    exec(compile(code, CONTEXT, "exec"), namespace)
    context: Values = namespace["context"]
    return context


def _expected(case: _Case, index: int) -> Values:
    expected, failure = case.run(case.exercise.solution, SOLUTION, index)
    if expected is None:
        why = failure.message if failure is not None else None
        raise RuntimeError(say("solution-fails", "the solution of this exercise fails: {why}", why=why))
    return expected


# Deciding ------------------------------------------------------------------------------------------------------------


def decide(case: _Case, question: Decide) -> Decision | Refusal:
    """Evaluate the checks, one by one, on the results of the learner's code."""
    try:
        actual = values.decode(question.actual, question.blob)
        readable = (
            isinstance(actual, list) and len(actual) == len(case.seeds) and all(isinstance(got, dict) for got in actual)
        )
    except (ValueError, KeyError, TypeError):
        readable = False
    if not readable:
        return Refusal("unreadable")
    case.actual = actual
    scopes = [case.scope(index) for index in range(len(case.seeds))]
    results: list[CheckResult] = []
    passed: set[str] = set()
    for check in case.exercise.checks:
        failed: str | None = ""
        # What rests on something wrong tells nothing, so it is not said.
        if passed.issuperset(check.needs):
            told = zip(case.recorded, (_failed(check, scope) for scope in scopes), strict=True)
            failed = next((_where(recorded, message) for recorded, message in told if message is not None), None)
        if failed is None:
            passed.add(check.name)
        results.append(CheckResult(check.name, failed is None, failed or ""))
    return Decision(tuple(results))


def _where(recorded: bool, message: str) -> str:
    """Add to the message of a check that only the last call fails what sets this call apart."""
    if recorded or not message:
        return message
    return say(
        "inference",
        "Called again with the first inputs, inside `torch.inference_mode()`, your code no longer passes. {message}",
        message=message,
    )


def _failed(check: CheckRequest, scope: Values) -> str | None:
    """Return the message of a check that does not pass, None if it does."""
    try:
        if bool(eval(check.test, dict(scope))):
            return None
    except Exception as error:
        return say(
            "not-checked",
            "this could not be checked on what your code gave ({kind}: {error})",
            kind=type(error).__name__,
            error=error,
        )
    text = next((message for when, message in check.fail if not when or _holds(when, scope)), "")
    return template.fill(text, _filled(text, scope) or {})


def _holds(condition: str, scope: Values) -> bool:
    """Return whether a condition is true; one that cannot be computed is not."""
    try:
        return bool(eval(condition, dict(scope)))
    except Exception:
        return False


def _filled(text: str, scope: Values) -> dict[str, str] | None:
    """Return the values for a template, None if one of them cannot be computed."""
    try:
        return {field.key: field.format(eval(field.expression, dict(scope))) for field in template.fields(text)}
    except Exception:
        return None


# Naming the mistake --------------------------------------------------------------------------------------------------


def diagnose(case: _Case, question: Diagnose) -> DiagnosisReport:
    """Find the known mistakes with the same outcome as the learner's code: the same values, or the same exception."""
    texts = {item.mistake.id: item for item in question.mistakes}
    solution, error = case.exercise.solution, question.error
    mistakes = [
        item.mistake
        for item in texts.values()
        if (code := item.mistake.apply_to(solution)) is None or may_make(question.words, code, solution)
    ]
    found = (
        _same_values(case, mistakes)
        if error is None
        else _same_exception(case, mistakes, Failure("error", error, operation=question.operation))
    )
    # Beside a second mistake, numbers may come from that one: two results in the wrong order are taken for each other.
    reports = tuple(
        NamedMistake(item.id, "", _description(case, texts[item.id], alone=len(found) == 1), _line(case, item))
        for item in found
    )
    # The next answer has a trace of its own, or none.
    case.theirs = AnswerTrace()
    return DiagnosisReport(reports)


def recognize(case: _Case, question: Recognize) -> Recognition:
    """Find the known mistakes that give the same values as a program gave, and what is right of these."""
    try:
        actual = values.decode(question.actual, question.blob)
    except (ValueError, KeyError, TypeError):
        return Recognition((), ())
    if not isinstance(actual, list) or len(actual) != len(case.seeds):
        return Recognition((), ())
    found = (
        mistake.id
        for mistake, code in _answers(case, question.mistakes)
        if all(same(_got(case, code, index), got) for index, got in enumerate(actual))
    )
    return Recognition(tuple(found), tuple(_right(case, actual)))


def _right(case: _Case, actual: list[Values]) -> Iterator[int]:
    """Yield a number for each result of the model answer of which some values have the shape, and one for its values.

    A result counts if it is right on all hidden inputs.
    """
    theirs = [dict(_leaves(got)) for got in actual]
    wanted = [dict(_leaves(want)) for want in case.expected]
    for index, path in enumerate(wanted[0]):
        pairs = [(got.get(path), want.get(path)) for got, want in zip(theirs, wanted, strict=True)]
        if all(_is_alike(got, want) for got, want in pairs):
            yield 2 * index
        if all(same(got, want) for got, want in pairs):
            yield 2 * index + 1


def _is_alike(one: object, other: object) -> bool:
    """Return whether two plain values are of the same kind and shape."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and one.dtype == other.dtype
    return type(one) is type(other)


def _line(case: _Case, mistake: KnownMistake) -> int | None:
    """Return the line of the answer that makes a mistake, None if it is unknown."""
    code = mistake.apply_to(case.exercise.solution)
    if code is None or mistake.code or not case.theirs.statements:
        return None
    return line_of_edit(case.theirs, _trace(case, code), _trace(case, case.exercise.solution))


def _same_exception(case: _Case, mistakes: Sequence[KnownMistake], error: Failure) -> list[KnownMistake]:
    """Find the mistake whose answer ends with the same message, raised by the same operation on the same shapes.

    Pairs of mistakes are not tried, since the first exception would hide the second.
    """
    for mistake, code in _answers(case, mistakes):
        if _fails_alike(case, code, error):
            return [mistake]
    return []


def _same_values(case: _Case, mistakes: Sequence[KnownMistake]) -> list[KnownMistake]:
    """Find the mistake, or the pair of mistakes, whose answer gives the same values."""
    tried: list[tuple[KnownMistake, Values]] = []
    coincides = False
    for mistake, code in _answers(case, mistakes):
        got = _got(case, code, 0)
        if got is None:
            continue
        if same(got, case.actual[0]) and _gives(case, code, 1):
            # A mistake that is a whole answer of its own has results of its own on the way.
            if mistake.code or not _is_contradicted(case, code):
                return [mistake]
            coincides = True
        tried.append((mistake, got))
    if coincides:
        # What one mistake explains is not explained better by two.
        return []
    end = time.monotonic() + DIAGNOSIS
    for first, second, code in mistake_edits.with_two_mistakes(case.exercise.solution, _likely(case, tried)):
        if time.monotonic() > end:
            break
        if _gives(case, code) and not _is_contradicted(case, code):
            return [first, second]
    return []


def _is_contradicted(case: _Case, code: str) -> bool:
    """Return whether the answer computes on its way, and uses, a right result that the answer `code` lacks.

    Then it goes wrong later than `code` does, and that both end in the same values is a coincidence.
    """
    theirs = case.theirs.results
    if not theirs or len(theirs) >= intermediates.MOST_TENSORS:
        return False
    # A copy of what the answer was given is nothing that it has computed.
    copies = {index for index, item in enumerate(theirs) if item.op == "clone" and not item.parents}
    used = frozenset().union(*(item.parents for item in theirs)) - copies
    ours = _trace(case, case.exercise.solution).results
    found = [item for item, at in zip(ours, match_results(theirs, ours), strict=True) if at in used]
    matched = zip(found, match_results(_trace(case, code).results, found), strict=True)
    # A line that runs several times counts as a whole: successive results of one line are kept as one.
    shared: dict[tuple[str, int | None], bool] = {}
    for item, at in matched:
        if not is_mask(item.value):
            site = (item.name, item.line)
            shared[site] = shared.get(site, False) or at is not None
    return not all(shared.values())


def _answers(case: _Case, mistakes: Sequence[KnownMistake]) -> Iterator[tuple[KnownMistake, str]]:
    """Yield each mistake with the code of the answer that makes it."""
    for mistake in mistakes:
        if (code := mistake.apply_to(case.exercise.solution)) is not None:
            yield mistake, code


def _likely(case: _Case, tried: Sequence[tuple[KnownMistake, Values]]) -> list[KnownMistake]:
    """Return the mistakes that may be part of a pair: the ones that break nothing that the learner's code has right.

    The ones that explain most of its values come first.
    """
    want, got = dict(_leaves(case.expected[0])), dict(_leaves(case.actual[0]))
    right = {path for path, value in want.items() if path in got and same(value, got[path])}
    rated: list[tuple[int, KnownMistake]] = []
    for mistake, results in tried:
        theirs = dict(_leaves(results))
        if all(path in theirs and same(theirs[path], want[path]) for path in right):
            explained = sum(path in theirs and same(theirs[path], value) for path, value in got.items())
            rated.append((explained, mistake))
    return [mistake for _, mistake in sorted(rated, key=lambda item: -item[0])]


def _leaves(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the values in nested dicts and lists, each with its path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, str(index)))
    else:
        yield path, value


def _gives(case: _Case, code: str, start: int = 0) -> bool:
    """Return whether some code gives the same values as the learner's, on all hidden inputs from `start` on."""
    return all(same(_got(case, code, index), case.actual[index]) for index in range(start, len(case.seeds)))


def _got(case: _Case, code: str, index: int) -> Values | None:
    return case.outcome(code, index)[0]


def _fails_alike(case: _Case, code: str, error: Failure) -> bool:
    """Return whether some code, on the first hidden input on which it fails, fails as the learner's code does."""
    for index in range(len(case.seeds)):
        _, failure = case.outcome(code, index)
        if failure is not None:
            alike = _exception(failure.symptom or failure.message) == _exception(error.message)
            return alike and may_be_same_operation(failure.operation, error.operation)
    return False


def _exception(message: str) -> str:
    """Return the first sentence of the message of an exception: what follows may quote the learner's own names."""
    return message.split("\n")[0].split(". ")[0].rstrip(".")


def _description(case: _Case, mistake: MistakeRequest, *, alone: bool) -> str:
    """Say what is wrong about a mistake, and, if it is `alone`, what it did to the first hidden input that shows it."""
    seen = ""
    if alone and mistake.seen and case.actual:
        for index in range(len(case.seeds)):
            if same(case.actual[index], case.expected[index]):
                continue
            filled = _filled(mistake.seen, case.scope(index))
            seen = "" if filled is None else template.fill(mistake.seen, filled)
            break
    return " ".join(part.strip() for part in (seen, mistake.why) if part)


def same(one: object, other: object) -> bool:
    """Return whether two plain values are the same, up to a small tolerance for numbers; NaN equals NaN.

    Entries of a dict whose names begin with `said` hold words for a message, and do not count.
    """
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        if one.shape != other.shape:
            return False
        return torch.allclose(one.double(), other.double(), rtol=CLOSE, atol=CLOSE / 10, equal_nan=True)
    if isinstance(one, dict) and isinstance(other, dict):
        keys, others = ({key for key in item if not str(key).startswith(SAID)} for item in (one, other))
        return keys == others and all(same(one[key], other[key]) for key in keys)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE / 10) or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and one == other


# Finding the difference ----------------------------------------------------------------------------------------------


def find_difference(case: _Case, question: FindDifference) -> DifferenceReport:
    """Find the first result of the learner's code that differs from the model answer's, and the line to blame."""
    case.theirs = _theirs(question)
    comparison = Comparison(case.theirs, _trace(case, case.exercise.solution))
    found = comparison.diverge()
    line = find_line(comparison, found.line if found else None)
    beside = comparison.beside(found) if found is not None else None
    if found is None or beside is None:
        # A result for which the model answer has none may be another way, and right.
        return DifferenceReport(None, line, b"")
    blob = bytearray()
    ours, theirs = comparison.ours.results[beside], case.theirs.results
    yours = theirs[found.theirs]
    agreed = dict.fromkeys(
        theirs[at].name
        for at in map(comparison.matched.__getitem__, found.agreed)
        if at is not None and theirs[at].named
    )
    # A name that has been given twice may stand for a right result and for a wrong one.
    agreed.pop(yours.name, None)
    difference = DifferingPlace(
        yours.name,
        yours.line,
        yours=tensor_entries.entry(yours.name, yours.value, blob),
        expected=tensor_entries.entry(ours.name, ours.value, blob),
        agreed=tuple(agreed),
    )
    return DifferenceReport(difference, line, bytes(blob))


def compare(case: _Case, question: CompareResults) -> AnswerComparison:
    """List the intermediate results of the model answer with their matches, and those that only the answer has."""
    comparison = Comparison(_theirs(question), _trace(case, case.exercise.solution))
    ours, theirs = comparison.ours.results, comparison.theirs.results
    rows: dict[tuple[str, int | None], Intermediate] = {}
    for item, at in zip(ours, comparison.matched, strict=True):
        yours = ("", None) if at is None else (theirs[at].name, theirs[at].line)
        # A line that runs several times is listed once, as having what one of its results has.
        row = Intermediate(item.name, item.line, tuple(item.value.shape), *yours)
        if at is not None or (item.name, item.line) not in rows:
            rows[item.name, item.line] = row
    own = tuple(
        Intermediate("", None, tuple(item.value.shape), item.name, item.line)
        for index, item in enumerate(theirs)
        if not comparison.kin.agrees(index)
    )
    return AnswerComparison(tuple(rows.values()), own)


def _theirs(question: FindDifference | CompareResults) -> AnswerTrace:
    """Return the trace that the learner's process sent, an empty one if it cannot be read."""
    try:
        return intermediates.of_plain(values.decode(question.results, question.blob))
    except (ValueError, KeyError, TypeError):
        return AnswerTrace()


def _trace(case: _Case, code: str) -> AnswerTrace:
    """Return the trace of an answer of the course's own on the first hidden input."""
    if code not in case.traces:
        tracer = intermediates.Tracer(SOLUTION, code)
        with tracer.running():
            case.run(code, SOLUTION, 0)
        case.traces[code] = tracer.trace()
    return case.traces[code]


HANDLERS: dict[type[object], Callable[[_Case, Any], object]] = {
    Decide: decide,
    Recognize: recognize,
    Diagnose: diagnose,
    FindDifference: find_difference,
    CompareResults: compare,
}
"""The function that answers each question."""
