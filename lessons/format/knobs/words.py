"""A knob for the learner's own sentence."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from attn_tutor.lessons.format.fields import Whole
from attn_tutor.lessons.format.knobs import sentence
from attn_tutor.lessons.format.knobs.knob import ChangeError, Knob, LessonCode, Problem, Rewrite, Setting, Span
from attn_tutor.lessons.texts.wording import Wording

say = Wording("change/words")


class WordsKnob(Knob):
    """The learner's own sentence, which replaces the `tokens` of the lesson, and in its code the statement `inputs =
    torch.tensor(...)` by three toy numbers for each word.

    These are drawn from the letters of the word (`lessons.format.knobs.sentence`).
    """

    can_turn: ClassVar[bool] = False
    is_endless: ClassVar[bool] = True
    kind: Literal["words"]
    least: Annotated[Whole, Field(ge=1)] = 2
    """The least number of words."""
    most: Annotated[Whole, Field(le=64)] = 12
    """The greatest number of words."""

    @property
    def unit(self) -> str:
        """The unit of its limits."""
        return say("unit", "words")

    @property
    def caution(self) -> str:
        """A warning that the numbers of the words mean nothing."""
        return say("caution", "toy numbers, drawn from the letters: they mean nothing")

    def initial(self, lesson: LessonCode) -> Setting:
        """Return the words of the lesson."""
        return " ".join(lesson.tokens)

    def read(self, value: Setting) -> Setting:
        """Split a sentence into words and join these with spaces. Raises `ChangeError`."""
        try:
            return " ".join(sentence.split(str(value), self.least, self.most))
        except sentence.WordsError as error:
            raise ChangeError(str(error)) from None

    @property
    def samples(self) -> tuple[Setting, ...]:
        """A sentence of the least length and one of the greatest."""
        return tuple(" ".join(map(str, range(count))) for count in (self.least, self.most))

    @property
    def accepts(self) -> str:
        """The word for any sentence."""
        return say("accepts", "your words")

    def limits(self) -> dict[str, Any]:
        """Return the least and the greatest number of words as `least` and `most`."""
        return {"least": self.least, "most": self.most}

    def find_spans(self, code: str) -> tuple[Span, ...]:
        """Find the statements `inputs = torch.tensor(...)`, each with the comment behind it."""
        return _inputs_statements(code)

    def rewrite(self, setting: Setting) -> Rewrite:
        """Return the words, and the statement that makes `inputs` from them."""
        words = tuple(str(setting).split(" "))
        return Rewrite(sentence.statement(words), tokens=words)

    def problems(self, lesson: LessonCode, earlier: Sequence[Knob]) -> Iterator[Problem]:
        """Yield what is wrong with the reach of the knob and with its limits."""
        if self.within:
            yield "in", "words are the same in the whole lesson", "Leave out 'in'."
        if any(isinstance(other, WordsKnob) for other in earlier):
            yield "kind", "a second knob for words", "Keep one of them."
        if not self.least <= len(lesson.tokens) <= self.most:
            yield (
                "kind",
                f"the lesson's own {len(lesson.tokens)} tokens are not from {self.least} to {self.most}",
                "Let 'least' and 'most' allow them.",
            )

    def unused(self, where: str) -> Problem:
        """Describe that no code of the lesson defines `inputs`."""
        return (
            "kind",
            "no code has 'inputs = torch.tensor(...)', where this knob puts a row of numbers for each word",
            "Write it at the top level of some code, or leave the knob out.",
        )


@functools.lru_cache(64)
def _inputs_statements(code: str) -> tuple[Span, ...]:
    lines = code.split("\n")
    starts = [0, *itertools.accumulate(len(line) + 1 for line in lines)]
    spans = []
    for node in ast.parse(code).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="inputs")], value=ast.Call(func=ast.Attribute(attr="tensor"))):
                assert node.end_lineno is not None
                # Columns of the syntax tree count bytes.
                column = len(lines[node.lineno - 1].encode()[: node.col_offset].decode())
                spans.append((starts[node.lineno - 1] + column, starts[node.end_lineno] - 1))
    return tuple(spans)
