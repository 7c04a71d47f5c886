"""The code and the output of a step as styled text."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text

from attn_tutor.lessons.format.lesson import ExerciseStep, FilledStep, RunningStep
from attn_tutor.lessons.reading import package_source
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.render.code_text import rich_code

say = Wording("screen/lesson")

DIM, BOLD = Style(dim=True), Style(bold=True)


def code_text(step: FilledStep | ExerciseStep, theme: str) -> Text:
    """Return the code of a step, below that of the package if the step shows some, colored by a theme of Pygments."""
    text = Text()
    if not isinstance(step, ExerciseStep) and step.source:
        module, _, name = step.source.partition(":")
        file = f"{module.replace('.', '/')}.py"
        text.append("# " + say("source", "{name}, in {file}", name=name, file=file) + "\n", DIM)
        text.append_text(rich_code(package_source.read(step.source), theme, numbered=False))
    if isinstance(step, RunningStep) and step.code.strip():
        if text.plain:
            text.append("\n\n")
        text.append_text(rich_code(step.code, theme))
    return text


def output_text(result: StepResult) -> Text:
    """Return what a step has printed, how it failed, and the notes on it."""
    said = [*([result.error.message] if result.error is not None else ()), *result.notes]
    texts = Text(result.stdout.rstrip("\n")), *(Text(each, BOLD) for each in said)
    return Text("\n").join(each for each in texts if each)
