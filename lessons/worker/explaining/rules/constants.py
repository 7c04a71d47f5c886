"""Rules for numbers that no operation computed: constants, literals, values that the learner set, and Python's own.

`torch.tensor([scores[0].item() * 2])` hands over a number of which PyTorch knows nothing. The code does: it is read as
a formula whose operands are the cells that Python read, and believed only if it gives exactly the number.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.registry import (
    MOST_TERMS,
    ZERO,
    given_by_python,
    initial,
    leaf,
    make,
    rule,
    set_here,
    short,
    stored,
)
from attn_tutor.lessons.worker.recording.element_history import Element
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.regions import Region
from attn_tutor.lessons.worker.recording.source_positions import ParsedSource, dotted

MOST_EVENTS = 2000
"""Operations before a number among which the ones are looked for that gave Python what it was computed from."""

DEEPEST = 20
"""Names and operations within each other that are followed."""

READ = "_local_scalar_dense"
"""The operation behind `.item()`, `float(...)` and `int(...)`."""

_OPERATORS: dict[type[ast.operator], Callable[[f.Formula, f.Formula], f.Formula]] = {
    ast.Add: f.add,
    ast.Mult: f.multiply,
    ast.Sub: lambda a, b: f.Op("-", (a, b)),
    ast.Div: lambda a, b: f.Op("/", (a, b)),
    ast.Pow: lambda a, b: f.Op("**", (a, b)),
}
_FUNCTIONS = {"sqrt", "exp", "log", "tanh", "sin", "cos", "floor", "ceil", "trunc"}
"""Functions of `math` that formulas know by the same name."""

_OF_LISTS: dict[str, Callable[..., f.Formula]] = {
    "sum": f.add,
    "max": lambda *parts: f.call("max", *parts),
    "min": lambda *parts: f.call("min", *parts),
}
"""Functions of a list of numbers."""

_OWN_NAMES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
"""Code with variables of its own: functions and comprehensions."""


def computed_by_python(
    derivation: Derivation, source: ParsedSource, node: ast.expr, index: Index, value: float
) -> f.Formula | None:
    """Return how the code `node` computed a number of the event from cells of tensors; None if that is not known.

    `index` is the place of the number in the lists that the code gives, empty if it gives the number alone. `value` is
    the number as it is in the tensor. Raises `ValueLost`.
    """
    formula = _Reader(derivation, source).read(node, index, DEEPEST)
    if formula is not None and derivation.elements:
        got = f.evaluate(formula, derivation.run.history.values(derivation.elements))
        dtype = derivation.event.outs[0].dtype
        # Python computes in double precision, as formulas do; the tensor may hold less.
        if float(torch.tensor(got, dtype=torch.float64).to(dtype)) == value:
            return formula
    derivation.elements.clear()
    derivation.positions.clear()
    return None


def item_at(node: ast.expr, index: Index) -> tuple[ast.expr, Index]:
    """Return the code at an index in nested lists, and what is left of the index where they are no longer written."""
    while index and isinstance(node, ast.List | ast.Tuple) and index[0] < len(node.elts):
        if any(isinstance(part, ast.Starred) for part in node.elts[: index[0] + 1]):
            break
        node, index = node.elts[index[0]], index[1:]
    return node, index


class _Reader:
    """Reads code as a formula over the cells that it has read."""

    def __init__(self, derivation: Derivation, source: ParsedSource) -> None:
        self._derivation = derivation
        self._source = source
        self._rounds: dict[str, tuple[ast.expr, int]] = {}
        """What the variables of comprehensions run over, and the round."""
        self._is_earlier = False
        """Whether the code that is read ran before the statement of the number."""

    def read(self, node: ast.expr, index: Index, depth: int) -> f.Formula | None:
        """Return the number at an index of what some code gives as a formula; None if it cannot be read."""
        if depth == 0:
            return None
        node, index = item_at(node, index)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            return self._comprehension(node, index, depth)
        if isinstance(node, ast.Name) and node.id in self._rounds:
            over, count = self._rounds[node.id]
            is_list = isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr == "tolist"
            return self.read(over, (count, *index), depth - 1) if is_list else self._cell_of(over, (count, *index))
        if isinstance(node, ast.Name):
            assigned = self._assigned(node)
            self._is_earlier = True
            return self.read(assigned, index, depth - 1) if assigned is not None else None
        if isinstance(node, ast.Call):
            return self._call(node, index, depth)
        return None if index else self._arithmetic(node, depth)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, index: Index, depth: int) -> f.Formula | None:
        (loop, *more) = node.generators
        if more or loop.ifs or not index or not isinstance(loop.target, ast.Name) or loop.target.id in self._rounds:
            return None
        self._rounds[loop.target.id] = loop.iter, index[0]
        found = self.read(node.elt, index[1:], depth - 1)
        del self._rounds[loop.target.id]
        return found

    def _arithmetic(self, node: ast.expr, depth: int) -> f.Formula | None:
        if isinstance(node, ast.Constant):
            number = node.value
            return f.Number(number) if isinstance(number, int | float) and not isinstance(number, bool) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            part = self.read(node.operand, (), depth - 1)
            return f.Op("neg", (part,)) if part is not None else None
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = (self.read(side, (), depth - 1) for side in (node.left, node.right))
            return _OPERATORS[type(node.op)](left, right) if left is not None and right is not None else None
        return None

    def _call(self, node: ast.Call, index: Index, depth: int) -> f.Formula | None:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if (read := self._read_in_round(node)) is not None:
            return self.read(read, index, depth - 1)
        if method == "tolist" and isinstance(node.func, ast.Attribute) and not node.args:
            return self._cell_of(node.func.value, index)
        if index:
            return None
        event = self._last(lambda event: event.op == READ, node)
        if event is not None:
            tensor = event.arg("self")
            cell = self._cell(self._derivation.element(tensor, (0,) * len(tensor.shape), event.time))
            return f.call("trunc", cell) if dotted(node.func) == "int" else cell
        if isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
            if node.func.id in _OF_LISTS:
                return self._of_list(node.func.id, node.args[0], depth)
            length = self._length(node.args[0], depth) if node.func.id == "len" else None
            if length is not None:
                return f.Number(float(length))
        if dotted(node.func).startswith("math.") and method in _FUNCTIONS and len(node.args) == 1:
            part = self.read(node.args[0], (), depth - 1)
            return f.call(method, part) if part is not None else None
        return None

    def _of_list(self, name: str, node: ast.expr, depth: int) -> f.Formula | None:
        """Return the sum or an extreme of all numbers of a list."""
        length = self._length(node, depth)
        if not length or length > MOST_TERMS:
            return None
        parts = [self.read(node, (at,), depth - 1) for at in range(length)]
        known = [part for part in parts if part is not None]
        return _OF_LISTS[name](*known) if len(known) == length else None

    def _length(self, node: ast.expr, depth: int) -> int | None:
        """Return how many items a list or a tensor has; None if that is not known."""
        if depth == 0:
            return None
        if isinstance(node, ast.List | ast.Tuple):
            return None if any(isinstance(item, ast.Starred) for item in node.elts) else len(node.elts)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            (loop, *more) = node.generators
            return None if more or loop.ifs else self._length(loop.iter, depth - 1)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "tolist":
            node = node.func.value
        region = self._region(node)
        if region is not None:
            return region.shape[0] if region.shape else None
        assigned = self._assigned(node) if isinstance(node, ast.Name) else None
        return self._length(assigned, depth - 1) if assigned is not None else None

    def _read_in_round(self, node: ast.Call) -> ast.Name | None:
        """Return the variable of a comprehension that a call reads: `row.tolist()`, `x.item()`, `float(x)`."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("item", "tolist") and not node.args:
            read = node.func.value
        elif dotted(node.func) == "float" and len(node.args) == 1:
            read = node.args[0]
        else:
            return None
        return read if isinstance(read, ast.Name) and read.id in self._rounds else None

    def _cell_of(self, node: ast.expr, index: Index) -> f.Formula | None:
        """Return a cell of the tensor that some code gives: the value of a variable, or of an operation."""
        region = self._region(node)
        if region is None or len(region.shape) != len(index):
            return None
        if not all(at < size for at, size in zip(index, region.shape, strict=True)):
            return None
        return self._cell(self._derivation.element(region, index))

    def _region(self, node: ast.expr) -> Region | None:
        """Return the tensor that some code gives; None if that is not certain."""
        if dotted(node):
            return self._bound(node)
        event = self._last(lambda event: bool(event.outs), node)
        return event.outs[0] if event is not None else None

    def _bound(self, node: ast.expr) -> Region | None:
        """Return the tensor that a name means; None if it has none, or may have meant another when it was read."""
        names, time = self._derivation.run.names, self._derivation.event.time
        if self._scope(node) is not None or self._is_earlier:
            return names.only_tensor(dotted(node), time)
        known = (binding for binding in reversed(names.bindings(dotted(node))) if binding.time <= time)
        return next((binding.region for binding in known if binding.top), None)

    def _cell(self, element: Element) -> f.Formula:
        return self._derivation.operand_for(self._derivation.run.through(element))

    def _last(self, accepts: Callable[[Event], bool], node: ast.expr) -> Event | None:
        """Return the last operation before this one that some code called, of those that are accepted."""
        run = self._derivation.run
        last = run.record.events.after(self._derivation.event.time)
        for event in reversed(run.record.events[max(0, last - MOST_EVENTS) : last]):
            if accepts(event) and event.sites and run.names.positions.node(event.sites[0]) is node:
                return event
        return None

    def _assigned(self, name: ast.Name) -> ast.expr | None:
        """Return the code that a variable got its value from before it is used; None if that is not clear."""
        found: ast.expr | None = None
        scope = self._scope(name)
        for node in self._source.parents:
            if isinstance(node, ast.arg) and node.arg == name.id and self._scope(node) is scope:
                return None
            if not isinstance(node, ast.Name) or node.id != name.id or isinstance(node.ctx, ast.Load):
                continue
            if self._scope(node) is not scope:
                continue
            statement = self._source.parents[node]
            if not isinstance(statement, ast.Assign) or statement.targets != [node]:
                return None
            if (statement.lineno, statement.col_offset) < (name.lineno, name.col_offset):
                # Nodes of one level come in the order of the source, but levels come one after the other.
                earlier = found is None or statement.value.lineno >= found.lineno
                found = statement.value if earlier else found
        return found

    def _scope(self, node: ast.AST) -> ast.AST | None:
        """Return the function or comprehension that a node is in; None in the outermost code."""
        while (parent := self._source.parents.get(node)) is not None:
            if isinstance(parent, _OWN_NAMES):
                return parent
            node = parent
        return None


