"""The tutor on the screen: composes the views, and passes messages and keys on to the controllers."""

from __future__ import annotations

import asyncio
import signal
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Event, Key
from textual.screen import Screen

from lessons.results.result import WorkerError
from tui.actions.bindings import bindings
from tui.actions.naming import full_keys, short_keys
from tui.controllers import progress_export, startup
from tui.controllers.course_map import MapController
from tui.controllers.frame import MAP, Frame
from tui.screens.map_view import MapView
from tui.screens.tutor_screen import TutorScreen
from tui.tty.exit_codes import ExitCode
from tui.tty.input_queue import OrderedInputApp
from tui.tty.terminal import Terminal, theme
from tui.widgets.help_pane import HelpPane

if TYPE_CHECKING:
    # Imported when they are needed, after the first paint: together they take longer than that.
    from lessons.engine.session import Session
    from lessons.format.lesson import Lesson
    from tui.controllers.assembly import Assembly
    from tui.controllers.learning_state import LearningState
    from tui.screens.explaining_view import ExplainingView
    from tui.screens.glossary_view import GlossaryView
    from tui.screens.lesson_view import LessonView
    from tui.screens.prompt_view import PromptView
    from tui.screens.training_view import TrainingView

STEP_ACTIONS = frozenset({"next", "previous", "map", "rerun", "play"})
"""What can be done where a step is, and not on the map."""


