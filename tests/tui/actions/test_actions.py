"""The table of actions: its keys on every keyboard, and what is made from it."""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter
from pathlib import Path

import pytest
from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode

from attn_tutor.tui.actions import key_reference
from attn_tutor.tui.actions.bindings import LAYOUTS, QWERTY, RUSSIAN, bindings, on_all_layouts, twins
from attn_tutor.tui.actions.help_pages import PAGES, HelpEntry, Row, page, rendered
from attn_tutor.tui.actions.hints import (
    CHARACTERS,
    full_keys,
    hint,
    key_line,
    mention,
    name_of,
    short_keys,
    then,
    with_side_step,
)
from attn_tutor.tui.actions.table import ACTIONS, TABLE, of_context
from tests import pseudo_language
from tests.test_imports import modules_of

TUI = Path(__file__).parents[3] / "tui"

GREEK = ";ςερτυθιοπ[]ασδφγηξκλ΄'ζχψωβνμ,./`" + ':΅ΕΡΤΥΘΙΟΠ{}ΑΣΔΦΓΗΞΚΛ¨"ΖΧΨΩΒΝΜ<>?~'
UKRAINIAN = "йцукенгшщзхїфівапролджєячсмитьбю.'" + "ЙЦУКЕНГШЩЗХЇФІВАПРОЛДЖЄЯЧСМИТЬБЮ,ʼ"
CONTEXTS = sorted({action.id.partition(".")[0] for action in TABLE})
BOUND = [context for context in CONTEXTS if any(s.call for action in of_context(context) for s in action.strokes)]

CHAINS = [
    (focused, *view, "number", "screen", "tutor")
    for view in (
        ("step",),
        ("training", "step"),
        ("experiment", "step"),
        ("question",),
        ("prompt",),
        ("step", "exercise"),
    )
    for focused in ("matrix", "text", "explanation")
] + [
    *((focused, "find", "question", "number", "screen", "tutor") for focused in ("matrix", "text", "explanation")),
    ("options", "question", "number", "screen", "tutor"),
    ("rows", "what-if", "step", "number", "screen", "tutor"),
    ("text", "task", "exercise", "screen", "tutor"),
    ("matrix", "difference", "exercise", "screen", "tutor"),
    ("text", "solution", "exercise", "screen", "tutor"),
    *((focused, "step", "number", "screen", "program", "tutor") for focused in ("matrix", "text", "explanation")),
    ("list", "map", "screen", "program", "tutor"),
    ("list", "map", "screen", "tutor"),
    ("text", "map", "screen", "tutor"),
]
"""The contexts in which a key is looked up, that of the widget with the focus first."""

GIVES_WAY = {("step.flip", "exercise.difference"), ("difference.flip", "exercise.difference")}
"""Actions on one key of which the outer one is off while the inner one is on."""


def characters(keys: str) -> list[str]:
    """Return the keys that type a character."""
    named = [CHARACTERS.get(key, key) for key in keys.split(",")]
    return [each for each in named if len(each) == 1]


# The table ----------------------------------------------------------------------------------------------------------


def test_ids_are_unique() -> None:
    assert len(ACTIONS) == len(TABLE)
    ids = Counter(action.binding_id(stroke) for action in TABLE for stroke in action.strokes)
    assert [id for id, count in ids.items() if count > 1] == []


@pytest.mark.parametrize("context", BOUND)
def test_no_two_actions_of_a_context_share_a_key(context: str) -> None:
    keys = Counter(key for action in of_context(context) for stroke in action.strokes for key in stroke.keys.split(","))
    assert [key for key, count in keys.items() if count > 1] == []


