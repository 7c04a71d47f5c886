"""Names for elements: the name that a line of source gives their tensor, or the code that made it."""

from __future__ import annotations

import ast
import itertools
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from types import CodeType

from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.recording import operation_info
from attn_tutor.lessons.worker.recording.element_history import Element, ElementHistory
from attn_tutor.lessons.worker.recording.event import Event, Site
from attn_tutor.lessons.worker.recording.optimizer_steps import SYMBOLS, StateTensor
from attn_tutor.lessons.worker.recording.record import Binding, Record
from attn_tutor.lessons.worker.recording.regions import Region, View
from attn_tutor.lessons.worker.recording.source_positions import SourcePositions, SourceSpan, dotted, span_of
from attn_tutor.lessons.worker.recording.tangents import Tangents

say = Wording("explaining/names")

LONGEST = 60
LONGEST_PERIOD = 8
"""Operations of one piece of code up to which a sequence is recognized as its repetition."""


"""Which elements of which storage a region has in which shape."""


@dataclass(slots=True, frozen=True)
class NamedCell:
    """A cell with the name of its tensor.

    Attributes:
        name, index: as the code would write them.
        proper: whether the code gives its tensor this name; else `name` is a piece of code.
    """

    name: str
    index: tuple[int, ...]
    proper: bool

    @property
    def label(self) -> str:
        """The name with the index."""
        return label(self.name, self.index)


@dataclass(slots=True, frozen=True)
class Assignment:
    """A binding that the source of an operation shows: what the code at a site gave was assigned to a name."""

    site: Site
    binding: Binding

    @property
    def scope(self) -> str:
        """The function whose variable the name is, `<module>` for code outside of all functions."""
        return self.site[0].co_qualname


@dataclass(slots=True, frozen=True)
class _Known:
    """A binding with the time of the next one of the same variable."""

    binding: Binding
    until: int
    scope: str


@dataclass(slots=True)
class _Run:
    """Operations that a piece of code ran in one call.

    Attributes:
        sites: the position of the code, and where it was called from.
        events: the operations.
        is_followed: whether functions of the program that it called ran operations after these, whose results the
            call may give.
    """

    sites: tuple[Site, ...]
    events: list[Event]
    is_followed: bool = False

    def has(self, event: Event) -> bool:
        """Return whether the code called an operation, itself or by functions that it called."""
        return event.sites[-len(self.sites) :] == self.sites


