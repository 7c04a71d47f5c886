"""A step in the dialogue: what is printed when it is opened, and what a learner can do there."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from attn_tutor.lessons.format import main_path, template
from attn_tutor.lessons.format.knobs import Knob
from attn_tutor.lessons.format.lesson import Step
from attn_tutor.lessons.play import step_document
from attn_tutor.lessons.play.step import StepModel
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.render.source_text import names_of_steps
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import ChangeHistory, Changes
from attn_tutor.tui.plain import change_commands, command_table, refused
from attn_tutor.tui.plain.change_commands import ChangeCommands
from attn_tutor.tui.plain.command_table import Handlers, as_typed
from attn_tutor.tui.plain.explain_commands import ExplainCommands
from attn_tutor.tui.plain.flow_commands import FlowCommands, FlowPlace
from attn_tutor.tui.plain.matrix_commands import MatrixCommands, drawer
from attn_tutor.tui.plain.prompt_dialogue import PromptDialogue
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.subject import DialogueSubject
from attn_tutor.tui.plain.waiting_session import PlainState
from attn_tutor.tui.render import code_text, linear_text
from attn_tutor.tui.render.prose import plain_lines
from attn_tutor.tui.state.typed_names import typed

say = Wording("plain/step")


class StepDialogue:
    """A step that is read or run, and what steps of all kinds have in common.

    Attributes:
        lesson, step: the step.
    """

    def __init__(self, state: PlainState, model: StepModel) -> None:
        self._state, self._console, self._model = state, state.console, model
        self.lesson, self.step = model.lesson, model.step
        # Whether the kept run is that of this step, with the changes that hold now.
        self._ran = False
        # What follows from the last run, in a sentence.
        self._follows = ""
        parts = (self._console, state.session)
        self._matrices = MatrixCommands(*parts, self._subject_of_numbers, self._prepared)
        self._explaining = ExplainCommands(*parts, self._subject_of_numbers, self._prepared, self._names_of_steps)
        self._flow = FlowCommands(*parts, self._flow_place, self._prepared, self._names_of_steps)
        self._changing = ChangeCommands(
            self._console,
            lambda: (self.lesson, self.step),
            lambda: self.subject,
            lambda: self.content,
            lambda: self._model.history,
            self._change,
        )

    @property
    def matrices(self) -> MatrixCommands:
        """The commands that show numbers."""
        return self._matrices

    # What stands here ------------------------------------------------------------------------------------------------

    @property
    def content(self) -> StepContent:
        """The result of the step, as far as it is known."""
        return self._model.content

    @property
    def subject(self) -> DialogueSubject:
        """What can be shown and explained of the step."""
        return DialogueSubject(self.content.result.tensors, CodeUnit.step(self.step.id))

    def _subject_of_numbers(self) -> DialogueSubject:
        """Return the subject with the box of the flow that was looked at, whose name counts if the step has it not."""
        box, own = self._flow.box_subject, self.subject
        if box is None or any(tensor.name == box.tensors[0].name for tensor in own.tensors):
            return own
        return replace(own, tensors=(*own.tensors, *box.tensors), boxes=((box.tensors[0].name, box.unit),))

    def shows(self, text: str) -> bool:
        """Return whether a text names a tensor of the step, or several, or with no word the only one."""
        return not text or bool(typed(text, [tensor.name for tensor in self._subject_of_numbers().tensors])[0])

    @property
    def knobs(self) -> tuple[Knob, ...]:
        """The knobs that can be turned at the step."""
        return self._changing.knobs

    @property
    def changes(self) -> Changes:
        """The learner's changes with which the step runs."""
        return self._model.changes

    @property
    def handlers(self) -> Handlers:
        """The commands that apply at the step now."""
        found: Handlers = {"again": self.again} | self._offered({"run": {"run": self.run}})
        if self._is_answered and self.content.result.shapes:
            found["shapes"] = self.shapes
        found |= self._matrices.handlers | self._explaining.handlers | self._flow.handlers
        return found | self._offered({"change": self._changing.handlers, "prompt": {"python": self.python}})

    def _offered(self, commands: Mapping[str, Handlers]) -> Handlers:
        """Return those of some commands that stand for what the step offers now."""
        return {word: handler for offer, those in commands.items() if offer in self._model.offers
                for word, handler in those.items()}  # fmt: skip

    @property
    def _is_page(self) -> bool:
        """Whether this is a page of a program or of a file, of which there is no lesson."""
        return self.step.is_page

    def why_not(self, word: str) -> str:
        """Return why a command does not apply now, "" if there is nothing to be said about it."""
        return refused.why_not_here(word, is_page=self._is_page)

    def command_for(self, line: str) -> str:
        """Return the command that a line means which leaves out its word, as `weights[1,0]` does; "" for none."""
        left, equals, _ = line.partition("=")
        handlers = self.handlers
        if typed(left, [tensor.name for tensor in self._subject_of_numbers().tensors])[0]:
            word = "set" if equals else "show"
            return as_typed(word, line) if word in handlers else ""
        if "knob" in handlers and self._changing.names_knob(line):
            return as_typed("knob", line)
        return ""

    def _flow_place(self) -> FlowPlace:
        unit = CodeUnit.step(self.step.id) if "run" in self._model.offers else None
        return FlowPlace(self.lesson, self.step.id, unit)

    def _names_of_steps(self) -> Mapping[str, str]:
        return names_of_steps(self.lesson)

    # Opening ---------------------------------------------------------------------------------------------------------

    def open(self) -> Iterator[str]:
        """Yield the step, run if the worker is ready; else as it was recorded, which is said."""
        if "run" not in self._model.offers:
            yield from self.again("")
            return
        problem = ""
        if self._state.session.ready or not self.content.result.tensors:
            problem = self._run()
        yield from self.again("")
        if problem:
            yield from self._console.wrapped(problem)
        elif not self._ran and self.content.result.tensors:
            yield from self._paragraphs(
                say(
                    "recorded",
                    "PyTorch is still loading, so these numbers are recorded ones. Type run to compute them.",
                )
            )

    def again(self, _: str) -> Iterator[str]:
        """Yield the step as it is now."""
        step, width = self.step, self._console.width
        position = main_path.position_of(self.lesson.steps, step.id)
        shown = self._shown_content
        yield from linear_text.step_lines(
            self._printed_step, shown.result, position, width, answered=self._is_answered, draw=drawer(self._console)
        )
        for beside in () if step.side else self.lesson.side_steps_of(step.id):
            yield from self._paragraphs(
                say(
                    "side",
                    "There is a side step, which is optional: {title}. Type side to open it.",
                    title=beside.title,
                )
            )
            break
        large = next((tensor.name for tensor in self.subject.tensors if tensor.values is None), "")
        if large and "overview" in self.handlers:
            yield from self._paragraphs(
                say("large", "{name} is large. For its overview, type overview {name}", name=large)
            )
        yield from self._below()
        yield from self._paragraphs(*command_table.sentences_to_type(step, self._hints_read, self.here))

    @property
    def _printed_step(self) -> Step:
        """The step as it is printed."""
        return self.step

    @property
    def _shown_content(self) -> StepContent:
        """The content that the step is printed with."""
        return self.content

    @property
    def _is_answered(self) -> bool:
        """Whether what a question reveals is shown."""
        return True

    @property
    def _hints_read(self) -> tuple[str, ...]:
        """The hints that the learner has read."""
        return ()

    @property
    def here(self) -> command_table.Here:
        """What the learner can do here."""
        handlers = self.handlers
        tensors = [tensor for tensor in self.subject.tensors if tensor.name != self.subject.hidden]
        knobs = self.knobs if "knob" in handlers else ()
        return command_table.Here(handlers, tensors, knobs, self._target, self.step.explained_from.replace(" ", ""))

    @property
    def _target(self) -> str:
        """A cell to point at, for examples; "" if the step asks for none."""
        return ""

    def _below(self) -> Iterator[str]:
        """Yield what is said below the step."""
        if self.changes:
            yield ""
            yield from change_commands.described(self._console, self.lesson, self.changes)
            if not self._is_page:
                text_unchanged = say("text-unchanged", "The text was written for the lesson without changes.")
                yield from self._console.wrapped(text_unchanged)

    def _hint_lines(self, hints: Sequence[str], number: int) -> Iterator[str]:
        """Yield one of the hints of a task, counted from 0."""
        start = say("hint", "Hint {number} of {all}:", number=number + 1, all=len(hints))
        text = template.fill(hints[number], self.content.result.text)
        yield from plain_lines(f"{start} {text}", self._console.width)

    def _paragraphs(self, *sentences: str) -> Iterator[str]:
        """Yield sentences, each in a paragraph of its own."""
        for sentence in sentences:
            yield ""
            yield from self._console.wrapped(sentence)

    # Running ---------------------------------------------------------------------------------------------------------

    def _run(self, changes: Changes | None = None) -> str:
        """Run the step and keep the result; return why it could not be run, "" if it was. Raises `ChangeError`."""
        try:
            content = self._state.session.finish(self.lesson, self.step.id, self._model.live(changes))
        except WorkerError as error:
            return str(error)
        self._follows = self._model.take(content)
        self._ran = True
        self._explaining.forget()
        self._flow.forget()
        return ""

    def enter(self) -> None:
        """Run the step without printing it. Raises `Refused`."""
        problem = self._run()
        if problem:
            raise Refused(problem)

    def run(self, _: str) -> Iterator[str]:
        """Run the step again, and yield what came of it."""
        problem = self._run()
        if problem:
            raise Refused(problem)
        yield from self._result()
        yield from self._below()

    def shapes(self, _: str) -> Iterator[str]:
        """Yield which tensors each line of the code takes and makes, with their shapes."""
        for line in self.content.result.shapes:
            taken, made = (
                say("and", " and ").join(map(code_text.named_shape, each)) for each in (line.took, line.made)
            )
            number = say("line", "Line {number}", number=line.line)
            if taken and made:
                text = say("takes-and-makes", "{line} takes {taken} and makes {made}.",
                           line=number, taken=taken, made=made)  # fmt: skip
            elif taken:
                text = say("takes", "{line} takes {taken}.", line=number, taken=taken)
            else:
                text = say("makes", "{line} makes {made}.", line=number, made=made)
            yield from self._console.wrapped(text)

    def _result(self) -> Iterator[str]:
        """Yield the results of the step without its text."""
        lines = linear_text.result_lines(
            self.step, self.content.result, self._console.width, answered=self._is_answered, draw=drawer(self._console)
        )
        # Each result begins with an empty line.
        if next(lines, None) is None:
            yield from self._console.wrapped(say("nothing", "It has run, and shows nothing."))
        yield from lines

    def _prepared(self) -> Iterator[str]:
        """Run the step if the numbers of the kept run are not those of the step."""
        run = self._state.session.kept_run
        if self._ran and run is not None and run.alive:
            return
        path = self._explaining.path
        problem = self._run()
        self._explaining.path = path
        if problem:
            raise Refused(problem)
        if self.content.result.error is not None:
            failure = step_document.failure(self.content.result.error, of_page=self._is_page)
            yield from textwrap.wrap(failure, self._console.width)

    def _change(self, history: ChangeHistory) -> Iterator[str]:
        """Run the step with other changes, and yield what came of it. Raises `ChangeError`."""
        before = self._model.history
        if history.current == before.current and history.position == before.position:
            yield from self._console.wrapped(say("as-before", "That is as it was."))
            return
        problem = self._run(history.current)
        if problem:
            raise Refused(problem)
        self._model.history = history
        yield from change_commands.described(self._console, self.lesson, history.current)
        result = self.content.result
        for note in result.notes:
            yield from self._console.wrapped(note)
        if result.error is not None:
            yield from self._console.wrapped(step_document.failure(result.error, of_page=self._is_page))
        elif self.content.base is not None:
            yield from change_commands.difference(self._console, self.content)
        yield from self._after_change()

    def _after_change(self) -> Iterator[str]:
        """Yield what is said of a change besides its effect."""
        yield from ()

    def python(self, _: str) -> Iterator[str]:
        """Open a Python prompt on the step until the learner leaves it."""
        prompt = PromptDialogue(self._state, self.lesson, self.step, self.changes, self._names_of_steps())
        yield from prompt.talk()

    def stop(self) -> str:
        """End what belongs to the step, which the learner leaves; return what is to be said of that, "" for nothing."""
        return ""
