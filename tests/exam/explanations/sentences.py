"""The sentences of explanations, each with a computation that decides whether it is true of a number.

The table holds every text that an explanation can carry. What is compared is the document of a number, the program, and
a run of it without the tutor. A text that the tutor has and the table has not, or the other way round, fails a test.
"""

from __future__ import annotations

import ast
import functools
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
import yaml

from tests.exam.explanations.documents import Json, label, with_names
from tests.exam.explanations.plain_run import PlainRun


@dataclass(frozen=True)
class Case:
    """A sentence about a number.

    Attributes:
        fields: what stands in the fields of the sentence.
        item: the document of the number.
        code: the program.
        plain: its run without the tutor.
        sentence: the whole of it.
    """

    fields: dict[str, str]
    item: Json
    code: str
    plain: PlainRun | None
    sentence: str = ""

    def number(self, name: str) -> float:
        """Return the number in a field."""
        return float(self.fields[name].replace(",", ""))

    @property
    def value(self) -> float:
        """The number that is explained."""
        return float(self.item["value"])

    @property
    def values(self) -> list[float]:
        """The numbers that it was computed from."""
        return [float(operand["value"]) for operand in self.item["operands"]]

    @property
    def formula(self) -> str:
        """The formula as it is written."""
        return str(self.item["formula"])

    @property
    def has_formula(self) -> bool:
        """Whether there is more than the number itself."""
        return any(label(operand) in self.formula for operand in self.item["operands"])


Decide = Callable[[Case], bool]


def near(one: float, other: float, digits: int = 5) -> bool:
    """Return whether two numbers are the same to some significant digits."""
    return one == other or (one != one and other != other) or math.isclose(one, other, rel_tol=10.0**-digits)


# The steps of a formula, in double precision with the rules of IEEE 754 ---------------------------------------------

Step = tuple[str, list[float], float]

_OPERATORS: dict[type[ast.AST], tuple[str, Callable[..., torch.Tensor]]] = {
    ast.Add: ("+", torch.add),
    ast.Sub: ("-", torch.sub),
    ast.Mult: ("*", torch.mul),
    ast.Div: ("/", torch.div),
    ast.Pow: ("**", torch.pow),
    ast.FloorDiv: ("//", torch.floor_divide),
    ast.Mod: ("%", torch.remainder),
}
_FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    **{
        name: getattr(torch, name)
        for name in ("exp", "log", "sqrt", "abs", "tanh", "erf", "sin", "cos", "isnan", "isinf")
    },
    **{name: getattr(torch, name) for name in ("floor", "ceil", "round", "trunc", "atan2", "fmod")},
    "max": lambda *given: torch.stack(given).max(),
    "min": lambda *given: torch.stack(given).min(),
    "float16": lambda x: x.half().double(),
    "bfloat16": lambda x: x.bfloat16().double(),
    "float32": lambda x: x.float().double(),
}


def steps(item: Json) -> list[Step]:
    """Return the operations of a formula with the numbers that they take and give, the inner ones first."""
    formula, names = with_names(item)
    found: list[Step] = []
    try:
        _evaluate(ast.parse(formula, mode="eval").body, names, found)
    except (SyntaxError, KeyError, RecursionError):
        return []
    return found


def _evaluate(node: ast.AST, names: dict[str, float], found: list[Step]) -> torch.Tensor:
    def step(name: str, function: Callable[..., torch.Tensor], parts: list[ast.expr]) -> torch.Tensor:
        given = [_evaluate(part, names, found).double() for part in parts]
        result = function(*given).double()
        found.append((name, [float(one) for one in given], float(result)))
        return result

    match node:
        case ast.Constant():
            return torch.tensor(float(node.value), dtype=torch.float64)
        case ast.Name():
            value = {"inf": math.inf, "nan": math.nan}.get(node.id)
            return torch.tensor(names[node.id] if value is None else value, dtype=torch.float64)
        case ast.UnaryOp(op=ast.USub()):
            return -_evaluate(node.operand, names, found)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            name, function = _OPERATORS[type(node.op)]
            return step(name, function, [node.left, node.right])
        case ast.IfExp():
            return _evaluate(node.body if _evaluate(node.test, names, found) else node.orelse, names, found)
        case ast.Call(func=ast.Name(id="sum"), args=[ast.List(elts=parts)]):
            return step("+", lambda *given: torch.stack(given).sum(), parts)
        case ast.Call(func=ast.Name(id=name)) if name in _FUNCTIONS:
            return step(name, _FUNCTIONS[name], node.args)
        case ast.Compare(left=left, comparators=[right]):
            one, other = _evaluate(left, names, found), _evaluate(right, names, found)
            kinds = {ast.Lt: one < other, ast.LtE: one <= other, ast.Gt: one > other, ast.GtE: one >= other}
            return {**kinds, ast.Eq: one == other, ast.NotEq: one != other}[type(node.ops[0])].double()
    raise KeyError(type(node).__name__)


