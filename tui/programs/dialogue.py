"""The dialogue about a program of one's own, or about a file of tensors: its pages in place of the course."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import get_args

from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.play.step import StepModel
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.plain.command_table import Handlers, PlainCommand
from attn_tutor.tui.plain.journey_dialogue import JourneyDialogue
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.step_dialogue import StepDialogue
from attn_tutor.tui.plain.subject import several
from attn_tutor.tui.plain.waiting_session import PlainState
from attn_tutor.tui.programs.pages import PagesSource
from attn_tutor.tui.sources.source import StepPosition, TensorRow, Which
from attn_tutor.tui.state.typed_names import has_words, listed, meant

say = Wording("plain/program")

OF_TENSORS = ("show", "read", "row", "overview", "explain", "set", "compare")
"""The commands that name a tensor, which may be one of another page."""

LONG_LIST = 20
"""Tensors from which on the list of them says how to see fewer."""


class PagesDialogue(JourneyDialogue):
    """The way through the pages."""

    def __init__(self, state: PlainState, pages: PagesSource) -> None:
        """Initialize at the page that is opened first."""
        self._pages = pages
        self._code_printed: set[str] = set()
        self._announced = ""
        start = pages.start or StepPosition(pages.lessons[0], 0)
        super().__init__(state, start.lesson, start.index)

    @property
    def handlers(self) -> Handlers:
        """The commands that apply now, those of the page included."""
        found: Handlers = {"next": self.next, "back": self.back} | self.current.handlers
        found |= {"map": self.map, "go": self.go, "run": self.run_again}
        if self._pages.computes:
            found["call"] = self.call
        return found | {word: partial(self._of_tensor, word) for word in OF_TENSORS if word in found}

    def form_of(self, command: PlainCommand) -> str:
        """Return what may follow the word of a command."""
        match command.word:
            case "go":
                return say("go-form", "PAGE or TENSOR")
            case "map":
                return say("map-form", "[WORDS]")
            case "knob":
                return say("knob-form", "[NAME VALUE] or [WORDS]")
        return super().form_of(command)

    def help_of(self, command: PlainCommand) -> str:
        """Return the sentence for the help on a command."""
        match command.word:
            case "next":
                return say("next", "go to the next page")
            case "back":
                return say("back", "go to the page before")
            case "again":
                return say("again", "print this page again, with its code")
            case "map":
                return say("map", "list the tensors; with words: those that have them in their names")
            case "explain":
                return say(
                    "explain",
                    "say how a number was computed; with LEVELS, also what it was computed from. As for all commands "
                    "with a NAME, that of a tensor of another page opens that page",
                )
            case "go":
                return say("go", "open a page by its number, or that of a tensor by its name")
            case "run":
                return say("run", "read the file again, and run it")
            case "python":
                return say("python", "open a Python prompt with the variables of the program and of this page")
            case "keep":
                return say("keep", "write a matrix to a file: keep weights weights.csv, or .txt, or .svg")
            case "quit":
                return say("quit", "quit")
            case "knob":
                return say(
                    "knob",
                    "change a literal of the program: knob line-5-12 7, or knob lr 0.1 for the only lr = 0.2; alone: "
                    "list them, those of this page first; knob lr: list those with lr in their name or line of code",
                )
        return super().help_of(command)

    def _dialogue(self, model: StepModel) -> StepDialogue:
        code = self._pages.opened.code_beside(model.step)
        # Each page of a file is a program of its own.
        printed = self._code_printed if self._pages.computes else set[str]()
        return PageDialogue(self._state, model, code, printed)

    def _title(self, lesson: Lesson) -> Iterator[str]:
        title = say.count(
            "pages", len(lesson.steps), "{name}: {count} page.", "{name}: {count} pages.", name=lesson.title
        )
        if title != self._announced:
            self._announced = title
            yield from self._console.wrapped(title)
            yield ""

    def next(self, _: str) -> Iterator[str]:
        """Go to the next page."""
        index = self.lesson.index(self.step.id) + 1
        if index == len(self.lesson.steps):
            raise Refused(say("last", "This is the last page."))
        yield from self.open(self.lesson, index)

    def back(self, _: str) -> Iterator[str]:
        """Go to the page before."""
        index = self.lesson.index(self.step.id)
        if not index:
            raise Refused(say("first", "This is the first page."))
        yield from self.open(self.lesson, index - 1)

    def map(self, words: str) -> Iterator[str]:
        """Yield the tensors, a line for each; with words, those that have them in their names."""
        rows = self._pages.rows
        found = [row for row in rows if has_words(words, row.label)]
        if not found:
            raise Refused(say("no-name-has", "No name has {words}. Type map to list all tensors.", words=words))
        for row in found:
            what = ", ".join(filter(None, (*row.columns, self._page_of(row))))
            yield from self._console.wrapped(f"{row.label}: {what or row.about}")
        if words:
            yield from self._console.wrapped(
                say("found", "{count} of {all} tensors have {words} in their names.", count=len(found), all=len(rows),
                    words=words)
            )  # fmt: skip
        elif len(rows) > LONG_LIST:
            yield from self._console.wrapped(
                say("filter", "These are {all} tensors. map WORD lists those with that word in their names.",
                    all=len(rows))
            )  # fmt: skip

    def _page_of(self, row: TensorRow) -> str:
        if not row.page:
            return ""
        page = say("page", "page {number}", number=self.lesson.index(row.page) + 1)
        return f"{page} <- {say('here', 'you are here')}" if row.page == self.step.id else page

    def go(self, text: str) -> Iterator[str]:
        """Open a page."""
        if not text:
            raise Refused(say("where", "Say where to: go and the number of a page, or the name of a tensor."))
        yield from self.open(*self._step_named(text))

    def _step_named(self, text: str) -> tuple[Lesson, int]:
        """Return the page of a number, or of a tensor by its name or the end of that. Raises `Refused`."""
        lesson = self._pages.lessons[0]
        if text.isdecimal():
            if not 1 <= int(text) <= len(lesson.steps):
                raise Refused(say("no-page", "There are the pages 1 to {last}.", last=len(lesson.steps)))
            return lesson, int(text) - 1
        pages = {row.label: row.page for row in self._pages.rows if row.page}
        names, inner = meant(text, *self._near(pages))
        if inner or not names:
            raise Refused(self._no_tensor(text, list(pages)))
        return lesson, lesson.index(self._page_with(text, names, pages))

    def _near(self, pages: Mapping[str, str]) -> Iterator[list[str]]:
        """Yield the names of the page, then those of its function, then all; `pages` has the page of each."""
        yield [label for label, page in pages.items() if page == self.step.id]
        index = self.lesson.index(self.step.id)
        scope = self._pages.opened.groups[index].scope if index < len(self._pages.opened.groups) else ""
        if scope:
            yield [label for label in pages if label.startswith(f"{scope}.")]
        yield list(pages)

    def _page_with(self, text: str, names: Sequence[str], pages: Mapping[str, str]) -> str:
        """Return the one page that has tensors of these names. Raises `Refused` if there are several."""
        found = {pages[name] for name in names}
        if len(found) > 1:
            raise Refused(several(text, names))
        return found.pop()

    def _no_tensor(self, text: str, labels: Sequence[str]) -> str:
        """Say that there is no such tensor, and what has such a name."""
        similar = [label for label in labels if has_words(text, label)]
        similar += difflib.get_close_matches(text, labels, 1) if not similar else []
        if not similar:
            return say("no-tensor", "There is no tensor {name}. Type map to list them.", name=text)
        return say("like", "There is no tensor {name}. Names like that: {names}.", name=text, names=listed(similar))

    def _of_tensor(self, word: str, text: str) -> Iterator[str]:
        """Do a command about a tensor, on the page that has it."""
        yield from self.turn_to(text)
        handler = self.current.handlers.get(word)
        if handler is None:
            raise Refused(say("not-here", "The command {word} does nothing on this page.", word=word))
        yield from handler(text)

    def turn_to(self, text: str) -> Iterator[str]:
        """Go to the page of the tensor that a command begins with, if it is another one, and yield which that is.

        Raises `Refused` if several pages may be meant.
        """
        # A name may be followed by a value, by levels, or by a file.
        texts = list(dict.fromkeys((text, text.partition("=")[0].strip(), text.rpartition(" ")[0].strip())))
        if not text or any(self.current.shows(each) for each in filter(None, texts)):
            return
        pages = {row.label: row.page for row in self._pages.rows if row.page}
        for each in filter(None, texts):
            names, _ = meant(each, *self._near(pages))
            if not names:
                continue
            index = self.lesson.index(self._page_with(each.partition("[")[0].strip(), names, pages))
            self.current.stop()
            self._come_to(self.lesson, index)
            self.current.enter()
            page = say("page", "page {number}", number=index + 1)
            yield from self._console.wrapped(
                say("turned", "{name} is on {page}, which is open now.", name=names[0], page=page)
            )
            return

    def begin(self) -> Iterator[str]:
        """Yield the page where the learner starts; of a file with several tensors, their list."""
        if self._pages.start is None and len(self._pages.rows) > 1:
            yield from self._title(self.lesson)
            yield from self.map("")
            return
        yield from super().begin()

    def call(self, text: str) -> Iterator[str]:
        """Show another call of the function that the page is about."""
        found = next((which for which in get_args(Which) if which == text), None)
        if found is None and not text.isdecimal():
            raise Refused(say("which-call", "Say which call: call 3, or call before, after, first or last."))
        which: Which | int = int(text) if found is None else found
        groups = self._pages.opened.groups
        index = self._state.session.call(partial(self._pages.choose, self.step.id, which))
        if isinstance(index, Refusal):
            raise Refused(index.reason)
        found_call = self._pages.show_call(index, groups)
        history = self._journey.history if found_call.keeps_changes else None
        yield from self.open(found_call.place.lesson, found_call.place.index, history=history)

    # Running it again ------------------------------------------------------------------------------------------------

    def run_again(self, _: str) -> Iterator[str]:
        """Read the file and run it again; yield what that has changed, and the page where it begins to differ."""
        pages, before, index = self._pages, self._pages.shown, self.lesson.index(self.step.id)
        program = pages.program_now()
        if program is None:
            raise Refused(pages.unreadable)
        failure, changed = self._state.session.call(partial(pages.run_again, program, before))
        if failure is not None:
            raise Refused(pages.unrun(failure))
        before.release()
        self._code_printed.clear()
        place = pages.show_new(changed, index)
        if pages.computes:
            yield from self._console.wrapped(pages.said_after(changed))
            yield ""
        yield from self.open(place.lesson, place.index)


class PageDialogue(StepDialogue):
    """A page of a program. Of a function, only its own code is printed, and code of earlier pages only on request."""

    def __init__(self, state: PlainState, model: StepModel, code: str, printed: set[str]) -> None:
        """Initialize with the code that stands beside a page; it is opened without it if that was `printed` before."""
        super().__init__(state, model)
        self._code, self._printed, self._brief = code, printed, False

    def open(self) -> Iterator[str]:
        """Run the program if that has not just been done, and yield the page."""
        problem = self._run()
        # With all of a file, its functions were printed.
        self._brief = not self._printed.isdisjoint((self._code, self.step.run_code))
        self._printed.add(self._code)
        yield from super().again("")
        if problem:
            yield from self._console.wrapped(problem)

    def again(self, text: str) -> Iterator[str]:
        """Yield the page with its code."""
        self._brief = False
        yield from super().again(text)

    @property
    def _printed_step(self) -> Step:
        """The page as it is printed."""
        return self.step.model_copy(update={"code": "" if self._brief else self._code})
