"""The modules that say everything with ids: no sentence stands in them that translators cannot reach."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Formatter

import pytest

from attn_tutor.lessons.authoring import interface_texts
from attn_tutor.lessons.authoring.writing import OPEN_PHRASE, PHRASE
from attn_tutor.lessons.reading.course_texts import Catalog
from attn_tutor.tui.actions import help_pages, table
from attn_tutor.tui.commands import verb_table
from attn_tutor.tui.plain import command_table
from tests import pseudo_language
from tests.course import ROOT

EXEMPT = {
    "lessons/authoring": "what is wrong in lesson files is told to authors",
    "lessons/files.py": "what the system would say, which is in English",
    "lessons/format/base_steps.py": "complaints for authors",
    "lessons/format/exercises.py": "complaints for authors",
    "lessons/format/fields.py": "complaints for authors",
    "lessons/format/questions.py": "complaints for authors",
    "lessons/format/steps.py": "names of measured numbers",
    "lessons/format/template.py": "complaints for authors",
    "lessons/learner/progress.py": "SQL",
    "lessons/learner/tables.py": "SQL",
    "lessons/reading": "what is wrong in lesson files is told to authors",
    "lessons/engine/launching/reinstalling.py": "commands of other programs",
    "lessons/results/code_unit.py": "names under which code is compiled",
    "lessons/results/formula.py": "operators of Python",
    "lessons/takehome/html_page.py": "HTML, and a style sheet",
    "lessons/takehome/matrix_file.py": "a picture in SVG",
    "lessons/takehome/module_file.py": "Python, whose sentences are said",
    "lessons/takehome/top_level.py": "statements of Python",
    "lessons/takehome/notebook_file.py": "Python, whose sentences are said",
    "lessons/texts/po_file.py": "complaints for translators",
    "lessons/render/html_pieces.py": "HTML",
    "lessons/what_if/knobs.py": "names of functions",
    "lessons/worker/plain_codec.py": "complaints for programmers",
    "lessons/process": "what is said before any text can be, and the start of a warning of torch",
    "lessons/worker/wire.py": "complaints for programmers",
    "tui/actions/help_pages.py": "a table: see TABLES",
    "tui/actions/key_reference.py": "writes docs/reference.md, which is in English",
    "tui/actions/table.py": "a table: see TABLES",
    "tui/commands/verb_table.py": "a table: see TABLES",
    "tui/plain/command_table.py": "a table: see TABLES",
    "tui/commands/verbs/lint_course.py": "for authors",
    "tui/commands/verbs/list_texts.py": "for translators",
    "tui/commands/print_version.py": "names of programs",
    "tui/commands/screen_fit.py": "for authors",
    "tui/tty/terminal.py": "notation of formulas",
    "lessons/render/flow_text.py": "a file in the language of Graphviz",
    "tui/render/palette.py": "colors",
    "tui/tty/screen_picture.py": "a picture in SVG",
    "tui/tty/exit_codes.py": "the meanings stand in the README, which is in English",
}
"""Modules and folders with words that need no ids, and why."""


def _has_to_say(module: Path) -> bool:
    return not any(name in EXEMPT for name in (module.as_posix(), *(folder.as_posix() for folder in module.parents)))


MODULES = [
    path.relative_to(ROOT)
    for room in ("lessons", "tui")
    for path in sorted((ROOT / room).rglob("*.py"))
    if _has_to_say(path.relative_to(ROOT))
]
"""The modules that say everything with ids."""

TABLES: dict[str, Callable[[], dict[str, str]]] = {
    "tui/actions/table.py": table.table_texts,
    "tui/actions/help_pages.py": help_pages.texts,
    "tui/commands/verb_table.py": verb_table.texts,
    # The ids of actions stand there in one string.
    "tui/plain/command_table.py": lambda: {
        **command_table.texts(),
        **{command.word: " ".join(command.actions) for command in command_table.TABLE},
    },
}
"""Modules with tables of texts, with what lists the texts by the ids that they are said with."""

FOR_PROGRAMMERS = frozenset(
    {"AssertionError", "ForkUnsafe", "NotImplementedError", "TypeError", "ValueError", "WireError"}
)
"""Exceptions whose messages no learner reads."""


CODE = frozenset({"DEFAULT_CSS", "IMPORTS", "INPUTS_START", "SELF_TEST", "SIGNS", "TIMED", "TRACE", "_BOOT"})
"""Constants that hold code, what a program writes, or the rules of a widget's look."""


