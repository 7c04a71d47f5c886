"""A training as it is looked at: the pictures that were taken, the one that is in view, the lines that tell of it.

Nothing here draws or waits; what the time is comes from a clock that a test may replace.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from lessons.format.steps import Curve
from lessons.results.result import Failure, Training, TrainingSnapshot
from lessons.what_if.changes import UNCHANGED, Changes
from tui.drawings.curve import LOWEST, WANTED, Plot, number
from tui.render.step_layout import CODE, PANEL, WIDE, Needs, arrange, stacked, text_width

State = Literal["recorded", "starting", "running", "paused", "stopping", "trained", "stopped", "failed"]
"""Where the pictures come from, or what the training does."""

BUSY = ("starting", "running", "paused", "stopping")

LEAST = 7
"""Lines that a matrix gets beside prose and curves, at least."""

HIGHEST = 9
"""Lines of curves with their axes where there is room to spare."""

CODE_LEAST = 4
"""Lines that code and output get below prose, at least."""

ASKED_AGAIN = 5.0
"""Seconds in which a second key leaves a training that runs."""

Clock = Callable[[], float]


class TrainingReplay:
    """The pictures of one training, and the one that is in view: the newest, until the learner looks back.

    Attributes:
        pictures: in the order in which they were taken.
        state: what the training does, or how it ended.
        changes: what the learner had changed.
        failure: why it did not come to its end.
    """

    def __init__(
        self,
        pictures: Sequence[TrainingSnapshot] = (),
        state: State = "recorded",
        changes: Changes = UNCHANGED,
        clock: Clock = time.monotonic,
        seconds: float = 0.0,
    ) -> None:
        self.pictures = list(pictures)
        self.state = state
        self.changes = changes
        self.failure: Failure | None = None
        self._clock = clock
        self._place: int | None = None
        self._seconds = seconds
        self._since: float | None = None

    # What happens to it ------------------------------------------------------------------------------------------

    def add(self, picture: TrainingSnapshot) -> None:
        """Another picture was taken."""
        self.pictures.append(picture)
        if self.state == "starting":
            self.state, self._since = "running", self._clock()

    def pause(self) -> None:
        """The training is to wait: it does so where it takes its next picture, which may still come."""
        if self.state in ("starting", "running"):
            self.state = "paused"
            self._hold()

    def resume(self) -> None:
        """The training is to go on."""
        if self.state == "paused":
            self.state, self._since = "running", self._clock()

    def stop(self) -> None:
        """The training is to end."""
        if self.busy:
            self.state = "stopping"

    def end(self, training: Training) -> None:
        """The training has ended."""
        self._hold()
        if training.pictures:
            self.pictures = list(training.pictures)
        if training.stopped or (training.error is not None and training.error.kind == "stopped"):
            self.state = "stopped"
        elif training.error is not None:
            self.state, self.failure = "failed", training.error
        else:
            self.state, self._seconds = "trained", self._seconds or training.seconds

    def _hold(self) -> None:
        if self._since is not None:
            self._seconds += self._clock() - self._since
            self._since = None

    @property
    def busy(self) -> bool:
        """Whether it has been started and has not ended."""
        return self.state in BUSY

    # Looking at it -----------------------------------------------------------------------------------------------

    @property
    def place(self) -> int:
        """Which picture is in view; -1 if there is none."""
        return len(self.pictures) - 1 if self._place is None else self._place

    @property
    def current(self) -> TrainingSnapshot | None:
        """The picture in view."""
        return self.pictures[self.place] if self.pictures else None

    @property
    def following(self) -> bool:
        """Whether the newest picture is in view, and the next one will be."""
        return self._place is None

    def look(self, step: int) -> None:
        """So many pictures on, or back. From the newest on, the view goes along with what comes."""
        if self.pictures:
            place = max(0, min(self.place + step, len(self.pictures) - 1))
            self._place = None if place == len(self.pictures) - 1 else place

    # Its numbers -------------------------------------------------------------------------------------------------

    @property
    def done(self) -> int:
        """Steps done."""
        return self.pictures[-1].done if self.pictures else 0

    @property
    def total(self) -> int:
        """Steps in all, 0 as long as that is not known."""
        return self.pictures[-1].total if self.pictures else 0

    @property
    def seconds(self) -> float:
        """How long it has run, without the pauses."""
        return self._seconds + (self._clock() - self._since if self._since is not None else 0.0)

    @property
    def left(self) -> float | None:
        """About how many seconds are left; None as long as there is nothing to tell it by."""
        begun = self.pictures[0].done if self.pictures else 0
        if self.done <= begun or self.seconds <= 0:
            return None
        return self.seconds * max(0, self.total - self.done) / (self.done - begun)

    def plots(self, curves: Sequence[Curve]) -> tuple[Plot, ...]:
        """The curves of the numbers, with the picture in view."""
        plots = []
        for curve in curves:
            taken = [(at, picture) for at, picture in enumerate(self.pictures) if curve.name in picture.numbers]
            here = next((place for place, (at, _) in enumerate(taken) if at == self.place), None)
            points = tuple((picture.done, picture.numbers[curve.name]) for _, picture in taken)
            plots.append(Plot(curve.label, points, max(self.total, 1), here))
        return tuple(plots)


# Places -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TrainingLayout:
    """Lines of what is shown, 0 for what is not; besides there is the line of the standing."""

    wide: bool
    text_width: int
    prose: int
    word: int
    curves: int
    code: int
    output: int
    matrices: tuple[int, ...]
    panel: int = 0


def plan(width: int, height: int, needs: Needs, curves: int, word: int, active: int, *, folded: bool) -> TrainingLayout:
    """Give `height` lines to the parts of a training.

    Args:
        width: Columns.
        height: Lines.
        needs: What prose, code, output and matrices would like.
        curves: How many there are.
        word: Lines of what there is to say about the training.
        active: The pane that the learner has chosen.
        folded: The learner looks at the pictures: prose that does not fit gives way to them.
    """
    panel = min(PANEL, height // 3) if needs.panel else 0
    word = min(word, max(1, height // 4))
    left = height - panel - word - 1
    if width >= WIDE and needs.matrices:
        # Below each other if they can be, lower ones too.
        below = max(WANTED, LOWEST * curves)
        wanted = next(
            (lines for lines in (WANTED * curves, below) if needs.prose + lines + min(needs.code, 4) <= left), WANTED
        )
        drawn = wanted if left >= wanted else 0
        prose, code, output = _text(left - drawn, needs.prose, needs)
        wishes = [lines for _, lines in needs.matrices]
        if sum(wishes) + len(wishes) <= height - panel:
            # One that is too wide for its half tells in a line more what of it is not in view.
            wishes = [lines + 1 for lines in wishes]
        heights = shared(height - panel, wishes, active)
        return TrainingLayout(True, text_width(width, needs), prose, word, drawn, code, output, heights, panel=panel)
    # A panel takes the place of the prose.
    prose = 0 if panel else needs.prose
    drawn = next((lines for lines in (WANTED, LOWEST) if left >= lines + LEAST), 0) if curves else 0
    left -= drawn
    if active == CODE or not needs.matrices:
        prose, code, output = _text(left, prose, needs)
        none = (0,) * len(needs.matrices)
        return TrainingLayout(False, width, prose, word, drawn, code, output, none, panel=panel)
    figures = [lines for _, lines in needs.matrices]
    if drawn == WANTED and (lines := left + drawn - prose - figures[active]) < drawn and not folded:
        # Curves somewhat lower, if all is in view then.
        left, drawn = (left + drawn - lines, lines) if lines >= LOWEST else (left, drawn)
    if prose + figures[active] > left:
        prose = 0 if folded else min(prose, max(0, left - LEAST))
    if drawn and folded and not prose:
        # What the matrix can spare.
        more = max(0, min(HIGHEST - drawn, left - figures[active]))
        left, drawn = left - more, drawn + more
    return TrainingLayout(False, width, prose, word, drawn, 0, 0, shared(left - prose, figures, active), panel=panel)


def _text(height: int, prose: int, needs: Needs) -> tuple[int, int, int]:
    """Lines of prose, code and output below each other: the code, which can be scrolled, gives way first."""
    prose = min(prose, max(0, height - min(needs.code + needs.output, CODE_LEAST)))
    # An empty line stands above the code.
    rest = arrange(WIDE, height - prose - bool(needs.code), Needs(0, needs.code, needs.output), CODE)
    return prose, max(0, rest.code), max(0, rest.output)


def shared(height: int, wanted: Sequence[int], active: int) -> tuple[int, ...]:
    """Lines of matrices below each other; an overview can make use of what is left over."""
    heights = [*stacked(height, wanted, active)]
    if sum(wanted) > height:
        heights[max(active, 0)] += height - sum(heights)
    return tuple(heights)


# Lines --------------------------------------------------------------------------------------------------------------


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
            again = "g: train it here" + (f", about {seconds(about)}" if about else "")
            if not film.pictures:
                return TrainingStatus(None, f"not trained yet   {again}", "")
            return TrainingStatus(None, f"{took}   {again}", _view(film), "recorded   g: train it here")
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
