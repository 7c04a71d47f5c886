"""The Python prompt on a step, in the dialogue: inputs, what they print, and the matrices that they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing

from lessons.format.lesson import Lesson, Step
from lessons.results.clean_text import clean
from lessons.results.result import WorkerError
from lessons.texts.wording import Wording
from lessons.what_if.changes import Changes
from tui.plain.console import Console
from tui.plain.matrix_commands import brief
from tui.plain.plain_state import PlainState
from tui.plain.refused import Refused
from tui.state.prompt_lines import goes_on

say = Wording("plain/prompt")

INPUT, MORE = ">>> ", "... "

END = "."


class PromptDialogue:
    """A prompt that is open until a line with a period alone, or the end of the input."""

    def __init__(
        self, state: PlainState, lesson: Lesson, step: Step, changes: Changes, steps: Mapping[str, str]
    ) -> None:
        self._state, self._lesson, self._step, self._changes = state, lesson, step, changes
        self._steps = steps

    @property
    def _console(self) -> Console:
        return self._state.console

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
                    "This is Python, with the variables of what you were at. A line with a period alone leaves it.",
                )
            )
            while (code := self._input()) is not None:
                if not code.strip():
                    continue
                try:
                    result = session.call(lambda code=code: prompt.enter(code))  # type: ignore[misc]
                except WorkerError as error:
                    yield from self._console.wrapped(str(error))
                    continue
                yield from clean(result.stdout).splitlines()
                if result.error is not None:
                    line = result.error.unmentioned_line
                    at = f" ({say('line', 'line {line}', line=line)})" if line else ""
                    yield from self._console.wrapped(clean(result.error.message) + at)
                if result.value:
                    yield from clean(result.value).splitlines()
                for tensor in result.tensors:
                    yield from brief(tensor, self._console.width)
            yield from self._console.wrapped(say("left", "Back where you were. Nothing there has changed."))

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
