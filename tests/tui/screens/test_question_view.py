"""The view of a question: what is visible when, how it is answered, and the verdicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType

from attn_tutor import tui
from attn_tutor.lessons.engine.questions import answer_forms, question_words
from attn_tutor.lessons.format.lesson import Course, Question, Step
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.lessons.play.step import LearnerChanges, Learning
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.play.task import QuestionModel
from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.reading.loader import load_lesson
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import Failure, Judgement, StepResult
from attn_tutor.lessons.results.tensor_questions import FollowQuestion
from attn_tutor.tui.screens.question_view import QuestionPanes, QuestionView
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.answer_box import OptionRow, Options, lines
from attn_tutor.tui.widgets.explanation_pane import ExplanationPane
from attn_tutor.tui.widgets.matrix import MatrixView
from tests.tui.fake_session import FakeSession
from tests.tui.painted import painted_lines

LESSON = load_lesson(Path(__file__).parents[2] / "data" / "questions" / "course" / "01-questions", {})
RECORDED = recorded_outputs.load(LESSON)


class WatchedQuestion(QuestionModel):
    """A question that remembers what the view has asked of it."""

    def __init__(self, step: Question, progress: Progress) -> None:
        learning = Learning.begin(Course(lessons=(LESSON,)), progress)
        super().__init__(learning, LESSON, step, LearnerChanges(), Purpose.WORK)
        self.answered: list[str] = []
        self.verdicts: list[str] = []
        self.help_events: list[tuple[str, int | None]] = []

    def answer(self, text: str) -> tuple[Judgement, str]:
        self.answered.append(text)
        judgement, more = super().answer(text)
        self.verdicts.append(judgement.verdict)
        return judgement, more

    def take_hint(self) -> bool:
        taken = super().take_hint()
        if taken:
            self.help_events.append(("HintUsed", self.state.hints))
        return taken

    def give_up(self) -> bool:
        has_given_up = super().give_up()
        if has_given_up:
            self.help_events.append(("GaveUp", None))
        return has_given_up


class QuestionApp(App[None]):
    """An app with the view alone, with a fake worker."""

    CSS_PATH = Path(tui.__file__).parent / "app.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "pane(1)", show=False, priority=True),
        Binding("n,space", "note('next')", show=False),
        Binding("b", "note('back')", show=False),
        Binding("escape", "note('map')", show=False),
    ]

    def __init__(self, step: str, unicode: bool = True, passed: bool = False, hints: int = 0, gave_up: bool = False):
        super().__init__()
        self.theme = "ansi-dark"
        self.view = QuestionView(Terminal(True, "16", unicode, False), "ansi_dark", id="question-view")
        found = LESSON.step(step)
        assert isinstance(found, Question)
        progress = Progress(None)
        if passed:
            progress.add_attempt(found.exercise, "", "passed")
        if gave_up:
            progress.give_up(found.exercise)
        for number in range(hints):
            progress.use_hint(found.exercise, number + 1)
        self._progress = progress
        self.ask(found)
        session = FakeSession()
        session.run(LESSON)
        (self.run_of,) = session.runs
        self.noted: list[str] = []

    def ask(self, step: Step) -> None:
        """Have the app begin with another question."""
        assert isinstance(step, Question)
        self.step, self.model = step, WatchedQuestion(step, self._progress)

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.model.content = StepContent(RECORDED[self.step.id], "recorded")
        self.view.open_step(self.model)

    def show(self, result: StepResult, note: str) -> None:
        content = StepContent(result, note)
        self.view.show_result(content, self.model.take(content))

    def give_up(self) -> None:
        self.model.state = replace(self.model.state, hints=len(self.step.hints), gives_up_next=True)
        self.view.action_hint()

    def action_pane(self, step: int) -> None:
        self.view.move_pane(step)

    def action_note(self, what: str) -> None:
        self.noted.append(what)

    def on_explaining_view_asked(self, event: QuestionView.Asked) -> None:
        found = self.run_of.ask(event.question)
        assert isinstance(found, Explanation)
        event.view.explain(found, further=isinstance(event.question, FollowQuestion))

    @property
    def lines(self) -> list[str]:
        return painted_lines(self)

    @property
    def drawn(self) -> str:
        return "\n".join(self.lines)

    @property
    def focus(self) -> str | None:
        """The id of the widget that has the focus."""
        return self.focused.id if self.focused else None

    @property
    def tensors(self) -> list[str]:
        """The names of the visible tensors."""
        return [view.tensor.name for view in self.query(MatrixView) if view.tensor and view.display]


# Options -------------------------------------------------------------------------------------------------------------


def wrap(text: Text, width: int) -> list[Text]:
    return list(text.wrap(Console(), width))


def test_lines_of_options() -> None:
    options = [OptionRow("a", Text("One two three four")), OptionRow("b", Text("Five"), Text("Not so."))]
    assert [(index, line.plain) for index, line in lines(options, 1, 20, wrap)] == [
        (0, "   a) One two three"),
        (0, "      four"),
        (1, "►✗ b) Five"),
        (1, "      Not so."),
    ]
    assert [line.plain for _, line in lines(options, 0, 60, wrap, unicode=False)] == [
        ">  a) One two three four",
        " x b) Five",
        "      Not so.",
    ]


@given(
    st.lists(st.tuples(st.text("ab ", min_size=1), st.none() | st.text("ab ")), min_size=2, max_size=9),
    st.integers(0, 8),
    st.integers(16, 120),
)
def test_options_fit_into_their_width(texts: list[tuple[str, str | None]], chosen: int, width: int) -> None:
    options = [
        OptionRow(letter, Text(text), None if why is None else Text(why))
        for letter, (text, why) in zip(question_words.LETTERS, texts, strict=False)
    ]
    found = lines(options, min(chosen, len(options) - 1), width, wrap)
    assert {index for index, _ in found} == set(range(len(options)))
    assert max(line.cell_len for _, line in found) <= width
    assert sum(line.plain.startswith("►") for _, line in found) == 1


# Choosing ------------------------------------------------------------------------------------------------------------


async def test_choosing() -> None:
    app = QuestionApp("masking")
    async with app.run_test(size=(80, 21)) as pilot:
        assert app.lines[0] == " Question 1.1: A hidden key"
        assert "The first score is 0.3125." in app.drawn
        assert "scores = inputs @ inputs.T" in app.drawn
        assert app.focus == "options"
        assert "►  a) A very small number." in app.lines
        assert "none of them is below 0" not in app.drawn
        await pilot.press("down", "down", "enter")
        assert (app.model.answered, app.model.verdicts) == (["c"], ["failed"])
        assert "►✗ c) It stays -inf." in app.lines
        assert "      Weights are shares of a whole, so none of them is below 0." in app.lines
        # A different option may be tried; its letter answers at once.
        await pilot.press("a")
        assert "►✗ a) A very small number." in app.lines
        assert " ✗ c) It stays -inf." in app.lines
        await pilot.press("b")
        assert app.model.answered == ["c", "a", "b"]
        assert " ✓ Right: b) Exactly 0.   n: go on" in app.lines
        assert "A key with weight 0 adds nothing" in app.drawn
        assert " ✓ b) Exactly 0.  The exponential of -inf is 0.0." in app.lines
        assert not app.query_one(Options).display
        assert app.focus == "asked0"
        # Letters have their usual meaning.
        await pilot.press("b", "n")
        assert app.noted == ["back", "next"]


@pytest.mark.parametrize(
    ("key", "answer"), [("2", "2"), ("B", "b"), ("и", "b"), ("с", "c"), ("9", None), ("d", None), ("n", None)]
)
async def test_keys_that_choose(key: str, answer: str | None) -> None:
    app = QuestionApp("masking")
    async with app.run_test(size=(80, 21)) as pilot:
        await pilot.press(key)
        assert app.model.answered == ([answer] if answer else [])


async def test_choosing_by_mouse() -> None:
    app = QuestionApp("masking")
    async with app.run_test(size=(80, 21)) as pilot:
        await pilot.click("#options", offset=(8, 1))
        assert app.model.answered == []
        assert "►  b) Exactly 0." in app.lines
        await pilot.click("#options", offset=(8, 1))
        assert app.model.answered == ["b"]


async def test_a_digit_that_may_mean_two_things() -> None:
    app = QuestionApp("masking")
    options = [each.model_copy(update={"text": text}) for each, text in zip(app.step.options, "231", strict=True)]  # type: ignore[union-attr]
    app.ask(app.step.model_copy(update={"options": tuple(options)}))
    async with app.run_test(size=(80, 21)) as pilot:
        await pilot.press("2")
        assert app.model.verdicts == ["error"]
        assert " 2 may be the place of an option or what one says. Answer with a letter from a" in app.lines
        assert "✗" not in app.drawn


async def test_the_highlighted_option_is_always_visible() -> None:
    app = QuestionApp("masking")
    long = [each.model_copy(update={"text": "word " * 30}) for each in app.step.options] * 3  # type: ignore[union-attr]
    app.ask(app.step.model_copy(update={"options": tuple(long[: len(question_words.LETTERS)])}))
    async with app.run_test(size=(60, 17)) as pilot:
        for letter in question_words.LETTERS:
            assert any(line.startswith(f"►  {letter}) word") for line in app.lines), letter
            await pilot.press("down")
        await pilot.press("home")
        assert any(line.startswith("►  a)") for line in app.lines)
        assert any("more lines: down" in line for line in app.lines)


# Predicting ----------------------------------------------------------------------------------------------------------


async def test_predicting_a_number() -> None:
    app = QuestionApp("share")
    async with app.run_test(size=(80, 21)) as pilot:
        assert app.focus == "line"
        assert app.tensors == ["row"]
        assert "0.0280" not in app.drawn
        assert " Answer with a number, for example: 0.25 or 3/7" in app.lines
        await pilot.press(*"0,05", "enter")
        await pilot.press(*"1/11", "enter")
        assert app.model.answered == ["0,05", "1/11"]
        # The newest answer comes first.
        index = app.lines.index(" ✗ 1/11   That is the score divided by the sum of the scores, 0.0909. Softmax")
        assert app.lines[index + 1 : index + 3] == [" takes exponentials first.", " ✗ 0,05   Too large."]
        assert app.lines[index - 1] == " >"
        await pilot.press(*"0.028", "enter")
        assert app.model.verdicts == ["failed", "failed", "passed"]
        assert " ✓ Right: 0.028   n: go on" in app.lines
        assert "all three add up to 58.9652" in app.drawn
        assert app.tensors == ["row", "shares"]
        assert app.focus == "asked1"
        assert "0.0280" in app.drawn
        # The question is closed, and keys work as in a lesson.
        await pilot.press("n")
        assert app.noted == ["next"]


async def test_an_unreadable_answer_stays_to_be_corrected() -> None:
    app = QuestionApp("share")
    async with app.run_test(size=(80, 21)) as pilot:
        await pilot.press("enter", "space", "enter")
        assert app.model.answered == []
        await pilot.press(*"nearly", "enter")
        assert app.model.verdicts == ["error"]
        assert " This cannot be read as a number." in app.lines
        assert "✗" not in app.drawn
        # The form is not repeated.
        assert app.drawn.count("for example") == 1
        assert " > nearly" in [line.replace("  ", " ") for line in app.lines]


async def test_predicting_a_shape() -> None:
    app = QuestionApp("sizes")
    async with app.run_test(size=(80, 30)) as pilot:
        await pilot.press(*"4, 3", "enter")
        assert " ✗ 4, 3   The right sizes in the wrong order: yours is transposed." in app.lines
        await pilot.press(*"3x4", "enter")
        assert " ✓ Right: 3x4   n: go on" in app.lines
        assert app.tensors == ["inputs", "weight", "product"]


async def test_predicting_an_order() -> None:
    app = QuestionApp("ranking")
    async with app.run_test(size=(80, 21)) as pilot:
        assert "for example: 3 1 2 or" in app.drawn
        await pilot.press(*"2 3 1", "enter")
        assert " ✗ 2 3 1   1 of 3 is in the right place." in app.lines
        await pilot.press(*"starts journey your", "enter")
        assert " ✓ Right: starts journey your   n: go on" in app.lines


async def test_leaving_the_line() -> None:
    app = QuestionApp("share")
    async with app.run_test(size=(80, 21)) as pilot:
        await pilot.press(*"n0", "escape")
        assert (app.focus, app.noted) == ("asked0", [])
        await pilot.press("n", "escape")
        assert app.noted == ["next", "map"]
        # The typed text is still there.
        await pilot.press("tab", "tab", "enter")
        assert app.model.answered == ["n0"]


# Pointing ------------------------------------------------------------------------------------------------------------


async def test_pointing_at_a_hidden_cell() -> None:
    app = QuestionApp("largest")
    async with app.run_test(size=(80, 24)) as pilot:
        assert app.focus == "asked1"
        assert "    Your  ▐     ·▌       ·        ·" in app.lines
        assert "weights[0,0] = …" in app.drawn
        await pilot.press("right", "right", "enter")
        assert (app.model.answered, app.model.verdicts) == (["0, 2"], ["failed"])
        assert " ✗ weights[0, 2]   That weight is 0.3376. Softmax goes along a row." in app.lines
        await pilot.press("left", "down", "down", "enter")
        assert "The row is right; look for another cell of it." in app.drawn
        # Wrong answers are marked, but their numbers stay hidden.
        assert any(line.startswith("    Your") and "•     ·" in line for line in app.lines)
        await pilot.press("right", "enter")
        assert app.model.answered == ["0, 2", "2, 1", "2, 2"]
        assert " ✓ Right: weights[2, 2]   n: go on" in app.lines
        assert any(line.startswith("  starts") and "•0.0461" in line and "►0.9259" in line for line in app.lines)
        # Enter explains again.
        await pilot.press("enter")
        assert app.run_of.explained == [("largest", "weights", (2, 2))]


async def test_enter_on_arrival_answers_nothing() -> None:
    app = QuestionApp("largest")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        assert app.model.answered == []
        assert "enter again: answer with weights[0,0]. Arrows: another cell." in app.drawn
        await pilot.press("enter")
        assert app.model.answered == ["0, 0"]


async def test_hidden_numbers_are_not_revealed() -> None:
    app = QuestionApp("largest")
    async with app.run_test(size=(80, 24)) as pilot:
        for key in ("e", "t", "right", "o", "minus", "plus", "escape", "v", "end", "down"):
            await pilot.press(key)
            assert not any(number in app.drawn for number in ("0.2799", "0.3825", "0.9259", "0.28", "0.93", "0.028"))
        assert app.run_of.explained == []
        # Numbers of the other matrix explain themselves, without switching to this one.
        app.view.move_pane(1)
        await pilot.press("enter")
        assert [name for _, name, _ in app.run_of.explained] == ["scores"]
        assert "e explain" not in app.view.hints
        await pilot.press("tab", "escape")
        assert app.query_one(ExplanationPane).display is False


async def test_a_cell_that_is_not_hidden_explains_itself_on_e() -> None:
    app = QuestionApp("largest")
    app.ask(app.step.model_copy(update={"blank": False}))
    async with app.run_test(size=(80, 24)) as pilot:
        assert "e explain" in app.view.hints
        await pilot.press("e")
        assert app.run_of.explained == [("largest", "weights", (0, 0))]
        # While the explanation follows the cursor, nothing is answered.
        await pilot.press("tab", "right", "down")
        assert [index for _, _, index in app.run_of.explained] == [(0, 0), (0, 1), (1, 1)]
        assert app.model.answered == []
        await pilot.press("escape", "enter")
        assert app.model.answered == ["1, 1"]


async def test_a_long_task_leaves_an_explanation_all_lines_that_it_wants() -> None:
    """One line less, and the bars of a sum of three products give way to empty lines."""
    app = QuestionApp("largest")
    app.ask(app.step.model_copy(update={"blank": False, "prose": "word " * 150}))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("e")
        pane = app.query_one(ExplanationPane)
        assert pane.size.height == pane.wanted(pane.size.width)


async def test_a_task_that_is_cut_off_is_the_next_pane() -> None:
    app = QuestionApp("largest")
    app.ask(app.step.model_copy(update={"blank": False, "prose": "word " * 300}))
    async with app.run_test(size=(80, 24)) as pilot:
        assert app.view.query_one(QuestionPanes).prose.longer
        app.action_pane(1)
        await pilot.pause()
        assert app.focused is app.view.query_one(QuestionPanes).prose


async def test_a_double_click_points() -> None:
    app = QuestionApp("largest")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.click("#asked1", offset=(31, 4))
        assert app.model.answered == []
        await pilot.click("#asked1", offset=(31, 4), times=2)
        assert app.model.answered == ["2, 2"]
        # In a question without a cell to point at, a double click does nothing.
        await pilot.click("#asked0", offset=(31, 4), times=2)
        assert app.model.answered == ["2, 2"]


# Hints and giving up -------------------------------------------------------------------------------------------------

EVERY = [step.id for step in LESSON.steps]
WRONG = {
    "masking": ["a"],
    "share": ["9", "enter"],
    "sizes": [*"9 9", "enter"],
    "ranking": [*"1 2 3", "enter"],
    "largest": ["right", "enter"],
}
"""Keys that give a wrong answer."""


@pytest.mark.parametrize("step", EVERY)
async def test_hints_one_by_one_and_then_the_answer(step: str) -> None:
    app = QuestionApp(step)
    async with app.run_test(size=(80, 30)) as pilot:
        for number, hint in enumerate(app.step.hints, 1):
            await pilot.press("f3")
            assert f" Hint {number} of 3: {hint}" in app.lines
        assert app.model.help_events == [("HintUsed", 1), ("HintUsed", 2), ("HintUsed", 3)]
        assert "f3 give up" in app.view.hints
        await pilot.press("f3")
        assert "Press f3 again to give up and see the answer" in app.drawn
        assert app.model.help_events[3:] == []
        await pilot.press("f3")
        assert app.model.help_events[3:] == [("GaveUp", None)]
        assert "You gave up, so this does not count as passed." in app.drawn
        assert f" The answer: {answer_forms.answer_text(app.step, RECORDED[step])}" in app.lines
        assert question_words.why(app.step, RECORDED[step]).split()[-1] in app.drawn
        assert app.tensors == [tensor.name for tensor in app.step.tensors]
        await pilot.press("f3", "enter")
        assert app.model.answered == []
        assert app.model.verdicts == []


async def test_an_answer_cancels_giving_up() -> None:
    app = QuestionApp("share", hints=3)
    async with app.run_test(size=(80, 30)) as pilot:
        assert " Hint 3 of 3: Divide the exponential of the first score by that sum." in app.lines
        await pilot.press("f3", "1", "enter", "f3")
        assert app.model.help_events == []
        await pilot.press("f3")
        assert app.model.help_events == [("GaveUp", None)]


async def test_hints_of_an_earlier_visit_are_shown() -> None:
    app = QuestionApp("share", hints=2)
    async with app.run_test(size=(80, 30)) as pilot:
        await pilot.pause()
        assert "Hint 2 of 3" in app.drawn
        assert "Hint 3 of 3" not in app.drawn
        await pilot.press("f3")
        assert app.model.help_events == [("HintUsed", 3)]


@pytest.mark.parametrize("step", EVERY)
@pytest.mark.parametrize("passed", [True, False])
async def test_a_question_answered_or_given_up_earlier(step: str, passed: bool) -> None:
    app = QuestionApp(step, passed=passed, gave_up=True)
    async with app.run_test(size=(80, 30)) as pilot:
        answer = answer_forms.answer_text(app.step, RECORDED[step])
        sentence = f" ✓ Answered before: {answer}   n: go on" if passed else f" The answer: {answer}"
        assert sentence in app.lines
        assert app.tensors == [tensor.name for tensor in app.step.tensors]
        await pilot.press("enter", "f3")
        assert app.model.answered == []
        assert app.model.help_events == []


# Results -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", EVERY)
async def test_live_results_keep_the_state_of_a_question(step: str) -> None:
    app = QuestionApp(step)
    async with app.run_test(size=(80, 30)) as pilot:
        keys = {"masking": ["c", "up"], "largest": ["enter", "right"]}.get(step, [*"99 1 1", "enter", *"12"])
        await pilot.press("f3", *keys)
        before, focus = app.lines, app.focus
        app.show(app.run_of.result(step) or StepResult(step), "live")
        await pilot.pause()
        assert app.lines == [line.replace("recorded", "live").rstrip() for line in before]
        assert app.focus == focus
        assert "live" in app.drawn


async def test_a_different_question_starts_afresh() -> None:
    app = QuestionApp("share")
    async with app.run_test(size=(80, 30)) as pilot:
        await pilot.press("f3", *"9", "enter", *"1")
        app.ask(LESSON.step("ranking"))
        app.on_mount()
        await pilot.pause()
        assert app.focus == "line"
        assert " >" in app.lines
        assert "Hint" not in app.drawn
        assert "✗" not in app.drawn


@pytest.mark.parametrize("step", EVERY)
async def test_a_run_that_failed(step: str) -> None:
    app = QuestionApp(step)
    app.run_of.steps.clear()
    async with app.run_test(size=(80, 30)) as pilot:
        app.show(StepResult(step, error=Failure("error", "NameError: there is no x.", 1)), "live")
        await pilot.pause()
        assert "NameError: there is no x." in app.drawn
        await pilot.press(*WRONG[step])
        if step != "largest":
            assert app.model.answered != []
            assert "did not come to its end" in app.drawn
        app.give_up()
        await pilot.pause()
        assert app.model.help_events == []
        assert "✓" not in app.drawn


async def test_a_result_that_has_not_arrived() -> None:
    app = QuestionApp("share", passed=True)
    async with app.run_test(size=(80, 30)) as pilot:
        app.show(StepResult("share"), "not run yet")
        await pilot.pause()
        assert " ✓ Answered before: …   n: go on" in app.lines


async def test_what_the_code_printed() -> None:
    app = QuestionApp("share")
    async with app.run_test(size=(80, 30)) as pilot:
        app.show(replace(RECORDED["share"], stdout="printed\x1b[2J\n"), "live")
        await pilot.pause()
        assert "printed\ufffd[2J" in app.drawn


# Numbers that explain themselves -------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", EVERY)
async def test_every_number_explains_itself(step: str) -> None:
    app = QuestionApp(step)
    async with app.run_test(size=(80, 21)) as pilot:
        for _ in range(5):
            if app.focus == "asked0":
                break
            await pilot.press("tab")
        assert app.focus == "asked0"
        await pilot.press("right", "enter")
        name = app.step.show[0].name
        assert [asked[:2] for asked in app.run_of.explained] == [(step, name)]
        assert app.focus == "explanation"
        assert app.lines[0].startswith(f" {name}[")
        await pilot.press("enter")
        assert "written in the code" in app.drawn
        # Go back, to the matrix, and on to a different number.
        await pilot.press("backspace", "tab", "left")
        assert len(app.run_of.explained) == 2
        assert app.focus == "asked0"
        await pilot.press("escape")
        assert app.lines[0].startswith(" Question")
        assert app.noted == []
        await pilot.press("escape")
        assert app.noted == ["map"]


# Terminals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", EVERY)
@pytest.mark.parametrize("size", [(60, 17), (40, 10), (130, 12), (1, 1)])
async def test_any_size(step: str, size: tuple[int, int]) -> None:
    app = QuestionApp(step, unicode=False)
    async with app.run_test(size=size) as pilot:
        await pilot.press("f3", *WRONG[step])
        app.view.move_pane(1)
        await pilot.resize_terminal(size[0] + 7, size[1] + 3)
        await pilot.pause()
        assert app.view.hints
        assert all(line.isascii() for line in app.lines)
        app.give_up()
        await pilot.pause()
        assert all(line.isascii() for line in app.lines)


@pytest.mark.parametrize("step", EVERY)
async def test_a_small_screen_has_all_that_is_needed_to_answer(step: str) -> None:
    """The screen has 60 columns and 20 lines, less the lines of the tutor itself."""
    app = QuestionApp(step, unicode=False)
    async with app.run_test(size=(60, 17)) as pilot:
        assert app.step.title in app.lines[0]
        assert app.tensors
        await pilot.press("f3", *WRONG[step])
        assert app.model.verdicts == ["failed"]
        # A long question is scrolled to its end, which is the newest hint.
        assert "Hint 1 of 3" in app.drawn
        assert app.tensors
        assert any(line.startswith((" x ", ">x ")) for line in app.lines)
        app.give_up()
        await pilot.pause()
        assert "The answer:" in app.drawn


@pytest.mark.parametrize("step", EVERY)
async def test_wide_screens_have_matrices_at_the_right(step: str) -> None:
    app = QuestionApp(step)
    async with app.run_test(size=(130, 30)) as pilot:
        await pilot.pause()
        text, matrix, answer = (app.query_one(name).region for name in ("#question", "#asked0", "#asked-answer"))
        assert matrix.x >= text.right
        assert matrix.y == text.y
        assert answer.x == text.x
        assert answer.y >= text.bottom
        assert answer.right <= matrix.x
