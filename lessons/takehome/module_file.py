"""The learner's passing answers together as a module, such as `my_attention.py`, with a check of their own.

An answer was written for itself, and many define the same name. The first in the course keeps it; later ones get the id
of their exercise behind it. What an answer takes from the course's package `attention` is the learner's own class if
there is one, else the course's, as a section of its own. Imports come first.

The check calls each piece on small inputs, those of the `sample` of its exercise. What comes out is compared with what
came out of the course's own code, when the module was written: the class of the package `attention` with the same name,
or else the model answer. The check itself needs PyTorch and nothing else.
"""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course, Lesson
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.result import Failure, StepResult
from attn_tutor.lessons.takehome import course_definitions, top_level
from attn_tutor.lessons.takehome.learner_work import PassingAnswer
from attn_tutor.lessons.takehome.top_level import Import, NameNotFound, TopLevelStatement
from attn_tutor.lessons.texts.wording import Wording

say = Wording("take-home/sections")

FUTURE = "__future__"


def is_future(line: str) -> bool:
    """Return whether a line imports from the future of the language, which has to come before all others."""
    return line.split()[1] == FUTURE


@dataclass(frozen=True, slots=True)
class ModuleSection:
    """A section of the module.

    Attributes:
        answer: the answer that it comes from; None for definitions of the course.
        code: its code.
        names: what the names are called here that the answer had to define.
    """

    answer: PassingAnswer | None
    code: str
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An answer that is not in the module, and why, as a sentence."""

    answer: PassingAnswer
    why: str


@dataclass(slots=True)
class Sections:
    """The sections of a module, what they import, and what was left out."""

    imports: list[str] = field(default_factory=list)
    sections: list[ModuleSection] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


class _NotFitting(Exception):
    """An answer that cannot be put together with others; the message is the reason for the learner."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """An answer taken apart: what it imports, and the statements that define what it had to define."""

    answer: PassingAnswer
    imports: tuple[Import, ...]
    statements: tuple[TopLevelStatement, ...]

    @property
    def binds(self) -> list[str]:
        return list(dict.fromkeys(name for each in self.statements for name in sorted(each.binds)))


def put_together(answers: Sequence[PassingAnswer]) -> Sections:
    """Return the sections for answers in the order of the course."""
    assembly = _Assembly()
    parts: list[_Parts] = []
    for answer in answers:
        try:
            parts.append(_take_apart(answer))
        except _NotFitting as error:
            assembly.result.left_out.append(LeftOut(answer, str(error)))
    # All imports stand above all definitions, so their names are taken first.
    for each in parts:
        assembly.reserve_imports(each)
    for each in parts:
        try:
            assembly.add(each)
        except _NotFitting as error:
            assembly.result.left_out.append(LeftOut(each.answer, str(error)))
    return assembly.finished()


def _take_apart(answer: PassingAnswer) -> _Parts:
    """Return the parts of an answer that define what its exercise asks for. Raises `_NotFitting`."""
    code = answer.code.removeprefix("\ufeff")
    try:
        imports, inner = top_level.imports(code), top_level.inner_imports(code)
        found = top_level.needed(top_level.statements(code), answer.exercise.defines)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _NotFitting(say("not-python", "It is not Python here.")) from None
    if any(each.bound == "*" for each in (*imports, *inner)):
        raise _NotFitting(say("star", "It imports all names of a module at once, which may be those of other answers."))
    of_course = [each for each in (*imports, *inner) if course_definitions.is_of_package(each)]
    if any(course_definitions.resolve(each) is None for each in of_course) or any(
        course_definitions.is_of_package(each) for each in inner
    ):
        raise _NotFitting(say("package", "It uses the course's package `attention` as a whole, which stays behind."))
    bound = {name for each in found for name in each.binds}
    bound_by_import = {each.bound for each in imports}
    if missing := sorted(set(answer.exercise.defines) - bound - bound_by_import):
        raise _NotFitting(say("missing", "Nothing in it defines {names}.", names=", ".join(missing)))
    if clash := sorted(bound & bound_by_import):
        raise _NotFitting(say("twice", "It both imports and defines {names}.", names=", ".join(clash)))
    reads = {name for each in found for name in each.reads} | set(answer.exercise.defines)
    kept = [each for each in imports if each.bound in reads or each.module == FUTURE]
    return _Parts(answer, tuple(kept), tuple(found))


class _Assembly:
    """A module while it is put together."""

    def __init__(self) -> None:
        self.result = Sections()
        self._taken = {*dir(builtins), "_check"}
        self._imports: dict[str, str] = {}
        """What is imported, by its target, with the name that it has."""
        self._classes: dict[str, str] = {}
        """The learner's classes so far, with the names that they have."""
        self._of_course: dict[tuple[str, str], str] = {}
        """Definitions of the course that are there, with the names that they have."""

    def reserve_imports(self, parts: _Parts) -> None:
        """Take the names of what an answer imports."""
        for each in parts.imports:
            if not course_definitions.is_of_package(each):
                self._import(each, parts.answer.id)

    def _import(self, found: Import, suffix: str) -> str:
        """Import something, once, and return its name."""
        if found.target not in self._imports:
            name = found.bound if found.module == FUTURE else self._free(found.bound, suffix)
            self._imports[found.target] = name
            self._taken.add(name)
            self.result.imports.append(found.statement(name))
        elif (line := found.statement(self._imports[found.target])) not in self.result.imports:
            # `import torch.nn` after `import torch` binds the same name, and loads one more module.
            self.result.imports.append(line)
        return self._imports[found.target]

    def _free(self, name: str, suffix: str) -> str:
        """Return a name that is not taken: the name itself, or else with a suffix."""
        if name not in self._taken:
            return name
        base, number = f"{name}_{suffix.replace('-', '_')}", 2
        free = base
        while free in self._taken:
            free, number = f"{base}_{number}", number + 1
        return free

    def add(self, parts: _Parts) -> None:
        """Add the section of an answer. Raises `_NotFitting`."""
        answer = parts.answer
        names: dict[str, str] = {}
        for each in parts.imports:
            names[each.bound] = (
                self._class_of_course(each) if course_definitions.is_of_package(each) else self._imports[each.target]
            )
        for name in parts.binds:
            names[name] = self._free(name, answer.id)
        changed = {old: new for old, new in names.items() if old != new}
        try:
            code = top_level.renamed("\n\n\n".join(each.text for each in parts.statements), changed)
        except NameNotFound as error:
            raise _NotFitting(say("no-rename", "Its name {name} is taken by an earlier answer.", name=error)) from None
        self._taken |= {names[name] for name in parts.binds}
        defined = {name: names[name] for name in answer.exercise.defines}
        for node in (each.node for each in parts.statements):
            if isinstance(node, ast.ClassDef) and node.name in defined:
                self._classes.setdefault(node.name, names[node.name])
        self.result.sections.append(ModuleSection(answer, _spaced(code), defined))

    def _class_of_course(self, found: Import) -> str:
        """Return the name of what an answer takes from the course: the learner's own class, or the course's."""
        definition = course_definitions.resolve(found)
        assert definition is not None
        module, name = definition
        if name in self._classes:
            return self._classes[name]
        if definition not in self._of_course:
            definitions = course_definitions.collect([definition])
            names = {each.bound: self._import(each, "of_course") for each in definitions.imports}
            for part in definitions.parts:
                if (part.module, part.name) in self._of_course:
                    names[part.name] = self._of_course[part.module, part.name]
                    continue
                names[part.name] = self._of_course[part.module, part.name] = self._free(part.name, "of_course")
                self._taken.add(names[part.name])
                changed = {old: new for old, new in names.items() if old != new}
                self.result.sections.append(ModuleSection(None, top_level.renamed(part.text, changed)))
        return self._of_course[module, name]

    def finished(self) -> Sections:
        """Return the result; imports of the language itself come first, as Python asks."""
        self.result.imports.sort(key=lambda line: (not is_future(line), line.startswith("from"), line))
        return self.result


