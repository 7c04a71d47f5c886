"""The help that a learner gets with exercises: hints, and the model answer after passing or giving up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attn_tutor.lessons.texts.wording import Wording

if TYPE_CHECKING:
    from attn_tutor.lessons.format.lesson import ExerciseStep
    from attn_tutor.lessons.learner.progress import Progress

say = Wording("exercise/help")


class ExerciseHelp:
    """The help with the exercise that is open, as the progress records it and as this session changes it.

    An exercise under review is treated as if it had been neither passed nor given up.

    Attributes:
        hints: how many hints the learner has read.
        gives_up_next: whether the next request for help gives up, because all hints have been read.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._step: ExerciseStep | None = None
        self._under_review: set[str] = set()
        # Exercises given up since the tutor was opened, also while they were under review.
        self._gave_up: set[str] = set()
        self.hints = 0
        self.gives_up_next = False

    def begin_review(self, step: ExerciseStep) -> bool:
        """Put a passed exercise under review; return False if it has not been passed, or is under review already."""
        if not self._progress.passed(step.exercise) or step.exercise in self._under_review:
            return False
        self._under_review.add(step.exercise)
        return True

    def open(self, step: ExerciseStep) -> None:
        """Start with the hints that the learner has read; for a review, with none."""
        self._step, self.gives_up_next = step, False
        self.hints = 0 if self.under_review else self._progress.hints_used(step.exercise)

    @property
    def _name(self) -> str:
        return self._step.exercise if self._step is not None else ""

    @property
    def under_review(self) -> bool:
        """Whether the exercise is under review."""
        return self._name in self._under_review

    @property
    def hints_left(self) -> bool:
        """Whether there are hints that the learner has not read."""
        return self._step is not None and self.hints < len(self._step.hints)

    @property
    def solution_is_open(self) -> bool:
        """Whether the model answer may be seen, after passing or giving up."""
        if self._name in self._gave_up:
            return True
        return not self.under_review and (self._progress.passed(self._name) or self._progress.gave_up(self._name))

    @property
    def gave_up(self) -> bool:
        """Whether the model answer may be seen only because the learner has given up."""
        by_choice = self._name in self._gave_up or not self._progress.passed(self._name)
        return self._progress.gave_up(self._name) and by_choice

    @property
    def next(self) -> str:
        """The next help in a few words: a hint, giving up, or the model answer."""
        if self._step is None or (self.hints_left and not self.solution_is_open):
            return say("hint", "hint")
        if not self.solution_is_open:
            return say("give-up", "give up")
        return say("why-works", "why it works") if self._progress.passed(self._name) else say("solution", "solution")

    def use_hint(self) -> None:
        """Record that the learner reads one more hint."""
        self.hints += 1
        self._progress.use_hint(self._name, self.hints)

    def use_solution(self) -> None:
        """Record that the learner reads the model answer."""
        self.gives_up_next = False
        self._progress.use_solution(self._name)

    def give_up(self, code: str) -> None:
        """Record that the learner gives up, and archive their code."""
        self._progress.archive(self._name, code, "gave-up")
        self._progress.give_up(self._name)
        self._gave_up.add(self._name)

    def take_back_give_up(self) -> None:
        """Record that the learner has not given up after all."""
        self._progress.take_back_give_up(self._name)
        self._gave_up.discard(self._name)

    def forget(self, exercise: str) -> None:
        """Forget that an exercise is under review or was given up, because it has been passed now."""
        self._under_review.discard(exercise)
        self._gave_up.discard(exercise)