class Names:
    """Finds names for elements of storages; `update` makes it aware of what was recorded since the last call."""

    def __init__(
        self, record: Record, history: ElementHistory, states: Mapping[int, StateTensor] | None = None
    ) -> None:
        self._record = record
        self._history = history
        self._states = {} if states is None else states
        self.positions = SourcePositions(record)
        self.assignments: list[Assignment] = []
        """The assignments that the source shows, in the order of time."""
        self._whole: set[int] = set()
        self._steps: dict[int, int] = {}
        self._known: dict[int, list[_Known]] = {}
        self._ranked: dict[tuple[int, int, frozenset[str]], list[_Known]] = {}
        self._by_name: dict[str, list[Binding]] = {}
        self._by_code: dict[tuple[Site, str], list[Event]] = {}
        self._bound: set[str] = set()
        self._modules: set[str] = set()
        self._spans: set[SourceSpan | None] = set()
        self._reshapes: list[tuple[int, View, View]] = []
        self.seen = (-1, -1)
        self._sorted = 0
        self._unfinished = 0
        self.tangents = Tangents(record)

    def update(self) -> None:
        """Name what has been recorded since the last call by the assignments in its source."""
        events = self._record.events
        size = (self._record.time, sum(map(len, self._record.bindings.values())))
        if size == self.seen:
            return
        # The last pieces of code may have run on since the last call.
        start = events.after(self._unfinished)
        self.seen = size
        self.tangents.update()
        since = events[start].time if start < len(events) else self._record.time
        self.assignments = [item for item in self.assignments if item.binding.time <= since]
        self._whole = {time for time in self._whole if time < since}
        self._reshapes = [item for item in self._reshapes if item[0] < since]
        bound = itertools.chain.from_iterable(self._record.bindings.values())
        self._bound = {item.name for item in bound}
        self._modules = {name for name, dot, _ in (one.partition(".") for one in self._bound) if dot}
        runs = list(_runs(events[start:], self._record.asides))
        for run in runs:
            self._spans.add(self.positions.span(run.sites[0]))
            self._name(run)
            self._rename(run.events)
        self.assignments.sort(key=lambda item: item.binding.time)
        self._unfinished = min((run.events[0].time for run in runs if run.has(events[-1])), default=size[0])
        for event in events[events.after(self._sorted) :]:
            if event.sites and not event.view:
                self._by_code.setdefault((event.sites[0], event.op), []).append(event)
        self._sorted = self._record.time
        self._sort()

    def name_again(self) -> None:
        """Take note that the variables of functions are those of other calls."""
        self._sort()

    def _name(self, code: _Run) -> None:
        """Name the result of a piece of code.

        In a loop the code may have run several times: then the operations repeat. Only operations that code calls
        directly count as repeated, since a function or module may repeat operations itself.
        """
        sites, run = code.sites, code.events
        self._steps.update((event.time, step) for step, event in enumerate(run, 1))
        failed = self._record.failed
        if failed is not None and failed.site == sites[0]:
            run = [event for event in run if not failed.since <= event.time < failed.until]
            if not run:
                return
        if code.is_followed or any(map(self.tangents.has, run)):
            return
        # Autograd keeps what an operation gave, for its derivative, as one more tensor.
        run = [event for event in run if event.op != "detach"] or run
        length = _period([event.op for event in run]) if all(event.direct for event in run) else len(run)
        last = run[length - 1 :: length]
        self._whole.update(event.time for event in last)
        self._steps.update((event.time, step) for step, event in enumerate(run, 1))
        name = self.positions.assigned(sites[0])
        unpacked = () if name else self.positions.unpacked(sites[0])
        for event in last if unpacked else ():
            if len(event.outs) == len(unpacked):
                for one, region in zip(unpacked, event.outs, strict=True):
                    self._assign(sites[0], one, region, event.time + 1)
        # `self.W_query` in a constructor: outside, the parameter goes by the name of the module.
        if not name or name.startswith("self."):
            return
        scope = sites[0][0].co_qualname
        # The name belongs to a module, not to the parameter that its constructor made last.
        if scope == "<module>" and name in self._modules:
            return
        if any(event.info.written and not event.direct for event in last):
            # What a function changes in place, as `clip_grad_norm_` does with gradients, is not what it returns.
            return
        if not last[-1].direct and self._is_no_tensor(sites[0][0], name):
            return
        for event in last:
            # A view takes the name only if it is the last operation of the code, and a pair of tensors takes none.
            if event.outs and (event is run[-1] or not event.view) and not self._result(event, 0):
                self._assign(sites[0], name, event.outs[0], event.time + 1)

    def _rename(self, run: list[Event]) -> None:
        """Give the name of a tensor to what it is when its layout was changed in place, as by `x.t_()`."""
        for event in run:
            before = event.arg("self") if event.info.reshaping else None
            if isinstance(before, Region) and event.outs and before.view != event.outs[0].view:
                self._reshapes.append((event.time, before.view, event.outs[0].view))
                name = _changed_name(self.positions.node(event.sites[0]))
                self._assign(event.sites[0], name, event.outs[0], event.time + 1)

    def _is_no_tensor(self, code: CodeType, name: str) -> bool:
        """Return whether a name is known to mean no tensor: what a module or function gave may be several tensors."""
        if code.co_qualname == "<module>":
            return name not in self._bound and name not in self._record.loops
        variables = self._record.variables.get(code)
        return variables is not None and name not in variables.regions

    def _assign(self, site: Site, name: str, region: Region, time: int) -> None:
        if name and not name.startswith("self."):
            binding = Binding(time, name, region, site[0].co_qualname == "<module>")
            self.assignments.append(Assignment(site, binding))

    def _sort(self) -> None:
        """Sort the bindings of each variable by time, and those of each name over all functions."""
        by_variable: dict[tuple[str, str], list[Binding]] = {}
        for binding in itertools.chain.from_iterable(self._record.bindings.values()):
            by_variable.setdefault(("<module>", binding.name), []).append(binding)
        for item in self.assignments:
            by_variable.setdefault((item.scope, item.binding.name), []).append(item.binding)
        for code, variables in self._record.variables.items():
            for name, region in variables.regions.items():
                if name.isidentifier():
                    binding = Binding(variables.time, name, region, False)
                    by_variable.setdefault((code.co_qualname, name), []).append(binding)
        for state in self._states.values():
            name = self.leaf_name(state.parameter)
            if name:
                name = _kept_name(state.key, name)
                by_variable.setdefault(("<module>", name), []).append(Binding(state.since, name, state.region, True))
        self._ranked.clear()
        self._known.clear()
        self._by_name.clear()
        for (scope, name), bindings in by_variable.items():
            bindings.sort(key=lambda binding: binding.time)
            self._by_name.setdefault(name, []).extend(bindings)
            # Binding the same tensor to the same name again changes nothing.
            groups = [list(group) for _, group in itertools.groupby(bindings, key=lambda item: item.region.view)]
            for count, group in enumerate(groups):
                # A variable of a function is a new one in every call.
                until = groups[count + 1][0].time if count + 1 < len(groups) and scope == "<module>" else sys.maxsize
                until = min(until, group[-1].until)
                for binding in group:
                    self._known.setdefault(binding.region.storage, []).append(_Known(binding, until, scope))
        for bindings in self._by_name.values():
            bindings.sort(key=lambda binding: binding.time)

    def bindings(self, name: str) -> list[Binding]:
        """Return all bindings of a name, in the lesson and in every function, in the order of time."""
        whole, _, part = name.rpartition(".")
        return self._by_name.get(name) or (self._by_name.get(whole, []) if part in _PARTS else [])

    def only_tensor(self, name: str, time: int) -> Region | None:
        """Return the tensor that a name has meant whenever it was bound up to a time, if nothing has overwritten it.

        None for a name that was not bound, or has had several values.
        """
        known = [binding for binding in self.bindings(name) if binding.time <= time]
        if len({binding.region.view for binding in known}) != 1:
            return None
        first = min(known, key=lambda binding: binding.time)
        overwritten = self._history.is_overwritten_since(first.region.storage, first.time)
        return None if overwritten else first.region

    def repetitions(self, event: Event) -> list[Event]:
        """Return the events whose results are called by the same code as those of this one, in the order of time."""
        same = self._by_code.get((event.sites[0], event.op), []) if event.sites else []
        code = self.code_of(event)
        return [other for other in same if self.code_of(other) == code]

    def leaf_name(self, leaf: Region) -> str:
        """Return the name that the lesson gives to a tensor whose gradient is added up in its `.grad`; "" if none."""
        for binding in self._record.bindings.get(leaf.storage, ()):
            region = binding.region
            if binding.leaf and (region.offset, region.shape, region.stride) == (leaf.offset, leaf.shape, leaf.stride):
                return binding.name
        return ""

    def means_tensor(self, name: str) -> bool:
        """Return whether the name was bound to a tensor anywhere."""
        return name in self._by_name

    def find(self, element: Element, code_names: frozenset[str] = frozenset()) -> NamedCell | None:
        """Return the name of an element at its time, one of `code_names` if possible; None if it has no name."""
        storage, time = element.storage, element.time
        known = self._known.get(storage)
        if known is None:
            return None
        key = (storage, time, code_names)
        ranked = self._ranked.get(key)
        if ranked is None:

            def rank(item: _Known) -> tuple[bool, bool, bool, bool, int, int]:
                binding = item.binding
                before = binding.time <= time
                # Of a tensor and its views the tensor: it was named first.
                age = -binding.time
                return before, time < item.until, binding.name in code_names, binding.top, _extent(binding.region), age

            ranked = self._ranked[key] = sorted(known, key=rank, reverse=True)
        for item in ranked:
            region = item.binding.region
            if self._is_part_elsewhere(item, element) or self._has_other_layout(item.binding, time):
                continue
            index = region.find(element.offset)
            same = region.parts.dtype.itemsize == element.region.dtype.itemsize and not region.flips(element.offset)
            if index is not None and same and not self._is_overwritten(element, item.binding.time):
                return NamedCell(item.binding.name + part_of(element, region, index), index, True)
        return None

    def _is_part_elsewhere(self, item: _Known, element: Element) -> bool:
        """Return whether a name means a part of a tensor that a function has taken of what other code had made."""
        if item.binding.top or item.binding.time <= element.time:
            return False
        writer = self._history.writer(element)
        if writer is None or not writer.sites or item.scope == writer.sites[0][0].co_qualname:
            return False
        made = next((out for out in writer.outs if out.storage == element.storage), None)
        return made is not None and _extent(item.binding.region) < _extent(made)

    def _has_other_layout(self, binding: Binding, time: int) -> bool:
        """Return whether the layout of what a variable of a function means was changed between its binding and a time.

        Those of the program are bound again when that happens.
        """
        if binding.top or not self._reshapes:
            return False
        mine = binding.region.view
        return any(
            (binding.time <= changed < time and before == mine) or (time <= changed < binding.time and after == mine)
            for changed, before, after in self._reshapes
        )

    def _is_overwritten(self, element: Element, until: int) -> bool:
        """Return whether an operation changed an element after its time: a later name never meant that value."""
        event = self._history.overwriter(element) if until > element.time else None
        return event is not None and event.time < until

    def code_of(self, event: Event, output: int = 0) -> str:
        """Return the code that made an unnamed tensor, in parentheses if it is more than a call or a name."""
        text, is_primary = self._code(event, output)
        return text if is_primary else f"({text})"

    def described(self, event: Event, output: int = 0) -> str:
        """Return the code that made an unnamed tensor, to stand in a phrase."""
        return self._code(event, output)[0]

    def function_of(self, event: Event) -> str:
        """Return the name of the function that the code called; the operation if it called none."""
        node = self.positions.node(event.sites[0]) if event.sites else None
        return _function(node) or event.op

    def is_called_by_name(self, event: Event) -> bool:
        """Return whether the code calls the operation itself, and no function that gives less than its results."""
        return bool(event.sites) and _function(self.positions.node(event.sites[0])) == event.op

    def result_name(self, event: Event) -> str:
        """Return the name that is assigned to what an operation made; "" if its code does more than that."""
        return self.positions.assigned(event.sites[0]) if event.sites and event.time in self._whole else ""

    def is_backward(self, event: Event) -> bool:
        """Return whether the code called a backward pass: then the operation is a step of it."""
        return bool(event.sites) and not event.direct and _calls_backward(self.positions.node(event.sites[0]))

    def _result(self, event: Event, output: int) -> str:
        """Describe a result of an operation that has several; "" for one that the code of its call gives as a whole."""
        is_first = operation_info.place_of_result(event, output)[0] == 0
        if is_first and operation_info.gives_first_only(event) and not self.is_called_by_name(event):
            return ""
        return operation_info.describe_result(event, output)

    def _code(self, event: Event, output: int) -> tuple[str, bool]:
        """Return the code that made an unnamed tensor, and whether an index may follow it as it is."""
        op = result = self._result(event, output)
        op = op or event.op.strip("_")
        text = self.positions.code(event.sites[0]) if event.sites else ""
        node = self.positions.node(event.sites[0]) if event.sites else None
        source = self.positions.source(event.sites[0]) if event.sites else None
        if isinstance(node, ast.AugAssign) and source is not None:
            # `self.steps -= 1` is no expression, but what it changes has a name.
            node = node.target
            text = source.segment(node)
        if not text or isinstance(node, ast.stmt):
            return op, False
        backward, is_whole = _calls_backward(node), event.time in self._whole
        if result and is_whole and source is not None and self._is_selected(event, output):
            # `x.topk(2).indices` is one of them.
            node = source.parents[node] if node is not None else node
            text, result = source.segment(node) if node is not None else text, ""
        elif not event.direct and is_whole and (event.info.in_place or self._is_taken_apart(event.sites[0])):
            # What a call changes in place, as that of a module does which fills its parameters, is not what it gives.
            is_whole = False
        if len(text) > LONGEST:
            # What is called last, at its end, tells it from what it was computed from.
            half = (LONGEST - 5) // 2
            text = f"{text[: LONGEST - 5 - half].rstrip()} ... {text[-half:].lstrip()}"
        if backward:
            # In the backward pass, all are steps of what this code computes, and the steps are numbered.
            text = say("step", "step {number} of {code}", number=self._steps[event.time], code=text)
        if result or not (is_whole or backward):
            # Only a step of what this code computes, or one of several tensors that it gives.
            return say("operation", "{operation} in {code}", operation=op, code=text), False
        return text, not backward and isinstance(node, ast.Call | ast.Name | ast.Attribute | ast.Subscript)

    def _is_selected(self, event: Event, output: int) -> bool:
        """Return whether the source takes this result of a call that gives all of them: by its name or its place."""
        parent = self.positions.parent(event.sites[0])
        if isinstance(parent, ast.Attribute):
            return parent.attr == operation_info.name_of_result(event, output)
        if not isinstance(parent, ast.Subscript) or not isinstance(parent.slice, ast.Constant):
            return False
        is_place = parent.slice.value == operation_info.place_of_result(event, output)[0]
        return is_place and event.direct and self.is_called_by_name(event)

    def _is_taken_apart(self, site: Site) -> bool:
        """Return whether the source takes one of several things that a call has given, and not a row of a tensor."""
        if any(self.positions.unpacked(site)):
            return True
        parent = self.positions.parent(site)
        if not isinstance(parent, ast.Subscript) or not isinstance(parent.slice, ast.Constant):
            return False
        return span_of(parent, site) not in self._spans


