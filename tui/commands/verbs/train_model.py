"""The verb `train`: train the model of a lesson, with a line for each snapshot."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Sequence

from attn_tutor.lessons.engine import replies
from attn_tutor.lessons.format.lesson import Lesson, TrainStep
from attn_tutor.lessons.learner import trained_models
from attn_tutor.lessons.play.training_replay import TrainingReplay
from attn_tutor.lessons.reading.folders import option_for
from attn_tutor.lessons.results import floats
from attn_tutor.lessons.results.result import Failure, TrainingSnapshot
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if import changes
from attn_tutor.lessons.what_if.changes import Changes
from attn_tutor.tui.commands import documents
from attn_tutor.tui.commands.course_lookup import find_lesson, read_course
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.commands.output import UsageError, print_error, print_json, print_lines, print_now
from attn_tutor.tui.drawings import training_drawing
from attn_tutor.tui.tty import clean_output
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/train")


def run(options: argparse.Namespace) -> ExitCode:
    """Train, print the progress, and keep the model for later steps."""
    lesson = find_lesson(read_course(options), options.lesson)
    try:
        wanted = changes.parse(lesson, options.set)
    except changes.ChangeError as error:
        raise UsageError(str(error)) from None
    step = _step(lesson, options.step, wanted)
    reporter = _Reporter(step, as_json=options.json)
    with open_session() as session, reporter:
        ended = session.train(lesson, step.id, reporter.report, None, wanted)
    seconds = reporter.replay.seconds
    trained = ended.error is None and not ended.stopped
    if options.json:
        entry = {"event": "end", "step": step.id, "trained": trained, "seconds": round(seconds, 3)}
        print_json(entry | {"error": documents.failure(ended.error)})
    elif ended.error is not None:
        print_error(_stopped(ended.error))
    elif trained:
        settings = (part for each in options.set or () for part in ("--set", each))
        command = shlex.join(["attn-tutor", "run", lesson.id, *settings]) + (option_for(lesson) or "")
        trained_in = say(
            "trained",
            "'{step}' was trained in {time}. From now on, '{command}' uses the result.",
            step=step.id,
            time=training_drawing.seconds(seconds),
            command=command,
        )
        print_lines([trained_in])
    return ExitCode.OK if trained else ExitCode.NOT_PASSED


def _stopped(error: Failure) -> str:
    """Say why a training did not come to its end."""
    if error.line:
        return say(
            "stopped-at-line",
            "The training stopped early, at line {line}: {error}",
            line=error.line,
            error=error.message,
        )
    return say("stopped", "The training stopped early: {error}", error=error.message)


class _Reporter:
    """Prints the snapshots of a training as JSON or as lines; on a terminal, each line replaces the previous one."""

    def __init__(self, step: TrainStep, *, as_json: bool) -> None:
        self.replay = TrainingReplay(state="starting")
        self._step, self._as_json = step, as_json
        self._overwrites = sys.stdout.isatty() and not as_json

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        """End the line that is being replaced."""
        if self._overwrites and self.replay.snapshots:
            print()

    def report(self, snapshot: TrainingSnapshot) -> None:
        """Print a snapshot."""
        self.replay.add(snapshot)
        if self._as_json:
            numbers = {name: floats.json_number(value) for name, value in snapshot.numbers.items()}
            print_json({"event": "snapshot", "done": snapshot.done, "total": snapshot.total, "numbers": numbers})
            sys.stdout.flush()
            return
        line = training_drawing.snapshot_line(self.replay, snapshot, self._step.curves)
        if self._overwrites:
            width = shutil.get_terminal_size().columns - 1
            clean_output.command("\r")
            print(line[:width].ljust(width), end="", flush=True)
        else:
            print_now([line])


def _step(lesson: Lesson, name: str | None, wanted: Changes) -> TrainStep:
    """Return the step of this name that trains, or the default step without a name. Raises `UsageError`."""
    steps = lesson.trainings
    if not steps:
        raise UsageError(say("nothing-to-train", "Lesson '{lesson}' has nothing to train.", lesson=lesson.id))
    if name is None:
        return _default_step(lesson, list(steps.values()), wanted)
    if name not in steps:
        known = ", ".join(steps)
        raise UsageError(
            say(
                "no-step",
                "Lesson '{lesson}' has no step '{step}' that trains a model. The steps that do are: {known}",
                lesson=lesson.id,
                step=name,
                known=known,
            )
        )
    return steps[name]


def _default_step(lesson: Lesson, steps: Sequence[TrainStep], wanted: Changes) -> TrainStep:
    """Return the first step that the changes reach and that the learner has not trained; else the first they reach."""
    altered, cells = changes.apply(lesson, wanted), replies.cells_of(lesson, wanted)

    def reached(step: TrainStep) -> bool:
        return trained_models.key(altered, altered.trainings[step.id], cells) != trained_models.key(lesson, step)

    meant = [step for step in steps if reached(step)] or steps
    return next(
        (step for step in meant if trained_models.find(altered, altered.trainings[step.id], cells).origin != "own"),
        meant[0],
    )
