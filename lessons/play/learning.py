"""What a learner works with, whoever shows it: the course, their progress, and what is known of its steps."""

from __future__ import annotations

from dataclasses import dataclass, field

from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.course_path import HasLessons
from attn_tutor.lessons.play.drafts import Drafts
from attn_tutor.lessons.play.exercise_help import ExerciseHelp
from attn_tutor.lessons.play.step_results import StepResults, TrainingReplays


@dataclass(frozen=True, slots=True)
class Learning:
    """What a learner works with.

    Attributes:
        results, replays: the results of steps and trainings that are known so far.
        drafts, help: the learner's code, and the help that they had with it.
        under_review: questions that are asked again as if they had not been answered.
    """

    course: HasLessons
    progress: Progress
    results: StepResults
    replays: TrainingReplays
    drafts: Drafts
    help: ExerciseHelp
    under_review: set[str] = field(default_factory=set)

    @classmethod
    def begin(cls, course: HasLessons, progress: Progress, results: StepResults | None = None) -> Learning:
        """Return the state in which a learner opens a course, by default with its recorded results."""
        return cls(
            course, progress, results or StepResults(), TrainingReplays(), Drafts(progress), ExerciseHelp(progress)
        )
