"""Which command installs a package of the tutor again, if it is missing or damaged. It needs the standard library only.

It depends on how the tutor was installed, which the folders that it runs from tell.
"""

from __future__ import annotations

import importlib.metadata
import re
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = "attn-tutor"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"


def reinstall_command(package: str, root: Path = ROOT, prefix: Path | None = None) -> str:
    """Return the command line that a learner types, here or in any folder, to install a package that the tutor needs.

    `root` is the folder that holds the tutor's own packages, `prefix` that of the Python environment (None: of this
    one).
    """
    prefix = prefix or Path(sys.prefix)
    if (root / "Makefile").exists() and (root / "constraints.txt").exists():
        # Whoever has started a checkout with another Python gets one that works; its own environment is put right.
        target = "reinstall" if prefix.is_relative_to(root) else "learn"
        return shlex.join(["make", "-C", str(root), target])
    if (prefix / "uv-receipt.toml").exists():
        # `uv tool upgrade` would forget the backend, and fetch gigabytes.
        return f"uv tool install --reinstall --torch-backend cpu {PROJECT}"
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx reinstall {PROJECT}"
    command = [sys.executable, "-m", "pip", "install", "--force-reinstall", "--no-deps", _requirement(package)]
    if package == "torch" and sys.platform == "linux":
        command += ["--index-url", CPU_INDEX]
    return shlex.join(command)


def missing_package(error: ImportError) -> str:
    """Return the package of others that an import has failed for, "" if it is none of others."""
    package = (error.name or "").partition(".")[0]
    ours = {"", "attention", "lessons", "tui"}
    return "" if package in ours or package in sys.stdlib_module_names else package


def _requirement(package: str) -> str:
    """Return the package with the versions that the tutor works with, as far as its metadata can be read."""
    name = {"yaml": "PyYAML"}.get(package, package.replace("_", "-"))
    try:
        wanted = importlib.metadata.requires(PROJECT) or []
    except importlib.metadata.PackageNotFoundError:
        wanted = []
    for requirement in wanted:
        if re.match(rf"{re.escape(name)}(?![\w.-])", requirement, re.IGNORECASE):
            return requirement
    return name
