"""Advice on confused layers, parameters and tensors, and on modules that are not set up."""

from __future__ import annotations

import ast

from lessons.worker.advice.exception_rules import Match, fixed_advice, rule
from lessons.worker.advice.missing_values import explain_none
from lessons.worker.advice.safe_reading import (
    TENSOR_NAMES,
    UNKNOWN,
    Linear,
    Module,
    fields,
    is_a,
    is_class,
    is_exactly,
    is_method,
    tensor_info,
    type_name,
)
from lessons.worker.advice.scene import BUILTINS, Scene, nearest, operand, size
from lessons.worker.advice.shape_effects import product

METHODS = frozenset({"method", "builtin_function_or_method", "function"})


# Operators -----------------------------------------------------------------------------------------------------------


@rule(TypeError, r"^unsupported operand type\(s\) for ([^:]+): '([\w.]+)' and '([\w.]+)'")
def operator_on_other_type(scene: Scene, match: Match) -> str | None:
    """Explain an operator between a tensor and a value of a different type."""
    if match[1].startswith("^"):
        return power(scene, match)
    for node in scene.find(ast.BinOp, ast.AugAssign):
        left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        for side, other, kind in ((right, left, match[3]), (left, right, match[2])):
            if sentence := explain_operand(scene, match[1], side, other, kind):
                return sentence
    if Linear.__name__ in match.groups():
        return "A layer is no matrix: call it with the tensor, `layer(x)`."
    return explain_none(scene, None) if "NoneType" in match.groups() else None


@rule(NotImplementedError, r'"bitwise_xor_cpu" not implemented')
@rule(RuntimeError, r'"bitwise_xor_cpu" not implemented')
def power(scene: Scene, match: Match) -> str | None:
    """Explain `x ^ 2`, which compares bits."""
    for node in scene.find(ast.BinOp, ast.AugAssign):
        if not isinstance(node.op, ast.BitXor):
            continue
        left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        one, other = scene.code(left), scene.code(right)
        if one and other and isinstance(node, ast.BinOp):
            # `^` takes all of `a / b` in `a / b ^ 2`, and `**` takes `b` alone, as is meant.
            bare = isinstance(left, ast.BinOp) and not scene.code(node).startswith("(")
            base = scene.code(left.right) if isinstance(left, ast.BinOp) and bare else operand(left, one)
            return f"`^` compares bits; a power is written `**`: `{base} ** {operand(right, other)}`."
    return "`^` compares bits; a power is written `**`."


def explain_operand(scene: Scene, op: str, side: ast.expr, other: ast.expr, kind: str) -> str | None:
    """Say what one side of an operator is, if it is nothing to compute with; else return None."""
    value, code = scene.value(side), scene.quote(side, "One side")
    tensor = scene.tensor_info(other)
    bare = operand(side, scene.code(side) or "x")
    if kind == "NoneType":
        return explain_none(scene, side)
    if kind == "Linear" or is_a(value, Module):
        given = scene.code(other) if tensor is not None else "x"
        return f"{code} is a layer, not a matrix: call it, `{bare}({given or 'x'})`."
    if kind == "tuple":
        return f"{code} is a tuple{length_note(value)}: take one of its entries, such as `{bare}[0]`."
    if kind == "list":
        return f"{code} is a list: `{joining_function(value)}({scene.code(side) or 'x'})` makes a tensor of it."
    if kind == "str":
        return f"{code} is text, not a number."
    if kind in METHODS and scene.code(side):
        return f"{code} is a function and has to be called: `{bare}()`."
    if kind in ("type", "_ParameterMeta", "_TensorMeta"):
        return f"{code} is a class: make an object of it first, `{bare}(...)`."
    if op.strip("=") == "@" and kind in ("int", "float"):
        return f"{code} is a plain number: multiply by it with `*`; `@` is for matrices."
    return None


def length_note(value: object) -> str:
    """Return ` of 2` for two entries, or "" if the number of entries is not known."""
    return f" of {len(value)}" if is_exactly(value, list, tuple) else ""


def joining_function(value: object) -> str:
    """Name the function that makes one tensor from a list."""
    tensors = is_exactly(value, list, tuple) and bool(value) and tensor_info(value[0]) is not None
    return "torch.stack" if tensors else "torch.tensor"


# Calls ---------------------------------------------------------------------------------------------------------------