@pytest.mark.parametrize("layout", [RUSSIAN, GREEK, UKRAINIAN])
@pytest.mark.parametrize("context", BOUND)
def test_no_two_actions_of_a_context_collide_in_any_layout(context: str, layout: str) -> None:
    """A character that one key types in some layout must not be bound to a different key."""
    owners: dict[str, set[str]] = {}
    for action in of_context(context):
        for stroke in action.strokes:
            for key in characters(stroke.keys):
                for typed in (key, *twins(key, (*LAYOUTS, layout))):
                    owners.setdefault(typed, set()).add(action.binding_id(stroke))
    assert {typed: ids for typed, ids in owners.items() if len(ids) > 1} == {}


@pytest.mark.parametrize("chain", CHAINS, ids="-".join)
def test_no_character_is_taken_from_an_outer_action_by_accident(chain: tuple[str, ...]) -> None:
    first: dict[str, str] = {}
    for context in chain:
        for action in of_context(context):
            for stroke in action.strokes:
                for key in characters(stroke.keys) if stroke.call else ():
                    for typed in (key, *twins(key)):
                        inner = first.setdefault(typed, action.id)
                        assert inner == action.id or (inner, action.id) in GIVES_WAY, typed


# Layouts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [*LAYOUTS, GREEK, UKRAINIAN])
def test_a_layout_lists_a_character_for_every_key(layout: str) -> None:
    assert len(layout) == len(QWERTY)
    assert len(set(QWERTY)) == len(QWERTY)


def test_twins() -> None:
    assert twins("n") == ("т",)
    assert twins("U") == ("Г",)
    assert twins("{") == ("Х",)
    # This key types a comma there, which is a different key of QWERTY.
    assert twins("?") == ()
    assert twins("é") == twins("f5") == ()
    assert twins("s", (RUSSIAN, UKRAINIAN, GREEK)) == ("ы", "і", "σ")
    assert twins("n", (RUSSIAN, UKRAINIAN)) == ("т",)


def test_every_letter_key_has_its_twin() -> None:
    bound = {binding.id: binding.key.split(",") for context in BOUND for binding in bindings(context)}
    checked = set()
    for action in TABLE:
        for stroke in action.strokes:
            for key in characters(stroke.keys) if stroke.call else ():
                if key.isalpha():
                    checked.add(key)
                    russian = RUSSIAN[QWERTY.index(key)]
                    assert russian.isalpha()
                    assert russian in bound[action.binding_id(stroke)], key
    assert {"n", "w", "U"} <= checked


def test_bindings() -> None:
    assert on_all_layouts("n,space") == "n,space,т"
    assert on_all_layouts("comma") == "comma,б"
    assert on_all_layouts("plus,equals_sign") == "plus,equals_sign"
    found = {binding.id: binding for binding in bindings("tutor")}
    assert found["tutor.next"].key == "n,space,т"
    assert (found["tutor.next-anywhere"].action, found["tutor.next-anywhere"].priority) == ("next", True)
    with pytest.raises(ValueError, match="nowhere"):
        bindings("nowhere")


def bound_classes() -> list[type[DOMNode]]:
    """Return the classes of the tutor that bind keys."""
    found = {
        kind
        for module in modules_of("tui")
        for kind in vars(importlib.import_module(module)).values()
        if isinstance(kind, type) and issubclass(kind, DOMNode) and kind.__module__.startswith("attn_tutor.tui.")
    }
    return [kind for kind in found if "BINDINGS" in vars(kind)]


def test_all_keys_are_bound_by_the_table() -> None:
    contexts: list[str] = []
    for kind in bound_classes():
        found = [binding.id or "" for binding in kind.BINDINGS if isinstance(binding, Binding)]
        assert len(set(found)) == len(kind.BINDINGS)
        own = list(dict.fromkeys(id.partition(".")[0] for id in found))
        table = [binding for context in own for binding in bindings(context)]
        assert [binding.id for binding in table] == found
        contexts += own
        for binding in table:
            name = binding.action.partition("(")[0].removeprefix("app.")
            owner = App if binding.action.startswith("app.") else kind
            assert owner is App or hasattr(kind, f"action_{name}"), (kind, binding)
    assert sorted(contexts) == BOUND


