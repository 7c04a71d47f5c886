"""The view of a step that trains a model: its curves, and the snapshots of the tensors that it watches."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import ClassVar, Self

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.play.step import StepModel, TrainingModel
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.play.training_replay import TrainingReplay
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import StepResult, Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint, mention, short_keys
from attn_tutor.tui.drawings import training_drawing
from attn_tutor.tui.drawings.styled_line import Runs, StyledLine, differing_width, over
from attn_tutor.tui.drawings.training_drawing import COLORS, Plot, TrainingStatus, arrange_plot, draw_curves, plots
from attn_tutor.tui.render.code_text import rich_code
from attn_tutor.tui.render.palette import BOLD, DIM
from attn_tutor.tui.render.step_layout import Needs, panes, text_width
from attn_tutor.tui.screens.lesson_view import LessonView, at_line
from attn_tutor.tui.screens.step_view import ViewContext
from attn_tutor.tui.state.what_if_rows import Spot
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.line_widget import LineWidget, set_height
from attn_tutor.tui.widgets.matrix import MatrixView
from attn_tutor.tui.widgets.text import TextLine, TextPane


class Curves(LineWidget):
    """Some curves, side by side or stacked. A change repaints only the lines that differ."""

    DEFAULT_CSS = """
    Curves {
        width: 1fr;
    }
    """

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._unicode = terminal.unicode
        self._plots: tuple[Plot, ...] = ()
        self._painted: dict[int, Runs] = {}
        self._lines: tuple[Runs, ...] = ()
        self._drawn: object = None

    def show(self, plots: tuple[Plot, ...]) -> None:
        """Show these curves."""
        if plots == self._plots:
            return
        self._plots = plots
        if not self.size:
            # While the widget is hidden, there is nothing to compare with: what it drew before must not reappear.
            self.refresh()
        self._draw()
        for y, line in enumerate(self._lines):
            before = self._painted.get(y)
            wide = self.size.width if before is None else differing_width(before, line)
            if wide:
                self.refresh(Region(0, y, wide, 1))

    def _draw(self) -> None:
        """Draw all curves into the lines of the widget."""
        width, height = self.size
        self._drawn = (self._plots, self.size)
        slots = arrange_plot(len(self._plots), width, height)
        curves = [
            draw_curves(plot, slot.width, slot.height, self._unicode, COLORS[at % len(COLORS)])
            for at, (plot, slot) in enumerate(zip(self._plots, slots, strict=False))
        ]
        lines = []
        for y in range(height):
            line = StyledLine()
            for slot, curve in zip(slots, curves, strict=True):
                if slot.y <= y < slot.y + slot.height:
                    line.pad_to(slot.x)
                    for text, style in curve[y - slot.y]:
                        line.add(text, style)
            lines.append(line.runs(width))
        self._lines = tuple(lines)

    def render_line(self, y: int) -> Strip:
        """Render one line."""
        if self._drawn != (self._plots, self.size):
            # A new size is painted before its resize event arrives.
            self._draw()
        runs = self._lines[y] if y < len(self._lines) else ((" " * self.size.width, None),)
        self._painted[y] = runs
        ground = self.ground
        return Strip([Segment(text, over(ground, style)) for text, style in runs], sum(cell_len(t) for t, _ in runs))


say = Wording("training/view")

LOCAL, REMOTE = 0.25, 1.0
"""The minimum seconds between two drawn snapshots; over SSH, each one costs some thousand bytes."""

ASKED_AGAIN = 5.0
"""The seconds within which a second press of a key leaves a running training."""

TICK = 1.0
"""The seconds between two updates of the elapsed time while a model trains."""

NARROWEST = 36
"""The minimum number of columns for prose and curves beside the matrices."""

TWO_DECIMALS = 2
"""The form of a matrix with two decimals."""

SHORTEST_BAR, BAR = 4, 24
"""The minimum and maximum number of columns of the progress bar."""

FULL = Style(color="cyan", bold=True)


def _no_snapshots(busy: bool) -> str:
    """Say that there is nothing to look at yet."""
    if busy:
        return say("coming", "There are no snapshots yet. The first one comes when the steps before this one have run.")
    return say("none-yet", "There are no snapshots yet. Press {key} to start training.", key=short_keys("training.go"))


class TrainingView(LessonView):
    """The view of a training. It posts requests to start, pause or resume it, and shows its snapshots."""

    DEFAULT_CSS = """
    TrainingView {
        height: 1fr;
        width: 1fr;
    }
    TrainingView #code {
        margin-top: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("training")]

    topic = "training"

    class Go(Message):
        """Posted when the learner starts the training of a view, or pauses or resumes it."""

        def __init__(self, view: TrainingView) -> None:
            self.view = view
            super().__init__()

    def __init__(self, terminal: Terminal, code_theme: str, *, id: str | None = None) -> None:
        self._model: TrainingModel | None = None
        self._replay = TrainingReplay()
        self._status = TextLine(ellipsis=terminal.ellipsis, id="status")
        self._word = TextPane(ellipsis=terminal.ellipsis, id="word")
        self._curves = Curves(terminal, id="curves")
        self._beside = Curves(terminal, id="curves-beside")
        self._failure_text = ""
        self._surveyed: dict[MatrixView, tuple[int, ...]] = {}
        self._interval = REMOTE if terminal.remote else LOCAL
        self._drawn_at = 0.0
        self._due: Timer | None = None
        self._tick: Timer | None = None
        self._asked_at = float("-inf")
        super().__init__(terminal, code_theme, id=id)

    def _parts(self) -> tuple[Widget, ...]:
        return self._prose, self._status, self._word, self._curves, self._code, self._output

    def _figure_parts(self) -> tuple[Widget, ...]:
        return self._beside, *self._matrices

    def compose(self) -> ComposeResult:
        """Compose the panes of a step."""
        yield from super().compose()
        self._tick = self.set_interval(TICK, self._show_status, pause=True)

    # Contents ----------------------------------------------------------------------------------------------------

    @property
    def model(self) -> TrainingModel:
        """The step with its training. Callers use it only after a step was opened."""
        assert self._model is not None
        return self._model

    @property
    def replay(self) -> TrainingReplay:
        """The training that is shown."""
        return self._replay

    @classmethod
    def make(cls, context: ViewContext) -> Self:
        """Return a view that does not show a step yet."""
        return cls(context.terminal, context.code_theme, id="training")

    def open_step(self, model: StepModel) -> None:
        """Show a step with the learner's own training if there is one, otherwise with the recorded one."""
        assert isinstance(model, TrainingModel)
        self._model = model
        super().open_step(model)

    def _show(self, lesson: Lesson, step: Step, content: StepContent) -> None:
        assert self._model is not None
        if (lesson, step.id) != (self._lesson, self._step.id if self._step is not None else ""):
            self._failure_text = ""
            self._surveyed.clear()
        self._replay = self._model.replay
        if content.result.trained == "own":
            self._replay.reveal()
        self._keep_time()
        self._word.show(self._word_text(content.result))
        super()._show(lesson, step, content)
        self._show_replay()

    def show_started(self, replay: TrainingReplay) -> None:
        """Show a training that has just been started."""
        self._replay = replay
        self._failure_text = ""
        self._keep_time()
        self._show_all()

    def show_snapshot(self, replay: TrainingReplay) -> None:
        """Show a new snapshot of a training, now or, if the last was drawn just before, a moment later."""
        if replay is not self._replay or self._due is not None:
            return
        wait = self._drawn_at + self._interval - time.monotonic()
        if wait <= 0:
            self._show_replay()
        else:
            self._due = self.set_timer(wait, self._show_due)

    def show_ended(self, replay: TrainingReplay, now: TrainingReplay) -> None:
        """Show that a training has ended; `now` is the one to show next, a different one if this one gave nothing."""
        if replay is not self._replay:
            return
        self._replay = now
        if now is not replay and replay.failure is not None:
            self._failure_text = replay.failure.message
        self._keep_time()
        if replay.failure is not None and replay.failure.line is not None:
            self._line = replay.failure.line
            self._show_code(keep=True)
        self._show_all()

    def _keep_time(self) -> None:
        """Update the elapsed time regularly while the training that is shown runs."""
        if self._tick is not None:
            (self._tick.resume if self.busy else self._tick.pause)()

    def _show_due(self) -> None:
        self._due = None
        self._show_replay()

    def _show_all(self) -> None:
        """Show the training and arrange the panes, which may need a different number of lines."""
        self._word.show(self._word_text(self._result))
        self._show_replay()
        self._fit()

    def _show_replay(self) -> None:
        """Show the selected snapshot, its curves and its status."""
        if self._model is None:
            return
        self._drawn_at = time.monotonic()
        before = self._figures
        for curves in (self._curves, self._beside):
            curves.show(plots(self._replay, self._model.training.curves))
        self._show_status()
        self._show_matrices()
        if len(self._figures) != len(before):
            if not before:
                # The first snapshot of a training, which the learner has been waiting for.
                self._active = 0
            self._fit()
            self.focus_active()
        if self._unsurveyed():
            self.call_after_refresh(self._survey)
        self._read_out()

    def _fit(self) -> None:
        """Update the list of panes and arrange them."""
        self._panes = panes(self._needs())
        if self._active not in self._panes:
            self._active = self._first_pane()
        self._arrange()
        self._describe()

    def _unsurveyed(self) -> list[tuple[MatrixView, Tensor]]:
        """Return the matrices that show a tensor of a snapshot for the first time, or with a new shape."""
        shown = [(view, view.tensor) for view in self._matrices if view.tensor is not None and view.display]
        return [(view, tensor) for view, tensor in shown if self._surveyed.get(view) != tensor.shape]

    def _survey(self) -> None:
        """Zoom out of new matrices that do not fit, to all heads at once if there are heads."""
        for view, tensor in self._unsurveyed() if self._shows_snapshot else ():
            if not view.size:
                continue
            self._surveyed[view] = tensor.shape
            columns, lines = view.natural_size()
            columns = columns if view.size.width > columns else min(view.forms())
            if not view.overview and (columns > view.size.width or lines > view.size.height):
                view.action_zoom_out()
                if tensor.lead_shape and tensor.lead_shape[-1] > 1:
                    view.action_zoom_out()
        self._describe()

    def _show_status(self) -> None:
        """Show the status line: the state and the progress of the training."""
        if self._model is not None:
            status = training_drawing.training_status(self._replay, self._model.last_duration)
            self._status.set(*self._status_line(status))

    def _status_line(self, status: TrainingStatus) -> tuple[Text, str]:
        text = Text(" ")
        message = status.message
        if self._without_changes:
            message = say(
                "before",
                "before the change   {train}",
                train=mention("training.go", say("train-with-it", "train with it")),
            )
        # Beside the view, an empty column at each end, three between, and two after the bar.
        room = self._text_width() - cell_len(status.current) - 5
        least = 0 if status.share is None else SHORTEST_BAR + 2
        if status.short and room - cell_len(message) < least:
            message = status.short
        left = room - cell_len(message) - 2
        if status.share is not None and left >= SHORTEST_BAR:
            full, rest = training_drawing.progress_bar(status.share, min(BAR, left), self._terminal.unicode)
            text.append(full, FULL).append(rest, DIM).append("  ")
        text.append(message, BOLD)
        return text, status.current + " "

    @property
    def _without_changes(self) -> bool:
        """Whether the snapshots are from a training without the learner's changes."""
        return not self._replay.busy and self._replay.changes != self._whatif.history.current

    def _word_text(self, result: StepResult) -> Text:
        """Return the error of the training, or other notes about it."""
        lines = [self._failure_text] if self._failure_text else []
        if self._replay.failure is not None:
            failure, line = self._replay.failure, self._replay.failure.unmentioned_line
            lines.append(at_line(line, failure.message) if line else failure.message)
        elif not self._replay.busy:
            if result.error is not None:
                lines.append(result.error.message)
            elif result.trained == "own" and self._replay.state == "recorded":
                lines.append(
                    say(
                        "own",
                        "You have trained this model here before, and the next steps use it. These snapshots are from "
                        "the training that ships with the course.",
                    )
                )
        return Text("\n".join([*lines, *result.notes]))

    def _output_text(self, result: StepResult) -> Text:
        """Return the output of the step, without errors, which are shown above the curves."""
        return super()._output_text(replace(result, error=None, notes=()))

    @property
    def unit(self) -> CodeUnit | None:
        """The step if the numbers are from its run; None for a snapshot, about which the worker cannot be asked."""
        return None if self._shows_snapshot else super().unit

    # The snapshot ------------------------------------------------------------------------------------------------

    def _tensors(self) -> tuple[Tensor, ...]:
        """Return the tensors of the selected snapshot."""
        return self._replay.current.tensors if self._replay.current is not None else ()

    @property
    def _shows_snapshot(self) -> bool:
        """Whether the matrices show a snapshot, and not the results of the step."""
        return self._model is not None and bool(self._model.training.watch)

    @property
    def _figures(self) -> tuple[Tensor, ...]:
        """The tensors that the matrices show."""
        return tuple(view.tensor for view in self._matrices if view.tensor is not None)

    def _show_matrices(self) -> None:
        if not self._shows_snapshot:
            super()._show_matrices()
            return
        tensors = self._tensors()
        if not tensors and self.busy and self._figures:
            # The earlier tensors stay, marked as such, until there is a snapshot, so that cursor and zoom are kept.
            return
        for index, view in enumerate(self._matrices):
            view.show(tensors[index] if index < len(tensors) else None, training_drawing.failure_note(self._replay))

    def action_look(self, step: int) -> None:
        """Select the snapshot `step` positions on; negative goes back."""
        if not self._replay.snapshots:
            self.notify(_no_snapshots(self.busy), markup=False, timeout=4)
            return
        self._replay.look(step)
        self._show_replay()
        self.post_message(self.PanesChanged())

    # The training ------------------------------------------------------------------------------------------------

    def action_go(self) -> None:
        """Start, pause or resume the training, whichever applies."""
        if self._replay.state == "stopping":
            return
        if self._whatif_open:
            self._whatif_open = False
            self.focus_active()
        self.post_message(self.Go(self))

    def changed(self) -> None:
        """Show that the training was paused or resumed, or is about to stop."""
        self._show_status()
        self.post_message(self.PanesChanged())

    def stop(self) -> None:
        """Show that the learner has stopped the training."""
        self._replay.stop()
        self.changed()

    @property
    def busy(self) -> bool:
        """Whether the training that is shown was started and has not ended."""
        return self._replay.busy

    def may_leave(self) -> bool:
        """Return whether the learner may leave: that stops a running training, so a key has to be pressed twice."""
        if not self.busy or time.monotonic() - self._asked_at < ASKED_AGAIN:
            return True
        self._asked_at = time.monotonic()
        self.notify(
            say("leave", "The training is still running, and leaving stops it. Press the key again to leave anyway."),
            markup=False,
            timeout=ASKED_AGAIN,
        )
        return False

    # Differences from a lesson step ------------------------------------------------------------------------------

    def _code_text(self, step: Step) -> Text:
        """Return the training loop, and the code that takes its place when the lesson is run."""
        (_, training), (_, trained) = step.own_code
        text = rich_code(training, self._code_theme)
        instead = say("instead", "When the lesson is run, this code takes the place of the training:")
        text.append(f"\n\n# {instead}\n", DIM)
        return text.append_text(rich_code(trained, self._code_theme, numbered=False))

    @property
    def _shapes(self) -> tuple[()]:
        """An empty tuple, because no shapes are recorded while a model trains."""
        return ()

    def _light(self) -> None:
        if not self._shows_snapshot:
            super()._light()

    def _spot(self) -> Spot | None:
        """Return None for a snapshot, whose numbers cannot be changed without training again."""
        return None if self._shows_snapshot else super()._spot()

    @property
    def _comparable(self) -> bool:
        return not self._shows_snapshot and super()._comparable

    def action_explain(self) -> None:
        """Ask how the number under the cursor was computed, or say that a snapshot has no explanations."""
        if not self._shows_snapshot:
            super().action_explain()
        elif self._active >= 0 and self._tensors():
            self.notify(training_drawing.about_number(self._replay), markup=False, timeout=8)

    def action_what_if(self) -> None:
        """Open the what-if panel, except during a training, because a change runs the lesson again."""
        if self.busy:
            self.notify(
                say(
                    "busy",
                    "The training is still running. Press {stop} to stop it, or {pause} to pause it.",
                    stop=short_keys("tutor.stop"),
                    pause=short_keys("training.go"),
                ),
                markup=False,
                timeout=5,
            )
            return
        super().action_what_if()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now: escape does not undo changes while a model trains with them."""
        if action == "close" and self.busy:
            return False
        return super().check_action(action, parameters)

    # Layout ------------------------------------------------------------------------------------------------------

    def _sizes(self) -> Needs:
        lines = [cell_len(line) + 2 for line in self._code_plain.plain.split("\n")]
        shown = [view for view in self._matrices if view.tensor is not None]
        forms = tuple(view.forms() for view in shown)
        # While a model trains, two decimals are enough to see what changes.
        sizes = tuple((form[TWO_DECIMALS], view.natural_size()[1]) for view, form in zip(shown, forms, strict=True))
        rows = tuple(view.rows for view in shown)
        # Code may wrap here, to leave room for the matrices, which the learner watches.
        return Needs(0, 0, 0, sizes, widest=max(lines), narrowest=NARROWEST, rows=rows, forms=forms)

    def _arrange(self) -> None:
        width, height = self.room.width, self.room.height - 1
        if not width or height < 2 or self._model is None:
            return
        needs = self._needs()
        word = self._word.lines_at(text_width(width, needs))
        layout = training_drawing.lay_out(width, height, needs, len(self._model.training.curves), word, self._active)
        self._body.set_class(layout.wide, "wide")
        for panel in (self._explanation, self._whatif):
            panel.set_class(layout.wide, "wide")
        set_height(self._explanation, layout.panel if self.explaining else 0)
        self._whatif.take_room(width, 0 if self.explaining else layout.panel)
        if (layout.wide, layout.text_width) != self._text_layout:
            self._text_layout = (layout.wide, layout.text_width)
            self._text.styles.width = layout.text_width
        above, beside = (0, layout.curves) if layout.beside else (layout.curves, 0)
        set_height(self._beside, beside)
        self._beside.styles.width = layout.beside or "1fr"
        parts = ((self._prose, layout.prose), (self._word, layout.word), (self._curves, above))
        for widget, lines in (*parts, (self._code, layout.code), (self._output, layout.output)):
            set_height(widget, lines)
        self._place_matrices(layout.figures, beside=(layout.beside, beside))

    def move_pane(self, step: int) -> None:
        """Move the focus `step` panes on."""
        super().move_pane(step)
        self.call_after_refresh(self._survey)

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        if self._whatif.has_focus_within or self.explaining:
            return super().hints
        words = {
            "starting": say("pause", "pause"),
            "running": say("pause", "pause"),
            "paused": say("go-on", "go on"),
        }.get(self._replay.state)
        go = [hint("training.go", words)] if words else []
        busy = [*go, hint("tutor.stop")] if self.busy else [hint("training.go")]
        snapshots = [hint("training.look")] if self._replay.snapshots else []
        others = ("step.what-if", "tutor.next", "tutor.back", "tutor.map", "tutor.quit")
        return [*busy, *snapshots, *self._pane_keys(), hint("tutor.help"), *map(hint, () if self.busy else others)]
