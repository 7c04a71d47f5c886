"""Repairs of a wrong answer: edits that put one piece of a right answer in place of its own.

One that makes it pass shows what was wrong. A suggestion gives the answer away if it says what the exercise asks for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from attn_tutor.lessons.reading.code_differences import (
    CodeDifference,
    differences,
    parse,
    renamed_model,
    replaced,
    smallest,
)
from attn_tutor.lessons.reading.repair_kinds import LAST, LEAVING, Outcome, kind_of, kind_text, outcome, together
from attn_tutor.lessons.results.result import NamedMistake

LONGEST_SOURCE = 20_000
MOST_MODELS = 2
"""The largest number of right answers from which repairs are taken: the ones that an answer is most like."""


@dataclass(frozen=True, slots=True)
class Repair:
    """An edit of an answer.

    Attributes:
        kind: the id of its kind.
        about: the code that it edits, for the sentence about it.
        lines: the lines of the answer that it edits; 0 if it is not about a single one.
        places: the code of each place, if it makes the same edit in several ones.
        statement: which of the statements that differ it edits; None for several of them.
        whole: whether it edits all of the statement that differs.
        code: the answer after the edit, as Python writes it.
        silent: whether nothing is said of it, because the learner knows as much.
        rank: of an edit that no right answer tells, how far it is from what learners usually get wrong.
    """

    kind: str
    about: str
    lines: tuple[int, ...]
    statement: int | None
    whole: bool
    code: str
    silent: bool = False
    rank: int = 0
    places: tuple[str, ...] = ()

    def mistake(self, comes: Outcome = "passes", check: str = "") -> NamedMistake:
        """Return what is said of the mistake that it undoes, and of what comes of that: a `check` passes, or every one.

        One of which nothing is said has only an id and a line.
        """
        if self.silent:
            return NamedMistake(self.kind, "", "", self.lines[0])
        text = kind_text(self.kind)
        why = text.why.replace("{outcome}", outcome(comes, check)).replace("{code}", self.about)
        if self.places:
            why = f"{why} {together(self.places, self.lines)}"
        return NamedMistake(self.kind, text.name, why, self.lines[0] or None)


def repairs(source: str, models: Sequence[str], most: int, *, gap: bool = False) -> list[list[Repair]]:
    """Return repairs of a program, at most `most` in all: for each of the models that it is most like a list.

    If only a `gap` was to be filled, nothing is said of a repair that replaces all of it.
    There are none if the program cannot be parsed. The same program and models give the same repairs.
    """
    if len(source) > LONGEST_SOURCE:
        return []
    try:
        theirs = parse(source)
        found = [differences(theirs, renamed_model(source, model)) for model in models]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    result: list[list[Repair]] = []
    for each in sorted(found, key=_size)[:MOST_MODELS]:
        made: dict[str, Repair] = {}
        known = {item.code for group in result for item in group}
        for repair in _of_model(theirs, each, gap=gap):
            if len(made) + len(known) < most and repair.code not in known:
                made.setdefault(repair.code, repair)
        result.append([*made.values()])
    return result


def choose(found: Sequence[Repair]) -> Repair | None:
    """Choose from the repairs, taken from one model, with which an answer passes: the one that edits least.

    Returns None if there is none, or if two statements could be to blame.
    """
    found = [item for item in found if item.statement is not None] or found
    if len({item.statement for item in found}) != 1:
        return None
    parts = [item for item in found if not item.whole]
    return parts[0] if len(parts) == 1 else next((item for item in found if item.whole), None)


def _size(found: Sequence[CodeDifference]) -> int:
    return sum(len(item.theirs) + len(item.ours) for item in found)


def _of_model(theirs: ast.Module, found: Sequence[CodeDifference], *, gap: bool) -> Iterator[Repair]:
    """Yield the edits that take a single difference from a model, or all of them if they are the same."""
    if len(found) > 1 and _are_same(found):
        lines = tuple(dict.fromkeys(item.line for item in found))
        kinds = [kind_of(smallest(item)) for item in found]
        places = tuple(about for _, about in kinds)
        yield Repair(*kinds[0], lines, None, True, replaced(theirs, found), places=places)
    for index, item in enumerate(found):
        twin = _twin(item, found)
        if twin is not None and item.theirs:
            yield Repair(_of_moved(item), "", (item.line,), index, True, replaced(theirs, (item, twin)))
        if not item.is_simple or (not item.theirs and (twin or not _continues(item.ours[0], theirs))):
            continue
        whole = smallest(item)
        for part in (whole, *(item.parts if len(item.parts) > 1 else ())):
            kind, about = kind_of(part)
            if kind in LAST and item.is_all_of_body:
                continue
            silent = gap and kind in LAST and isinstance(part.around[-1], ast.stmt)
            # Where other statements differ as well, an edit may compute anew what one of these gets wrong.
            if len(found) == 1 or not _bypasses(part, kind, theirs):
                yield Repair(kind, about, (_line(part),), index, part is whole, replaced(theirs, [part]), silent)


def _line(part: CodeDifference) -> int:
    """Return the line of what differs; of a call over several lines, that of its first argument that differs."""
    match part.theirs, part.ours:
        case [ast.Call() as theirs], [ast.Call() as ours] if ast.dump(theirs.func) == ast.dump(ours.func):
            kept = {ast.dump(item) for item in (*ours.args, *(word.value for word in ours.keywords))}
            given = (*theirs.args, *(word.value for word in theirs.keywords))
            return next((item.lineno for item in given if ast.dump(item) not in kept), part.line)
    return part.line


def _are_same(found: Sequence[CodeDifference]) -> bool:
    """Return whether the same is changed in each of several statements."""
    if not all(item.is_simple and item.theirs and item.ours for item in found):
        return False
    return len({"; ".join(map(_dumped, item.parts or (item,))) for item in found}) == 1


def _dumped(item: CodeDifference) -> str:
    return f"{ast.dump(item.theirs[0])} {ast.dump(item.ours[0])}"


def _twin(item: CodeDifference, found: Sequence[CodeDifference]) -> CodeDifference | None:
    """Return the difference that lacks the statement which this one has too much, or has the one that it lacks."""
    if len(item.theirs) > 1 or len(item.ours) > 1:
        return None
    codes = [*map(ast.dump, item.theirs)], [*map(ast.dump, item.ours)]
    twins = (other for other in found if ([*map(ast.dump, other.ours)], [*map(ast.dump, other.theirs)]) == codes)
    return next(twins, None)


def _of_moved(item: CodeDifference) -> str:
    in_loop = isinstance(item.around[-1], ast.For | ast.While)
    return "return-in-loop" if in_loop and isinstance(item.theirs[0], ast.Return) else "statement-moved"


def _continues(statement: ast.AST, program: ast.Module) -> bool:
    """Return whether a statement that a program lacks goes on with what it has computed, and replaces none of it."""
    new, read = _names_in(statement, ast.Store), _names_in(statement, ast.Load)
    computed = _names_in(program, ast.Store)
    return not (new - read) & computed and not (isinstance(statement, ast.Return) and not read & computed)


def _bypasses(part: CodeDifference, kind: str, program: ast.Module) -> bool:
    """Return whether an edit no longer reads what the program has computed before, which may be what is wrong."""
    if not part.theirs or not part.ours or kind in LEAVING:
        return False
    read, still = part.theirs[0], part.ours[0]
    names = (_names_in(read, ast.Load) - _names_in(still, ast.Load)) & _names_in(program, ast.Store)
    return bool(names or _attributes_in(read) - _attributes_in(still))


def _attributes_in(node: ast.AST) -> set[str]:
    """Return what code has of the module that it belongs to."""
    found = (ast.unparse(item) for item in ast.walk(node) if isinstance(item, ast.Attribute))
    return {name for name in found if name.startswith("self.")}


def _names_in(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, context)}


FAILURES = (SyntaxError, ValueError, RecursionError, MemoryError)


def is_a_name(code: str) -> bool:
    """Return whether code only names something, such as `torch.softmax`; a name that is misspelled may be corrected."""
    try:
        node: ast.AST = ast.parse(code, mode="eval").body
    except FAILURES:
        return False
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and not code.endswith((".T", ".mT"))


def gives_away(code: str, source: str, models: Iterable[str]) -> bool:
    """Return whether suggested code is a piece of a right answer, in the names of the learner's program."""
    if is_a_name(code):
        return False
    try:
        wanted = ast.dump(ast.parse(code, mode="eval").body)
    except FAILURES:
        return False
    for model in models:
        try:
            tree = renamed_model(source, model)
        except FAILURES:
            continue
        if any(isinstance(node, ast.expr) and ast.dump(node) == wanted for node in ast.walk(tree)):
            return True
    return False
