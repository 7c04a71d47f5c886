"""The way through the course in the dialogue: steps, the map, jumps, the glossary."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.lesson import Course, Lesson
from attn_tutor.lessons.format.nouns import NOUNS
from attn_tutor.lessons.learner import milestones
from attn_tutor.lessons.play import course_path
from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.glossary import Glossary
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.plain.command_table import Handlers
from attn_tutor.tui.plain.journey_dialogue import JourneyDialogue
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.waiting_session import PlainState
from attn_tutor.tui.render import glossary_text, linear_text

say = Wording("plain/course")


class CourseDialogue(JourneyDialogue):
    """The learner's way through the course."""

    def __init__(self, state: PlainState) -> None:
        """Initialize at the step that is opened first, or else where the learner goes on."""
        self._glossary: Glossary | None = None
        start, lessons, position = state.source.start, state.source.lessons, state.learning.progress.position()
        known = (
            (lesson, index)
            for lesson in lessons
            for index, step in enumerate(lesson.steps)
            if (lesson.id, step.id) == position
        )
        super().__init__(state, *((start.lesson, start.index) if start is not None else next(known, (lessons[0], 0))))

    @property
    def _course(self) -> Course:
        """The course, as it was read last."""
        course = self._state.source.course
        assert course is not None
        return course

    @property
    def handlers(self) -> Handlers:
        """The commands that apply now, those of the step included."""
        found: Handlers = {"next": self.next, "back": self.back}
        if self._journey.side_steps:
            found["side"] = self.side
        found |= self.current.handlers
        found |= {"map": self.map, "steps": self.steps, "go": self.go, "progress": self.progress}
        found |= {"review": self.review, "challenge": self.challenge}
        if self._journey.jumped:
            found["return"] = self.jump_back
        return found | {"glossary": self.glossary, "term": self.term}

    # Steps -----------------------------------------------------------------------------------------------------------

    def open_again(self, lesson: Lesson, index: int) -> Iterator[str]:
        """Open a step of a course that was read again."""
        self._glossary = None
        yield from super().open_again(lesson, index)

    def _title(self, lesson: Lesson) -> Iterator[str]:
        yield from self._console.wrapped(
            say("lesson", "Lesson {number}: {title}", number=lesson.number, title=lesson.title)
        )
        yield ""

    def next(self, _: str) -> Iterator[str]:
        """Go to the next step; count a step read or run as done."""
        if remark := self._journey.leave():
            yield from self._console.wrapped(f"({remark})")
        after = self._journey.after
        if after is None:
            yield from self._console.wrapped(say("end", "That was the last step of the course."))
            yield from self.map("")
            return
        yield from self._go_on(*after)

    def back(self, _: str) -> Iterator[str]:
        """Go to the step before."""
        before = self._journey.before
        if before is None:
            raise Refused(say("first", "This is the first step of the course."))
        yield from self._go_on(*before)

    def _go_on(self, lesson: Lesson, index: int) -> Iterator[str]:
        yield from self.open(lesson, index, purpose=self._journey.purpose_of(lesson, index))

    def side(self, _: str) -> Iterator[str]:
        """Open the first side step of the step."""
        beside = self._journey.side_steps[0]
        yield from self._go_on(self.lesson, self.lesson.index(beside.id))

    def go(self, text: str) -> Iterator[str]:
        """Open a lesson where the learner left off, or one of its steps."""
        if not text:
            raise Refused(
                say("where", "Say where to: go and the number of a lesson, and of a step if you like: go 3 5")
            )
        lesson, index = self._step_named(text)
        self._journey.forget_jumps()
        yield from self.open(lesson, index)

    def _step_named(self, text: str) -> tuple[Lesson, int]:
        """Return the step that a text such as `3`, `3 5`, `one-query scores` or `scores` names. Raises `Refused`."""
        first, _, rest = text.partition(" ")
        rest = rest.strip()
        try:
            lesson = self._course.lesson(first.casefold())
        except KeyError:
            if not rest and (found := course_path.step_named(self.lesson, first)) is not None:
                return self.lesson, found
            with suppress(KeyError):
                lesson, exercise = self._course.exercise(first.casefold())
                return lesson, lesson.index(exercise.id)
            numbers = f"0 - {self._course.lessons[-1].number}"
            raise Refused(
                say("no-lesson", "There is no lesson {name}. Their numbers: {numbers}.", name=first, numbers=numbers)
            ) from None
        if not rest:
            return lesson, lesson.index(milestones.first_open(lesson, self._state.learning.progress))
        index = course_path.step_named(lesson, rest)
        if index is None:
            last = len(lesson.main_steps)
            raise Refused(
                say(
                    "no-step",
                    "Lesson {lesson} has the steps 1 to {last}, and no {step}.",
                    lesson=lesson.number,
                    last=last,
                    step=rest,
                )
            )
        return lesson, index

    # The map ---------------------------------------------------------------------------------------------------------

    def map(self, _: str) -> Iterator[str]:
        """Yield the lessons, with the learner's progress."""
        for lesson in self._course.lessons:
            found = milestones.state_of(lesson, self._state.learning.progress).text
            line = f"{lesson.number}. {lesson.title}" + (f" ({found})" if found else "")
            yield from self._console.wrapped(
                line + (f"  <- {say('here', 'you are here')}" if self._is_at(lesson) else "")
            )

    def _is_at(self, lesson: Lesson) -> bool:
        return lesson is self.lesson

    def steps(self, text: str) -> Iterator[str]:
        """Yield the steps of a lesson, with the learner's progress."""
        lesson = self._step_named(text)[0] if text else self.lesson
        states = self._state.learning.progress.states()
        yield from self._title(lesson)
        for step in lesson.steps:
            word = linear_text.state_word(states.get((lesson.id, step.id), "new"))
            name = main_path.name_of(lesson.steps, step.id)
            noun = f", {NOUNS[step.noun].word()}" if step.is_exercise else ""
            line = f"{name}{noun}: {step.title}  [{step.id}]" + (f"  {word}" if word else "")
            yield from self._console.wrapped(line[:1].upper() + line[1:])

    def progress(self, _: str) -> Iterator[str]:
        """Yield how far the learner is, and what is due for review."""
        lessons, progress = self._course.lessons, self._state.learning.progress
        done = [lesson for lesson in lessons if milestones.state_of(lesson, progress).state == "done"]
        yield from self._console.wrapped(
            say("lessons-done", "{done} of {all} lessons are done.", done=len(done), all=len(lessons))
        )
        states = progress.states()
        steps = self.lesson.main_steps
        here = sum(states.get((self.lesson.id, step.id)) == "done" for step in steps)
        yield from self._console.wrapped(
            say(
                "steps-done",
                "Of lesson {lesson}, {done} of {all} steps are done.",
                lesson=self.lesson.number,
                done=here,
                all=len(steps),
            )
        )
        due = [step.title for _, step in milestones.due(self._state.source.outline, progress)]
        if due:
            yield from self._console.wrapped(
                say("due", "Due for review: {titles}. Type review to begin.", titles="; ".join(due))
            )
        else:
            yield from self._console.wrapped(say("nothing-due", "Nothing is due for review."))
        if progress.problem:
            yield from self._console.wrapped(progress.problem)

    # Jumps -----------------------------------------------------------------------------------------------------------

    def _jump(self, lesson: Lesson, index: int, purpose: Purpose) -> Iterator[str]:
        self._journey.begin_jump()
        yield from self.open(lesson, index, purpose=purpose)
        yield from self._console.wrapped(say("way-back", "(Type return to go back to where you were.)"))

    def jump_back(self, _: str) -> Iterator[str]:
        """Go back to where the learner was before the last jump, with the changes that held there."""
        origin = self._journey.end_jump()
        assert origin is not None  # the dialogue is at a step whenever it jumps
        yield from self.open(origin.lesson, origin.index, purpose=origin.purpose, history=origin.history)

    def review(self, _: str) -> Iterator[str]:
        """Open the next exercise that is due for review."""
        due = milestones.due(self._state.source.outline, self._state.learning.progress)
        if not due:
            raise Refused(say("nothing-due", "Nothing is due for review."))
        lesson = self._course.lesson(due[0][0].id)
        yield from self._jump(lesson, lesson.index(due[0][1].id), Purpose.REVIEW)

    def challenge(self, text: str) -> Iterator[str]:
        """Open the challenge of a lesson."""
        lesson = self._step_named(text)[0] if text else self.lesson
        if lesson.challenge is None:
            raise Refused(say("no-challenge", "Lesson {number} has no challenge.", number=lesson.number))
        yield from self._jump(lesson, lesson.index(lesson.challenge.id), Purpose.CHALLENGE)

    # The glossary ----------------------------------------------------------------------------------------------------

    def _terms(self) -> Glossary:
        if self._glossary is None:
            from attn_tutor.lessons.reading import course_texts  # it reads YAML, which takes a while to load

            try:
                self._glossary = course_texts.load_glossary(self._course)
            except LessonError as error:
                raise Refused(str(error)) from None
        return self._glossary

    def glossary(self, text: str) -> Iterator[str]:
        """Yield what terms mean, or the list of terms."""
        glossary = self._terms()
        if not text:
            yield from self._console.wrapped(", ".join(term.term for term in glossary.terms) + ".")
            return
        found = glossary.search(text)
        if not found:
            raise Refused(say("no-term", "The glossary has nothing about {text}.", text=text))
        yield from glossary_text.terms(found, self._course, self._console.width)

    def term(self, text: str) -> Iterator[str]:
        """Go to the step that introduces a term."""
        found = self._terms().search(text) if text else ()
        if not found:
            raise Refused(
                say("no-term", "The glossary has nothing about {text}.", text=text)
                if text
                else say("which-term", "Say which term: term softmax")
            )
        introducing = glossary_text.step_of(self._course, found[0].step)
        if introducing is None:
            raise Refused(glossary_text.no_step(found[0].step))
        yield from self._jump(*introducing, Purpose.LOOK)