@rule(TypeError, r"^'([\w.]+)' object is not callable")
def not_callable(scene: Scene, match: Match) -> str | None:
    """Explain parentheses after a value that is not a function."""
    kind = match[1]
    if sentence := not_a_module(scene, kind):
        return sentence
    for call in scene.find(ast.Call):
        func, code = call.func, scene.code(call.func)
        if not code:
            continue
        if kind == "NoneType":
            return explain_none(scene, func)
        if kind in ("Tensor", "Parameter"):
            return called_tensor(scene, call)
        if kind == "torch.Size":
            index = scene.code(call.args[0]) if call.args else "0"
            return f"`{code}` is no function: write `{code}[{index}]`, or `{code}` alone for all sizes."
        if kind in ("int", "float", "tuple", "list", "str"):
            article = "an" if kind == "int" else "a"
            if code in BUILTINS:
                return f"The program has given Python's own name `{code}` to {article} {kind}: choose another for that."
            return f"`{code}` is {article} {kind}: brackets after it would call it. Is a `*` or a `,` missing?"
        if kind == "module":
            if near := next((name for name in fields(scene.value(func)) if name.lower() == code.split(".")[-1]), None):
                return f"Did you mean `{code[: -len(near)]}{near}`?"
            return f"`{code}` is a module of Python: call a function in it, `{code}.name(...)`."
        if is_a(scene.value(func), Module):
            return f"`{code}` is a layer without a `forward`."
    return None


def not_a_module(scene: Scene, name: str) -> str | None:
    """Explain an object of a class of the program that has a `forward` and is no module; None for any other class."""
    around = next((node for node in scene.nodes(ast.ClassDef) if node.name == name), None)
    if around is None or around.bases:
        return None
    if not any(isinstance(node, ast.FunctionDef) and node.name == "forward" for node in around.body):
        return None
    return f"The class is no module yet: line {around.lineno} should be `class {name}(nn.Module):`."


def called_tensor(scene: Scene, call: ast.Call) -> str:
    """Explain `tensor(...)`: a parameter mistaken for a layer, or a property with parentheses."""
    code, func = scene.code(call.func), call.func
    if isinstance(func, ast.Attribute):
        owner = scene.value(func.value)
        if func.attr in ("T", "mT", "data", "grad") and scene.tensor_info(func.value) is not None:
            return f"`.{func.attr}` takes no brackets: write `{code}`."
        if func.attr == "weight" and type(owner) is Linear:
            return f"`{code}` is the matrix of the layer: call the layer itself, `{scene.code(func.value)}(...)`."
    given, tensor = scene.tensor_info(call.args[0]) if call.args else None, scene.tensor_info(func)
    if given is not None and tensor is not None:
        one = scene.code(call.args[0]) or "x"
        fits = product(given.shape, tensor.shape) is not None
        use = f"write `{operand(call.args[0], one)} @ {code}`" if fits else "multiply with `@`"
        return f"`{code}` is a matrix ({size(tensor.shape)}), not a layer, so it cannot be called: {use}."
    return f"`{code}` is a tensor and cannot be called: a row is `{code}[0]`, a product needs `*` or `@`."


# Attributes of containers and layers ---------------------------------------------------------------------------------


@rule(AttributeError, r"^'(tuple|list)' object has no attribute '(\w+)'")
def attribute_of_container(scene: Scene, match: Match) -> str | None:
    """Explain an attribute of tensors that is used on a tuple or list of tensors."""
    kind, name = match.groups()
    if name not in TENSOR_NAMES:
        return None
    for node in scene.find(ast.Attribute):
        value = scene.value(node.value)
        bare = scene.code(node.value) or "result"
        if kind == "tuple":
            held = f"{scene.quote(node.value, 'It')} is a tuple{length_note(value)}"
            if "MultiheadAttention" in class_of_call(scene, node.value):
                held = "nn.MultiheadAttention gives two results, the output and the weights"
            return f"{held}: take one, `{bare}[0]`, or give each a name, `output, weights = ...`."
        return f"`{bare}` is a list, not a tensor: `{joining_function(value)}({bare})` makes one of it."
    return None


def class_of_call(scene: Scene, node: ast.expr) -> str:
    """Return the classes of the callables that made a value, in the code itself or in its assignment."""
    calls = [node] if isinstance(node, ast.Call) else []
    if isinstance(node, ast.Name):
        for statement in scene.nodes(ast.Assign):
            names = [one.id for one in statement.targets if isinstance(one, ast.Name)]
            if node.id in names and isinstance(statement.value, ast.Call):
                calls.append(statement.value)
    values = [scene.value(call.func) for call in calls]
    return " ".join(type_name(value) for value in values if value is not UNKNOWN)


@rule(AttributeError, r"^'(?:int|float|bool)' object has no attribute '(\w+)'")
def attribute_of_number(scene: Scene, match: Match) -> str | None:
    """Explain an attribute of tensors that is used on a plain number."""
    if match[1] not in TENSOR_NAMES:
        return None
    code = next((scene.code(node.value) for node in scene.find(ast.Attribute)), "")
    return f"{f'`{code}`' if code else 'It'} is a plain number, not a tensor: `.item()`, `.shape[0]` and len give such."


