"""What is known of an operation: which arguments it writes to, what it draws at random, and how it is called fastest.

Most of it is said by its schema, also how its results are called: of several, the code of a call may give only the
first. A composite operation, such as `linear` or `layer_norm`, has no kernel, only a function of others. Where autograd
may be needed, it is autograd that calls this function, and a recorder sees only what that calls. Inference tensors know
no autograd, so in `torch.inference_mode()` a recorder is handed the composite operation itself. It calls the same
function then, in the same way, and records what that calls: the numbers are those of any other run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch._ops import HigherOrderOperator

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.recording.event import IN_PLACE, PLAIN, SPECIAL, Event, Info

COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
KERNELS_OF_ITS_OWN = ("CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
"""The keys of kernels that PyTorch would prefer to the function of other operations."""


def composite_function(func: Any) -> Callable[..., Any] | None:
    """Return the function of other operations that a composite operation is; None if it has a kernel of its own."""
    name, has_kernel = func.name(), torch._C._dispatch_has_kernel_for_dispatch_key
    # Operations of the compiler, such as `prim::layout`, are unknown to the dispatcher.
    if not torch._C._dispatch_has_kernel(name):
        return None
    if not has_kernel(name, "CompositeImplicitAutograd") or any(has_kernel(name, key) for key in KERNELS_OF_ITS_OWN):
        return None

    def function(*args: Any, **kwargs: Any) -> Any:
        return func._op_dk(COMPOSITE, *args, **kwargs)

    return function


def are_plain(values: Iterable[Any]) -> bool:
    """Return whether no argument is a tensor for which PyTorch may prefer something else: nested, or of a subclass."""
    for value in values:
        if isinstance(value, list | tuple):
            if not are_plain(value):
                return False
        elif isinstance(value, torch.Tensor) and (
            type(value) not in (torch.Tensor, torch.nn.Parameter)
            or value.layout is not torch.strided
            or value.is_nested
        ):
            return False
    return True


FAST: dict[str, set[str]] = {
    "Tensor": {"add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_", "split"},
    "Tensor_Scalar": {"pow"},
    "int": {"transpose", "select", "unbind"},
    "dim": {"squeeze", "mean"},
    "dim_IntList": {"sum"},
    "Scalar": {"masked_fill", "masked_fill_", "fill_", "lerp_", "eq", "ne", "gt", "lt", "mul", "div"},
    "": {
        "mm", "bmm", "addmm", "dot", "mv", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "neg", "abs",
        "square", "sin", "cos", "clone", "detach", "t", "permute", "unsqueeze", "expand", "view", "sum", "mean",
        "triu", "tril", "maximum", "embedding", "native_layer_norm", "_softmax", "_log_softmax",
        "_softmax_backward_data", "_log_softmax_backward_data", "copy_", "zero_", "addcmul_", "addcdiv_",
        "ones_like", "zeros_like", "index_select", "nonzero", "silu", "_local_scalar_dense",
    },
}  # fmt: skip
"""Operations, by overload, whose function in `torch` takes the same arguments by position.

