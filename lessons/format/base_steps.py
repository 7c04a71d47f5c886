"""The fields that steps of a lesson share, their texts that a learner reads, and the tensors that they show."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.fields import (
    CHECKED,
    Alias,
    Expression,
    Model,
    Name,
    OptionalCode,
    OptionalExpression,
    OptionalName,
    Real,
    Slug,
    Template,
    Text,
    Whole,
)

Path = tuple[int | str, ...]
"""Keys and indices that lead to a node of a lesson file, such as `("hints", 0)`."""


TEMPLATE_FIELDS = re.compile(r"\{[^{}]*\}")
"""The fields of a template."""


@dataclass(frozen=True, slots=True)
class LearnerText:
    """A text that a learner reads.

    Attributes:
        path: its path in its step.
        text: the text as the author wrote it, with its fields.
        is_task: whether it says exactly what is wanted in an exercise, or why the solution works.
        is_sentence: whether it consists of whole sentences.
    """

    path: Path
    text: str
    is_task: bool = False
    is_sentence: bool = True


def count_words(text: str) -> int:
    """Count the words of a text; a field counts as one."""
    return len(TEMPLATE_FIELDS.sub("N", text).split())


Kind = Literal["score", "weight", "mask", "vector"]
"""The meaning of the numbers of a tensor, which decides how they are colored."""

KNOWN_AXES = ("batch", "head", "token", "query", "key", "dim", "head_dim", "index")
"""The names of axes that have a meaning: `token`, `query` and `key` are labeled with the words of the lesson."""

AXIS_NAME = re.compile(r"[a-z]+(?:_[a-z]+)*")
MISTYPED = 0.8
"""How much of a name has to agree with one that has a meaning, for it to be that name mistyped."""


def _axis_name(name: str, info: ValidationInfo) -> str:
    if info.context is CHECKED or name in KNOWN_AXES:
        return name
    close = difflib.get_close_matches(name, KNOWN_AXES, 1, MISTYPED)
    if close or not AXIS_NAME.fullmatch(name):
        remedy = f"Did you mean '{close[0]}'?" if close else "Use small letters: one word, for what the axis counts."
        raise PydanticCustomError("axis", "'{name}' does not name an axis", {"name": name, "remedy": remedy})
    return name


AxisName = Annotated[Name, AfterValidator(_axis_name)]
"""The name of an axis of a tensor: one of `KNOWN_AXES`, or a word of the author's own for what the axis counts."""


Drawing = Literal["matrix", "bars", "memory"]
"""The drawing of a tensor: a matrix; bars, one for each number, in groups if there are two axes; or its memory."""


class Option(Model):
    """One of the answers to choose from, and why it is right or wrong."""

    text: Template
    """The answer that a learner may choose."""
    why: Template
    """What learners read once they have chosen it: why it is right, or how one comes to choose it."""
    right: bool = False
    """Whether it is the right one, which exactly one option is."""


class ShownTensor(Model):
    """One tensor that a step shows, as a matrix with labeled rows and columns unless `draw` says otherwise."""

    name: Name
    """The variable to show; with `expr`, any name for what that gives."""
    kind: Kind
    """What the numbers mean, which decides how they are colored."""
    draw: Drawing = "matrix"
    """A matrix; `bars`, one for each number; or `memory`, where its elements lie in memory."""
    axes: tuple[AxisName, ...] = ()
    """What each axis counts, outermost first: a name that is known, or a word of your own, such as `week`."""
    expr: OptionalExpression = ""
    """The Python expression for the tensor, if it is not a variable."""
    labels: dict[AxisName, tuple[Text, ...]] = {}
    """The labels along an axis, by the name of the axis. Without them, those of `week` are `week 0`, `week 1`, ..."""
    heads: OptionalExpression = ""
    """An expression for the number of heads whose features stand side by side along the last axis, to label them."""

    @property
    def expression(self) -> str:
        """The Python expression whose value is shown."""
        return self.expr or self.name


