"""Advice on values of the wrong type: None, other dtypes, floats for whole numbers, and what is no tensor."""

from __future__ import annotations

import ast

import torch

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.rules import GAP, Match, Offer, Said, fixed_advice, rule, try_out, write
from attn_tutor.lessons.worker.advice.safe_reading import (
    Linear,
    Module,
    TensorInfo,
    attributes,
    is_a,
    is_exactly,
    tensor_info,
)
from attn_tutor.lessons.worker.advice.scene import Scene, operand
from attn_tutor.lessons.worker.advice.shape_effects import is_torch

say = Wording("advice/missing-values")

IN_PLACE_METHODS = ("append", "extend", "sort", "backward", "update", "reverse", "insert")
"""Methods that change their object and return None."""


@rule(AttributeError, r"^'NoneType' object has no attribute")
def attribute_of_none(scene: Scene, match: Match) -> str | None:
    """Explain an attribute of None."""
    return explain_none(scene, next((node.value for node in scene.find(ast.Attribute)), None))


def explain_none(scene: Scene, node: ast.AST | None) -> str | None:
    """Explain why an expression may be None; None if the code says None itself."""
    code = scene.code(node)
    if isinstance(node, ast.Constant):
        return None
    if isinstance(node, ast.Attribute) and node.attr == "grad":
        return say(
            "none-until-backward",
            "`{code}` is None until you call `backward()`. Only tensors that require a gradient, and that "
            "were not computed from others, get one.",
            code=code,
        )
    if isinstance(node, ast.Attribute) and node.attr == "bias":
        return say("bias-none", "`{code}` is None. A layer that was created with `bias=False` has no bias.", code=code)
    call = node if isinstance(node, ast.Call) else assigned_call(scene, node)
    sentence = say("none", "`{code}` is None", code=code) if code else say("some-value", "One of the values is None")
    if call is not None:
        name = function_name(scene, call)
        where = next((one for one in scene.nodes(ast.FunctionDef) if one.name == name), None)
        if where is not None and not any(isinstance(one, ast.Return) and one.value for one in ast.walk(where)):
            why = say(
                "gives-nothing",
                "`{name}` (line {line}) returns None, because it has no `return` with a value.",
                name=name,
                line=where.lineno,
            )
            return why if isinstance(node, ast.Call) else f"{sentence}. {why}"
        if isinstance(call.func, ast.Attribute) and call.func.attr in IN_PLACE_METHODS:
            return say(
                "in-place-method",
                "{sentence}, because `.{attr}()` returns nothing. Call it on a line of its own, without `=`.",
                sentence=sentence,
                attr=call.func.attr,
            )
    return say("no-return", "{sentence}. Did a function end without a `return`?", sentence=sentence)


def assigned_call(scene: Scene, node: ast.AST | None) -> ast.Call | None:
    """Return the call in the last assignment to a name before the line, or None."""
    if not isinstance(node, ast.Name) or scene.line is None:
        return None
    found = [
        one
        for one in scene.nodes(ast.Assign)
        if one.lineno <= scene.line and any(isinstance(to, ast.Name) and to.id == node.id for to in one.targets)
    ]
    value = max(found, key=lambda one: one.lineno).value if found else None
    return value if isinstance(value, ast.Call) else None


def function_name(scene: Scene, call: ast.Call) -> str:
    """Return the name of the function that a call runs; `forward` if it calls a module."""
    value = scene.value(call.func)
    if is_a(value, Module):
        return "forward"
    return call.func.attr if isinstance(call.func, ast.Attribute) else scene.code(call.func)


FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
KEYWORD_NAMES = {"axis": "dim", "diag": "diagonal", "keepdims": "keepdim"}
MATH_FUNCTIONS = ("exp", "log", "sin", "cos", "tan", "tanh", "floor", "ceil")
CONSTRUCTORS = ("rand", "randn", "zeros", "ones", "empty", "full", "arange", "eye")


def dtype_name(dtype: torch.dtype | None) -> str:
    """Return the short name of a dtype, such as `float32`."""
    return str(dtype).removeprefix("torch.")