def _spaced(code: str) -> str:
    """Return code with two empty lines around definitions and none between plain statements."""
    body = ast.parse(code).body
    lines = code.splitlines()
    blocks = list(_blocks(body, lines))
    text = blocks[0][1] if blocks else ""
    for (was_definition, _), (is_definition, block) in pairwise(blocks):
        text += ("\n\n\n" if was_definition or is_definition else "\n") + block
    return text


def _blocks(body: Sequence[ast.stmt], lines: Sequence[str]) -> Iterator[tuple[bool, str]]:
    start = 0
    for node in body:
        end = node.end_lineno or node.lineno
        definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield definition, "\n".join(lines[start:end]).strip("\n")
        start = end


Plain = Any
"""What a piece gave, as literals: numbers, texts, and lists of them."""

LONGEST_LINE = 116

# The code of the check is Python that is pasted into the module, and that computes what it compares with as well.
TOOLS_CODE = """
import math

import torch
from torch import nn

inf, nan = math.inf, math.nan

def wave(*shape, start=1):
    count = math.prod(shape)
    return torch.sin(torch.arange(start, start + count).float()).reshape(shape)

def filled(module):
    with torch.no_grad():
        for number, (_, parameter) in enumerate(sorted(module.named_parameters())):
            parameter.copy_(wave(*parameter.shape, start=1 + number))
    return module

def plain(value):
    if isinstance(value, torch.Tensor):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value
"""

