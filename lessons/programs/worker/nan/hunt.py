"""A recorder that hunts the first number that is not finite through a run of any length.

It looks at all numbers as soon as they are written, so it does not matter whether the operation is still in the record
when the program ends, and keeps the latest operations. Before it forgets the older half of these, it asks where the
numbers came from that were not finite. An infinity that comes of infinite operands is no news. One that the code has
computed is described at once, since what it came from is about to be forgotten, and the hunt goes on for a NaN. A NaN
ends it: once enough is known of what became of it, the program need not go on.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch

from attn_tutor.lessons.programs.worker.nan import first_nonfinite
from attn_tutor.lessons.programs.worker.nan.finite_scan import (
    NEAR,
    SETTING,
    UNSCALE,
    UPDATE,
    Loss,
    Peak,
    ScaledStep,
    Scan,
    Written,
    described,
    is_given,
    largest_magnitude,
    widened,
)
from attn_tutor.lessons.programs.worker.nan.first_nonfinite import Json, Watched
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.recording.event import Event, Site, tensors_of
from attn_tutor.lessons.worker.recording.events import Noted
from attn_tutor.lessons.worker.recording.record import Record
from attn_tutor.lessons.worker.recording.recorder import KEEP, MOST_EVENTS, RollingRecorder
from attn_tutor.lessons.worker.recording.regions import Layout, Region, layout
from attn_tutor.lessons.worker.recording.rematerialization import EMPTY

MOST_LOSSES = 1000

SOON = 8
"""Operations before a backward pass among which the one is looked for that has multiplied the loss."""

_Memory = torch.UntypedStorage


class FiniteWatch:
    """Looks at what operations write.

    Attributes:
        first_nan: the time of the operation that computed the first NaN; None as long as there is none.
        news: whether an operation made an infinity of finite numbers, for a reason that has yet to be found.
        losses: the numbers that gradients may have been asked of.
        skipped: how many steps a `GradScaler` has skipped because a gradient was not finite.
        in_a_row: how many it has skipped since the last one that it took.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self._scan = Scan()
        self._known: set[_Memory] = set()
        """Storages whose numbers were looked at when they were written, or when they were first read."""
        self._tainted: set[_Memory] = set()
        """Storages with numbers that are not finite."""
        self._near: dict[torch.dtype, float] = {}
        self.first_nan: int | None = None
        self.news = False
        self.losses: deque[Loss] = deque(maxlen=MOST_LOSSES)
        self.skipped = self.in_a_row = 0
        self._steps: list[ScaledStep] = []
        """The steps of a `GradScaler` that ended in the record."""
        self._since: int | None = None
        """The time from which on the numbers of the present step are not finite because of its gradients."""

    def scan(self) -> Scan:
        """Return what was found in the operations that the record still has."""
        found = [written for written in self._scan.found if written.time > self._record.since]
        return replace(self._scan, found=found)

    def scaled_steps(self) -> list[ScaledStep]:
        """Return the steps of a `GradScaler` that ended in the record, and the one that has begun."""
        begun = ScaledStep(sys.maxsize if self._since is None else self._since, sys.maxsize, False)
        return [*self._steps, begun]

    def excuse(self) -> None:
        """Forget what was found, because there is a reason for it."""
        self._scan.found.clear()
        self.first_nan, self.news = None, False

    def forget(self, memories: set[_Memory]) -> None:
        """Let go of all storages but these, and of what was found in operations that the record has forgotten."""
        self._known &= memories
        self._tainted &= memories
        self._scan.found = self.scan().found
        self._steps = [step for step in self._steps if step.end > self._record.since]

    def look(self, noted: Noted, out: Any) -> None:
        """Look at what an operation wrote, and at what it read that nobody has looked at yet."""
        info = noted.info
        if info.in_place and type(noted.args[0]) is tuple:
            # It is too late to look at what was there before.
            self._known.add(noted.args[0][0])
        read = self._look_at_operands(noted)
        tainted = bool(self._tainted) and any(memory in self._tainted for memory in read)
        wrote = False
        if info.written:
            if info.in_place and isinstance(out, torch.Tensor):
                wrote = self._look_at(noted, out, tainted)
            else:
                for region in self._record.events[-1].written:
                    wrote = self._look_at(noted, region.tensor, tainted, region) or wrote
            if info.op == UPDATE:
                self._note_scaler(noted.time)
            elif info.op == UNSCALE and self._since is None:
                self._since = noted.time
        elif info.op.startswith(EMPTY):
            # What lies in memory that nothing has written yet may be anything.
            self._known.update(item.untyped_storage() for item in tensors_of(out))
            wrote = True
        else:
            if info.op == "ones_like":
                self._note_loss(noted)
            fresh = info.op == "lift_fresh"
            for item in tensors_of(out):
                if item.layout is torch.strided and (fresh or item.untyped_storage() not in read):
                    wrote = self._look_at(noted, item, tainted) or wrote
        self._scan.operations += wrote

    def _look_at_operands(self, noted: Noted) -> list[_Memory]:
        """Look at operands that no operation of the record has written; return the storages of all of them."""
        read: list[_Memory] = []
        for layout_of in _layouts(noted.args):
            read.append(layout_of[0])
            if layout_of[0] not in self._known:
                self._look_outside(noted, layout_of)
        return read

    def _look_outside(self, noted: Noted, layout_of: Layout) -> None:
        memory = layout_of[0]
        self._known.add(memory)
        region = Region.of_layout(layout_of).parts
        is_there = memory.nbytes() > 0 and memory.device.type != "meta"
        # Data that are copied are looked at as what is copied.
        if is_there and region.dtype.is_floating_point and region.size and noted.info.op != "lift_fresh":
            tensor = widened(region.tensor)
            largest = largest_magnitude(tensor)
            if not math.isfinite(largest):
                self._note(described(noted.time, region, None, tensor, largest))

    def _look_at(self, noted: Noted, tensor: torch.Tensor, tainted: bool, region: Region | None = None) -> bool:
        """Look at a tensor that an operation wrote, given whether any of its operands is not finite.

        Returns whether it has numbers of any type.
        """
        if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta:
            return False
        memory = tensor.untyped_storage()
        self._known.add(memory)
        if tensor.is_complex():
            tensor = torch.view_as_real(tensor.resolve_conj())
        dtype = tensor.dtype
        size = tensor.numel()
        if not dtype.is_floating_point or not size or tensor._is_zerotensor():
            return True
        self._scan.numbers += size
        largest = largest_magnitude(widened(tensor))
        near = self._near.get(dtype)
        if near is None:
            near = self._near[dtype] = torch.finfo(dtype).max / NEAR
        if largest <= near:
            if self._tainted and size * dtype.itemsize == memory.nbytes():
                self._tainted.discard(memory)
        elif math.isfinite(largest):
            if not is_given(noted.info.op, noted.args, near):
                self._scan.add_peak(Peak(largest / near / NEAR, _light(noted), size, dtype, largest))
        else:
            region = Region.of_layout(layout(tensor)) if region is None else region.parts
            event = self._record.events[-1]
            if self.first_nan is None:
                written = described(noted.time + 1, region, event, widened(tensor), largest)
                self._note(written)
                is_computed = tainted or noted.info.op not in SETTING
                if written.kind == "nan" and is_computed:
                    self.first_nan = written.time
                self.news = self.news or not (tainted or noted.info.op in SETTING)
            else:
                # Where the first one came from is known: of all others it matters which they are.
                self._note(Written(noted.time + 1, region, event, "nan", 0, ()))
        return True

    def _note(self, written: Written) -> None:
        self._scan.found.append(written)
        self._tainted.add(written.region.memory)
        if self._since is None and written.event is not None and written.event.node is not None:
            self._since = written.time

    def _note_loss(self, noted: Noted) -> None:
        """Note a single number that a tensor of ones is made for, as `backward` does to begin with."""
        item = noted.args[0]
        if type(item) is tuple and math.prod(item[2]) == 1 and item[4].is_floating_point:
            value = float(Region.of_layout(item).tensor)
            self.losses.append(Loss(_light(noted), value, *self._factor(item[0])))

    def _factor(self, memory: _Memory) -> tuple[Event | None, float]:
        """Return the operation that has just multiplied a number, and that number before."""
        events = self._record.events
        for position in range(len(events) - 2, max(len(events) - 2 - SOON, -1), -1):
            info, read, outs, _ = events.flow(position)
            if memory in outs:
                event = events[position]
                operand = event.arg("self")
                if info.op != "mul" or not isinstance(operand, Region) or operand.size != 1 or memory in read:
                    break
                return replace(event, args=(), outs=(), written=()), float(operand.tensor)
        return None, 0.0

    def _note_scaler(self, time: int) -> None:
        found = self._record.events[-1].arg("found_inf")
        is_skipped = isinstance(found, Region) and float(found.tensor) > 0
        self.skipped += is_skipped
        self.in_a_row = self.in_a_row + 1 if is_skipped else 0
        self._steps.append(ScaledStep(time if self._since is None else self._since, time, not is_skipped))
        self._since = None


