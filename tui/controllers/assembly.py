"""The views other than the map, that of each model of a step, and the controllers that connect them with the worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from attn_tutor.lessons.play.exercise import ExerciseModel
from attn_tutor.lessons.play.kinds import MODELS
from attn_tutor.lessons.play.step import StepModel, TrainingModel
from attn_tutor.lessons.play.task import ExperimentModel, FindModel, QuestionModel
from attn_tutor.tui.controllers.flow_controller import FlowController
from attn_tutor.tui.controllers.frame import FLOW, GLOSSARY, HOME, PROMPT, Frame, LearningState
from attn_tutor.tui.controllers.glossary_controller import GlossaryController
from attn_tutor.tui.controllers.home_controller import HomeController
from attn_tutor.tui.controllers.prompt_controller import PromptController
from attn_tutor.tui.controllers.side_controller import SideController
from attn_tutor.tui.controllers.step_controller import FindingsController, StepController
from attn_tutor.tui.controllers.training_controller import TrainingController
from attn_tutor.tui.screens.experiment_view import ExperimentView
from attn_tutor.tui.screens.flow_view import FlowView
from attn_tutor.tui.screens.glossary_view import GlossaryView
from attn_tutor.tui.screens.home_view import HomeView
from attn_tutor.tui.screens.lesson_view import LessonView
from attn_tutor.tui.screens.prompt_view import PromptView
from attn_tutor.tui.screens.question_view import FindView, QuestionView
from attn_tutor.tui.screens.step_view import StepView, View, ViewContext
from attn_tutor.tui.screens.training_view import TrainingView
from attn_tutor.tui.screens.workbench import Workbench
from attn_tutor.tui.sources.source import Source, StepPosition
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.side_panel import SidePanel
from attn_tutor.tui.widgets.text import FindingsPane

VIEWS: Mapping[type[StepModel], type[StepView]] = {
    StepModel: LessonView,
    TrainingModel: TrainingView,
    ExerciseModel: Workbench,
    QuestionModel: QuestionView,
    FindModel: FindView,
    ExperimentModel: ExperimentView,
}
"""The class of the view that draws each model of a step."""


def make_views(context: ViewContext) -> dict[str, StepView]:
    """Return the view of each kind of step, by the `kind` that lesson files use; kinds of one model share a view."""
    views = {model: view.make(context) for model, view in VIEWS.items()}
    return {kind: views[model] for kind, model in MODELS.items()}


class Assembly(NamedTuple):
    """The views and controllers of the tutor, connected with each other.

    Attributes:
        views: every view other than the map, without repetition.
        step_views: the view of each kind of step.
        beside: what stands beside the views of steps on a wide screen; `beside_step` fills it.
    """

    views: tuple[View, ...]
    step_views: Mapping[str, StepView]
    steps: StepController
    trainings: TrainingController
    prompt: PromptController
    glossary: GlossaryController
    flow: FlowController
    home: HomeController
    beside: SidePanel
    beside_step: SideController
    findings: FindingsController

    def open(self, place: StepPosition) -> None:
        """Open a step with the cursor in its tensor of a name, or of the name that has the cursor."""
        view = self.step_views[place.lesson.steps[place.index].kind]
        if isinstance(view, LessonView):
            view.prefer(view.active_name if place.name is None else place.name)
        self.steps.open(place.lesson, place.index)
        if isinstance(view, LessonView) and place.name is None:
            view.prefer("")


def assemble(
    frame: Frame,
    source: Source,
    state: LearningState,
    terminal: Terminal,
    code_theme: str,
    show_map: Callable[[], None],
) -> Assembly:
    """Make the views and controllers, and return them; controllers call `show_map` to go back to the map."""
    step_views = make_views(ViewContext(terminal, code_theme, state.async_session, state.learning.progress))
    prompt_view = PromptView(terminal, code_theme, id=PROMPT)
    glossary_view = GlossaryView(terminal, id=GLOSSARY)
    flow_view = FlowView(terminal, id=FLOW)
    home_view = HomeView(terminal, id=HOME)
    steps = StepController(frame, state, step_views, show_map)
    side_panel = SidePanel(terminal, id="side")
    side = SideController(frame, state, steps, side_panel)
    flow = FlowController(frame, state.async_session, steps, flow_view)

    findings = FindingsController(source, steps, FindingsPane(ellipsis=terminal.ellipsis, id="findings"))

    def on_open() -> None:
        side.open()
        findings.update()

    def on_result() -> None:
        side.arrive()
        flow.arrive()
        findings.update()

    steps.on_open, steps.on_result = on_open, on_result
    return Assembly(
        views=tuple(dict.fromkeys([*step_views.values(), prompt_view, glossary_view, flow_view, home_view])),
        step_views=step_views,
        steps=steps,
        trainings=TrainingController(frame, state, steps),
        prompt=PromptController(frame, state.async_session, steps, prompt_view),
        glossary=GlossaryController(frame, source, steps, glossary_view),
        flow=flow,
        home=HomeController(frame, source, state, home_view),
        beside=side_panel,
        beside_step=side,
        findings=findings,
    )
