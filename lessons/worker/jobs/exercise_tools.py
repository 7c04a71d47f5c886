"""Functions that the code of an exercise (`context`, `probe`, `checks`) may use besides torch."""

from __future__ import annotations

import gc
import random
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from attn_tutor.lessons.texts.wording import Wording

say = Wording("worker/tools")


def pick(count: int, low: int, high: int) -> list[int]:
    """Draw `count` different sizes from `low` to `high`, so that a wrong axis shows as a wrong shape."""
    return random.sample(range(low, high + 1), count)


def refill(module: nn.Module, seed: int) -> None:
    """Give every parameter new values that depend on its name, its shape and the seed only, in place.

    Two modules whose parameters have the same names and shapes thus compute with the same numbers, however they were
    initialized. Buffers stay. Values are uniform in (-0.5, 0.5), different for every parameter.
    """
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            generator = torch.Generator().manual_seed(zlib.crc32(f"{seed}/{name}".encode()))
            parameter.copy_(torch.rand(parameter.shape, generator=generator) - 0.5)


def parameters(module: nn.Module) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of a module's parameters."""
    return {name: tuple(parameter.shape) for name, parameter in module.named_parameters()}


def close(got: object, want: object, atol: float = 1e-4) -> bool:
    """Return whether two tensors have the same shape and agree within `atol`; False for NaN and for non-tensors."""
    if not isinstance(got, torch.Tensor) or not isinstance(want, torch.Tensor) or got.shape != want.shape:
        return False
    return bool(torch.allclose(got.double(), want.double(), rtol=1e-4, atol=atol))


def backward(output: object, pull: torch.Tensor | None = None) -> str:
    """Run `backward` on the sum of an output, weighted by `pull`; return why it fails, empty if it does not."""
    try:
        total: Any = output if pull is None else output * pull  # type: ignore[operator]
        (total.square() if pull is None else total).sum().backward()
    except (RuntimeError, TypeError, AttributeError) as error:
        if "inplace operation" in str(error):
            return say("changed-in-place", "A result that the gradient needs was changed in place")
        if "second time" in str(error):
            return say("second-backward", "After one backward the next fails, as forward uses results from outside")
        return say("no-backward", "The output cannot be used with backward()")
    return ""


class _Halving(TorchFunctionMode):
    """Halves what one function of PyTorch returns."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a function of PyTorch, and halve what the one with the name returns."""
        result = func(*args, **(kwargs or {}))
        return result / 2 if getattr(func, "__name__", "") == self._name else result


def uses(name: str, call: Callable[[], torch.Tensor]) -> bool:
    """Return whether the result of a call is made of what the function of PyTorch with this name returns."""
    whole = call()
    with _Halving(name):
        return not torch.allclose(call(), whole, rtol=0, atol=0, equal_nan=True)


class _Counting(TorchFunctionMode):
    """Counts the calls of one function of PyTorch."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self.calls = 0

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a function of PyTorch, and count the one with the name."""
        self.calls += getattr(func, "__name__", "") == self._name
        return func(*args, **(kwargs or {}))


def calls(name: str, call: Callable[[], object]) -> int:
    """Return how often the function of PyTorch with this name is called in a call."""
    counting = _Counting(name)
    with counting:
        call()
    return counting.calls


