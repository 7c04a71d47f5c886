"""Which package of the tutor is missing or damaged, and which command installs it again.

It needs the standard library only.

The command depends on how the tutor was installed, which the folders that it runs from tell.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import os
import re
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROJECT = "attn-tutor"
CALLED = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}
"""What well-known packages are called whose modules have another name."""

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


def install_command(module: str, prefix: Path | None = None) -> str:
    """Return the command line that adds a package for a program of the user's to this environment, whose torch stays.

    `module` is what imports call it, `prefix` the folder of the Python environment (None: of this one).
    """
    package = CALLED.get(module, module)
    try:
        kept = [f"torch=={importlib.metadata.version('torch')}"]
    except importlib.metadata.PackageNotFoundError:
        kept = []
    prefix = prefix or Path(sys.prefix)
    if (prefix / "uv-receipt.toml").exists():
        # Such an environment has no pip.
        return shlex.join(["uv", "pip", "install", "--python", sys.executable, package, *kept])
    if (prefix / "pipx_metadata.json").exists():
        return shlex.join(["pipx", "runpip", PROJECT, "install", package, *kept])
    return shlex.join([sys.executable, "-m", "pip", "install", package, *kept])


def missing_package(error: ImportError) -> str:
    """Return the package of others that an import has failed for, "" if it is none of others."""
    package = (error.name or "").partition(".")[0]
    ours = {"", "attn_tutor"}
    return "" if package in ours or package in sys.stdlib_module_names else package


def changed_package() -> tuple[str, str]:
    """Return the first package with a file that is not what was installed, and the file; ("", "") if there is none.

    Looks at what the tutor imports in its own process, which is all that it needs but PyTorch.
    """
    names, seen = [PROJECT], {"torch"}
    while names:
        name = _normal(names.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        names += [match[0] for need in package.requires or () if (match := re.match(r"[\w.-]+", need))]
        for file in package.files or ():
            if file.suffix in (".py", ".so") and file.hash and _checksum(file) != file.hash.value:
                return name, str(file)
    return "", ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _checksum(file: importlib.metadata.PackagePath) -> str:
    """Return the checksum of a file in the form of a package's list of files, "" if the file cannot be read."""
    try:
        with open(os.fspath(file.locate()), "rb") as content:
            digest = hashlib.file_digest(content, file.hash.mode if file.hash else "sha256").digest()
    except OSError:
        return ""
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


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