COMPARE_CODE = """
def same(given, expected):
    if isinstance(expected, list):
        return (
            isinstance(given, list)
            and len(given) == len(expected)
            and all(same(*pair) for pair in zip(given, expected))
        )
    if isinstance(expected, float):
        if not isinstance(given, (int, float)):
            return False
        return given == expected or math.isclose(given, expected, rel_tol=1e-4, abs_tol=1e-4)
    return given == expected
"""

EXPECTED_CODE = """
import attention

def rounded(value):
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value

def results(given, sample):
    scope = {**TOOLS, **given}
    exec(sample, scope)
    return plain(scope["result"])

def expected_results(samples):
    found = []
    for solution, defines, sample in samples:
        scope = {"__name__": "solution"}
        exec(solution, scope)
        given = {name: scope[name] for name in defines}
        for name in defines:
            if isinstance(given[name], type) and isinstance(getattr(attention, name, None), type):
                given[name] = getattr(attention, name)
        found.append(rounded(results(given, sample)))
    return found

TOOLS = {name: globals()[name] for name in ("torch", "nn", "wave", "filled")}
"""

CHECK_LIMITS = {"cpu": 120, "wall": 240, "memory": 2048}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of the check of a module.

    Attributes:
        different: the ids of the exercises whose pieces gave something else.
        failure: why the module did not run to its end, None if it did.
    """

    different: tuple[str, ...] = ()
    failure: Failure | None = None


def expected_results(session: Session, answers: Sequence[PassingAnswer]) -> dict[str, Plain]:
    """Return what the course's own code gives for the samples, by the ids of the exercises. Raises `WorkerError`."""
    sampled = [each for each in answers if each.exercise.sample]
    samples = [(each.exercise.solution, each.exercise.defines, each.exercise.sample) for each in sampled]
    code = f"{TOOLS_CODE}\n{EXPECTED_CODE}\nfound = expected_results({samples!r})\n"
    result = _run(session, code, "found")
    if result.error is not None:
        raise ValueError(result.error.message)
    return dict(zip((each.id for each in sampled), _read(result), strict=True))


def run_check(session: Session, module: str) -> Outcome:
    """Run the check of a module where it can do no harm. Raises `WorkerError`."""
    result = _run(session, f"{module}\n\ndifferent = _check()\n", "different")
    if result.error is not None:
        return Outcome(failure=result.error)
    return Outcome(tuple(map(str, _read(result))))


def _run(session: Session, code: str, name: str) -> StepResult:
    """Run a program and have it fill in the value of a name."""
    step = {"kind": "run", "id": "module", "title": name, "prose": f"{{{name}!r}}", "code": code}
    fields = {
        "id": "module",
        "number": 1,
        "folder": "",
        "title": name,
        "goal": name,
        "limits": CHECK_LIMITS,
        "steps": [step],
    }
    run = session.run(Lesson.model_validate(fields))
    run.close()
    return run.steps[0]


def _read(result: StepResult) -> list[Plain]:
    """Return the list that a program filled in; of anything else, an empty one."""
    try:
        # What is no number has no literal: `inf` and `nan` stand for themselves.
        text = next(iter(result.text.values()), "[]")
        value = eval(compile(ast.parse(text, mode="eval"), "filled in", "eval"), {"__builtins__": {}}, NO_LITERALS)
    except (SyntaxError, NameError, ValueError):
        return []
    return list(value) if isinstance(value, list | tuple) else []


