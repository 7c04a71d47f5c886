"""The flow of a run as linear text, and in the language of Graphviz."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from attn_tutor.lessons.render.numbers import truncated
from attn_tutor.lessons.render.source_text import NO_NAMES, source
from attn_tutor.lessons.results.flow import Flow, FlowBox, OpenBox
from attn_tutor.lessons.texts.wording import Wording

say = Wording("linear/flow")

INDENT = 4


def shape_text(shape: tuple[int, ...] | None, unicode: bool = True) -> str:
    """Return a shape as a box shows it: `6×3`, `number` for a tensor without axes, "" if it is not known."""
    if shape is None:
        return ""
    return ("×" if unicode else "x").join(map(str, shape)) if shape else say("scalar", "number")


def numbered(flow: Flow) -> dict[str, str]:
    """Return the names of boxes by their ids; of boxes with one name, all but the last are counted: `scores#1`."""
    total: dict[str, int] = {}
    for box in flow.boxes:
        total[box.name] = total.get(box.name, 0) + 1
    names: dict[str, str] = {}
    seen: dict[str, int] = {}
    for box in flow.boxes:
        count = seen[box.name] = seen.get(box.name, 0) + 1
        names[box.id] = box.name if count == total[box.name] else f"{box.name}#{count}"
    return names


def closed(flow: Flow) -> dict[str, str]:
    """Return the ids of the boxes that can be opened, by their names and by their ids."""
    names = numbered(flow)
    return {label: box.id for box in flow.boxes if box.opens for label in (names[box.id], box.id)}


def why_not_opened(flow: Flow, name: str) -> str:
    """Say that no box with this name can be opened, and which ones can."""
    names = numbered(flow)
    known = ", ".join(names[box.id] for box in flow.boxes if box.opens)
    if not known:
        return say("no-box-opens", "There is no box '{name}' to open. Nothing here can be opened.", name=name)
    return say("no-box", "There is no box '{name}' to open. These can be opened: {known}", name=name, known=known)


def box_facts(box: FlowBox, unicode: bool = True) -> str:
    """Return shape, count and marks of a box in a few words."""
    runs = ""
    if (box.times or 0) > 1:
        runs = say("times", "run {times}", times=f"{'×' if unicode else 'x'}{box.times}")
    loops = say("loops", "reads its own earlier result") if box.loops else ""
    return ", ".join(filter(None, (shape_text(box.shape, unicode), runs, loops)))


def again_text(names: Sequence[str]) -> str:
    """Return in words that a box read boxes with these names when its code ran once more; "" for none."""
    return say("later-from", "later also from {names}", names=", ".join(names)) if names else ""


def where(box: FlowBox, here: str = "", steps: Mapping[str, str] = NO_NAMES) -> str:
    """Say where the code of a box stands; `steps` are the names of the steps other than `here`, by their ids."""
    return source(box.unit, box.line, here, steps)


def lines(
    flow: Flow, width: int, here: str = "", steps: Mapping[str, str] = NO_NAMES, unicode: bool = True
) -> Iterator[str]:
    """Yield a line for each box in the order of computation, with the boxes that it was computed from.

    Boxes inside an open box are indented below a line with its name. Lines of the step `here` are called by their
    number alone; `steps` are the names of other steps by their ids.
    """
    names = numbered(flow)
    opened = {box.id: box for box in flow.opened}
    last: tuple[str, ...] = ()
    for box in flow.boxes:
        chain = _chain(box.parent, opened)
        for depth, id in enumerate(chain):
            if last[depth : depth + 1] != (id,):
                inside = say("inside", "inside {code}:", code=opened[id].code or opened[id].name)
                yield truncated(f"{' ' * INDENT * depth}{inside}", width - 2, "...")
                last = chain[: depth + 1]
        last = chain
        again = flow.sources_again(box.id)
        sources = ", ".join(names[source] for source in flow.sources(box.id) if source not in again)
        head = " " * INDENT * len(chain) + names[box.id]
        facts = box_facts(box, unicode)
        made = ""
        if sources:
            made = say("from", "from {names}", names=sources)
        elif not box.code and not box.operations:
            made = say("from-outside", "from outside")
        later = again_text([names[source] for source in again])
        yield truncated("   ".join(filter(None, (head, facts, made, later))), width - 2, "...")
        if box.code:
            at = where(box, here, steps)
            code = f"{at}: {box.code}" if at else box.code
            yield truncated(" " * (INDENT * len(chain) + 2) + code, width - 2, "...")
    if flow.left_out:
        yield say.count(
            "left-out", flow.left_out, "{count} earlier box is left out.", "{count} earlier boxes are left out."
        )


def _chain(parent: str, opened: Mapping[str, OpenBox]) -> tuple[str, ...]:
    """Return the ids of the open boxes around a box, the outermost first."""
    found: list[str] = []
    while parent in opened:
        found.insert(0, parent)
        parent = opened[parent].parent
    return tuple(found)


def as_dot(flow: Flow) -> Iterator[str]:
    """Yield the flow in the language of Graphviz, open boxes as clusters."""
    yield "digraph flow {"
    yield "  node [shape=box, style=rounded];"
    opened = {box.id: box for box in flow.opened}

    def inside(parent: str, depth: int) -> Iterator[str]:
        space = "  " * depth
        for box in flow.boxes:
            if box.parent == parent or (not parent and box.parent not in opened):
                label = "\n".join(filter(None, (box.name, box_facts(box))))
                yield f"{space}{json.dumps(box.id)} [label={json.dumps(label, ensure_ascii=False)}];"
        for other in flow.opened:
            if other.parent == parent:
                yield f"{space}subgraph {json.dumps(f'cluster {other.id}')} {{"
                yield f"{space}  label={json.dumps(other.name, ensure_ascii=False)};"
                yield from inside(other.id, depth + 1)
                yield f"{space}}}"

    yield from inside("", 1)
    for arrow in flow.arrows:
        yield f"  {json.dumps(arrow.source)} -> {json.dumps(arrow.target)}{' [style=dashed]' if arrow.back else ''};"
    yield "}"
