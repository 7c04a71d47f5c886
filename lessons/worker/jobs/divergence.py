"""Where an answer goes wrong: the first of its results that the model answer has not, and the line to blame for it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attn_tutor.lessons.reading.code_differences import NAME, Statement, aligned, argument_names, more_names
from attn_tutor.lessons.reading.operations import are_akin
from attn_tutor.lessons.worker.jobs.intermediates import (
    AnswerTrace,
    IntermediateResult,
    Kinships,
    ancestors,
    hide_the_same,
    is_distinctive,
    is_mask,
)

SPELLED_ALIKE = 0.5
"""The part of an answer's statements that the model answer has as well, from which on its spelling tells something."""


KINDS = (
    frozenset(("mm", "bmm", "matmul", "dot", "mv", "addmm", "baddbmm", "linear", "einsum")),
    frozenset(("mul", "div")),
    frozenset(("add", "sub", "rsub")),
    frozenset(("softmax", "log_softmax")),
    frozenset(("sum", "mean", "prod", "amax", "amin", "max", "min", "median")),
    frozenset(("tril", "triu")),
    frozenset(("cat", "stack")),
)
"""Operations of PyTorch that may be taken for one another."""

PLAIN = re.compile(r"[\w.]+(\[[^()]*\])?")
"""Code that names something and computes nothing."""


@dataclass(slots=True)
class Divergence:
    """The point where two programs diverge: the first of our results that they lack, and theirs in place of it.

    All fields but `line` are indices; `agreed` are the ones of our results that lead there and that they have. `line`
    is the line of theirs to blame: of their result, or of what it was wrongly computed from.
    """

    ours: int
    theirs: int
    agreed: tuple[int, ...] = ()
    line: int | None = None


