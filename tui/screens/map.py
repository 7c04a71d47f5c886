"""The course map: what there is, what is done, and where to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message

from tui.palette import palette
from tui.prose import rich_text
from tui.terminal import Terminal
from tui.widgets.drawn import Box
from tui.widgets.lessons import Entry, LessonList
from tui.widgets.pane import TextPane

if TYPE_CHECKING:
    from lessons.model import Course, Lesson
    from lessons.result import Tensor
    from tui.store import Store

GLYPHS = {"new": "·", "seen": "◐", "done": "●", "continue": "▶"}
ASCII_GLYPHS = {"new": ".", "seen": "o", "done": "x", "continue": ">"}
BOLD, DIM, EXERCISE = Style(bold=True), Style(dim=True), Style(color="cyan")
THUMBNAIL = 8
CELL = 3


class MapView(Box):
    """The list of lessons, and what the selected one teaches. Enter opens it from either."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open", "Open", show=False)]

    class Open(Message):
        """The learner wants a lesson, at a step (its id)."""

        def __init__(self, lesson: Lesson, step: str) -> None:
            self.lesson, self.step = lesson, step
            super().__init__()

    class Selected(Message):
        """The cursor is on a lesson."""

        def __init__(self, lesson: Lesson) -> None:
            self.lesson = lesson
            super().__init__()

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._terminal = terminal
        self._targets: list[tuple[Lesson, str]] = []
        self.list = LessonList(ellipsis=terminal.ellipsis, id="lessons")
        self._about = TextPane(ellipsis=terminal.ellipsis, id="about", indent=2)

    def compose(self) -> ComposeResult:
        """The list and, beside it, the selected lesson."""
        yield self.list
        yield self._about

    def show(self, course: Course, store: Store) -> None:
        """Show the course with the learner's progress."""
        glyphs = GLYPHS if self._terminal.unicode else ASCII_GLYPHS
        lesson, step = here(course, store)
        self._targets = [(lesson, step)]
        begun = store.position is not None
        word = "Continue" if begun else "Start"
        text = f"{word}: {lesson.number}. {lesson.step(step).title}"
        entries = [Entry(glyphs["continue"], text, strong=True)]
        for each in course.lessons:
            state, said = state_of(each, store)
            entries.append(Entry(glyphs[state], f"{each.number:2}. {each.title}", said))
            self._targets.append((each, first_open(each, store)))
        self.list.show(tuple(entries))

    def about(self, lesson: Lesson, store: Store, thumbnail: Tensor | None) -> None:
        """Show what a lesson teaches."""
        glyphs = GLYPHS if self._terminal.unicode else ASCII_GLYPHS
        text = Text()
        text.append(f"{lesson.number}. {lesson.title}\n\n", BOLD)
        text.append_text(rich_text(lesson.goal))
        text.append("\n")
        if thumbnail is not None:
            text.append("\n")
            text.append_text(picture(thumbnail, self._terminal))
            text.append("\n")
        for step in lesson.steps:
            state = store.state(lesson.id, step.id)
            text.append(f"\n{glyphs[state]} {step.title}", DIM if state == "done" else "")
            if step.kind == "exercise":
                text.append(f"   exercise {step.number}".rstrip(), EXERCISE)
        self._about.show(text)

    def move_pane(self) -> None:
        """From the list to the lesson's text, if it is longer than its place, and back."""
        (self._about if self.list.has_focus else self.list).focus(scroll_visible=False)

    def on_lesson_list_moved(self, event: LessonList.Moved) -> None:
        """Tell which lesson is under the cursor."""
        self.post_message(self.Selected(self._targets[event.place][0]))

    def on_lesson_list_chosen(self, event: LessonList.Chosen) -> None:
        """Open it."""
        self.post_message(self.Open(*self._targets[event.place]))

    def action_open(self) -> None:
        """Open the lesson under the cursor, wherever the focus is."""
        self.list.action_choose()

    @property
    def selected(self) -> Lesson | None:
        """The lesson under the cursor."""
        place = self.list.cursor
        return self._targets[place][0] if self._targets else None


def here(course: Course, store: Store) -> tuple[Lesson, str]:
    """Where the learner goes on: where they were, or the first step."""
    if store.position is not None:
        for lesson in course.lessons:
            if lesson.id == store.position[0] and any(step.id == store.position[1] for step in lesson.steps):
                return lesson, store.position[1]
    return course.lessons[0], course.lessons[0].steps[0].id


def first_open(lesson: Lesson, store: Store) -> str:
    """The first step of a lesson that is not done; its first if all are."""
    for step in lesson.steps:
        if store.state(lesson.id, step.id) != "done":
            return step.id
    return lesson.steps[0].id


def state_of(lesson: Lesson, store: Store) -> tuple[str, str]:
    """The state of a lesson, and the words for it."""
    states = [store.state(lesson.id, step.id) for step in lesson.steps]
    if all(state == "done" for state in states):
        return "done", "done"
    if any(state != "new" for state in states):
        return "seen", f"{states.count('done')}/{len(states)}"
    return "new", ""


def picture(tensor: Tensor, terminal: Terminal) -> Text:
    """A tensor as small coloured cells without digits: its first matrix, or a corner of it, with its name and rows."""
    rows, cols = (min(size, THUMBNAIL) for size in tensor.matrix_shape)
    colours = palette(terminal)
    scale = colours.scale(tensor.kind, tensor.low, tensor.high)
    text = Text()
    width = max((cell_len(label) for label in tensor.row_labels[:rows]), default=0)
    for row in range(rows):
        label = tensor.row_labels[row] if tensor.row_labels else ""
        text.append(" " * (width - cell_len(label)) + label + " ", DIM)
        for value in tensor.row((0,) * len(tensor.lead_shape), row, 0, cols) or ():
            look = scale.look(value)
            text.append((" " if colours.coloured else look.glyph) * CELL, look.style)
        if row == 0:
            text.append(f"  {tensor.name}", BOLD)
            shape = ("×" if terminal.unicode else "x").join(map(str, tensor.shape))
            text.append(f"  {shape}", DIM)
        text.append("\n")
    text.right_crop()
    return text
