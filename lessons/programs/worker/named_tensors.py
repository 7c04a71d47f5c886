"""The tensors of a run that its source gives a name: variables, parameters, and the variables of functions."""

from __future__ import annotations

import dis
import functools
import itertools
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from types import CodeType
from typing import Literal

from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.recording.event import Site
from attn_tutor.lessons.worker.recording.local_variables import MODULE
from attn_tutor.lessons.worker.recording.names import Assignment
from attn_tutor.lessons.worker.recording.record import Binding, Variables
from attn_tutor.lessons.worker.recording.regions import QUANTIZED, Region

VARIABLE = re.compile(r"\w+")

UNWANTED = "_"
"""What programs call a value that they do not want."""

NamedKind = Literal["variable", "parameter", "local"]


@dataclass(slots=True, frozen=True)
class NamedTensor:
    """A tensor with the name that the source gives it, as it was when the name was bound last.

    Attributes:
        label: tells it from all others: `scores`, `model.weight`, `Attention.forward.scores`.
        name: as its code calls it.
        kind: a `local` is a variable of a function, or of a file that the program imports; a `parameter` is a parameter
            or buffer of a module.
        scope: the function or imported file whose variable it is; "" for a variable of the program itself.
        file, line: where the name was bound last; "" and None if no source that is watched shows it.
        region: which elements of which storage it is.
        time: the moment of the record at which it had these values.
        count: how often the name was bound to a tensor, of a function's variable how many calls were noted.
        call: the call of the function that it is from; 0 if that is not known.
        module: what the program calls the module whose method that was; "" if it was none, or has no name.
    """

    label: str
    name: str
    kind: NamedKind
    scope: str
    file: str
    line: int | None
    region: Region
    time: int
    count: int
    call: int = 0
    module: str = ""


def named_tensors(
    explainer: Explainer, main: str, scope: str = MODULE, present: Container[str] | None = None
) -> list[NamedTensor]:
    """List the named tensors of a run whose own file is `main`, or a function in it, if that is its `scope`.

    Of its variables, those that are `present` at its end are listed; the others are gone, or no tensors any more.

    First come the variables of the program, in the order in which they were first bound, then those of functions and
    imported files, in the order in which these first ran, then parameters and buffers. A variable called `_` is one
    that its code does not want.
    """
    explainer.names.update()
    top = [
        item
        for item in _variables(explainer, main, scope)
        if present is None or item.kind != "variable" or item.name in present
    ]
    locals_ = list(_locals(explainer, {item.region.view for item in top}))
    every = [
        *(item for item in top if item.kind == "variable"),
        *_told_apart(locals_, {item.label for item in top}),
        *(item for item in top if item.kind == "parameter"),
    ]
    return [_printable(item) for item in every if item.region.dtype not in QUANTIZED]


def _printable(item: NamedTensor) -> NamedTensor:
    """Return a named tensor with what is printed of it: a name may have any characters, as those of `globals()` do.

    What a terminal would obey is escaped and not replaced, so that two names stay two.
    """
    label, name = (clean(text, keep="", escape=True) for text in (item.label, item.name))
    return item if label == item.label else replace(item, label=label, name=name)


def in_all_calls(explainer: Explainer, main: str, present: Container[str]) -> Iterator[NamedTensor]:
    """Yield the named tensors of a run, those of a function as each of its calls that are kept has left them.

    What a function was only given is left out where it is the same tensor as another variable.
    """
    record = explainer.record
    functions = {(scope_of(code), code.co_filename): code for code in record.calls}
    others = [
        item for item in named_tensors(explainer, main, present=present) if (item.scope, item.file) not in functions
    ]
    yield from others
    known = {item.region.view for item in others}
    known.update(
        region.view for code in functions.values() for call in record.calls[code] for region in _own_regions(call, code)
    )
    for (scope, file), code in functions.items():
        assigned = _bound(code).assigned
        for call in record.calls[code]:
            for name, region in call.regions.items():
                given = _variable(name) not in assigned and region.view in known
                if name != UNWANTED and not given and region.dtype not in QUANTIZED:
                    label = f"{scope}.{name}"
                    yield NamedTensor(label, name, "local", scope, file, None, region, call.time, 0, call.call)


