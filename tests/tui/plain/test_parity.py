"""Parity: whatever the screen offers at a step, the dialogue offers too, at every step of the course."""

from __future__ import annotations

import pytest
from textual.binding import Binding

from attn_tutor.lessons.engine.questions import question_facts
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.knobs import Knob
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson, Question, RunningStep, Step, TrainStep
from attn_tutor.lessons.format.template import keys_of
from attn_tutor.lessons.play.kinds import MODELS
from attn_tutor.lessons.play.step import CHANGING
from attn_tutor.lessons.what_if import knobs
from attn_tutor.lessons.what_if.changes import UNCHANGED
from attn_tutor.tui.actions.table import ACTIONS, of_context
from attn_tutor.tui.controllers.assembly import VIEWS
from attn_tutor.tui.plain import command_table
from attn_tutor.tui.plain.command_table import COMMANDS, TABLE
from attn_tutor.tui.plain.journey_dialogue import STEP_DIALOGUES
from attn_tutor.tui.plain.step_dialogue import StepDialogue
from attn_tutor.tui.state import what_if_rows
from tests.course import COURSE
from tests.tui.plain.conversation import Conversation

SCREEN_ONLY: dict[str, str] = {
    "tutor.pane-anywhere": "there are no panes",
    "screen.pane": "there are no panes",
    "list.jump": "a list is printed whole",
    "search.move": "what is found is printed",
    "search.take": "a line of input ends with Enter anyway",
    "search.leave": "there is no line to leave",
    "matrix.shades": "there are no shades",
    "explanation.close": "nothing is covered by an explanation",
    "flow.edge": "the flow is printed whole",
    "flow.detail": "the flow is text",
    "flow.leave": "nothing is covered by the flow",
    "flow-matrix.leave": "nothing is covered by a matrix",
    "step.close": "nothing is covered",
    "what-if-line.take": "a line of input ends with Enter anyway",
    "prompt.leave": "there are no panes",
    "prompt-line.earlier": "the terminal has a history or none",
    "prompt-line.complete": "names can be listed with dir()",
    "prompt-line.clear": "the terminal edits the line",
    "prompt-line.leave": "an end of input or a period leaves the prompt",
    "editor.leave": "there is no editor",
    "editor.indent": "there is no editor",
    "editor.undo": "there is no editor",
    "editor.ends": "there is no editor",
    "editor.select-all": "there is no editor",
    "editor.comment": "there is no editor",
    "difference.leave": "nothing is covered by the difference",
    "solution.leave": "nothing is covered by the solution",
    "options.jump": "options are few, and have letters",
    "question.leave": "there is no line to leave",
    "home.jump": "what can be kept is named",
    "home.close": "nothing is covered",
    "glossary.jump": "the list of terms is printed whole",
    "glossary.close": "nothing is covered by the glossary",
}
"""The actions of the screen without a command, each with the reason."""

LATER = {
    "follow": "an explanation",
    "up": "a second explanation",
    "open": "a flow with boxes that open",
    "box": "a flow",
    "undo": "a change",
    "redo": "a change that was undone",
    "reset": "a change",
    "compare": "a change",
    "changes": "a change",
    "difference": "a check that found a difference",
    "retract": "giving up",
    "return": "a jump",
    "overview": "a large matrix",
    "knob": "a knob that matters to the step",
    "side": "a side step",
    "hint": "a hint that was not read",
    "stop": "a training that was paused",
}
"""Commands that apply only after something else, or where there is something."""


def words_for(actions: set[str]) -> set[str]:
    """Return the commands that stand for actions."""
    return {command.word for command in TABLE if actions & set(command.actions)}


def actions_of_view(step: Step) -> set[str]:
    """Return the actions that the view of a step binds, and those of a matrix and an explanation where it shows any."""
    found = set[str]()
    for owner in VIEWS[MODELS[step.kind]].__mro__:
        for binding in owner.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id is not None:
                context = binding.id.partition(".")[0]
                found |= {
                    action.id
                    for action in of_context(context)
                    if binding.id in {action.binding_id(stroke) for stroke in action.strokes}
                }
    if isinstance(step, RunningStep) and step.show:
        found |= {action.id for context in ("matrix", "explanation") for action in of_context(context)}
    if not (isinstance(step, Question) and step.is_pointed):
        # Enter answers in the matrix to point at only.
        found.discard("question.enter")
    if step.kind == "choice":
        found |= {action.id for action in of_context("options")}
    if MODELS[step.kind].runner in CHANGING:
        found |= {action.id for context in ("rows", "what-if") for action in of_context(context)} | {"tutor.prompt"}
    else:
        # They are those of a lesson that changes; a question runs as it was written.
        found -= {action.id for context in ("step", "what-if", "rows") for action in of_context(context)}
    return found | {
        "tutor.next",
        "tutor.back",
        "tutor.map",
        "tutor.help",
        "tutor.quit",
        "tutor.glossary",
        "tutor.take-home",
    }


