"""The view of the course map: the lessons, how much of them is done, and where to continue."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from attn_tutor.lessons.format.nouns import NOUNS
from attn_tutor.lessons.learner import milestones
from attn_tutor.lessons.render.numbers import truncated
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint, mention
from attn_tutor.tui.render.palette import BOLD, DIM, palette
from attn_tutor.tui.render.prose import rich_text
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.lesson_list import LessonEntry, LessonList
from attn_tutor.tui.widgets.line_widget import Box
from attn_tutor.tui.widgets.text import TextPane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from attn_tutor.lessons.learner.progress import Progress
    from attn_tutor.lessons.reading.course_outline import Corner, LessonOutline, StepOutline
    from attn_tutor.tui.sources.source import MapContent
    from attn_tutor.tui.state.course_entries import CourseEntry

GLYPHS = {"new": "·", "seen": "◐", "skipped": "»", "done": "●", "due": "↻", "continue": "▶", "course": "◆"}
ASCII_GLYPHS = {"new": ".", "seen": "o", "skipped": "-", "done": "x", "due": "!", "continue": ">", "course": "="}
say = Wording("screen/map")

EXERCISE = Style(color="cyan")
CELL = 3
LABEL = 8
"""The maximum width of a label: all of a thumbnail fits beside the lessons on a screen of 80 columns."""


def _state_in_words(state: str) -> str:
    """Return the words that follow the title of an exercise."""
    match state:
        case "skipped":
            return f"   {say('skipped', 'skipped')}"
        case "due":
            return f"   {say('due-for-review', 'due for review')}"
    return ""


class MapView(Box):
    """The list of lessons and the description of the selected one. Enter opens the lesson from either pane."""

    title = "attn-tutor"
    flow_subject = None
    topic = "map"

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("map")]

    class Open(Message):
        """Posted when the learner opens a lesson; `step` is the id of the step to start at, `name` that of a tensor."""

        def __init__(self, lesson: LessonOutline, step: str, name: str = "") -> None:
            self.lesson, self.step, self.name = lesson, step, name
            super().__init__()

    class OpenCourse(Message):
        """Posted when the learner opens another course."""

        def __init__(self, entry: CourseEntry) -> None:
            self.entry = entry
            super().__init__()

    class SelectedCourse(Message):
        """Posted when the cursor has moved to another course."""

        def __init__(self, entry: CourseEntry) -> None:
            self.entry = entry
            super().__init__()

    class Challenge(Message):
        """Posted when the learner opens the challenge of a lesson."""

        def __init__(self, lesson: LessonOutline) -> None:
            self.lesson = lesson
            super().__init__()

    class Review(Message):
        """Posted when the learner opens the next exercise that is due for review."""

    class Selected(Message):
        """Posted when the cursor has moved to a lesson."""

        def __init__(self, lesson: LessonOutline) -> None:
            self.lesson = lesson
            super().__init__()

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._terminal = terminal
        # What each line opens: the lesson, the id of the step, and the name of the tensor, if any.
        self._targets: list[tuple[LessonOutline, str, str]] = []
        self._courses: Sequence[CourseEntry] = ()
        self.list = LessonList(ellipsis=terminal.ellipsis, id="lessons")
        self._about = TextPane(ellipsis=terminal.ellipsis, id="about", indent=2)

    def compose(self) -> ComposeResult:
        """Compose the list of lessons and, beside it, the description of the selected one."""
        yield self.list
        yield self._about

    def show(self, source: MapContent, progress: Progress, others: Sequence[CourseEntry] = ()) -> None:
        """Show the lessons with the learner's progress, and other courses below them."""
        course = source.outline
        glyphs = GLYPHS if self._terminal.unicode else ASCII_GLYPHS
        lesson, step = milestones.current_step(course, progress)
        self._targets = [(lesson, step, "")]
        begun = progress.position() is not None
        word = say("continue", "Continue") if begun else say("start", "Start")
        text = f"{word}: {lesson.number}. {lesson.step(step).title}"
        entries = [LessonEntry(glyphs["continue"], text, strong=True)]
        for each in course.lessons:
            state, count, words = milestones.state_of(each, progress)
            entries.append(LessonEntry(glyphs[state], f"{each.number:2}. {each.title}", words, count))
            self._targets.append((each, milestones.first_open(each, progress), ""))
        self._courses = others
        for other in others:
            text = say("course", "Course: {title}", title=other.title)
            entries.append(LessonEntry(glyphs["course"], text, count=other.status))
        self.list.show(tuple(entries))

    def about(
        self,
        lesson: LessonOutline,
        progress: Progress,
        due: Sequence[tuple[LessonOutline, StepOutline]] = (),
    ) -> None:
        """Show what a lesson teaches, and which exercises of the course are due for review."""
        glyphs = GLYPHS if self._terminal.unicode else ASCII_GLYPHS
        text = Text()
        text.append(f"{lesson.number}. {lesson.title}\n\n", BOLD)
        text.append_text(rich_text(lesson.goal))
        text.append("\n")
        if lesson.corner is not None:
            text.append("\n")
            text.append_text(draw_thumbnail(lesson.corner, self._terminal))
            text.append("\n")
        named, states = {exercise.exercise for _, exercise in due}, progress.states()
        for step in lesson.main_steps:
            state: str = states.get((lesson.id, step.id), "new")
            if step.is_exercise and step.exercise in named:
                state = "due"
            text.append(f"\n{glyphs[state]} {step.title}", DIM if state == "done" else "")
            if step.is_exercise:
                # Its kind in words, with its number if it has one.
                text.append(f"   {NOUNS[step.noun].word()} {step.number}".rstrip(), EXERCISE)
                text.append(_state_in_words(state), DIM)
        if beside := len(lesson.steps) - len(lesson.main_steps):
            steps = say.count(
                "side-steps",
                beside,
                "and {count} side step, off the main path",
                "and {count} side steps, off the main path",
            )
            text.append(f"\n  {steps}", DIM)
        if lesson.challenge is not None and not milestones.tested_out(lesson, progress):
            know = say("know-all", "Know all this?")
            text.append(f"\n\n{know} {mention('map.challenge', say('try-challenge', 'try the challenge'))}", DIM)
        if due:
            text.append("\n\n" + say("due", "Due for review"), BOLD)
            text.append(f"   {mention('map.review', say('open-next', 'open the next one'))}", DIM)
            for lesson_due, exercise_due in due:
                text.append(f"\n{glyphs['due']} {lesson_due.number}. {exercise_due.title}")
        self._about.show(text)

    def about_course(self, entry: CourseEntry) -> None:
        """Show what another course is about, and what opening it means."""
        text = Text(f"{entry.title}\n\n", BOLD)
        if entry.about:
            text.append_text(rich_text(entry.about))
            text.append("\n\n")
        if entry.problem:
            text.append(say("course-unreadable", "It cannot be opened.") + f"\n{entry.problem}")
        elif not entry.allowed:
            text.append(say("course-asks", "Before it opens, you see what of it runs, and are asked."))
        else:
            text.append(say("course-done", "{done} of {steps} steps are done.", done=entry.done, steps=entry.steps))
        self._about.show(text)

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        if self.list.has_focus or not self._about.has_focus:
            parts = [hint("list.move"), hint("map.open"), hint("map.challenge")]
        else:
            parts = [hint("text.scroll"), hint("map.open"), hint("screen.pane", say("lessons", "lessons"))]
        return [*parts, hint("tutor.help"), hint("tutor.quit")]

    def move_pane(self, step: int) -> None:
        """Switch the focus between the list and the lesson's text, if that needs scrolling."""
        (self._about if self.list.has_focus else self.list).focus(scroll_visible=False)

    def next_pane(self) -> None:
        """Switch the focus between the list and the lesson's text, if that needs scrolling."""
        self.move_pane(1)

    def on_lesson_list_moved(self, event: LessonList.Moved) -> None:
        """Post the lesson that is now under the cursor."""
        entry = self._course_at(event.index)
        self.post_message(self.SelectedCourse(entry) if entry else self.Selected(self._targets[event.index][0]))

    def on_lesson_list_chosen(self, event: LessonList.Chosen) -> None:
        """Open the lesson that was clicked a second time."""
        entry = self._course_at(event.index)
        self.post_message(self.OpenCourse(entry) if entry else self.Open(*self._targets[event.index]))

    def action_open(self) -> None:
        """Open the lesson under the cursor, wherever the focus is."""
        self.list.action_choose()

    def action_challenge(self) -> None:
        """Open the challenge of the lesson under the cursor."""
        if self.selected is not None:
            self.post_message(self.Challenge(self.selected))

    def action_review(self) -> None:
        """Open the next exercise that is due for review."""
        self.post_message(self.Review())

    @property
    def selected(self) -> LessonOutline | None:
        """The lesson under the cursor, None before the course is shown and on the line of another course."""
        return self._targets[self.list.cursor][0] if self.list.cursor < len(self._targets) else None

    def _course_at(self, index: int) -> CourseEntry | None:
        """Return the course on a line of the list, None on that of a lesson."""
        below = index - len(self._targets)
        return self._courses[below] if 0 <= below < len(self._courses) else None


def draw_thumbnail(corner: Corner, terminal: Terminal) -> Text:
    """Draw a corner of a tensor as small colored cells without digits, below its name."""
    colors = palette(terminal)
    scale = colors.scale(corner.kind, corner.low, corner.high)
    shape = ("×" if terminal.unicode else "x").join(map(str, corner.shape))
    text = Text.assemble((corner.name, BOLD), (f"  {shape}", DIM))
    labels = [truncated(label, LABEL, terminal.ellipsis) for label in corner.labels] or [""] * len(corner.rows)
    width = max(map(cell_len, labels), default=0)
    for row, label in zip(corner.rows, labels, strict=True):
        text.append("\n" + " " * (width - cell_len(label)) + label + " ", DIM)
        for value in row:
            look = scale.look(value)
            text.append((" " if colors.colored else look.glyph) * CELL, look.style)
    return text
