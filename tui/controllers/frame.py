"""The frame of the screen: the current view, the lines around it, and what the learner works with.

Controllers know only this part of the app.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.app import App
from textual.notifications import SeverityLevel
from textual.widget import Widget
from textual.worker import Worker

from attn_tutor.lessons.render.numbers import truncated, visible
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import hint, key_line, mention, with_side_step
from attn_tutor.tui.render.palette import DIM
from attn_tutor.tui.tty.screen_picture import ScreenPicture
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.text import TextLine
from attn_tutor.tui.widgets.view_switcher import Middle, ViewSwitcher

if TYPE_CHECKING:
    # Not imported at run time, because the frame is painted before the rest is loaded.
    from attn_tutor.lessons.learner.progress import Progress
    from attn_tutor.lessons.play.step import Learning
    from attn_tutor.tui.screens.step_view import View
    from attn_tutor.tui.state.async_session import AsyncSession


TITLE = Style(bold=True, color="cyan")
GAP = "   "

HERE = Style(bold=True)
LEAST_RULE = 16
"""Columns of the rule that no way covers."""

LONGEST_NAME = 16

SKIPPED = "skipped"
"""Replaces a remark that does not fit."""


def title_start(text: str) -> Text:
    """Return the left end of the title line."""
    return Text(f" {text}", TITLE)


def title_end(words: Sequence[str], remark: str, position: str, room: int) -> str:
    """Return the right end of the title line.

    Args:
        words: the state of the tutor, such as that it is loading something.
        remark: an additional remark, shortened to `SKIPPED` where it does not fit: the position must stay visible.
        position: where the learner is in the lesson.
        room: columns that the title leaves.
    """
    left = room - sum(len(each) + len(GAP) for each in (*words, position)) - 4
    remarks = next(([each] for each in (remark, SKIPPED) if len(each) <= left), []) if remark else []
    return GAP.join([*words, *remarks, position])


def progress_rule(width: int, done: int, of: int, way: Sequence[str] = (), *, unicode: bool) -> Text:
    """Return a line of `width` columns; its heavy part is how far the learner is: `done` of `of` steps.

    At its right end stands the way of the numbers to where the learner is, as far as it fits.
    """
    width = max(width, 1)
    heavy, light = ("━", "─") if unicode else ("=", "-")
    part = width * done // of
    line = Text.assemble((heavy * part, TITLE), (light * (width - part), DIM))
    words = _way(way, width - len(title_start("")) - LEAST_RULE, unicode=unicode)
    if not words.plain:
        return line
    return Text.assemble(line[: width - words.cell_len - 1], words, line[width - 1 :])


def _way(names: Sequence[str], room: int, *, unicode: bool) -> Text:
    """Return names joined by arrows, the last one lit; the first ones give way if there is no room for all.

    A name that comes again, as one that is changed in place does, stands only where it comes last. What has no name,
    such as a number that the learner has written, or an expression, is passed over on the way.
    """
    arrow, more = (" → ", "…") if unicode else (" > ", "~")
    *before_last, last = [name for name in names if name] or [""]
    named = [name for name in before_last if all(part.isidentifier() for part in name.split("."))]
    once = tuple(dict.fromkeys(reversed([*named, last])))[::-1]
    short = [truncated(visible(name), LONGEST_NAME, more) for name in once]
    for first in range(len(short) - 1):
        before = arrow.join([*([more] if first else []), *short[first:-1]]) + arrow
        text = Text.assemble((f" {before}", DIM), (f"{short[-1]} ", HERE))
        if text.cell_len <= room:
            return text
    return Text()


class LearningState(NamedTuple):
    """What the learner works with, and the session that runs code."""

    learning: Learning
    async_session: AsyncSession


say = Wording("screen/frame")

MAP, PROMPT, GLOSSARY, FLOW, HOME = "map", "prompt", "glossary", "flow", "home"
"""The ids of the views that do not show a step."""
NOT_STEPS = (MAP, PROMPT, GLOSSARY, FLOW, HOME)
COVERS = (GLOSSARY, FLOW, HOME)
"""The ids of the views that cover another one for a while."""


@dataclass(frozen=True, slots=True)
class CoursePosition:
    """The position of the learner in the course, for the title line.

    Attributes:
        lesson: what learners call the lesson.
        step: where the step stands in the lesson, in words.
        main, of: the number of the main step that it belongs to, from 1, and how many the lesson has.
        side: the title of the side step that a key leads to, "" if there is none.
        remark: a message that stays in the title while the step is shown, "" for none.
        changed: whether the learner's changes to the lesson apply to this step.
        jumped: whether the learner has jumped here, so that a key leads back.
    """

    lesson: str = ""
    step: str = ""
    main: int = 0
    of: int = 1
    side: str = ""
    remark: str = ""
    changed: bool = False
    jumped: bool = False


class Frame:
    """The content of the screen; it also shows notifications and runs background tasks for the controllers."""

    def __init__(
        self, app: App[None], terminal: Terminal, course_map: View, map_name: str, *, flow_beside: bool = True
    ) -> None:
        """Initialize without views other than the map.

        Args:
            app: has the screen.
            terminal: what the screen can show.
            course_map: the map.
            map_name: what the title line calls it.
            flow_beside: whether something stands beside the views of steps where the screen is wide.
        """
        self._app, self._terminal = app, terminal
        self._map_name, self._flow_beside = map_name, flow_beside
        self._views_by_id: dict[str, View] = {}
        self._async_session: AsyncSession | None = None
        self._progress: Progress | None = None
        self.position = CoursePosition()
        self.way: tuple[str, ...] = ()
        """The names on the way of the numbers to what the step shows; empty if it is not known."""
        self.problem = ""
        """The reason why the worker cannot run code, "" if it can."""
        self.note = ""
        """What the title line says of what is shown, "" for nothing."""
        self.covered_view_id = MAP
        """The id of the view that one of `COVERS` covers."""

        self.title_line = TextLine(title_start(course_map.title), ellipsis=terminal.ellipsis, id="title")
        self.rule = TextLine(ellipsis=terminal.ellipsis, id="rule")
        self.views = ViewSwitcher(self._widget(course_map), id="views", initial=MAP)
        self.middle = Middle(self.views, id="middle")
        """The views and, on a wide screen, what stands beside them."""
        self.keys = TextLine(ellipsis=terminal.ellipsis, id="keys")

    def _widget(self, view: View) -> Widget:
        """Register a view under its id, and return it as a widget."""
        assert isinstance(view, Widget)
        assert view.id is not None
        self._views_by_id[view.id] = view
        return view

    async def add_beside(self, panel: Widget) -> None:
        """Add a panel that stands beside the views of steps where the screen is wide."""
        await self.middle.mount(panel)

    async def add_above(self, panel: Widget) -> None:
        """Add a panel that stands above the views."""
        await self._app.mount(panel, before=self.middle)

    async def add(self, view: View) -> None:
        """Add a view without showing it."""
        await self.views.add_content(self._widget(view))

    def watch_progress(self, progress: Progress) -> None:
        """Have the title report from now on whether progress is saved, and a notification when that changes."""
        self._progress = progress
        loop = asyncio.get_running_loop()

        def tell_soon() -> None:
            # The thread that calls this is waited for at the end, so it does not wait in turn.
            with suppress(RuntimeError):  # after the end of the loop
                loop.call_soon_threadsafe(self._tell_about_saving, progress)

        progress.on_saved = tell_soon

    def _tell_about_saving(self, progress: Progress) -> None:
        """Say that progress cannot be saved, or that it can be again, wherever the learner is typing."""
        if progress.problem:
            self.notify(progress.problem, "warning", timeout=15)
        else:
            self.notify(say("saved-again", "Your progress is saved again."))
        self.show_title()

    def watch_session(self, async_session: AsyncSession) -> None:
        """Have the title report from now on whether code can be run."""
        self._async_session = async_session

    # Views -----------------------------------------------------------------------------------------------------------

    @property
    def view_id(self) -> str:
        """The id of the current view."""
        return self.views.current or MAP

    @property
    def main_view_id(self) -> str:
        """The id of the current view, or of the one that it covers."""
        return self.covered_view_id if self.view_id in COVERS else self.view_id

    @property
    def view(self) -> View:
        """The current view."""
        return self._views_by_id[self.view_id]

    def show(self, view: View) -> None:
        """Show a view that was added before, in place of the current one."""
        self.views.current = view.id
        self.middle.alone = not self._flow_beside or self.view_id in NOT_STEPS

    def cover(self, view: View) -> Callable[[], None]:
        """Show a view over the current one. Returns a function that restores the view and the focus of before."""
        before, focus, self.covered_view_id = self.view, self.focused, self.main_view_id
        self.show(view)

        def restore() -> None:
            self.show(before)
            if focus is not None:
                focus.focus(scroll_visible=False)
            self.show_lines()

        return restore

    # Lines -----------------------------------------------------------------------------------------------------------

    def show_title(self) -> None:
        """Update the title line and the rule above the view."""
        title, words, width = self.view.title, self._status_notes(), self._app.size.width
        left = title_start(title)
        if self.view_id in (GLOSSARY, HOME):
            self.title_line.set(left, GAP.join(words))
            return
        here = CoursePosition() if self.view_id == MAP else self.position
        if self.view_id == MAP:
            right = GAP.join([*words, f"{self._map_name} "])
        else:
            position = f"{GAP.join(filter(None, (here.lesson, here.step)))} "
            words += [say("what-if", "what if")] if here.changed else []
            words += [hint("tutor.jump-back")] if here.jumped else []
            right = title_end(words, here.remark, position, width - cell_len(title))
        self.title_line.set(left, right)
        way = () if self.view_id == MAP else self.way
        self.rule.set(progress_rule(width, here.main, here.of, way, unicode=self._terminal.unicode))

    def _status_notes(self) -> list[str]:
        """Return short notes about the state of the tutor: loading, unable to run code, not saved."""
        if self._progress is None:
            return [say("loading-course", "loading the course")]
        ready = self._async_session is not None and self._async_session.ready
        words = []
        if self.problem:
            words = [say("cannot-run", "cannot run code")]
        elif not ready:
            words = [say("loading-pytorch", "loading PyTorch")]
        if self.note:
            words.append(self.note)
        if not self._progress.saved:
            words.append(say("not-saved", "not saved ({keys})", keys=mention("tutor.export")))
        return words

    def show_keys(self) -> None:
        """Update the line of keys below the view."""
        hints, width = self.view.hints, self._app.size.width
        if self.position.side and self.view_id not in NOT_STEPS:
            hints = with_side_step(hints, self.position.side, width)
        self.keys.set(Text(f" {key_line(hints, width)}", DIM))

    def show_lines(self) -> None:
        """Update the title, the rule and the line of keys."""
        self.show_title()
        self.show_keys()

    def picture(self) -> ScreenPicture:
        """Return what is painted now, as a picture."""
        return ScreenPicture(self._app, f"{self._app.title}: {self.title_line.text.strip()}")

    # The app ---------------------------------------------------------------------------------------------------------

    @property
    def focused(self) -> Widget | None:
        """The widget that has the focus, None if no widget has it."""
        return self._app.focused

    def notify(self, text: str, severity: SeverityLevel = "information", timeout: float | None = None) -> None:
        """Show a notification for `timeout` seconds, by default as long as Textual does."""
        self._app.notify(text, severity=severity, markup=False, timeout=timeout)

    def start(self, task: Callable[[], Coroutine[None, None, None]], group: str) -> None:
        """Run a task in the background, and cancel the running tasks of the same group."""
        _: Worker[None] = self._app.run_worker(task, group=group, exclusive=True, exit_on_error=False)
