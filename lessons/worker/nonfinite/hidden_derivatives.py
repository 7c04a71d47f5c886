"""Numbers that are not finite inside of a derivative that PyTorch computes, and that it hides itself.

The derivative of a norm, for one, divides by the norm, and then puts zeros where that was 0. No other operation sees
what was there before.
"""

from __future__ import annotations

import itertools

from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.nonfinite.finite_scan import Written
from attn_tutor.lessons.worker.recording.element_history import ValueLost
from attn_tutor.lessons.worker.recording.events import Events
from attn_tutor.lessons.worker.recording.gradient_node import GradientNode
from attn_tutor.lessons.worker.recording.reachability import is_held


def without_hidden(run: Explainer, found: list[Written]) -> list[Written]:
    """Leave out those, up to the first derivative of which some leaves it, that no operation outside of it gets."""
    events = run.record.events
    inside = [item for item in found if item.event is not None and item.event.node is not None]
    if not inside:
        return found
    read = _last_reads(events, events.after(inside[0].time), {item.region.storage for item in inside})
    hidden: set[int] = set()
    for _, group in itertools.groupby(inside, key=_node_of):
        items = list(group)
        end = _end_of_node(events, items[-1])
        leaving = [item for item in items if _leaves(run, item, end, read.get(item.region.storage, 0))]
        hidden.update(map(id, _without_way_out(items, leaving)))
        if leaving:
            break
    return [item for item in found if id(item) not in hidden]


def _without_way_out(items: list[Written], leaving: list[Written]) -> list[Written]:
    """Return those of a derivative from which none was computed that leaves it."""
    kept = set(map(id, leaving))
    read: set[int] = set()
    for item in reversed(items):
        if id(item) in kept or item.region.storage in read:
            kept.add(id(item))
            read.update(region.storage for region in (item.event.operands() if item.event is not None else ()))
    return [item for item in items if id(item) not in kept]


def _node_of(item: Written) -> tuple[int, int]:
    assert item.event is not None
    assert item.event.node is not None
    return item.event.node.run, item.event.node.number


def _leaves(run: Explainer, item: Written, end: int, read: int) -> bool:
    """Return whether anything outside of a node, whose operations end at a time, gets numbers that are not finite."""
    if read < end and not is_held(item.region.memory):
        return False
    try:
        return not bool(run.history.tensor(item.region, end, copy=False).isfinite().all())
    except ValueLost:
        return True


def _last_reads(events: Events, start: int, storages: set[int]) -> dict[int, int]:
    """Return the time of the last operation that read each of these storages, from a position on."""
    found: dict[int, int] = {}
    for position in range(start, len(events)):
        for memory in events.flow(position)[1]:
            if memory._cdata in storages:
                found[memory._cdata] = events.time(position)
    return found


def _end_of_node(events: Events, item: Written) -> int:
    """Return the time of the first operation that ran in another node of the backward pass, or in none."""
    position = events.after(item.time)
    node = item.event.node if item.event is not None else None
    while position < len(events) and _is_same(events.node(position), node):
        position += 1
    return events.time(position) if position < len(events) else events.time(position - 1) + 1


def _is_same(one: GradientNode | None, other: GradientNode | None) -> bool:
    return one is not None and other is not None and (one.run, one.number) == (other.run, other.number)
