"""Exercises in the dialogue: code by file or pasted, checked, run, compared, with hints and the solution."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from attn_tutor.lessons.engine.scratch_run import STEP
from attn_tutor.lessons.files import NotRegular, open_regular, read_most
from attn_tutor.lessons.learner.records import DAMAGED
from attn_tutor.lessons.play.drafts import is_cut_short
from attn_tutor.lessons.play.exercise import ExerciseModel
from attn_tutor.lessons.render.source_text import names_of_steps
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import AnswerComparison, StepResult, WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.plain.command_table import Handlers
from attn_tutor.tui.plain.flow_commands import FlowPlace
from attn_tutor.tui.plain.matrix_commands import drawer, drawn
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.step_dialogue import StepDialogue
from attn_tutor.tui.plain.subject import DialogueSubject
from attn_tutor.tui.plain.waiting_session import PlainState
from attn_tutor.tui.render import exercise_text, linear_text
from attn_tutor.tui.tty import external_editor

say = Wording("plain/exercise")

END = "."

CONTINUED = "| "
"""What stands before each line of code that is typed."""

LARGEST = 1024 * 1024
"""Bytes of a file that is read; the judge accepts less."""


class ExerciseDialogue(StepDialogue):
    """An exercise whose answer is code."""

    _model: ExerciseModel

    def __init__(self, state: PlainState, model: ExerciseModel) -> None:
        super().__init__(state, model)
        self._exercise, self._drafts, self._help = model.exercise, model.drafts, model.help
        self._code = model.code
        self._scratch: StepResult | None = None
        self._with_code = model.lesson

    @property
    def handlers(self) -> Handlers:
        """The commands that apply at the exercise now."""
        writing: Handlers = {"code": self.code, "draft": self.draft, "line": self.line, "edit": self.edit}
        return super().handlers | self._offered(
            {
                "write": writing | {"starter": self.starter},
                "check": {"check": self.check},
                "scratch-run": {"run": self.run},
                "hint": {"hint": self.hint},
                "solution": {"solution": self.solution},
                "difference": {"difference": self.difference},
                "take-back": {"retract": self.retract},
            }
        )

    @property
    def subject(self) -> DialogueSubject:
        """The matrices of the scratch run."""
        if self._scratch is None:
            return DialogueSubject(())
        return DialogueSubject(self._scratch.tensors, CodeUnit.step(STEP))

    def why_not(self, word: str) -> str:
        """See `StepDialogue`."""
        if self._scratch is None and word in ("show", "read", "row", "explain", "overview", "flow", "open", "box"):
            return say("not-run", "Your code has not run yet, so there are no numbers. Type run to run it.")
        if word == "hint" and self._help.solution_is_open:
            return say("no-hint", "You need no more hints here. Type solution to read the solution.")
        if word in ("set", "knob", "python"):
            return say("not-changed", "There is nothing to change here but your code.")
        return super().why_not(word)

    def _flow_place(self) -> FlowPlace:
        return FlowPlace(self._with_code, STEP, None if self._scratch is None else CodeUnit.step(STEP))

    def _names_of_steps(self) -> Mapping[str, str]:
        return names_of_steps(self._with_code)

    def _prepared(self) -> Iterator[str]:
        run = self._state.session.kept_run
        if self._scratch is None or run is None or not run.alive:
            yield from self._console.wrapped(say("run-again", "Your code runs again first."))
            yield from self.run("")

    @property
    def _hints_read(self) -> tuple[str, ...]:
        return self._model.hints_read

    def _below(self) -> Iterator[str]:
        if self._code.strip() != self._exercise.starter.strip():
            yield from self._paragraphs(say("your-code", "Your code:"))
            yield from self._code_lines()
        for number in range(self._help.hints):
            yield ""
            yield from self._hint_lines(self._exercise.hints, number)
        if self._help.under_review:
            yield from self._paragraphs(say("once-more", "Once more, from the starter."))
        elif self._model.passed:
            yield from self._paragraphs(say("passed-before", "Passed before."))
        elif self._model.gave_up:
            yield from self._paragraphs(say("gave-up", "You gave up on this one; you can still solve it."))
        elif self._model.skips_lesson:
            yield from self._paragraphs(
                say(
                    "challenge",
                    "This is the challenge of the lesson: pass it, and the rest of the lesson is behind you.",
                )
            )
        other = self._model.offered(self._code)
        if other is not None:
            yield from self._paragraphs(
                say("damaged-code", "The disk has changed a part of your code; type starter for your last whole code.")
                if other.why == DAMAGED
                else say("other-code", "Another session of yours wrote other code; type starter to switch to it.")
            )
        how = say(
            "how",
            "Type code to write your code here, line to replace one line of it, or check and the name of a file. "
            "run runs it.",
        )
        yield from self._paragraphs(how)

    # Code ------------------------------------------------------------------------------------------------------------

    def _code_lines(self) -> Iterator[str]:
        for line in self._code.rstrip().splitlines():
            yield f"    {line}".rstrip()

    def draft(self, _: str) -> Iterator[str]:
        """Yield the learner's code."""
        yield from self._code_lines()

    def code(self, text: str) -> Iterator[str]:
        """Read code up to a line with a period, or another end, and keep it as the draft."""
        end = text or END
        yield from self._console.wrapped(
            say("write", "Write your code. A line with {end} alone ends it; Ctrl+C forgets it.", end=end)
        )
        try:
            lines, ended = self._console.ask_until(end, CONTINUED)
        except KeyboardInterrupt:
            self._console.end_line()
            raise Refused(say("forgotten", "Your code is as it was.")) from None
        if not any(line.strip() for line in lines):
            raise Refused(say("nothing-written", "Nothing was written. Your code is as it was."))
        self._save("\n".join(lines) + "\n", replaces=True)
        if not ended:
            yield from self._console.wrapped(say("no-end", "The input ended before a line with {end}.", end=end))
        if self._state.learning.progress.saved:
            yield from self._console.wrapped(
                say.count(
                    "kept", len(lines), "{count} line is saved. Type check.", "{count} lines are saved. Type check."
                )
            )

    def line(self, text: str) -> Iterator[str]:
        """Yield a line of the code by its number, or write another one in its place, with the same indentation."""
        number, _, written = text.partition(" ")
        lines = self._code.splitlines()
        if not number.isdecimal() or not 1 <= int(number) <= len(lines):
            raise Refused(
                say.count("no-line", len(lines), "Your code has one line: line 1.",
                          "Say which line, from 1 to {count}: line 1, or line 1 and code to write in its place.")
            )  # fmt: skip
        at = int(number) - 1
        if written.strip():
            old = lines[at]
            lines[at] = old[: len(old) - len(old.lstrip())] + written.strip()
            self._save("\n".join(lines) + "\n", replaces=True)
        yield f"{at + 1}: {lines[at]}"

    def _save(self, code: str, *, replaces: bool = False) -> None:
        """Save the code; what it `replaces` is kept, if that is no starter."""
        before = self._code.strip()
        if replaces and before not in ("", self._exercise.starter.strip(), code.strip()):
            self._drafts.archive(self._exercise.exercise, self._code)
        self._code = code
        self._model.save(code)

    def starter(self, _: str) -> Iterator[str]:
        """Switch to the starter or, from there, to the code that it replaced; to that of another session first."""
        name, before = self._exercise.exercise, self._code
        other = self._model.offered(before)
        last = self._drafts.last_archived(name)
        if other is not None:
            after = other.code
        elif before.strip() != self._exercise.starter.strip():
            after = self._exercise.starter
        elif last is not None:
            after = last
        else:
            raise Refused(say("is-starter", "This is the starter already."))
        if before.strip() != self._exercise.starter.strip():
            self._drafts.archive(name, before)
        self._save(after)
        self._model.judgement = None
        yield from self._code_lines()

    def edit(self, _: str) -> Iterator[str]:
        """Have the learner edit the code in their own editor."""
        if not self._console.is_terminal:
            raise Refused(say("no-terminal", "There is no terminal for an editor here. Type code to write your code."))
        try:
            words = external_editor.command(os.environ)
        except external_editor.EditorError as error:
            raise Refused(str(error)) from None
        edited = external_editor.edit(words, self._exercise.exercise, self._code)
        if edited.code is not None and edited.code != self._code:
            self._save(edited.code, replaces=is_cut_short(self._code, edited.code))
            yield from self._code_lines()
        if edited.message:
            yield from self._console.wrapped(edited.message)

    def _read(self, name: str) -> str:
        """Return the code in a file. Raises `Refused`."""
        try:
            path = Path(name).expanduser()
            with open_regular(path) as opened:
                content = read_most(opened, LARGEST + 1)
        except NotRegular:
            raise Refused(say("no-file", "{file} is no ordinary file.", file=name)) from None
        # `~nobody` is a RuntimeError.
        except (OSError, ValueError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise Refused(say("cannot-read", "{file} cannot be read: {reason}.", file=name, reason=reason)) from None
        if len(content) > LARGEST:
            raise Refused(say("too-large", "{file} is too large to be an answer.", file=name))
        # The judge says in which line bytes are that are not UTF-8.
        return content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")

    # Checks and runs -------------------------------------------------------------------------------------------------

    def check(self, text: str) -> Iterator[str]:
        """Have the code judged, that in a file if one is named, and yield the verdict."""
        if text:
            self._save(self._read(text), replaces=True)
        self._help.gives_up_next = False
        judgement = self._state.session.check(self._exercise, self._code)
        shown, more = self._model.judged(self._code, judgement)
        if judgement.stopped:
            yield from self._console.wrapped(judgement.message)
            return
        yield from linear_text.judgement(shown, more, self._console.width, in_shell=False)
        if judgement.passed:
            yield from self._console.wrapped(say("why", "Type solution to see why it works, or next to go on."))
        elif shown.difference is not None:
            yield from self._console.wrapped(say("see-difference", "Type difference to see where it differs."))

    def run(self, _: str) -> Iterator[str]:
        """Run the code without judging it, and yield its matrices."""
        self._help.gives_up_next = False
        self._with_code, run = self._state.session.attempt(self.lesson, self._exercise, self._code)
        self._scratch = result = self._model.scratch(run)
        self._explaining.forget()
        self._flow.forget()
        width = self._console.width
        # Each result begins with an empty line.
        lines = list(linear_text.result_lines(self._with_code.step(STEP), result, width, draw=drawer(self._console)))[
            1:
        ]
        yield from lines or self._console.wrapped(say("nothing", "It has run, and makes no matrices."))

    def difference(self, _: str) -> Iterator[str]:
        """Yield the first result that differs, as it is and as it is expected."""
        judgement = self._model.judgement
        if judgement is None or judgement.difference is None:
            raise Refused(exercise_text.nothing_to_compare(judgement))
        difference = judgement.difference
        yield say("yours", "Yours:")
        yield from drawn(self._console, difference.yours)
        yield say("expected", "Expected:")
        yield from drawn(self._console, difference.expected)

    # Help ------------------------------------------------------------------------------------------------------------

    def hint(self, _: str) -> Iterator[str]:
        """Yield the next hint."""
        self._help.use_hint()
        yield from self._hint_lines(self._exercise.hints, self._help.hints - 1)
        if not self._help.hints_left:
            yield from self._console.wrapped(say("last-hint", "That was the last hint."))

    def solution(self, _: str) -> Iterator[str]:
        """Yield the model answer: after passing, or after giving up, which is to be asked for twice."""
        if not self._help.solution_is_open:
            if not self._help.gives_up_next:
                self._help.gives_up_next = True
                yield from self._console.wrapped(
                    say("give-up", "This gives up (which can be taken back). Type solution again to see the solution.")
                )
                return
            self._help.give_up(self._code)
        self._help.use_solution()
        try:
            compared: AnswerComparison | str = self._state.session.compare(self._exercise, self._code)
        except WorkerError as error:
            compared = str(error)
        text = exercise_text.solution(
            self._exercise, self._code, compared, gave_up=self._help.gave_up, unicode=self._console.unicode
        )
        for line in text.plain.splitlines():
            # Code stays as it is.
            yield from [line] if line.startswith(("  ", "- ", "+ ", "= ")) else self._console.wrapped(line) or [""]
        if self._help.gave_up:
            yield from self._console.wrapped(say("take-back", "Type retract to take back giving up."))

    def retract(self, _: str) -> Iterator[str]:
        """Take back giving up."""
        self._help.take_back_give_up()
        yield from self._console.wrapped(say("taken-back", "Taken back: you have not given up."))
