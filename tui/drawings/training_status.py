"""A training in words: the line above its curves, the header of its matrices, a line for each snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attn_tutor.lessons.format.steps import Curve
from attn_tutor.lessons.play.training_replay import TrainingReplay
from attn_tutor.lessons.results.result import TrainingSnapshot
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import mention
from attn_tutor.tui.drawings.curve import number

say = Wording("training/status")

GAP = "   "


@dataclass(frozen=True, slots=True)
class TrainingStatus:
    """The status line: the fraction of the bar that is full (None: no bar), a message, and the current snapshot.

    `short` replaces the message where there is no room for it.
    """

    share: float | None
    message: str
    current: str
    short: str = ""


def training_status(replay: TrainingReplay, about: float | None = None) -> TrainingStatus:
    """Describe the status of a training.

    Args:
        replay: The training.
        about: Seconds that such a training took before, None if unknown.
    """
    steps, current = _steps(replay.done, replay.total), _current(replay)
    share = replay.done / replay.total if replay.total else 0.0
    passed = seconds(replay.seconds)
    match replay.state:
        case "recorded":
            recorded = say("recorded", "recorded")
            took = say("recorded-in", "recorded in {time}", time=passed) if replay.seconds else recorded
            train = mention("training.go", say("train-here", "train it here"))
            again = train
            if lasts := about or (replay.seconds if replay.untouched else None):
                again = mention("training.go", say("train-about", "train it here, about {time}", time=seconds(lasts)))
            if not replay.snapshots or replay.untouched:
                untrained = say("not-trained", "not trained yet")
                # Where room is short, the name of the snapshot says that nothing has been trained yet.
                return TrainingStatus(None, untrained + GAP + again, current, train)
            return TrainingStatus(None, took + GAP + again, current, recorded + GAP + train)
        case "starting":
            return TrainingStatus(0.0, say("starting", "starting: the steps before it run first"), "")
        case "running":
            return TrainingStatus(share, steps + GAP + _time(passed, replay.left), current, steps + GAP + passed)
        case "paused":
            paused = say("paused", "paused")
            if not replay.total:
                return TrainingStatus(share, paused, current)
            after = say("paused-after", "paused after {time}", time=passed)
            return TrainingStatus(share, steps + GAP + after, current, steps + GAP + paused)
        case "stopping":
            stopping = say("stopping", "stopping")
            return TrainingStatus(share, steps + GAP + stopping if replay.total else stopping, current)
        case "trained":
            return TrainingStatus(None, say("trained", "trained here in {time}", time=passed), current)
        case "stopped":
            stopped = say("stopped", "stopped after {steps} steps, {time}: not kept", steps=steps, time=passed)
            return TrainingStatus(None, stopped, current)
        case "failed":
            failed = say("failed", "failed after {steps} steps, {time}: not kept", steps=steps, time=passed)
            return TrainingStatus(None, failed, current)


def _steps(done: int | str, total: int) -> str:
    return say("steps", "{done} of {total}", done=done, total=total)


def _time(passed: str, left: float | None) -> str:
    """Return how long a training has run, and how long it still takes if that is known."""
    if left is None:
        return passed
    return say("time-left", "{time}, about {left} left", time=passed, left=seconds(left))


def _current(replay: TrainingReplay) -> str:
    """Describe the current snapshot."""
    if replay.current is None:
        return ""
    where = say("step", "step {number}", number=replay.current.done)
    if replay.untouched:
        return say("before-training", "{step}, before training", step=where)
    if replay.busy:
        return where if replay.following else f"{where}   >: {say('newest', 'newest')}"
    number, total = replay.position + 1, len(replay.snapshots)
    return where + GAP + say("snapshot", "snapshot {number} of {total}", number=number, total=total)


def seconds(value: float) -> str:
    """Format a duration for people."""
    whole = round(value)
    if whole < 60:
        return say("seconds", "{seconds} s", seconds=whole)
    if whole < 3600:
        return say("minutes", "{minutes} min {seconds:02} s", minutes=whole // 60, seconds=whole % 60)
    return say("hours", "{hours} h {minutes:02} min", hours=whole // 3600, minutes=whole % 3600 // 60)


def bar(share: float, width: int, unicode: bool = True) -> tuple[str, str]:
    """Return the full and the empty part of a bar `width` cells wide."""
    full, rest = ("━", "─") if unicode else ("#", ".")
    done = round(max(0.0, min(share, 1.0)) * width)
    # The bar is full only at the end, and never empty once the training has begun.
    done = min(done, width - 1) if share < 1 else width
    return full * max(done, int(share > 0)), rest * (width - max(done, int(share > 0)))


def note(replay: TrainingReplay) -> str:
    """Return the note on the current snapshot for the header of a matrix."""
    if replay.current is None:
        return ""
    if replay.untouched:
        return say("untrained", "before training")
    number = replay.current.done
    if replay.state == "recorded":
        return say("recorded-step", "step {number}, recorded", number=number)
    return say("step", "step {number}", number=number)


def about_number(replay: TrainingReplay) -> str:
    """Return the reply to a learner who asks how a number of a snapshot was computed."""
    step = replay.current.done if replay.current is not None else 0
    return say(
        "no-explanation",
        "This number is from step {step} of the training. How it was computed is not recorded while a model trains, "
        "but the next steps explain the numbers of the trained model.",
        step=step,
    )


def line(replay: TrainingReplay, snapshot: TrainingSnapshot, curves: Sequence[Curve]) -> str:
    """Describe a snapshot in one line: steps done, the numbers of the curves, the time."""
    width = len(str(snapshot.total))
    known = [curve for curve in curves if curve.name in snapshot.numbers]
    numbers = (f"{curve.label} {number(snapshot.numbers[curve.name])}" for curve in known)
    time = _time(seconds(replay.seconds), replay.left or None if snapshot.done < snapshot.total else None)
    return GAP.join([_steps(f"{snapshot.done:{width}}", snapshot.total), *numbers, time])
