"""The tutor on the screen: one screen, three views, and what connects them with the worker and the progress store."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import signal
import sys
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Event, Key
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from lessons.learner import milestones
from lessons.results.result import WorkerError
from tui.actions.bindings import bindings
from tui.actions.hints import mention
from tui.actions.naming import full_keys, short_keys
from tui.screens.map_view import MapView
from tui.tty import hangup_guard
from tui.tty.exit_codes import ExitCode
from tui.tty.input_queue import OrderedInputApp
from tui.tty.terminal import Terminal, theme
from tui.tty.textual_patches import forgive
from tui.widgets.text_line import TextLine
from tui.widgets.text_pane import TextPane

if TYPE_CHECKING:
    # Imported when they are needed, after the first paint: together they take longer than that.
    from lessons.engine.session import Session
    from lessons.format.lesson import Course, Lesson
    from lessons.learner.progress import Progress
    from lessons.results.result import Tensor, TrainingSnapshot
    from lessons.what_if.changes import ChangeHistory
    from tui.controllers.question_session import QuestionSession
    from tui.screens.explaining_view import ExplainingView
    from tui.screens.glossary_view import GlossaryView
    from tui.screens.lesson_view import LessonView
    from tui.screens.prompt_view import PromptView
    from tui.screens.training_view import TrainingView
    from tui.screens.workbench import Workbench
    from tui.state.async_session import AsyncSession
    from tui.state.step_results import StepResults, TrainingReplays
    from tui.state.training_replay import TrainingReplay

DIM, TITLE = Style(dim=True), Style(bold=True, color="cyan")
HELP_KEYS = {"down": 1, "pagedown": 1, "space": 1, "up": -1, "pageup": -1}
"""Keys that turn the pages of a long help."""

NICE = 10


class TutorScreen(Screen[None]):
    """The one screen. Moving the focus does not repaint all of it, as it does in Textual's own."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("screen")]

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)