# Deciders -----------------------------------------------------------------------------------------------------------

DECIDERS: dict[str, Decide] = {}
"""The functions that decide sentences, by the name that the table has for them."""


def decider(function: Decide) -> Decide:
    """Register a function that decides sentences."""
    DECIDERS[function.__name__] = function
    return function


@decider
def never(case: Case) -> bool:
    """It is false of each program of the examination: it is said of a run that was cut, or of what learners set."""
    return False


@decider
def is_name(case: Case) -> bool:
    """It is a part of a name and no sentence; `label_problem` compares names with what code of that name gives."""
    return False


@decider
def in_the_text(case: Case) -> bool:
    """It stands only in the printed text, whose reader computes with it."""
    return False


@decider
def is_origin_word(case: Case) -> bool:
    """It stands in the place of a formula in the printed text."""
    return False


@decider
def as_formula(case: Case) -> bool:
    """It says a formula in words: there is one, and that is computed elsewhere."""
    return case.has_formula


@decider
def is_origin(case: Case) -> bool:
    """The number was computed from no other."""
    return not case.item["operands"]


@decider
def from_gradient(case: Case) -> bool:
    """One of the operands is a gradient, or a step on the way to one; or there is nothing to send back."""
    words = ("gradient", "derivative", "backward", "grad")
    return any(word in label(operand) for operand in case.item["operands"] for word in words) or case.value == 0


@decider
def is_changed_by_others(case: Case) -> bool:
    """The program changes numbers without an operation of PyTorch."""
    return any(call in case.code for call in ("apply_(", "map_("))


@decider
def is_another(case: Case) -> bool:
    """The number is not the value, and it is what the code gives in double precision, if that can be computed."""
    number = case.number("number")
    wide = None if case.plain is None else code_value(str(case.item["code"]), case.item["index"], case.plain, wide=True)
    is_wide = "double precision" not in case.sentence or wide is None or near(wide, number)
    return not near(number, case.value, 15) and is_wide


@decider
def is_overflow(case: Case) -> bool:
    """The value is not finite, and with more room it would be."""
    return not math.isfinite(case.value) and math.isfinite(case.number("number"))


@decider
def is_unrounded(case: Case) -> bool:
    """The formula gives the number and not the value."""
    done = steps(case.item)
    is_given = not done or any(near(result, case.number("number"), 2) for _, _, result in done[-2:])
    return is_given and not near(case.number("number"), case.value, 15)


@decider
def keeps(case: Case) -> bool:
    """A type keeps so many decimal digits, given its binary ones."""
    digits = -math.log10(torch.finfo(getattr(torch, case.fields["dtype"])).eps / 2)
    low = case.number("low") if "low" in case.fields else case.number("count")
    high = case.number("high") if "high" in case.fields else low
    return low - 0.5 <= digits <= high + 0.5


@decider
def has_count(case: Case) -> bool:
    """Some name has a count."""
    return any("#" in label(operand) for operand in case.item["operands"])


@decider
def is_value(case: Case) -> bool:
    """The number is the value."""
    return near(case.number("number"), case.value)


@decider
def is_zero(case: Case) -> bool:
    """The value is 0."""
    return case.value == 0


@decider
def is_whole(case: Case) -> bool:
    """The value is a place or a count."""
    return case.value.is_integer() and case.value >= 0


