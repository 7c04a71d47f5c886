"""The learner's code as one screen edits it: the draft in the editor, and code that is offered in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attn_tutor.lessons.learner.records import DAMAGED, OTHER_SESSION

if TYPE_CHECKING:
    from attn_tutor.lessons.format.lesson import ExerciseStep
    from attn_tutor.lessons.learner.progress import Progress
    from attn_tutor.lessons.learner.records import ArchivedCode


def is_cut_short(before: str, code: str) -> bool:
    """Return whether code is only the beginning of what was there before, perhaps up to the middle of a character."""
    whole, cut = (text.rstrip().encode("utf-8", "surrogateescape") for text in (before, code))
    return len(cut) < len(whole) and whole.startswith(cut)


class Drafts:
    """The drafts of all exercises, each with the version that the editor has shown or saved last."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._seen: dict[str, str] = {}

    def open(self, step: ExerciseStep) -> str:
        """Return the code to edit: the newest draft, or the starter."""
        draft = self._progress.open_draft(step.exercise)
        self._seen[step.exercise] = draft.version
        return step.starter if draft.code is None else draft.code

    def is_newest(self, exercise: str) -> bool:
        """Return whether no other session has saved the exercise since it was opened or saved here."""
        return self._progress.open_draft(exercise).version == self._seen.get(exercise, "")

    def save(self, exercise: str, code: str) -> None:
        """Save the code in the editor, which is based on the version that was opened or saved last."""
        self._seen[exercise] = self._progress.save_draft(exercise, code, self._seen.get(exercise, ""))

    def save_edited(self, exercise: str, before: str, code: str) -> None:
        """Save code that a program has left in a file; what it cuts short, as on a full disk, is archived."""
        if is_cut_short(before, code):
            self.archive(exercise, before)
        self.save(exercise, code)

    def begin_again(self, step: ExerciseStep) -> None:
        """Replace the draft by the starter for a review; the draft is archived."""
        draft = self._progress.open_draft(step.exercise)
        if draft.code is not None and draft.code != step.starter:
            self._progress.archive(step.exercise, draft.code, "review")
            self._seen[step.exercise] = self._progress.save_draft(step.exercise, step.starter, draft.version)

    def last_archived(self, exercise: str) -> str | None:
        """Return the code that was replaced last."""
        archived = self._progress.archived(exercise)
        return archived[-1].code if archived else None

    def archive(self, exercise: str, code: str) -> None:
        """Archive code that the learner removes from the editor, once."""
        if all(each.code != code for each in self._progress.archived(exercise)):
            self._progress.archive(exercise, code, "reset")

    def offered(self, exercise: str, code: str) -> ArchivedCode | None:
        """Return the code that another session has written, or the last that is whole where the disk has changed it.

        None if the learner has dealt with it since.
        """
        archived = self._progress.archived(exercise)
        if not archived or archived[-1].why not in (OTHER_SESSION, DAMAGED) or self._progress.passed(exercise):
            return None
        return archived[-1] if archived[-1].code != code else None