# The line of keys ---------------------------------------------------------------------------------------------------


def test_hints() -> None:
    assert hint("tutor.next") == "n next"
    assert hint("exercise.hint", "give up") == "f3 give up"
    assert hint("step.close", "restore") == "esc restore"
    assert hint("list.move") == "up/down choose"
    assert hint("matrix.move", "cell") == "arrows cell"
    assert hint("training.look") == ", . snapshots"
    assert mention("exercise.check") == "f5: check"
    assert then("screen.pane", "text.scroll") == "tab, then arrows"


def test_a_key_line_drops_its_last_hints() -> None:
    parts = ["n next", "b back", "m map", "q quit"]
    assert key_line(parts) == "n next   b back   m map   q quit"
    assert key_line(parts, 26) == "n next   b back   m map"
    assert key_line(parts, 25) == "n next   b back   m map"
    assert key_line(parts, 24) == "n next   b back"
    assert key_line(parts, 1) == "n next   b back"
    # The way to the next step stays, wherever it stands.
    parts = ["tab pane", "arrows cell", "enter explain", "w what if", "n next", "b back"]
    assert key_line(parts, 40) == "tab pane   arrows cell   n next"
    assert key_line(["f5 check", "f6 run", "f8 next", "f1 help"], 22) == "f5 check   f8 next"


def test_a_key_line_names_the_side_step_where_there_is_room() -> None:
    parts = ["tab pane", "n next", "b back", "m map", "q quit"]
    full = "tab pane   n next   i side step: Floats   b back"
    assert key_line(with_side_step(parts, "Floats", len(full) + 2), len(full) + 2) == full
    short = ["tab pane", "n next", "i side step", "b back", "m map", "q quit"]
    assert with_side_step(parts, "Floats", len(full) + 1) == short
    assert key_line(short, 32) == "n next   i side step"
    assert with_side_step(["tab pane", "n next"], "Floats", 34) == ["tab pane", "n next", "i side step"]
    # Where keys do something else, it is not named.
    assert with_side_step(["f8 next", "esc leave"], "Floats", 80) == ["f8 next", "esc leave"]


def test_all_actions_that_the_code_names_are_in_the_table() -> None:
    named: set[str] = set()
    for path in TUI.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            taken = {"hint": 1, "mention": 1, "then": None, "short_keys": 1, "full_keys": 1}.get(node.func.id, 0)
            named |= {str(each.value) for each in node.args[:taken] if isinstance(each, ast.Constant)}
    assert named
    assert named - set(ACTIONS) == set()


TYPED = re.compile(
    # `f5 check`, `enter: answer`, and `s: stop`
    r"(?:^|\s)(?:f\d|esc|escape|ctrl\+\S|backspace|arrows|tab|enter|up/down|\[ \]|\{ \})[: ] ?\w"
    r"|(?:^|\s)[a-z]: \w"
)
"""What a key looks like in a text for learners."""