NO_LITERALS = {"inf": float("inf"), "nan": float("nan")}


# Text ----------------------------------------------------------------------------------------------------------------


def code_of_check(sections: Sequence[ModuleSection], expected: Mapping[str, Plain]) -> str:
    """Return the function `_check` for the sections with expected results, and the call of it."""
    checked = [each for each in sections if each.answer is not None and each.answer.id in expected]
    cases = [_case(each) for each in checked]
    rows = [_row(each, expected[each.answer.id]) for each in checked if each.answer is not None]
    body = "\n\n".join([TOOLS_CODE.strip(), COMPARE_CODE.strip(), *cases, _list(rows), _loop()])
    doc = say("doc", "Call each piece on small inputs; return the exercises whose pieces give something else.")
    return (
        f'def _check():\n    """{doc}"""\n'
        + textwrap.indent(body, "    ")
        + '\n\n\nif __name__ == "__main__":\n    raise SystemExit(1 if _check() else 0)\n'
    )


def _case(section: ModuleSection) -> str:
    assert section.answer is not None
    arguments = ", ".join(section.names)
    sample = textwrap.indent(section.answer.exercise.sample.rstrip(), "    ")
    return f"def {_name(section)}({arguments}):\n{sample}\n    return result"


def _name(section: ModuleSection) -> str:
    """Return the name of the function that calls a piece; no piece is called like this."""
    assert section.answer is not None
    return f"case_{section.answer.id.replace('-', '_')}"


def _row(section: ModuleSection, expected: Plain) -> str:
    assert section.answer is not None
    given = "".join(f"{name}, " for name in section.names.values()).strip()
    text = "\n".join(textwrap.wrap(repr(expected), LONGEST_LINE - 12, break_long_words=False, break_on_hyphens=False))
    head = f"{section.answer.id!r}, {_name(section)}, ({given}),"
    return f"(\n    {head}\n{textwrap.indent(text, '    ')},\n),"


def _list(rows: Sequence[str]) -> str:
    return f"cases = [\n{textwrap.indent(chr(10).join(rows), '    ')}\n]"


def _loop() -> str:
    """Return the part of the check that runs the cases, with its sentences in the learner's language."""
    fine, wrong = say("same", "as in the course"), say("different", "DIFFERENT")
    total = say("total", "{same} of {all} pieces compute what the course's own code computes.", same="{0}", all="{1}")
    return f"""different = []
for name, case, given, expected in cases:
    try:
        outcome = {fine!r} if same(plain(case(*given)), expected) else {wrong!r}
    except Exception as error:
        outcome = f"{{type(error).__name__}}: {{error}}"
    if outcome != {fine!r}:
        different.append(name)
    print(f"{{name:24}} {{outcome}}")
print({total!r}.format(len(cases) - len(different), len(cases)))
return different"""


RULER = 120


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """The module, and what is known of it.

    Attributes:
        text: the file.
        answers: the answers that are in it; each passes its exercise as it stands there.
        checked: the ids of those that its own check calls; each gives there what the course's own code gives.
        left_out: the answers that are not in it.
    """

    text: str
    answers: tuple[PassingAnswer, ...]
    checked: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


def module_name(course: Course) -> str:
    """Return what a learner's module of a course is called, such as `my_attention`."""
    found = course.description.id if course.description is not None else "attention"
    return f"my_{found.replace('-', '_')}"


def build(
    session: Session,
    course: Course,
    answers: Sequence[PassingAnswer],
    on_judged: Callable[[PassingAnswer], object] | None = None,
) -> ModuleFile:
    """Put answers to exercises of a course together, judge each as it stands in the module, and run its own check.

    What does not pass there is left out, with what is said of it, and the rest is put together without it. Calls
    `on_judged` after each answer that is judged. Raises `WorkerError`.
    """
    expected = expected_results(session, answers)
    left_out: list[LeftOut] = []
    remaining = list(answers)
    while True:
        sections = put_together(remaining)
        text = _text(course, sections, expected)
        outcome = run_check(session, text)
        failed = [*sections.left_out] or _stopping(outcome, text, sections)
        failed = failed or _failing(session, text, sections, on_judged)
        if not failed and not outcome.different:
            break
        # What passes its exercise and differs on other inputs may be right in its own way: only the check goes.
        expected = {name: result for name, result in expected.items() if name not in outcome.different}
        left_out += failed
        gone = {each.answer.id for each in failed}
        remaining = [each for each in remaining if each.id not in gone]
    order = {each.id: number for number, each in enumerate(answers)}
    return ModuleFile(
        text,
        tuple(remaining),
        tuple(each.id for each in remaining if each.id in expected),
        tuple(sorted(left_out, key=lambda each: order[each.answer.id])),
    )


