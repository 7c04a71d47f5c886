"""What a lesson is: the only definition of the lesson format.

A lesson is one folder `NN-slug` under `lessons/course/` with a `lesson.yaml` in it. The models below are what that
file may hold; `lessons.load` reads a file into them and turns every complaint into file, line, column and remedy.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from lessons import template


def _python(mode: Literal["exec", "eval"]) -> AfterValidator:
    def compiles(text: str) -> str:
        if not text:  # an optional field that is not given; the types of the others forbid it
            return text
        try:
            compile(text.strip() if mode == "eval" else text, "lesson", mode)
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            what = {
                "message": getattr(error, "msg", str(error) or "it is nested too deeply"),
                "line": getattr(error, "lineno", None) or 1,
            }
            raise PydanticCustomError("python", "this is not Python: {message}", what) from None
        return text

    return AfterValidator(compiles)


def _is_template(text: str) -> str:
    template.parse(text)
    return text


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"'{value}' is not a number")
    return value


def _words(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("on, off, yes and no mean true and false in YAML: put quotes around them")
    return value


Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Template = Annotated[Text, AfterValidator(_is_template)]
Code = Annotated[Text, _python("exec")]
Expression = Annotated[Text, _python("eval")]
Number = Annotated[int | float, BeforeValidator(_number)]

Kind = Literal["score", "weight", "mask", "vector"]
"""What the numbers of a tensor are: it decides how they are coloured, not what they say."""

AxisName = Literal["batch", "head", "token", "query", "key", "dim", "head_dim", "index"]
"""What an axis of a tensor runs over. `token`, `query` and `key` are labelled with the words of the lesson."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=False)


class Shown(_Model):
    """One tensor that a step shows, as a matrix with labelled rows and columns.

    `expr` is the Python expression that gives it (default: the name itself). `axes` names every axis, outermost
    first; `labels` replaces the usual labels of an axis.
    """

    name: Text
    kind: Kind
    axes: tuple[AxisName, ...] = ()
    expr: Annotated[str, _python("eval")] = ""
    labels: dict[AxisName, tuple[str, ...]] = {}

    @property
    def expression(self) -> str:
        """The Python expression whose value is shown."""
        return self.expr or self.name


class _Step(_Model):
    id: Slug
    title: Text
    prose: Template


class ReadStep(_Step):
    """A piece of text. `source` (`module:Class`) shows the code of the `attention` package itself."""

    kind: Literal["read"]
    source: str = ""


class RunStep(_Step):
    """A piece of text and code that runs live; `show` names the tensors to draw.

    `seed` seeds the generator right before the step (default: the lesson's seed). `varies` marks a step whose
    random numbers differ between processors for one seed (dropout), so that its recorded output is no reference.
    """

    kind: Literal["run"]
    code: Code
    source: str = ""
    show: tuple[Shown, ...] = ()
    seed: int | None = None
    varies: bool = False


class Check(_Model):
    """One thing that an answer is judged by.

    `test` is a Python expression over `got` (what the learner's code gave), `want` (what the solution gave) and
    `context` (the hidden inputs); `fail` is the template of the message when it is not true.
    """

    name: Text
    test: Expression
    fail: Template


class Limits(_Model):
    """What a learner's program may use: processor seconds, wall seconds, memory in MiB."""

    cpu: Annotated[float, Field(gt=0, le=60)] = 5
    wall: Annotated[float, Field(gt=0, le=120)] = 20
    memory: Annotated[int, Field(ge=64, le=8192)] = 1024


class ExerciseStep(_Step):
    """A task for the learner, and how the answer is judged.

    The judge makes hidden inputs with `context` (code that sets `context`, a dict), runs the learner's code in one
    process and the `solution` in another, puts both through `probe` (code that sets `got`, a dict), and evaluates
    `checks` where the learner's code never ran.
    """

    kind: Literal["exercise"]
    exercise: Slug
    number: str = ""
    defines: Annotated[tuple[str, ...], Field(min_length=1)]
    starter: Code
    solution: Code
    hints: Annotated[tuple[Text, ...], Field(min_length=2)]
    context: Code
    probe: Code
    checks: Annotated[tuple[Check, ...], Field(min_length=1)]
    limits: Limits = Limits()


Step = Annotated[ReadStep | RunStep | ExerciseStep, Field(discriminator="kind")]


SETUP = "setup"
"""The name of a lesson's setup where steps are named by their ids."""


class _Knob(_Model):
    """Something in the lesson's code that a learner may change.

    A knob stands for other code, which runs in place of the lesson's own (`lessons.knobs` writes it): what is changed
    can be seen in the code. At its default it changes nothing. `in` narrows it to some steps, or the `setup`.
    """

    name: Slug
    label: Text
    within: Annotated[tuple[str, ...], Field(alias="in")] = ()


