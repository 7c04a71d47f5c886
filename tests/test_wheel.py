"""What is published: the wheel holds all files of the tutor, and works in an environment with nothing but its needs."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from attn_tutor.tui.commands.print_version import VERSION
from tests.tui.commands.command_line import task

ROOT = Path(__file__).parent.parent
PACKAGES = ("attention", "lessons", "tui")
PROJECT_FILES = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff")

pytestmark = pytest.mark.slow


def run(*command: str | Path, folder: Path) -> str:
    """Run a command in a folder; return what it printed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the source distribution, and the wheel that was built from it."""
    source = tmp_path_factory.mktemp("source")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "src", source / "src", symlinks=True, ignore=shutil.ignore_patterns("*.egg-info"))
    for name in PROJECT_FILES:
        shutil.copy(ROOT / name, source)
    run(sys.executable, "-m", "build", "--no-isolation", folder=source)
    return source / "dist"


@pytest.fixture(scope="module")
def wheel(published: Path) -> Path:
    [wheel] = published.glob("*.whl")
    return wheel


def needs(names: list[str], found: dict[str, importlib.metadata.Distribution]) -> None:
    """Collect the distributions that are needed by these names, as their metadata says."""
    for name in names:
        if name not in found:
            found[name] = importlib.metadata.distribution(name)
            wanted = map(Requirement, found[name].requires or [])
            needs([each.name for each in wanted if not each.marker or each.marker.evaluate({"extra": ""})], found)


@pytest.fixture(scope="module")
def clean_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and what its metadata asks for, linked from here."""
    environment = tmp_path_factory.mktemp("clean")
    venv.create(environment, symlinks=True)
    python = environment / "bin" / "python"
    packages = Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=environment)[:-1]
    )
    with zipfile.ZipFile(wheel) as file:
        metadata = file.read(f"attn_tutor-{VERSION}.dist-info/METADATA").decode()
    wanted = map(Requirement, re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE))
    found: dict[str, importlib.metadata.Distribution] = {}
    needs([each.name for each in wanted if not each.marker or each.marker.evaluate({"extra": ""})], found)
    for distribution in found.values():
        for top in {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
            (packages / top).symlink_to(str(distribution.locate_file(top)))
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    run(*pip, "install", "--quiet", "--no-index", "--no-deps", wheel, folder=environment)
    run(*pip, "check", folder=environment)
    return python


def files_of_the_tutor() -> Iterator[str]:
    top = ROOT / "src" / "attn_tutor"
    for folder in (top, *(top / package for package in PACKAGES)):
        for path in folder.glob("*") if folder == top else folder.rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                yield path.relative_to(top.parent).as_posix()


def test_the_wheel_holds_every_file_and_no_other(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        packed = {name for name in file.namelist() if ".dist-info/" not in name}
    assert packed == set(files_of_the_tutor())


def test_an_index_takes_what_is_published(published: Path) -> None:
    printed = run(sys.executable, "-m", "twine", "check", "--strict", *published.iterdir(), folder=published)
    assert printed.count("PASSED") == 2


def test_the_wheel_works_where_nothing_else_is_installed(clean_python: Path, tmp_path: Path) -> None:
    """From a folder outside of the checkout: the versions, a step that runs, and an answer that is judged."""
    command = clean_python.with_name("attn-tutor")
    printed = run(command, "--version", folder=tmp_path)
    assert printed.startswith(f"attn-tutor {VERSION} (torch {importlib.metadata.version('torch')}, textual ")
    assert "0.1526" in run(command, "run", "0", "--step", "why", folder=tmp_path)
    (tmp_path / "answer.py").write_text(task("3.2").solution)
    assert run(command, "check", "3.2", "answer.py", folder=tmp_path)


def test_versions_agree() -> None:
    newest = re.search(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == VERSION
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == VERSION