def test_every_action_of_the_screen_has_a_command_or_a_reason() -> None:
    covered = {action for command in TABLE for action in command.actions}
    assert covered <= set(ACTIONS)
    assert not covered & set(SCREEN_ONLY)
    assert covered | set(SCREEN_ONLY) == set(ACTIONS)


def test_every_kind_of_step_has_a_dialogue() -> None:
    assert set(STEP_DIALOGUES) == set(VIEWS) == set(MODELS.values())


def test_every_step_offers_in_the_dialogue_what_it_offers_on_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    # Both ask for the knobs that matter, which takes longer than all the rest.
    to_step, known = knobs.relevant_to_step, dict[tuple[str, str], tuple[Knob, ...]]()

    def known_knobs(lesson: Lesson, step_id: str) -> tuple[Knob, ...]:
        key = lesson.id, step_id
        if key not in known:
            known[key] = to_step(lesson, step_id)
        return known[key]

    monkeypatch.setattr(knobs, "relevant_to_step", known_knobs)
    learner = Conversation()
    course = learner.dialogue.course
    for lesson in COURSE.lessons:
        for index, step in enumerate(lesson.steps):
            where = f"{lesson.id}/{step.id}"
            course._come_to(lesson, index)
            there = course.current
            offered = set(learner.dialogue.handlers)
            assert offered <= set(COMMANDS), where
            assert words_for(actions_of_view(step)) - set(LATER) <= offered, where
            check_numbers(there, where)
            check_changes(there, where)
            check_tasks(there, where)
            check_keys(there, where)
            assert ("side" in offered) == bool(not step.side and lesson.side_steps_of(step.id)), where
    learner.close()


def check_numbers(there: StepDialogue, where: str) -> None:
    """The matrices are those of the screen, and can be shown, read, and explained."""
    step, result = there.step, there.content.result
    if isinstance(step, Question):
        shown = question_facts.visible_tensors(step, result, answered=False)
    else:
        shown = () if isinstance(step, ExerciseStep) else result.tensors
    assert there.subject.tensors == shown, where
    assert {"show", "read", "row", "explain"} <= set(there.handlers) or not shown, where
    assert ("flow" in there.handlers) == (not isinstance(step, ExerciseStep)), where


def check_keys(there: StepDialogue, where: str) -> None:
    """Each key of which the text speaks has a command beside it, and each example is there."""
    said = " ".join(command_table.sentences_to_type(there.step, (), there.here))
    there_are = [*(tensor.name for tensor in there.here.tensors), *(knob.name for knob in there.here.knobs)]
    for key in keys_of(there.step.prose):
        assert not key.example or key.example.partition("[")[0] in there_are, (where, key)
        name = template.written_key(key.action).strip("`")
        is_of_the_screen = key.action in ("enter", "turn") or (key.action == "pane" and len(there.here.tensors) < 2)
        is_told = f"for {name}, " in said or (key.action == "move" and ("cursor" in said or "type its number" in said))
        assert is_told or is_of_the_screen or not there.here.tensors, (where, key, said)


def check_changes(there: StepDialogue, where: str) -> None:
    """What can be changed is what the panel lists, and a prompt opens where one does on the screen."""
    changing = MODELS[there.step.kind].runner in CHANGING
    assert ("set" in there.handlers) == ("python" in there.handlers) == changing, where
    if not changing:
        assert "knob" not in there.handlers, where
        return
    rows = what_if_rows.rows(there.lesson, there.step.id, UNCHANGED, None)
    assert [knob.name for knob in there.knobs] == [row.knob.name for row in rows if row.knob is not None], where
    assert ("knob" in there.handlers) == bool(there.knobs), where


def check_tasks(there: StepDialogue, where: str) -> None:
    """Tasks can be answered, with all hints and the solution; trainings can be run, and their snapshots seen."""
    step, offered = there.step, set(there.handlers)
    assert ("answer" in offered) == isinstance(step, Question), where
    assert ("point" in offered) == (isinstance(step, Question) and step.is_pointed), where
    assert ({"code", "check", "draft", "starter", "edit"} <= offered) == isinstance(step, ExerciseStep), where
    assert ("solution" in offered) == step.is_exercise, where
    assert ("hint" in offered) or not getattr(step, "hints", ()), where
    assert ("train" in offered) == isinstance(step, TrainStep), where