def _stopping(outcome: Outcome, text: str, sections: Sections) -> list[LeftOut]:
    """Return the answer at which the module stops when it is imported, if it does and its line tells."""
    if outcome.failure is None:
        return []
    for section in sections.sections:
        if section.answer is not None and outcome.failure.line in _lines(text, section):
            return [LeftOut(section.answer, outcome.failure.message)]
    return []


def _failing(
    session: Session, text: str, sections: Sections, on_judged: Callable[[PassingAnswer], object] | None
) -> list[LeftOut]:
    """Return the answers that do not pass as they stand in the module."""
    failed: list[LeftOut] = []
    for section in sections.sections:
        if section.answer is None:
            continue
        aliases = "".join(f"{old} = {new}\n" for old, new in section.names.items() if old != new)
        judgement = session.check(section.answer.exercise, f"{text}\n{aliases}", rounds=1, diagnosis="none")
        if on_judged is not None:
            on_judged(section.answer)
        if not judgement.passed:
            failed.append(LeftOut(section.answer, judgement.message))
    return failed


def _lines(text: str, section: ModuleSection) -> range:
    """Return the lines of the module that a section takes."""
    before, found, _ = text.partition(section.code)
    first = before.count("\n") + 1
    return range(first, first + section.code.count("\n") + 1) if found else range(0)


def _text(course: Course, sections: Sections, expected: dict[str, Plain]) -> str:
    """Return the text of the module."""
    count = sum(each.answer is not None for each in sections.sections)
    doc = say.count(
        "module-doc",
        count,
        "{title}, written by me in attn-tutor: {count} piece.",
        "{title}, written by me in attn-tutor: {count} pieces, in the order of the course.",
        title=_in_docstring(course.title or "Attention"),
    )
    file = f"{module_name(course)}.py"
    how = say(
        "how", "Running this file checks each piece: python {file}. It needs PyTorch and nothing else.", file=file
    )
    future = [line for line in sections.imports if is_future(line)]
    plain = [line for line in sections.imports if line not in future]
    parts = [
        f'"""{doc}\n\n{how}\n"""',
        *(["\n".join(future)] if future else []),
        *(["\n".join(plain)] if plain else []),
    ]
    head = "\n\n".join(parts)
    blocks = [
        f"{_heading(each, number, sections.sections)}{each.code}" for number, each in enumerate(sections.sections)
    ]
    ruler = f"# {say('check', 'The check')} "
    check = ruler.ljust(RULER, "-") + "\n\n\n" + code_of_check(sections.sections, expected)
    return "\n\n\n".join([head, *blocks, check])


def _in_docstring(text: str) -> str:
    """Return a text of a course without what could end the string that it stands in."""
    return clean(text, keep="").replace("\\", "/").replace('"', "'")


def _heading(section: ModuleSection, number: int, sections: Sequence[ModuleSection]) -> str:
    """Return the comments above a section: where it comes from, and what its names were."""
    answer = section.answer
    if answer is None:
        again = number > 0 and sections[number - 1].answer is None
        return "" if again else f"# {say('of-course', 'From the package `attention` of the course.')}\n\n\n"
    lesson = clean(answer.lesson.title, keep="")
    title = clean(answer.exercise.title, keep="")
    lines = [
        say("section", "Lesson {number}, {lesson}: {title}", number=answer.lesson.number, lesson=lesson, title=title)
    ]
    for old, new in section.names.items():
        if old != new:
            lines.append(say("renamed", "Called `{old}` there, a name that an earlier piece has.", old=old))
    return "".join(f"# {line}\n" for line in lines)