def _kept_name(key: str, parameter: str) -> str:
    """Name what an optimizer keeps for a parameter as people call it, by the name that PyTorch gives it."""
    if key == "momentum_buffer":
        return say("momentum", "(momentum of {parameter})", parameter=parameter)
    if key == "step":
        return say("step-count", "(step count of {parameter})", parameter=parameter)
    return say("kept", "({symbol} of {parameter})", symbol=SYMBOLS.get(key, key), parameter=parameter)


def _calls_backward(node: ast.AST | None) -> bool:
    return _function(node).endswith("backward")


def _function(node: ast.AST | None) -> str:
    """Return the last part of the name of the function that is called; "" if it has none."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


_PARTS = ("real", "imag")


def part_of(element: Element, region: Region, index: tuple[int, ...]) -> str:
    """Return `.real` or `.imag` for an element of a complex tensor, "" for any other."""
    if not region.dtype.is_complex:
        return ""
    return "." + _PARTS[element.offset > region.at(index)]


def _runs(events: Iterable[Event], asides: Sequence[tuple[int, int]]) -> Iterator[_Run]:
    """Yield what each piece of code ran, one call after the other, without the operations of functions below it.

    A call that gives functions of the program to PyTorch, or a module with modules of the program in it, goes on when
    they have returned: what it has computed before is no result. `asides` are times of what the program did not run.
    """
    lasting: list[_Run] = []
    pieces = itertools.groupby(events, key=lambda event: (event.sites, _is_in(asides, event.time)))
    for (sites, is_aside), group in pieces:
        run = list(group)
        while lasting and (is_aside or not lasting[-1].has(run[0])):
            yield lasting.pop()
        if lasting and lasting[-1].sites == sites:
            lasting[-1].events.extend(run)
            lasting[-1].is_followed = False
        elif sites:
            for caller in lasting:
                caller.is_followed = True
            lasting.append(_Run(sites, run))
    yield from reversed(lasting)


def _is_in(times: Sequence[tuple[int, int]], time: int) -> bool:
    """Return whether a time lies in one of some spans, which are in order."""
    position = bisect_right(times, time, key=itemgetter(0)) - 1
    return position >= 0 and time < times[position][1]


def _period(ops: list[str]) -> int:
    """Return the length of the shortest sequence that these operations repeat."""
    for length in range(1, min(LONGEST_PERIOD, len(ops) // 2) + 1):
        if len(ops) % length == 0 and all(ops[at] == ops[at - length] for at in range(length, len(ops))):
            return length
    return len(ops)


def _changed_name(node: ast.AST | None) -> str:
    """Return the name of the tensor that a call changes in place: `x` for `x.squeeze_().t_()`; "" if it has none."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
        node = node.func.value
    return dotted(node) if node is not None else ""


def _extent(region: Region) -> int:
    """Count the different elements of a region: a broadcast view repeats some."""
    count = 1
    for length, step in zip(region.shape, region.stride, strict=True):
        count *= length if step else 1
    return count