class Limits(Model):
    """Limits for the program of a learner."""

    cpu: Annotated[Real, Field(gt=0, le=600)] = 5
    """The most processor time, in seconds."""
    wall: Annotated[Real, Field(gt=0, le=600)] = 20
    """The most time in all, in seconds."""
    memory: Annotated[Whole, Field(ge=64, le=8192)] = 1024
    """The most memory, in MiB."""
    file: ClassVar[int] = 8
    """The most that one file may hold that it writes, in MiB."""


CodeRole = Literal["step", "training", "trained", "starter"]
"""What a piece of code of a step is: what runs, a training, what runs in its place once it is trained, or the code that
an answer starts from."""

Complaint = tuple[Path, str, str]
"""What is wrong in a step: the path in it, the problem, and the remedy."""


def tensor_complaints(shown: Iterable[tuple[Path, ShownTensor]]) -> Iterator[Complaint]:
    """Yield what is wrong in tensors that are shown together, each with its path."""
    names: set[str] = set()
    for path, item in shown:
        if not item.expr and not item.name.isidentifier():
            yield (*path, "name"), f"'{item.name}' is not a variable", "Add an 'expr' that gives the tensor."
        if item.name in names:
            yield (*path, "name"), f"'{item.name}' is shown twice in one step", "Give one of them another name."
        names.add(item.name)


def with_paths(field: str, shown: Sequence[ShownTensor]) -> list[tuple[Path, ShownTensor]]:
    """Return the tensors of a field of a step, each with its path."""
    return [((field, number), item) for number, item in enumerate(shown)]


