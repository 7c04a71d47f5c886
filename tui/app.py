"""The Textual app: its screen, which composes the views, and passes messages and keys on to the controllers."""

from __future__ import annotations

import asyncio
import gc
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.console import RenderableType
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Event, Key
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import full_keys, short_keys
from attn_tutor.tui.controllers import startup
from attn_tutor.tui.controllers.frame import MAP, Frame
from attn_tutor.tui.controllers.map_controller import MapController
from attn_tutor.tui.render.step_layout import WIDE
from attn_tutor.tui.screens.map_view import MapView
from attn_tutor.tui.sources.source import ShownCall, StepPosition
from attn_tutor.tui.state.unsaved_progress import Farewell, farewell
from attn_tutor.tui.tty import screen_gate, signals
from attn_tutor.tui.tty.exit_codes import ExitCode, ended_by
from attn_tutor.tui.tty.input_queue import INTERRUPT, OrderedInputApp
from attn_tutor.tui.tty.signals import ENDING, handled
from attn_tutor.tui.tty.terminal import Terminal, theme
from attn_tutor.tui.widgets.text import HelpPane

if TYPE_CHECKING:
    from collections.abc import Awaitable

    # Imported after the first paint, when they are needed: importing them takes longer than painting.
    from attn_tutor.lessons.learner.progress import Progress
    from attn_tutor.lessons.reading.folders import CourseFolder
    from attn_tutor.tui.controllers.assembly import Assembly
    from attn_tutor.tui.controllers.frame import LearningState
    from attn_tutor.tui.screens.explaining_view import ExplainingView
    from attn_tutor.tui.screens.flow_view import FlowView
    from attn_tutor.tui.screens.glossary_view import GlossaryView
    from attn_tutor.tui.screens.lesson_view import LessonView
    from attn_tutor.tui.screens.prompt_view import PromptView
    from attn_tutor.tui.screens.training_view import TrainingView
    from attn_tutor.tui.sources.source import Again, Notice, Source, Which


# Whatever is painted is on this screen.
screen_gate.install()


