"""Computations that decide the sentences of explanations, by the name that the table has for them.

Each compares a sentence with the document of its number, with the program, and with a run of it without the tutor. One
that leaves open what it cannot compute says so in its first line.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Callable

import torch
from torch._ops import HigherOrderOperator

from tests.exam.explanations.cases import Case, code_value, names_of, near, steps
from tests.exam.explanations.documents import Json, label, walk, with_names
from tests.exam.explanations.plain_run import PlainRun
from tests.exam.explanations.reader import comes_out

Decide = Callable[[Case], bool]

DECIDERS: dict[str, Decide] = {}
"""The functions that decide sentences, by the name that the table has for them."""


FORWARD = re.compile(r"\b(jvp|jacfwd|hessian)\(")
"""Transformations that take derivatives forward."""


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
def is_of_sparse(case: Case) -> bool:
    """There is no formula, and some part of the code gives a sparse tensor; the whole program, if none can be run.

    Or the program takes derivatives forward, in which PyTorch has zeros without memory.
    """
    if case.has_formula or case.plain is None:
        return False
    if FORWARD.search(case.code):
        return True
    if "to_sparse()" not in case.code:
        return False
    parts = _parts(str(case.item["code"]), case.plain)
    return not parts or any(part.layout != torch.strided for part in parts)


def _parts(text: str, plain: PlainRun) -> list[torch.Tensor]:
    """Return the tensors that parts of a piece of code give, as far as they can be run again."""
    names = names_of(text, plain)
    if names is None:
        return []
    codes = [ast.unparse(node) for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Call)]
    with torch.no_grad():
        found = [*names.values(), *(eval(code, {"__builtins__": {}, "len": len}, names) for code in codes)]
    return [part for part in found if isinstance(part, torch.Tensor)]


@decider
def is_foreign(case: Case) -> bool:
    """The number is of a buffer of Python, and as all of that once were."""
    return "frombuffer(" in case.code and not case.item["operands"] and case.value == 0


@decider
def is_shared(case: Case) -> bool:
    """Another tensor, the named one if one is named, has memory of this one; of any, if this one is not kept."""
    if case.plain is None:
        return False
    kept = {name: value for name, value in case.plain.namespace.items() if isinstance(value, torch.Tensor)}
    own = re.sub(r"#\d+$", "", str(case.item["tensor"]))
    ones = [own] if own in kept else list(kept)
    others = [case.fields["name"]] if "name" in case.fields else list(kept)
    return any(one != other and other in kept and _overlap(kept[one], kept[other]) for one in ones for other in others)


@decider
def takes_shared(case: Case) -> bool:
    """A tensor that the code of the number names has memory of another one, of the named one if one is named."""
    if case.plain is None:
        return False
    kept = {name: value for name, value in case.plain.namespace.items() if isinstance(value, torch.Tensor)}
    taken = [name for name in re.findall(r"[a-z_]\w*", str(case.item["code"])) if name in kept]
    others = [case.fields["name"]] if "name" in case.fields else list(kept)
    return any(one != other and other in kept and _overlap(kept[one], kept[other]) for one in taken for other in others)


def _overlap(one: torch.Tensor, other: torch.Tensor) -> bool:
    first, second = one.untyped_storage(), other.untyped_storage()
    start, end = (
        max(first.data_ptr(), second.data_ptr()),
        min(first.data_ptr() + len(first), second.data_ptr() + len(second)),
    )
    return start < end


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
    is_given = not done or any(comes_out(result, case.fields["number"]) for _, _, result in done[-2:])
    return is_given and not near(case.number("number"), case.value, 15)


@decider
def keeps(case: Case) -> bool:
    """A type keeps so many decimal digits, given its binary ones."""
    digits = -math.log10(torch.finfo(getattr(torch, case.fields["dtype"])).eps / 2)
    low = case.number("low") if "low" in case.fields else case.number("count")
    high = case.number("high") if "high" in case.fields else low
    return low - 0.5 <= digits <= high + 0.5


@decider
def is_of_few_digits(case: Case) -> bool:
    """The value is a number of its type, which keeps fewer digits than single precision."""
    dtype = getattr(torch, str(case.item["dtype"]))
    is_narrow = dtype.is_floating_point and torch.finfo(dtype).eps > torch.finfo(torch.float32).eps
    return is_narrow and case.is_near(float(torch.tensor(case.value, dtype=torch.float64).to(dtype)), case.value)


@decider
def has_count(case: Case) -> bool:
    """Some name has a count."""
    return any("#" in label(operand) for operand in case.item["operands"])


@decider
def is_value(case: Case) -> bool:
    """The number is the value."""
    return case.is_near(case.number("number"), case.value)


@decider
def is_zero(case: Case) -> bool:
    """The value is 0."""
    return case.value == 0


@decider
def is_whole(case: Case) -> bool:
    """The value is a place or a count."""
    return case.value.is_integer() and case.value >= 0


@decider
def is_of_even(case: Case) -> bool:
    """The value is a place, and the numbers have two in the middle."""
    return is_whole(case) and case.number("count") % 2 == 0


@decider
def is_of_odd(case: Case) -> bool:
    """The value is a place, and the numbers have one in the middle."""
    return is_whole(case) and case.number("count") % 2 == 1


@decider
def has_no_nan(case: Case) -> bool:
    """No operand is NaN."""
    return not any(map(math.isnan, case.values))


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
def is_flag(case: Case) -> bool:
    """The value is 0 or 1."""
    return case.value in (0, 1)


@decider
def is_less(case: Case) -> bool:
    """The value is less than the number that it was computed from."""
    return case.value < float(case.item["operands"][0]["value"])


@decider
def is_more(case: Case) -> bool:
    """The value is more than the number that it was computed from."""
    return case.value > float(case.item["operands"][0]["value"])


@decider
def is_rounded(case: Case) -> bool:
    """The value is a number of that type."""
    narrow = torch.tensor(case.value, dtype=torch.float64).to(getattr(torch, case.fields["dtype"]))
    # Documents have numbers of few digits right to four decimals.
    difference = abs(float(narrow) - case.value)
    return difference <= 0.51e-4 * max(1, abs(case.value) / 2**20) or near(float(narrow), case.value, 6)


@decider
def is_side_by_side(case: Case) -> bool:
    """The column of a context of two heads belongs to the half that it is in; or its place in that half is told."""
    column, place = case.number("column"), case.item["index"][-1]
    is_in_half = "of head" in str(case.item["tensor"]) and case.number("head") == 1 and column > place
    return case.number("head") in (0, 1) and (column == place or is_in_half)


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
    return _has(case, "attention", "Attention", "Transformer") and (
        "later keys" not in case.sentence or _has(case, "is_causal=True")
    )


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
    return (
        mask != 0 and mask in case.values and case.fields.get("line", str(case.item["line"])) == str(case.item["line"])
    )


@decider
def is_not_masked(case: Case) -> bool:
    """The mask is 0, and the value is that of another operand."""
    return float(case.fields["mask"]) == 0 and 0 in case.values and (" if " in case.formula or not case.has_formula)


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
    """The operand has this place on some axis or among all numbers, and the number its rank, on some axis."""
    place, rank = int(case.number("place")), int(re.sub(r"\D", "", case.fields["nth"]))
    words = ("topk", "sort", "quantile")
    is_ranked = not case.item["index"] or rank - 1 in case.item["index"] or any(word in case.code for word in words)
    return is_ranked and all(place in _places(case, operand) for operand in case.item["operands"] if operand["index"])


def _places(case: Case, operand: Json) -> list[int]:
    """Return the places of an operand: those on each axis, and that among all numbers of its tensor."""
    found = None if case.plain is None else case.plain.namespace.get(str(operand["tensor"]))
    index = list(operand["index"])
    if not isinstance(found, torch.Tensor) or len(index) != found.dim():
        return index
    return [*index, sum(at * step for at, step in zip(index, torch.empty(found.shape).stride(), strict=True))]


@decider
def is_at_place(case: Case) -> bool:
    """The operand has this place on some axis."""
    return all(int(case.number("place")) in operand["index"] for operand in case.item["operands"])


@decider
def is_greatest(case: Case) -> bool:
    """The value is the greatest of the numbers."""
    return any(map(math.isnan, case.values)) or case.is_near(case.value, max(case.values))


@decider
def is_least(case: Case) -> bool:
    """The value is the least of the numbers."""
    return any(map(math.isnan, case.values)) or case.is_near(case.value, min(case.values))


@decider
def is_largest(case: Case) -> bool:
    """The number is the largest of the operands."""
    return not case.values or case.is_near(case.number("number"), max(case.values))


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


@decider
def takes_some(case: Case) -> bool:
    """There is no formula, and other numbers in the place of those that are nowhere below change nothing."""
    if not has_no_formula(case) or not case.values:
        return False
    name = str(case.item["tensor"])
    code = str(case.item["code"]) if name.isidentifier() else name
    if case.plain is None or any(node["more"] for node in walk(case.item)):
        return True
    index = list(case.item["index"])
    before = code_value(code, index, case.plain)
    after = code_value(code, index, case.plain, given=_with_others(case, code, case.plain))
    return before is None or after is None or near(before, after)


def _with_others(case: Case, code: str, plain: PlainRun) -> dict[str, torch.Tensor]:
    """Return the tensors that code names, with 1 added to all numbers that a tree does not have."""
    found = {name: value for name, value in (names_of(code, plain) or {}).items() if isinstance(value, torch.Tensor)}
    changed = {name: value.detach() + 1 for name, value in found.items()}
    for node in walk(case.item):
        name, index = re.sub(r"#\d+$", "", str(node["tensor"])), tuple(node["index"])
        if name in changed and len(index) == changed[name].dim():
            changed[name][index] = found[name].detach()[index]
    return changed


@decider
def takes_more(case: Case) -> bool:
    """There is no formula, and more numbers than are listed."""
    return has_no_formula(case) and 0 < len(case.values) < case.number("number")


@decider
def runs_code(case: Case) -> bool:
    """There is no formula, and the operation is one that is given functions."""
    return has_no_formula(case) and isinstance(
        getattr(torch.ops.higher_order, case.fields["op"], None), HigherOrderOperator
    )


# What is not finite -------------------------------------------------------------------------------------------------


def any_step(name: str, test: Callable[[str, list[float], float], bool]) -> None:
    """Decide a sentence by the steps of the formula; without one, all that is known is that operands are finite."""
    DECIDERS[name] = lambda case: any(test(*step) for step in steps(case.item)) if case.has_formula else True


any_step("zero_by_zero", lambda op, given, _: op in ("/", "//") and given == [0, 0])
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
def is_zero_determinant(case: Case) -> bool:
    """The numbers are those of a matrix that has no determinant to speak of."""
    size = math.isqrt(len(case.values))
    matrix = torch.tensor(case.values[: size * size], dtype=torch.float64).reshape(size, size)
    scale = float(matrix.abs().max()) ** size
    return case.value == -math.inf and abs(float(torch.linalg.det(matrix))) <= 1e-5 * (scale + 1)


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
    close = {"bfloat16": 2e-2, "float16": 1e-3}.get(str(case.item["dtype"]), 1e-5)
    return any(abs(low + one * (high - low) - case.value) <= close * (abs(case.value) + 1) for one in drawn)


def _is_survivor(case: Case, *, kept: bool) -> bool:
    drawn, chance = _drawn(case), case.number("p")
    is_so = drawn is None or float(kept) in {float(one != 0) for one in drawn}
    factor = "factor" not in case.fields or near(case.number("factor"), 1 / (1 - chance), 4)
    return is_so and factor and (kept or case.value == 0)


DECIDERS["was_kept"] = functools.partial(_is_survivor, kept=True)
DECIDERS["was_dropped"] = functools.partial(_is_survivor, kept=False)
