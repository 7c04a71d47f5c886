"""The examination: random programs, their explanations as text and as JSON, and everything that is wrong in them."""

from __future__ import annotations

import random
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.base_steps import Limits
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.render import explanation_lines
from attn_tutor.lessons.results import explanation_tree
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.tui.commands import documents
from tests.exam.explanations import documents as printed_documents
from tests.exam.explanations import reader, sentences
from tests.exam.explanations.plain_run import PlainRun
from tests.exam.explanations.programs import STYLES, Program, Style, Writer
from tests.exam.explanations.rare_programs import RARE_STYLES
from tests.lessons.lesson_builders import code_step, lesson_of

DEPTH = 30
MOST_NODES = 1500
CELLS = 2
"""Cells of each tensor that are asked about."""

LIMITS = Limits(cpu=60, wall=300)
"""To import PyTorch's compiler alone may take longer than a lesson may compute, with the tutor or without it."""


@dataclass
class Totals:
    """What an examination found."""

    programs: int = 0
    trees: int = 0
    nodes: int = 0
    printed: int = 0
    sentences: int = 0
    ended_early: int = 0
    without_formula: int = 0
    found: list[str] = field(default_factory=list)
    styles: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        kinds = Counter(item.partition(":")[0] for item in self.found)
        false = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or "none"
        return (
            f"{self.programs} programs, {self.trees} trees, {self.nodes} numbers in JSON and {self.printed} in text, "
            f"{self.sentences} sentences: "
            f"{len(self.found)} false ({false}), {self.ended_early} ended early, "
            f"{self.without_formula} without a formula"
        )


def program(seed: int, styles: Mapping[str, Style]) -> tuple[Program, PlainRun] | None:
    """Write the program of a seed and run it plainly; None if PyTorch refuses it."""
    written = Writer(seed).write(styles)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return written, PlainRun(written.code)
    except Exception:
        # Shapes and types of random lines do not always fit.
        return None


def examine_programs(session: Session, seeds: Iterator[int], count: int, only: Collection[str] = ()) -> Totals:
    """Examine the first `count` programs that run, in any style or only in some."""
    totals = Totals()
    styles = {name: write for name, write in (STYLES | RARE_STYLES).items() if not only or name in only}
    for seed in seeds:
        if totals.programs >= count:
            break
        made = program(seed, styles)
        if made is None:
            continue
        examine_program(session, *made, totals, f"seed {seed}", random.Random(seed))
    return totals


def examine_program(
    session: Session, written: Program, plain: PlainRun, totals: Totals, where: str, chance: random.Random
) -> None:
    """Examine the explanations of some numbers of a program."""
    tensors = plain.tensors()
    names = [name for name in written.names if name in tensors]
    lesson = lesson_of(code_step("program", written.code))
    for name in names:
        lesson = explanation_tree.with_shown_tensor(lesson, "program", name)
    run = session.run(lesson.model_copy(update={"limits": LIMITS}), "program")
    totals.programs += 1
    totals.styles[written.style] += 1
    try:
        (result,) = run.steps
        if result.error is not None:
            totals.found.append(f"not run: {where}: {result.error.message}")
            return
        for name in names:
            for index in _some_cells(tuple(tensors[name].shape), chance):
                there = f"{where} ({written.style}), {name}{list(index)}"
                node = explanation_tree.grow(run, CodeUnit.step("program"), name, index, DEPTH, MOST_NODES)
                if not isinstance(node, explanation_tree.Node):
                    totals.found.append(f"no answer: {there}: {node}")
                    if node is None:
                        return
                    continue
                document = documents.explanation(node)
                true = float(tensors[name][index])
                if not _agree(float(document["value"]), true, document["dtype"]):
                    totals.found.append(f"value: {there}: {document['value']} instead of {true}")
                examine_tree(node, document, totals, there, plain, written.code)
    finally:
        run.close()


