"""Make the Python environment of this checkout, or put it right: what is missing or damaged there is installed again.

`make` runs this whenever the environment may be incomplete, with any Python that the tutor runs on and nothing else
installed. If it fails, it says in a sentence or two what happened, and the one command to type then.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any, NamedTuple

import torch_index

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT_SIZE, DOWNLOAD_SIZE = "0.9 GB", "0.3 GB"
"""What the environment takes with all that tests need, and what pip downloads (on Linux, with the CPU build)."""

BEGUN = frozenset({"bin", "include", "lib", "lib64"})
"""What is in the folder of an environment that has only been begun."""

NO_NETWORK = r"NewConnectionError|NameResolution|name resolution|Connection(Refused|Reset)?Error|Network is unreachable"
NO_NETWORK += r"|timed out|Max retries exceeded|ProxyError|SSLError"
NO_ROOM = r"Errno (28|122)\b|No space left|[Qq]uota exceeded"
NOT_WRITABLE = r"Errno (13|30)\b|Permission denied|Read-only file system"
# Of a package that a constraint names, pip says that it conflicts with itself.
NO_BUILD = r"(?:No matching distribution found for |Cannot install (?=\S+ because .* conflicting))([^\s(]+)"

# Not even another build, which might be asked for instead: torch has nothing for this Python.
NOTHING = r"requirement torch==\S+\+\S+ \(from versions: none\)"


class Failure(Exception):
    """The environment cannot be made; the message says why, and what to type."""


class Environment(NamedTuple):
    """A Python environment, as its own Python describes it."""

    python: Path
    packages: Path

    @classmethod
    def find(cls, folder: Path) -> Environment | None:
        """Return the environment in a folder; None if there is none, or it has no pip (that works, and is new enough).

        So it is if making it was interrupted, or if its Python has gone or is another version now.
        """
        python = folder / "bin" / "python"
        code = "import sys, sysconfig, pip; print(sysconfig.get_path('purelib'), pip.__version__, sep='\\n')"
        try:
            done = subprocess.run([python, "-c", code], capture_output=True, text=True)
        except OSError:
            return None
        if done.returncode:
            return None
        packages, version = done.stdout.splitlines()
        pip = next(iter(distributions(name="pip", path=[packages])), None)
        # Python 3.11 comes with this one. An older one cannot install from pyproject.toml alone.
        recent = int(version.partition(".")[0]) >= 22
        return cls(python, Path(packages)) if recent and pip is not None and is_whole(pip) else None


def new_environment(folder: Path, again: str) -> Environment:
    """Make an environment in a folder, instead of the one that is there. Raises `Failure`."""
    if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK):
        raise Failure(
            f"The environment in {folder} is closed to you. With a copy of your own, without it, the tutor works: "
            f"{copy_command(again, with_environment=False)}"
        )
    # Making it was interrupted, if that has left nothing but folders of its own.
    if folder.is_dir() and not (folder / "pyvenv.cfg").exists() and not BEGUN.issuperset(os.listdir(folder)):
        raise Failure(
            f"{folder} is not empty, and no environment of Python. Name a different folder: {again} VENV=FOLDER"
        )
    # The environment's own Python cannot make it anew.
    python = getattr(sys, "_base_executable", None) or sys.executable
    done = subprocess.run([python, "-m", "venv", "--clear", folder], capture_output=True, text=True)
    found = Environment.find(folder) if done.returncode == 0 else None
    if found:
        return found
    shutil.rmtree(folder, ignore_errors=True)
    words = done.stdout + done.stderr
    if explained := explain(words, folder, again):
        raise Failure(explained)
    if "ensurepip" not in words:
        sys.stderr.write(words)
    raise Failure(f"{python} cannot make environments. On Debian and Ubuntu, type: apt install python3-venv && {again}")


def is_whole(package: Distribution, *, thorough: bool = False) -> bool:
    """Tell whether a package has all files that it was installed with, each with as many bytes as it had.

    `thorough`: with the same bytes; a power cut may leave zeros. To read all of torch takes seconds.
    """
    # Without its list of files, a package was never installed to the end, or an editable one was removed by hand.
    if package.files is None or not package.metadata["Name"]:
        return False
    for file in package.files:
        if file.suffix == ".pyc":
            continue
        try:
            size = os.stat(os.fspath(file.locate())).st_size
        except OSError:
            return False
        if file.size is not None and size != file.size:
            return False
        if thorough and file.hash and checksum(Path(os.fspath(file.locate())), file.hash.mode) != file.hash.value:
            return False
    return True


def checksum(path: Path, kind: str) -> str:
    """Return the checksum of a file in the form of a package's list of files; `kind` is such as `sha256`."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, kind).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def forget(package: Distribution) -> None:
    """Remove what says that a package is installed, so that pip installs it, over what is there."""
    folder = getattr(package, "_path", None)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def copy_command(again: str, with_environment: bool = True) -> str:
    """Return the command that copies this checkout into a learner's home, and then does there what was typed here.

    Without its environment if that cannot be read; other files that begin with a dot are not needed then.
    """
    root, copy = shlex.quote(str(ROOT)), "~/attn-tutor"
    there = again.replace("make", f"make -C {copy}", 1)
    if with_environment:
        return f"cp -R {root} {copy} && {there}"
    return f"mkdir {copy} && cp -R {root}/* {root}/.ci {copy} && {there}"