class BaseStep(Model):
    """The fields that every step has.

    Other code does not tell the kinds of steps apart: it asks the step, here and in the classes below.

    Attributes:
        is_exercise: whether the learner has something to do in steps of this kind.
        is_question: whether they answer a question about the run.
        is_text: whether there is nothing but text.
        answered_in_code: whether they write code.
        is_page: whether it is a page of a program or of a file, of which there is no lesson.
        runs: whether code of the step runs, whose tensors can be shown, explained and changed.
        shows_results: whether later steps may show again what it shows, since nothing was asked about it.
        shows_own_flow: whether the flow of its code may stand beside it, since that gives nothing away.
        noun: what a step of this kind is called in front of learners; `nouns.py` has the words.
    """

    is_exercise: ClassVar[bool] = False
    is_question: ClassVar[bool] = False
    is_text: ClassVar[bool] = False
    answered_in_code: ClassVar[bool] = False
    is_page: ClassVar[bool] = False
    runs: ClassVar[bool] = False
    shows_results: ClassVar[bool] = False
    shows_own_flow: ClassVar[bool] = False
    noun: ClassVar[str] = "step"

    id: Slug
    """The id of the step in its lesson. Progress is kept under it, so keep a former one under `aliases`."""
    title: Text
    """A heading by which a learner finds the step again, without a full stop."""
    prose: Template
    """The text. The run fills in Python expressions in braces, such as `{total:.2f}`."""
    side: bool = False
    """Whether the step is optional: it belongs to the nearest step of the main path before it, and never counts."""
    aliases: tuple[Alias, ...] = ()
    """The ids that the step had before, so that progress under them counts for it: `old-id` or `old-lesson/old-id`."""

    @property
    def templates(self) -> tuple[str, ...]:
        """All texts that are filled with values of the run."""
        return (self.prose,)

    @property
    def learner_texts(self) -> tuple[LearnerText, ...]:
        """All texts that a learner reads here, in order."""
        return (LearnerText(("prose",), self.prose),)

    def complaints(self) -> Iterator[Complaint]:
        """Yield what is wrong in the step before it is run, as far as the step alone can tell."""
        yield from ()

    @property
    def exercise_id(self) -> str:
        """The id of the exercise in the course, "" if the step is none."""
        return ""

    @property
    def exercise_number(self) -> str:
        """The number of the exercise in a book, "" if it has none."""
        return ""

    @property
    def is_challenge(self) -> bool:
        """Whether a learner who solves it may skip the rest of the lesson."""
        return False

    @property
    def starts_with_bug(self) -> bool:
        """Whether the learner is given code with a bug, and hunts for it."""
        return False

    @property
    def facts_with_paths(self) -> list[tuple[Path, str]]:
        """Expressions whose values the run computes in addition to the fields of the templates, and their paths."""
        return []

    @property
    def facts(self) -> tuple[str, ...]:
        """Expressions whose values the run computes in addition to the fields of the templates."""
        return tuple(expression for _, expression in self.facts_with_paths)

    @property
    def claimed(self) -> tuple[str, ...]:
        """Expressions that have to be true for the prose to be true."""
        return ()

    @property
    def expressions(self) -> list[tuple[Path, str]]:
        """All expressions that the run evaluates for the step, each with its path in it."""
        return []

    @property
    def own_code(self) -> tuple[tuple[CodeRole, str], ...]:
        """The code that a reader sees before doing anything, in order: what each piece is, and its text."""
        return ()

    @property
    def source_name(self) -> str:
        """The code of the `attention` package that is shown, as `module:Class`, "" if none is."""
        return ""

    @property
    def run_code(self) -> str:
        """The code of the step that runs with the lesson, "" if none does."""
        return ""

    @property
    def own_seed(self) -> int | None:
        """The seed of random numbers right before the step; None if it is the lesson's."""
        return None

    @property
    def scratch(self) -> tuple[str, tuple[str, ...]]:
        """Code that tries the learner's answer on the lesson's own values, and the names that an answer defines."""
        return "", ()

    @property
    def message_parts(self) -> list[tuple[Path, str, bool]]:
        """What messages about an answer are made of: path, text, and whether that is a template or else code."""
        return []

    @property
    def function_calls(self) -> int:
        """How often the function has run that the step is about, 1 if it is about none."""
        return 1

    @property
    def own_limits(self) -> Limits | None:
        """Limits for a program of this step alone, None if it has none."""
        return None

    @property
    def tensor_fields(self) -> dict[str, tuple[ShownTensor, ...]]:
        """All tensors that the step shows at any time, by the name of the field in the file."""
        return {}

    @property
    def shown_at_first(self) -> tuple[ShownTensor, ...]:
        """The tensors that the run shows before the learner has done anything."""
        return ()

    @property
    def answer_form(self) -> str:
        """What an answer to the question is, by its name in `engine/questions/answer_forms.py`; "" if it is none."""
        return ""

    @property
    def offered_options(self) -> tuple[Option, ...]:
        """The answers to choose from; none if there is nothing to choose, or the learner has to find their own."""
        return ()

    @property
    def pointed_at(self) -> str:
        """The name of the shown tensor in which the learner is to point at something, "" if there is none."""
        return ""

    @property
    def explained_from(self) -> str:
        """The number at which the learner begins to explain, such as `context[1, 0]`, "" if the step names none."""
        return ""

    @property
    def blank_tensor(self) -> str:
        """The name of the shown tensor whose numbers are hidden until the learner has answered, "" if there is none."""
        return ""

    def is_visible(self, tensor: str, *, answered: bool) -> bool:
        """Return whether a learner may see a tensor of the run, if they have answered what the step asks or not."""
        return True

    def own_data(self, trained: str | None) -> dict[str, object]:
        """Return what a document has of this kind of step alone; `trained` is whose training was used."""
        return {}

    @property
    def programs(self) -> tuple[tuple[str, str], ...]:
        """All code of the step that runs and that a knob may change: the name of the field, and the code."""
        return ()

    @property
    def tensors_with_paths(self) -> list[tuple[Path, ShownTensor]]:
        """All tensors that the run shows, in order, each with its path in the step."""
        return []

    @property
    def tensors(self) -> tuple[ShownTensor, ...]:
        """All tensors that the run shows, in order."""
        return tuple(shown for _, shown in self.tensors_with_paths)

    @property
    def fields(self) -> tuple[template.Field, ...]:
        """Everything that a run fills in: the fields of the templates, then the facts."""
        found = [field for text in self.templates for field in template.fields(text)]
        return tuple(dict.fromkeys([*found, *map(template.fact, self.facts)]))