class TutorScreen(Screen[None]):
    """The only screen of the tutor. Unlike in Textual's own class, moving the focus does not repaint all of it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("screen")]

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)


say = Wording("screen/app")

STEP_ACTIONS = frozenset({"next", "previous", "rerun", "prompt", "flow"})
"""The actions that need a step and therefore do nothing on the map, nor where the glossary covers it."""

QUIT_AGAIN = 5.0
"""Seconds in which ctrl+c has to come again to quit; meanwhile the learner is told so."""

LOOK_EVERY = 0.2
"""Seconds between looks at the files of what is shown; two looks that agree find one saved."""

HEAD_START = 0.1
"""Seconds that the first paint waits for the map, so that in most cases it is the only one."""


class TutorApp(OrderedInputApp):
    """The tutor with a source. It shows the map, then loads the rest and the views, and has the worker load PyTorch."""

    CSS_PATH = "app.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]
    TITLE = "attn-tutor"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("tutor"), *bindings("program")]

    progress: Progress
    state: LearningState
    map: MapController
    parts: Assembly

    def __init__(self, terminal: Terminal, source: Source, map_view: type[MapView] = MapView) -> None:
        """Initialize; all of the source can be reached from a view of the class `map_view`."""
        super().__init__()
        self.source = source
        self.theme = theme(terminal)
        self.terminal = terminal
        self.loaded = asyncio.Event()
        self.ready_to_run = asyncio.Event()
        self.assembled = asyncio.Event()
        self._farewell = ""
        self._asked_to_quit = float("-inf")
        self.import_error: Exception | None = None
        self.next_course: CourseFolder | None = None
        self._signals_handled = ExitStack()
        self._exported: Path | None = None
        self._input_until_loaded = ExitStack()
        self._input_until_loaded.enter_context(self.input_held())
        self.map_view = map_view(terminal, id=MAP)
        self.frame = Frame(self, terminal, self.map_view, source.map_name, flow_beside=source.computes)
        self.help_pane = HelpPane(ellipsis=terminal.ellipsis, way=partial(short_keys, "list.move"), id="help")

    def get_default_screen(self) -> Screen[None]:
        """Return the only screen of the tutor."""
        return TutorScreen(id="_default")

    def compose(self) -> ComposeResult:
        """Compose the title, the progress of the lesson, the views and the line of keys; help covers them."""
        frame = self.frame
        yield from (frame.title_line, frame.rule, frame.middle, frame.keys, self.help_pane)

    async def on_mount(self) -> None:
        """Have a lost connection end the tutor properly, and show the map; what it does not need is loaded later.

        If the map takes long to read, the frame is painted without it. Keys that are pressed meanwhile wait for it.
        """
        self._handle_signals(asyncio.get_running_loop())
        reading = asyncio.create_task(asyncio.to_thread(self.source.read))
        await asyncio.wait([reading], timeout=HEAD_START)
        if reading.done() and not reading.exception():
            self._show_first(reading.result())
        self.call_after_refresh(self.load, reading)

    def _handle_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have a signal end the tutor, at the latest when the time for that is over.

        Not by `add_signal_handler`: asyncio hears of signals through the socket that also wakes it for each key, and
        while some hundred keys wait in it, the signal is dropped.
        """

        def end(number: int, _: object) -> None:
            signals.end_soon(number)
            # After the end of the loop, the tutor is ending already.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(partial(self.exit, return_code=ended_by(number)))

        self._signals_handled.enter_context(handled(dict.fromkeys(ENDING, end)))

    def _handle_exception(self, error: Exception) -> None:
        """Print a traceback and end the app; Textual's own return code would say that an answer did not pass."""
        super()._handle_exception(error)
        self._return_code = ExitCode.FAILURE

    def panic(self, *renderables: RenderableType) -> None:
        """Print what went wrong and end the app; Textual's own return code would say that nothing did."""
        super().panic(*renderables)
        self._return_code = ExitCode.FAILURE

    # Loading -----------------------------------------------------------------------------------------------------

    def _show_first(self, kept: Progress | str) -> None:
        """Show the map for the first time, or end the tutor with an error message."""
        with self._input_until_loaded:
            if isinstance(kept, str):
                self._farewell = kept
                self.exit(return_code=ExitCode.FAILURE)
                return
            self.progress = kept
            self.map_view.title = self.source.title
            self.frame.watch_progress(kept)
            self.map = MapController(self.frame, self.source, kept, self.map_view, self.open_when_made)
            self.loaded.set()
            self.map.show()
        if (start := self.source.start) is not None:
            self.begin(start)

    @work(exclusive=True, group="load")
    async def load(self, reading: Awaitable[Progress | str]) -> None:
        """Load what the map does not need; end the tutor if a package for that cannot be imported."""
        try:
            await self._load(reading)
        except (ImportError, SyntaxError, ValueError) as error:  # of a file of zeros, Python says the last two
            self.import_error = error
            with self._input_until_loaded:
                self.exit(return_code=ExitCode.INCOMPLETE)

    async def _load(self, reading: Awaitable[Progress | str]) -> None:
        """Show the map if it was not there at the first paint, then load the course, the session, and the views."""
        kept = await reading
        if not self.loaded.is_set():
            self._show_first(kept)
        if isinstance(kept, str):
            return
        if kept.problem:
            self.frame.notify(kept.problem, "warning", timeout=15)
        await self._painted()
        state = self.state = await asyncio.to_thread(startup.load, self.source, kept)
        self.frame.watch_session(state.async_session)
        self.ready_to_run.set()
        self.warm_up()

        # Also in a thread: importing the views takes a while, and keys must not wait for it.
        await asyncio.to_thread(startup.import_views)
        from attn_tutor.tui.controllers.assembly import assemble

        code_theme = "ansi_dark" if self.theme == "ansi-dark" else "monokai"
        self.parts = assemble(self.frame, self.source, state, self.terminal, code_theme, self._show_map)
        # In one batch: otherwise the map would be painted again after each view.
        with self.batch_update():
            for view in self.parts.views:
                await self.frame.add(view)
            await self.frame.add_beside(self.parts.beside)
            await self.frame.add_above(self.parts.findings.pane)
        self.assembled.set()
        gc.enable()
        if self.source.folder is not None:
            self.look_for_courses(self.source.folder)

    @work(exclusive=True, group="courses", exit_on_error=False)
    async def look_for_courses(self, here: CourseFolder) -> None:
        """Show the other courses on the map; the first paint does not wait for them."""
        self.map.show_others(await asyncio.to_thread(startup.other_courses, here))

    async def _painted(self) -> None:
        """Wait until the screen is painted: a thread that imports modules would slow that down."""
        painted = asyncio.Event()
        self.call_after_refresh(painted.set)
        await painted.wait()

    def _show_map(self) -> None:
        """Close the prompt, if one is open, and show the map."""
        self.state.async_session.close_prompt()
        self.map.show()

    @work(exclusive=True, group="warm", exit_on_error=False)
    async def warm_up(self) -> None:
        """Have the worker load PyTorch; recorded results are shown until it is ready."""
        from attn_tutor.lessons.results.result import WorkerError

        self.frame.show_title()
        try:
            await self.state.async_session.start()
        except WorkerError as error:
            self.frame.problem = str(error)
            self.frame.notify(say("cannot-run", "Code cannot be run: {reason}", reason=error), "error", timeout=20)
        self.frame.show_title()

    @work(exclusive=True, group="open")
    async def begin(self, start: StepPosition) -> None:
        """Open the first step as soon as the views are assembled; hold the keys until then. Then look at the files."""
        with self.input_held():
            await self.assembled.wait()
        again = self.source.again
        self.frame.note = again.note if again is not None else ""
        self.parts.open(start)
        if again is not None and again.watched:
            self.set_interval(LOOK_EVERY, partial(self._look, again))
        if again is not None and again.greeting is not None:
            self._say(again.greeting)

    @work(exclusive=True, group="open")
    async def open_when_made(
        self, lesson_id: str, step: str, purpose: Purpose = Purpose.WORK, *, name: str = ""
    ) -> None:
        """Open a step as soon as the views are assembled, at the tensor of this name; hold the keys until then."""
        with self.input_held():
            await self.assembled.wait()
        lesson = self.source.lesson(lesson_id)
        if purpose is Purpose.WORK:
            self.parts.open(StepPosition(lesson, lesson.index(step), name))
        else:
            self.parts.steps.jump(lesson, lesson.index(step), purpose)

    def _say(self, said: Notice) -> None:
        self.frame.notify(said.text, said.severity, said.seconds)

    # Reading it again ------------------------------------------------------------------------------------------------

    def _look(self, again: Again) -> None:
        """Read what is shown again if one of its files was saved."""
        found = again.look()
        if found.saved:
            self.read_again(again)
        elif found.said is not None:
            self._say(found.said)

    @work(exclusive=True, group="again", exit_on_error=False)
    async def read_again(self, again: Again) -> None:
        """Read what is shown again; show what has come of it, or say why nothing has."""
        steps = self.parts.steps
        news = await again.read_again(self.state.async_session, lambda: (steps.lesson, steps.step), self._say)
        self.frame.problem = news.problem or self.frame.problem
        self.frame.note = again.note
        if news.place is None:
            self.parts.findings.update()
            self.frame.show_title()
        elif news.leaves_map or self.frame.main_view_id != MAP:
            self.parts.open(news.place)
        else:
            self.map.show()
        if news.said is not None:
            self._say(news.said)

    @work(exclusive=True, group="again", exit_on_error=False)
    async def choose_call(self, which: Which) -> None:
        """Have another call shown of the function that the page is about."""
        steps = self.parts.steps
        assert self.source.choose_call is not None
        found = await self.source.choose_call(self.state.async_session, steps.step.id, which)
        if isinstance(found, ShownCall):
            place, history = found.place, steps.history if found.keeps_changes else None
            steps.open(place.lesson, place.index, history=history)
        else:
            self.frame.notify(found.reason, timeout=5)

    # Messages ----------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Draw the title and the rule for the new width of the screen."""
        # Later, because the app takes on its new size only after this event.
        self.call_later(self.frame.show_title)

    def on_descendant_focus(self) -> None:
        """Update the line of keys, which depends on the pane that has the focus."""
        self.frame.show_keys()

    def on_explaining_view_panes_changed(self) -> None:
        """Update the line of keys, which depends on the panes that are shown, and on whether a search has ended."""
        self.frame.show_keys()

    on_what_if_panel_all_listed = on_explaining_view_panes_changed

    def on_workbench_changed(self) -> None:
        """Update the title and the line of keys of the exercise, and what stands beside it."""
        self.frame.show_lines()
        self.parts.beside_step.update()

    def on_glossary_view_turned(self) -> None:
        """Update the title and the keys when the glossary switches between terms and references."""
        self.frame.show_lines()

    def on_map_view_open(self, event: MapView.Open) -> None:
        """Open what the learner has chosen on the map."""
        self.open_when_made(event.lesson.id, event.step, name=event.name)

    def on_map_view_selected(self, event: MapView.Selected) -> None:
        """Describe what is selected on the map, and update the keys, which depend on whether names are sought."""
        self.map.describe(event.lesson)
        self.frame.show_keys()

    def on_map_view_selected_course(self, event: MapView.SelectedCourse) -> None:
        """Describe the course that is selected on the map."""
        self.map_view.about_course(event.entry)

    def on_map_view_open_course(self, event: MapView.OpenCourse) -> None:
        """End the tutor, so that it opens again with another course."""
        if not event.entry.problem:
            self.next_course = event.entry.course
            self.exit()

    def on_map_view_challenge(self, event: MapView.Challenge) -> None:
        """Open the challenge of a lesson."""
        self.map.open_challenge(event.lesson)

    def on_map_view_review(self) -> None:
        """Open the next exercise that is due for review."""
        if self.loaded.is_set():
            self.map.open_review()

    @work(group="tensor-parts", exit_on_error=False)
    async def on_explaining_view_missing(self, event: ExplainingView.Missing) -> None:
        """Fetch the part of a large tensor that a matrix needs from the worker."""
        from attn_tutor.tui.controllers import tensor_answers

        await tensor_answers.fetch(self.state.async_session, event)

    @work(exclusive=True, group="explain", exit_on_error=False)
    async def on_explaining_view_asked(self, event: ExplainingView.Asked) -> None:
        """Have the worker explain how it computed a number."""
        from attn_tutor.tui.controllers import tensor_answers

        if why_not := await tensor_answers.explain(self.state.async_session, event):
            self.frame.notify(why_not, timeout=6)

    def on_lesson_view_changed(self, event: LessonView.Changed) -> None:
        """Run the step again with the learner's new changes."""
        self.parts.steps.change(event.lesson, event.history)

    def on_training_view_go(self, event: TrainingView.Go) -> None:
        """Start, pause or resume the training of a view."""
        self.parts.trainings.go(event.view)

    @work(group="prompt-input", exit_on_error=False)
    async def on_prompt_view_entered(self, event: PromptView.Entered) -> None:
        """Run the code that the learner has entered at the prompt."""
        await self.parts.prompt.enter(event.code)

    def on_prompt_view_stopped(self) -> None:
        """Stop the code that was entered at the prompt."""
        self.state.async_session.stop()

    def on_prompt_view_closed(self) -> None:
        """Close the prompt and go back to its step."""
        self.parts.prompt.close()

    @work(exclusive=True, group="flow", exit_on_error=False)
    async def on_flow_view_wanted(self, event: FlowView.Wanted) -> None:
        """Fetch a flow from the worker."""
        await self.parts.flow.fetch(event.question)

    @work(exclusive=True, group="flow-tensor", exit_on_error=False)
    async def on_flow_view_box_wanted(self, event: FlowView.BoxWanted) -> None:
        """Fetch the tensor of a box of the flow from the worker."""
        await self.parts.flow.fetch_tensor(event.question)

    def on_explaining_view_path_changed(self) -> None:
        """Draw the path of the explanation that is shown now into the flow beside the step."""
        self.parts.beside_step.update()

    def on_flow_view_closed(self) -> None:
        """Close the flow and go back to where the learner was."""
        self.parts.flow.close()

    def on_glossary_view_closed(self) -> None:
        """Close the glossary and go back to where the learner was."""
        self.parts.glossary.close()

    def on_glossary_view_go_to(self, event: GlossaryView.GoTo) -> None:
        """Go to the step that introduces a term."""
        self.parts.glossary.go_to(event.step_path)

    # Actions -----------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now: some need a step, the glossary needs the views to be assembled."""
        if action == "jump_back":
            return self.assembled.is_set() and self.parts.steps.jumped and self.parts.steps.is_visible
        if action == "side_step":
            return self.assembled.is_set() and self.parts.steps.is_visible and self.parts.steps.has_side_step
        if action == "call":
            return self.source.choose_call is not None and self.assembled.is_set() and self.parts.steps.is_visible
        if action == "glossary":
            return self.source.course is not None and self.assembled.is_set()
        if action == "export" and self.source.folder is None:
            return False
        if action == "export":
            # Elsewhere only while the title says so, because the progress cannot be saved.
            return self.frame.view_id == MAP or (self.loaded.is_set() and not self.progress.saved)
        if action in STEP_ACTIONS:
            return self.frame.main_view_id != MAP
        if action == "map":
            return self.frame.view_id != MAP
        return action != "take_home" or self.assembled.is_set()

    def action_next(self) -> None:
        """Go on to the next step, and count the current one as done if it was read or run."""
        self.parts.steps.next()

    def action_previous(self) -> None:
        """Go back to the previous step."""
        self.parts.steps.previous()

    def action_side_step(self) -> None:
        """Open the first side step of the current step."""
        self.parts.steps.turn_aside()

    def action_jump_back(self) -> None:
        """Go back to where the learner was before they jumped to a step."""
        self.parts.steps.jump_back()

    def action_map(self) -> None:
        """Go back to the course map."""
        self.parts.steps.leave()

    def action_rerun(self) -> None:
        """Run the step again, or all of what has no steps that run by themselves."""
        steps, again = self.parts.steps, self.source.again
        if again is None or not again.runs_whole:
            steps.rerun()
        elif steps.is_visible:
            self.read_again(again)

    def action_call(self, which: Which) -> None:
        """Show another call of the function that the page is about."""
        if self.parts.steps.may_leave():
            self.choose_call(which)

    def action_prompt(self) -> None:
        """Open a Python prompt on the step, with the learner's changes."""
        self.parts.prompt.open()

    def action_flow(self) -> None:
        """Show how the numbers of the current view flow, or go back from there."""
        self.parts.flow.toggle()

    def action_glossary(self) -> None:
        """Show the glossary, or go back to where the learner was."""
        self.parts.glossary.toggle()

    def action_take_home(self) -> None:
        """Show what can be taken home, or go back from there."""
        self.parts.home.toggle()

    def action_stop(self) -> None:
        """Stop the code or the training that is running."""
        if self.ready_to_run.is_set():
            self.state.async_session.stop()
        if self.frame.view_id != MAP:
            self.parts.steps.stop()

    def action_pane(self, step: int) -> None:
        """Move the focus `step` panes on within the view; -1 is the previous pane."""
        self.frame.view.move_pane(step)

    def action_next_pane(self) -> None:
        """Move the focus to the next pane of the view; the editor counts as a pane."""
        self.frame.view.next_pane()

    async def action_export(self) -> None:
        """Write the learner's progress and code to a file."""
        if self.loaded.is_set():
            self._exported = await export_progress(self.frame, self.progress, self._exported)

    def action_help(self) -> None:
        """Show the help for the current view, or hide it."""
        self.help_pane.toggle(self.frame.view.topic, *self.size)

    def action_redraw(self) -> None:
        """Send the whole screen again, over what another program has written onto the terminal."""
        self.redraw_terminal()

    def action_help_quit(self) -> None:
        """Name the keys that quit when the learner presses ctrl+c with nothing to copy; quit if they do so again."""
        now = asyncio.get_running_loop().time()
        if now - self._asked_to_quit < QUIT_AGAIN:
            self.exit()
            return
        self._asked_to_quit = now
        quit_key = short_keys("tutor.quit")
        leave = full_keys("editor.leave")
        self.frame.notify(
            say(
                "how-to-quit",
                "Press {quit} to quit (in the editor, press {leave} first), or {interrupt} again.",
                quit=quit_key,
                leave=leave,
                interrupt=INTERRUPT,
            ),
            timeout=QUIT_AGAIN,
        )

    async def action_quit(self) -> None:
        """Quit the tutor."""
        self.exit()

    async def on_event(self, event: Event) -> None:
        """Pass events on as usual, except that the help takes all keys but ctrl+c while it is shown."""
        if isinstance(event, Key) and self.help_pane.display and event.key != INTERRUPT:
            self.help_pane.take_key(event.key)
            event.prevent_default()
            event.stop()
            return
        await super().on_event(event)

    def close(self) -> Farewell:
        """End the worker, write pending progress, and return what is said after the tutor has ended."""
        with self._signals_handled:
            if not self.loaded.is_set():
                return Farewell(self._farewell)
            if self.ready_to_run.is_set():
                self.state.async_session.close()
            self.progress.close()
            return farewell(self.progress, self.source.folder.option if self.source.folder is not None else "")


async def export_progress(frame: Frame, progress: Progress, earlier: Path | None) -> Path | None:
    """Write progress and code to a temporary file, and notify the learner of its path or of the error.

    Args:
        frame: where the learner is notified.
        progress: the progress.
        earlier: the file that this session has exported to before, which is replaced.

    Returns:
        The file that this session has exported to, None if there is none.
    """
    from attn_tutor.lessons.learner.exports import export_to_temporary_file

    try:
        # In a thread, because keys must not wait for a disk.
        earlier = await asyncio.to_thread(export_to_temporary_file, progress, earlier)
        frame.notify(say("written", "Your progress and code were written to {file}", file=earlier), timeout=15)
    except OSError as error:
        frame.notify(
            say("not-written", "Your progress could not be written to a file: {reason}", reason=error), "error"
        )
    return earlier
