"""Nothing that a file, a lesson, a draft or an argument says commands the terminal, whichever verb prints it."""

from __future__ import annotations

import argparse
import json
import struct
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest
import torch

from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.tui.commands.output import CommandError
from attn_tutor.tui.commands.verb_table import VERBS
from tests import pseudo_language
from tests.lessons.programs.worker.tensor_files.tensor_file_builders import npy, safetensors
from tests.small_course import LESSON, write_course
from tests.tui.commands.command_line import Command, Done
from tests.tui.hostile_text import EVERY_COMMAND, MARK, OF_A_LINE, OF_A_PATH, foreign

Case = tuple[object, ...]
"""The arguments of a verb; bytes among them are its standard input."""

H = EVERY_COMMAND
ESCAPED = repr(EVERY_COMMAND)
"""A string in Python that has all of them, and is written without any of them."""

PROGRAM = f"""\
import torch
x = torch.tensor([[1.0, -2.0]])  # comment {OF_A_LINE}
name = {ESCAPED}
print(name, {OF_A_LINE!r})
kept = {{name: x + 1}}
z = x.log()  # {OF_A_LINE}
"""

FAILING = f"{PROGRAM}raise ValueError(name)\n"

WRONG_ANSWER = f"""\
def double(x):  # {OF_A_LINE}
    print({ESCAPED})
    raise ValueError({ESCAPED})
"""


CASES: dict[str, Callable[[Path], Iterator[Case]]] = {}
"""For each verb, what it is given; the files that it needs are made on the way."""


def of_verb(cases: Callable[[Path], Iterator[Case]]) -> Callable[[Path], Iterator[Case]]:
    """Note the cases of a verb, which is in the name of the function."""
    CASES[cases.__name__.removeprefix("in_").replace("_", "-")] = cases
    return cases


def program(folder: Path, source: str = PROGRAM, name: str = "mine") -> Path:
    path = folder / f"{name}{OF_A_PATH}.py"
    path.write_text(source)
    return path


def tensors(folder: Path) -> Path:
    path = folder / f"model{OF_A_PATH}.safetensors"
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    about = {"__metadata__": {f"key{H}": f"value{H}"}}
    path.write_bytes(safetensors({f"a{H}": entry, **about}, struct.pack("<2f", 1, 2)))
    return path


def files_with_odd_types(folder: Path) -> Iterator[Path]:
    """Yield files of tensors whose headers have commands in place of types and names."""
    entries = {"x": {"dtype": f"F32{H}", "shape": [2], "data_offsets": [0, 8]}}
    contents = {
        "dtype.safetensors": safetensors(entries, struct.pack("<2f", 1, 2)),
        "structure.npy": npy([(f"field{OF_A_LINE}", "<f4")], (2,), b"\0" * 8),
        "dtype.npy": npy(f"<f4{OF_A_LINE}", (2,), b"\0" * 8),
    }
    for name, content in contents.items():
        path = folder / name
        path.write_bytes(content)
        yield path
    torch.save(
        {f"key{OF_A_LINE}": torch.ones(2), f"other{H.encode(errors='replace').decode()}": "text" + OF_A_LINE},
        folder / "model.pt",
    )
    yield folder / "model.pt"


def course(folder: Path) -> Path:
    """Write a course whose texts are filled in with commands, in a folder whose name has some."""
    made = write_course(folder / f"rows{OF_A_PATH}")
    lesson = made / "01-first-row" / "lesson.yaml"
    filled = json.dumps(f"{ESCAPED}.encode('utf-8', 'replace').decode()")[1:-1]
    text = LESSON.replace("Look at the table. Its", "{said} Look at the table. Its").replace(
        "code: table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])",
        f'code: "said = {filled}\\nprint(said)\\ntable = torch.tensor([[1.0, 2.0], [3.0, 4.0]])"',
    )
    assert text != LESSON
    lesson.write_text(text)
    return made


def answer(folder: Path) -> Path:
    path = folder / f"answer{OF_A_PATH}.py"
    path.write_text(WRONG_ANSWER)
    return path


