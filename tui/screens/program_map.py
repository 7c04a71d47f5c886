"""The list of a program's tensors, which takes the place of the course map: files and functions, with their pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from lessons.texts.wording import Wording
from tui.actions.hints import hint
from tui.screens.map_view import MapView
from tui.widgets.lesson_list import LessonEntry

if TYPE_CHECKING:
    from lessons.learner.progress import Progress
    from lessons.reading.course_outline import CourseOutline, LessonOutline, StepOutline

say = Wording("screen/program")

BOLD = Style(bold=True)


class ProgramMap(MapView):
    """One line for each page of tensors; what is described is the family that a page belongs to."""

    def show(self, course: CourseOutline, progress: Progress) -> None:
        """Show the pages of a program: each lesson of the outline is one of its files or functions."""
        entries: list[LessonEntry] = []
        self._targets = []
        position = progress.position()
        for family in course.lessons:
            for step in family.steps:
                here = position is not None and position[1] == step.id
                entries.append(
                    LessonEntry("▶" if here and self._terminal.unicode else ">" if here else " ", step.title)
                )
                self._targets.append((family, step.id))
                if here:
                    self.list.cursor = len(entries) - 1
        self.list.show(tuple(entries))

    def about(
        self,
        lesson: LessonOutline,
        progress: Progress,
        due: Sequence[tuple[LessonOutline, StepOutline]] = (),
    ) -> None:
        """Describe the tensors of a family, with their shapes and where they were named."""
        text = Text(f"{lesson.title}\n\n", BOLD)
        text.append(lesson.goal)
        self._about.show(text)

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        return [hint("list.move"), hint("map.open"), hint("tutor.help"), hint("tutor.quit")]

    def action_challenge(self) -> None:
        """Do nothing: a program has no challenge."""

    def action_review(self) -> None:
        """Do nothing: a program has nothing to review."""