class Comparison:
    """The results of an answer beside those of the model answer."""

    def __init__(self, theirs: AnswerTrace, ours: AnswerTrace) -> None:
        self.theirs, self.ours = theirs, ours
        self.kin = Kinships(theirs.results, ours.results)
        self.matched = self.kin.match()
        self._before = ancestors(theirs.results)
        self._ours_before = ancestors(ours.results)
        self._agrees = [self.kin.agrees(index) for index in range(len(theirs.results))]
        led = (self._before[at] for at in self.matched if at is not None)
        self._bypassed = frozenset().union(*led)
        led = (self._ours_before[index] for index, at in enumerate(self.matched) if at is not None)
        self._ours_bypassed = frozenset().union(*led)

    @functools.cached_property
    def names(self) -> dict[str, str]:
        """Their names for what both have, and ours."""
        found = argument_names(self.theirs.statements, self.ours.statements)
        for item, at in zip(self.ours.results, self.matched, strict=True):
            if at is not None and item.named and self.theirs.results[at].named:
                found.setdefault(self.theirs.results[at].name, item.name)
        return more_names(self.theirs.statements, self.ours.statements, found)

    def diverge(self) -> Divergence | None:
        """Find the first of their results that is none of ours and that leads to none of ours; None if there is none.

        A result that leads to one of ours is another way to it: for example queries that are scaled in place of scores.
        """
        strange = next(self._strange(), None)
        if strange is None or not self.ours.results:
            return None
        found = self._counterpart(strange)
        if found is None:
            # They have all of our results, and compute something after the last one.
            last = len(self.ours.results) - 1
            return Divergence(last, strange, tuple(sorted(self._ours_before[last])), self.theirs.results[strange].line)
        agreed = tuple(sorted(index for index in self._ours_before[found] if self.matched[index] is not None))
        return Divergence(found, strange, agreed, self._blamed(strange, found))

    def beside(self, found: Divergence) -> int | None:
        """Return which of our results to set beside theirs: one that means the same, as far as can be told, or None.

        A variable that both programs have is compared with itself, and with the same one of its values. Otherwise the
        two share two of these: the shape, the operation, something that both were computed from. Both are always at
        the same stage: else theirs may be right itself.
        """
        at = self._meaning_the_same(found)
        return at if at is not None and self._is_at_the_stage(found.theirs, at) else None

    def _is_at_the_stage(self, theirs: int, ours: int) -> bool:
        """Return whether one of their results was computed from what one of ours was computed from, and as it was.

        In place of the end of our results, it may have gone further.
        """
        needed = [each for each in self.ours.results[ours].parents if is_distinctive(self.ours.results[each].value)]
        if _are_of_one_kind(self.theirs.results[theirs].op, self.ours.results[ours].op):
            return all(self._has_parent(theirs, each) for each in needed)
        if any(ours in before for before in self._ours_before):
            return False
        return all(any(self._stands_for(index, each) for index in self._before[theirs]) for each in needed)

    def _meaning_the_same(self, found: Divergence) -> int | None:
        """Return which of our results has the name of one of theirs, or else is alike; None if none does."""
        theirs, ours = self.theirs.results[found.theirs], self.ours.results[found.ours]
        name = self.names.get(theirs.name, theirs.name)
        here, there = _bound(self.theirs, theirs.name), _bound(self.ours, name)
        if theirs.named and there:
            if len(here) == len(there):
                return there[here.index(found.theirs)]
            if ours.name != name:
                return None
        elif ours.named:
            back = {mine: yours for yours, mine in self.names.items()}
            if _bound(self.theirs, back.get(ours.name, ours.name)):
                # They compute that one somewhere else.
                return None
        same_parent = any(self._has_parent(found.theirs, each) for each in ours.parents)
        alike = (theirs.value.shape == ours.value.shape) + (theirs.op == ours.op) + same_parent >= 2
        return found.ours if alike else None

    def _strange(self) -> Iterator[int]:
        for index, item in enumerate(self.theirs.results):
            if not (item.fixed or self._agrees[index] or index in self._bypassed) and is_distinctive(item.value):
                yield index

    def _lacked(self) -> Iterator[int]:
        for index, item in enumerate(self.ours.results):
            lacks = self.matched[index] is None and index not in self._ours_bypassed
            if lacks and not item.fixed and is_distinctive(item.value):
                yield index

    def _counterpart(self, strange: int) -> int | None:
        """Return which of our results, of those that they lack, one of theirs stands for."""
        theirs = self.theirs.results[strange]

        def likeness(index: int) -> int:
            ours = self.ours.results[index]
            shared = sum(self._has_parent(strange, parent) for parent in ours.parents)
            same_shape = ours.value.shape == theirs.value.shape
            return 2 * same_shape + (ours.op == theirs.op) + (ours.name == theirs.name) + shared

        return max(self._lacked(), key=likeness, default=None)

    def _has_parent(self, theirs: int, ours: int) -> bool:
        """Return whether one of their results was computed from one of ours."""
        return any(self._stands_for(parent, ours) for parent in self.theirs.results[theirs].parents)

    def _stands_for(self, theirs: int, ours: int) -> bool:
        one, other = self.theirs.results[theirs].value, self.ours.results[ours].value
        return self.kin.is_equal(theirs, ours) or hide_the_same(one, other)

    def _blamed(self, strange: int, ours: int) -> int | None:
        """Return the line to blame for a strange result that stands for one of ours.

        It is the line of what it was computed from, if they have nothing else in place of what ours was computed from.
        """
        result = self.theirs.results[strange]
        wanted, given = sorted(self.ours.results[ours].parents), sorted(result.parents)
        for parent in list(wanted):
            at = next((index for index in given if self._stands_for(index, parent)), None)
            if at is not None:
                wanted.remove(parent)
                given.remove(at)
        missing = next((parent for parent in wanted if self.matched[parent] is None), None)
        if missing is None:
            return result.line
        if not given:
            return self._naming(result) or result.line
        shape = self.ours.results[missing].value.shape
        best = next((index for index in given if self.theirs.results[index].value.shape == shape), given[-1])
        return self._blamed(best, missing) if self._replaces(best, missing) else result.line

    def _replaces(self, theirs: int, ours: int) -> bool:
        """Return whether one of their results was computed where one of ours should have been.

        It may be right itself, if something else should have come next; unless they compute it twice, or it stands for
        a part of the statement that computes ours.
        """
        partners = [index for index in range(len(self.ours.results)) if self.kin.is_equal(theirs, index)]
        if not partners:
            return True
        lines = {self.ours.results[index].line for index in partners}
        return self.matched[partners[0]] != theirs or self.ours.results[ours].line in lines

    def _naming(self, result: IntermediateResult) -> int | None:
        """Return the line that gave a name, which the line of a result reads, to something without computing it."""
        statements = self.theirs.statements
        at = statement_at(statements, result.line)
        if at is None:
            return None
        computed = {item.line for item in self.theirs.results}
        read = set(NAME.findall(statements[at].text))
        for item in reversed(statements[:at]):
            name, _, value = item.text.partition(" = ")
            plain = PLAIN.fullmatch(value) is not None and item.line not in computed
            if plain and item.owner == statements[at].owner and name in read:
                return item.line
        return None


def _are_of_one_kind(one: str, other: str) -> bool:
    """Return whether two operations are the same, or one may have been taken for the other."""
    first, second = one.strip("_"), other.strip("_")
    return first == second or any({first, second} <= kind for kind in KINDS)


def _bound(trace: AnswerTrace, name: str) -> list[int]:
    """Return the results that a program gives a name, in order."""
    return [at for at, item in enumerate(trace.results) if item.named and item.name == name]


def statement_at(statements: Sequence[Statement], line: int | None) -> int | None:
    """Return the index of the statement on a line, None if there is none."""
    if line is None:
        return None
    return next((index for index, item in enumerate(statements) if item.line <= line <= item.end), None)


