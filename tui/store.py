"""Progress as the screen sees it: read once, written from a thread, the newest draft only."""

from __future__ import annotations

import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from lessons.progress import Progress


class Store:
    """What the learner has done, at hand for drawing; every change goes to the database at once, off the event loop."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="progress")
        self._drafts: dict[str, str] = {}
        self._passed: set[str] = set()
        self._waiting: set[str] = set()
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
        """new, seen or done."""
        return self.states.get((lesson, step), "new")

    def visit(self, lesson: str, step: str) -> None:
        """The learner is at this step now."""
        self.position = (lesson, step)
        self._thread.submit(self._progress.set_position, lesson, step)
        self.mark(lesson, step, "seen")

    def mark(self, lesson: str, step: str, state: str) -> None:
        """Set a step's state; done stays done."""
        if self.state(lesson, step) in (state, "done"):
            return
        self.states[lesson, step] = state
        self._thread.submit(self._progress.set_state, lesson, step, "done" if state == "done" else "seen")

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

    def add_attempt(self, exercise: str, code: str, verdict: str) -> None:
        """Keep what was checked and the verdict."""
        if verdict == "passed":
            self._passed.add(exercise)
        self._thread.submit(self._progress.add_attempt, exercise, code, verdict)  # type: ignore[arg-type]

    def passed(self, exercise: str) -> bool:
        """Whether the exercise was ever passed."""
        return exercise in self._passed or self._progress.passed(exercise)

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
