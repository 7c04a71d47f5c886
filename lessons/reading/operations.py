"""The operations that code names: whether an answer can have made a mistake, as far as its code tells.

Two programs may give the same numbers and do different things. A mistake that takes the largest score away is not made
by code that takes nothing away, and dropout is not left out where it is called.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard

from attn_tutor.lessons.reading.code_differences import names_for, parse, renamed_tree

FAMILIES: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    name: (frozenset(telling.split()), frozenset(others.split()))
    for name, telling, others in (
        ("subtract", "- sub sub_ subtract", "diff neg + add"),
        ("exponential", "exp exp_ softmax", "log_softmax logsumexp sigmoid softmin **"),
        ("logarithm", "log log_softmax", "logsumexp log2 log10 log1p logsigmoid"),
        ("largest", "max amax maximum", "argmax sort topk sorted clamp cummax aminmax norm"),
        ("smallest", "min amin minimum", "argmin sort topk sorted clamp cummin aminmax neg"),
        ("size", "abs norm", "vector_norm square absolute ** sqrt cdist dist cosine_similarity normalize"),
        ("middle", "mean median", "sum / div"),
        ("limit", "clamp clip clamp_", "minimum maximum min max where"),
        ("dropout", "dropout", "dropout_ bernoulli bernoulli_ alpha_dropout"),
        ("gradient", "detach data no_grad item", "detach_ tolist numpy inference_mode requires_grad requires_grad_"),
        ("copy", "clone", "copy_ copy deepcopy contiguous"),
        ("turn", "T mT transpose", "swapaxes permute t movedim H einsum mm matmul @ linear view reshape for stack"),
    )
}
"""Families of words: those that tell what is done, and others with which the same can be done.

What has no family is done in too many ways.
"""

MADE = frozenset(("dropout", "exponential", "largest", "smallest", "size", "limit"))
"""Families of operations that are not left out where they are called."""

SIGNS: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.Pow: "**",
}

COMMON = frozenset(("dim", "-", "shape", "append"))
"""Words of code that tell nothing of what a line does."""

PLAIN = frozenset((0, 1))
"""Numbers that stand in code for many reasons."""


def words_of(source: str) -> frozenset[str]:
    """Return the names of the functions and attributes that code uses, its operators, and the numbers beside these.

    A layer that a module keeps counts as the function that it computes. Empty if the code cannot be parsed.
    """
    try:
        # A statement that others belong to may stand alone.
        nodes = [*ast.walk(ast.parse(f"{source} ..." if source.endswith(":") else source))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    layers: dict[str, str] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=name) | ast.Name(id=name)], value=ast.Call(func=made)):
                layers[name] = name_of(made).lower()
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.BinOp | ast.AugAssign):
            sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
            found |= {SIGNS.get(type(node.op), ""), *(str(item.value) for item in sides if _is_telling(item))}
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            # The sign of a number takes nothing away.
            found |= set() if isinstance(node.operand, ast.Constant) else {"-"}
        elif isinstance(node, ast.For | ast.While | ast.comprehension):
            found.add("for")
        elif isinstance(node, ast.Call):
            name = name_of(node.func)
            found |= {name, layers.get(name, name)}
            # A layer that is called where it is made.
            found |= {name_of(node.func.func).lower()} if isinstance(node.func, ast.Call) else set()
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
    return frozenset(found)


def _is_telling(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value not in PLAIN


def _telling(words: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name, (telling, _) in FAMILIES.items() if words & telling)


def name_of(node: ast.AST) -> str:
    """Return the last name of a function or an attribute, "" for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def are_akin(one: str, other: str) -> bool:
    """Return whether two pieces of code name an operation of one family, or use the same word."""
    first, second = words_of(one) - COMMON, words_of(other) - COMMON
    families = (telling | others for telling, others in FAMILIES.values())
    return bool(first & second) or any(first & words and second & words for words in families)


def may_make(answer: Iterable[str], mistaken: str, solution: str) -> bool:
    """Return whether an answer with these words may have made the mistake that `mistaken` shows in the model answer.

    What the mistake brings in has to be there, and what it leaves out may not be called.
    """
    held = frozenset(answer)
    if not held:
        return True
    wrong, right = words_of(mistaken), words_of(solution)
    brought = _telling(wrong - right) - _telling(right)
    left = _telling(right) - _telling(wrong)
    # What stands on the line of the mistake is there as well: softmax is taken along no axis where there is none.
    lines = [line.strip() for line in mistaken.splitlines() if line not in solution.splitlines()]
    brought |= _telling(frozenset().union(*map(words_of, lines))) & MADE
    lacks = any(held.isdisjoint(telling | others) for telling, others in map(FAMILIES.__getitem__, brought))
    numbers = {word for word in right - wrong if word[:1].isdigit()}
    return not lacks and not left & _telling(held) & MADE and not numbers & held


