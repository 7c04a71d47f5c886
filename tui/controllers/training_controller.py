"""The controller of trainings: starts, pauses and resumes them, and shows their snapshots as they arrive."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from functools import partial

from attn_tutor.lessons.play.step import TrainingModel
from attn_tutor.lessons.play.training_replay import TrainingReplay
from attn_tutor.lessons.results.result import Failure, Training, TrainingSnapshot, WorkerError
from attn_tutor.tui.controllers.frame import Frame, LearningState
from attn_tutor.tui.controllers.step_controller import RUNS, StepController
from attn_tutor.tui.screens.training_view import TrainingView


class TrainingController:
    """The controller of the training of a step."""

    def __init__(self, frame: Frame, state: LearningState, steps: StepController) -> None:
        self._frame, self._async_session, self._steps = frame, state.async_session, steps

    def go(self, view: TrainingView) -> None:
        """Start, pause or resume the training that a view shows, whichever applies."""
        replay = view.replay
        if replay.state in ("starting", "running"):
            self._async_session.pause()
            replay.pause()
        elif replay.state == "paused":
            self._async_session.resume()
            replay.resume()
        elif not replay.busy:
            # In the same group as runs, so that the next run stops the training.
            self._frame.start(partial(self._train, view, view.model), RUNS)
        view.changed()

    async def _train(self, view: TrainingView, model: TrainingModel) -> None:
        """Run the training of a step with the learner's changes, and show its snapshots as they arrive."""
        loop, replay = asyncio.get_running_loop(), model.begin()
        context = contextvars.copy_context()

        def take(snapshot: TrainingSnapshot) -> None:
            # Called from a thread that does not have the context of the app, perhaps after the app has ended.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self.add, view, replay, snapshot, context=context)

        view.show_started(replay)
        self._frame.show_keys()
        outcome = Training((), stopped=True)
        try:
            outcome = await self._async_session.train(model.lesson, model.step.id, take, replay.changes)
        except ValueError as error:  # a change that cannot be made
            outcome = Training((), Failure("error", str(error)))
        except WorkerError as error:
            self._frame.problem = str(error)
            outcome = Training((), Failure("crash", str(error)))
        finally:
            model.end(replay, outcome)
            view.show_ended(replay, model.replay)
            self._frame.show_lines()
        if replay.state == "trained" and self._steps.model is model:
            self._steps.run()

    def add(self, view: TrainingView, replay: TrainingReplay, snapshot: TrainingSnapshot) -> None:
        """Add a snapshot to a training, and show it if the training is still in view."""
        replay.add(snapshot)
        view.show_snapshot(replay)