def progress_file(folder: Path) -> Path:
    """Write an export of a learner whose code and whose attempts are commands."""
    progress = Progress(None)
    for verdict in ("failed", "passed"):
        progress.add_attempt(
            "two-wide", f"a = 1\nb = '{OF_A_LINE}'", verdict, f"mistake{OF_A_LINE}", f"message{OF_A_LINE}"
        )
    progress.add_attempt(f"exercise{OF_A_LINE}", "code", "failed", "", "")
    progress.visit("one-query", f"why{OF_A_LINE}")
    path = folder / f"ada{OF_A_PATH}.json"
    path.write_text(json.dumps(progress.export()))
    progress.close()
    return path


def attempts() -> None:
    progress = Progress.open()
    progress.add_attempt(
        "two-wide", f"a = 1\nb = '{OF_A_LINE}'", "failed", f"mistake{OF_A_LINE}", f"message{OF_A_LINE}"
    )
    progress.add_attempt("two-wide", f"a = 2\nb = '{OF_A_LINE}'", "passed")
    progress.add_attempt(f"exercise{OF_A_LINE}", f"{OF_A_LINE}", "passed")
    progress.close()


@of_verb
def in_history(folder: Path) -> Iterator[Case]:
    attempts()
    yield ("history",)
    yield "history", "two-wide"
    yield "history", "two-wide", "--diff", "2"
    yield "history", "two-wide", "--show", "1"
    yield "history", "two-wide", "--json"
    yield "history", f"exercise{OF_A_LINE}"
    yield "history", "two-wide", "--show", H


@of_verb
def in_run(folder: Path) -> Iterator[Case]:
    yield "run", "first-row", "--course", course(folder)
    yield "run", "first-row", "--json", "--course", folder / f"rows{OF_A_PATH}"
    yield "run", H
    yield "run", "1", "--set", H
    yield "run", "1", "--words", H
    yield "run", "1", "--cell", f"x[0]={H}"


@of_verb
def in_preview(folder: Path) -> Iterator[Case]:
    made = course(folder)
    yield "preview", made
    yield "preview", made, "--plain", b"explain table[0,0]\nflow\nn\nset x\nquit\n"
    lesson = made / "01-first-row" / "lesson.yaml"
    lesson.write_text(lesson.read_text().replace("kind: read", json.dumps(f"kind{OF_A_LINE}") + ": read"))
    yield "preview", made


@of_verb
def in_courses(folder: Path) -> Iterator[Case]:
    yield "courses", "add", course(folder), "--yes"
    yield ("courses",)
    yield "courses", "verify", H
    yield "courses", "remove", H
    yield "courses", "add", folder / f"none{OF_A_PATH}"


@of_verb
def in_export(folder: Path) -> Iterator[Case]:
    attempts()
    made = course(folder)
    right = folder / "right.py"
    right.write_text(f"def double(x):  # {OF_A_LINE}\n    said = '{OF_A_LINE}'\n    return 2 * x\n")
    yield "check", "doubling", right, "--course", made
    yield "export", "module", "module.py", "--course", made
    assert "    said = '\\x1b]52;c;" in Path("module.py").read_text()
    yield "export", "notebook", "notebook.ipynb", "--all", "--course", made
    for name in ("table.csv", "table.svg", "table.txt"):
        yield (
            "export",
            "matrix",
            name,
            "--lesson",
            "first-row",
            "--step",
            "table",
            "--tensor",
            "table",
            "--course",
            made,
        )
    yield "export", folder / f"progress{OF_A_PATH}.json"
    yield "export", "-"
    yield "export", "html", folder / f"page{OF_A_PATH}.html", "--all", "--course", made
    yield "export", "markdown", "-", "--all", "--course", made
    yield "export", "notebook", "-", "--all", "--course", made
    yield "export", "matrix", "-", "--lesson", "first-row", "--step", "table", "--tensor", "table", "--course", made
    yield "export", "html", folder / f"none{OF_A_PATH}" / "file.html", "--all"