Calling that one is faster than calling the operation itself, which compares the arguments with its schema first.
"""


OTHER_FUNCTIONS = {"_local_scalar_dense": "item"}
"""Operations whose function has another name."""


def fast_call(op: str, overload: str) -> Callable[..., Any] | None:
    """Return a function that takes the arguments of an operation by position; None if none is known."""
    if op not in FAST.get(overload, ()):
        return None
    name = OTHER_FUNCTIONS.get(op, op)
    rooms: tuple[Any, ...] = torch._C._VariableFunctions, torch.Tensor, torch._C._nn
    found: Callable[..., Any] | None = next(filter(None, (getattr(room, name, None) for room in rooms)), None)
    return found


RESHAPING = frozenset(
    {
        "squeeze_",
        "unsqueeze_",
        "t_",
        "transpose_",
        "swapaxes_",
        "swapdims_",
        "detach_",
        "as_strided_",
        "resize_",
        "set_",
        "requires_grad_",
    }
)
"""In-place operations that change the shape of a tensor and none of its elements."""

UNDECLARED_WRITES = {"native_batch_norm": ("running_mean", "running_var")}
"""Arguments that an operation writes to in training although its schema does not say so."""

MARKING = frozenset({"_conj", "_neg_view", "_efficientzerotensor"})
"""Operations whose results do not have in memory what they are: the sign is another, or there are only zeros."""

DATA = "lift_fresh"
"""The operation that data from outside come through."""


KNOWN: dict[int, Info] = {}
"""What was read of operations, by their identity: their hash is a function in Python. An `Info` keeps its operation."""


def read_common() -> None:
    """Read the schemas of common operations, which takes as long as to run a step of a lesson."""
    for overload, ops in FAST.items():
        for op in ops:
            read(getattr(getattr(torch.ops.aten, op), overload or "default"))


def read(func: Any) -> Info:
    """Read the schema of an operation, and keep what it says."""
    info = KNOWN[id(func)] = _read(func)
    return info


def _read(func: Any) -> Info:
    if isinstance(func, HigherOrderOperator):
        return Info(func, func.name(), {}, {}, (), False, runs_code=True)
    schema = func._schema
    op = schema.name.partition("::")[2]
    undeclared = UNDECLARED_WRITES.get(op, ())
    written = tuple(
        (position, item.name)
        for position, item in enumerate(schema.arguments)
        if (item.alias_info and item.alias_info.is_write and op not in RESHAPING) or item.name in undeclared
    )
    names = {item.name: position for position, item in enumerate(schema.arguments)}
    random = torch.Tag.nondeterministic_seeded in func.tags
    in_place = (
        [position for position, _ in written] == [0]
        and str(schema.arguments[0].type) == "Tensor"
        and "resize" not in op
    )
    reshaping = not in_place and any(item.alias_info and item.alias_info.is_write for item in schema.arguments)
    special = random or reshaping or op in MARKING or op == DATA or (written and not in_place)
    return Info(
        func,
        op,
        names,
        {item.name: item.default_value for item in schema.arguments if item.has_default_value()},
        written,
        random,
        fast_call(op, schema.overload_name),
        any("Tensor" in str(item.type) for item in schema.arguments),
        names["training"] if undeclared else None,
        any(item.is_out for item in schema.arguments),
        in_place,
        op in MARKING,
        reshaping,
        SPECIAL if special else IN_PLACE if in_place else PLAIN,
        composite_function(func),
        torch.Tag.pointwise in func.tags,
    )


say = Wording("explaining/results")

FIRST_ONLY = frozenset(
    {
        *("nll_loss_forward", "nll_loss2d_forward", "multilabel_margin_loss_forward", "_ctc_loss"),
        *("native_layer_norm", "native_group_norm", "native_batch_norm", "native_dropout", "_fused_rms_norm"),
        *("max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool3d"),
        *("log_sigmoid_forward", "_embedding_bag", "_embedding_bag_forward_only", "_weight_norm_interface"),
        *("linalg_inv_ex", "linalg_cholesky_ex", "_linalg_det", "_linalg_solve_ex"),
    }
)
"""Operations behind functions that give only the first of their results: the others are for the backward pass."""


def place_of_result(event: Event, output: int) -> tuple[int, int]:
    """Return the place of an output of an event among the results of its operation, and how many there are.

    What an operation writes to beside its results has a place below 0.
    """
    beside = len(tuple(event.info.targets(event.args, event.kwargs))) if event.info.undeclared is not None else 0
    return output - beside, len(event.outs) - beside


def name_of_result(event: Event, output: int) -> str:
    """Return how the schema of an operation calls one of its results; "" if it gives it no name."""
    place, _ = place_of_result(event, output)
    # An operation that runs functions of the program has no schema.
    schema = getattr(event.info.func, "_schema", None)
    returns = schema.returns if schema is not None else ()
    return str(returns[place].name or "") if 0 <= place < len(returns) > 1 else ""


def gives_first_only(event: Event) -> bool:
    """Return whether a function of PyTorch gives only the first result of an operation."""
    return event.op in FIRST_ONLY or event.op.startswith("_scaled_dot_product")


def describe_result(event: Event, output: int) -> str:
    """Describe one of several results of an operation: `indices of topk`; "" for the only one."""
    place, count = place_of_result(event, output)
    if count < 2 or place < 0:
        return ""
    name, op = name_of_result(event, output), event.op.strip("_")
    if name:
        return say("named", "{name} of {operation}", name=name, operation=op)
    return say("numbered", "result {number} of {operation}", number=place + 1, operation=op)