def with_conversion(scene: Scene, node: ast.AST, how: str) -> str:
    """Return a piece of code with a conversion after it, such as `mask.bool()`."""
    return f"{operand(node, scene.code(node) or 'x')}.{how}()"


def write_conversion(scene: Scene, node: ast.AST, how: str) -> Offer:
    """Propose a conversion, such as `mask.bool()` in place of `mask`."""
    return write(node, with_conversion(scene, node, how))


@rule(RuntimeError, r"masked_fill_? only supports boolean masks", r"where expected condition to be a boolean tensor")
def float_mask(scene: Scene, match: Match) -> Said | None:
    """Explain a mask of ones and zeros instead of booleans."""
    for call in scene.find(ast.Call):
        for node in [*call.args, *(word.value for word in call.keywords)]:
            tensor = scene.tensor_info(node)
            if tensor is not None and tensor.dtype is not torch.bool and tensor.dtype is not None:
                held = say(
                    "mask-of-numbers",
                    "{code} contains {dtype} numbers, but a mask has to contain True and False.",
                    code=scene.quote(node, say("the-mask", "The mask")),
                    dtype=dtype_name(tensor.dtype),
                )
                return held, write_conversion(scene, node, "bool")
    return say("mask", "A mask has to contain True and False. Convert it with `.bool()`.")


@rule(TypeError, r"^~ \(operator\.invert\) is only implemented", r"^bad operand type for unary ~: 'float'")
def inverted_numbers(scene: Scene, match: Match) -> Said | None:
    """Explain `~mask` of a mask that holds numbers."""
    for node in scene.find(ast.UnaryOp):
        code = operand(node.operand, scene.code(node.operand) or "mask")
        held = say(
            "invert-numbers",
            "`~` swaps True and False, but {code} contains numbers.",
            code=scene.quote(node.operand),
        )
        return held, write(node, f"~{code}.bool()")
    return say("invert", "`~` swaps True and False, so the mask has to be converted with `.bool()` first.")


@rule(
    RuntimeError,
    r"mat1 and mat2 must have the same dtype",
    r"expected m1 and m2 to have the same dtype",
    r"expected scalar type \w+ but found \w+",
    r"to have the same dtype, but got",
    r"expected both vectors to have same dtype",
    r"dot : expected",
)
def different_dtypes(scene: Scene, match: Match) -> Said | None:
    """Explain a product of tensors that have different dtypes."""
    for left, right in multiplied_pairs(scene):
        one, other = scene.tensor_info(left), tensor_or_weight(scene, right)
        if one is None or other is None or None in (one.dtype, other.dtype) or one.dtype is other.dtype:
            continue
        layer = type(scene.value(right)) is Linear
        node = right if other.dtype is not torch.float32 and not layer else left
        wanted = "double" if layer and other.dtype is torch.float64 else "float"
        return (
            say(
                "two-kinds",
                "{code} is {dtype}, but {code2} is {dtype2}.",
                code=scene.quote(left),
                dtype=dtype_name(one.dtype),
                code2=scene.quote(right),
                dtype2=dtype_name(other.dtype),
            ),
            say("same-kind", "A product needs both to have the same dtype."),
            write_conversion(scene, node, wanted),
        )
    return say("product", "All tensors in a product need the same dtype. `.float()` converts a tensor to float32.")


def multiplied_pairs(scene: Scene) -> list[tuple[ast.expr, ast.expr]]:
    """Find what the line multiplies: both sides of a product, or an input and the layer that it enters."""
    found = [(node.left, node.right) for node in scene.find(ast.BinOp)]
    for call in scene.find(ast.Call):
        if type(scene.value(call.func)) is Linear and call.args:
            found.append((call.args[0], call.func))
        elif isinstance(call.func, ast.Attribute):
            given = [*call.args, *(word.value for word in call.keywords)]
            given = given if is_torch(scene.value(call.func.value)) else [call.func.value, *given]
            tensors = [node for node in given if scene.tensor_info(node) is not None]
            found += [(one, other) for one in tensors[:1] for other in tensors[1:]]
    return found


