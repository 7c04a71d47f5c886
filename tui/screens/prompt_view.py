"""A Python prompt on a step: what was entered and what came of it, the matrices of the last result, and the prompt."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea

from lessons.engine.child_code import Names
from lessons.engine.prompt import PromptResult
from lessons.format.lesson import Lesson, Step
from lessons.results.clean_text import clean
from lessons.results.code_unit import CodeUnit
from lessons.results.explanation import Explanation
from lessons.results.result import StepResult, Tensor
from tui.actions.bindings import bindings
from tui.actions.hints import hint, key_line, mention
from tui.drawings.marks import Cells, Marks
from tui.render.code_text import rich_code
from tui.render.numbers import truncated, visible
from tui.render.step_layout import WIDE
from tui.screens.explaining_view import MATRICES, ExplainingView
from tui.tty.terminal import Terminal
from tui.widgets.line_widget import Box, set_height
from tui.widgets.matrix import MatrixView
from tui.widgets.prompt_input import PromptInput
from tui.widgets.text_line import TextLine
from tui.widgets.text_pane import AFTER_F4, TextPane

PROMPT = -1
"""The pane of the prompt; matrices are panes 0, 1, ..."""

OUTPUT_LINES = 40
"""Lines of one output that the transcript keeps; the end says most."""

ENTRIES = 100
DIM, BOLD = Style(dim=True), Style(bold=True)


def entry(code: str, played: PromptResult, theme: str, unicode: bool = True) -> Text:
    """An input and what came of it, as the transcript tells it."""
    text = Text()
    for index, line in enumerate(rich_code(clean(code), theme, numbered=False).split("\n", allow_blank=True)):
        text.append("... " if index else ">>> ", DIM)
        text.append_text(line)
        text.append("\n")
    printed = clean(played.stdout).rstrip("\n").split("\n") if played.stdout else []
    if len(printed) > OUTPUT_LINES:
        text.append(f"({len(printed) - OUTPUT_LINES} lines more)\n", DIM)
    text.append("".join(f"{line}\n" for line in printed[-OUTPUT_LINES:]))
    if played.value:
        text.append(clean(played.value) + "\n")
    for tensor in played.tensors:
        text.append(f"{outline(tensor, unicode)}\n", DIM)
    if played.error is not None:
        number, told = played.error.line, clean(played.error.message)
        where = f"line {number}: " if number and "\n" in code and f"line {number}" not in told else ""
        text.append(f"{where}{told}\n", BOLD)
    return text


def outline(tensor: Tensor, unicode: bool = True) -> str:
    """A tensor in a few words: `weights  6×6 float32`."""
    shape = ("×" if unicode else "x").join(map(str, tensor.shape)) or "one number"
    return f"{visible(tensor.name)}  {shape} {tensor.dtype}"


def welcome(names: Names) -> Text:
    """What an input can use, where nothing has been entered yet."""
    text = Text("Python with the variables of this step. The lesson stays as it is, whatever you do here.\n")
    told = [(name, kind) for name, kind in names if kind != "module"]
    for index, (name, kind) in enumerate(told):
        text.append("   " if index else "")
        text.append(visible(name), BOLD)
        text.append(f" {visible(kind)}", DIM)
    return text.append("\n" if told else "")


def heights(room: int, wanted: list[int], active: int) -> list[int]:
    """Lines for each matrix: the active one first, then as many of the others as fit."""
    found = [0] * len(wanted)
    for index in sorted(range(len(wanted)), key=lambda index: (index != active, index)):
        if wanted[index] <= room or (index == active and room > 0):
            found[index] = min(wanted[index], room)
            room -= found[index]
    return found


class PromptView(ExplainingView):
    """The prompt and what it gave. It posts what is to be run, and is told what came of it."""

    topic = "play"

    DEFAULT_CSS = """
    PromptView {
        layout: vertical;
        height: 1fr;
        width: 1fr;
    }

    PromptView #explanation {
        dock: top;
    }

    PromptView #played {
        layout: vertical;
        height: 1fr;
    }

    PromptView #played.wide {
        layout: horizontal;
    }

    PromptView #made {
        layout: vertical;
        width: 1fr;
        height: auto;
    }

    PromptView #played.wide #made {
        height: 1fr;
    }

    PromptView #prompt {
        margin-left: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("prompt")]

    class Entered(Message):
        """This is to be run."""

        def __init__(self, code: str) -> None:
            self.code = code
            super().__init__()

    class Stopped(Message):
        """What is running is to be stopped."""

    class Closed(Message):
        """The learner leaves."""

    def __init__(self, terminal: Terminal, code_theme: str, *, id: str | None = None) -> None:
        super().__init__(terminal, "made", id=id)
        self._code_theme = code_theme
        self.title = ""
        """What the title line says."""
        self._welcome = Text()
        self._entries: deque[Text] = deque(maxlen=ENTRIES)
        self._waiting = ""
        self.opened = 0
        """How often the prompt was opened: what was entered into an earlier one is no longer shown."""

        self._transcript = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, id="transcript")
        self._made = Box(*self._matrices, id="made")
        self._body = Box(self._transcript, self._made, id="played")
        self._word = TextLine(ellipsis=terminal.ellipsis, id="play-word")
        self._prompt = PromptInput(id="prompt")
        self._focused: Widget = self._prompt

    def compose(self) -> ComposeResult:
        """What was entered, the matrices, the cell under the cursor, a word, and the prompt."""
        yield self._explanation
        yield from (self._body, self._detail, self._word, self._prompt)

    # What is shown -----------------------------------------------------------------------------------------------

    def open(self, lesson: Lesson, step: Step, names: Names = ()) -> None:
        """Begin anew on a step of a lesson."""
        self.opened += 1
        self.title = f"Python: {step.title}"
        self._entries.clear()
        self._waiting, self._prompt.held = "", False
        self._prompt.restart()
        self._say(f"after step {lesson.index(step.id) + 1} of lesson {lesson.number}")
        self._show_result(StepResult(""))
        self.know(names)
        self._active = PROMPT
        self.focus_active()

    def know(self, names: Names) -> None:
        """What inputs can use at the start."""
        self._prompt.names = tuple(name for name, _ in names)
        self._welcome = welcome(names)
        self._show_transcript()

    def show_result(self, played: PromptResult) -> None:
        """What has come of the input that was entered."""
        self._entries.append(entry(self._waiting, played, self._code_theme, self._terminal.unicode))
        self._waiting, self._prompt.held = "", False
        self._prompt.names = tuple(name for name, _ in played.names)
        self._say("")
        self._show_result(played)
        self._show_transcript()

    def say(self, text: str) -> None:
        """Something about what was entered, in place of a result: nothing could be run."""
        self._waiting, self._prompt.held = "", False
        self._say(text)

    @property
    def waiting(self) -> bool:
        """Whether an input waits for its result."""
        return bool(self._waiting)

    def _say(self, text: str) -> None:
        self._word.set(Text(f" {clean(text)}", DIM) if text else "")

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

    # Places ------------------------------------------------------------------------------------------------------

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
        # On a narrow screen the transcript keeps some lines: what was entered last is in them.
        least = 0 if wide else min(3, body // 2)
        lines = heights(body - least, wanted, max(self._active, 0))
        self._transcript.styles.width = width // 2 if wide else "1fr"
        set_height(self._explanation, panel)
        set_height(self._prompt, prompt)
        self._made.display = count > 0
        self._detail.display = count > 0
        for index, view in enumerate(self._matrices):
            set_height(view, lines[index] if index < count else 0)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange again."""
        self._arrange()
        self._describe()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """The prompt may have another number of lines."""
        event.stop()
        self._arrange()

    # Panes -------------------------------------------------------------------------------------------------------

    def focus_active(self) -> None:
        """Give the keys to the active pane."""
        self._go_to(self._matrices[self._active] if self._active >= 0 else self._prompt)

    def move_pane(self, step: int) -> None:
        """From the prompt to the matrices, an explanation, the transcript, and on."""
        order: list[Widget] = [self._prompt, *self._matrices[: len(self._result.tensors)]]
        if self.explaining:
            order.append(self._explanation)
        order.append(self._transcript)
        index = order.index(self._focused) if self._focused in order else 0
        self._go_to(order[(index + step) % len(order)])

    def _go_to(self, pane: Widget) -> None:
        # Noted here: the focus itself moves later.
        self._focused = pane
        if isinstance(pane, MatrixView):
            self._active = self._matrices.index(pane)
            self._arrange()
        elif pane is self._prompt:
            self._active = PROMPT
        pane.focus(scroll_visible=False)
        self._describe()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A click may have moved the focus."""
        self._focused = event.widget
        if isinstance(event.widget, MatrixView):
            self._active = self._matrices.index(event.widget)
        elif event.widget is self._prompt:
            self._active = PROMPT
        self._describe()

    @property
    def keys(self) -> str:
        """What keys do here, for the line of keys."""
        if self._waiting:
            return hint("prompt-line.leave", "stop")
        if self._explanation.has_focus:
            pane = hint("tutor.pane-anywhere")
            return key_line([*self._explanation.hints, hint("explanation.back"), pane, hint("explanation.close")])
        pane, leave = hint("screen.pane"), hint("prompt.leave")
        if self._active >= 0 and self._matrices[self._active].has_focus:
            return key_line([*self._matrices[self._active].hints, hint("number.explain"), pane, leave])
        if self._transcript.has_focus:
            return key_line([hint("text.scroll"), pane, leave])
        pane = hint("tutor.pane-anywhere", "matrix" if self._result.tensors else "scroll")
        actions = ("prompt-line.run", "prompt-line.complete", "prompt-line.earlier")
        return key_line([*map(hint, actions), pane, hint("prompt-line.leave")])

    # The prompt --------------------------------------------------------------------------------------------------

    def on_prompt_input_entered(self, event: PromptInput.Entered) -> None:
        """Pass it on, and let nothing else be entered meanwhile."""
        event.stop()
        self._waiting, self._prompt.held = event.code, True
        self._say(f"running{self._terminal.ellipsis}   {mention('prompt-line.leave', 'stop')}")
        self.post_message(self.Entered(event.code))
        self.post_message(self.PanesChanged())

    def on_prompt_input_completions(self, event: PromptInput.Completions) -> None:
        """Names to choose from."""
        event.stop()
        if not self._waiting:
            self._say(truncated("   ".join(event.names), max(1, self.size.width - 2), self._terminal.ellipsis))

    def on_editor_left(self, event: PromptInput.Left) -> None:
        """Escape in the prompt: stop what is running, else leave."""
        event.stop()
        self.post_message(self.Stopped() if self._waiting else self.Closed())

    # Explanations ------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key means something now; if not, it means what it does elsewhere."""
        if action == "explain_back":
            return self.explaining
        return True

    @property
    def unit(self) -> CodeUnit | None:
        """The last input."""
        return CodeUnit.parse(self._result.id) if self._result.id else None

    def explain(self, explanation: Explanation, *, further: bool) -> None:
        """Show how a number was made, unless the numbers that it is about are about to go."""
        if not self._waiting:
            super().explain(explanation, further=further)

    def _focus_explanation(self) -> None:
        self._go_to(self._explanation)

    def action_leave(self) -> None:
        """Close the explanation; stop what is running; else back to the prompt."""
        if self.explaining:
            self._close_explanation()
        elif self._waiting:
            self.post_message(self.Stopped())
        else:
            self._active = PROMPT
            self.focus_active()

    def _light(self) -> None:
        """Light up the operands in their matrices."""
        explanation = self._explanation.explanation
        lit = (explanation.lit or {}) if explanation is not None else {}
        for view, tensor in zip(self._matrices, self._result.tensors, strict=False):
            view.mark(Marks(operands=Cells(patterns=lit.get(tensor.name, ()))))