def examine_tree(
    node: explanation_tree.Node,
    document: dict[str, Any],
    totals: Totals,
    where: str,
    plain: PlainRun | None = None,
    code: str = "",
) -> None:
    """Examine one tree, as text and as JSON."""
    totals.trees += 1
    values: dict[str, set[str]] = {}
    for item in printed_documents.walk(document):
        totals.nodes += 1
        label = printed_documents.label(item)
        values.setdefault(label, set()).add(reader.as_stored(float(item["value"]), str(item["dtype"])))
        if wrong := printed_documents.problem(item):
            totals.found.append(f"formula in JSON: {where}: {label}: {wrong}")
        if printed_documents.has_no_formula(item):
            totals.without_formula += 1
            totals.reasons[f"{item['op']}: {' '.join(item['notes'])[:60]}"] += 1
        if not printed_documents.is_explained(item):
            totals.found.append(f"no reason: {where}: {label} ends without one")
        if printed_documents.ends_early(item):
            totals.ended_early += 1
            totals.reasons[f"{item['op']}: {' '.join(item['notes'])[:60]}"] += 1
        if plain is None:
            continue
        if wrong := _untrue(item, plain) or sentences.label_problem(item, plain):
            totals.found.append(f"value of a name: {where}: {wrong}")
        for note in item["notes"]:
            totals.sentences += 1
            if wrong := sentences.problem(note, item, code, plain):
                totals.found.append(f"sentence: {where}: {label}: {wrong}")
    for label, several in values.items():
        if len(several) > 1:
            totals.found.append(f"one label for several values: {where}: {label}")
    told: set[str] = set()
    for printed in reader.read(explanation_lines.lines(node)):
        totals.printed += 1
        told.add(printed.label)
        if wrong := reader.problem(printed):
            totals.found.append(f"formula in text: {where}: {printed.label}: {wrong}")
    left_out = {
        " ".join(_told(item)) for item in printed_documents.walk(document) if printed_documents.is_told(item)
    } - told
    left_out = {label for label in left_out if label.replace(" ", "") not in {item.replace(" ", "") for item in told}}
    for label in sorted(left_out):
        totals.found.append(f"left out of the text: {where}: {label}")


def _told(item: dict[str, Any]) -> list[str]:
    return printed_documents.label(item).split()


def _untrue(item: dict[str, Any], plain: PlainRun) -> str:
    """Return what is wrong with a number that has the name of a variable; "" if the variable has had that value."""
    name = re.sub(r"#\d+$", "", str(item["tensor"]))
    values = plain.values(name, tuple(item["index"]))
    if values is None or any(_agree(float(item["value"]), value, item["dtype"]) for value in values):
        return ""
    return f"{printed_documents.label(item)} is told as {item['value']}, and was only {sorted(values)[:4]}"


def _agree(told: float, true: float, dtype: str) -> bool:
    precision = printed_documents.PRECISION.get(dtype, 0.0)
    return told == true or (told != told and true != true) or abs(told - true) <= precision * abs(true)


def _some_cells(shape: tuple[int, ...], chance: random.Random) -> list[tuple[int, ...]]:
    cells = [tuple(chance.randrange(size) for size in shape) for _ in range(CELLS)]
    return list(dict.fromkeys(cells))


def examine_course(session: Session, course: Course, cells: int = 1) -> Totals:
    """Examine explanations of every tensor that a step of the course shows."""
    totals = Totals()
    chance = random.Random(1)
    for lesson in course.lessons:
        run: Run = session.run(lesson)
        totals.programs += 1
        try:
            for result in run.steps:
                for tensor in result.tensors:
                    for _ in range(cells):
                        index = tuple(chance.randrange(size) for size in tensor.shape)
                        node = explanation_tree.grow(
                            run, CodeUnit.step(result.id), tensor.name, index, DEPTH, MOST_NODES
                        )
                        there = f"lesson {lesson.number}, {result.id}, {tensor.name}{list(index)}"
                        if isinstance(node, explanation_tree.Node):
                            examine_tree(node, documents.explanation(node), totals, there)
                        else:
                            totals.found.append(f"no answer: {there}: {node}")
        finally:
            run.close()
    return totals
