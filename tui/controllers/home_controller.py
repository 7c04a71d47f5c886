"""The controller of what a learner takes home: offers it, writes it, and says where."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial

from textual.widget import Widget

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.results.result import Tensor, WorkerError
from attn_tutor.lessons.takehome import home_files, learner_work
from attn_tutor.lessons.takehome.home_files import FILES, HomeFile, NothingToTake
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.controllers.frame import HOME, Frame, LearningState
from attn_tutor.tui.screens.home_view import HomeView
from attn_tutor.tui.sources.source import Source
from attn_tutor.tui.state import home_offers
from attn_tutor.tui.state.home_offers import PROGRESS, SCREEN, ExportedFiles, HomeOffer, NotWritten
from attn_tutor.tui.tty.screen_picture import ScreenPicture
from attn_tutor.tui.widgets.matrix import MatrixView

say = Wording("screen/home-controller")

NICE = 5
"""How much a worker that runs the whole course gives way to the one that runs the learner's step."""


class HomeController:
    """Offers the matrix under the cursor, the screen, and what the learner read and wrote; writes what they choose."""

    def __init__(self, frame: Frame, source: Source, state: LearningState, view: HomeView) -> None:
        self._frame, self._source, self._state, self._view = frame, source, state, view
        self._files = ExportedFiles()
        self._picture: ScreenPicture | None = None
        self._tensor: Tensor | None = None
        self._running = False
        view.on_take, view.on_close = self.take, self.toggle
        self._restore: Callable[[], None] = lambda: None

    def toggle(self) -> None:
        """Show what can be taken home, or go back from there."""
        if self._frame.view_id == HOME:
            self._restore()
            return
        self._tensor = self._tensor_here()
        self._picture = self._frame.picture()
        offers, remark = [home_offers.of_screen()], ""
        if self._tensor is not None:
            offers = [*home_offers.of_matrix(self._tensor), *offers]
            remark = "" if self._tensor.values is not None else home_offers.why_no_matrix(self._tensor)
        if self._source.course is not None:
            offers += home_offers.of_course(self._source.course)
        self._restore = self._frame.cover(self._view)
        self._view.open(offers, self._files.proposed, remark)
        self._frame.show_lines()

    def _tensor_here(self) -> Tensor | None:
        """Return the tensor under the cursor, without numbers that are hidden; else the first that is shown."""
        focused = self._frame.focused
        if isinstance(focused, MatrixView):
            return focused.tensor
        view = self._frame.view
        assert isinstance(view, Widget)
        return next(_tensors_of(view), None)

    def take(self, offer: HomeOffer, file: str) -> None:
        """Write an offer to a file; what has to be run for it first is run by a worker of its own."""
        try:
            self._files.check(file)
            if offer.kind not in FILES:
                self._say_written(self._files.write(file, self._text_of(offer.kind)))
            elif self._running:
                self._view.tell(say("one-at-a-time", "Another file is being written. Wait for it, then try again."))
            else:
                self._frame.start(partial(self._run, offer.kind, file), "home")
        except NotWritten as error:
            self._view.tell(str(error))

    def _text_of(self, kind: str) -> str:
        """Return the text of a file for which nothing has to be run."""
        if kind == SCREEN:
            assert self._picture is not None
            return self._picture.svg()
        if kind == PROGRESS:
            return home_offers.progress_text(self._state.learning.progress)
        assert self._tensor is not None
        return home_offers.matrix_text(kind, self._tensor)

    async def _run(self, kind: str, file: str) -> None:
        """Run what a file needs, in a thread, and write it; leaving the tutor ends that."""
        self._running = True
        loop, course = asyncio.get_running_loop(), self._source.course
        assert course is not None
        work = learner_work.read_work(self._state.learning.progress, course)

        def on_line(text: str) -> None:
            loop.call_soon_threadsafe(self._view.tell, text)

        def run(session: Session) -> HomeFile:
            return home_files.take(kind, session, course, work, on_line=on_line)

        self._view.tell(say("starting", "Starting PyTorch for it. You can go on meanwhile."))
        try:
            with closing(Session(nice=NICE)) as session:
                taken = await asyncio.to_thread(run, session)
            path = await asyncio.to_thread(self._files.write, file, taken.text)
        except (NothingToTake, WorkerError, NotWritten) as error:
            self._view.tell(str(error))
            if self._frame.view_id != HOME:
                self._frame.notify(str(error), "warning", timeout=10)
        else:
            self._say_written(path, " ".join(taken.about))
        finally:
            self._running = False

    def _say_written(self, path: object, about: str = "") -> None:
        text = say("written", "Written: {file}", file=path)
        self._view.tell("\n".join(filter(None, (text, about))))
        if self._frame.view_id != HOME:
            self._frame.notify(text, timeout=15)


def _tensors_of(view: Widget) -> Iterator[Tensor]:
    """Yield the tensors that a view shows, without numbers that are hidden."""
    for matrix in view.query(MatrixView):
        if matrix.display and matrix.tensor is not None:
            yield matrix.tensor
