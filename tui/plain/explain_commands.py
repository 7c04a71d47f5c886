"""Commands that explain a number: its formula, numbered operands, and the way from one to the next."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping

from attn_tutor.lessons.render import explanation_lines, explanation_text
from attn_tutor.lessons.render.numbers import readable
from attn_tutor.lessons.results import explanation_tree
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.tensor_questions import ExplainQuestion, FollowQuestion
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.plain.command_table import Handlers
from attn_tutor.tui.plain.console import Console
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.subject import DialogueSubject
from attn_tutor.tui.plain.waiting_session import WaitingSession

say = Wording("plain/explain")

DEEPEST = 20
"""Levels of one explanation that a learner may ask for."""

MOST_LISTED = 200
"""Operands that are listed when a learner asks for all of them."""


class ExplainCommands:
    """The commands that explain the numbers of a subject; the last explanation can be followed.

    Attributes:
        path: the explanations from the first number to the last one.
    """

    def __init__(
        self,
        console: Console,
        session: WaitingSession,
        subject: Callable[[], DialogueSubject],
        prepare: Callable[[], Iterator[str]],
        steps: Callable[[], Mapping[str, str]],
    ) -> None:
        """Initialize; `prepare` runs what has not run yet, and `steps` are the names of the steps by their ids."""
        self._console, self._session, self._subject = console, session, subject
        self._prepare, self._steps = prepare, steps
        self.path: list[Explanation] = []
        self._unit: CodeUnit | None = None

    @property
    def handlers(self) -> Handlers:
        """The commands that apply now."""
        subject = self._subject()
        found: Handlers = {"explain": self.explain} if subject.unit is not None and subject.tensors else {}
        if self.path:
            found["follow"] = self.follow
        if len(self.path) > 1:
            found["up"] = self.up
        return found

    @property
    def last(self) -> Explanation | None:
        """The explanation that was printed last."""
        return self.path[-1] if self.path else None

    def forget(self) -> None:
        """Forget the explanations, because their run is gone."""
        self.path = []

    def explain(self, text: str) -> Iterator[str]:
        """Yield how a number was computed, and number what it was computed from."""
        match = re.fullmatch(r"(.*?)\s+(\d{1,3})", text)
        levels = 1
        if match is not None:
            text, levels = match[1], int(match[2])
        self._subject().cell(text)
        yield from self._prepare()
        # What has run may have another shape.
        subject = self._subject()
        tensor, index = subject.cell(text)
        unit = subject.unit_of(tensor)
        if unit is None:
            raise Refused(say("not-recorded", "Nothing is recorded of how this number was computed."))
        if not 1 <= levels <= DEEPEST:
            raise Refused(say("levels", "LEVELS is a number from 1 to {most}.", most=DEEPEST))
        if levels > 1:
            yield from self._tree(unit, tensor.name, index, levels)
            return
        self._unit = unit
        self.path = [self._session.ask(ExplainQuestion(tensor.name, index, unit))]
        yield from self._lines(self.path[-1])

    def _tree(self, unit: CodeUnit, name: str, index: tuple[int, ...], levels: int) -> Iterator[str]:
        run = self._session.kept_run
        if run is None:
            raise Refused(say("not-run", "This has not run yet. Type run."))

        def grown() -> explanation_tree.Node | str | None:
            return explanation_tree.grow(
                run,
                unit,
                name,
                index,
                levels,
                explanation_tree.MOST_TOLD,
                lambda each: explanation_lines.choose_operands(each).positions,
                once=True,
            )

        found = self._session.call(grown)
        if not isinstance(found, explanation_tree.Node):
            raise Refused(found or say("gone", "The numbers are no longer there. Type run to compute them again."))
        width = self._console.width
        yield from explanation_lines.lines(found, here=str(unit), steps=self._steps(), width=width, in_shell=False)

    def follow(self, text: str) -> Iterator[str]:
        """Yield how one of the numbered operands was computed; without a number, list all of them."""
        operands = self.path[-1].operands
        if not text:
            yield from self._listed(self.path[-1], range(len(operands))[:MOST_LISTED])
            return
        if not text.isdecimal() or not 1 <= int(text) <= len(operands):
            raise Refused(
                say("no-operand", "Type a number from 1 to {last}, or explain and a cell.", last=len(operands))
                if operands
                else say("leaf", "This number was computed from nothing else.")
            )
        operand = operands[int(text) - 1]
        self.path.append(self._session.ask(FollowQuestion(operand.ref, self._unit)))
        yield from self._lines(self.path[-1])

    def up(self, _: str) -> Iterator[str]:
        """Yield the explanation before."""
        self.path.pop()
        yield from self._lines(self.path[-1])

    def _lines(self, explanation: Explanation) -> Iterator[str]:
        here, unicode = str(self._unit or ""), self._console.unicode
        for line in explanation_text.report(explanation, unicode, here=here, steps=self._steps()):
            yield from wrapped(line, self._console.width)
        choice = explanation_lines.choose_operands(explanation)
        yield from self._listed(explanation, choice.positions)
        left = len(explanation.operands) - len(choice.positions)
        if left > 0:
            yield from self._console.wrapped(
                say.count(
                    "rest",
                    left,
                    "One more number is left out; type follow to list all.",
                    "{count:,} more numbers are left out; type follow to list all.",
                )
            )

    def _listed(self, explanation: Explanation, positions: Iterator[int] | range | tuple[int, ...]) -> Iterator[str]:
        """Yield operands, each with its number, and that it leads no further if that is so."""
        for at in positions:
            operand = explanation.operands[at]
            end = f" ({say('end', 'a start')})" if operand.leaf else ""
            value = readable(operand.value, operand.dtype)
            yield from wrapped(f"  {at + 1}: {operand.label} = {value}{end}", self._console.width)


def wrapped(line: str, width: int) -> Iterator[str]:
    """Yield a line of an explanation in lines that fit; what continues is indented further."""
    indent = " " * (len(line) - len(line.lstrip()))
    yield from textwrap.wrap(
        line.strip(), width, initial_indent=indent, subsequent_indent=f"{indent}    ", break_on_hyphens=False
    )
