"""The verb `watch`: judge a file each time it is saved, from any editor."""

from __future__ import annotations

import argparse
import contextlib
import queue
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson
from attn_tutor.lessons.learner import outcomes
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.drafts import is_cut_short
from attn_tutor.lessons.reading.folders import option_about, option_for
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.result import Judgement, WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.course_lookup import find_exercise, read_course
from attn_tutor.tui.commands.open_progress import open_progress, say_unsaved
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.commands.output import UsageError, print_now
from attn_tutor.tui.render import linear_text
from attn_tutor.tui.state.saved_file import Settling, create, look, read
from attn_tutor.tui.tty.exit_codes import ExitCode, ended_by

say = Wording("command/watch")

EVERY = 0.3
"""Seconds between looks at the file."""

PATIENCE = 5
"""The number of looks without a file before it is reported: an editor that renames leaves none for a moment."""

Say = Callable[[Iterable[str]], None]
"""A function that prints lines."""

Ending = Judgement | WorkerError | signal.Signals
"""How a watch ended: with the outcome of its one check, or with a signal."""

Event = signal.Signals | Future[Judgement]


def run(options: argparse.Namespace) -> int:
    """Watch the file until a signal ends it. Ctrl+C counts as success."""
    course = read_course(options)
    lesson, found = find_exercise(course, options.exercise)
    exercise = lesson.code_exercises.get(found.id)
    if exercise is None:
        raise UsageError(
            say(
                "question",
                "'{exercise}' is not answered with code, so there is no file to watch. Answer it in the tutor, or with "
                "'attn-tutor check {exercise} FILE{course}'.",
                exercise=options.exercise,
                course=option_for(lesson) or "",
            )
        )
    path = Path(options.file or f"{exercise.exercise}.py")
    with contextlib.closing(open_progress(course)) as progress, open_session() as session:
        watch = Watch(path, lesson, exercise, session, progress, print_now, once=options.once)
        try:
            watch.make()
        except OSError as error:
            raise UsageError(
                say("cannot-create", "{file} cannot be created: {reason}.", file=path, reason=error.strerror)
            ) from None
        except NotAFileError:
            raise UsageError(say("no-file", "{file} cannot be watched, because it is not a file.", file=path)) from None
        with contextlib.suppress(WorkerError):  # the first check says why it cannot be started
            session.start()
        with signals(watch.events):
            ending = watch.run()
    # After a hangup, nobody would read this.
    is_lost = ending is not signal.SIGHUP and not progress.saved and say_unsaved(progress, option_about(course))
    if isinstance(ending, Judgement) and is_lost:
        return ExitCode.FAILURE
    if isinstance(ending, Judgement):
        return ExitCode.OK if ending.passed else ExitCode.NOT_PASSED
    if isinstance(ending, WorkerError):
        return ExitCode.FAILURE
    if ending is not signal.SIGHUP:
        print_now([watch.farewell()])
    return ExitCode.OK if ending is signal.SIGINT else ended_by(ending)


class NotAFileError(Exception):
    """What is to be watched is a folder or a device."""