def _light(noted: Noted) -> Event:
    """Return an operation without its tensors, which would stay in memory."""
    return Event(noted.time, noted.info, (), {}, (), *noted.sites)


def _layouts(values: Any) -> Iterator[Layout]:
    """Yield the layouts of the tensors among arguments, also in lists."""
    for value in values:
        if type(value) is tuple and value and type(value[0]) is _Memory:
            yield value
        elif type(value) is list:
            yield from _layouts(value)


say = Wording("explaining/first-nonfinite")

AFTER = 5_000
"""Operations after the first NaN that a program may run on for."""

PATIENCE = 24
"""Steps in a row that a `GradScaler` may skip: it begins with a factor of 2 ** 16, and halves it each time."""


class HuntingRecorder(RollingRecorder):
    """Records until it has found a number that is not finite, and what became of it.

    Attributes:
        is_over: whether it was found, so that the program need not go on.
        on_end: called when that is so, inside of an operation.
    """

    def __init__(self, keep: int = KEEP, most: int = MOST_EVENTS, after: int = AFTER) -> None:
        super().__init__(keep=keep, most=most)
        self.finite = FiniteWatch(self.record)
        self.is_over = False
        self.on_end: Callable[[], None] = lambda: None
        self._after = after
        self._earlier: list[Json] = []
        self._unfollowed: tuple[str, ...] = ()
        self._unjudged = 0
        self._observe = self._look

    def report(self, run: Explainer) -> Json:
        """Return what was found; `lessons.results.nonfinite.of_json` reads it. Not while the recorder is entered."""
        return first_nonfinite.search(run, watched=self._watched())

    def _watched(self, *, is_running: bool = False) -> Watched:
        finite = self.finite
        may_recover = is_running and finite.in_a_row < PATIENCE
        return Watched(
            finite.scan(),
            finite.losses,
            finite.skipped,
            finite.scaled_steps(),
            self._earlier,
            self.is_over,
            may_recover,
            self._unfollowed,
            self._unjudged,
        )

    def _look(self, noted: Noted, out: Any) -> None:
        if self._sites.aside:
            # What is computed only to explain something is not the program's.
            return
        before = self.finite.first_nan
        self.finite.look(noted, out)
        if self.finite.first_nan != before:
            self._next_sweep = min(self._next_sweep, self.record.time + self._after)

    def _make_room(self, sites: tuple[Site, ...]) -> None:
        finite = self.finite
        if finite.first_nan is not None or (finite.news and not self._earlier):
            origins, watched = first_nonfinite.origins(Explainer(self), self._watched(is_running=True))
            self._unfollowed, self._unjudged = watched.unfollowed, watched.unjudged
            if any(origin["is_nan"] for origin in origins):
                self.is_over = True
                self.on_end()
                self._stop(say("found", "a number that is not finite was found"), sites)
                return
            self._earlier = self._earlier or origins
            finite.excuse()
        super()._make_room(sites)
        finite.forget(set(self._storages))