@of_verb
def in_open(folder: Path) -> Iterator[Case]:
    path = program(folder)
    yield "open", path
    yield "open", program(folder, FAILING, "failing")
    yield "open", program(folder, f"x = (  # {OF_A_LINE}", "broken")
    typed = f"explain x[0,1]\nw\nset {OF_A_LINE}\np\nname\nraise ValueError(name)\n.\nflow\n{OF_A_LINE}\n"
    yield "open", path, "--plain", "--", H, typed.encode()


@of_verb
def in_show(folder: Path) -> Iterator[Case]:
    path = tensors(folder)
    yield "show", path
    yield "show", path, "a"
    yield "show", path, "--plain", b"explain x\nn\nflow\n"
    yield "show", path, "--json"
    yield "show", path, H
    yield from (("show", each) for each in files_with_odd_types(folder))


@of_verb
def in_diff(folder: Path) -> Iterator[Case]:
    one, other = program(folder), program(folder, PROGRAM.replace("+ 1", "+ 2"), "other")
    yield "diff", one, other
    yield "diff", one, program(folder, FAILING, "failing")
    yield "diff", one, other, "--set", f"x={OF_A_LINE}"
    yield "diff", one, "--save", folder / f"trace{OF_A_PATH}"
    yield "diff", folder / f"trace{OF_A_PATH}", other


@of_verb
def in_new(folder: Path) -> Iterator[Case]:
    yield "new", "course", folder / f"new{OF_A_PATH}"
    yield "new", "lesson", folder / f"none{OF_A_PATH}" / "01-lesson"
    yield "new", "exercise", folder / f"new{OF_A_PATH}.yaml"


@of_verb
def in_texts(folder: Path) -> Iterator[Case]:
    yield "texts", H
    yield "texts", "--course", course(folder)
    yield "texts", "--update", folder / f"xx{OF_A_PATH}", "--course", folder / f"rows{OF_A_PATH}"


@of_verb
def in_list(folder: Path) -> Iterator[Case]:
    yield "list", "--course", course(folder)
    yield "list", "--knobs", H


@of_verb
def in_nan(folder: Path) -> Iterator[Case]:
    yield "nan", program(folder)
    yield "nan", program(folder, FAILING.replace("z = x.log()", "z = x"), "failing")


@of_verb
def in_report(folder: Path) -> Iterator[Case]:
    attempts()
    yield ("report",)
    yield "report", progress_file(folder)
    yield "report", progress_file(folder), folder / f"none{OF_A_PATH}.json"


@of_verb
def in_doctor(folder: Path) -> Iterator[Case]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("TERM", "LANG", "EDITOR", "ATTN_TUTOR_COLOR", "ATTN_TUTOR_LANGUAGE", "XDG_STATE_HOME"):
            patch.setenv(name, str(folder / f"x{OF_A_PATH}"))
        yield ("doctor",)
        yield "doctor", "--json"


@of_verb
def in_train(folder: Path) -> Iterator[Case]:
    yield "train", H
    yield "train", "first-row", "--step", H, "--course", course(folder)


@of_verb
def in_explain(folder: Path) -> Iterator[Case]:
    path = program(folder)
    yield "explain", path, "x", "0,1"
    yield "explain", path, f"kept[{ESCAPED}]", "0,1"
    yield "explain", path, H, H
    yield "explain", "first-row", "table", "0,0", "--course", course(folder)


@of_verb
def in_flow(folder: Path) -> Iterator[Case]:
    yield "flow", program(folder), "z"
    yield "flow", program(folder), "z", "--dot"
    yield "flow", program(folder, FAILING, "failing"), "z"
    yield "flow", H, H


@of_verb
def in_check(folder: Path) -> Iterator[Case]:
    yield "check", "doubling", answer(folder), "--course", course(folder)
    yield "check", H, answer(folder)


@of_verb
def in_watch(folder: Path) -> Iterator[Case]:
    yield "watch", "doubling", answer(folder), "--once", "--course", course(folder)
    yield "watch", H


@of_verb
def in_check_all(_: Path) -> Iterator[Case]:
    attempts()
    yield ("check-all",)


