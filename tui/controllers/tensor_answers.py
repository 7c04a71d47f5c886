"""What the worker answers to the questions of a view: parts of large tensors, and how numbers were made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lessons.results.explanation import Explanation
from tui.screens.explaining_view import ExplainingView
from tui.state.async_session import AsyncSession
from tui.widgets.matrix import MatrixView

UNKNOWN = "This number explains itself as soon as the step has run here."


async def fetch(engine: AsyncSession, event: ExplainingView.Missing) -> None:
    """Give a matrix what it wants of a large tensor, if it still shows that."""
    wanted = event.wanted
    view, name = wanted.view, wanted.tensor.name
    place = (event.step, name, wanted.lead)
    give: Callable[[], None] | None
    match wanted:
        case MatrixView.WindowWanted():
            window = await engine.window(*place, wanted.top, wanted.left, wanted.height, wanted.width)
            give = partial(view.add_window, name, window) if window else None
        case MatrixView.BlocksWanted():
            blocks = await engine.blocks(*place, wanted.rows, wanted.cols, wanted.how)
            give = partial(view.add_blocks, name, blocks) if blocks else None
        case MatrixView.RowWanted():
            stats = await engine.row(*place, wanted.row, wanted.top)
            give = partial(view.add_row, name, stats) if stats else None
        case _:
            return
    if give is None:
        view.forget(wanted)
    elif view.tensor is wanted.tensor:
        give()


async def explain(engine: AsyncSession, event: ExplainingView.Asked) -> str:
    """Have a number explained to the view that asks, if it still does. Returns why there is nothing to tell, or ""."""
    about = event.view.result
    found: Explanation | str | None
    if event.ref is None:
        found = await engine.explain(event.step, event.name, event.index)
    else:
        found = await engine.follow(event.step, event.ref)
    if event.view.result is not about or not event.view.has_focus_within:
        return ""
    if isinstance(found, Explanation):
        event.view.explain(found, further=event.ref is not None)
        return ""
    return UNKNOWN if found is None else f"No explanation: {found}"