@decider
def counts_operands(case: Case) -> bool:
    """The sum is over so many numbers."""
    return len(case.values) == case.number("count") or not case.has_formula


@decider
def counts_terms(case: Case) -> bool:
    """The sum has one term more than the loop has rounds."""
    tree = ast.parse(with_names(case.item)[0], mode="eval").body
    if isinstance(tree, ast.Call) and isinstance(tree.args[0], ast.List):
        return len(tree.args[0].elts) - 1 == case.number("count")
    added = 0
    while isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        added, tree = added + 1, tree.left
    return added == case.number("count")


@decider
def is_count(case: Case) -> bool:
    """So many numbers are in a row, or in the program's tensors at all."""
    return case.number("count") >= 1


@decider
def is_rounded(case: Case) -> bool:
    """The value is a number of that type."""
    narrow = torch.tensor(case.value, dtype=torch.float64).to(getattr(torch, case.fields["dtype"]))
    return near(float(narrow), case.value, 3)


@decider
def is_side_by_side(case: Case) -> bool:
    """The column of a context of two heads belongs to the half that it is in."""
    return case.number("column") == case.item["index"][-1] and case.number("head") in (0, 1)


@decider
def is_small_rest(case: Case) -> bool:
    """What the order of a sum changes is small."""
    done = steps(case.item)
    return not done or abs(done[-1][1][-1]) <= 1e-2 * (abs(case.value) + 1)


@decider
def is_fused(case: Case) -> bool:
    """The program calls a function with a kernel for several steps."""
    return _has(case, "attention", "Attention", "Transformer", "LSTM", "lstm", "mha")


@decider
def is_attention(case: Case) -> bool:
    """It calls attention, and with `is_causal` if later keys are masked."""
    return _has(case, "attention", "Attention") and ("later keys" not in case.sentence or _has(case, "is_causal=True"))


@decider
def source_has_glu(case: Case) -> bool:
    """The code calls a gated unit."""
    return _has(case, "glu", "GLU")


def _has(case: Case, *words: str) -> bool:
    return any(word in case.code for word in words)


@decider
def same_sign(case: Case) -> bool:
    """The value has the sign of the second number."""
    return math.copysign(1, case.values[-1]) == math.copysign(1, case.value)


@decider
def is_complex(case: Case) -> bool:
    """It is a part of a complex number that no other gave."""
    return not case.item["operands"] and (".real" in label(case.item) or ".imag" in label(case.item))


@decider
def is_optimizer(case: Case) -> bool:
    """The program has an optimizer, and the number was computed from its earlier value or a gradient."""
    return "optim." in case.code and bool(case.item["operands"])


# Origins ------------------------------------------------------------------------------------------------------------


@decider
def is_at_end(case: Case) -> bool:
    """The element has this place in the sequence."""
    return (
        case.number("number") == case.item["index"][-1]
        or case.plain is None
        or "reshape" in case.code
        or "view" in case.code
    )


@decider
def on_diagonal(case: Case) -> bool:
    """The row is the column, or a view has other indices."""
    index = case.item["index"]
    return is_value(case) and (case.value == 1) and (len(index) != 2 or index[0] == index[1] or "eye" in case.code)


@decider
def off_diagonal(case: Case) -> bool:
    """The value is the 0 off the diagonal."""
    return is_value(case) and case.value == 0


@decider
def is_computed(case: Case) -> bool:
    """The code stands in the program."""
    return _squeezed(case.fields["code"]) in _squeezed(case.code)


DECIDERS["is_read"] = is_computed


def _squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


@decider
def is_literal(case: Case) -> bool:
    """The code is a number, and it is the value, as far as the type keeps it."""
    try:
        written = float(ast.literal_eval(str(case.item["code"])))
    except (ValueError, SyntaxError):
        return False
    return near(written, case.value, 2 if "16" in str(case.item["dtype"]) else 6) or int(written) == case.value


@decider
def is_infinite(case: Case) -> bool:
    """A number that is written is beyond its type."""
    return math.isinf(case.value)


# Choices ------------------------------------------------------------------------------------------------------------


