"""The view of the Python prompt on a step: the transcript, the matrices of the last result, and the input line."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea

from attn_tutor.lessons.engine.children import CodeResult, Names
from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.render.numbers import truncated, visible
from attn_tutor.lessons.render.source_text import names_of_steps
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import StepResult, Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint, mention
from attn_tutor.tui.actions.table import hint_of
from attn_tutor.tui.drawings.marks import Cells, Marks
from attn_tutor.tui.render.code_text import rich_code
from attn_tutor.tui.render.palette import BOLD, DIM
from attn_tutor.tui.render.step_layout import WIDE
from attn_tutor.tui.screens.explaining_view import MATRICES, ExplainingView
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.editors import FIRST, GOES_ON, PromptInput
from attn_tutor.tui.widgets.line_widget import Box, set_height
from attn_tutor.tui.widgets.matrix import MatrixView
from attn_tutor.tui.widgets.text import AFTER_F4, TextLine, TextPane

say = Wording("screen/prompt")

PROMPT = -1
"""The index of the prompt among the panes; matrices have 0, 1, ..."""

OUTPUT_LINES = 40
"""The number of lines that the transcript keeps of one output: the last ones, which usually say most."""

ENTRIES = 100
GAP = 3
FEW = 6
"""The number of variables that are listed in one column."""


def entry(code: str, result: CodeResult, theme: str, unicode: bool = True) -> Text:
    """Return an input and its result as text for the transcript."""
    text = Text()
    for index, line in enumerate(rich_code(code, theme, numbered=False).split("\n", allow_blank=True)):
        text.append(GOES_ON if index else FIRST, DIM)
        text.append_text(line)
        text.append("\n")
    printed = result.stdout.rstrip("\n").split("\n") if result.stdout else []
    if len(printed) > OUTPUT_LINES:
        more = len(printed) - OUTPUT_LINES
        above = say.count("lines-above", more, "({count} more line above)", "({count} more lines above)")
        text.append(f"{above}\n", DIM)
    text.append("".join(f"{line}\n" for line in printed[-OUTPUT_LINES:]))
    if result.value:
        text.append(result.value + "\n")
    for tensor in result.tensors:
        text.append(f"{outline(tensor, unicode)}\n", DIM)
    if result.error is not None:
        number, message = result.error.unmentioned_line, result.error.message
        if number and "\n" in code:
            message = say("at-line", "line {number}: {message}", number=number, message=message)
        text.append(f"{message}\n", BOLD)
    return text


def outline(tensor: Tensor, unicode: bool = True) -> str:
    """Describe a tensor in a few words: `weights  6×6 float32`."""
    shape = ("×" if unicode else "x").join(map(str, tensor.shape)) or say("one-number", "one number")
    return f"{visible(tensor.name)}  {shape} {tensor.dtype}"


def welcome(names: Names, width: int = 80) -> Text:
    """Return the text of an empty transcript: a table of the names that inputs can use, with shapes."""
    text = Text(
        say(
            "welcome",
            "This is Python with the variables of what you were looking at. Nothing you do here changes that.",
        )
        + "\n"
    )
    variables = [(visible(name), visible(kind)) for name, kind in names if kind != "module"]
    if not variables:
        return text
    name_width = max(len(name) for name, _ in variables) + GAP
    cell_width = name_width + max(len(kind) for _, kind in variables) + GAP
    # In columns from the top down where there are many.
    columns = max(1, min(-(-len(variables) // FEW), (width - 2 + GAP) // cell_width))
    rows = -(-len(variables) // columns)
    for row in range(rows):
        for name, kind in variables[row::rows]:
            text.append(name.ljust(name_width), BOLD)
            text.append(kind.ljust(cell_width - name_width), DIM)
        text.rstrip()
        text.append("\n")
    return text


def heights(room: int, wanted: list[int], active: int) -> list[int]:
    """Return the number of lines for each matrix: the active one first, then as many others as fit."""
    found = [0] * len(wanted)
    for index in sorted(range(len(wanted)), key=lambda index: (index != active, index)):
        if wanted[index] <= room or (index == active and room > 0):
            found[index] = min(wanted[index], room)
            room -= found[index]
    return found


class PromptView(ExplainingView):
    """The prompt, its transcript and its matrices. It posts inputs to be run, and is given their results."""

    topic = "prompt"

    DEFAULT_CSS = """
    PromptView {
        layout: vertical;
        height: 1fr;
        width: 1fr;
    }

    PromptView #explanation {
        dock: top;
    }

    PromptView #prompt-body {
        layout: vertical;
        height: 1fr;
    }

    PromptView #prompt-body.wide {
        layout: horizontal;
    }

    PromptView #prompt-figures {
        layout: vertical;
        width: 1fr;
        height: auto;
    }

    PromptView #prompt-body.wide #prompt-figures {
        height: 1fr;
    }

    PromptView #prompt {
        margin-left: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("prompt")]

    class Entered(Message):
        """Posted when the learner has entered code to be run."""

        def __init__(self, code: str) -> None:
            self.code = code
            super().__init__()

    class Stopped(Message):
        """Posted when the learner stops the running input."""

    class Closed(Message):
        """Posted when the learner leaves the prompt."""

    def __init__(self, terminal: Terminal, code_theme: str, *, id: str | None = None) -> None:
        super().__init__(terminal, "made", id=id)
        self._code_theme = code_theme
        self._step_title = ""
        self._welcome = Text()
        self._entries: deque[Text] = deque(maxlen=ENTRIES)
        self._waiting = ""
        self.opened = 0
        """The number of times that the prompt was opened; results of inputs to an earlier prompt are not shown."""

        self._transcript = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, id="transcript")
        self._figures = Box(*self._matrices, id="prompt-figures")
        self._body = Box(self._transcript, self._figures, id="prompt-body")
        self._word = TextLine(ellipsis=terminal.ellipsis, id="prompt-word")
        self._prompt = PromptInput(id="prompt")
        self._focused: Widget = self._prompt

    def compose(self) -> ComposeResult:
        """Compose the transcript, the matrices, the detail line, the status line, and the prompt."""
        yield self._explanation
        yield from (self._body, self._detail, self._word, self._prompt)

    @property
    def title(self) -> str:
        """The text of the title line."""
        return say("title", "Python: {title}", title=self._step_title)

    # Contents ----------------------------------------------------------------------------------------------------

    def open(self, lesson: Lesson, step: Step, names: Names = ()) -> None:
        """Clear the view and open a prompt on a step of a lesson."""
        self.opened += 1
        self._step_title, self._step_names = step.title, names_of_steps(lesson)
        self._entries.clear()
        self._waiting, self._prompt.held = "", False
        self._prompt.restart()
        place = lesson.place_of(step.id)
        self._say(place if step.is_page else say("after", "after {place}", place=place))
        self._show_result(StepResult(""))
        self.show_names(names)
        self._active = PROMPT
        self.focus_active()

    def show_names(self, names: Names) -> None:
        """Show the names that inputs can use at the start."""
        self._prompt.names = tuple(name for name, _ in names)
        self._welcome = welcome(names, self.size.width or 80)
        self._show_transcript()

    def show_result(self, result: CodeResult) -> None:
        """Show the result of the input that was entered last."""
        self._entries.append(entry(self._waiting, result, self._code_theme, self._terminal.unicode))
        self._waiting, self._prompt.held = "", False
        self._prompt.names = tuple(name for name, _ in result.names)
        self._say("")
        self._show_result(result)
        self._show_transcript()

    def say(self, text: str) -> None:
        """Show a message in place of a result, for an input that could not be run."""
        self._waiting, self._prompt.held = "", False
        self._say(text)

    @property
    def waiting(self) -> bool:
        """Whether the last input is still running."""
        return bool(self._waiting)

    def _say(self, text: str) -> None:
        self._word.set(Text(f" {text}", DIM) if text else "")

    def _show_transcript(self) -> None:
        text = self._welcome.copy()
        for each in self._entries:
            text.append_text(each)
        text.rstrip()
        self._transcript.show(text, at_end=True)
        self._arrange()

    def _show_result(self, result: StepResult) -> None:
        self._result = result
        self._explanation.clear()
        for index, view in enumerate(self._matrices):
            view.show(result.tensors[index] if index < len(result.tensors) else None)
            view.mark(Marks())
        if self._active >= len(result.tensors):
            self._active = PROMPT
            self.focus_active()
        self._arrange()
        self._describe()

    # Layout ------------------------------------------------------------------------------------------------------

    def _arrange(self) -> None:
        width, height = self.room.width, self.room.height
        if not width or height < 4:
            return
        count = len(self._result.tensors[:MATRICES])
        wide = width >= WIDE and count > 0
        self._body.set_class(wide, "wide")
        prompt = min(self._prompt.document.line_count, max(1, height // 3))
        panel = min(self._explanation.wanted(width), (height - prompt) // 2) if self.explaining else 0
        body = height - prompt - 1 - (1 if count else 0) - panel
        wanted = [view.natural_size()[1] for view in self._matrices[:count]]
        # On a narrow screen the transcript keeps some lines, for the last input.
        least = 0 if wide else min(3, body // 2)
        lines = heights(body - least, wanted, max(self._active, 0))
        self._transcript.styles.width = width // 2 if wide else "1fr"
        set_height(self._explanation, panel)
        set_height(self._prompt, prompt)
        self._figures.display = count > 0
        self._detail.display = count > 0
        for index, view in enumerate(self._matrices):
            set_height(view, lines[index] if index < count else 0)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange the panes for the new size of the view."""
        self._arrange()
        self._describe()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Arrange the view again, because the number of lines in the prompt may have changed."""
        event.stop()
        self._arrange()

    # Panes -------------------------------------------------------------------------------------------------------

    def focus_active(self) -> None:
        """Focus the active pane."""
        self._go_to(self._matrices[self._active] if self._active >= 0 else self._prompt)

    def move_pane(self, step: int) -> None:
        """Move the focus through prompt, matrices, explanation and transcript, `step` panes on."""
        order: list[Widget] = [self._prompt, *self._matrices[: len(self._result.tensors)]]
        if self.explaining:
            order.append(self._explanation)
        order.append(self._transcript)
        index = order.index(self._focused) if self._focused in order else 0
        self._go_to(order[(index + step) % len(order)])

    def _go_to(self, pane: Widget) -> None:
        # Set here already, because the focus itself moves later.
        self._focused = pane
        if isinstance(pane, MatrixView):
            self._active = self._matrices.index(pane)
            self._arrange()
        elif pane is self._prompt:
            self._active = PROMPT
        pane.focus(scroll_visible=False)
        self._describe()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Make the pane that was clicked the active one."""
        self._focused = event.widget
        if isinstance(event.widget, MatrixView):
            self._active = self._matrices.index(event.widget)
        elif event.widget is self._prompt:
            self._active = PROMPT
        self._describe()

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        if self._waiting:
            return [hint("prompt-line.leave", say("stop", "stop"))]
        if self._explanation.has_focus:
            pane = hint("tutor.pane-anywhere")
            return [*self._explanation.hints, hint("explanation.back"), pane, hint("explanation.close")]
        pane, leave = hint("screen.pane"), hint("prompt.leave")
        if self._active >= 0 and self._matrices[self._active].has_focus:
            return [*self._matrices[self._active].hints, hint("number.explain"), pane, leave]
        if self._transcript.has_focus:
            return [hint("text.scroll"), pane, leave]
        pane = hint("tutor.pane-anywhere", say("matrix", "matrix") if self._result.tensors else hint_of("text.scroll"))
        actions = ("prompt-line.run", "prompt-line.complete", "prompt-line.earlier")
        return [*map(hint, actions), pane, hint("prompt-line.leave")]

    # The prompt --------------------------------------------------------------------------------------------------

    def on_prompt_input_entered(self, event: PromptInput.Entered) -> None:
        """Post the input, and accept no other until its result arrives."""
        event.stop()
        self._waiting, self._prompt.held = event.code, True
        running = say("running", "running")
        stop = mention("prompt-line.leave", say("stop", "stop"))
        self._say(f"{running}{self._terminal.ellipsis}   {stop}")
        self.post_message(self.Entered(event.code))
        self.post_message(self.PanesChanged())

    def on_prompt_input_completions(self, event: PromptInput.Completions) -> None:
        """Show the names that complete the input."""
        event.stop()
        if not self._waiting:
            self._say(truncated("   ".join(event.names), max(1, self.size.width - 2), self._terminal.ellipsis))

    def on_editor_left(self, event: PromptInput.Left) -> None:
        """Stop the running input if there is one, otherwise leave the prompt."""
        event.stop()
        self.post_message(self.Stopped() if self._waiting else self.Closed())

    # Explanations ------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now; if not, its key keeps the meaning that it has elsewhere."""
        if action == "explain_back":
            return self.explaining
        return True

    @property
    def unit(self) -> CodeUnit | None:
        """The last input, as the unit of code that produced the numbers, or None if there is none."""
        return CodeUnit.parse(self._result.id) if self._result.id else None

    def explain(self, explanation: Explanation, *, further: bool) -> None:
        """Show an explanation, unless a running input is about to replace the numbers."""
        if not self._waiting:
            super().explain(explanation, further=further)

    def _focus_explanation(self) -> None:
        self._go_to(self._explanation)

    def action_leave(self) -> None:
        """Close the explanation, or stop the running input, or go back to the prompt, whichever applies first."""
        if self.explaining:
            self._close_explanation()
        elif self._waiting:
            self.post_message(self.Stopped())
        else:
            self._active = PROMPT
            self.focus_active()

    def _light(self) -> None:
        """Highlight the operands of the explanation in their matrices."""
        explanation = self._explanation.explanation
        lit = (explanation.lit or {}) if explanation is not None else {}
        for view, tensor in zip(self._matrices, self._result.tensors, strict=False):
            view.mark(Marks(operands=Cells(patterns=lit.get(tensor.name, ()))))