def shapes_in_functions(explainer: Explainer) -> Iterator[tuple[str, int, str, tuple[int, ...]]]:
    """Yield what assignments in functions have bound in their last or chosen call, in the order of files and lines.

    Each is a file, the line of the statement, the name, and the shape of the tensor. Lines that did not run in that
    call, or made no tensor, as dropout outside of training, would have the shapes of another call.
    """
    positions, variables = explainer.names.positions, explainer.record.variables
    last: dict[tuple[Site, str], tuple[int, ...]] = {}
    for item in explainer.names.assignments:
        code = item.site[0]
        if not is_module(code) and (code not in variables or _is_within(item, variables[code])):
            last[item.site, item.binding.name] = item.binding.region.shape
    found = {
        (site[0].co_filename, line, name): shape
        for (site, name), shape in last.items()
        if (line := positions.statement_line(site)) is not None
    }
    # On one line, they stay in the order of the code: `q, k, v = ...`.
    for (file, line, name), shape in sorted(found.items(), key=lambda item: item[0][:2]):
        yield file, line, name, shape


def _variables(explainer: Explainer, main: str, scope: str) -> list[NamedTensor]:
    """List the variables of the program itself, and the parameters and buffers of its modules."""
    record, names = explainer.record, explainer.names
    bound: dict[str, list[Binding]] = {}
    sites: dict[str, Site] = {}
    for binding in itertools.chain.from_iterable(record.bindings.values()):
        bound.setdefault(binding.name, []).append(binding)
    for item in names.assignments:
        if item.scope == scope and item.site[0].co_filename == main:
            bound.setdefault(item.binding.name, []).append(item.binding)
            sites[item.binding.name] = item.site
    modules = {name.partition(".")[0] for name in bound if "." in name}
    found: list[NamedTensor] = []
    parameters: set[object] = set()
    bound.pop(UNWANTED, None)
    for name, bindings in sorted(bound.items(), key=lambda item: min(binding.time for binding in item[1])):
        bindings.sort(key=lambda binding: binding.time)
        last = bindings[-1]
        site = sites.get(name) or _made_at(explainer, last, main)
        file, line = (site[0].co_filename, names.positions.line(site)) if site else ("", None)
        kind: NamedKind = "parameter" if name.partition(".")[0] in modules and "." in name else "variable"
        if kind == "parameter":
            # A module may have several names.
            if last.region.view in parameters:
                continue
            parameters.add(last.region.view)
        # A variable lives to the end, whatever is written into it.
        found.append(NamedTensor(name, name, kind, "", file, line, last.region, record.time, _count(bindings)))
    return found


def _locals(explainer: Explainer, top: Iterable[tuple[object, ...]]) -> Iterator[NamedTensor]:
    """Yield the variables of functions and imported files, callers first; `top` are those of the program itself.

    A function that has not returned yet has none: what its code assigns says too little of them.
    """
    noted = explainer.record.variables
    known: set[object] = {region.view for code in noted for region in _own_regions(noted[code], code)}
    known.update(top)
    # Of two functions of the same name in a file, the program has the one that was defined last.
    last = {(code.co_qualname, code.co_filename): code for code in noted}
    for code in sorted(last.values(), key=lambda code: noted[code].order):
        yield from _noted(explainer, code, known)


def _noted(explainer: Explainer, code: CodeType, known: set[object]) -> Iterator[NamedTensor]:
    """Yield the variables of a function as they were when its last call returned, or the one that was chosen.

    What it was only given, as an argument or by an object, is left out where it is the same tensor as a variable or
    parameter elsewhere, but not in a call that was chosen.
    """
    variables, bound = explainer.record.variables[code], _bound(code)
    scope, file, times = scope_of(code), code.co_filename, explainer.record.times_called(code)
    lines = _lines_of_call(explainer, code)
    owner = variables.module() if variables.module is not None else None
    module = explainer.record.modules.get(owner, "") if owner is not None else ""
    for name, region in variables.regions.items():
        variable = _variable(name)
        given = variable not in bound.assigned and region.view in known
        if variable == UNWANTED or (given and variables.call == times):
            continue
        # One object has the same attributes in each of its methods.
        known.add(region.view)
        line = lines.get((name, region.view)) or bound.lines.get(name, bound.lines.get(variable, code.co_firstlineno))
        label = f"{scope}.{name}"
        yield NamedTensor(
            label, name, "local", scope, file, line, region, variables.time, times, variables.call, module
        )


@functools.lru_cache(8)
def _assignments(explainer: Explainer, time: int) -> dict[CodeType, list[Assignment]]:
    """Return the assignments of each function; `time` is the present one of the record."""
    found: dict[CodeType, list[Assignment]] = {}
    for item in explainer.names.assignments:
        found.setdefault(item.site[0], []).append(item)
    return found


def _lines_of_call(explainer: Explainer, code: CodeType) -> dict[tuple[str, object], int | None]:
    """Return the lines on which the last or chosen call of a function named tensors, by name and tensor."""
    variables = explainer.record.variables[code]
    assignments = _assignments(explainer, explainer.record.time)
    return {
        (item.binding.name, item.binding.region.view): explainer.names.positions.statement_line(item.site)
        for item in assignments.get(code, ())
        if _is_within(item, variables)
    }