@of_verb
def in_glossary(folder: Path) -> Iterator[Case]:
    yield "glossary", H
    yield "glossary", "--course", course(folder)


@of_verb
def in_references(folder: Path) -> Iterator[Case]:
    yield "references", "--course", folder / f"none{OF_A_PATH}"


@of_verb
def in_import(folder: Path) -> Iterator[Case]:
    yield "import", progress_file(folder)
    yield "import", answer(folder)


@of_verb
def in_schema(_: Path) -> Iterator[Case]:
    yield "schema", H


@of_verb
def in_lint(folder: Path) -> Iterator[Case]:
    made = course(folder)
    yield "lint", "--quick", made
    yield "lint", made, "--exercise", "doubling"
    yield "lint", H


@of_verb
def in_record(folder: Path) -> Iterator[Case]:
    made = course(folder)
    yield "record", made
    yield "record", made, "--lesson", H


def run(command: Command, case: Case) -> Done:
    given = b"".join(each for each in case if isinstance(each, bytes))
    return command(*(str(each) for each in case if not isinstance(each, bytes)), given=given)


def test_every_verb_has_a_case() -> None:
    assert CASES.keys() == {verb.name for verb in VERBS}


def contents(folder: Path) -> dict[Path, bytes]:
    """Return what is in the files below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.usefixtures("texts_read_once")
@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_no_verb_passes_on_a_command(
    verb: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    monkeypatch.chdir(folder)
    import_module("attn_tutor.tui.programs.open_program")
    shown = ""
    for case in CASES[verb](folder):
        before = contents(folder)
        _, out, err = run(command, case)
        assert foreign(out) == [], case
        assert foreign(err) == [], case
        shown += out + err
        for path, content in contents(folder).items():
            if before.get(path) != content and not content.startswith(b"attn-tutor trace"):
                assert foreign(content.decode()) == [], path
    # Otherwise the case would show nothing.
    assert MARK in shown, verb


def options_of(parser: argparse.ArgumentParser) -> Iterator[Case]:
    """Yield command lines that give a command to each argument of a verb."""
    positional = [action for action in parser._actions if not action.option_strings]
    for action in parser._actions:
        if action.option_strings and action.nargs != 0:
            yield (*(["x"] * len(positional)), action.option_strings[-1], H)
    for count in range(1, len(positional) + 2):
        yield tuple([H] * count)
    yield (f"--{H}",)
    yield (f"--{H}={H}", H)


@pytest.mark.usefixtures("texts_read_once")
@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_no_argument_passes_on_a_command(
    verb: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parser = argparse.ArgumentParser()
    next(each for each in VERBS if each.name == verb).add_arguments(parser)
    for arguments in options_of(parser):
        _, out, err = command(verb, *arguments)
        assert foreign(out + err) == [], arguments


@pytest.fixture
def hostile_translation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have everything that the tutor says begin and end with commands."""
    monkeypatch.setattr(pseudo_language, "translated", lambda text: f"{OF_A_LINE}{text}{OF_A_LINE}")
    pseudo_language.write(tmp_path / "translations", pseudo_language.interface())
    pseudo_language.speak(monkeypatch, tmp_path / "translations")


@pytest.mark.usefixtures("hostile_translation")
def test_no_translation_passes_on_a_command(command: Command) -> None:
    for arguments in (["--help"], *([verb.name, "--help"] for verb in VERBS), ["list"], ["report"], ["run", "nothing"]):
        _, out, err = command(*arguments)
        assert MARK in out + err, arguments
        assert foreign(out + err) == [], arguments


def test_no_error_of_ours_passes_on_a_command(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (RuntimeError(H), OSError(2, H, H), CommandError(H), UnicodeDecodeError("utf-8", b"x", 0, 1, H)):

        def fail(_: object, error: Exception = error) -> int:
            raise error

        monkeypatch.setattr("attn_tutor.tui.commands.verbs.list_course.run", fail)
        _, out, err = command("list")
        assert MARK in err
        assert foreign(out + err) == [], repr(error)