class _Outsiders(TorchFunctionMode):
    """Notes tensors that meet those of a module, though they do not move with it to another device.

    `before` are the tensors that were there before; without it, every tensor that is not known counts as one of them.
    """

    def __init__(self, model: nn.Module, inputs: Sequence[torch.Tensor], before: Sequence[torch.Tensor] = ()) -> None:
        super().__init__()
        # Strong references keep an id from being used again.
        self._known = {id(item): item for item in (*model.parameters(), *model.buffers(), *inputs)}
        self._before = {id(item): item for item in before if id(item) not in self._known}
        self._made: dict[int, torch.Tensor] = {}
        self.held = self.made = False

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a function of PyTorch, and note whether it combines tensors of the module with an outsider."""
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        given = [item for item in _tensors((args, tuple(kwargs.values()))) if item.dim()]
        made = [item for item in given if id(item) in self._made]
        held = [item for item in given if id(item) not in self._made and self._is_held(item)]
        name = getattr(func, "__name__", "")
        results = {id(item): item for item in _tensors(result)}
        outside = len(made) + len(held) == len(given) and name not in MOVES and "device" not in kwargs
        if not outside:
            self._made = {key: item for key, item in self._made.items() if key not in results}
            self._before = {key: item for key, item in self._before.items() if key not in results}
            self._known |= results
            if len(made) + len(held) < len(given) and name not in MEETINGS | MOVES:
                self.made, self.held = self.made or bool(made), self.held or bool(held)
        elif not held:
            self._made |= results
        elif self._before:
            self._before |= results
        return result

    def _is_held(self, item: torch.Tensor) -> bool:
        return id(item) in self._before if self._before else id(item) not in self._known


MOVES = {"to", "type_as", "cuda", "cpu"}
"""Functions whose result lies on a device of their own."""

MEETINGS = {"copy_", "__getitem__", "__setitem__"}
"""Functions that may combine tensors of different devices."""


def _tensors(value: object) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [item for part in value for item in _tensors(part)] if isinstance(value, list | tuple) else []


def outsiders(model: nn.Module, *inputs: torch.Tensor) -> list[str]:
    """Call a module and return which tensors it uses that would not move with it to another device.

    `held` is one that was there before the call and is neither parameter nor buffer; `made` is one that the call makes
    without a device. Numbers, tensors without axes, may come from anywhere.
    """
    watch = _Outsiders(model, inputs)
    with watch:
        model(*inputs)
    if watch.held:
        # To look through all objects takes a tenth of a second, so that is done only where it may find something.
        before = [item for item in gc.get_objects() if issubclass(type(item), torch.Tensor)]
        again = _Outsiders(model, inputs, before)
        with again:
            model(*inputs)
        watch.held = again.held
    return [name for name, found in (("held", watch.held), ("made", watch.made)) if found]


UNRECORDED = {"": nullcontext, "no_grad": torch.no_grad, "inference": torch.inference_mode}
"""The ways to call a module, with gradients and without."""


def in_all_modes(
    model: nn.Module, *inputs: torch.Tensor, look: Callable[[], object] | None = None
) -> dict[str, object]:
    """Call a module in training and in evaluation, with and without gradients, and return its results by mode.

    The keys are `train`, `train_no_grad`, `train_inference`, and the same with `eval`; `again` is a second call in the
    mode that the module is in, and `graded` one with inputs that require gradients. What is not a tensor counts as
    None. With `look`, this is called after each call, and what it returns is kept.
    """

    def called(way: str = "", graded: bool = False) -> object:
        given = [item.detach().requires_grad_() + 0 if graded and _is_of_floats(item) else item for item in inputs]
        with UNRECORDED[way]():
            result = model(*given)
        if look is not None:
            return look()
        # A copy that is made outside of inference mode has no such mode.
        return result.detach().clone() if isinstance(result, torch.Tensor) else None

    before = model.training
    called()
    results = {"again": called(), "graded": called(graded=True)}
    for mode in ("train", "eval"):
        (model.train if mode == "train" else model.eval)()
        results |= {f"{mode}_{way}".rstrip("_"): called(way) for way in UNRECORDED}
    model.train(before)
    return results


def _is_of_floats(item: object) -> bool:
    return isinstance(item, torch.Tensor) and item.is_floating_point()


def drops_in(model: nn.Module, *inputs: torch.Tensor) -> dict[str, object]:
    """Return for all modes whether the result of a module differs from that after `eval()`; take a high rate."""
    results = in_all_modes(model, *inputs)
    return {mode: not close(result, results["eval"]) for mode, result in results.items()}


def other_mode(got: Mapping[str, object], want: Mapping[str, object]) -> str:
    """Say in which of all modes a module does not do what it should: "After `eval()`"; empty if it does in all."""
    for mode, right in want.items():
        mine = got.get(mode)
        if close(mine, right) if isinstance(right, torch.Tensor) else mine == right:
            continue
        match mode:
            case "again":
                return say("again", "In a second call with the same inputs")
            case "graded":
                return say("graded", "For inputs that require gradients")
            case "train":
                return say("train", "In training")
            case "eval":
                return say("eval", "After `eval()`")
            case "train_no_grad":
                return say("train-no-grad", "In training, inside `torch.no_grad()`")
            case "eval_no_grad":
                return say("eval-no-grad", "After `eval()`, inside `torch.no_grad()`")
            case "train_inference":
                return say("train-inference", "In training, inside `torch.inference_mode()`")
            case _:
                return say("eval-inference", "After `eval()`, inside `torch.inference_mode()`")
    return ""


def uses_buffer(model: nn.Module, name: str, *inputs: torch.Tensor) -> bool:
    """Return whether the result of a module changes when all numbers of its buffer of this name become 0, or 1."""
    held = getattr(model, name)
    with torch.no_grad():
        before = model(*inputs)
        try:
            for other in (torch.zeros_like(held), torch.ones_like(held)):
                setattr(model, name, other)
                if not torch.allclose(before, model(*inputs), equal_nan=True):
                    return True
        except Exception:
            return True
        finally:
            setattr(model, name, held)
    return False


def in_memory_of(model: nn.Module, other: nn.Module) -> list[str]:
    """Return the names of the parameters and buffers of a module that lie in the memory of another module."""
    places = {item.untyped_storage().data_ptr() for item in (*other.parameters(), *other.buffers()) if item.numel()}
    held = (*model.named_parameters(), *model.named_buffers())
    return [name for name, item in held if item.numel() and item.untyped_storage().data_ptr() in places]


def started_alike(model: nn.Module) -> dict[str, str]:
    """Return the parameters that hold the very numbers of an earlier one, each with the name of that one.

    Parameters whose numbers are all equal, such as biases of zeros, do not count: nothing was drawn for them.
    """
    drawn = [(name, item.detach()) for name, item in model.named_parameters() if (item != item.flatten()[:1]).any()]
    twins = {}
    for number, (name, item) in enumerate(drawn):
        twin = next((other for other, earlier in drawn[:number] if torch.equal(earlier, item)), None)
        if twin is not None:
            twins[name] = twin
    return twins


MOST_NUMBERS = 6


def numbers(values: torch.Tensor, digits: int = 2) -> str:
    """Format the first numbers of a tensor, such as `0.92, 1.30, 1.28`, with dots at the end if there are more."""
    flat = values.detach().double().flatten()
    shown = ", ".join(f"{value:.{digits}f}" for value in flat[:MOST_NUMBERS].tolist())
    return shown + (", ..." if flat.numel() > MOST_NUMBERS else "")


def beside(got: torch.Tensor, want: torch.Tensor, what: str, given: str = "") -> str:
    """Say where two tensors of one shape begin to differ, with enough digits: "Your weights begin with ...".

    `what` names the numbers: "weights", "context vectors"; `given` says under which condition they hold. The sentence
    has no full stop.
    """
    sentence = _beside(got, want, what)
    return f"{given}, {sentence[0].lower()}{sentence[1:]}" if given else sentence


def _beside(got: torch.Tensor, want: torch.Tensor, what: str) -> str:
    what = _noun(what)
    if got.shape != want.shape:
        shapes = {"got": tuple(got.shape), "want": tuple(want.shape)}
        return say("other-shape", "Your {what} have the shape {got}. It should be {want}", what=what, **shapes)
    mine, right = (item.detach().double() for item in (got, want))
    differs = ~torch.isclose(mine, right, rtol=1e-4, atol=1e-4, equal_nan=True)
    if mine.dim() == 0 or not differs.any():
        return say("should-be", "Your {what} should be {right}", what=what, right=numbers(right, 4))
    *place, column = differs.nonzero()[0].tolist()
    # The beginning of a row says more than its middle, if it shows the difference.
    column = 0 if column < SHOWN else column
    pieces = [item[tuple(place)][column : column + SHOWN] for item in (mine, right)]
    shown = next(pair for pair in _with_digits(pieces))
    said: dict[str, Any] = {"what": what, "mine": shown[0], "right": shown[1]}
    if len(place) > 1:
        return _in_sentence(place, column, said)
    return _in_matrix(place[0], column, said) if place else _in_vector(column, said)


def _in_sentence(place: list[int], column: int, said: dict[str, Any]) -> str:
    said |= {"row": place[-1], "sentence": place[0], "column": column}
    if column:
        return say(
            "row-of-sentence-from-column",
            "Row {row} of your {what} in sentence {sentence}, counted from 0, is, from column {column} on, {mine}. "
            "There it should be {right}",
            **said,
        )
    if any(place):
        return say(
            "row-of-sentence",
            "Row {row} of your {what} in sentence {sentence}, counted from 0, begins with {mine}. There it should be "
            "{right}",
            **said,
        )
    return say(
        "first-row-of-sentence",
        "Your first row of {what} in sentence {sentence} begins with {mine}. It should begin with {right}",
        **said,
    )


def _in_matrix(row: int, column: int, said: dict[str, Any]) -> str:
    said |= {"row": row, "column": column}
    if column:
        return say(
            "row-from-column",
            "Row {row} of your {what}, counted from 0, is, from column {column} on, {mine}. There it should be {right}",
            **said,
        )
    if row:
        return say(
            "row", "Row {row} of your {what}, counted from 0, begins with {mine}. There it should be {right}", **said
        )
    return say("first-row", "Your first row of {what} begins with {mine}. It should begin with {right}", **said)


def _in_vector(column: int, said: dict[str, Any]) -> str:
    if column:
        return say(
            "vector-from-column",
            "From place {column} on, counted from 0, your {what} are {mine}. They should be {right}",
            column=column,
            **said,
        )
    return say("vector", "Your {what} begin with {mine}. They should begin with {right}", **said)


def _noun(what: str) -> str:
    """Return the name of some numbers in the learner's language; a name that is not known stays as it is."""
    match what:
        case "numbers":
            return say("numbers", "numbers")
        case "weights":
            return say("weights", "weights")
        case "scores":
            return say("scores", "scores")
        case "context vectors":
            return say("context-vectors", "context vectors")
        case "states":
            return say("states", "states")
        case "shares":
            return say("shares", "shares")
    return what


