"""The views, of which one is shown, and the lines around them; controllers know no more of the app than this."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.app import App
from textual.notifications import SeverityLevel
from textual.widget import Widget
from textual.widgets import ContentSwitcher
from textual.worker import Worker

from tui.actions.hints import mention
from tui.render import title_text
from tui.tty.terminal import Terminal
from tui.widgets.text_line import TextLine

if TYPE_CHECKING:
    # The frame is painted before the rest is imported.
    from lessons.learner.progress import Progress
    from tui.screens.step_view import View
    from tui.state.async_session import AsyncSession

MAP, PLAY, GLOSSARY = "map", "play", "glossary"
"""The ids of the views that show no step."""

DIM = Style(dim=True)


@dataclass(frozen=True, slots=True)
class CoursePosition:
    """The step that the learner is at, as the title tells it.

    Attributes:
        lesson: the number of the lesson.
        step, of: the number of the step, from 1, and how many the lesson has.
        remark: something to be said as long as the step is shown.
        changed: whether the learner's changes to the lesson hold in this step.
    """

    lesson: int
    step: int
    of: int
    remark: str = ""
    changed: bool = False


class Frame:
    """What is on the screen. Besides it says things in passing and runs tasks in the background."""

    def __init__(self, app: App[None], terminal: Terminal, course_map: View) -> None:
        self._app, self._terminal = app, terminal
        self._known: dict[str, View] = {}
        self._engine: AsyncSession | None = None
        self._store: Progress | None = None
        self.position = CoursePosition(0, 0, 1)
        self.problem = ""
        """Why the worker cannot run anything, "" if it can."""
        self.behind_glossary = MAP
        """The view that the glossary stands in front of."""

        self.title_line = TextLine(title_text.title(course_map.title), ellipsis=terminal.ellipsis, id="title")
        self.rule = TextLine(ellipsis=terminal.ellipsis, id="rule")
        self.views = ContentSwitcher(self._widget(course_map), id="views", initial=MAP)
        self.keys = TextLine(ellipsis=terminal.ellipsis, id="keys")

    def _widget(self, view: View) -> Widget:
        """The same view as a widget, which is found by its id from now on."""
        assert isinstance(view, Widget)
        assert view.id is not None
        self._known[view.id] = view
        return view

    async def add(self, view: View) -> None:
        """Add a view, which is not shown yet."""
        await self.views.add_content(self._widget(view))

    def watch(self, engine: AsyncSession, store: Progress) -> None:
        """Have the title tell whether code can be run and progress is saved, now that course and progress are read."""
        self._engine, self._store = engine, store

    # Views -----------------------------------------------------------------------------------------------------------

    @property
    def shown(self) -> str:
        """The id of the view that is shown."""
        return self.views.current or MAP

    @property
    def behind(self) -> str:
        """The id of the view that is shown, or that the glossary stands in front of."""
        return self.behind_glossary if self.shown == GLOSSARY else self.shown

    @property
    def view(self) -> View:
        """The view that is shown."""
        return self._known[self.shown]

    def show(self, view: View) -> None:
        """Show one of the views."""
        self.views.current = view.id

    # Lines -----------------------------------------------------------------------------------------------------------

    def show_title(self) -> None:
        """Bring the lines above the view up to date."""
        title, words, width = self.view.title, self._words(), self._app.size.width
        left = title_text.title(title)
        if self.shown == GLOSSARY:
            self.title_line.set(left, title_text.GAP.join(words))
            return
        here = CoursePosition(0, 0, 1) if self.shown == MAP else self.position
        if self.shown == MAP:
            right = title_text.GAP.join([*words, "course map "])
        else:
            place = f"lesson {here.lesson}   step {here.step} of {here.of} "
            words += ["what if"] if here.changed else []
            right = title_text.right_end(words, here.remark, place, width - cell_len(title))
        self.title_line.set(left, right)
        self.rule.set(title_text.rule(width, here.step, here.of, unicode=self._terminal.unicode))

    def _words(self) -> list[str]:
        """What is to be known about the tutor itself, each in a few words."""
        if self._engine is None or self._store is None:
            return ["loading the course"]
        words = ["cannot run code"] if self.problem else [] if self._engine.ready else ["loading PyTorch"]
        return words if self._store.saved else [*words, f"not saved ({mention('tutor.export')})"]

    def show_keys(self) -> None:
        """Bring the line below the view up to date."""
        self.keys.set(Text(f" {self.view.keys}", DIM))

    def show_lines(self) -> None:
        """Bring all lines around the view up to date."""
        self.show_title()
        self.show_keys()

    # The app ---------------------------------------------------------------------------------------------------------

    @property
    def focused(self) -> Widget | None:
        """The widget that has the keys."""
        return self._app.focused

    def notify(self, text: str, severity: SeverityLevel = "information", timeout: float | None = None) -> None:
        """Say something in passing, for some seconds."""
        self._app.notify(text, severity=severity, markup=False, timeout=timeout)

    def start(self, task: Callable[[], Coroutine[None, None, None]], group: str) -> None:
        """Run a task in the background, in place of those of the same group."""
        _: Worker[None] = self._app.run_worker(task, group=group, exclusive=True, exit_on_error=False)