@rule(AttributeError, r"^'(\w+)' object has no attribute '(\w+)'")
def attribute_of_layer(scene: Scene, match: Match) -> str | None:
    """Explain an attribute of a matrix that is used on its layer, or the other way around."""
    for node in scene.find(ast.Attribute):
        value, code = scene.value(node.value), scene.code(node.value)
        if type(value) is Linear and match[2] in TENSOR_NAMES:
            return f"`{code}` is a layer; its matrix is `{code}.weight`."
        if tensor_info(value) is not None and match[2] in ("weight", "bias"):
            return f"`{code}` is no layer but the matrix itself: leave out `.{match[2]}`."
        if is_method(value) and code:
            return f"`{code}` is a function: call it first, `{code}()`."
    return None


# Setting up ----------------------------------------------------------------------------------------------------------


@rule(TypeError, r"^cannot assign '([\w.]+)' (?:object )?(?:as|to) parameter '(\w+)'")
def assigned_to_parameter(scene: Scene, match: Match) -> str | None:
    """Explain a plain tensor that is assigned to a parameter."""
    target, value = assignment_code(scene, match[2])
    return (
        f"A parameter is replaced by a parameter, `{target} = nn.Parameter({value})`, or filled in place, "
        f"`{target}.copy_({value})`, inside `with torch.no_grad():`."
    )


@rule(TypeError, r"^cannot assign '([\w.]+)' (?:object )?as child module '(\w+)'")
def assigned_to_layer(scene: Scene, match: Match) -> str | None:
    """Explain a tensor that is assigned to a layer."""
    target, value = assignment_code(scene, match[2])
    return f"`{target}` is a layer; its matrix is `{target}.weight`: write `{target}.weight = nn.Parameter({value})`."


@rule(TypeError, r"^cannot assign '([\w.]+)' (?:object )?(?:as|to) buffer '(\w+)'")
def assigned_to_buffer(scene: Scene, match: Match) -> str | None:
    """Explain a value other than a tensor that is assigned to a buffer."""
    target, value = assignment_code(scene, match[2])
    return f"A buffer must stay a tensor: `{target} = torch.tensor({value})`, or give the value another name."


def assignment_code(scene: Scene, name: str) -> tuple[str, str]:
    """Return the target and the value of the assignment on the line, as code."""
    statement = scene.statement
    if isinstance(statement, ast.Assign):
        return scene.code(statement.targets[0]) or name, scene.code(statement.value) or "..."
    return name, "..."


@rule(AttributeError, r"^cannot assign \w+ before Module\.__init__\(\) call")
@rule(AttributeError, r"^'(\w+)' object has no attribute '(?:_\w*hooks\w*|_parameters|_buffers|_modules|training)'")
def missing_super_init(scene: Scene, match: Match) -> str | None:
    """Explain a module whose `__init__` does not call `super().__init__()` first."""
    around = scene.enclosing(ast.ClassDef)
    if match.lastindex:
        around = next((node for node in scene.nodes(ast.ClassDef) if node.name == match[1]), None)
    if around is None:
        return "`super().__init__()` must come first in the `__init__` of the class: it sets the module up."
    init_calls = [node for node in scene.nodes(ast.Attribute) if node.attr == "__init__"]
    inside = any(around in ancestors(scene, node) for node in init_calls)
    where = "must come first in" if inside else "is missing at the start of"
    return f"`super().__init__()` {where} `{around.name}.__init__`: it sets the module up."


def ancestors(scene: Scene, node: ast.AST) -> list[ast.AST]:
    """Return the nodes around a node, innermost first."""
    found: list[ast.AST] = []
    up = scene.parents.get(node)
    while up is not None:
        found.append(up)
        up = scene.parents.get(up)
    return found


@rule(KeyError, r"attribute '(\w+)' already exists")
def registered_twice(scene: Scene, match: Match) -> str | None:
    """Explain `register_buffer` with a name that is already in use."""
    around = scene.enclosing(ast.ClassDef)
    for node in ast.walk(around) if around is not None else ():
        if isinstance(node, ast.Assign) and any(scene.code(one) == f"self.{match[1]}" for one in node.targets):
            return f"Line {node.lineno} sets `self.{match[1]}` already: leave it out, register_buffer makes the name."
    return f"The module has a `{match[1]}` already: register it once, or choose another name."


