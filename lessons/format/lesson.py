"""The lesson format, and what a course says about itself. The models of a lesson's parts are in `lessons.format`.

A lesson is a folder `NN-slug` under `lessons/course/` with a `lesson.yaml` in it; a course is a folder of lessons with
a `course.yaml`. The models describe what these files may contain; `lessons.reading.loader` reads them, and reports
every error with file, line, column and remedy.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.base_steps import (
    AxisName,
    BaseStep,
    FilledStep,
    Kind,
    Limits,
    Option,
    RunningStep,
    ShownTensor,
)
from attn_tutor.lessons.format.exercises import (
    Check,
    Edit,
    ExerciseStep,
    ExperimentStep,
    MessageCase,
    Mistake,
    Variant,
    Way,
)
from attn_tutor.lessons.format.fields import Model, Name, OptionalCode, OptionalName, ReadBy, Slug, Text, Whole
from attn_tutor.lessons.format.knobs import AnyKnob, Knob
from attn_tutor.lessons.format.questions import ChoiceStep, FindStep, PointStep, PredictStep, Question, Wrong
from attn_tutor.lessons.format.steps import Curve, Exercise, Level, ReadStep, RunStep, Step, TrainStep
from attn_tutor.lessons.texts.wording import Wording

__all__ = [
    "FORMAT",
    "LANGUAGE",
    "SETUP",
    "AxisName",
    "Check",
    "ChoiceStep",
    "Course",
    "CourseFile",
    "Curve",
    "Edit",
    "Exercise",
    "ExerciseStep",
    "ExperimentStep",
    "FilledStep",
    "FindStep",
    "Kind",
    "LanguageCode",
    "Lesson",
    "LessonFile",
    "Level",
    "Limits",
    "MessageCase",
    "Mistake",
    "Option",
    "PointStep",
    "PredictStep",
    "Question",
    "ReadStep",
    "RunStep",
    "RunningStep",
    "ShownTensor",
    "Step",
    "TrainStep",
    "Variant",
    "Way",
    "Wrong",
]


FORMAT = 1
"""The version of the lesson format that this tutor writes and reads; older ones it reads too."""

LANGUAGE = r"^[a-z]{2,3}(_[A-Za-z]+)*$"
LanguageCode = Annotated[str, StringConstraints(pattern=LANGUAGE), ReadBy.TUTOR]


class CourseFile(Model):
    """The contents of a `course.yaml`: what a course says about itself."""

    id: Slug
    """What learners type to open the course, and what their progress with it is kept under, so it never changes."""
    title: Text
    """Its name in front of learners."""
    about: Text
    """A paragraph on what learners will learn, and what they have to know already."""
    format: Annotated[Whole, Field(ge=1)]
    """The version of the lesson format that it is written in."""
    authors: tuple[Name, ...] = ()
    """Who wrote it."""
    license: OptionalName = ""
    """Under which license others may use it, in a few words: `CC BY 4.0`."""
    language: LanguageCode = "en"
    """The code of the language of its texts."""

    @property
    def text_key(self) -> str:
        """What tells the course from others in ids of texts."""
        return self.id


say = Wording("course/lesson")

SETUP = "setup"
"""The name of the setup of a lesson wherever steps are named by their ids."""


class LessonFile(Model):
    """The contents of one `lesson.yaml`."""

    title: Text
    """What the lesson is called on the map."""
    goal: Text
    """What the learner will be able to do. It begins with "You will be able to"."""
    aliases: tuple[Slug, ...] = ()
    """The names that its folder had before, without the number, so that progress under them counts for it."""
    tokens: tuple[Text, ...] = ()
    """The words that label the axes `token`, `query` and `key`."""
    seed: Whole = 123
    """The seed of random numbers with which the setup and every step begin."""
    setup: OptionalCode = ""
    """Python that runs before the first step, such as imports. Learners do not read it."""
    thumbnail: OptionalName = ""
    """The tensor that represents the lesson on the map, as `STEP/NAME`."""
    flow: OptionalName = ""
    """The step whose flow of numbers is shown beside the first and the last step of the lesson."""
    limits: Limits = Limits()
    """What a run of the lesson may take."""
    knobs: tuple[AnyKnob, ...] = ()
    """What a learner may change in the code, to see the effect."""
    axes: dict[Name, tuple[AxisName, ...]] = {}
    """The names of the axes of variables that no step shows, for the shapes beside the code."""
    constants: dict[Name, Name] = {}
    """Numbers that prose may contain although no run computes them, each with its source."""
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    """The steps, in order. `- include: exercises/ID.yaml` puts in the step from that file of the folder."""


class Lesson(LessonFile):
    """A lesson file with its position in the course.

    Attributes:
        id, number: the slug of its folder, and what comes before it.
        folder: its folder.
        state_folder: where the learner's trained models lie, as `lessons.reading.folders.CourseFolder` has it.
    """

    id: Slug
    number: Whole
    folder: OptionalName
    state_folder: OptionalName = ""

    @property
    def name(self) -> str:
        """What learners call it: `lesson 3`."""
        return say("lesson", "lesson {number}", number=self.number)

    def place_of(self, step_id: str) -> str:
        """Return where a step stands, in words: `step 5 of lesson 3`. Raises `KeyError` if there is no such step."""
        step = main_path.name_of(self.steps, step_id)
        return say("place", "{step} of {lesson}", step=step, lesson=self.name)

    def step(self, step_id: str) -> Step:
        """Return the step with an id. Raises `KeyError` if there is none."""
        return self.steps[self.index(step_id)]

    def index(self, step_id: str) -> int:
        """Return the position of a step, from 0. Raises `KeyError` if there is none."""
        for position, step in enumerate(self.steps):
            if step.id == step_id:
                return position
        raise KeyError(step_id)

    @property
    def main_steps(self) -> tuple[Step, ...]:
        """The steps of the main path, in order."""
        return main_path.main_steps(self.steps)

    def side_steps_of(self, step_id: str) -> tuple[Step, ...]:
        """Return the side steps of the main step that a step belongs to. Raises `KeyError` if there is no such step."""
        return main_path.side_steps_of(self.steps, step_id)

    def main_step_of(self, step_id: str) -> Step:
        """Return the main step that a step belongs to, itself if it is one. Raises `KeyError` if there is none."""
        return main_path.main_step_of(self.steps, step_id)

    def seed_of(self, step: BaseStep) -> int:
        """Return the seed that a step starts with: its own, or else the lesson's."""
        return self.seed if step.own_seed is None else step.own_seed

    def knob(self, name: str) -> Knob:
        """Return the knob of that name. Raises `KeyError` if there is none."""
        for knob in self.knobs:
            if knob.name == name:
                return knob
        raise KeyError(name)

    @property
    def seeds(self) -> dict[str, int]:
        """The seed that each part starts with, in the order in which they run: `setup` or the id of a step."""
        return {SETUP: self.seed, **{step.id: self.seed_of(step) for step in self.running}}

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The code of the lesson in the order in which it runs: `setup` or the id of a step, and the text."""
        return ((SETUP, self.setup), *((step.id, step.code) for step in self.running))

    def parts_until(self, part: str) -> tuple[tuple[str, str], ...]:
        """Return the parts that have run when a part has run. Raises `KeyError` if there is no such part."""
        last = -1 if part == SETUP else self.index(part)
        return tuple((name, code) for name, code in self.parts if name == SETUP or self.index(name) <= last)

    def variable(self, name: str) -> tuple[str, str, int | None] | None:
        """Return the function that a shown variable is of, what it is called there, and the line that named it.

        None if the name tells.
        """
        return None

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """All code that a knob may change: the parts, and each training under the id of its step."""
        others = ((step.id, code) for step in self.steps for field, code in step.programs if field != "code")
        return (*self.parts, *others)

    @property
    def challenge(self) -> Exercise | None:
        """The exercise that lets a learner who solves it skip the rest of the lesson."""
        return next((step for step in self.exercises if step.challenge), None)

    # Steps of one kind, for what only that kind can do. What steps of all kinds can say, the step is asked.

    @property
    def filled(self) -> tuple[FilledStep, ...]:
        """The steps that a run of the lesson comes to, in order."""
        return tuple(step for step in self.steps if isinstance(step, FilledStep))

    @property
    def running(self) -> tuple[RunningStep, ...]:
        """The steps whose code runs, in order."""
        return tuple(step for step in self.steps if isinstance(step, RunningStep))

    def running_before(self, step_id: str) -> tuple[RunningStep, ...]:
        """Return the steps before a step whose code runs. Raises `KeyError` if there is no such step."""
        end = self.index(step_id)
        return tuple(step for step in self.running if self.index(step.id) < end)

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        """The exercises of the lesson, in order."""
        return tuple(step for step in self.steps if isinstance(step, Exercise))

    @property
    def code_exercises(self) -> dict[str, ExerciseStep]:
        """The exercises in code, by the ids of their steps, in order."""
        return {step.id: step for step in self.steps if isinstance(step, ExerciseStep)}

    @property
    def questions(self) -> dict[str, Question]:
        """The questions, by the ids of their steps, in order."""
        return {step.id: step for step in self.steps if isinstance(step, Question)}

    @property
    def experiments(self) -> dict[str, ExperimentStep]:
        """The experiments, by the ids of their steps, in order."""
        return {step.id: step for step in self.steps if isinstance(step, ExperimentStep)}

    @property
    def trainings(self) -> dict[str, TrainStep]:
        """The trainings, by the ids of their steps, in order."""
        return {step.id: step for step in self.steps if isinstance(step, TrainStep)}


class Course(Model):
    """All lessons, in order.

    Attributes:
        description: what the course says about itself, None if it says nothing.
        folder: the folder with its files.
        state_folder: where the learner's progress lies, as `lessons.reading.folders.CourseFolder` has it.
    """

    lessons: tuple[Lesson, ...]
    description: CourseFile | None = None
    folder: OptionalName = ""
    state_folder: OptionalName = ""

    @property
    def title(self) -> str:
        """What the course is called in front of learners, "" if it has not said."""
        return self.description.title if self.description else ""

    @property
    def export_id(self) -> str:
        """What an export of progress says of which course it is; nothing of the first one, as ever."""
        return self.description.id if self.description and self.state_folder else ""

    def lesson(self, name: str) -> Lesson:
        """Return a lesson by id or by number (`"3"`). Raises `KeyError` if there is none."""
        for lesson in self.lessons:
            if name in (lesson.id, str(lesson.number)):
                return lesson
        raise KeyError(name)

    def exercise(self, name: str) -> tuple[Lesson, Exercise]:
        """Return an exercise by id or by number (`"3.1"`), with its lesson. Raises `KeyError` if there is none."""
        for lesson in self.lessons:
            for step in lesson.exercises:
                if name and name in (step.exercise, step.number, f"{lesson.id}/{step.id}"):
                    return lesson, step
        raise KeyError(name)