def tensor_or_weight(scene: Scene, node: ast.expr) -> TensorInfo | None:
    """Return the shape and dtype of a tensor, or of the weight of a layer; None for anything else."""
    value = scene.value(node)
    return tensor_info(attributes(value).get("weight")) if type(value) is Linear else tensor_info(value)


@rule(
    RuntimeError,
    r"to have one of the following scalar types: Long, Int",
    r"Expected dtype int32(?: or |/)int64 for index",
)
@rule(IndexError, r"tensors used as indices must be long")
def float_index(scene: Scene, match: Match) -> str | None:
    """Explain a tensor of floats that is used as an index."""
    for node in scene.find(ast.Subscript, ast.Call):
        given = [node.slice] if isinstance(node, ast.Subscript) else node.args[-1:]
        given = node.args[:1] if isinstance(node, ast.Call) and "embedding" in scene.text else given
        for one in given:
            tensor = scene.tensor_info(one)
            if tensor is not None and tensor.dtype in FLOATS:
                return say(
                    "index-of-floats",
                    "{code} contains {dtype} numbers, but an index needs whole numbers (`{whole}`), or True and "
                    "False if it is a mask (`{truths}`).",
                    code=scene.quote(one),
                    dtype=dtype_name(tensor.dtype),
                    whole=with_conversion(scene, one, "long"),
                    truths=with_conversion(scene, one, "bool"),
                )
    return say("index-kind", "An index needs whole numbers (`.long()`), or True and False if it is a mask (`.bool()`).")


@rule(NotImplementedError, r"not implemented for '(Long|Int|Bool|Short|Byte|Char)'")
@rule(RuntimeError, r"not implemented for '(Long|Int|Bool|Short|Byte|Char)'", r"could not infer output dtype.* Got: ")
@rule(RuntimeError, r"cannot be converted to type \w+ without overflow", r"Only Tensors of floating point and complex")
def whole_numbers(scene: Scene, match: Match) -> Said | None:
    """Explain a softmax or mean of integers."""
    for call in scene.find(ast.Call):
        base = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        for node in [*base, *call.args]:
            tensor = scene.tensor_info(node)
            if tensor is not None and tensor.dtype is not None and tensor.dtype not in FLOATS:
                held = say(
                    "whole-numbers",
                    "{code} contains {dtype} values, but this function needs floats.",
                    code=scene.quote(node),
                    dtype=dtype_name(tensor.dtype),
                )
                return held, write_conversion(scene, node, "float")
    return say(
        "floats",
        "This function needs floats. Convert the tensor with `.float()`, or create it with `1.0` instead of `1`.",
    )


# Sizes and indices that are floats -----------------------------------------------------------------------------------


@rule(
    TypeError,
    r"must be tuple of ints,? ?but (?:got|found element of type) float",
    r"must be tuple of ints, not float",
    r"must be int, not float",
    r"'float' object cannot be interpreted as an integer",
    r"slice indices must be integers",
    r"(?:list|tuple) indices must be integers or slices, not float",
    r"^(?:zeros|ones|rand|randn|empty)\(\) takes 1 positional argument but \d+ were given",
    r"^(?:view|reshape|zeros|ones|rand|randn|arange)\(\) received an invalid combination .* got \([^)]*float",
)
@rule(IndexError, r"are valid indices \(got float\)")
def float_size(scene: Scene, match: Match) -> Said | None:
    """Explain a size or index that is a float, usually because of `/`."""
    node = scene.node or scene.statement
    what = say("index", "An index") if "indices" in scene.text else say("size", "A size")
    for part in ast.walk(node) if node is not None else ():
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
            left, right = scene.code(part.left), scene.code(part.right)
            return (
                say("size-divided", "{what} has to be a whole number, but `/` always gives a float.", what=what),
                write(part, f"{left} // {right}")
                if left and right
                else say("floor-division", "Divide whole numbers with `//`."),
            )
        value = scene.value(part) if isinstance(part, ast.Name | ast.Attribute | ast.Constant) else None
        if type(value) is float:
            code = scene.code(part)
            if isinstance(part, ast.Constant):
                whole = str(int(value))
                instead = say("write-whole", "Write `{number}` instead of `{code}`.", number=whole, code=code)
                return (
                    say("size-constant", "{what} has to be a whole number.", what=what),
                    Offer(part, whole, instead),
                )
            return say(
                "size-float",
                "{what} has to be a whole number, but `{code}` is {value}. If it comes from a division, use "
                "`//` there.",
                what=what,
                code=code,
                value=value,
            )
    return None