def _side(case: Case, *, kept: bool, above: bool) -> bool:
    row, column = int(case.number("row")), int(case.number("column"))
    found = re.fullmatch(r"diagonal (-?\d+)", case.fields["diagonal"])
    distance = column - row - (int(found[1]) if found else 0)
    return (distance >= 0 if above else distance <= 0) == kept and (kept or case.value == 0)


DECIDERS["above"] = functools.partial(_side, kept=True, above=True)
DECIDERS["above_not"] = functools.partial(_side, kept=False, above=True)
DECIDERS["below"] = functools.partial(_side, kept=True, above=False)
DECIDERS["below_not"] = functools.partial(_side, kept=False, above=False)


@decider
def is_masked(case: Case) -> bool:
    """The mask is there and not 0; a line is that of the number."""
    mask = float(case.fields["mask"])
    return mask != 0 and mask in case.values and int(case.fields.get("line", case.item["line"])) == case.item["line"]


@decider
def is_not_masked(case: Case) -> bool:
    """The mask is 0, and the value is that of another operand."""
    return float(case.fields["mask"]) == 0 and 0 in case.values and any(near(one, case.value) for one in case.values)


@decider
def is_wrapped(case: Case) -> bool:
    """The type has this range, and the formula stays in it by a remainder."""
    info = torch.iinfo(getattr(torch, case.fields["dtype"]))
    return (info.min, info.max) == (case.number("least"), case.number("most")) and "%" in case.formula


@decider
def is_cut_off(case: Case) -> bool:
    """The value is whole."""
    return case.value.is_integer()


@decider
def is_decimal(case: Case) -> bool:
    """The value has no more decimals than that."""
    scaled = case.value * 10 ** case.number("count")
    return near(scaled, round(scaled), 3 if "16" in str(case.item["dtype"]) else 5) or case.value == 0


@decider
def is_divided(case: Case) -> bool:
    """A step of the formula divides by the count less the correction."""
    count = case.number("count") - case.number("correction")
    return not case.has_formula or any(op == "/" and near(given[1], count) for op, given, _ in steps(case.item))


@decider
def came(case: Case) -> bool:
    """The operand has this place, and the number its rank, on some axis."""
    place, rank = int(case.number("place")), int(re.sub(r"\D", "", case.fields["nth"]))
    indices = [operand["index"] for operand in case.item["operands"]]
    is_ranked = not case.item["index"] or rank - 1 in case.item["index"] or "topk" in case.code or "sort" in case.code
    return is_ranked and all(place in index or not index for index in indices)


@decider
def is_at_place(case: Case) -> bool:
    """The operand has this place on some axis."""
    return all(int(case.number("place")) in operand["index"] for operand in case.item["operands"])


@decider
def is_greatest(case: Case) -> bool:
    """The value is the greatest of the numbers."""
    return any(map(math.isnan, case.values)) or near(case.value, max(case.values))


@decider
def is_least(case: Case) -> bool:
    """The value is the least of the numbers."""
    return any(map(math.isnan, case.values)) or near(case.value, min(case.values))


@decider
def is_largest(case: Case) -> bool:
    """The number is the largest of the operands."""
    return not case.values or near(case.number("number"), max(case.values))


@decider
def has_low_score(case: Case) -> bool:
    """One of the scores is -inf, or so low that nothing is left of it."""
    return min(case.values) <= -1e3 and case.value < 1e-6


@decider
def takes_classes(case: Case) -> bool:
    """Each operand is the score of a class that is named, or a weight."""
    classes = {int(one) for one in re.findall(r"\d+", case.fields["classes"])}
    return all(not operand["index"] or operand["index"][-1] in classes for operand in case.item["operands"])


@decider
def is_of_none(case: Case) -> bool:
    """There are no numbers."""
    return not case.values


@decider
def is_too_many(case: Case) -> bool:
    """There are more than anybody reads."""
    return case.number("number") > 4096


@decider
def has_no_formula(case: Case) -> bool:
    """The document has the number itself in place of a formula."""
    return not case.has_formula


# What is not finite -------------------------------------------------------------------------------------------------


def any_step(name: str, test: Callable[[str, list[float], float], bool]) -> None:
    """Decide a sentence by the steps of the formula; without one, all that is known is that operands are finite."""
    DECIDERS[name] = lambda case: any(test(*step) for step in steps(case.item)) if case.has_formula else True


