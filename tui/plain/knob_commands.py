"""The command that turns knobs, and lists them: those of a program are many, so the nearest come first."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence

from attn_tutor.lessons.format.knobs.knob import Knob
from attn_tutor.lessons.format.knobs.literal import LiteralKnob
from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.render.numbers import truncated
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import ChangeHistory
from attn_tutor.tui.plain.console import Console
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.state import knob_list

say = Wording("plain/change")

MOST_LISTED = 20
"""Knobs that are listed when nobody has asked for all of them."""

QUOTED = re.compile(r'"([^"]+)"\s*(.*)')
"""A label in quotes, and what follows it."""

ALL = "all"
"""What a learner types to have all of them listed."""


class KnobCommands:
    """Lists the knobs of a step, and finds the one that a learner means."""

    def __init__(
        self,
        console: Console,
        step: Callable[[], tuple[Lesson, Step]],
        knobs: Callable[[], Sequence[Knob]],
        history: Callable[[], ChangeHistory],
    ) -> None:
        self._console, self._step, self._knobs, self._history = console, step, knobs, history

    def listed(self, text: str) -> Iterator[str]:
        """Yield the knobs that have these words, of many the nearest ones; with `ALL` all. Raises `Refused`."""
        lesson, step = self._step()
        there = knob_list.in_order(self._knobs(), step.id)
        if text.casefold() in ("", ALL):
            yield from self._lines(there, len(there) if text else MOST_LISTED)
            return
        found, word = knob_list.having(lesson, there, text), text.partition(" ")[0]
        if not found and word != text and (found := knob_list.having(lesson, there, word)):
            yield from self._console.wrapped(say("which-knob", "Type the name of one of these, and then the value:"))
        if not found:
            raise Refused(self._none(text))
        yield from self._lines(found, MOST_LISTED, with_code=True)

    def _lines(self, knobs: Sequence[Knob], most: int, *, with_code: bool = False) -> Iterator[str]:
        """Yield a line for each knob, up to so many, and how to see the rest; literals also `with_code`."""
        # One that is left out takes the room that saying so takes.
        shown = knobs[: most + int(len(knobs) == most + 1)]
        for knob in shown:
            yield from self._line(knob)
            if with_code and isinstance(knob, LiteralKnob):
                yield "    " + truncated(knob_list.line_of(self._step()[0], knob), self._console.width - 4, "...")
        left = len(knobs) - len(shown)
        if left and with_code:
            yield from self._console.wrapped(
                say("more-found", "{count} more are found. Type more words to see fewer.", count=left)
            )
        elif left:
            yield from self._console.wrapped(
                say(
                    "more-knobs",
                    "{count} more: knob {all} lists all, and knob WORD those with that word in their name or their "
                    "line of code.",
                    count=left,
                    all=ALL,
                )
            )

    def _line(self, knob: Knob) -> Iterator[str]:
        """Yield what a knob is called, what it is now, and what it takes."""
        lesson, _ = self._step()
        setting = self._history().current.settings.get(knob.name, knob.initial(lesson))
        now = say("each-own", "each step its own") if setting is None else knob.say(setting)
        line = say("knob", "{name}: {label}, now {now}.", name=knob.name, label=knob.label, now=now)
        limits = knob.limits()
        if "values" in limits:
            line += " " + say("values", "It takes: {values}.", values=", ".join(map(str, limits["values"])))
        else:
            line += " " + say("accepts", "It takes: {accepts}.", accepts=knob.accepts)
        yield from self._console.wrapped(line)

    def meant(self, text: str) -> tuple[Knob | None, str]:
        """Return the knob that a text begins with, and the rest.

        It is found by its name, by its label, which may be in quotes, or as the only one that the code calls so.

        Names of several words, such as those of another file, are read whole. Returns None if there is no such knob.
        """
        if (quoted := QUOTED.fullmatch(text)) is not None:
            text = f"{quoted[1]} {quoted[2]}"
        names = [(knob, knob.name) for knob in self._knobs()]
        labels = [(knob, knob.label) for knob in self._knobs()]
        literals = [knob for knob in self._knobs() if isinstance(knob, LiteralKnob)]
        called = [(knob, knob.called) for knob in literals if knob_list.is_all_of(self._step()[0], knob)]
        for among in (names, called, labels):
            found = [(len(name), knob) for knob, name in among if name and _follows(name, text) is not None]
            longest = [knob for length, knob in found if length == max(length for length, _ in found)]
            if len(longest) == 1:
                name = next(name for knob, name in among if knob is longest[0])
                return longest[0], str(_follows(name, text)).removeprefix("=").strip()
        return None, ""

    def _none(self, text: str) -> str:
        """Say that there is no such knob, and which there are."""
        knobs, name = self._knobs(), text.partition(" ")[0]
        names = [knob.called if isinstance(knob, LiteralKnob) else knob.name for knob in knobs]
        if close := difflib.get_close_matches(name, names, 1):
            return say("similar-knob", "There is no knob {name}. Do you mean {similar}?", name=name, similar=close[0])
        if len(knobs) > MOST_LISTED:
            return say(
                "not-found", "No knob has {text} in its name or its line of code. Type knob to list them.", text=text
            )
        return say("no-knob", "There is no knob {name}. There is: {names}.", name=name,
                   names=", ".join(knob.name for knob in knobs))  # fmt: skip


def _follows(name: str, text: str) -> str | None:
    """Return what follows a name at the beginning of a text; None if the text begins with something else."""
    rest = text[len(name) :]
    begins = text[: len(name)].casefold() == name.casefold() and (not rest or rest[0] in " =")
    return rest.strip() if begins else None
