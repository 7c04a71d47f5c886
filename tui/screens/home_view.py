"""The view in which the learner chooses what to take home, and the name of the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.render.palette import BOLD, DIM
from attn_tutor.tui.state.home_offers import HomeOffer
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.lesson_list import LessonEntry, LessonList
from attn_tutor.tui.widgets.line_widget import Box
from attn_tutor.tui.widgets.text import TextLine, TextPane

say = Wording("screen/home")


class HomeView(Box):
    """A line with the name of the file, the list of what can be taken, and what is in the chosen one.

    Letters always go to the name, and arrow keys always go to the list.
    """

    topic = "home"
    flow_subject = None

    DEFAULT_CSS = """
    HomeView {
        layout: vertical;
        height: 1fr;
    }
    HomeView #file-line {
        layout: horizontal;
        height: 1;
    }
    HomeView #file-line TextLine {
        width: 18;
    }
    HomeView Input, HomeView Input:focus {
        border: none;
        height: 1;
        width: 1fr;
        padding: 0;
        background: $background;

        &:ansi {
            background: ansi_default;
        }
    }
    HomeView #offers {
        layout: horizontal;
        height: 1fr;
        margin: 1 0 0 0;
    }
    HomeView #offer-list {
        width: 36;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("home")]

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._offers: Sequence[HomeOffer] = ()
        self._propose: Callable[[str], str] = str
        self._remark = self._said = ""
        self.file = Input(compact=True, select_on_focus=False, id="home-file")
        self.file.cursor_blink = False
        self._list = LessonList(ellipsis=terminal.ellipsis, id="offer-list")
        self._list.can_focus = False
        self._about = TextPane(ellipsis=terminal.ellipsis, indent=2, id="offer-about")
        self._about.can_focus = False
        self.on_take: Callable[[HomeOffer, str], None] = lambda offer, file: None
        """Called with what is taken, and the name of its file."""
        self.on_close: Callable[[], None] = lambda: None
        """Called when the learner leaves."""

    def compose(self) -> ComposeResult:
        """Compose the line with the name, and below it the list and what is said about the chosen offer."""
        yield Box(TextLine(Text(f" {say('file', 'File to write')} >", BOLD)), self.file, id="file-line")
        yield Box(self._list, self._about, id="offers")

    @property
    def title(self) -> str:
        """The title of the view."""
        return say("title", "Take home")

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        return [hint("home.move"), hint("home.take"), hint("home.name"), hint("home.close")]

    @property
    def chosen(self) -> HomeOffer | None:
        """The offer under the cursor, None if there is none."""
        return self._offers[self._list.cursor] if self._offers else None

    def open(self, offers: Sequence[HomeOffer], propose: Callable[[str], str], remark: str = "") -> None:
        """Show what can be taken.

        Args:
            offers: what can be taken, the most likely first.
            propose: returns a name that is free, for one that may not be.
            remark: what is said about something that cannot be taken, "" for nothing.
        """
        self._offers, self._propose, self._remark, self._said = offers, propose, remark, ""
        self._list.show(tuple(LessonEntry(" ", each.title) for each in offers))
        self._list.cursor = 0
        self._choose()
        self.file.focus(scroll_visible=False)

    def tell(self, text: str) -> None:
        """Say below the chosen offer what is being done, or what came of it."""
        self._said = text
        self._describe()

    def move_pane(self, step: int) -> None:
        """Do nothing: there is one pane."""

    def next_pane(self) -> None:
        """Do nothing: there is one pane."""

    def on_lesson_list_moved(self, event: LessonList.Moved) -> None:
        """Describe the offer under the cursor, and propose a file for it."""
        event.stop()
        self._choose()

    def on_lesson_list_chosen(self, event: LessonList.Chosen) -> None:
        """Take the offer that was clicked a second time."""
        event.stop()
        self.action_take()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep the event here: the name counts when it is taken."""
        event.stop()

    def _choose(self) -> None:
        if (offer := self.chosen) is not None:
            self.file.value = self._propose(offer.file)
            self.file.cursor_position = len(self.file.value)
        self._describe()

    def _describe(self) -> None:
        offer = self.chosen
        text = Text.assemble((offer.title, BOLD), f"\n\n{offer.about}") if offer is not None else Text()
        if self._remark:
            text.append(f"\n\n{self._remark}", DIM)
        if self._said:
            text.append(f"\n\n{self._said}", BOLD)
        self._about.show(text)

    def action_move(self, lines: int) -> None:
        """Choose another offer."""
        self._list.cursor += lines

    def action_take(self) -> None:
        """Write the chosen offer to the file that is named."""
        if (offer := self.chosen) is not None and self.file.value.strip():
            self.on_take(offer, self.file.value.strip())

    def action_close(self) -> None:
        """Go back to where the learner was."""
        self.on_close()