def explain(words: str, folder: Path, again: str, variables: Mapping[str, str] = os.environ, missing: str = "") -> str:
    """Explain in two sentences what pip or venv has failed for, "" if that is not known.

    `words` is what it said, `folder` that of the environment, and `again` the command that was typed. `missing` is what
    to say of a package that pip has found no build of.
    """
    if re.search(NO_ROOM, words):
        temporary = tempfile.gettempdir()
        return (
            f"The disk is full: the tutor needs {ENVIRONMENT_SIZE} in {folder}, and while it is installed "
            f"{DOWNLOAD_SIZE} in {temporary} (TMPDIR names another folder). Make room, then type: {again}"
        )
    # Somebody else may also have installed it here for once, such as root.
    written = [ROOT, folder.parent, *filter(Path.exists, [folder]), *ROOT.glob("src/*.egg-info")]
    if re.search(NOT_WRITABLE, words) and not all(os.access(path, os.W_OK) for path in written):
        return f"Files cannot be written here (in {ROOT}). With a copy of your own it works: {copy_command(again)}"
    if "--no-index" in variables.get("PIP_ARGS", "").split() and (build := re.search(NO_BUILD, words)):
        return f"The folders that PIP_ARGS names have no {build[1]} for this Python. Add it, then type: {again}"
    if re.search(NO_NETWORK, words):
        return (
            "No package index could be reached. The tutor needs the network only to be installed; "
            f"as soon as there is one, type: {again}"
        )
    if build := re.search(NO_BUILD, words):
        if missing and not re.search(NOTHING, words):
            return missing
        here = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
        return (
            f"There is no {build[1]} for {here}. With another Python (3.11 has been tested) it may work: "
            f"make clean && {again} PYTHON=python3.11"
        )
    return ""


def install(found: Environment, folder: Path, arguments: list[str], again: str, missing: str = "") -> None:
    """Have pip install packages. Its progress is shown, its complaints only if nobody knows what they mean.

    `missing` is what to say if pip finds no build of a package, "" for a sentence of this module. Raises `Failure`.
    """
    command: list[str | Path] = [found.python, "-m", "pip", "--disable-pip-version-check", "install", *arguments]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode == 0:
        return
    if is_interrupted(done):
        raise Failure(interruption(again))
    if explained := explain(done.stderr, folder, again, missing=missing):
        raise Failure(explained)
    sys.stderr.write(done.stderr)
    raise Failure(
        f"pip could not install the tutor; above is what it says. To start from nothing: make clean && {again}"
    )


def renew_pip(found: Environment, arguments: list[str], again: str) -> None:
    """Have pip install the pip that constraints name, if there is one where it looks: a folder of wheels may have none.

    The one that comes with Python 3.11 takes four times as long to choose from an index. Raises `Failure` if somebody
    interrupts it.
    """
    command: list[str | Path] = [found.python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    done = subprocess.run(
        [*command, "--no-compile", "--retries", "1", *arguments, "pip"], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    if is_interrupted(done):
        raise Failure(interruption(again))


def is_interrupted(done: subprocess.CompletedProcess[Any]) -> bool:
    """Tell whether a signal, such as Ctrl+C, has ended pip."""
    return done.returncode < 0 or done.returncode == 130


def interruption(again: str) -> str:
    """Say that the installation was interrupted, and how it goes on."""
    return f"The installation was interrupted. To go on, type: {again}"


def main() -> None:
    """Make the environment, or put it right, and have pip install what it lacks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of the environment")
    parser.add_argument("--constraints", required=True, help="the file with the versions to install")
    parser.add_argument("--dev", action="store_true", help="install what tests need, too")
    parser.add_argument(
        "--thorough", action="store_true", help="read all files of packages, to see whether any differs"
    )
    parser.add_argument("--again", default="make learn", help="the command to name if this fails")
    options = parser.parse_args()
    folder, again = options.folder, options.again
    print(f"Installing the tutor{' and what its tests need' if options.dev else ''} into {folder}.", flush=True)
    found = Environment.find(folder) or new_environment(folder, again)
    # As after an installation that was killed, or on a full disk.
    for package in distributions(path=[str(found.packages)]):
        if not is_whole(package, thorough=options.thorough):
            print(f"Damaged, so it is installed again: {package.metadata['Name']}", flush=True)
            forget(package)

    given = shlex.split(os.environ.get("PIP_ARGS", ""))
    common = ["--constraint", options.constraints, *given]
    # setuptools comes first and builds in the environment itself: pip would fetch another, unpinned one for a build of
    # its own, and could not do so offline.
    install(found, folder, ["--quiet", "--no-compile", *common, "setuptools"], again)
    renew_pip(found, common, again)
    # torch comes alone and before the rest, so that no other package can come from its index. What the rest asks for is
    # any build of the version of the constraints: `==2.13.0` matches 2.13.0+cpu.
    # Of torch and what it needs, most modules are never imported: to compile them all would take longer than the rest.
    torch = next((package.version for package in distributions(name="torch", path=[str(found.packages)])), "")
    choice = torch_index.choice_for(torch, Path(options.constraints).read_text(encoding="utf-8"), again)
    # With a constraint on what is an exact version, pip would speak of a conflict where it has found nothing.
    alone = given if "==" in choice.requirement else common
    install(found, folder, [*alone, "--no-deps", "--no-compile", *choice.arguments], again, choice.missing)
    install(found, folder, [*common, "--no-compile", "torch"], again)
    # The same holds for what tests need. A learner would wait for the first screen instead, so theirs is compiled.
    rest = ["--no-compile", "--editable", ".[dev]"] if options.dev else ["--editable", "."]
    install(found, folder, [*common, "--no-build-isolation", *rest], again)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"\n{failure}")
    except KeyboardInterrupt:
        sys.exit(130)