SHOWN = 4


def _with_digits(pieces: Sequence[torch.Tensor]) -> Iterator[list[str]]:
    """Yield two rows of numbers as text, with more and more digits until they differ."""
    for digits in (3, 5, 7, 9):
        texts = [numbers(piece, digits) for piece in pieces]
        if texts[0] != texts[1] or digits == 9:
            yield texts


def rows(weights: torch.Tensor) -> str:
    """Format the sum of each row of a matrix; of a batch or of several heads, the one farthest from 1 counts."""
    return sums(weights.sum(dim=-1))


def columns(weights: torch.Tensor) -> str:
    """Format the sum of each column of a matrix; of a batch or of several heads, the first one counts."""
    return numbers(weights.reshape(-1, *weights.shape[-2:])[0].sum(dim=-2))


def sums(totals: torch.Tensor) -> str:
    """Format sums that should be 1, so that one which is not shows: with more digits or by its place, if need be."""
    each = totals.detach().double().reshape(-1, totals.shape[-1] if totals.dim() else 1)
    away = (each - 1).abs().nan_to_num(torch.inf)
    worst = int(away.amax(dim=-1).argmax())
    line, place = each[worst], int(away[worst].argmax())
    for digits in (2, 4, 6):
        shown = numbers(line, digits)
        if any(float(text) != 1 for text in shown.replace(", ...", "").split(", ")):
            return shown
    return say("in-row", "{total:.6g} in row {row}", total=float(line[place]), row=place)


def tools() -> dict[str, Any]:
    """Return the names that the code of an exercise starts with."""
    return {
        "torch": torch,
        "nn": nn,
        "random": random,
        "pick": pick,
        "refill": refill,
        "parameters": parameters,
        "close": close,
        "numbers": numbers,
        "rows": rows,
        "columns": columns,
        "sums": sums,
        "beside": beside,
        "backward": backward,
        "uses": uses,
        "calls": calls,
        "outsiders": outsiders,
        "in_all_modes": in_all_modes,
        "drops_in": drops_in,
        "other_mode": other_mode,
        "uses_buffer": uses_buffer,
        "in_memory_of": in_memory_of,
        "started_alike": started_alike,
    }


def attributes(values: dict[str, Any]) -> SimpleNamespace:
    """Return an object whose attributes are the entries of a dict, so that code can say `got.out`."""
    return SimpleNamespace(**{str(key): value for key, value in values.items()})
