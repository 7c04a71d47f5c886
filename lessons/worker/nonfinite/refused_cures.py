"""What cures a number that was computed from too few, or from an infinity and 0; each is tried in place."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import torch

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining import nonfinite_origin
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.nonfinite import tried_in_place
from attn_tutor.lessons.worker.nonfinite.nonfinite_chain import Link
from attn_tutor.lessons.worker.recording.event import Event, tensors_of
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/nonfinite-cures")


def of_too_few(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    tensor = event.arg("self")
    if (
        event.op.startswith("nll_loss")
        and isinstance(event.arg("weight"), Region)
        and _is_any_target_counted(run, event)
    ):
        yield say(
            "weigh-targets",
            "The mean divides by the weights of the targets that are there, and these are all 0. Give each class a "
            "weight above 0, or leave out batches that have only others.",
        )  # fmt: skip
    elif event.op.startswith("nll_loss"):
        yield say(
            "count-targets",
            "No target counts: all are ignore_index. With reduction='sum', divided by "
            "(target != ignore_index).sum().clamp(min=1), the loss is 0 here.",
        )  # fmt: skip
    elif "batch_norm" in event.op:
        yield say(
            "batch-of-one",
            "In training, batch normalization needs more than one value for each channel. Is this a last batch of one? "
            "drop_last=True leaves it out.",
        )  # fmt: skip
        if tried_in_place.helps(run, event, functools.partial(_in_evaluation, run, event), "input"):
            yield say(
                "batch-in-evaluation",
                "After eval(), it takes the running mean and variance, and what follows is finite here.",
            )
    elif (
        event.op.startswith(("std", "var"))
        and isinstance(tensor, Region)
        and tensor.size
        and tried_in_place.helps(run, event, functools.partial(_without_correction, event), "self")
    ):
        yield say(
            "correction",
            "One number has no spread to estimate: {operation}(correction=0) gives 0 here.",
            operation=event.op.partition("_")[0],
        )  # fmt: skip
    elif event.op.startswith(("std", "var")) and isinstance(tensor, Region) and tensor.size:
        yield say("take-two", "One number has no spread to estimate. Should there be more than one here?")
    else:
        yield say("nothing-selected", "Nothing was selected to take the mean of: look at that first, if x.numel() > 0.")


def _is_any_target_counted(run: Explainer, event: Event) -> bool:
    """Return whether a loss has a target that is not ignored."""
    target = event.arg("target")
    return isinstance(target, Region) and bool(
        (run.history.tensor(target, event.time) != event.arg("ignore_index")).any()
    )


def _without_correction(event: Event, tensor: torch.Tensor) -> torch.Tensor:
    again = event.info.func(tensor, *event.args[1:], **{**event.kwargs, "correction": 0})
    return next(iter(tensors_of(again)))


def _in_evaluation(run: Explainer, event: Event, tensor: torch.Tensor) -> torch.Tensor:
    weight, bias, mean, variance = (
        run.history.tensor(item, event.time) if isinstance(item := event.arg(name), Region) else None
        for name in ("weight", "bias", "running_mean", "running_var")
    )
    return torch.nn.functional.batch_norm(tensor, mean, variance, weight, bias, False, eps=event.arg("eps"))


def of_zero_times(run: Explainer, first: Link, event: Event) -> Iterator[str]:
    if event.op.strip("_") != "mul" or not _helps_to_choose(run, event):
        return
    if nonfinite_origin.names_infinity(first.derived):
        yield say(
            "fill-instead",
            "Multiplying a mask by infinity gives NaN where the mask is 0. scores.masked_fill(hidden, float('-inf')) "
            "changes only the numbers that are to be hidden.",
        )  # fmt: skip
        return
    yield say(
        "choose-instead",
        "Multiplying by 0 does not remove an infinity. torch.where(keep, x, 0) chooses 0 in its place.",
    )


def _helps_to_choose(run: Explainer, event: Event) -> bool:
    """Return whether 0 helps in the place of what is multiplied by 0."""
    names = ["self", "other"]
    given = [event.arg(name) for name in names]
    tensors = [
        run.history.tensor(item, event.time) if isinstance(item, Region) else torch.tensor(item) for item in given
    ]
    infinite = next((at for at, tensor in enumerate(tensors) if bool(tensor.isinf().any())), None)
    if infinite is None or not isinstance(given[1 - infinite], Region):
        return False
    if isinstance(given[infinite], Region):
        kept, mask = names[infinite], names[1 - infinite]
        return tried_in_place.helps(run, event, lambda x, keep: torch.where(keep != 0, x, 0) * keep, kept, mask)
    number = float(given[infinite])
    filled = lambda hidden: torch.zeros_like(hidden).masked_fill(hidden > 0, number)  # noqa: E731
    return tried_in_place.helps(run, event, filled, names[1 - infinite])