say = Wording("explaining/constants")

LEAVES = frozenset(
    {
        # constants
        "lift_fresh",
        "ones",
        "zeros",
        "full",
        "empty",
        "ones_like",
        "zeros_like",
        "full_like",
        "empty_like",
        "new_ones",
        "new_zeros",
        "new_full",
        "new_empty",
        "new_empty_strided",
        "empty_strided",
        "empty_permuted",
        "eye",
        "arange",
        "linspace",
        "scalar_tensor",
        "zero",
        "zero_",
        "fill",
        "fill_",
        "tril_indices",
        "triu_indices",
        # random numbers
        "rand",
        "randn",
        "randint",
        "rand_like",
        "randn_like",
        "randint_like",
        "randperm",
        "uniform",
        "uniform_",
        "normal",
        "normal_",
        "random_",
        "bernoulli",
        "bernoulli_",
        "exponential_",
        "multinomial",
    }
)
"""Operations whose results do not depend on any other tensor."""


def set_by_hand(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain a value that the learner set, and say what it was before."""
    before = derivation.run.history.overwritten(derivation.event)
    if before is None:
        return make("set", None, say("you-set", "You set this to {value}.", value=short(value)))
    was = short(float(before[index].item()))
    note = say("you-set-from", "You set this to {value}. Before, it was {before}.", value=short(value), before=was)
    return make("set", None, note)


@rule("ones", "zeros", "full", "ones_like", "zeros_like", "full_like", "new_ones", "new_zeros", "new_full", "zero")
def _constant(derivation: Derivation, index: Index, value: float) -> RuleResult:
    number = short(initial(derivation, index, value))
    note = say("every-element", "Every element was made {number} here.", number=number)
    return leaf(derivation, "constant", index, note)


@rule("fill")
def _fill(derivation: Derivation, index: Index, value: float) -> RuleResult:
    fill = derivation.event.arg("value")
    cell = derivation.cell(fill, ()) if isinstance(fill, Region) else ZERO
    if isinstance(cell, f.Number):
        return set_by_statement(derivation, index, value)
    return make("fill", stored(cell, derivation.event.outs[0].dtype))


def set_by_statement(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain a number that a statement such as `x[0] = 7` set."""
    sites, positions = derivation.event.sites, derivation.run.names.positions
    code = positions.statement(sites[0]) if sites else ""
    return leaf(derivation, "constant", index, set_here(initial(derivation, index, value)), code=code)


@rule("empty", "empty_like", "new_empty", "new_empty_strided", "empty_strided", "empty_permuted")
def _empty(derivation: Derivation, index: Index, value: float) -> RuleResult:
    note = say("only-reserved", "Memory that was only reserved here; no recorded operation has written to it.")
    return make("uninitialized", None, note)


@rule("eye")
def _eye(derivation: Derivation, index: Index, value: float) -> RuleResult:
    number = short(initial(derivation, index, value))
    note = (
        say("on-diagonal", "{number}, because it is on the diagonal.", number=number)
        if index[0] == index[1]
        else say("off-diagonal", "{number}, because it is off the diagonal.", number=number)
    )
    return leaf(derivation, "constant", index, note)


@rule("scalar_tensor")
def _scalar(derivation: Derivation, index: Index, value: float) -> RuleResult:
    return leaf(derivation, "constant", index, given_by_python())


@rule("arange", "linspace")
def _counted(derivation: Derivation, index: Index, value: float) -> RuleResult:
    note = say("of-sequence", "Element {number} of the sequence that starts here.", number=index[-1])
    return leaf(derivation, "constant", index, note)


@rule("tril_indices", "triu_indices")
def _listed(derivation: Derivation, index: Index, value: float) -> RuleResult:
    note = (
        say("row-of-cell", "The row of cell {number} in the list.", number=index[1])
        if index[0] == 0
        else say("column-of-cell", "The column of cell {number} in the list.", number=index[1])
    )
    return leaf(derivation, "constant", index, note)


@rule("lift_fresh")
def _literal(derivation: Derivation, index: Index, value: float) -> RuleResult:
    sites = derivation.event.sites
    positions = derivation.run.names.positions
    node = positions.node(sites[0]) if sites else None
    source = positions.source(sites[0]) if sites else None
    if isinstance(node, ast.Subscript | ast.Assign | ast.AugAssign):
        return set_by_statement(derivation, index, value)
    if source is None or not isinstance(node, ast.Call) or not node.args:
        code = positions.code(sites[0]) if sites else derivation.run.shown_code(derivation.event.outs[0].storage)
        note = (
            say("computed-number", "A number that Python computed: {code}.", code=code)
            if code
            else say("computed-somewhere", "A number that Python computed.")
        )
        return leaf(derivation, "given", index, note)
    if not derivation.event.direct:
        # What the code gave to the function that made it may be anything.
        return leaf(derivation, "given", index, given_by_python())
    item, left = item_at(node.args[0], index)
    code = source.segment(item)
    if not left and isinstance(item.operand if isinstance(item, ast.UnaryOp) else item, ast.Constant):
        note = (
            say(
                "written-beyond",
                "Written in the code. It is beyond the largest number of {dtype}, so it becomes {value}.",
                dtype=str(derivation.event.outs[0].dtype).removeprefix("torch."),
                value=value,
            )
            if _is_beyond(item, value)
            else say("written", "Written in the code.")
        )
        return leaf(derivation, "literal", index, note, code=code, line=item.lineno)
    formula = computed_by_python(derivation, source, item, left, value)
    if isinstance(formula, f.OperandRef):
        return make("item", formula, say("read", "Python read it: {code}.", code=code))
    if formula is not None or not left:
        computed = say("computed", "Computed by Python: {code}.", code=code)
        if formula is not None:
            return make("python", formula, computed)
        return leaf(derivation, "given", index, computed, code=code, line=item.lineno)
    note = say("given-as", "A number that Python gave to PyTorch here: {code}.", code=code)
    return leaf(derivation, "given", index, note)


def _is_beyond(item: ast.expr, value: float) -> bool:
    """Return whether a number is written that is too large for its type, so that its value is an infinity."""
    try:
        number = ast.literal_eval(item)
    except ValueError:
        return False
    return math.isinf(value) and isinstance(number, int | float) and not math.isinf(number)