class NumberKnob(_Knob):
    """A number: wherever the code has the text `find`, it gets `replace` with the number for `{value}`.

    It is one of `values`, or from `least` to `most`, where `step` is a sensible change. `refused` lists those among
    them that the code refuses with a message of its own, which is worth seeing.
    """

    kind: Literal["number"]
    find: Text
    replace: Text
    default: Number
    values: tuple[Number, ...] = ()
    least: Number | None = None
    most: Number | None = None
    step: Number | None = None
    refused: tuple[Number, ...] = ()


class ChoiceKnob(_Knob):
    """One of several pieces of code, by the words for them. The first is what the code has."""

    kind: Literal["choice"]
    options: Annotated[dict[Annotated[Text, BeforeValidator(_words)], str], Field(min_length=2)]

    @property
    def default(self) -> str:
        """The words for what the code has."""
        return next(iter(self.options))

    @property
    def find(self) -> str:
        """What the code has."""
        return self.options[self.default]


class SeedKnob(_Knob):
    """Other random numbers: a seed from 0 to 2**32 - 1 in place of the lesson's and of every step's own.

    With `in`, only in place of the seeds of those steps (and, for `setup`, of the one before the setup).
    """

    kind: Literal["seed"]


class WordsKnob(_Knob):
    """The learner's own sentence, of `least` to `most` words.

    It replaces the `tokens` of the lesson and, wherever it stands, the statement that makes `inputs`: one row of toy
    numbers for each word (`lessons.words`).
    """

    kind: Literal["words"]
    least: Annotated[int, Field(ge=1)] = 2
    most: Annotated[int, Field(le=64)] = 12


Knob = Annotated[NumberKnob | ChoiceKnob | SeedKnob | WordsKnob, Field(discriminator="kind")]


class LessonFile(_Model):
    """The contents of one `lesson.yaml`.

    `goal` says what the learner will be able to do; `tokens` are the words that label token axes; `setup` is code
    that runs before the first step; `thumbnail` is the `step/tensor` that stands for the lesson on the course map;
    `knobs` are what a learner may change in the code, to see what comes of it; `axes` name those of variables that no
    step shows, or not under their own name.
    """

    title: Text
    goal: Text
    tokens: tuple[str, ...] = ()
    seed: int = 123
    setup: Annotated[str, _python("exec")] = ""
    thumbnail: str = ""
    limits: Limits = Limits()
    knobs: tuple[Knob, ...] = ()
    axes: dict[Text, tuple[AxisName, ...]] = {}
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]


class Lesson(LessonFile):
    """A lesson file and where it stands in the course: `id` is the slug of its folder, `number` its place from 1."""

    id: Slug
    number: int
    folder: str

    def step(self, step_id: str) -> ReadStep | RunStep | ExerciseStep:
        """The step of that id; raises `KeyError` if there is none."""
        return self.steps[self.index(step_id)]

    def index(self, step_id: str) -> int:
        """Position of a step, from 0; raises `KeyError` if there is none."""
        for position, step in enumerate(self.steps):
            if step.id == step_id:
                return position
        raise KeyError(step_id)

    def knob(self, name: str) -> NumberKnob | ChoiceKnob | SeedKnob | WordsKnob:
        """The knob of that name; raises `KeyError` if there is none."""
        for knob in self.knobs:
            if knob.name == name:
                return knob
        raise KeyError(name)

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The code of the lesson in the order in which it runs: `setup` or the id of a step, and the text."""
        steps = ((step.id, step.code) for step in self.steps if isinstance(step, RunStep))
        return ((SETUP, self.setup), *steps)

    @property
    def exercises(self) -> tuple[ExerciseStep, ...]:
        """The exercises of the lesson, in order."""
        return tuple(step for step in self.steps if isinstance(step, ExerciseStep))


class Course(_Model):
    """All lessons, in order."""

    lessons: tuple[Lesson, ...]

    def lesson(self, name: str) -> Lesson:
        """A lesson by id or by number (`"3"`); raises `KeyError` if there is none."""
        for lesson in self.lessons:
            if name in (lesson.id, str(lesson.number)):
                return lesson
        raise KeyError(name)

    def exercise(self, name: str) -> tuple[Lesson, ExerciseStep]:
        """An exercise by id or by number (`"3.1"`), with its lesson; raises `KeyError` if there is none."""
        for lesson in self.lessons:
            for step in lesson.exercises:
                if name and name in (step.exercise, step.number, f"{lesson.id}/{step.id}"):
                    return lesson, step
        raise KeyError(name)
