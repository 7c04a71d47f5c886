"""YAML that would take long, fill the memory, or command a terminal: each is refused in one sentence, at once."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path

import pytest

from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.loader import load_lesson, parse_lesson
from attn_tutor.lessons.reading.yaml_nodes import MOST_VALUES

HEAD = "title: T\ngoal: G\n"
STEP = "{kind: read, id: x, title: t, prose: p}"


def doubling(levels: int, each: str) -> str:
    """Return values that name the value before them twice, each as `each` says."""
    names = [f"v{level}" for level in range(levels)]
    lines = [f"{names[0]}: &{names[0]} {{k: 1}}"]
    for before, name in itertools.pairwise(names):
        lines.append(f"{name}: &{name} {each.format(before)}")
    return "\n".join(lines) + "\n"


def sentence(text: str) -> str:
    """Return the one finding of a lesson with this text, which is found at once."""
    began = time.process_time()
    with pytest.raises(LessonError) as refused:
        parse_lesson(HEAD + text, "lesson.yaml", number=1, slug="first")
    assert time.process_time() - began < 5
    [found] = refused.value.findings
    return str(found).removeprefix("lesson.yaml:")


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (doubling(40, "[*{0}, *{0}]"), "more than 100000 values, with those of aliases. Split it."),
        (doubling(40, "{{<<: [*{0}, *{0}]}}"), "more than 100000 values, with those of aliases. Split it."),
        (doubling(40, "{{a: *{0}, b: *{0}}}"), "more than 100000 values, with those of aliases. Split it."),
        (f"steps:\n- &s {STEP}\n" + "- *s\n" * MOST_VALUES, "4:1: more than 100000 values"),
        ("steps: [" + "0," * MOST_VALUES + "]\n", "3:8: more than 100000 values"),
        ("steps: &a [*a]\n", "3:8: this contains itself, by an alias. Write it out."),
        ("axes: &a {x: *a}\n", "3:7: this contains itself, by an alias. Write it out."),
        ("x: &a {? *a : 1}\n", "3:4: this contains itself, by an alias. Write it out."),
        ("seed: " + "9" * 5000 + "\n", "3:7: a number of 5000 characters. Write a shorter one."),
        ("seed: 1" + ":10" * 50_000 + "\n", "3:7: a number of 150001 characters. Write a shorter one."),
        ("seed: 1" + ":10" * 50_000 + ".5\n", "3:7: a number of 150003 characters. Write a shorter one."),
        ("seed: 0b" + "1" * 5000 + "\n", "3:7: a number of 5002 characters. Write a shorter one."),
        (r'setup: "x = 1 # \e[2J"' + "\n", "3:8: a text with the control character U+001B. Take it out."),
        (r'setup: "x = 1\r"' + "\n", "3:8: a text with the control character U+000D. Take it out."),
        (r'setup: "x = 1\N"' + "\n", "3:8: a text with the control character U+0085. Take it out."),
        (r'setup: "x = 1 # \u202e"' + "\n", "3:8: a text with the control character U+202E. Take it out."),
        ("setup: x = 1 or \u2066\n", "3:8: a text with the control character U+2066. Take it out."),
        (r'"set\aup": x = 1' + "\n", "3:1: a text with the control character U+0007. Take it out."),
        ("steps: !!python/object/apply:os.getcwd []\n", "could not determine a constructor"),
        ("steps: !!python/name:os.system\n", "could not determine a constructor"),
    ],
)
def test_what_may_not_be(text: str, finding: str) -> None:
    assert finding in sentence(text)


@pytest.mark.parametrize(
    ("code", "where"),
    [
        ("x = 1" + " + 1" * 200, "3:8"),
        ("x = " + "not " * 200 + "x", "3:8"),
        ("x = f" + "()" * 200, "3:8"),
        ("x = a" + ".b" * 200, "3:8"),
        ("x = " + "lambda: " * 120 + "0", "3:8"),
    ],
)
def test_code_is_nested_as_deeply_as_every_reader_can_follow(code: str, where: str) -> None:
    found = sentence(f'setup: "{code}"\nsteps: [{STEP}]\n')
    assert found.startswith(where)
    assert "'setup' is not Python: it is nested too deeply. Mend the code." in found


def test_a_deep_line_of_a_block_is_named() -> None:
    code = "x = 1\n  y = 2\n  z = 1" + " + 1" * 200
    assert sentence(f"setup: |\n  {code}\nsteps: [{STEP}]\n").startswith(
        "6:1: 'setup' is not Python: it is nested too deeply."
    )


def test_a_field_of_prose_is_no_deeper() -> None:
    step = "{kind: read, id: x, title: t, prose: '{1" + " + 1" * 200 + "}'}"
    assert "is not a Python expression" in sentence(f"steps: [{step}]\n")


def test_letters_of_all_languages_are_text() -> None:
    step = "{kind: read, id: x, title: 'Строка נוסח\u00a0— naïve 👩‍🔬', prose: 'tab\there'}"
    assert parse_lesson(f"{HEAD}steps: [{step}]\n", "lesson.yaml", number=1, slug="first").steps[0].title


def test_an_alias_is_no_copy_of_what_it_names() -> None:
    labels = "{kind: run, id: %s, title: t, prose: p, code: x = 1, show: [{name: x, kind: vector, labels: %s}]}"
    steps = ", ".join((labels % ("x", "&same {index: [a]}"), labels % ("y", "*same")))
    assert len(parse_lesson(f"{HEAD}steps: [{steps}]\n", "lesson.yaml", number=1, slug="first").steps) == 2


@pytest.mark.parametrize("target", ["../secret.yaml", "/dev/zero", "steps", "loop"])
def test_an_include_does_not_leave_its_folder_by_a_link(target: str, tmp_path: Path) -> None:
    folder = tmp_path / "01-first"
    (folder / "steps").mkdir(parents=True)
    (tmp_path / "secret.yaml").write_text(STEP)
    (folder / "lesson.yaml").write_text(HEAD + "steps:\n- include: loop\n")
    os.symlink(target, folder / "loop")
    with pytest.raises(LessonError) as refused:
        load_lesson(folder)
    [found] = refused.value.findings
    assert found.line == (1 if target == "steps" else 4)
    assert ("this is not something to include" in str(found)) == (target != "steps")


def test_an_include_may_be_a_link_within_its_folder_and_where_an_installer_links_all_files(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "01-first", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "one.yaml").write_text(STEP)
    os.symlink("one.yaml", folder / "link.yaml")
    (folder / "lesson.yaml").write_text(HEAD + "steps:\n- include: link.yaml\n")
    assert load_lesson(folder).steps[0].id == "x"
    for file in folder.iterdir():
        file.rename(elsewhere / file.name)
        os.symlink(elsewhere / file.name, folder / file.name)
    assert load_lesson(folder).steps[0].id == "x"


def test_a_file_is_included_once(tmp_path: Path) -> None:
    folder = tmp_path / "01-first"
    folder.mkdir()
    (folder / "one.yaml").write_text(STEP)
    (folder / "lesson.yaml").write_text(HEAD + "steps:\n- include: one.yaml\n- include: one.yaml\n")
    with pytest.raises(LessonError, match=r"lesson.yaml:5:3: one.yaml is included twice. Include it once."):
        load_lesson(folder)