def texts(path: Path) -> list[str]:
    """Return the strings of a module other than docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in docstrings)
    return [node.value for node in strings if isinstance(node.value, str)]


def test_no_key_is_typed_into_a_text() -> None:
    assert all(map(TYPED.search, ("f5 check", "There is more. s: stop", "   esc close", "enter: your words")))
    paths = [path for path in TUI.rglob("*.py") if TUI / "actions" not in path.parents]
    assert {text for path in paths for text in texts(path) if TYPED.search(text)} == set()


# Help and README ----------------------------------------------------------------------------------------------------


def entries() -> list[HelpEntry]:
    return [entry for page in PAGES.values() for row in page if isinstance(row, Row) for entry in row.entries]


def test_every_action_with_a_sentence_is_in_the_help() -> None:
    ids = {id for entry in entries() for id in entry.actions}
    # A learner who reads the help knows the keys that open it.
    assert {action.id for action in TABLE if action.help} - ids == {"tutor.help"}


def test_every_action_with_a_sentence_is_in_the_reference() -> None:
    ids = {id for section in key_reference.SECTIONS for entry in key_reference.entries(section) for id in entry.actions}
    assert {action.id for action in TABLE if action.help} - ids == set()


def test_labels_name_keys_of_their_context() -> None:
    everything = {name_of(key) for action in TABLE for stroke in action.strokes for key in stroke.keys.split(",")}
    for action in TABLE:
        context = of_context(action.id.partition(".")[0])
        keys = {name_of(key) for other in context for stroke in other.strokes for key in stroke.keys.split(",")}
        words = {word.strip("(,)") for word in full_keys(action.id).split()} or {","}
        assert words & everything <= keys, action.id
        assert words & keys or full_keys(action.id) in ("arrows", "letters"), action.id


@pytest.mark.parametrize("topic", PAGES)
def test_help_pages(topic: str) -> None:
    text = rendered(page(topic))
    assert "{" not in text.replace("[ ] and { }", "")
    assert text.endswith("\n")


def test_a_help_page_is_laid_out() -> None:
    lines = rendered(page("lesson")).splitlines()
    assert lines[0] == "A step of a lesson: text, code, and the matrices that the code computed"
    assert lines[2] == "n or space      go to the next step    b      go to the previous step"
    assert "  enter         explain that number; backspace: back to the one before" in lines
    assert "f6 or escape    back to the editor     f5     check your code" in rendered(page("scratch"))
    assert "f2 or escape    go back to where you were" in rendered(page("glossary"))
    assert "o, v            overview of blocks; in numbers or in shades" in rendered(page("training"))


@pytest.mark.parametrize("width", [38, 58, 78])
@pytest.mark.parametrize("topic", PAGES)
def test_no_line_of_the_help_breaks_keys_from_their_words(topic: str, width: int) -> None:
    lines = rendered(page(topic), width).splitlines()
    assert max(map(len, lines)) <= width
    for row in PAGES[topic]:
        for number, entry in enumerate(row.entries if isinstance(row, Row) else ()):
            keys = entry.keys if number == 0 else entry.fewer_keys
            first = re.escape(entry.sentence.split()[0])
            assert any(
                re.search(f"{re.escape(entry.keys)} +{first}|{re.escape(keys)} +{first}", line) for line in lines
            )


def test_the_reference_has_the_keys_of_the_table() -> None:
    text = key_reference.PAGE.read_text(encoding="utf-8")
    assert key_reference.with_table(text) == text, "python -m attn_tutor.tui.actions.key_reference writes the table"
    assert key_reference.with_table(text.replace("| f2 |", "| f22 |")) == text
    with pytest.raises(ValueError, match="markers"):
        key_reference.with_table("# Commands and keys\n")


# Another language ----------------------------------------------------------------------------------------------------


@pytest.fixture
def translated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pseudo_language.write(tmp_path, pseudo_language.interface())
    pseudo_language.speak(monkeypatch, tmp_path)


def is_translated(text: str) -> bool:
    return text.startswith(pseudo_language.OPEN) and text.endswith(pseudo_language.CLOSE)


@pytest.mark.usefixtures("translated")
def test_everything_on_a_help_page_is_translated() -> None:
    texts = [
        text
        for topic in PAGES
        for line in page(topic)
        for text in ([line] if isinstance(line, str) else [entry.sentence for entry in line.entries])
    ]
    assert [text for text in texts if text and not is_translated(text)] == []


@pytest.mark.usefixtures("translated")
def test_names_of_keys_are_translated() -> None:
    names = {name for action in TABLE for name in (full_keys(action.id), short_keys(action.id))}
    # A key may be called by words in other words: `⟦home⟧⟦ or ⟧⟦end⟧`.
    left = " ".join(re.sub(r"⟦[^⟦⟧]*⟧", " ", name) for name in names)
    assert set(re.findall(r"[^\W\d_]{2,}", left)) == {"ctrl", "shift"}
