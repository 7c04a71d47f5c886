"""Advice on modules: setting them up, and confusing layers, parameters and tensors."""

from __future__ import annotations

import ast

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.rules import Match, Offer, Said, did_you_mean, fixed_advice, rule, try_out, write
from attn_tutor.lessons.worker.advice.safe_reading import (
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
from attn_tutor.lessons.worker.advice.scene import BUILTINS, Scene, nearest, operand, size
from attn_tutor.lessons.worker.advice.shape_effects import product
from attn_tutor.lessons.worker.advice.wrong_types import explain_none

say = Wording("advice/module-setup")


@rule(TypeError, r"^cannot assign '([\w.]+)' (?:object )?(?:as|to) parameter '(\w+)'")
def assigned_to_parameter(scene: Scene, match: Match) -> Said:
    """Explain a plain tensor that is assigned to a parameter."""
    target, value = assignment_code(scene, match[2])
    wrapped = f"{target} = nn.Parameter({value})"
    how = say(
        "replace-or-fill",
        "Write `{wrapped}`, or fill it in place with `{target}.copy_({value})` inside a `with torch.no_grad():` block.",
        wrapped=wrapped,
        target=target,
        value=value,
    )
    return (
        say("replace-parameter", "A parameter can be replaced only by another parameter."),
        Offer(scene.statement, wrapped, how),
    )


@rule(TypeError, r"^cannot assign '([\w.]+)' (?:object )?as child module '(\w+)'")
def assigned_to_layer(scene: Scene, match: Match) -> Said:
    """Explain a tensor that is assigned to a layer."""
    target, value = assignment_code(scene, match[2])
    return (
        say("assign-to-layer", "`{target}` is a layer, and its matrix is `{target}.weight`.", target=target),
        write(scene.statement, f"{target}.weight = nn.Parameter({value})"),
    )


@rule(TypeError, r"^cannot assign '([\w.]+)' (?:object )?(?:as|to) buffer '(\w+)'")
def assigned_to_buffer(scene: Scene, match: Match) -> Said:
    """Explain a value other than a tensor that is assigned to a buffer."""
    target, value = assignment_code(scene, match[2])
    made = f"{target} = torch.tensor({value})"
    how = say("tensor-or-name", "Write `{code}`, or give the value a different name.", code=made)
    return say("assign-to-buffer", "A buffer has to stay a tensor."), Offer(scene.statement, made, how)


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
        return say(
            "super-init-first",
            "`super().__init__()` has to come first in the `__init__` of the class, because it sets up the module.",
        )
    init_calls = [node for node in scene.nodes(ast.Attribute) if node.attr == "__init__"]
    inside = any(around in ancestors(scene, node) for node in init_calls)
    if inside:
        return say(
            "first-in",
            "`super().__init__()` has to come first in `{name}.__init__`, because it sets up the module.",
            name=around.name,
        )
    return say(
        "missing-in",
        "`{name}.__init__` has to start with `super().__init__()`, which sets up the module.",
        name=around.name,
    )


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
            return say(
                "set-already",
                "Line {line} already sets `self.{name}`. Leave that out, because `register_buffer` creates the "
                "attribute.",
                line=node.lineno,
                name=match[1],
            )
    return say(
        "name-taken",
        "The module already has a `{name}`. Register it only once, or choose a different name.",
        name=match[1],
    )


@rule(NotImplementedError, r'^Module \[(\w+)\] is missing the required "forward" function')
def missing_forward(scene: Scene, match: Match) -> str | None:
    """Explain a module whose `forward` is misspelled, nested too deeply, or outside of the class."""
    name = match[1]
    around = next((node for node in scene.nodes(ast.ClassDef) if node.name == name), None)
    forward = next((node for node in scene.nodes(ast.FunctionDef) if node.name == "forward"), None)
    if forward is not None and around is not None:
        holders = ancestors(scene, forward)
        if isinstance(holders[0], ast.FunctionDef) and around in holders:
            return say(
                "forward-inside",
                "`forward` (line {line}) is inside `{name}`. Indent both of them by the same amount.",
                line=forward.lineno,
                name=holders[0].name,
            )
        if around not in holders and not any(isinstance(one, ast.ClassDef) for one in holders):
            return say(
                "forward-outside",
                "`forward` (line {line}) is outside the class. Indent it so that it belongs to the class.",
                line=forward.lineno,
            )
    if around is None:
        if name in ("ModuleList", "ModuleDict"):
            return say(
                "container-called",
                "An nn.{name} only stores layers. Call each of them yourself, as in `[layer(x) for layer in layers]`.",
                name=name,
            )
        return None
    defined = [node.name for node in around.body if isinstance(node, ast.FunctionDef)]
    if "forward" in defined:
        return say("super-forward", "nn.Module itself has no `forward`, so leave out `super().forward(...)`.")
    if near := nearest("forward", defined):
        return say(
            "misspelled-forward", "The class defines `{near}`, but the method has to be called `forward`.", near=near
        )
    return say(
        "give-forward",
        "`{name}` needs a method `forward`, which runs when you call the module. It starts with `def "
        "forward(self, x):` and is indented as a part of the class.",
        name=name,
    )


@rule(TypeError, r"^([\w.]+) is not a Module subclass", r"should be called with an iterable, but got (\w+)")
def not_modules(scene: Scene, match: Match) -> str | None:
    """Explain an `nn.ModuleList` of objects that are not modules."""
    if match[1].endswith("Tensor"):
        return say("parameter-list", "The container takes layers, not tensors. For parameters, use nn.ParameterList.")
    return say(
        "module-list",
        "The container takes a list of layers, as in `nn.ModuleList([nn.Linear(3, 2) for _ in range(2)])`.",
    )


METHODS = frozenset({"method", "builtin_function_or_method", "function"})


# Operators -----------------------------------------------------------------------------------------------------------


@rule(TypeError, r"^unsupported operand type\(s\) for ([^:]+): '([\w.]+)' and '([\w.]+)'")
def operator_on_other_type(scene: Scene, match: Match) -> Said | None:
    """Explain an operator between a tensor and a value of a different type."""
    if match[1].startswith("^"):
        return power(scene, match)
    for node in scene.find(ast.BinOp, ast.AugAssign):
        left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        if any(isinstance(side, ast.Constant) and side.value is None for side in (left, right)):
            # The code says None itself.
            return None
        for side, other, kind in ((right, left, match[3]), (left, right, match[2])):
            if said := explain_operand(scene, node, match[1], side, other, kind):
                return said
    if Linear.__name__ in match.groups():
        return say("layer-in-product", "A layer is not a matrix. Call it with the tensor, as in `layer(x)`.")
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
            return say(
                "power-of",
                "`^` compares bits. Python uses `**` for powers, as in `{base} ** {code}`.",
                base=base,
                code=operand(right, other),
            )
    return say("power", "`^` compares bits. Python uses `**` for powers.")


def explain_operand(scene: Scene, node: ast.AST, op: str, side: ast.expr, other: ast.expr, kind: str) -> Said | None:
    """Say what one side of an operator is, if it is nothing to compute with; else return None."""
    value, code = scene.value(side), scene.quote(side, say("one-side", "One side"))
    tensor = scene.tensor_info(other)
    bare = operand(side, scene.code(side) or "x")
    if kind == "NoneType":
        return explain_none(scene, side)
    if kind == "Linear" or is_a(value, Module):
        given = scene.code(other) if tensor is not None else "x"
        return (
            say("named-layer-in-product", "{code} is a layer, not a matrix.", code=code),
            write_to_call(node, f"{bare}({given or 'x'})"),
        )
    if kind == "tuple":
        return say(
            "tuple-in-product",
            "{code} is {tuple}. Take one of its entries, such as `{bare}[0]`.",
            code=code,
            tuple=tuple_of(value),
            bare=bare,
        )
    if kind == "list":
        joined = f"{joining_function(value)}({scene.code(side) or 'x'})"
        return say("list-in-product", "{code} is a list, not a tensor.", code=code), try_out(side, joined)
    if kind == "str":
        return say("text", "{code} is text, not a number.", code=code)
    if kind in METHODS and scene.code(side):
        return say("function-in-product", "{code} is a function.", code=code), write_to_call(side, f"{bare}()")
    if kind in ("type", "_ParameterMeta", "_TensorMeta"):
        return say(
            "class-in-product",
            "{code} is a class. Make an object of it first, with `{bare}(...)`.",
            code=code,
            bare=bare,
        )
    if op.strip("=") == "@" and kind in ("int", "float"):
        return say(
            "number-in-product",
            "{code} is a plain number. `@` is for matrices, and `*` for numbers.",
            code=code,
        )
    return None


def write_to_call(node: ast.AST | None, call: str) -> Offer:
    """Propose the call of what stands in an expression."""
    return Offer(node, call, say("write-to-call", "Write `{call}` to call it.", call=call))


def tuple_of(value: object) -> str:
    """Return `a tuple of 2` for two entries, or `a tuple` if the number of entries is not known."""
    return (
        say("tuple-of", "a tuple of {count}", count=len(value))
        if is_exactly(value, tuple)
        else say("a-tuple", "a tuple")
    )


def joining_function(value: object) -> str:
    """Name the function that makes one tensor from a list."""
    tensors = is_exactly(value, list, tuple) and bool(value) and tensor_info(value[0]) is not None
    return "torch.stack" if tensors else "torch.tensor"


# Calls ---------------------------------------------------------------------------------------------------------------


@rule(TypeError, r"^'([\w.]+)' object is not callable")
def not_callable(scene: Scene, match: Match) -> Said | None:
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
            entry = f"{code}[{scene.code(call.args[0]) if call.args else '0'}]"
            how = say(
                "one-or-all", "Write `{entry}` for one size, or `{code}` for all of them.", entry=entry, code=code
            )
            return say("size-called", "`{code}` is not a function.", code=code), Offer(call, entry, how)
        if kind in ("int", "float", "tuple", "list", "str"):
            if code in BUILTINS:
                return say(
                    "builtin-replaced",
                    "Your code gives Python's own name `{code}` to a value of type {kind}. Choose a different name.",
                    code=code,
                    kind=kind,
                )
            return say(
                "value-called",
                "`{code}` has the type {kind}, so the parentheses after it can't call it. Is a `*` or a `,` missing?",
                code=code,
                kind=kind,
            )
        if kind == "module":
            if near := next((name for name in fields(scene.value(func)) if name.lower() == code.split(".")[-1]), None):
                return did_you_mean(func, code[: -len(near)] + near)
            return say(
                "python-module-called",
                "`{code}` is a module. Call one of its functions, as in `{code}.name(...)`.",
                code=code,
            )
        if is_a(scene.value(func), Module):
            return say("layer-without-forward", "`{code}` is a layer without a `forward`.", code=code)
    return None


def not_a_module(scene: Scene, name: str) -> str | None:
    """Explain an object of a class of the program that has a `forward` and is no module; None for any other class."""
    around = next((node for node in scene.nodes(ast.ClassDef) if node.name == name), None)
    if around is None or around.bases:
        return None
    if not any(isinstance(node, ast.FunctionDef) and node.name == "forward" for node in around.body):
        return None
    return no_module(scene, name)


def no_module(scene: Scene, name: str) -> str | None:
    """Explain what only modules have, asked of an object of a class of the program that derives from nothing."""
    around = next((node for node in scene.nodes(ast.ClassDef) if node.name == name and not node.bases), None)
    return around and say(
        "no-module",
        "`{name}` is not a module yet. Line {line} should be `class {name}(nn.Module):`.",
        line=around.lineno,
        name=name,
    )


def called_tensor(scene: Scene, call: ast.Call) -> Said:
    """Explain `tensor(...)`: a parameter mistaken for a layer, or a property with parentheses."""
    code, func = scene.code(call.func), call.func
    if isinstance(func, ast.Attribute):
        owner = scene.value(func.value)
        if func.attr in ("T", "mT", "data", "grad") and scene.tensor_info(func.value) is not None:
            return say("attribute-called", "`.{attr}` takes no parentheses.", attr=func.attr), write(call, code)
        if func.attr == "weight" and type(owner) is Linear:
            return say(
                "weight-called",
                "`{code}` is the matrix of the layer. Call the layer itself, as in `{code2}(...)`.",
                code=code,
                code2=scene.code(func.value),
            )
    given, tensor = scene.tensor_info(call.args[0]) if call.args else None, scene.tensor_info(func)
    if given is not None and tensor is not None:
        one = scene.code(call.args[0]) or "x"
        fits = product(given.shape, tensor.shape) is not None
        return (
            say(
                "matrix-called",
                "`{code}` is a matrix ({size}), not a layer, so it can't be called.",
                code=code,
                size=size(tensor.shape),
            ),
            write(call, f"{operand(call.args[0], one)} @ {code}") if fits else say("multiply", "Multiply with `@`."),
        )
    return say(
        "tensor-called",
        "`{code}` is a tensor, so it can't be called. A row of it is `{code}[0]`, and a product needs `*` or `@`.",
        code=code,
    )


# Attributes of containers and layers ---------------------------------------------------------------------------------


@rule(AttributeError, r"^'(tuple|list)' object has no attribute '(\w+)'")
def attribute_of_container(scene: Scene, match: Match) -> Said | None:
    """Explain an attribute of tensors that is used on a tuple or list of tensors."""
    kind, name = match.groups()
    if name not in TENSOR_NAMES:
        return None
    for node in scene.find(ast.Attribute):
        value = scene.value(node.value)
        bare = scene.code(node.value) or "result"
        if kind == "tuple":
            held = say(
                "tuple",
                "{code} is {tuple}",
                code=scene.quote(node.value, say("it", "It")),
                tuple=tuple_of(value),
            )
            if "MultiheadAttention" in class_of_call(scene, node.value):
                held = say(
                    "multihead-results",
                    "nn.MultiheadAttention returns two results, the output and the weights",
                )
            return say(
                "take-one",
                "{held}. Take one of them, such as `{bare}[0]`, or give each a name, as in `output, weights = ...`.",
                held=held,
                bare=bare,
            )
        return (
            say("list-as-tensor", "`{bare}` is a list, not a tensor.", bare=bare),
            try_out(node.value, f"{joining_function(value)}({bare})"),
        )
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
    return say(
        "plain-number",
        "{value} is a plain number, not a tensor. `.item()`, `.shape[0]`, and `len` return plain numbers.",
        value=f"`{code}`" if code else "It",
    )


@rule(AttributeError, r"^'(\w+)' object has no attribute '(\w+)'")
def attribute_of_layer(scene: Scene, match: Match) -> Said | None:
    """Explain an attribute of a matrix that is used on its layer, or the other way around."""
    for node in scene.find(ast.Attribute):
        value, code = scene.value(node.value), scene.code(node.value)
        if type(value) is Linear and match[2] in TENSOR_NAMES:
            return say("layer-as-matrix", "`{code}` is a layer. Its matrix is `{code}.weight`.", code=code)
        if tensor_info(value) is not None and match[2] in ("weight", "bias"):
            return say(
                "weight-of-matrix",
                "`{code}` is not a layer but the matrix itself, so leave out `.{name}`.",
                code=code,
                name=match[2],
            )
        if is_method(value) and code:
            return function_not_called(node.value, code)
    return None


# Plain Python --------------------------------------------------------------------------------------------------------


@rule(TypeError, r"^'([\w.]+)' object is not (iterable|subscriptable)", r"^object of type '([\w.]+)' has no len\(\)")
def not_a_container(scene: Scene, match: Match) -> Said | None:
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
        counted = f"range({code or 'n'})"
        return Offer(node, counted, say("range", "To count up to a number, write `{code}`.", code=counted))
    if kind in METHODS and code and verb == "subscriptable":
        base = code.removesuffix(".size")
        sizes = say("its-sizes", "The sizes are also in `{code}.shape`.", code=base) if base != code else None
        return *function_not_called(node, code), sizes
    if kind == "Linear" and code:
        return say("layer-as-matrix", "`{code}` is a layer. Its matrix is `{code}.weight`.", code=code)
    if is_class(scene.value(node)) and code:
        return say(
            "class-not-called", "`{code}` is a class. Make an object of it first, with `{code}(...)`.", code=code
        )
    if verb != "len" and is_a(scene.value(node), Module):
        return say(
            "single-module",
            "{code} is a single module, and not a container such as nn.ModuleList or nn.Sequential.",
            code=scene.quote(node),
        )
    return None


def function_not_called(node: ast.AST | None, code: str) -> tuple[str, Offer]:
    """Explain a function that is used as if it were what it returns."""
    call = f"{code}()"
    return (
        say("function-not-called", "`{code}` is a function.", code=code),
        Offer(node, call, say("call-first", "Write `{call}` to call it first.", call=call)),
    )


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
            return say(
                "brackets-missing", "The parentheses are missing. The line should be `with {code}():`.", code=code
            )
    return None


@rule(RuntimeError, r"size mismatch for ([\w.]+): .*torch\.Size\((\[[\d, ]*\])\).*torch\.Size\((\[[\d, ]*\])\)")
def state_dict_shape(scene: Scene, match: Match) -> Said | None:
    """Explain loaded weights that have the wrong shape."""
    given, wanted = ([int(part) for part in text.strip("[]").split(",") if part.strip()] for text in match.groups()[1:])
    shapes = say(
        "load-shape",
        "You gave `{name}` as {size}, but in the module it is {size2}.",
        name=match[1],
        size=size(given),
        size2=size(wanted),
    )
    turned = given == wanted[::-1] and len(given) == 2
    return shapes, say("transpose-t", "Transpose it with `.T`.") if turned else None


fixed_advice(
    RuntimeError,
    {
        r"Missing key\(s\) in state_dict": lambda: say(
            "state-dict-keys", "Its keys have to be those of `module.state_dict()`, such as `W_query.weight`."
        )
    },
)