any_step("zero_by_zero", lambda op, given, _: op == "/" and given == [0, 0])
any_step("by_zero", lambda op, given, _: op in ("/", "//", "%", "**") and (given[1] == 0 or given[0] == 0))
any_step("log_of_zero", lambda op, given, _: op == "log" and given[0] == 0)
any_step("log_of_negative", lambda op, given, _: op == "log" and given[0] < 0)
any_step("root_of_negative", lambda op, given, _: op == "sqrt" and given[0] < 0)
any_step("power_of_negative", lambda op, given, _: op == "**" and given[0] < 0)
any_step("infinity_times_zero", lambda op, given, _: op == "*" and 0 in given and any(map(math.isinf, given)))
any_step("inf_by_inf", lambda op, given, _: op == "/" and all(map(math.isinf, given)))


@decider
def is_not_finite(case: Case) -> bool:
    """The value is not finite."""
    return not math.isfinite(case.value)


@decider
def is_all_hidden(case: Case) -> bool:
    """All scores are -inf."""
    return all(value == -math.inf for value in case.values)


@decider
def is_beyond(case: Case) -> bool:
    """In double precision some step gives what is beyond the largest number of the type."""
    largest = torch.finfo(getattr(torch, case.fields["dtype"])).max
    results = [abs(result) for _, given, result in steps(case.item) if all(map(math.isfinite, given))]
    return any(result > largest * 0.99 for result in results) if case.has_formula else not math.isfinite(case.value)


@decider
def is_born(case: Case) -> bool:
    """No operand is not finite in the same way, or the number is below."""
    kind = math.isnan if math.isnan(case.value) else math.isinf
    here = not any(map(kind, case.values))
    return kind(case.value) and here == ("born here" in case.sentence)


@decider
def is_put(case: Case) -> bool:
    """Some operand is not finite in the same way."""
    kind = math.isnan if math.isnan(case.value) else math.isinf
    return kind(case.value) and any(map(kind, case.values))


# Draws --------------------------------------------------------------------------------------------------------------

DRAW = re.compile(
    r"(?:Uniform|Normal|Random) draw(?: (?P<number>\d+))?(?: of the (?P<nth>\d+)(?:st|nd|rd|th) random operation after "
    r"seed (?P<after>-?\d+)| of seed (?P<seed>-?\d+))?"
)


def _drawn(case: Case) -> set[float] | None:
    """Return the numbers that a plain run has drawn there; None if the phrase does not say where."""
    found = DRAW.fullmatch(case.fields["draw"])
    if found is None or case.plain is None:
        return set()
    if found["number"] is None:
        return None
    number = int(found["number"])
    if found["seed"]:
        return {float(torch.rand(number, generator=torch.Generator().manual_seed(int(found["seed"])))[-1])}
    made = case.plain.draws.get((int(found["after"]), int(found["nth"])), [])
    return {float(one[number - 1]) for one in made if number <= len(one)}


@decider
def is_drawn(case: Case) -> bool:
    """The value is that draw, stretched to its range if that is given for a draw of `torch.rand`."""
    drawn, low, high = _drawn(case), 0.0, 1.0
    if drawn is None:
        return True
    if "low" in case.fields and " operation " not in case.fields["draw"]:
        low, high = case.number("low"), case.number("high")
    close = 2e-2 if "bfloat16" in str(case.item["dtype"]) else 1e-5
    return any(abs(low + one * (high - low) - case.value) <= close * (abs(case.value) + 1) for one in drawn)


def _is_survivor(case: Case, *, kept: bool) -> bool:
    drawn, chance = _drawn(case), case.number("p")
    is_so = drawn is None or float(kept) in {float(one != 0) for one in drawn}
    factor = "factor" not in case.fields or near(case.number("factor"), 1 / (1 - chance), 4)
    return is_so and factor and (kept or case.value == 0)


DECIDERS["was_kept"] = functools.partial(_is_survivor, kept=True)
DECIDERS["was_dropped"] = functools.partial(_is_survivor, kept=False)


