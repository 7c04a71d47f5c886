"""How the results of a run lead to those that another run has too: which ones are only another way there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attn_tutor.lessons.worker.comparing.result_pairs import is_telling
from attn_tutor.lessons.worker.comparing.traced_result import TracedResult

MOST_ORIGINS = 16
"""Values that a result may come from, at most."""

COPIES = frozenset({"clone", "detach_copy", "alias_copy"})


def bypassed(results: Sequence[TracedResult], known: Collection[int], *, ends: bool = False) -> list[bool]:
    """Return for each result whether all that was computed from it led to known ones: it was another way to these.

    Numbers that may agree by coincidence excuse no others; nor do whole numbers, such as the place of the greatest one,
    excuse the fractions that they were computed from. With `ends`, it is enough that one way led to a known one.
    """
    # How well what it led to is known: not at all, by numbers that may be a coincidence, or by others.
    evidence, fails = [0] * len(results), [False] * len(results)
    telling = [is_telling(item) for item in results]
    for at in range(len(results) - 1, -1, -1):
        item = results[at]
        own = 0 if at not in known else 2 if telling[at] else 1
        led = evidence[at] if ends or not fails[at] else 0
        for parent in item.parents:
            is_rounded = results[parent].value.is_floating_point() and not item.value.is_floating_point()
            if own == 2:
                evidence[parent] = max(evidence[parent], 0 if is_rounded else own)
            elif own or led:
                evidence[parent] = max(evidence[parent], own, led)
            else:
                fails[parent] |= telling[at] and (fails[at] or not _shows(item))
    return [evidence[at] >= (2 if telling[at] else 1) and (ends or not fails[at]) for at in range(len(results))]


def is_passing(
    item: TracedResult, results: Sequence[TracedResult], known: Collection[int], ways: Sequence[bool]
) -> bool:
    """Return whether a result only shows known numbers otherwise, on the way inside of an operation."""
    shown = _shows(item) and not item.named and item.parents
    return bool(shown) and all(at in known or ways[at] or results[at].view for at in item.parents)


def _shows(item: TracedResult) -> bool:
    """Return whether a result has no numbers of its own: a view, or a copy such as the one kept for a backward pass."""
    return item.view or (item.op in COPIES and not item.named)


def beside_the_point(
    results: Sequence[TracedResult], known: Collection[int], ways: Sequence[bool], lacking: Collection[int]
) -> set[int]:
    """Return which of the lacking results nothing needs to be explained by.

    These are numbers that were drawn or given, such as the first weights of a layer, where all that was computed from
    them differs for another reason: it was also computed from results that differ although what they were computed from
    agrees. So do those from which nothing was computed that the other run lacks.
    """
    given, differs = [False] * len(results), [False] * len(results)
    children: list[list[int]] = [[] for _ in results]
    for at, item in enumerate(results):
        for parent in item.parents:
            children[parent].append(at)
        if at in known:
            continue
        given[at] = all(given[parent] or not is_telling(results[parent]) for parent in item.parents)
        # The first of what differs, and all that follows from it.
        starts = at in lacking and not given[at] and all(one in known or ways[one] for one in item.parents)
        differs[at] = starts or any(differs[parent] for parent in item.parents)
    explained = [False] * len(results)
    for at in range(len(results) - 1, -1, -1):
        explained[at] = given[at] and all(
            child in known or ways[child] or differs[child] or explained[child] for child in children[at]
        )
    return {at for at in lacking if explained[at]}


def leads_to(results: Sequence[TracedResult], one: int, later: int | None) -> bool:
    """Return whether a result of a run was computed from another one of it."""
    reached = {one}
    for at in range(one + 1, 0 if later is None else later + 1):
        if results[at].parents & reached:
            reached.add(at)
    return later in reached


def origins(results: Sequence[TracedResult], known: Mapping[int, int]) -> list[frozenset[object]]:
    """Return for each result the last known values that it was computed from; nothing if there are none, or many.

    Single numbers of the code do not count. Zeros and the like are told by their shape and number: which of several are
    the same is chance.
    """
    found: list[frozenset[object]] = []
    constant = constants(results)
    for item in results:
        between = [at for at in item.parents if at not in known and not constant[at]]
        own = {at: results[at] for at in item.parents if at in known}
        values = (known[at] if is_telling(parent) else _constant(parent) for at, parent in own.items())
        origin = frozenset[object](values).union(*(found[at] for at in between))
        found.append(origin if len(origin) <= MOST_ORIGINS and all(found[at] for at in between) else frozenset())
    return found


def constants(results: Sequence[TracedResult]) -> list[bool]:
    """Return for each result whether it is a single number of the code."""
    found: list[bool] = []
    for item in results:
        found.append(item.size == 1 and all(found[at] for at in item.parents))
    return found


def _constant(item: TracedResult) -> object:
    return item.shape, float(item.value.flatten()[0])