def find_line(comparison: Comparison, line: int | None) -> int | None:
    """Return the line to blame, given the one that the results tell.

    If an answer is spelled mostly like the model answer, then what differs is in the statements that differ.
    """
    theirs, ours = comparison.theirs.statements, comparison.ours.statements
    same = aligned(theirs, ours, comparison.names)
    if not theirs or len(same) < SPELLED_ALIKE * len(theirs):
        return line
    own = [index for index in range(len(theirs)) if index not in same]
    at = statement_at(theirs, line)
    if not own:
        own = _beside_gaps(theirs, ours, same)
    if not own:
        return line
    if at is None:
        return theirs[own[0]].line if len(own) == 1 else line
    if at in own:
        return line
    near = [index for index in own if theirs[index].owner == theirs[at].owner] or own
    before = [index for index in near if index < at]
    feeding = _feeding(theirs, at)
    chosen = [index for index in before if index in feeding] or before or near[:1]
    return theirs[chosen[-1]].line


def _feeding(statements: Sequence[Statement], at: int) -> set[int]:
    """Return the earlier statements of a function that bind or change what a statement reads, or what these read."""
    read, found = set(NAME.findall(statements[at].text)), set[int]()
    for index in range(at - 1, -1, -1):
        item = statements[index]
        bound = NAME.findall(re.split(r"\s\S?= | in |[.\[(]", item.text.removeprefix("for "), maxsplit=1)[0])
        if item.owner == statements[at].owner and read & set(bound):
            found.add(index)
            read |= set(NAME.findall(item.text))
    return found


def _beside_gaps(theirs: Sequence[Statement], ours: Sequence[Statement], same: dict[int, int]) -> list[int]:
    """Return their statements beside which one of ours is missing: the next one, or the last one of a function."""
    found: list[int] = []
    back = {at: index for index, at in same.items()}
    for index, item in enumerate(ours):
        if index in back:
            continue
        after = next((back[later] for later in range(index + 1, len(ours)) if later in back), None)
        before = next((back[earlier] for earlier in range(index - 1, -1, -1) if earlier in back), None)
        chosen = after if after is not None and theirs[after].owner == item.owner else before
        if chosen is not None and chosen not in found:
            found.append(chosen)
    return found


def line_of_edit(answer: AnswerTrace, mistaken: AnswerTrace, solution: AnswerTrace) -> int | None:
    """Return the line of an answer that corresponds to what a known mistake edits; None if there is none.

    A mistake that only takes statements away is on no line.

    `mistaken` is the trace of the model answer with the mistake in it. Statements are compared by their text, with the
    names exchanged of what has equal values; then the results of the edited statements are looked for by value.
    """
    same = aligned(mistaken.statements, solution.statements, {})
    edited = [index for index in range(len(mistaken.statements)) if index not in same]
    made = {index: _made_by(mistaken, mistaken.statements[index]) for index in edited}
    # Where several statements are edited, one that computes numbers tells more than the mask that it will need.
    edited.sort(key=lambda index: all(is_mask(mistaken.results[at].value) for at in made[index]))
    kept = "\n".join(item.text for item in solution.statements)
    comparison = Comparison(answer, mistaken)
    theirs = {ours: index for index, ours in aligned(answer.statements, mistaken.statements, comparison.names).items()}
    for index in edited:
        if index in theirs:
            return answer.statements[theirs[index]].line
    partners = _partners(comparison)
    for index in edited:
        found = [at for at in made[index] if at in partners]
        if found:
            # What is one statement here may be several in an answer: the first part that the edit has changed counts.
            parts = (at for at in found if not mistaken.results[at].named and mistaken.results[at].name not in kept)
            at = next(parts, found[-1])
            line = find_line(Comparison(answer, solution), answer.results[partners[at]].line)
            return line if _does_alike(answer, line, mistaken, mistaken.statements[index]) else None
    return None


def _does_alike(answer: AnswerTrace, line: int | None, mistaken: AnswerTrace, edited: Statement) -> bool:
    """Return whether a line of an answer names an operation that an edited statement names as well.

    It is not in another one of the functions that both programs have.
    """
    at = statement_at(answer.statements, line)
    if at is None:
        return False
    owner = answer.statements[at].owner
    elsewhere = owner != edited.owner and owner in {item.owner for item in mistaken.statements}
    return not elsewhere and are_akin(answer.statements[at].text, edited.text)


def _made_by(trace: AnswerTrace, statement: Statement) -> list[int]:
    """Return the results that a statement computed, in order."""
    lines = range(statement.line, statement.end + 1)
    return [at for at, item in enumerate(trace.results) if item.line in lines]


def _partners(comparison: Comparison) -> dict[int, int]:
    """Return, for our results, which one of theirs is the same, each of theirs at most once."""
    found: dict[int, int] = {}
    taken: set[int] = set()
    for index, first in enumerate(comparison.matched):
        if first is None:
            continue
        free = (at for at in range(first, len(comparison.theirs.results)) if at not in taken)
        at = next((at for at in free if comparison.kin.is_equal(at, index)), None)
        if at is not None:
            found[index] = at
            taken.add(at)
    return found