class Watch:
    """A file that is judged as the answer to an exercise each time it is saved.

    `events` also takes signals, from their handlers; the first signal ends the watch. With `once`, the first check ends
    it too.

    Attributes:
        is_draft: whether what was last in the file is also the draft.
    """

    def __init__(
        self,
        path: Path,
        lesson: Lesson,
        exercise: ExerciseStep,
        session: Session,
        progress: Progress,
        say: Say,
        *,
        once: bool = False,
        every: float = EVERY,
    ) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._path, self._lesson, self._exercise = path, lesson, exercise
        self._session, self._progress, self._say = session, progress, say
        self._once, self._every = once, every
        self._settling = Settling()
        self._made_with = ""
        self._missing = 0
        self._trouble = ""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="watch")
        self._running: tuple[Future[Judgement], str] | None = None
        self._next: str | None = None
        self._saved: str | None = None
        """The draft that came from the file, or went into it."""
        self.is_draft = True

    def make(self) -> None:
        """Make the file if there is none, with the learner's draft or the starter.

        Raises:
            OSError: The file cannot be made.
            NotAFileError: There is something else than a file.
        """
        draft = self._progress.draft(self._exercise.exercise)
        fingerprint = create(self._path, draft or self._exercise.starter)
        if fingerprint is not None:
            # A file that was just made is not judged, because nobody has worked on it.
            self._settling = Settling(fingerprint)
            self._made_with = "draft" if draft else "starter"
            self._saved = draft
        elif self._path.exists() and not self._path.is_file():
            raise NotAFileError

    def run(self) -> Ending:
        """Look, judge and report until a signal comes, or until one check is done."""
        following = time.monotonic()
        self._progress.on_saved = self._tell_problem
        try:
            self._say(self._greeting())
            while True:
                try:
                    event = self.events.get(timeout=max(0.0, following - time.monotonic()))
                except queue.Empty:
                    following = time.monotonic() + self._every
                    self._look()
                    continue
                if isinstance(event, signal.Signals):
                    return event
                ending = self._finished(event)
                if ending is not None and self._once:
                    return ending
        finally:
            self._progress.on_saved = None
            self._session.close()
            self._thread.shutdown(cancel_futures=True)

    def _greeting(self) -> Iterator[str]:
        if self._made_with == "draft":
            yield say("made-with-draft", "{file} was created with your draft.", file=self._name)
        elif self._made_with:
            yield say("made-with-starter", "{file} was created with the starter code.", file=self._name)
        if not self._once:
            yield say("each-time", "{file} is checked each time you save it. Press Ctrl+C to stop.", file=self._name)
        elif self._made_with:
            yield say("next-time", "It will be checked when you save it.")

    def farewell(self) -> str:
        """Say at the end where the code is."""
        if self.is_draft and self._progress.saved:
            return say(
                "ended", "Your code is in {file}, and it is also your draft in the tutor.", file=self._path.absolute()
            )
        return say("ended-alone", "Your code is in {file}.", file=self._path.absolute())

    def _tell_problem(self) -> None:
        """Report that progress cannot be saved, or that it can be again."""
        self._say([self._progress.problem or say("saved-again", "Your progress is saved again.")])

    @property
    def _name(self) -> str:
        return clean(str(self._path), keep="")

    def _look(self) -> None:
        """Judge the file if it was saved."""
        if self._running is not None and self._next is not None:
            # The check was asked to stop earlier, but that has no effect on a check that has not started yet.
            self._session.cancel()
        found = look(self._path)
        self._missing = 0 if found else self._missing + 1
        if self._missing == PATIENCE:
            self._say([say("gone", "{file} is gone. It will be checked again when it is back.", file=self._name)])
        if found is None or not self._settling.settled(found):
            return
        try:
            code = read(self._path, found)
        except OSError as error:
            self._tell_trouble(
                say("cannot-read", "{file} cannot be read: {reason}.", file=self._name, reason=error.strerror)
            )
            return
        if code is not None:
            self._trouble = ""
            self._settling.judge(found)
            self._judge(code)

    def _tell_trouble(self, sentence: str) -> None:
        """Report what is wrong with the file once, not at each look."""
        if sentence != self._trouble:
            self._say([sentence])
        self._trouble = sentence

    def _judge(self, code: str) -> None:
        """Judge code in place of what is being judged now."""
        self._keep(code)
        if self._running is not None:
            self._next = code
            self._session.cancel()
            return
        self._say(["", f"== {datetime.now():%H:%M:%S}  {self._name}"])
        if not self._once and code.strip() == self._exercise.starter.strip():
            self._say([say("still-starter", "This is still the starter code, so it was not checked.")])
            return
        if not self._session.ready:
            self._say([say("loading", "PyTorch is still loading. Your code will be checked after that.")])
        future = self._thread.submit(self._check, code)
        self._running = future, code
        future.add_done_callback(self.events.put)

    def _check(self, code: str) -> Judgement:
        # Wait first, so that the duration in the verdict is that of the judging alone.
        self._session.wait_ready()
        return self._session.check(self._exercise, code)

    def _finished(self, future: Future[Judgement]) -> Judgement | WorkerError | None:
        """Report the outcome of a check and return it, None if the file has changed, so that the next check counts."""
        assert self._running is not None
        _, code = self._running
        self._running = None
        ending = self._tell(future, code)
        if self._next is None:
            return ending
        following, self._next = self._next, None
        self._judge(following)
        return None

    def _tell(self, future: Future[Judgement], code: str) -> Judgement | WorkerError:
        """Record the outcome of a check and report it."""
        try:
            judgement = future.result()
        except WorkerError as error:
            self._say([say("not-checked", "Your code could not be checked: {reason}", reason=str(error))])
            return error
        if judgement.stopped:
            self._say([say("stopped", "This check was stopped, because the file has changed in the meantime.")])
            return judgement
        shown, held_back = outcomes.symptoms_of_first_check(self._progress, self._exercise, judgement)
        more = outcomes.record_outcome(self._progress, self._lesson, self._exercise, code, judgement) or held_back
        self._say(linear_text.judgement(shown, more))
        return judgement

    def _keep(self, code: str) -> None:
        """Save the code as the learner's draft. If that replaces different code, or only cuts it short, archive that.

        An editor that finds the disk full may have emptied the file before it wrote, so an empty file is no draft.
        """
        name = self._exercise.exercise
        draft = self._progress.open_draft(name)
        self.is_draft = bool(code.strip())
        if not self.is_draft:
            self._say([say("empty", "{file} is empty. Your draft in the tutor stays as it was.", file=self._name)])
            return
        replaced = draft.code not in (None, code, self._exercise.starter)
        if draft.code is not None and replaced and (draft.code != self._saved or is_cut_short(draft.code, code)):
            self._progress.archive(name, draft.code, "watch")
        self._progress.save_draft(name, code, draft.version)
        # As the progress stores it: without bytes that are not text.
        self._saved = code.encode("utf-8", "replace").decode()


@contextlib.contextmanager
def signals(events: queue.SimpleQueue[Event]) -> Iterator[None]:
    """Turn the signals that end a program into events. A second signal ends the program at once, as usual."""
    before: dict[int, Any] = {}

    def tell(number: int, _: object) -> None:
        signal.signal(number, before[number])
        events.put(signal.Signals(number))

    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        handler = signal.getsignal(each)
        # Whoever started this may want it to outlive its terminal (`nohup`).
        if handler is not signal.SIG_IGN:
            before[each] = handler
            signal.signal(each, tell)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
