"""A training in words: the line above its curves, the header of its matrices, a line for each snapshot. Pure text."""

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
    """The line above the curves: a bar that is so far full (None: no bar), what is told, and what is in view.

    `short` is told where there is no room for more.
    """

    share: float | None
    told: str
    view: str
    short: str = ""


def training_status(film: TrainingReplay, about: float | None = None) -> TrainingStatus:
    """Where a training is, in words.

    Args:
        film: The training.
        about: Seconds that one took before, if that is known.
    """
    steps = f"{film.done} of {film.total}"
    share = film.done / film.total if film.total else 0.0
    passed = seconds(film.seconds)
    match film.state:
        case "recorded":
            took = f"recorded in {seconds(film.seconds)}" if film.seconds else "recorded"
            train = mention("training.go", "train it here")
            again = train + (f", about {seconds(about)}" if about else "")
            if not film.pictures:
                return TrainingStatus(None, f"not trained yet   {again}", "")
            return TrainingStatus(None, f"{took}   {again}", _view(film), f"recorded   {train}")
        case "starting":
            return TrainingStatus(0.0, "starting: the steps before it run first", "")
        case "running":
            left = f", about {seconds(film.left)} left" if film.left is not None else ""
            return TrainingStatus(share, f"{steps}   {passed}{left}", _view(film), f"{steps}   {passed}")
        case "paused":
            return TrainingStatus(share, f"{steps}   paused after {passed}" if film.total else "paused", _view(film))
        case "stopping":
            return TrainingStatus(share, f"{steps}   stopping" if film.total else "stopping", _view(film))
        case "trained":
            return TrainingStatus(None, f"trained here in {passed}", _view(film))
        case "stopped":
            return TrainingStatus(None, f"stopped after {steps} steps, {passed}: not kept", _view(film))
        case "failed":
            return TrainingStatus(None, f"failed after {steps} steps, {passed}: not kept", _view(film))


def _view(film: TrainingReplay) -> str:
    """Which picture is in view."""
    if film.current is None:
        return ""
    where = f"step {film.current.done}"
    if film.busy:
        return where if film.following else f"{where}   >: newest"
    return f"{where}   picture {film.place + 1} of {len(film.pictures)}"


def seconds(value: float) -> str:
    """A time as people say it."""
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60:02} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60:02} min"


def bar(share: float, width: int, unicode: bool = True) -> tuple[str, str]:
    """A bar: its full part and the rest."""
    full, rest = ("━", "─") if unicode else ("#", ".")
    done = round(max(0.0, min(share, 1.0)) * width)
    # Not full before it is at its end, nor empty when it has begun.
    done = min(done, width - 1) if share < 1 else width
    return full * max(done, int(share > 0)), rest * (width - max(done, int(share > 0)))


def note(film: TrainingReplay) -> str:
    """What the header of a matrix says of the picture in view."""
    if film.current is None:
        return ""
    return f"step {film.current.done}" + (", recorded" if film.state == "recorded" else "")


def about_number(film: TrainingReplay) -> str:
    """What is said to a learner who asks how a number of a picture was made."""
    step = film.current.done if film.current is not None else 0
    return (
        f"This number is from step {step} of the training. How it was made is not recorded while a model trains:"
        " the next steps explain the numbers of the trained one."
    )


def line(film: TrainingReplay, picture: TrainingSnapshot, curves: Sequence[Curve]) -> str:
    """A picture in one line of text: steps done, the numbers of the curves, the time."""
    width = len(str(picture.total))
    known = [curve for curve in curves if curve.name in picture.numbers]
    numbers = (f"{curve.label} {number(picture.numbers[curve.name])}" for curve in known)
    left = f", about {seconds(film.left)} left" if film.left and picture.done < picture.total else ""
    steps = f"{picture.done:{width}} of {picture.total}"
    return "   ".join([steps, *numbers, f"{seconds(film.seconds)}{left}"])