FOR_AUTHORS = frozenset(
    {"problems", "problems_of_right", "asked", "unused", "complaints", "_overlaps", "_not_python", "missing_text"}
)
"""Functions that find mistakes of authors, which are told in English."""


UNREAD = FOR_PROGRAMMERS | FOR_AUTHORS | {"compile", "execute", "removeprefix", "rule", "split"}
"""What these are given, or contain, no learner reads."""


def unreachable(source: str) -> Iterator[str]:
    """Yield the strings of a module that consist of words and are not said with ids."""
    tree = ast.parse(source)
    said = {id(part) for call, _ in interface_texts.calls_in(tree) for part in ast.walk(call)}
    ignored: set[int] = set()
    for node in ast.walk(tree):
        name = node.name if isinstance(node, ast.FunctionDef) else ""
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if isinstance(node, ast.Compare | ast.Expr | ast.Assert | ast.MatchValue) or name in UNREAD:
            # An expression by itself is a docstring, or a call, whose own arguments are looked at.
            parts = [node.value] if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else []
            whole = not isinstance(node, ast.Expr)
            ignored |= {id(part) for part in (ast.walk(node) if whole else parts)}
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in CODE:
            ignored |= {id(part) for part in ast.walk(node)}
        if isinstance(node, ast.Dict):
            ignored |= {id(key) for key in node.keys}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in said | ignored:
            continue
        if PHRASE.search(node.value) or OPEN_PHRASE.search(node.value):
            yield node.value


def test_no_sentence_is_out_of_reach() -> None:
    found = {str(module): list(unreachable((ROOT / module).read_text(encoding="utf-8"))) for module in MODULES}
    assert {module: strings for module, strings in found.items() if strings} == {}
    assert len(MODULES) > 300


@pytest.mark.parametrize("name", EXEMPT)
def test_an_exemption_is_needed(name: str) -> None:
    paths = [ROOT / name] if name.endswith(".py") else list((ROOT / name).rglob("*.py"))
    assert any(list(unreachable(path.read_text(encoding="utf-8"))) for path in paths)


@pytest.mark.parametrize("module", TABLES)
def test_no_sentence_of_a_table_is_out_of_reach(module: str) -> None:
    known = set(TABLES[module]().values())
    # What the README quotes too has an id on each page that quotes it.
    assert [text for text in unreachable((ROOT / module).read_text(encoding="utf-8")) if text not in known] == []


def test_sentences_out_of_reach_are_found() -> None:
    source = (
        '"""A docstring of words."""\nif x == "a b":\n    say("id", "so it is {x}", x=f"not {x}")\n    y = "it is so"'
    )
    assert list(unreachable(source)) == ["it is so"]
    assert list(unreachable('raise WorkerError(f"for {x} only")')) == ["for ", " only"]


@pytest.mark.parametrize("room", ["lessons", "tui"])
def test_fields_of_a_text_are_what_it_is_given(room: str) -> None:
    for path in MODULES:
        if path.parts[0] == room:
            _check_fields(path)


def _check_fields(path: Path) -> None:
    for call, counts in interface_texts.calls_in(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if any(keyword.arg is None for keyword in call.keywords):
            continue
        texts = [arg.value for arg in call.args[1:] if isinstance(arg, ast.Constant)]
        given = {keyword.arg for keyword in call.keywords} | ({"count"} if counts else set())
        fields = {name for text in texts for _, name, _, _ in Formatter().parse(str(text)) if name is not None}
        assert fields <= given, ast.unparse(call)
        assert given - {"count"} <= fields, ast.unparse(call)
        # A translation of either form is refused if a field of the other is missing, but for the number.
        forms = [{name for _, name, _, _ in Formatter().parse(str(text)) if name is not None} for text in texts]
        assert all(form | {"count"} == fields | {"count"} for form in forms), ast.unparse(call)


def whole() -> Catalog:
    return pseudo_language.interface()


def test_ids_of_the_interface_are_unique_and_of_their_own_groups() -> None:
    texts = [text for found in whole().values() for text in found]
    assert len({text.id for text in texts}) == len(texts)
    assert not set(whole()) & set(pseudo_language.catalog())
    assert any(text.plural for text in texts)


def test_text_that_is_no_literal_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2"):
        interface_texts.texts_in('say = Wording("a/b")\nsay("c", f"{d}")')
