"""English that stands where translators cannot reach it: in the fields of templates, and in the code of an exercise.

Strings that name something are no English: keys of dicts, attributes, dtypes, the specs of `einsum`, codes such as
"none" that a check compares.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.exercises import ExerciseStep
from attn_tutor.lessons.format.learner_texts import Path
from attn_tutor.lessons.format.lesson import Step

PHRASE = re.compile(r"[^\W\d_]{2,}[,;:.]?\s+[^\W\d_]{2,}")
"""Two words with white space between them."""

OPEN_PHRASE = re.compile(r"(?<!\S)[^\W\d_]{2,}[,;:.]?\s|\s[^\W\d_]{2,}(?!\S)")
"""A word with white space beside it, which waits for another."""

WORD = re.compile(r"[^\W\d_]{2,}[.]?")
IN_FIELD = "Write it as a text of its own: a case of a message, or a sentence beside the field."
IN_CODE = "Let the code return a code such as 'none', and let cases of a message say the sentence."
LONGEST_QUOTED = 40


def complaints(step: Step) -> Iterator[tuple[Path, str, str]]:
    """Yield each English string in the code of a step that reaches learners, as path, problem and remedy."""
    for text in step.learner_texts:
        yield from _in_template(text.path, text.text)
    if not isinstance(step, ExerciseStep):
        return
    for number, check in enumerate(step.checks):
        for case, message in enumerate(check.fail):
            yield from _in_template(("checks", number, "fail", case, "say"), message.say)
            yield from _in_code(("checks", number, "fail", case, "if"), message.when)
        yield from _in_code(("checks", number, "test"), check.test)
    for number, mistake in enumerate(step.mistakes):
        yield from _in_template(("mistakes", number, "seen"), mistake.seen)
    for field, code in (("context", step.context), ("probe", step.probe)):
        yield from _in_code((field,), code)


def _in_template(path: Path, text: str) -> Iterator[tuple[Path, str, str]]:
    # Braces in a text that no run fills in are braces.
    try:
        fields = template.fields(text)
    except template.TemplateError:
        return
    for field in fields:
        for found in english_in_field(field.expression):
            yield path, f"'{_shortened(found)}' stands in a field, where it cannot be translated", IN_FIELD


def _in_code(path: Path, code: str) -> Iterator[tuple[Path, str, str]]:
    for found in english_in(code):
        yield path, f"'{_shortened(found)}' stands in code, where it cannot be translated", IN_CODE


def english_in(code: str) -> list[str]:
    """Return the strings of code that consist of several words, in order, but for those that are only compared."""
    return [text for text, _, is_data in _strings(code) if PHRASE.search(text) and not is_data]


def english_in_field(expression: str) -> list[str]:
    """Return the strings in the field of a template that are English, in order: also words that wait for others."""
    found = []
    for text, parent, is_data in _strings(expression):
        phrase = PHRASE.search(text) or OPEN_PHRASE.search(text)
        word = WORD.fullmatch(text) and isinstance(parent, ast.IfExp | ast.BinOp)
        if (phrase or word) and not is_data:
            found.append(text)
    return found


def _strings(code: str) -> list[tuple[str, ast.AST, bool]]:
    """Return the strings of code in order, each with what it is a part of, and whether it is only looked at."""
    found = [
        (child.lineno, child.col_offset, child.value, parent, _is_data(child, parent))
        for parent in ast.walk(ast.parse(code.strip()))
        for child in ast.iter_child_nodes(parent)
        if isinstance(child, ast.Constant) and isinstance(child.value, str)
    ]
    return [(text, parent, is_data) for _, _, text, parent, is_data in sorted(found, key=lambda item: item[:2])]


def _is_data(node: ast.Constant, parent: ast.AST) -> bool:
    """Return whether a string is only looked at: compared, used as a key, split into words, or a docstring.

    So is the noun that `beside` is given, which has translations (`lessons/worker/jobs/exercise_tools.py`).
    """
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "beside":
        return node in parent.args[2:3]
    if isinstance(parent, ast.Attribute):
        return parent.attr == "split"
    return isinstance(parent, ast.Compare | ast.Subscript | ast.Expr) or (
        isinstance(parent, ast.Dict) and any(node is key for key in parent.keys)
    )


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUOTED else f"{line[: LONGEST_QUOTED - 1]}…"