class TutorApp(OrderedInputApp):
    """The tutor. The course is loaded after the first paint, PyTorch in the worker after that."""

    CSS_PATH = "app.tcss"
    TITLE = "attn-tutor"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("tutor")]

    course: Course
    store: Progress
    engine: AsyncSession
    results: StepResults
    films: TrainingReplays
    lesson_view: LessonView
    training_view: TrainingView
    workbench: Workbench
    asking: QuestionSession
    play_view: PromptView
    glossary_view: GlossaryView
    history: ChangeHistory

    def __init__(self, terminal: Terminal, session: Session | None = None) -> None:
        super().__init__()
        self.theme = theme(terminal)
        self.terminal = terminal
        self.loaded = False
        self.lesson: Lesson | None = None
        self.index = 0
        self._session = session
        self._views_made = asyncio.Event()
        self._engine_problem = ""
        self._farewell = ""
        self._remark = ""
        # Where the learner was, and which widget had the keys, when they opened the glossary.
        self._looked_up_from: tuple[str, Widget | None] = ("map", None)
        self.title_line = TextLine(Text(" attn-tutor", TITLE), ellipsis=terminal.ellipsis, id="title")
        self.rule = TextLine(ellipsis=terminal.ellipsis, id="rule")
        self.map_view = MapView(terminal, id="map")
        self.views = ContentSwitcher(self.map_view, id="views", initial="map")
        self.keys = TextLine(ellipsis=terminal.ellipsis, id="keys")
        self.help_pane = TextPane(ellipsis=terminal.ellipsis, way="down, up", id="help")

    def get_default_screen(self) -> Screen[None]:
        """The one screen."""
        return TutorScreen(id="_default")

    def compose(self) -> ComposeResult:
        """Title, progress of the lesson, the views, keys; help on top of them."""
        yield from (self.title_line, self.rule, self.views, self.keys, self.help_pane)

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
        parts = await asyncio.to_thread(_load, self._session)
        if isinstance(parts, str):
            self._farewell = parts
            self.exit(return_code=ExitCode.FAILURE)
            return
        self.course, self.store, self.engine, self.results, self.films = parts
        self.loaded = True
        self.show_map()
        self.map_view.list.focus()
        if self.store.problem:
            self.notify(self.store.problem, severity="warning", markup=False, timeout=15)
        self.warm_up()

        # In a thread as well: importing them takes a while, and keys shall not wait for it.
        await asyncio.to_thread(_import_views)
        from tui.controllers.question_session import QuestionSession
        from tui.screens.glossary_view import GlossaryView
        from tui.screens.lesson_view import LessonView
        from tui.screens.prompt_view import PromptView
        from tui.screens.training_view import TrainingView
        from tui.screens.workbench import Workbench

        code_theme = "ansi_dark" if self.theme == "ansi-dark" else "monokai"
        self.lesson_view = LessonView(self.terminal, code_theme, id="lesson")
        self.training_view = TrainingView(self.terminal, code_theme, self.films, id="training")
        self.play_view = PromptView(self.terminal, code_theme, id="play")
        self.workbench = Workbench(self.terminal, code_theme, self.engine, self.store, id="exercise")
        self.asking = QuestionSession(self.terminal, code_theme, self.store, id="question")
        self.glossary_view = GlossaryView(self.terminal, id="glossary")
        # Together: after each by itself the map would be sent once more.
        with self.batch_update():
            for view in (
                *(self.lesson_view, self.training_view, self.workbench),
                *(self.play_view, self.asking, self.glossary_view),
            ):
                await self.views.add_content(view)
        self._views_made.set()

    @work(exclusive=True, group="warm", exit_on_error=False)
    async def warm_up(self) -> None:
        """Load PyTorch; until then recorded results stand in."""
        self._set_title()
        try:
            await self.engine.start()
        except WorkerError as error:
            self._engine_problem = str(error)
            self.notify(f"Nothing can be run: {error}", severity="error", markup=False, timeout=20)
        self._set_title()

    # Views -------------------------------------------------------------------------------------------------------

    def show_map(self) -> None:
        """Show the course map with the progress of now."""
        self.engine.end_play()
        self._remark = ""
        self.map_view.show(self.course, self.store)
        self.views.current = "map"
        if self.map_view.selected is not None:
            self._about(self.map_view.selected)
        self._set_title()
        self._set_keys()

    def open_step(self, lesson: Lesson, index: int, *, remark: str = "", review: bool = False) -> None:
        """Show a step: at once with what is recorded, then live.

        Args:
            lesson, index: the step.
            remark: something to be said in the title, as long as this step is shown.
            review: it is an exercise that is to be done again, from the start.
        """
        from lessons.format.lesson import ExerciseStep, Question
        from lessons.what_if.changes import ChangeHistory

        self.engine.end_play()
        if lesson is not self.lesson:
            self.history = ChangeHistory()
            self.results.forget()
        self.lesson, self.index, self._remark = lesson, index, remark
        step = lesson.steps[index]
        self.store.visit(lesson.id, step.id)
        if isinstance(step, ExerciseStep):
            self.engine.stop()
            self.views.current = "exercise"
            (self.workbench.review if review else self.workbench.open)(lesson, step)
        elif isinstance(step, Question):
            self.views.current = "question"
            if review:
                self.asking.review(step)
            shown = self.results.at_once(lesson, step)
            self.asking.show_question(lesson, step, shown.result, shown.note)
            self.asking.focus_answer()
        else:
            view = self._step_view
            self.views.current = view.id
            shown = self.results.at_once(lesson, step)
            view.show_step(lesson, step, shown.result, shown.note, self.history)
            view.focus_active()
        self._set_title()
        self._set_keys()
        if not isinstance(step, ExerciseStep):
            self.run_step(lesson, index)

    @work(exclusive=True, group="run", exit_on_error=False)
    async def run_step(self, lesson: Lesson, index: int) -> None:
        """Run the lesson up to a step, and show the live results if the learner is still there."""
        from lessons.format.lesson import ExerciseStep, Question
        from lessons.what_if.changes import UNCHANGED

        step = lesson.steps[index]
        assert not isinstance(step, ExerciseStep)
        try:
            # A question is about the lesson as it is.
            changes = UNCHANGED if isinstance(step, Question) else self.history.current
            shown = await self.results.live(lesson, step, changes)
        except ValueError as error:  # a change that cannot be made
            self.notify(str(error), markup=False)
            return
        except WorkerError as error:
            self._engine_problem = str(error)
            self._set_title()
            return
        self._engine_problem = ""
        if isinstance(step, Question):
            if self._is_at(lesson, index, "question"):
                self.asking.show_question(lesson, step, shown.result, shown.note)
                self._set_title()
        # Also behind the prompt: the learner comes back to it.
        elif any(self._is_at(lesson, index, view) for view in ("lesson", "training", "play")):
            self._step_view.show_step(lesson, step, shown.result, shown.note, self.history, shown.base)
            self._set_title()

    @property
    def _step_view(self) -> LessonView:
        """The view of a step that is no exercise."""
        from lessons.format.lesson import TrainStep

        trains = self.lesson is not None and isinstance(self.lesson.steps[self.index], TrainStep)
        return self.training_view if trains else self.lesson_view

    def _is_at(self, lesson: Lesson, index: int, view: str) -> bool:
        """Whether the learner is still where they were when something was asked of the worker."""
        return (self.lesson, self.index) == (lesson, index) and self._place == view

    @property
    def _place(self) -> str:
        """The view that is shown, or that the glossary stands in front of."""
        current = self.views.current or "map"
        return self._looked_up_from[0] if current == "glossary" else current

    def _about(self, lesson: Lesson) -> None:
        step_id, _, name = lesson.thumbnail.partition("/")
        result = self.results.of(lesson).get(step_id)
        thumbnail: Tensor | None = (
            next((each for each in result.tensors if each.name == name), None) if result else None
        )
        self.map_view.about(lesson, self.store, thumbnail, milestones.due(self.course, self.store))

    # Trainings ---------------------------------------------------------------------------------------------------

    def on_training_view_go(self) -> None:
        """Start the training, let it wait, or let it go on."""
        film = self.training_view.film
        if film.state in ("starting", "running"):
            self.engine.pause()
            film.pause()
        elif film.state == "paused":
            self.engine.resume()
            film.resume()
        elif not film.busy and self.lesson is not None:
            self.train(self.lesson, self.index)
        self.training_view.changed()

    # Of the same group as runs: what is run next stops it.
    @work(exclusive=True, group="run", exit_on_error=False)
    async def train(self, lesson: Lesson, index: int) -> None:
        """Have a step train, with the learner's changes, and show its pictures as they come."""
        from lessons.format.lesson import TrainStep
        from lessons.results.result import Failure, Training

        step, changes, loop = lesson.steps[index], self.history.current, asyncio.get_running_loop()
        assert isinstance(step, TrainStep)
        film = self.films.begin(lesson, step, changes)
        context = contextvars.copy_context()

        def take(picture: TrainingSnapshot) -> None:
            # In another thread, which knows nothing of the app; and perhaps after that has been left.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._take_picture, film, picture, context=context)

        self.training_view.begins(film)
        self._set_keys()
        ended = Training((), stopped=True)
        try:
            ended = await self.engine.train(lesson, step.id, take, changes)
        except ValueError as error:  # a change that cannot be made
            ended = Training((), Failure("error", str(error)))
        except WorkerError as error:
            self._engine_problem = str(error)
            ended = Training((), Failure("crash", str(error)))
        finally:
            self.films.end(film, ended)
            self.training_view.ends(film, self.films.of(lesson, step, changes))
            self._set_title()
            self._set_keys()
        if film.state == "trained":
            # What rests on the training is another now.
            self.results.forget()
            if (self.lesson, self.index) == (lesson, index):
                self.run_step(lesson, index)

    def _take_picture(self, film: TrainingReplay, picture: TrainingSnapshot) -> None:
        film.add(picture)
        self.training_view.comes(film)

    def _may_leave(self) -> bool:
        """Whether the learner may go elsewhere: a training that runs is not to be lost by one wrong key."""
        if self._place != "training" or not self.training_view.busy:
            return True
        leaves = self.training_view.may_leave()
        if leaves:
            self.engine.stop()
        return leaves

    # The prompt --------------------------------------------------------------------------------------------------

    def action_play(self) -> None:
        """Open a Python prompt on the step, with the learner's changes."""
        from lessons.format.lesson import Exercise

        if self.views.current not in ("lesson", "training") or self.lesson is None or not self._may_leave():
            return
        step = self.lesson.steps[self.index]
        assert not isinstance(step, Exercise)
        self.views.current = "play"
        self._set_title()
        self.play_view.open(self.lesson, step)
        self.start_play(self.lesson, self.index)

    @work(exclusive=True, group="play", exit_on_error=False)
    async def start_play(self, lesson: Lesson, index: int) -> None:
        """Have a run of its own for the prompt, and say what there is to use."""
        try:
            names = await self.engine.play(lesson, lesson.steps[index].id, self.history.current)
        except (WorkerError, ValueError) as error:
            self.play_view.say(f"Nothing can be run: {error}")
            return
        if self._is_at(lesson, index, "play"):
            self.play_view.know(names)

    @work(group="play-input", exit_on_error=False)
    async def on_prompt_view_entered(self, event: PromptView.Entered) -> None:
        """Run an input and show what came of it."""
        prompt = self.play_view.opened
        try:
            played = await self.engine.enter(event.code)
        except (WorkerError, ValueError) as error:
            if self.play_view.opened == prompt:
                self.play_view.say(f"This could not be run: {error}")
            return
        if self.play_view.opened == prompt and self.views.current == "play":
            self.play_view.show_result(played)

    def on_prompt_view_stopped(self) -> None:
        """Stop what the prompt runs."""
        self.engine.stop()

    def on_prompt_view_closed(self) -> None:
        """Back to the step, which knows nothing of the prompt."""
        self.engine.end_play()
        view = self._step_view
        self.views.current = view.id
        self._set_title()
        view.focus_active()
        self._set_keys()

    # The glossary ------------------------------------------------------------------------------------------------

    def action_glossary(self) -> None:
        """Show the glossary, the terms of the step first, or go back to where the learner was."""
        from lessons.reading import glossary
        from lessons.reading.loader import LessonError

        if not self._views_made.is_set():
            return
        if self.views.current == "glossary":
            self.on_glossary_view_closed()
            return
        try:
            words = glossary.load()
        except LessonError as error:
            self.notify(f"The glossary cannot be read: {error}", severity="error", markup=False)
            return
        place = self.views.current or "map"
        self._looked_up_from = (place, self.focused)
        step = self.lesson.steps[self.index] if self.lesson is not None and place != "map" else None
        self.views.current = "glossary"
        self.glossary_view.open(words, self.course, step)
        self._set_title()
        self._set_keys()

    def on_glossary_view_closed(self) -> None:
        """Back to where the learner was."""
        self.views.current, focused = self._looked_up_from
        if focused is not None:
            focused.focus(scroll_visible=False)
        self._set_title()
        self._set_keys()

    def on_glossary_view_go_to(self, event: GlossaryView.GoTo) -> None:
        """To the step that introduces a term."""
        lesson, _, step = event.place.partition("/")
        found = self.course.lesson(lesson)
        self.open_step(found, found.index(step))

    # Lines -------------------------------------------------------------------------------------------------------

    def _rule(self, done: int, of: int) -> Text:
        """A line across the screen; the heavy part is how far the learner is in the lesson."""
        width = max(self.size.width, 1)
        heavy, light = ("━", "─") if self.terminal.unicode else ("=", "-")
        part = width * done // of
        return Text.assemble((heavy * part, TITLE), (light * (width - part), DIM))

    def _set_title(self) -> None:
        where = []
        if not self.loaded:
            where.append("loading the course")
        elif self._engine_problem:
            where.append("cannot run code")
        elif not self.engine.ready:
            where.append("loading PyTorch")
        if self.loaded and not self.store.saved:
            where.append(f"not saved ({mention('tutor.export')})")
        if self.views.current == "glossary":
            self.title_line.set(Text(f" {self.glossary_view.title}", TITLE), "   ".join(where))
            return
        if self.views.current == "map" or self.lesson is None:
            self.title_line.set(Text(" attn-tutor", TITLE), "   ".join([*where, "course map "]))
            self.rule.set(self._rule(0, 1))
            return
        step = self.lesson.steps[self.index]
        if self.views.current in ("lesson", "training", "play") and self.history.current:
            where.append("what if")
        place = f"lesson {self.lesson.number}   step {self.index + 1} of {len(self.lesson.steps)} "
        titles = {"play": f"Python: {step.title}"}
        if self.views.current == "exercise":
            titles["exercise"] = self.workbench.title
        title = titles.get(self.views.current or "", step.title)
        if self._remark:
            # In as many words as fit: where the learner is must not give way to it.
            room = self.size.width - cell_len(title) - sum(len(each) + 3 for each in (*where, place)) - 4
            where += next(([said] for said in (self._remark, "skipped") if len(said) <= room), [])
        self.title_line.set(Text(f" {title}", TITLE), "   ".join([*where, place]))
        self.rule.set(self._rule(self.index + 1, len(self.lesson.steps)))

    @property
    def _view(self) -> MapView | LessonView | Workbench | PromptView | QuestionSession | GlossaryView:
        """The view that is shown."""
        match self.views.current:
            case "lesson":
                return self.lesson_view
            case "training":
                return self.training_view
            case "exercise":
                return self.workbench
            case "play":
                return self.play_view
            case "question":
                return self.asking
            case "glossary":
                return self.glossary_view
            case _:
                return self.map_view

    def _set_keys(self) -> None:
        self.keys.set(Text(f" {self._view.keys}", DIM))

    def on_resize(self) -> None:
        """The rule is as wide as the screen."""
        # Later: the app takes on its new size after this.
        self.call_later(self._set_title)

    # Messages ----------------------------------------------------------------------------------------------------

    def on_map_view_open(self, event: MapView.Open) -> None:
        """Open a lesson."""
        self.open_when_made(event.lesson, event.lesson.index(event.step))

    @work(exclusive=True, group="open")
    async def open_when_made(self, lesson: Lesson, index: int, review: bool = False) -> None:
        """Open a step; a learner who is quicker than the loading waits for the views."""
        await self._views_made.wait()
        self.open_step(lesson, index, review=review)

    def on_map_view_selected(self, event: MapView.Selected) -> None:
        """Tell about a lesson."""
        self._about(event.lesson)

    def on_map_view_challenge(self, event: MapView.Challenge) -> None:
        """Open the challenge of a lesson."""
        challenge = event.lesson.challenge
        if challenge is None:
            self.notify("This lesson has no challenge.", markup=False, timeout=4)
        else:
            self.open_when_made(event.lesson, event.lesson.index(challenge.id))

    def on_map_view_review(self) -> None:
        """Open the next exercise that is to be done again."""
        due = milestones.due(self.course, self.store) if self.loaded else []
        if due:
            lesson, exercise = due[0]
            self.open_when_made(lesson, lesson.index(exercise.id), review=True)
        else:
            self.notify("Nothing is due for review.", markup=False, timeout=4)

    def on_descendant_focus(self) -> None:
        """The keys depend on which pane has the focus."""
        self._set_keys()

    def on_explaining_view_panes_changed(self) -> None:
        """And on which panes are hidden."""
        self._set_keys()

    def on_workbench_changed(self) -> None:
        """In an exercise the title as well."""
        if self.views.current == "exercise":
            self._set_title()
            self._set_keys()

    @work(group="windows", exit_on_error=False)
    async def on_explaining_view_missing(self, event: ExplainingView.Missing) -> None:
        """Fetch from the worker what a matrix wants of a large tensor."""
        from tui.controllers import tensor_answers

        await tensor_answers.fetch(self.engine, event)

    @work(exclusive=True, group="explain", exit_on_error=False)
    async def on_explaining_view_asked(self, event: ExplainingView.Asked) -> None:
        """Have a number explained by the worker that made it."""
        from tui.controllers import tensor_answers

        if why_not := await tensor_answers.explain(self.engine, event):
            self.notify(why_not, markup=False, timeout=6)

    def on_lesson_view_changed(self, event: LessonView.Changed) -> None:
        """Run the step again with other changes."""
        if self.lesson is not None and self.views.current in ("lesson", "training"):
            self.run_step(self.lesson, self.index)

    # Actions -----------------------------------------------------------------------------------------------------

    def action_next(self) -> None:
        """Go on to the next step; what was read or run is done then."""
        if self.lesson is None or self.views.current == "map" or not self._may_leave():
            return
        remark = milestones.leave(self.store, self.lesson, self.lesson.steps[self.index])
        if self.index + 1 < len(self.lesson.steps):
            self.open_step(self.lesson, self.index + 1, remark=remark)
            return
        place = self.course.lessons.index(self.lesson)
        if place + 1 < len(self.course.lessons):
            self.open_step(self.course.lessons[place + 1], 0, remark=remark)
        else:
            self.show_map()
            self.map_view.list.focus()

    def action_previous(self) -> None:
        """Back to the step before."""
        if self.lesson is None or self.views.current == "map" or not self._may_leave():
            return
        if self.index > 0:
            self.open_step(self.lesson, self.index - 1)
            return
        place = self.course.lessons.index(self.lesson)
        if place > 0:
            before = self.course.lessons[place - 1]
            self.open_step(before, len(before.steps) - 1)

    def action_map(self) -> None:
        """To the course map."""
        if self.views.current != "map" and self._may_leave():
            self.engine.stop()
            self.show_map()
            self.map_view.list.focus()

    def action_pane(self, step: int) -> None:
        """To the next pane of the view."""
        if self.views.current == "map":
            self.map_view.move_pane()
        elif not isinstance(self._view, MapView):
            self._view.move_pane(step)
            if self.views.current == "glossary":
                self._set_title()
                self._set_keys()

    def action_next_pane(self) -> None:
        """To the next pane, the editor among them."""
        if self.views.current == "exercise":
            self.workbench.move_pane(1, editor=True)
        else:
            self.action_pane(1)

    def action_rerun(self) -> None:
        """Run the step again."""
        if self.views.current in ("lesson", "training", "question") and self.lesson is not None and self._may_leave():
            self.run_step(self.lesson, self.index)

    def action_stop(self) -> None:
        """Stop what is running."""
        if self.loaded:
            self.engine.stop()
        if self.views.current == "training":
            self.training_view.film.stop()
            self.training_view.changed()

    async def action_export(self) -> None:
        """Write progress and code to a file."""
        from lessons.learner.exports import export_to_temporary_file

        if not self.loaded:
            return
        try:
            # In a thread, since no key shall wait for a disk.
            where = await asyncio.to_thread(export_to_temporary_file, self.store)
            self.notify(f"Written to {where}", markup=False, timeout=15)
        except OSError as error:
            self.notify(f"Could not be written: {error}", severity="error", markup=False)

    def action_help(self) -> None:
        """Show the keys of where the learner is, or hide them."""
        from tui.actions import help_pages

        pane = self.help_pane
        if pane.display:
            pane.display = False
            return
        topic = self.workbench.topic if self.views.current == "exercise" else self.views.current or "map"
        room = max(1, self.size.height - 3)
        text = help_pages.rendered(help_pages.PAGES[topic])
        pane.show(Text(text + help_pages.ANY_KEY))
        if pane.lines_at(self.size.width) > room:
            pane.show(Text(help_pages.SCROLL + text))
        pane.styles.height = min(pane.lines_at(self.size.width), room)
        pane.display = True

    async def on_event(self, event: Event) -> None:
        """Any key closes the help, and does nothing else; the arrows scroll one that is longer than the screen."""
        if isinstance(event, Key) and self.help_pane.display:
            if self.help_pane.longer and event.key in HELP_KEYS:
                self.help_pane.action_scroll_lines(HELP_KEYS[event.key] * max(1, self.help_pane.size.height - 2))
            else:
                self.help_pane.display = False
            event.prevent_default()
            event.stop()
            return
        await super().on_event(event)

    def action_help_quit(self) -> None:
        """What ctrl+c says: it does not quit, since it also copies."""
        quit_key = short_keys("tutor.quit")
        self.notify(f"{quit_key} quits (in the editor: {full_keys('editor.leave')}, then {quit_key})", markup=False)

    async def action_quit(self) -> None:
        """Quit; everything is kept."""
        self.exit()

    def close(self) -> str:
        """End the worker and write what is still to be written. Returns what to say on the way out."""
        if self.loaded:
            self.engine.close()
            self.store.close()
            if not self.store.saved:
                return self._unsaved()
        return self._farewell

    def _unsaved(self) -> str:
        from lessons.learner.exports import export_to_temporary_file

        try:
            file = export_to_temporary_file(self.store)
            where = f"It was written to {file}: bring it back with 'attn-tutor import FILE'."
        except OSError as error:
            where = f"It could not be exported either: {error}"
        return f"{self.store.problem}\n{where}"


