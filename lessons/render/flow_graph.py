"""The flow of a run in the language of Graphviz."""

from __future__ import annotations

import json
from collections.abc import Iterator

from attn_tutor.lessons.render.flow_text import box_facts
from attn_tutor.lessons.results.flow import Flow


def dot(flow: Flow) -> Iterator[str]:
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