def _is_within(item: Assignment, variables: Variables) -> bool:
    """Return whether something was assigned during a call of a function."""
    return variables.since <= item.binding.time <= variables.time


def _own_regions(variables: Variables, code: CodeType) -> Iterator[Region]:
    """Yield the tensors that a function has bound itself, not those that it was only given, or went through."""
    assigned = _bound(code).assigned
    for name, region in variables.regions.items():
        if name in assigned and name != UNWANTED:
            yield region


def _variable(name: str) -> str:
    """Return the variable that a name begins with, as every name does: `hidden[0]`, `self.cache`."""
    return VARIABLE.match(name)[0]  # type: ignore[index]


@dataclass(slots=True, frozen=True)
class _Bound:
    """The variables that a function binds; its arguments may be none of them.

    Attributes:
        lines: the last line on which each is bound, also attributes of `self`.
        assigned: those that are not only the targets of loops.
    """

    lines: Mapping[str, int]
    assigned: frozenset[str]


@functools.lru_cache(1024)
def _bound(code: CodeType) -> _Bound:
    """Read the instructions of a function for the variables that it binds."""
    lines: dict[str, int] = {}
    assigned: set[str] = set()
    line, in_target, after_self, is_import = code.co_firstlineno, False, False, False
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno or line if instruction.positions is not None else line
        stored = _stored(instruction)
        in_target = instruction.opname == "FOR_ITER" or (
            in_target and (bool(stored) or instruction.opname.startswith("UNPACK"))
        )
        attribute = (f"self.{instruction.argval}",) if after_self and instruction.opname == "STORE_ATTR" else ()
        for name in (*stored, *attribute):
            lines[name] = max(line, lines.get(name, 0))
        if not in_target and not is_import:
            assigned.update(stored)
        is_import = instruction.opname == "IMPORT_FROM"
        loaded = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        after_self = instruction.opname.startswith("LOAD_FAST") and loaded[-1] == "self"
    return _Bound(lines, frozenset(assigned))


def _stored(instruction: dis.Instruction) -> tuple[str, ...]:
    """Return the variables that an instruction binds.

    From Python 3.13 on, one may bind two, or bind one and read one.
    """
    op = instruction.opname
    if op in ("STORE_DEREF", "STORE_GLOBAL", "STORE_NAME") or op.startswith("STORE_FAST"):
        names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        return names[:1] if op.endswith("LOAD_FAST") else names
    return ()


def is_module(code: CodeType) -> bool:
    """Return whether code is that of a file outside of all functions."""
    return code.co_qualname == MODULE


def scope_of(code: CodeType) -> str:
    """Return what a function is called; of code outside of all functions, the name of its file."""
    if is_module(code):
        return _stem(code.co_filename)
    return code.co_qualname.replace("<locals>.", "")


def _made_at(explainer: Explainer, binding: Binding, main: str) -> Site | None:
    """Return the site in the program's own file that made what a name was bound to; None if there is none."""
    writes = explainer.record.writes.get(binding.region.storage, ())
    before = [event for event in writes if event.time < binding.time]
    sites = [site for site in reversed(before[-1].sites if before else ()) if site[0].co_filename == main]
    variable = _variable(binding.name)
    # The parameters of a module that a function has made do not come from the statement that called the function.
    others = reversed(sites) if "." in binding.name else iter(sites)
    return next((site for site in sites if explainer.names.positions.assigned(site) == variable), next(others, None))


def _count(bindings: list[Binding]) -> int:
    """Count how often a name was bound to a tensor. The same binding may have been seen in two ways."""
    identities = (item.region.view for item in sorted(bindings, key=lambda binding: binding.time))
    return sum(1 for _ in itertools.groupby(identities))


def _told_apart(items: list[NamedTensor], taken: set[str]) -> Iterator[NamedTensor]:
    """Yield tensors with labels of which no two are the same: functions of one name get the name of their file."""
    labels = [item.label for item in items]
    for item in items:
        label, number = item.label, 2
        if labels.count(label) > 1 or label in taken:
            label = f"{_stem(item.file)}.{item.label}"
        while label in taken:
            label, number = f"{_stem(item.file)}.{item.label} {number}", number + 1
        taken.add(label)
        yield replace(item, label=label)


def _stem(file: str) -> str:
    """Return the name of a file as an import would call it."""
    path = PurePath(file)
    return path.parent.name if path.stem == "__init__" else path.stem
