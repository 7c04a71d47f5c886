"""What importing a module pulls in, measured in a process of its own.

The contracts of import-linter read the source and see what is written there; only a run sees what happens.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("attention", "lessons", "tui")
OURS = "attn_tutor"

# Every module of the screen process keeps torch out; some have to keep out more, because they run before the first
# paint or on machines and terminals where Textual has no place.
SCREEN = {
    "attn_tutor.lessons.format.lesson": {"textual"},
    "attn_tutor.lessons.format.template": {"textual", "pydantic", "sqlite3"},
    "attn_tutor.lessons.results.result": {"textual", "pydantic", "sqlite3"},
    "attn_tutor.lessons.reading.loader": {"textual", "sqlite3"},
    "attn_tutor.lessons.reading.kept_course": {"textual", "pydantic", "sqlite3", "yaml"},
    "attn_tutor.lessons.engine.session": {"textual", "sqlite3"},
    "attn_tutor.lessons.learner.progress": {"textual", "pydantic", "yaml", "platformdirs"},
    "attn_tutor.lessons.engine.launching.launchers": {"textual", "sqlite3"},
    "attn_tutor.lessons.results.floats": {"textual"},
    "attn_tutor.lessons.worker.wire": {"textual", "pydantic", "sqlite3", "yaml"},
    "attn_tutor.lessons.worker.messages": {"textual", "pydantic", "sqlite3", "yaml"},
    "attn_tutor.tui": {"textual", "pydantic", "sqlite3"},
    "attn_tutor.tui.cli": {"textual", "pydantic", "sqlite3", "yaml", "rich"},
    "attn_tutor.tui.tty.terminal": {"textual", "pydantic", "sqlite3", "yaml", "rich"},
    "attn_tutor.tui.render.linear_text": {"textual"},
    "attn_tutor.tui.plain.dialogue": {"textual"},
    "attn_tutor.lessons.play.recorded_results": {"textual", "sqlite3", "yaml"},
    "attn_tutor.tui.commands.course_lookup": {"textual", "yaml"},
    "attn_tutor.tui.app": {"xml", "http", "email"},
}

LOOK = """
import importlib, json, sys
found = {}
for name in json.loads(sys.argv[1]):
    before = set(sys.modules)
    importlib.import_module(name)
    found[name] = sorted({module.removeprefix("attn_tutor.").partition(".")[0] for module in set(sys.modules) - before})
print(json.dumps(found))
"""


def imported_by(*modules: str) -> dict[str, set[str]]:
    """The top-level modules that come with each of these, one after the other, in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK, json.dumps(modules)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return {name: set(found) for name, found in json.loads(done.stdout.splitlines()[-1]).items()}


def modules_of(package: str) -> list[str]:
    """Every module of a package that can be imported without running a program."""
    paths = sorted((ROOT / package).rglob("*.py"))
    names = (path.relative_to(ROOT).with_suffix("").parts for path in paths)
    return [".".join((OURS, *parts)).removesuffix(".__init__") for parts in names if parts[-1] != "__main__"]


@pytest.mark.parametrize("module", SCREEN)
def test_module_of_the_screen_process_stays_light(module: str) -> None:
    found = imported_by(module)[module]
    assert found & (SCREEN[module] | {"torch", "attention"}) == set()


def test_nothing_in_the_screen_process_imports_torch() -> None:
    rooms = ("worker.", "process.", "programs.worker.", "programs.record", "trace")
    own = tuple(f"attn_tutor.lessons.{room}" for room in rooms)
    lessons = [name for name in modules_of("lessons") if not name.startswith(own)]
    for module, found in imported_by(*lessons, "attn_tutor.lessons.programs.messages", *modules_of("tui")).items():
        assert "torch" not in found, module
        assert "attention" not in found, module


def test_the_map_needs_neither_the_models_of_the_course_nor_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the course is kept, that is; results of runs take a while to import, too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    read = "from attn_tutor.tui.sources.course_source import CourseSource; CourseSource().read()"
    code = f"import sys; import attn_tutor.tui.app; {read}; print(*sys.modules)"
    for is_kept in (False, True):
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert "attn_tutor.lessons.reading.kept_course" in done.stdout.split()
        assert ("pydantic" not in done.stdout.split()) == is_kept
        kept_out = (
            "attn_tutor.lessons.engine",
            "attn_tutor.lessons.worker",
            *(
                [
                    "attn_tutor.lessons.format.base_steps",
                    "attn_tutor.lessons.format.lesson",
                    "attn_tutor.lessons.results.result",
                ]
                if is_kept
                else []
            ),
        )
        assert not [name for name in done.stdout.split() if name.startswith(kept_out)]


def test_nothing_but_tui_imports_textual() -> None:
    for module, found in imported_by(*modules_of("lessons"), *modules_of("attention")).items():
        assert "textual" not in found, module


def test_messages_of_the_worker_need_only_the_standard_library() -> None:
    found = imported_by("attn_tutor.lessons.worker.messages")["attn_tutor.lessons.worker.messages"]
    assert found - sys.stdlib_module_names <= {"attn_tutor", "lessons"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_with_code_is_a_package(package: str) -> None:
    folders = {path.parent for path in (ROOT / package).rglob("*.py")}
    assert folders
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []
