"""The first number of a run that is not finite, with the way back to finite numbers and what usually cures it.

`search` takes the `Explainer` of a run and returns plain data, which `lessons.results.nonfinite.of_json` reads. The
scan of everything that was recorded says when a tensor first held such a number (`finite_scan`); the explanations of
single numbers say why. Infinities that the code sets itself, such as those of a mask, are no finding.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from attn_tutor.lessons.programs.worker.nan import cures, finite_scan, out_of_sight, overflow
from attn_tutor.lessons.programs.worker.nan.finite_scan import (
    MOST_INDICES,
    Loss,
    Peak,
    ScaledStep,
    Scan,
    Written,
    described,
    largest_magnitude,
    scan,
    widened,
    without_hidden,
)
from attn_tutor.lessons.programs.worker.nan.ways_back import Link, WaysBack
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining import nonfinite_origin, source_location
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.explaining.nonfinite_origin import Reason
from attn_tutor.lessons.worker.explaining.operand_names import Labels, VersionCounts
from attn_tutor.lessons.worker.recording.element_history import Element, ValueLost
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.reachability import is_held
from attn_tutor.lessons.worker.recording.record import Binding
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/first-nonfinite")

MOST_SHOWN = 8
"""Numbers of a chain that are explained: its first ones, and the last."""

MOST_OPERANDS = 4
"""Operands of the first number whose own explanation is given."""

MOST_TENSORS = 2048
"""Tensors with infinities that are looked at to find one that the code did not set."""

MOST_MARKS = 3
"""Places at which the code has set numbers that are not finite that are told, and sentences of what is not known."""

MOST_LOSSES = 1000
OVERFLOWS = ("result-beyond", "exponential-beyond")
MOST_REACHED = 500

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Watched:
    """What was found while a run was watched whose record holds only the latest operations.

    Attributes:
        scan: what was found in these, and how much was looked at in all.
        losses: the numbers that gradients may have been asked of, each with the operation that began to compute them.
        skipped: how many steps a `GradScaler` has skipped because a gradient was not finite.
        steps: those of its steps that ended in the record, and the one that has begun.
        earlier: where infinities came from before the record begins.
        is_over: whether the run was ended, because enough was known.
        may_recover: whether a `GradScaler`, if there is one, may still find a factor with which gradients are finite.
        unfollowed: what could not be found out before the record begins, a sentence each.
        unjudged: of how many tensors with infinities it was not looked at then whether the code has set them.
    """

    scan: Scan
    losses: Iterable[Loss]
    skipped: int
    steps: list[ScaledStep]
    earlier: list[Json]
    is_over: bool
    may_recover: bool
    unfollowed: tuple[str, ...] = ()
    unjudged: int = 0


def search(run: Explainer, until: int | None = None, watched: Watched | None = None) -> Json:
    """Search a run for the first number that is not finite; `lessons.results.nonfinite.of_json` reads the result.

    What was computed after a time, if one is given, is not looked at. A run that was watched is not looked through
    again. Not to be called while the recorder of the run is entered.
    """
    with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
        return _Search(run, until, watched).report()


def origins(run: Explainer, watched: Watched) -> tuple[list[Json], Watched]:
    """Return where the first number came from that is not finite, as the report of `search` has it; none if all are.

    Also return what was watched, with what could not be found out, for the time when the record has forgotten more.
    """
    with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
        found = _Search(run, None, watched)
        return found.origins(), replace(watched, unfollowed=found.not_followed(), unjudged=found.unjudged)


class _Search:
    def __init__(self, run: Explainer, until: int | None, watched: Watched | None) -> None:
        self.run = run
        self.ways = WaysBack(run)
        self.record = run.record
        self.watched = watched
        self.left_out: set[int] = set()
        """Storages with NaN that whatever reads them leaves out."""
        self.marks: dict[str, None] = {}
        """Where the code has set numbers that are not finite, or left them out; "" where that is not known."""
        self.marked: list[Region] = []
        """The tensors with NaN among these."""
        self.unfollowed = dict.fromkeys(watched.unfollowed if watched is not None else ())
        """What could not be found out about what depends on them, a sentence each."""
        self.unjudged = 0 if watched is None else watched.unjudged
        """Tensors with infinities of which it was not looked at whether the code has set them."""
        # What is explained on the way adds to the record.
        self.last = run.record.time if until is None else until
        if watched is not None:
            self.unkept = run.record.since - 1
        else:
            self.unkept = run.record.forgotten
        self.found = scan(self.record, self.last) if watched is None else watched.scan
        left = without_hidden(run, self.found.found)
        steps = watched.steps if watched is not None else finite_scan.scaled_steps(run, self.last, left)
        is_scaled = watched is not None and (len(steps) > 1 or self._is_scaled(watched.losses))
        is_last = not (watched is not None and watched.may_recover and is_scaled)
        self.found.found = finite_scan.without_skipped(left, steps, is_last=is_last, is_nan=self._is_nan)
        self.skipped = watched.skipped if watched is not None else sum(not step.is_finite for step in steps)

    def report(self) -> Json:
        """Return the plain data of the report."""
        watched, found = self.watched, self.found
        origins = self.origins()
        if watched is not None and watched.earlier:
            # What happened in between is forgotten.
            later = [origin | {"is_apart": False} for origin in origins if origin["is_nan"]]
            origins = [watched.earlier[0], *later]
        site = self.record.stopped_site
        is_over = watched is not None and watched.is_over
        return {
            "origins": origins,
            "reached": list(itertools.islice(self._reached(found), MOST_REACHED)),
            "large": [self._peak(peak) for peak in found.peaks],
            "operations": found.operations,
            "numbers": found.numbers,
            "forgotten": self.unkept if watched is None else 0,
            "unkept": self.unkept if watched is not None else 0,
            "skipped": self.skipped,
            "is_over": is_over,
            "marks": list(itertools.islice(self.marks, MOST_MARKS)),
            "unfollowed": list(itertools.islice(self.unfollowed, MOST_MARKS)),
            "lost": found.lost,
            "unseen": self.record.hidden,
            "unjudged": self.unjudged,
            "stopped": "" if is_over else self.record.stopped,
            "stopped_line": self.run.names.positions.line(site) if site and not is_over else None,
        }

    def origins(self) -> list[Json]:
        """Describe where the first numbers came from that are not finite."""
        self.run.names.update()
        chains = self._first_chains(self.found)
        told = chains[0][1][0].derived.event if chains else None
        origins = [self._origin(self.found, written, chain, told) for written, chain in chains]
        for origin in origins[:1]:
            origin["afterwards"] = out_of_sight.sentences(self.run, chains[0][1][0], self.found.found, self.last)
        if len(origins) > 1 and (
            _grew_alike(*origins) or (origins[0]["kind"] in OVERFLOWS and self._explodes(origins[0]["losses"], told))
        ):
            # What comes later is of the same explosion, or of the same number.
            del origins[1]
            origins[0]["is_nan"] = True
        for origin, (_, chain) in zip(origins[1:], chains[1:], strict=False):
            origin["is_apart"] = not out_of_sight.reaches(self.run, chains[0][1][0], chain[0])
            origin["cures"] = [cure for cure in origin["cures"] if cure not in origins[0]["cures"]]
        return origins

    def not_followed(self) -> tuple[str, ...]:
        """Return what was not found out, if the program goes on and the record forgets what it has."""
        is_left = any(is_held(region.memory) for region in self.marked)
        later = say("not-followed-later", "Whether operations long after depend on NaN that the code has set was not "
            "looked at.")  # fmt: skip
        return (*self.unfollowed, *([later] if is_left else []))[:MOST_MARKS]

    def _explodes(self, losses: list[float], event: Event | None) -> bool:
        """Return whether losses have grown, or what an operation made in each round, until it was too large."""
        if cures.explodes(losses):
            return True
        with contextlib.suppress(ValueLost, RuntimeError):
            return event is not None and bool(overflow.growth(self.run, event))
        return False

    # Where the numbers came from -----------------------------------------------------------------------------------

    def _first_chains(self, found: Scan) -> list[tuple[Written, list[Link]]]:
        """Return the way back from the first number that is not finite, and from the first NaN if it is another one."""
        infinity: tuple[Written, list[Link]] | None = None
        tensors = 0
        for written in found.found:
            if written.kind == "nan":
                written = self._described(written)
            if not written.indices:
                continue
            if written.kind == "nan":
                chain = self.ways.back(written.region, written.indices[0], written.time, is_nan=True)
                if self._is_missing(written, chain):
                    # As long as nothing is computed from it, it may mark what is missing.
                    self.marked.append(written.region)
                    continue
                if infinity is not None and _same_derivative(infinity[1], chain):
                    return [(written, [*infinity[1], *chain])]
                if infinity is None or _same_origin(infinity[1], chain):
                    # The chain of the NaN tells more than that of the infinity which it came from.
                    return [(written, chain)]
                return [infinity, (written, chain)]
            if infinity is None and tensors >= MOST_TENSORS:
                self.unjudged += 1
            elif infinity is None:
                tensors += 1
                chains = [self.ways.back(written.region, index, written.time) for index in written.indices]
                self.unjudged += not all(chains)
                computed = next((one for one in chains if one and not self.ways.is_on_purpose(one[0])), None)
                infinity = None if computed is None else (written, computed)
                if computed is None and chains:
                    self._note_mark(*(chain[0].derived.event for chain in chains[:1] if chain))
        return [] if infinity is None else [infinity]

    def _is_missing(self, written: Written, chain: list[Link]) -> bool:
        """Return whether NaN marks what is missing: the code set it or left it out, and nothing was computed from it.

        What is only moved is not computed from it. A whole number, a truth value or a place that depends on it is.
        """
        if self.ways.is_mark(chain):
            use = out_of_sight.use(self.run, written, self.found.found)
            if not use.depends:
                self._note_mark(chain[0].derived.event)
                self.unfollowed.update(dict.fromkeys(use.unknown))
            return not use.depends
        is_set = self.ways.is_mark(chain[:1])
        if len(self.left_out) > MOST_TENSORS:
            return False
        leaving = out_of_sight.leaving_out(self.run, written, is_set=is_set)
        self._note_mark(*leaving)
        self.left_out.update([written.region.storage] if leaving else [])
        return bool(leaving)

    def _note_mark(self, *events: Event | None) -> None:
        for event in events:
            self.marks["" if event is None else out_of_sight.code_and_line(self.run, event)] = None

    def _described(self, written: Written) -> Written:
        """Describe a tensor of which it was only noted that it was not finite, if its numbers are still known."""
        if written.indices:
            return written
        try:
            tensor = widened(self.run.history.tensor(written.region, written.time, copy=False))
        except ValueLost:
            return written
        return described(written.time, written.region, written.event, tensor, largest_magnitude(tensor))

    def _is_nan(self, written: Written) -> bool:
        """Return whether any number of a tensor is NaN, or may be."""
        return written.kind == "nan" and self._described(written).kind == "nan"

    def _origin(self, found: Scan, written: Written, chain: list[Link], told: Event | None) -> Json:
        """Describe where numbers came from, given the way from the first of them to the one that was noticed.

        Of the operation `told` it was said what helps: that cures its derivative too.
        """
        first = chain[0]
        event = first.derived.event
        why = self._reason(first)
        labels = Labels(self.run, VersionCounts(self.run, self.last))
        grown = self._grown(first, why)
        cells = [(link.element, labels.name(link.element)) for link in _ends(chain)]
        explained = [self.run.explain(element, cell, labels) for element, cell in cells]
        refs = [row[3] for row in explained[0]["operands"][:MOST_OPERANDS]]
        losses = self._losses(event.time if event is not None else self.last)
        phase, step = self._phase(event)
        rounds = self._rounds(event)
        holder = self._described(self._with_first(found, first, event, written))
        if event is None and holder.event is not None:
            # What was copied from outside, as a checkpoint is, came in here.
            location = source_location.locate(self.run.names.positions, holder.event)
            explained[0] |= {"code": location.code, "file": location.file, "line": location.line}
        return {
            "kind": why.kind,
            "is_nan": written.kind == "nan",
            "reason": why.text,
            "phase": phase,
            "step": step,
            "times": rounds[0],
            "of": rounds[1],
            "count": holder.count,
            "size": holder.region.size,
            "chain": explained,
            "operands": [self.run.follow(ref) for ref in refs],
            "forward": list(self._forward(event)),
            "afterwards": [],
            "is_apart": False,
            "losses": losses,
            "grown": None if grown is None else self.run.explain(grown.element, labels.name(grown.element), labels),
            "cures": cures.find(self.run, first, why.kind, losses, told),
        }

    def _with_first(self, found: Scan, first: Link, event: Event | None, written: Written) -> Written:
        """Return the tensor with the first number: what an operation wrote, or what came from outside."""
        if event is not None:
            return next((item for item in found.found if item.event is event), written)
        storage = first.element.storage
        for item in found.found:
            source = item.event.arg("src") if item.event is not None and item.event.op == "copy_" else item.region
            if storage in (item.region.storage, getattr(source, "storage", None)):
                return item
        return written

    def _grown(self, first: Link, why: Reason) -> Link | None:
        """Return the number that an operation made large, from which the first one was computed; None if none did."""
        with contextlib.suppress(ValueLost, RuntimeError):
            return overflow.sudden_growth(self.run, first) if why.kind in (*OVERFLOWS, "infinities") else None
        return None

    def _reason(self, first: Link) -> Reason:
        """Return why a number is not finite; if that is not clear, whether it would be in a wider type."""
        why, event = self.ways.reason(first), first.derived.event
        if why.kind != "unknown" or event is None or not math.isinf(first.value):
            return why
        with contextlib.suppress(ValueLost, RuntimeError, TypeError, ValueError, IndexError):
            if (value := overflow.in_wider_type(self.run, first, event)) is not None:
                dtype = first.element.region.dtype
                return nonfinite_origin.beyond(value, dtype)
        return why

    def _phase(self, event: Event | None) -> tuple[str, int]:
        """Return what part of a program an operation belongs to, and in which step of an optimizer it ran."""
        if event is None:
            return "forward", 0
        steps = self.run.optimizers
        if steps.step_at(event.time) is not None:
            return "optimizer", steps.count_before(event.time + 1)
        return (
            "backward" if event.node is not None else "forward",
            steps.count_before(event.time) + 1 if steps.count_before(self.last) else 0,
        )

    def _rounds(self, event: Event | None) -> tuple[int, int]:
        """Return how often the code of an operation had run, with this time, and how often in all; zeros for once."""
        # Some of the times may be among the operations that were forgotten.
        # An optimizer runs its code for each parameter.
        is_of_step = event is not None and self.run.optimizers.step_at(event.time) is not None
        if event is None or self.unkept or event.node is not None or is_of_step:
            return 0, 0
        # Of a run that was ended, nobody knows how often it would have run.
        last = event.time + 1 if self.watched is not None and self.watched.is_over else self.last
        times = [other.time for other in self.run.names.repetitions(event) if other.time < last]
        return (times.index(event.time) + 1, len(times)) if len(times) > 1 and event.time in times else (0, 0)

    def _forward(self, event: Event | None) -> tuple[str, str, int | None]:
        """Return the code, file and line of the operation whose derivative an operation of a backward pass computes."""
        maker = self.run.gradients.maker(event) if event is not None else None
        if maker is None:
            return "", "", None
        location = source_location.locate(self.run.names.positions, maker)
        return location.code, location.file, location.line

    def _losses(self, until: int) -> list[float]:
        """Return the numbers that `backward` was called on before a time."""
        if self.watched is not None:
            told = (loss for loss in self.watched.losses if loss.event.time < until)
            return [self._unscaled(loss) for loss in told if self._begins_backward(loss.event)]
        losses: list[float] = []
        events = self.record.events
        for position in range(events.after(until)):
            if events.info(position).op != "ones_like":
                continue
            event = events[position]
            region = event.arg("self")
            if self._begins_backward(event) and isinstance(region, Region) and region.size == 1:
                index = (0,) * len(region.shape)
                with contextlib.suppress(ValueLost):
                    losses.append(self.run.history.value(Element.of(region, index, event.time)))
        return losses[-MOST_LOSSES:]

    def _unscaled(self, loss: Loss) -> float:
        """Return a loss as it was before a `GradScaler` multiplied it."""
        return loss.factor if self._is_scaled([loss]) else loss.value

    def _is_scaled(self, losses: Iterable[Loss]) -> bool:
        """Return whether the last of some losses was multiplied by a `GradScaler`."""
        product = next((loss.product for loss in reversed(list(losses))), None)
        return product is not None and bool(product.sites) and self.run.names.function_of(product) == "scale"

    def _begins_backward(self, event: Event) -> bool:
        """Return whether an operation that makes a tensor of ones was called by `backward`."""
        return bool(event.sites) and self.run.names.function_of(event).endswith("backward")

    # What else is worth knowing ------------------------------------------------------------------------------------

    def _reached(self, found: Scan) -> Iterator[list[Any]]:
        """Yield the gradients, variables and parameters that were not finite in the end, the last value of each."""
        storages = {written.region.storage for written in found.found}
        gradients: dict[str, Region] = {}
        events = self.record.events
        for position in range(events.after(self.last)) if found.found else ():
            node = events.node(position)
            if node is not None and node.leaf is not None:
                event = events[position]
                name = self.run.names.leaf_name(node.leaf)
                taken = [region for region in event.operands() if region.storage in storages]
                gradients.update((say("gradient", "gradient of {name}", name=name), region) for region in taken if name)
        last: dict[str, Binding] = {}
        for binding in itertools.chain.from_iterable(self.record.bindings.values()):
            if binding.top and (binding.name not in last or last[binding.name].time <= binding.time):
                last[binding.name] = binding
        # A module may have several names; a parameter goes by the one that explanations call it.
        bound = {
            name: last[name].region
            for name in sorted(last, key=lambda name: last[name].time)
            if not last[name].leaf or self.run.names.leaf_name(last[name].region) == name
        }
        for name, region in {**bound, **gradients}.items():
            parts = region.parts
            if not parts.dtype.is_floating_point or not parts.size:
                continue
            try:
                tensor = widened(self.run.history.tensor(parts, self.last, copy=False))
            except ValueLost:
                continue
            finite = tensor.isfinite()
            is_nan = bool(tensor.isnan().any())
            if is_nan and self._is_marked(parts, tensor):
                continue
            if not bool(finite.all()) and (is_nan or self._is_computed(parts, finite)):
                left = tensor[finite]
                largest = float(left.abs().max()) if left.numel() else None
                count = parts.size - int(finite.sum())
                yield [name, count, parts.size, largest, dtype_name(parts.dtype), "", None]

    def _is_marked(self, region: Region, tensor: torch.Tensor) -> bool:
        """Return whether NaN in a tensor marks what is missing, because the code put it there, or later left it out."""
        if region.storage in self.left_out:
            return True
        chain = self.ways.back(region, tuple(tensor.isnan().nonzero()[0].tolist()), self.last, is_nan=True)
        event = chain[0].derived.event
        is_marked = event is not None and event.op != "lift_fresh" and self.ways.is_mark(chain)
        self._note_mark(*([event] if is_marked else []))
        return is_marked

    def _is_computed(self, region: Region, finite: torch.Tensor) -> bool:
        """Return whether one of the first infinities of a tensor was computed, and not set by the code."""
        indices = (~finite).nonzero()[:MOST_INDICES].tolist()
        chains = (self.ways.back(region, tuple(index), self.last) for index in indices)
        return any(chain and not self.ways.is_on_purpose(chain[0]) for chain in chains)

    def _peak(self, peak: Peak) -> list[Any]:
        location = source_location.locate(self.run.names.positions, peak.event)
        name = location.code or peak.event.op.strip("_")
        return [name, 0, peak.size, peak.largest, dtype_name(peak.dtype), location.file, location.line]


def _grew_alike(one: Json, other: Json) -> bool:
    """Return whether the same code has made two numbers, or their operands far back, large."""
    places = [[item["grown"][key] for key in ("file", "line", "code")] for item in (one, other) if item["grown"]]
    return len(places) > 1 and places[0] == places[1]


def _ends(chain: list[Link]) -> list[Link]:
    """Return the first links of a long chain, and the last."""
    return chain if len(chain) <= MOST_SHOWN else [*chain[: MOST_SHOWN - 1], chain[-1]]


def _same_origin(one: list[Link], other: list[Link]) -> bool:
    """Return whether two chains begin with one operation."""
    first, second = one[0].derived.event, other[0].derived.event
    return first is not None and first is second


def _same_derivative(one: list[Link], other: list[Link]) -> bool:
    """Return whether one number is all of a chain, and another one begins in the derivative that computed it.

    What is inside of a derivative is not on the way back from what leaves it.
    """
    first, second = one[0].derived.event, other[0].derived.event
    if len(one) > 1 or first is None or second is None or first.node is None or second.node is None:
        return False
    return first is not second and (first.node.run, first.node.number) == (second.node.run, second.node.number)


def dtype_name(dtype: torch.dtype) -> str:
    """Return the name of a type as PyTorch writes it behind `torch.`."""
    return str(dtype).removeprefix("torch.")
