"""Progress as the screen sees it: read once, written from a thread, the newest draft only."""

from __future__ import annotations

import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lessons.learner import review
from lessons.learner.progress import GAVE_UP, HINT, RANK, SOLUTION, TOOK_BACK, Attempt, Help, Progress, State
from lessons.results.result import Verdict


class ProgressStore:
    """What the learner has done, at hand for drawing; every change goes to the database at once, off the event loop."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="progress")
        self._drafts: dict[str, str] = {}
        self._passed: set[str] = set()
        self._waiting: set[str] = set()
        self._kept: dict[str, str] = {}
        self._help = progress.help()
        self._attempts: dict[str, list[Attempt]] = {}
        for exercise, attempt in progress.history():
            self._count(exercise, attempt)
        self.states: dict[tuple[str, str], str] = dict(progress.states())
        self.position = progress.position()

    @property
    def problem(self) -> str | None:
        """What the learner should know about where their progress is kept, if there is anything."""
        return self._progress.problem

    @property
    def saved(self) -> bool:
        """Whether everything is on disk."""
        return self._progress.saved

    def state(self, lesson: str, step: str) -> str:
        """new, seen, skipped or done."""
        return self.states.get((lesson, step), "new")

    def visit(self, lesson: str, step: str) -> None:
        """The learner is at this step now."""
        self.position = (lesson, step)
        self._thread.submit(self._progress.set_position, lesson, step)
        self.mark(lesson, step, "seen")

    def mark(self, lesson: str, step: str, state: State) -> None:
        """Set a step's state, which only rises: done stays done, and skipped until it is done."""
        if RANK[state] <= RANK[self.state(lesson, step)]:
            return
        self.states[lesson, step] = state
        self._thread.submit(self._progress.set_state, lesson, step, state)

    def draft(self, exercise: str) -> str | None:
        """The learner's code for an exercise."""
        if exercise in self._drafts:
            return self._drafts[exercise]
        return self._progress.draft(exercise)

    def save_draft(self, exercise: str, code: str) -> None:
        """Keep the learner's code. While one version is being written, only the newest waits."""
        self._drafts[exercise] = code
        if exercise not in self._waiting:
            self._waiting.add(exercise)
            self._thread.submit(self._write_draft, exercise)

    def _write_draft(self, exercise: str) -> None:
        # Before it is read: a change that comes meanwhile queues a write of its own.
        self._waiting.discard(exercise)
        self._progress.save_draft(exercise, self._drafts[exercise])

    def keep(self, exercise: str, code: str, why: str) -> None:
        """Keep code that something else is about to replace; `why` as in `lessons.learner.progress.ArchivedCode`."""
        self._kept[exercise] = code
        self._thread.submit(self._progress.keep, exercise, code, why)

    def last_kept(self, exercise: str) -> str | None:
        """The newest code of an exercise that something else took the place of."""
        if exercise in self._kept:
            return self._kept[exercise]
        kept = self._progress.kept(exercise)
        return kept[-1].code if kept else None

    def add_attempt(self, exercise: str, code: str, verdict: Verdict, mistake: str = "", message: str = "") -> None:
        """Keep what was checked, the verdict, the ids of the mistakes that were named, and the sentence."""
        if verdict == "passed":
            self._passed.add(exercise)
        self._count(exercise, Attempt("", verdict, _now(), mistake, message))
        self._thread.submit(self._progress.add_attempt, exercise, code, verdict, mistake, message)

    def _count(self, exercise: str, attempt: Attempt) -> None:
        # Of all the code only what is asked for is read.
        self._attempts.setdefault(exercise, []).append(replace(attempt, code=""))

    def passed(self, exercise: str) -> bool:
        """Whether the exercise was ever passed."""
        return exercise in self._passed or self._progress.passed(exercise)

    def hints_used(self, exercise: str) -> int:
        """How many hints of an exercise the learner has read."""
        return self._help_with(exercise).hints

    def use_hint(self, exercise: str, n: int) -> None:
        """The learner has read the hints of an exercise up to the `n`-th, from 1."""
        if n > self.hints_used(exercise):
            self._take_help(exercise, f"{HINT}{n}")
            self._thread.submit(self._progress.use_hint, exercise, n)

    def gave_up(self, exercise: str) -> bool:
        """Whether the learner has given up on an exercise, and not taken it back."""
        return self._help_with(exercise).gave_up

    def give_up(self, exercise: str) -> None:
        """The learner gives up on an exercise."""
        self._take_help(exercise, GAVE_UP)
        self._thread.submit(self._progress.give_up, exercise)

    def take_back_give_up(self, exercise: str) -> None:
        """The learner goes on with an exercise after all."""
        if self.gave_up(exercise):
            self._take_help(exercise, TOOK_BACK)
            self._thread.submit(self._progress.take_back_give_up, exercise)

    def solution_used(self, exercise: str) -> bool:
        """Whether the learner has read the solution of an exercise."""
        return self._help_with(exercise).solution

    def use_solution(self, exercise: str) -> None:
        """The learner has read the solution of an exercise."""
        if not self.solution_used(exercise):
            self._take_help(exercise, SOLUTION)
            self._thread.submit(self._progress.use_solution, exercise)

    def _take_help(self, exercise: str, kind: str) -> None:
        self._help[exercise] = self._help_with(exercise).then(kind, _now())

    def _help_with(self, exercise: str) -> Help:
        return self._help.get(exercise, Help())

    def is_due(self, exercise: str) -> bool:
        """Whether an exercise that was missed is to be done again now."""
        attempts = self._attempts.get(exercise, ())
        return review.is_due(attempts, self._help_with(exercise).give_ups, datetime.now(UTC))

    def export(self) -> Path:
        """Write everything to a new file in the directory for temporary files, and say which. Raises `OSError`."""
        # What still waits to be written belongs to it; once it is closed nothing does.
        with suppress(RuntimeError):
            self._thread.submit(lambda: None).result()
        data = json.dumps(self._progress.export(), indent=1)
        with tempfile.NamedTemporaryFile("w", prefix="attn-tutor-progress-", suffix=".json", delete=False) as file:
            file.write(data)
        return Path(file.name)

    def close(self) -> None:
        """Write what is still to be written."""
        self._thread.shutdown(wait=True)
        self._progress.close()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