# What is computed, whatever the spelling ------------------------------------------------------------------------------

PRODUCTS = frozenset(("matmul", "mm", "bmm", "mv", "dot", "__matmul__"))
TURNING = frozenset(("T", "mT", "t", "transpose", "swapaxes"))
LAST_TWO: Sequence[set[str]] = (set(), {"0", "1"}, {"-1", "-2"})
"""The axes that are exchanged in a matrix that is transposed."""

PACKAGES = frozenset(("torch", "F", "nn", "math", "np"))
LONGEST_VALUE = 200
"""The most nodes of what is put in place of a variable."""


def made_in(source: str, mistaken: str, solution: str) -> bool:
    """Return whether a program does all that a mistake does to the model answer, `mistaken`: its code has that.

    It computes what the mistake brings in, and nothing that the mistake replaces. Variables stand for what they hold.
    """
    try:
        names = names_for(source, mistaken)
        theirs = _computed(parse(source))
        wrong, right = (_computed(renamed_tree(parse(code), names)) for code in (mistaken, solution))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    brought, replaced = _smallest(wrong, right), _smallest(right, wrong)
    return bool(brought or replaced) and brought <= theirs.keys() and replaced.isdisjoint(theirs)


def _smallest(computed: Mapping[str, frozenset[str]], others: Mapping[str, frozenset[str]]) -> set[str]:
    """Return what one program computes and another one does not, although it computes all that goes into it."""
    return {code for code, parts in computed.items() if code not in others and parts <= others.keys()}


def _computed(tree: ast.Module) -> dict[str, frozenset[str]]:
    """Return all that a program computes, each with what goes into it that is computed as well."""
    plain = _Plain().visit(tree)
    operations = [node for node in ast.walk(plain) if isinstance(node, ast.expr) and not _is_named(node)]
    return {
        ast.dump(node): frozenset(
            ast.dump(part)
            for part in ast.walk(node)
            if part is not node and isinstance(part, ast.expr) and not _is_named(part)
        )
        for node in operations
    }


def _is_named(node: ast.expr) -> bool:
    """Return whether an expression only names something or writes it out."""
    return isinstance(node, ast.Name | ast.Constant | ast.Attribute)


class _Plain(ast.NodeTransformer):
    """Puts one spelling in place of others: `x @ y` for `torch.matmul(x, y)`, and its value for a variable."""

    def __init__(self) -> None:
        self._held: dict[str, ast.expr] = {}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        held, self._held = self._held, {}
        found = self.generic_visit(node)
        self._held = held
        return found

    def visit_For(self, node: ast.For) -> ast.AST:
        for part in ast.walk(node):
            # What a loop changes is not what its first turn has made of it.
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self._held.pop(part.id, None)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        value = self.visit(node.value)
        for target in node.targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Name):
                    self._held.pop(part.id, None)
            if isinstance(target, ast.Name) and sum(1 for _ in ast.walk(value)) <= LONGEST_VALUE:
                self._held[target.id] = value
        return ast.Assign(node.targets, value)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if isinstance(node.target, ast.Name):
            before = ast.Name(node.target.id, ast.Load())
            return self.visit_Assign(ast.Assign([node.target], ast.BinOp(before, node.op, node.value)))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        held = self._held.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return node if held is None else copy.deepcopy(held)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node = ast.Attribute(self.visit(node.value), node.attr, node.ctx)
        return ast.Call(ast.Name("turned", ast.Load()), [node.value], []) if node.attr in ("T", "mT") else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.Add | ast.Mult):
            left, right = sorted((left, right), key=ast.dump)
        return ast.BinOp(left, node.op, right)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        given = [self.visit(each) for each in (*node.args, *(word.value for word in node.keywords))]
        name = name_of(node.func)
        if isinstance(node.func, ast.Attribute):
            owner = node.func.value
            # A function of a package or a layer of a module; of anything else it is a method, which takes that.
            written = ast.unparse(owner) if isinstance(owner, ast.Name | ast.Attribute) else ""
            if written != "self" and written.partition(".")[0] not in PACKAGES:
                given = [self.visit(owner), *given]
        if name in PRODUCTS and len(given) == 2:
            return ast.BinOp(given[0], ast.MatMult(), given[1])
        if name == "sqrt" and len(given) == 1:
            return ast.BinOp(given[0], ast.Pow(), ast.Constant(0.5))
        if name in TURNING and {ast.unparse(axis) for axis in given[1:]} in LAST_TWO:
            name, given = "turned", given[:1]
        return ast.Call(ast.Name(name, ast.Load()), given, [])
