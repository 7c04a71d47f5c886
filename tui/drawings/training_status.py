"""A training in words: the line above its curves, the header of its matrices, a line for each snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lessons.format.steps import Curve
from lessons.results.result import TrainingSnapshot
from tui.actions.hints import mention
from tui.drawings.curve import number
from tui.state.training_replay import TrainingReplay


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
    steps = f"{replay.done} of {replay.total}"
    share = replay.done / replay.total if replay.total else 0.0
    passed = seconds(replay.seconds)
    match replay.state:
        case "recorded":
            took = f"recorded in {seconds(replay.seconds)}" if replay.seconds else "recorded"
            train = mention("training.go", "train it here")
            again = train + (f", about {seconds(about)}" if about else "")
            if not replay.snapshots:
                return TrainingStatus(None, f"not trained yet   {again}", "")
            return TrainingStatus(None, f"{took}   {again}", _current(replay), f"recorded   {train}")
        case "starting":
            return TrainingStatus(0.0, "starting: the steps before it run first", "")
        case "running":
            left = f", about {seconds(replay.left)} left" if replay.left is not None else ""
            return TrainingStatus(share, f"{steps}   {passed}{left}", _current(replay), f"{steps}   {passed}")
        case "paused":
            if not replay.total:
                return TrainingStatus(share, "paused", _current(replay))
            return TrainingStatus(share, f"{steps}   paused after {passed}", _current(replay), f"{steps}   paused")
        case "stopping":
            return TrainingStatus(share, f"{steps}   stopping" if replay.total else "stopping", _current(replay))
        case "trained":
            return TrainingStatus(None, f"trained here in {passed}", _current(replay))
        case "stopped":
            return TrainingStatus(None, f"stopped after {steps} steps, {passed}: not kept", _current(replay))
        case "failed":
            return TrainingStatus(None, f"failed after {steps} steps, {passed}: not kept", _current(replay))


def _current(replay: TrainingReplay) -> str:
    """Describe the current snapshot."""
    if replay.current is None:
        return ""
    where = f"step {replay.current.done}"
    if replay.busy:
        return where if replay.following else f"{where}   >: newest"
    return f"{where}   snapshot {replay.position + 1} of {len(replay.snapshots)}"


def seconds(value: float) -> str:
    """Format a duration for people."""
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60:02} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60:02} min"


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
    return f"step {replay.current.done}" + (", recorded" if replay.state == "recorded" else "")


def about_number(replay: TrainingReplay) -> str:
    """Return the reply to a learner who asks how a number of a snapshot was computed."""
    step = replay.current.done if replay.current is not None else 0
    return (
        f"This number is from step {step} of the training. How it was made is not recorded while a model trains:"
        " the next steps explain the numbers of the trained one."
    )


def line(replay: TrainingReplay, snapshot: TrainingSnapshot, curves: Sequence[Curve]) -> str:
    """Describe a snapshot in one line: steps done, the numbers of the curves, the time."""
    width = len(str(snapshot.total))
    known = [curve for curve in curves if curve.name in snapshot.numbers]
    numbers = (f"{curve.label} {number(snapshot.numbers[curve.name])}" for curve in known)
    left = f", about {seconds(replay.left)} left" if replay.left and snapshot.done < snapshot.total else ""
    steps = f"{snapshot.done:{width}} of {snapshot.total}"
    return "   ".join([steps, *numbers, f"{seconds(replay.seconds)}{left}"])
