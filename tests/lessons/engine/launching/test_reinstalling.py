"""The command that installs a package again, for each way to install the tutor."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import sys
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.launching import reinstalling
from attn_tutor.lessons.engine.launching.reinstalling import (
    CPU_INDEX,
    changed_package,
    install_command,
    missing_package,
    reinstall_command,
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "a folder"
    root.mkdir()
    for name in ("Makefile", "constraints.txt"):
        (root / name).touch()
    return root


def test_a_checkout_has_its_own_environment_put_right(checkout: Path) -> None:
    command = reinstall_command("textual", checkout, checkout / ".venv")
    assert command == f"make -C '{checkout}' reinstall"


def test_a_checkout_that_another_python_runs_makes_its_environment(checkout: Path) -> None:
    assert reinstall_command("textual", checkout, Path("/usr")) == f"make -C '{checkout}' learn"


@pytest.mark.parametrize(
    ("receipt", "command"),
    [
        ("uv-receipt.toml", "uv tool install --reinstall --torch-backend cpu attn-tutor"),
        ("pipx_metadata.json", "pipx reinstall attn-tutor"),
    ],
)
def test_a_tool_is_installed_again_by_what_installed_it(receipt: str, command: str, tmp_path: Path) -> None:
    (tmp_path / receipt).touch()
    assert reinstall_command("torch", tmp_path / "lib", tmp_path) == command


def test_pip_installs_the_package_in_versions_that_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ["torch<3,>=2.6", "PyYAML<7,>=6.0.1", "tree-sitter-python<0.26", "tree-sitter<0.27"]
    monkeypatch.setattr(importlib.metadata, "requires", {"attn-tutor": wanted}.__getitem__)
    monkeypatch.setattr(sys, "platform", "linux")
    start = f"{sys.executable} -m pip install --force-reinstall --no-deps "
    for package, rest in [
        ("torch", f"'torch<3,>=2.6' --index-url {CPU_INDEX}"),
        ("yaml", "'PyYAML<7,>=6.0.1'"),
        ("tree_sitter", "'tree-sitter<0.27'"),
        ("typing_extensions", "typing-extensions"),
    ]:
        assert reinstall_command(package, tmp_path, tmp_path) == start + rest


@pytest.mark.parametrize(
    ("receipt", "command"),
    [
        ("uv-receipt.toml", f"uv pip install --python {sys.executable} pillow torch==2.9.1"),
        ("pipx_metadata.json", "pipx runpip attn-tutor install pillow torch==2.9.1"),
        ("pyvenv.cfg", f"{sys.executable} -m pip install pillow torch==2.9.1"),
    ],
)
def test_a_package_for_a_program_leaves_torch_as_it_is(
    receipt: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "version", {"torch": "2.9.1"}.__getitem__)
    (tmp_path / receipt).touch()
    assert install_command("PIL", tmp_path) == command


@pytest.mark.parametrize(
    ("name", "package"),
    [("textual.app", "textual"), ("attn_tutor.tui.app", ""), ("sqlite3", ""), ("_lzma", ""), (None, "")],
)
def test_only_packages_of_others_are_missing(name: str | None, package: str) -> None:
    assert missing_package(ImportError("no", name=name)) == package


def test_package_that_is_not_what_was_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that a package of the tutor needs."""
    content = "x = 1234"
    digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
    for name, needs in (("tutor", "Requires-Dist: needed<2,>=1"), ("needed", "")):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}\n")
        (info / "RECORD").write_text(f"{name}.py,sha256={digest},8\n")
        (tmp_path / f"{name}.py").write_text(content)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(reinstalling, "PROJECT", "tutor")
    assert changed_package() == ("", "")
    (tmp_path / "needed.py").write_bytes(bytes(8))
    assert changed_package() == ("needed", "needed.py")
    (tmp_path / "needed.py").unlink()
    assert changed_package() == ("needed", "needed.py")