class TutorApp(OrderedInputApp):
    """The tutor. The course is loaded after the first paint, PyTorch in the worker after that."""

    CSS_PATH = "app.tcss"
    TITLE = "attn-tutor"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("tutor")]

    state: LearningState
    map: MapController
    parts: Assembly

    def __init__(self, terminal: Terminal, session: Session | None = None) -> None:
        super().__init__()
        self.theme = theme(terminal)
        self.terminal = terminal
        self.loaded = asyncio.Event()
        self.assembled = asyncio.Event()
        self._session = session
        self._farewell = ""
        self.map_view = MapView(terminal, id=MAP)
        self.frame = Frame(self, terminal, self.map_view)
        self.help_pane = HelpPane(ellipsis=terminal.ellipsis, way="down, up", id="help")

    def get_default_screen(self) -> Screen[None]:
        """The one screen."""
        return TutorScreen(id="_default")

    def compose(self) -> ComposeResult:
        """Title, progress of the lesson, the views, keys; help on top of them."""
        frame = self.frame
        yield from (frame.title_line, frame.rule, frame.views, frame.keys, self.help_pane)

    def on_mount(self) -> None:
        """Let a lost line end the tutor properly, then load the rest after the first paint."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGHUP, signal.SIGTERM):
            loop.add_signal_handler(number, partial(self.exit, None, 0))
        self.call_after_refresh(self.load)

    # Loading -----------------------------------------------------------------------------------------------------

    @work(exclusive=True, group="load")
    async def load(self) -> None:
        """Read course and progress in a thread, show the map, then warm up the worker and make the other views."""
        state = await asyncio.to_thread(startup.read, self._session)
        if isinstance(state, str):
            self._farewell = state
            self.exit(return_code=ExitCode.FAILURE)
            return
        self.state = state
        self.frame.watch(state.engine, state.store)
        self.map = MapController(self.frame, state, self.map_view, self.open_when_made)
        self.loaded.set()
        self.map.show()
        if state.store.problem:
            self.frame.notify(state.store.problem, "warning", timeout=15)
        self.warm_up()

        # In a thread as well: importing them takes a while, and keys shall not wait for it.
        await asyncio.to_thread(startup.import_views)
        from tui.controllers.assembly import assemble

        code_theme = "ansi_dark" if self.theme == "ansi-dark" else "monokai"
        self.parts = assemble(self.frame, state, self.terminal, code_theme, self.map.show)
        # Together: after each by itself the map would be sent once more.
        with self.batch_update():
            for view in self.parts.views:
                await self.frame.add(view)
        self.assembled.set()

    @work(exclusive=True, group="warm", exit_on_error=False)
    async def warm_up(self) -> None:
        """Load PyTorch; until then recorded results stand in."""
        self.frame.show_title()
        try:
            await self.state.engine.start()
        except WorkerError as error:
            self.frame.problem = str(error)
            self.frame.notify(f"Nothing can be run: {error}", "error", timeout=20)
        self.frame.show_title()

    @work(exclusive=True, group="open")
    async def open_when_made(self, lesson: Lesson, step: str, review: bool = False) -> None:
        """Open a step; a learner who is quicker than the loading waits for the views, and their keys do."""
        with self.input_held():
            await self.assembled.wait()
        self.parts.steps.open(lesson, lesson.index(step), review=review)

    # Messages ----------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """The rule is as wide as the screen."""
        # Later: the app takes on its new size after this.
        self.call_later(self.frame.show_title)

    def on_descendant_focus(self) -> None:
        """The keys depend on which pane has the focus."""
        self.frame.show_keys()

    def on_explaining_view_panes_changed(self) -> None:
        """The keys depend on which panes are hidden as well."""
        self.frame.show_keys()

    def on_workbench_changed(self) -> None:
        """In an exercise the title does, too."""
        self.frame.show_lines()

    def on_glossary_view_turned(self) -> None:
        """From the terms to the references, or back."""
        self.frame.show_lines()

    def on_map_view_open(self, event: MapView.Open) -> None:
        """Open a lesson."""
        self.open_when_made(event.lesson, event.step)

    def on_map_view_selected(self, event: MapView.Selected) -> None:
        """Tell about a lesson."""
        self.map.describe(event.lesson)

    def on_map_view_challenge(self, event: MapView.Challenge) -> None:
        """Open the challenge of a lesson."""
        self.map.open_challenge(event.lesson)

    def on_map_view_review(self) -> None:
        """Open the next exercise that is to be done again."""
        if self.loaded.is_set():
            self.map.open_review()

    @work(group="windows", exit_on_error=False)
    async def on_explaining_view_missing(self, event: ExplainingView.Missing) -> None:
        """Fetch from the worker what a matrix wants of a large tensor."""
        from tui.controllers import tensor_answers

        await tensor_answers.fetch(self.state.engine, event)

    @work(exclusive=True, group="explain", exit_on_error=False)
    async def on_explaining_view_asked(self, event: ExplainingView.Asked) -> None:
        """Have a number explained by the worker that made it."""
        from tui.controllers import tensor_answers

        if why_not := await tensor_answers.explain(self.state.engine, event):
            self.frame.notify(why_not, timeout=6)

    def on_lesson_view_changed(self, event: LessonView.Changed) -> None:
        """Run the step again with other changes."""
        self.parts.steps.change(event.lesson, event.history)

    def on_training_view_go(self, event: TrainingView.Go) -> None:
        """Start the training, let it wait, or let it go on."""
        self.parts.trainings.go(event.view)

    @work(group="play-input", exit_on_error=False)
    async def on_prompt_view_entered(self, event: PromptView.Entered) -> None:
        """Run an input of the prompt."""
        await self.parts.prompt.enter(event.code)

    def on_prompt_view_stopped(self) -> None:
        """Stop what the prompt runs."""
        self.state.engine.stop()

    def on_prompt_view_closed(self) -> None:
        """Go back to the step."""
        self.parts.prompt.close()

    def on_glossary_view_closed(self) -> None:
        """Go back to where the learner was."""
        self.parts.glossary.close()

    def on_glossary_view_go_to(self, event: GlossaryView.GoTo) -> None:
        """Go to the step that introduces a term."""
        self.parts.glossary.go_to(event.place)

    # Actions -----------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key means something now: there is no step on the map, and at first nothing but the map."""
        if action in STEP_ACTIONS:
            return self.frame.shown != MAP
        return action != "glossary" or self.assembled.is_set()

    def action_next(self) -> None:
        """Go on to the next step; what was read or run is done then."""
        self.parts.steps.next()

    def action_previous(self) -> None:
        """Go back to the step before."""
        self.parts.steps.previous()

    def action_map(self) -> None:
        """Go back to the course map."""
        self.parts.steps.leave()

    def action_rerun(self) -> None:
        """Run the step again."""
        self.parts.steps.rerun()

    def action_play(self) -> None:
        """Open a Python prompt on the step, with the learner's changes."""
        self.parts.prompt.open()

    def action_glossary(self) -> None:
        """Show the glossary, or go back to where the learner was."""
        self.parts.glossary.toggle()

    def action_stop(self) -> None:
        """Stop what is running."""
        if self.loaded.is_set():
            self.state.engine.stop()
        if self.frame.shown != MAP:
            self.parts.steps.stop()

    def action_pane(self, step: int) -> None:
        """Go to the next pane of the view, or to the one before."""
        self.frame.view.move_pane(step)

    def action_next_pane(self) -> None:
        """Go to the next pane, the editor among them."""
        self.frame.view.next_pane()

    async def action_export(self) -> None:
        """Write progress and code to a file."""
        if self.loaded.is_set():
            await progress_export.export(self.frame, self.state.store)

    def action_help(self) -> None:
        """Show the keys of where the learner is, or hide them."""
        self.help_pane.toggle(self.frame.view.topic, *self.size)

    def action_help_quit(self) -> None:
        """Say on ctrl+c what quits: it does not, since it also copies."""
        quit_key = short_keys("tutor.quit")
        self.frame.notify(f"{quit_key} quits (in the editor: {full_keys('editor.leave')}, then {quit_key})")

    async def action_quit(self) -> None:
        """Quit; everything is kept."""
        self.exit()

    async def on_event(self, event: Event) -> None:
        """Pass every event on, but a key to the help as long as it is shown."""
        if isinstance(event, Key) and self.help_pane.display:
            self.help_pane.take_key(event.key)
            event.prevent_default()
            event.stop()
            return
        await super().on_event(event)

    def close(self) -> str:
        """End the worker and write what is still to be written. Returns what to say on the way out."""
        if not self.loaded.is_set():
            return self._farewell
        self.state.engine.close()
        self.state.store.close()
        return progress_export.farewell(self.state.store)
