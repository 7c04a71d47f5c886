"""Names of the results of operations that have several, of which the code of a call may give only the first."""

from __future__ import annotations

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.recording.event import Event

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


def place_of(event: Event, output: int) -> tuple[int, int]:
    """Return the place of an output of an event among the results of its operation, and how many there are.

    What an operation writes to beside its results has a place below 0.
    """
    beside = len(tuple(event.info.targets(event.args, event.kwargs))) if event.info.undeclared is not None else 0
    return output - beside, len(event.outs) - beside


def name_of(event: Event, output: int) -> str:
    """Return how the schema of an operation calls one of its results; "" if it gives it no name."""
    place, _ = place_of(event, output)
    # An operation that runs functions of the program has no schema.
    schema = getattr(event.info.func, "_schema", None)
    returns = schema.returns if schema is not None else ()
    return str(returns[place].name or "") if 0 <= place < len(returns) > 1 else ""


def gives_first_only(event: Event) -> bool:
    """Return whether a function of PyTorch gives only the first result of an operation."""
    return event.op in FIRST_ONLY or event.op.startswith("_scaled_dot_product")


def described(event: Event, output: int) -> str:
    """Describe one of several results of an operation: `indices of topk`; "" for the only one."""
    place, count = place_of(event, output)
    if count < 2 or place < 0:
        return ""
    name, op = name_of(event, output), event.op.strip("_")
    if name:
        return say("named", "{name} of {operation}", name=name, operation=op)
    return say("numbered", "result {number} of {operation}", number=place + 1, operation=op)
