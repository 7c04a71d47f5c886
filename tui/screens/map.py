"""The course map: what there is, what is done, and where to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
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
BOLD, DIM = Style(bold=True), Style(dim=True)
THUMBNAIL = 12


class MapView(Box):
    """The list of lessons, and what the selected one teaches."""

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
        self.list = LessonList(id="lessons")
        self._about = TextPane(id="about", indent=2)

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
        done = sum(store.state(lesson.id, step.id) == "done" for step in lesson.steps)
        text = Text()
        text.append(f"{lesson.number}. {lesson.title}\n\n", BOLD)
        text.append_text(rich_text(lesson.goal))
        text.append(f"\n\n{done} of {len(lesson.steps)} steps done", DIM)
        exercises = list(lesson.exercises)
        for exercise in exercises:
            passed = "passed" if store.passed(exercise.exercise) else "not passed yet"
            number = f" {exercise.number}" if exercise.number else ""
            text.append(f"\nExercise{number}: {exercise.title}, {passed}", DIM)
        if thumbnail is not None:
            text.append("\n\n")
            text.append_text(picture(thumbnail, self._terminal))
        self._about.show(text)

    def on_lesson_list_moved(self, event: LessonList.Moved) -> None:
        """Tell which lesson is under the cursor."""
        self.post_message(self.Selected(self._targets[event.place][0]))

    def on_lesson_list_chosen(self, event: LessonList.Chosen) -> None:
        """Open it."""
        self.post_message(self.Open(*self._targets[event.place]))

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
    """A tensor as small coloured cells, without digits: its first matrix, or a corner of it."""
    rows, cols = (min(size, THUMBNAIL) for size in tensor.matrix_shape)
    colours = palette(terminal)
    scale = colours.scale(tensor.kind, tensor.low, tensor.high)
    text = Text()
    for row in range(rows):
        values = tensor.row((0,) * len(tensor.lead_shape), row, 0, cols) or ()
        for value in values:
            look = scale.look(value)
            text.append((look.glyph if not colours.coloured else " ") * 2, look.style)
        text.append("\n")
    text.append(tensor.name, DIM)
    return text