@rule(NotImplementedError, r'^Module \[(\w+)\] is missing the required "forward" function')
def missing_forward(scene: Scene, match: Match) -> str | None:
    """Explain a module whose `forward` is misspelled, nested too deeply, or outside of the class."""
    name = match[1]
    around = next((node for node in scene.nodes(ast.ClassDef) if node.name == name), None)
    forward = next((node for node in scene.nodes(ast.FunctionDef) if node.name == "forward"), None)
    if forward is not None and around is not None:
        holders = ancestors(scene, forward)
        if isinstance(holders[0], ast.FunctionDef) and around in holders:
            return f"`forward` (line {forward.lineno}) is inside `{holders[0].name}`: indent both alike."
        if around not in holders and not any(isinstance(one, ast.ClassDef) for one in holders):
            return f"`forward` (line {forward.lineno}) is outside of the class: indent it like `__init__`."
    if around is None:
        if name in ("ModuleList", "ModuleDict"):
            return f"An nn.{name} only holds layers: call each of them, `[layer(x) for layer in layers]`."
        return None
    defined = [node.name for node in around.body if isinstance(node, ast.FunctionDef)]
    if "forward" in defined:
        return "nn.Module itself has no `forward`: leave out `super().forward(...)`."
    if near := nearest("forward", defined):
        return f"The class defines `{near}`: it has to be called `forward`."
    return f"Give `{name}` a `def forward(self, x):`, indented like `__init__`: it runs when the module is called."


@rule(TypeError, r"^([\w.]+) is not a Module subclass", r"should be called with an iterable, but got (\w+)")
def not_modules(scene: Scene, match: Match) -> str | None:
    """Explain an `nn.ModuleList` of objects that are not modules."""
    if match[1].endswith("Tensor"):
        return "It holds layers, not tensors: for parameters there is nn.ParameterList."
    return "It takes a list of layers, as in `nn.ModuleList([nn.Linear(3, 2) for _ in range(2)])`."


# Plain Python --------------------------------------------------------------------------------------------------------


@rule(TypeError, r"^'([\w.]+)' object is not (iterable|subscriptable)", r"^object of type '([\w.]+)' has no len\(\)")
def not_a_container(scene: Scene, match: Match) -> str | None:
    """Explain a number or function that is used as a list."""
    kind, verb = match[1], match[2] if match.lastindex == 2 else "len"
    node = next(iter(scene.find(ast.Subscript)), None)
    node = node.value if node is not None else None
    if node is None and verb == "len":
        node = next((call.args[0] for call in scene.find(ast.Call) if call.args), None)
    if node is None and verb == "iterable":
        node = iterated_expression(scene)
    code = scene.code(node)
    if kind == "NoneType":
        return explain_none(scene, node)
    if kind == "int" and verb == "iterable":
        return f"To count up to a number, write `range({code or 'n'})`."
    if kind in METHODS and code and verb == "subscriptable":
        return f"`{code}` is a function: call it first, `{code}()`." + (
            f" Its sizes are `{code.removesuffix('.size')}.shape`." if code.endswith(".size") else ""
        )
    if kind == "Linear" and code:
        return f"`{code}` is a layer; its matrix is `{code}.weight`."
    if is_class(scene.value(node)) and code:
        return f"`{code}` is a class: make an object of it first, `{code}(...)`."
    if verb != "len" and is_a(scene.value(node), Module):
        return f"{scene.quote(node)} is a single module: only nn.ModuleList and nn.Sequential hold several."
    return None


def iterated_expression(scene: Scene) -> ast.expr | None:
    """Return the expression that the line iterates over, or None."""
    statement = scene.statement
    loops = [node.iter for node in scene.find(ast.comprehension)]
    if isinstance(scene.node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return scene.node.generators[0].iter
    if isinstance(scene.node, ast.expr):
        return scene.node
    return statement.iter if isinstance(statement, ast.For) else next(iter(loops), None)


@rule(TypeError, r"object does not support the context manager protocol")
@rule(AttributeError, r"^__enter__$")
def context_manager(scene: Scene, match: Match) -> str | None:
    """Explain `with torch.no_grad:`, which lacks parentheses."""
    statement = scene.enclosing(ast.With)
    for item in statement.items if statement is not None else ():
        code = scene.code(item.context_expr)
        if is_class(scene.value(item.context_expr)) or code in ("torch.no_grad", "torch.enable_grad"):
            return f"Brackets are missing: `with {code}():`."
    return None


@rule(RuntimeError, r"size mismatch for ([\w.]+): .*torch\.Size\((\[[\d, ]*\])\).*torch\.Size\((\[[\d, ]*\])\)")
def state_dict_shape(scene: Scene, match: Match) -> str | None:
    """Explain loaded weights that have the wrong shape."""
    given, wanted = ([int(part) for part in text.strip("[]").split(",") if part.strip()] for text in match.groups()[1:])
    turn = " Transpose it, `.T`." if given == wanted[::-1] and len(given) == 2 else ""
    return f"`{match[1]}` is given as {size(given)}, but the module has {size(wanted)}.{turn}"


fixed_advice(
    RuntimeError,
    {r"Missing key\(s\) in state_dict": "Its keys must be those of `module.state_dict()`, such as `W_query.weight`."},
)
