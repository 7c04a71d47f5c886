"""The Python prompt on a step, in the dialogue: inputs, what they print, and the matrices that they make."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import closing

from attn_tutor.lessons.engine.children import CodeResult
from attn_tutor.lessons.engine.prompt import Prompt
from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import Tensor, WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import Changes
from attn_tutor.tui.plain.command_table import COMMANDS, Handlers, word_of
from attn_tutor.tui.plain.console import Console
from attn_tutor.tui.plain.explain_commands import ExplainCommands
from attn_tutor.tui.plain.matrix_commands import MatrixCommands, drawn
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.subject import DialogueSubject
from attn_tutor.tui.plain.waiting_session import PlainState
from attn_tutor.tui.state.prompt_lines import goes_on

say = Wording("plain/prompt")

INPUT, MORE = ">>> ", "... "

END = "."

WORDS = ("explain", "follow", "up", "show", "read", "row", "overview")
"""The commands that work in the prompt, too, where what is typed is no Python."""


class PromptDialogue:
    """A prompt that is open until a line with a period alone, or the end of the input."""

    def __init__(
        self, state: PlainState, lesson: Lesson, step: Step, changes: Changes, steps: Mapping[str, str]
    ) -> None:
        self._state, self._lesson, self._step, self._changes = state, lesson, step, changes
        parts = (self._console, state.session, lambda: self._subject, lambda: iter(()))
        self._matrices, self._explaining = MatrixCommands(*parts), ExplainCommands(*parts, lambda: steps)
        # The tensors that inputs have made, by their names, each with its input.
        self._made: dict[str, tuple[Tensor, CodeUnit]] = {}
        # The names that Python knows.
        self._names: frozenset[str] = frozenset()

    @property
    def _console(self) -> Console:
        return self._state.console

    @property
    def _subject(self) -> DialogueSubject:
        units = tuple((name, unit) for name, (_, unit) in self._made.items())
        return DialogueSubject(
            tuple(tensor for tensor, _ in self._made.values()), units[-1][1] if units else None, boxes=units
        )

    @property
    def _handlers(self) -> Handlers:
        """The commands that apply now."""
        return self._matrices.handlers | self._explaining.handlers

    def talk(self) -> Iterator[str]:
        """Yield what inputs lead to, until the learner leaves the prompt."""
        session = self._state.session
        try:
            prompt = session.open_prompt(self._lesson, self._step.id, self._changes)
        except WorkerError as error:
            raise Refused(str(error)) from None
        with closing(prompt):
            yield from self._console.wrapped(
                say(
                    "opened",
                    "This is Python, with the variables that you were looking at. A line with a period alone leaves "
                    "it. explain, show and read work here, too: explain NAME[INDEX].",
                )
            )
            while (code := self._input()) is not None:
                if not code.strip():
                    continue
                try:
                    if (word := self._command(code)) is not None:
                        yield from self._obey(prompt, word, code.strip())
                    else:
                        yield from self._outcome(self._entered(prompt, code))
                except (WorkerError, Refused) as error:
                    yield from self._console.wrapped(str(error))
            yield from self._console.wrapped(say("left", "Back where you were. Nothing there has changed."))

    def _entered(self, prompt: Prompt, code: str) -> CodeResult:
        """Run an input, and keep what it makes. Raises `WorkerError`."""
        before = prompt.run
        result = self._state.session.call(lambda: prompt.enter(code))
        if prompt.run is not before:
            # What could be followed was known to the child before.
            self._explaining.forget()
        self._names = frozenset(name for name, _ in result.names)
        for tensor in result.tensors:
            # The newest stand last.
            self._made.pop(tensor.name, None)
            self._made[tensor.name] = tensor, CodeUnit.parse(result.id)
        return result

    def _outcome(self, result: CodeResult) -> Iterator[str]:
        """Yield what an input has led to."""
        yield from result.stdout.splitlines()
        if result.error is not None:
            line = result.error.unmentioned_line
            at = f" ({say('line', 'line {line}', line=line)})" if line else ""
            yield from self._console.wrapped(result.error.message + at)
        if result.value:
            yield from result.value.splitlines()
        for tensor in result.tensors:
            yield from drawn(self._console, tensor)

    def _command(self, code: str) -> str | None:
        """Return the command that an input is, None if it is Python."""
        first, _, rest = code.strip().partition(" ")
        if first.isdecimal() and not rest and "follow" in self._handlers:
            return "follow"
        word = word_of(first)
        if word not in WORDS or "\n" in code:
            return None
        if not rest:
            return word if first == word and word in self._handlers and word not in self._names else None
        try:
            ast.parse(code.strip())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return word
        return None

    def _obey(self, prompt: Prompt, word: str, line: str) -> Iterator[str]:
        """Do a command about what inputs have made; a variable of the step is looked up first."""
        rest = line if line.isdecimal() else line.partition(" ")[2].strip()
        name = re.match(r"[A-Za-z_]\w*", rest)
        if name is not None and word != "follow" and name[0] not in self._made:
            result = self._entered(prompt, name[0])
            if not result.tensors:
                yield from self._outcome(result)
                return
        if word not in self._handlers:
            raise Refused(
                say("not-now", "{word} does nothing yet: {help}.", word=word, help=COMMANDS[word].said_help())
            )
        with self._state.session.about(prompt.run):
            yield from self._handlers[word](rest)

    def _input(self) -> str | None:
        """Return an input, which may have several lines; None if the learner leaves. Ctrl+C forgets it."""
        while True:
            lines: list[str] = []
            try:
                while not lines or goes_on("\n".join(lines)):
                    line = self._console.ask(MORE if lines else INPUT)
                    if line is None or (not lines and line.strip() == END):
                        return None
                    lines.append(line)
            except KeyboardInterrupt:
                self._console.end_line()
                continue
            return "\n".join(lines)
