"""The view of the glossary: the terms of the course, with those of the current step first, and the references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Input

from attn_tutor.lessons.format.lesson import Course, Step
from attn_tutor.lessons.reading.glossary import Glossary, Reference, Term
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.render.glossary_text import introduction
from attn_tutor.tui.render.palette import BOLD, DIM
from attn_tutor.tui.render.prose import rich_text
from attn_tutor.tui.tty.terminal import Terminal, in_ascii
from attn_tutor.tui.widgets.lesson_list import LessonEntry, LessonList
from attn_tutor.tui.widgets.line_widget import Box
from attn_tutor.tui.widgets.text import TextLine, TextPane

say = Wording("screen/glossary")


class GlossaryView(Box):
    """A search line, the list of terms, and the definition of the selected one; `tab` switches to the references.

    Letters always go to the search line, and arrow keys always go to the list.
    """

    topic = "glossary"

    DEFAULT_CSS = """
    GlossaryView {
        layout: vertical;
        height: 1fr;
    }
    GlossaryView #search {
        layout: horizontal;
        height: 1;
    }
    GlossaryView #search TextLine {
        width: 9;
    }
    GlossaryView #found {
        layout: horizontal;
        height: 1fr;
        margin: 1 0 0 0;
    }
    GlossaryView #terms {
        width: 36;
    }
    """

    flow_subject = None

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("glossary")]

    class Closed(Message):
        """Posted when the learner leaves the glossary."""

    class Turned(Message):
        """Posted when the view switches between terms and references."""

    class GoTo(Message):
        """Posted when the learner goes to the step (`lesson/step`) that introduces a term."""

        def __init__(self, step_path: str) -> None:
            self.step_path = step_path
            super().__init__()

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._terminal = terminal
        self._glossary = Glossary()
        self._course = Course(lessons=())
        self._step_terms: tuple[Term, ...] = ()
        self._entries: tuple[Term | Reference, ...] = ()
        self._references = False
        self._input = Input(compact=True, select_on_focus=False, id="term")
        self._input.cursor_blink = False
        self._search = Box(TextLine(Text(f" {say('search', 'Search')} >", BOLD)), self._input, id="search")
        self._list = LessonList(ellipsis=terminal.ellipsis, id="terms")
        self._list.can_focus = False
        self._means = TextPane(ellipsis=terminal.ellipsis, indent=2, id="means")
        self._means.can_focus = False

    def compose(self) -> ComposeResult:
        """Compose the search line, and below it the list and the definition."""
        yield self._search
        yield Box(self._list, self._means, id="found")

    def open(self, glossary: Glossary, course: Course, step: Step | None) -> None:
        """Show the terms, those of `step` first."""
        self._glossary, self._course, self._references = glossary, course, False
        self._step_terms = glossary.terms_in(step) if step is not None else ()
        self._input.value = ""
        self._fill()
        self._input.focus(scroll_visible=False)

    @property
    def chosen(self) -> Term | Reference | None:
        """The term or reference under the cursor, None if the list is empty."""
        return self._entries[self._list.cursor] if self._entries else None

    @property
    def title(self) -> str:
        """The title of the list: terms or references."""
        return say("references-title", "References") if self._references else say("glossary-title", "Glossary")

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        if self._references:
            parts = [hint("glossary.move"), hint("screen.pane", say("glossary", "glossary"))]
        else:
            parts = [hint("glossary.search"), hint("glossary.move"), hint("glossary.go")]
            parts.append(hint("screen.pane", say("references", "references")))
        return [*parts, hint("glossary.close")]

    def move_pane(self, step: int) -> None:
        """Switch between terms and references."""
        self._references = not self._references
        self._input.value = ""
        self._fill()
        self.post_message(self.Turned())

    def next_pane(self) -> None:
        """Switch between terms and references."""
        self.move_pane(1)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the entries that match the text of the search line."""
        event.stop()
        self._fill()

    def _fill(self) -> None:
        text = self._input.value.strip()
        if self._references:
            self._entries = _found(self._glossary.references, text)
        elif text:
            self._entries = self._glossary.search(text)
        else:
            rest = (term for term in self._glossary.terms if term not in self._step_terms)
            self._entries = (*self._step_terms, *rest)
        arrow = "▸" if self._terminal.unicode else ">"
        entries = [
            LessonEntry(arrow, each.term, (say("here", "here"),))
            if each in self._step_terms
            else LessonEntry(" ", each.term)
            if isinstance(each, Term)
            else LessonEntry(" ", each.short)
            for each in self._entries
        ]
        self._list.show(tuple(entries))
        self._list.cursor = 0
        self._describe()

    def on_lesson_list_moved(self, event: LessonList.Moved) -> None:
        """Describe the entry under the cursor."""
        event.stop()
        self._describe()

    def on_lesson_list_chosen(self, event: LessonList.Chosen) -> None:
        """Go to the step of the term that was clicked a second time."""
        event.stop()
        self.action_go()

    def _describe(self) -> None:
        chosen = self.chosen
        if isinstance(chosen, Term):
            text = self._about_term(chosen)
        elif chosen is not None:
            text = self._about_reference(chosen)
        else:
            text = Text(say("not-found", "Nothing matches your search."), DIM)
        self._means.show(text)

    def _about_term(self, term: Term) -> Text:
        text = Text.assemble((term.term, BOLD))
        if term.also:
            text.append("   " + say("also", "also: {names}", names=", ".join(term.also)), DIM)
        text.append("\n\n").append_text(rich_text(self._writable(term.means)))
        if term.see:
            text.append("\n\n" + say("see-also", "See also: {terms}.", terms=", ".join(term.see)))
        text.append(f"\n\n{introduction(self._course, term)}", DIM)
        return text

    def _about_reference(self, reference: Reference) -> Text:
        text = Text.assemble((self._writable(reference.title), BOLD))
        text.append(f"\n\n{self._writable(reference.authors)}. {reference.where}, {reference.year}.")
        return text.append("\n\n").append_text(rich_text(self._writable(reference.about)))

    def _writable(self, text: str) -> str:
        return text if self._terminal.unicode else in_ascii(text)

    def action_move(self, lines: int) -> None:
        """Move the cursor of the list by some lines."""
        self._list.cursor += lines

    def action_go(self) -> None:
        """Go to the step that introduces the term under the cursor."""
        if isinstance(self.chosen, Term):
            self.post_message(self.GoTo(self.chosen.step))

    def action_close(self) -> None:
        """Clear the search if there is one, otherwise leave the glossary."""
        if self._input.value:
            self._input.value = ""
        else:
            self.post_message(self.Closed())


def _found(references: Sequence[Reference], text: str) -> tuple[Reference, ...]:
    """Return the references with this text in their title, authors or description."""
    wanted = text.casefold()
    return tuple(
        each for each in references if wanted in f"{each.title} {each.authors} {each.year} {each.about}".casefold()
    )