class FilledStep(BaseStep):
    """A step that a run of the lesson comes to: the run fills in its texts."""

    source: OptionalName = ""
    """Code of the `attention` package to show, as `module:Class`: `attention.causal:CausalAttention`."""

    @property
    def source_name(self) -> str:
        """The code of the `attention` package that is shown, as `module:Class`, "" if none is."""
        return self.source

    @property
    def expressions(self) -> list[tuple[Path, str]]:
        """All expressions that the run evaluates for the step, each with its path in it."""
        paths = {field: text.path for text in reversed(self.learner_texts) for field in _fields(text.text)}
        return [(paths.get(replace(field, optional=False), ()), field.expression) for field in self.fields]


def _fields(text: str) -> list[template.Field]:
    """Return the fields of a text; none if it is not a template."""
    with suppress(template.TemplateError):
        return template.fields(text)
    return []


class RunningStep(FilledStep):
    """A piece of text and code that runs live."""

    runs: ClassVar[bool] = True

    code: OptionalCode = ""
    """Python that runs when the step is opened, after that of the setup and of the steps before it."""
    show: tuple[ShownTensor, ...] = ()
    """The tensors to draw."""
    seed: Whole | None = None
    """The seed of random numbers right before the step, if not the lesson's."""
    varies: bool = False
    """Whether its random numbers differ between processors for one seed, so that its recording is no reference."""
    claims: tuple[Expression, ...] = ()
    """Expressions that have to be true for the prose to be true. `attn-tutor lint` evaluates them in a run."""

    def complaints(self) -> Iterator[Complaint]:
        """Yield what is wrong in the tensors that are shown."""
        yield from tensor_complaints(self.tensors_with_paths)

    @property
    def claimed(self) -> tuple[str, ...]:
        """Expressions that have to be true for the prose to be true."""
        return self.claims

    @property
    def run_code(self) -> str:
        """The code of the step that runs with the lesson."""
        return self.code

    @property
    def own_seed(self) -> int | None:
        """The seed of random numbers right before the step; None if it is the lesson's."""
        return self.seed

    @property
    def own_code(self) -> tuple[tuple[CodeRole, str], ...]:
        """The code that a reader sees before doing anything: what runs."""
        return (("step", self.code),) if self.code else ()

    @property
    def expressions(self) -> list[tuple[Path, str]]:
        """All expressions that the run evaluates for the step, each with its path in it."""
        shown = [(path, shown.expression) for path, shown in self.tensors_with_paths]
        claims: list[tuple[Path, str]] = [(("claims", number), claim) for number, claim in enumerate(self.claims)]
        return [*shown, *claims, *super().expressions]

    @property
    def tensor_fields(self) -> dict[str, tuple[ShownTensor, ...]]:
        """All tensors that the step shows at any time, by the name of the field in the file."""
        return {"show": self.show}

    @property
    def shown_at_first(self) -> tuple[ShownTensor, ...]:
        """The tensors that the run shows before the learner has done anything."""
        return self.show

    @property
    def tensors_with_paths(self) -> list[tuple[Path, ShownTensor]]:
        """All tensors that the run shows, in order, each with its path in the step."""
        return with_paths("show", self.show)

    @property
    def fields(self) -> tuple[template.Field, ...]:
        """Everything that a run fills in; also the numbers of heads in the tensors that it shows."""
        heads = [template.fact(shown.heads) for shown in self.tensors if shown.heads]
        return tuple(dict.fromkeys([*super().fields, *heads]))

    @property
    def programs(self) -> tuple[tuple[str, str], ...]:
        """All code of the step that runs and that a knob may change: the name of the field, and the code."""
        return (("code", self.code),)