def _load(session: Session | None) -> tuple[Course, Progress, AsyncSession, StepResults, TrainingReplays] | str:
    """Course, progress and worker; a text for the author if the course cannot be read."""
    from lessons.engine.session import Session
    from lessons.learner.progress import Progress
    from lessons.reading.loader import LessonError, load_course
    from tui.state.async_session import AsyncSession
    from tui.state.step_results import StepResults, TrainingReplays

    try:
        course = load_course()
    except LessonError as error:
        return f"The course cannot be read:\n{error}"
    engine = AsyncSession(session or Session(nice=NICE))
    return course, Progress.open(background=True), engine, StepResults(engine), TrainingReplays()


def _import_views() -> None:
    """Have the modules of the views imported."""
    from tui.controllers import question_session  # noqa: F401
    from tui.screens import glossary_view, lesson_view, prompt_view, training_view, workbench  # noqa: F401


def open_tutor(terminal: Terminal) -> int:
    """Open the tutor on this terminal and return its exit status."""
    forgive()
    hangup_guard.guard()
    app = TutorApp(terminal)
    try:
        app.run()
    finally:
        farewell = app.close()
        if farewell:
            # There may be nobody left to read it.
            with contextlib.suppress(OSError):
                print(farewell, file=sys.stderr)
    return app.return_code or 0