# Values that are not tensors -----------------------------------------------------------------------------------------


@rule(TypeError, r"^(\w+)\(\): argument '(\w+)' \(position (\d+)\) must be Tensor, not (\w+)")
def not_a_tensor(scene: Scene, match: Match) -> Said | None:
    """Explain a function of torch that is called with a number or a list instead of a tensor."""
    name, position, given = match[1], int(match[3]), match[4]
    call = next(iter(scene.find(ast.Call)), None)
    argument = call.args[position - 1] if call is not None and len(call.args) >= position else None
    code = scene.quote(argument, say("what-it-gets", "what it gets"))
    if given == "NoneType":
        return explain_none(scene, argument)
    if given in ("list", "tuple"):
        value = scene.value(argument)
        if is_exactly(value, list, tuple) and value and tensor_info(value[0]) is not None:
            return (
                say("stack", "{code} is a {given} of tensors, but a single tensor is needed.", code=code, given=given),
                try_out(argument, f"torch.stack({scene.code(argument) or GAP})"),
            )
        return (
            say("make-tensor", "{code} is a {given}, but a tensor is needed.", code=code, given=given),
            try_out(argument, f"torch.tensor({scene.code(argument) or GAP})"),
        )
    if name in ("triu", "tril") and call is not None:
        sizes = ", ".join(scene.code(one) for one in call.args)
        return (
            say("triangle-of-matrix", "torch.{name} takes a matrix and sets one half of it to 0.", name=name),
            try_out(call, f"torch.{name}(torch.ones({sizes}), diagonal=1)"),
        )
    if given in ("int", "float"):
        code_or_x = scene.code(argument) or "x"
        if name == "sqrt" and argument is not None:
            use = write(call, f"{operand(argument, code_or_x)} ** 0.5")
        elif name in MATH_FUNCTIONS:
            use = try_out(call, f"math.{name}({code_or_x})")
        else:
            use = try_out(argument, f"torch.tensor({code_or_x})")
        return say("plain-number", "{code} is a plain number, but a tensor is needed.", code=code), use
    if given == "Linear":
        layer = scene.code(argument) or "layer"
        return say("layer", "{code} is a layer. Its matrix is `{layer}.weight`.", code=code, layer=layer)
    return None


@rule(TypeError, r"^(\w+)\(\) got an unexpected keyword argument '(\w+)'")
def unsupported_keyword(scene: Scene, match: Match) -> str | None:
    """Explain keywords that torch spells differently, or that belong to a different function."""
    if match[2] in KEYWORD_NAMES:
        return say("other-name", "PyTorch calls this argument `{value}`.", value=KEYWORD_NAMES[match[2]])
    if match[2] == "diagonal" and match[1] in CONSTRUCTORS:
        return say(
            "diagonal",
            "`diagonal` belongs to torch.triu and torch.tril. Close the parenthesis of torch.{name} before it.",
            name=match[1],
        )
    return None


fixed_advice(
    TypeError,
    {
        r"^softmax\(\) missing 1 required positional arguments: \"dim\"": (
            lambda: say(
                "softmax-dim", "Say along which axis the weights should add up to 1. With `dim=-1`, each row does."
            )
        ),
        r"^transpose\(\) missing": lambda: say(
            "transpose-dims", "Say which two axes to swap, as in `.transpose(-2, -1)`. For a matrix, `.T` is enough."
        ),
    },
)
fixed_advice(
    TypeError,
    {
        r"^new\(\): invalid data type 'str'": lambda: say(
            "index-by-name", "The index of a tensor is a number, not a name."
        )
    },
)
fixed_advice(
    RuntimeError,
    {r"^Numpy is not available": lambda: say("no-numpy", "Use `.tolist()` to get the numbers as a Python list.")},
)