# The table ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A text of the table.

    Attributes:
        texts: its English, for one thing and, if that differs, for several.
        decided: the name of the function that decides it.
    """

    texts: tuple[str, ...]
    decided: str

    def fields_of(self, sentence: str) -> dict[str, str] | None:
        """Return what stands in the fields of the text; None for a sentence that it is not."""
        matches = (pattern.fullmatch(sentence) for pattern in map(_pattern, self.texts))
        return next((match.groupdict() for match in matches if match), None)


@functools.cache
def _pattern(text: str) -> re.Pattern[str]:
    seen: set[str] = set()

    def group(match: re.Match[str]) -> str:
        name = match[1]
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        return f"(?P<{name}>.+?)"

    return re.compile(re.sub(r"\\\{(\w+)[^{}]*\\\}", group, re.escape(text)), re.DOTALL)


@lru_cache(maxsize=1)
def table() -> dict[str, Row]:
    """Return the rows of the table by the ids of the texts."""
    data = yaml.safe_load((Path(__file__).parent / "sentences.yaml").read_text(encoding="utf-8"))
    return {
        text_id: Row(tuple(filter(None, (row["text"], row.get("several", "")))), row["decided"])
        for text_id, row in data.items()
    }


BORN = re.compile(r"(This (?:NaN|-?inf) was (?:born|put) (?:here|in .+?(?: on line \d+[^.]*)?)\.)(?: (.*))?", re.DOTALL)
REMARK = re.compile(r"(Without rounding on the way, it would be .+?\.) \((.*)\)")


def parts_of(note: str) -> list[str]:
    """Return the sentences of a note that consists of several."""
    for composed in (BORN, REMARK):
        if found := composed.fullmatch(note):
            first, rest = found.groups()
            return [first, *(re.split(r"(?<=[a-z0])\. (?=[A-Z0])", rest) if rest else [])]
    return [note]


def problem(note: str, item: Json, code: str, plain: PlainRun | None) -> str:
    """Return what is wrong with a note of a number; "" if each of its sentences holds."""
    for sentence in parts_of(note):
        rows = [
            (row.decided, fields)
            for row in table().values()
            for text in (sentence, f"{sentence}.")
            if (fields := row.fields_of(text)) is not None
        ]
        if not rows:
            return f"no row: {sentence}"
        cases = [(decided, Case(fields, item, code, plain, sentence)) for decided, fields in rows]
        if not any(_holds(DECIDERS[decided], case) for decided, case in cases):
            return f"{', '.join(sorted({decided for decided, _ in cases}))}: {sentence}"
    return ""


def _holds(decide: Decide, case: Case) -> bool:
    """Return whether a sentence holds. Where a number should be and is none, it was another sentence."""
    try:
        return decide(case)
    except (ValueError, IndexError):
        return False


# Names --------------------------------------------------------------------------------------------------------------

UNSTEADY = re.compile(r"rand|normal|dropout|bernoulli|poisson|backward|_\(|out=|#|empty|\bbn\b|step|print|\bnext\b")


def label_problem(item: Json, plain: PlainRun) -> str:
    """Return what is wrong with a label that is code: if it is run, it has to give the number."""
    text = str(item["tensor"])
    if "(" not in text and "[" not in text:
        return ""
    got = code_value(text, item["index"], plain)
    value = float(item["value"])
    precision = 2e-2 if "16" in str(item["dtype"]) else 1e-5
    if got is None or near(got, value, 4) or abs(got - value) <= precision * (abs(value) + 1):
        return ""
    return f"{label(item)} is {got!r} and not {value!r}"


def code_value(text: str, index: list[int], plain: PlainRun, *, wide: bool = False) -> float | None:
    """Return what a piece of code gives at an index; None if that cannot be known afterwards."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return None
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    found = {name: plain.only_value(name) for name in names}
    if UNSTEADY.search(text) or any(value is None for value in found.values()):
        return None
    if wide:
        found = {
            name: value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value
            for name, value in found.items()
        }
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = eval(text, {"__builtins__": {}, "len": len}, found)
            return float(result[tuple(index)]) if isinstance(result, torch.Tensor) else math.nan
    except Exception:
        # The label has an index that the code does not have: then it is no code.
        return None
