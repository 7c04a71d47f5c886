"""Python and the libraries that the tutor needs, PyTorch above all."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from attn_tutor.lessons.engine.launching.reinstalling import PROJECT, reinstall_command
from attn_tutor.lessons.engine.self_testing import WorkerFacts, worker_facts
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.health.check import HealthCheck

say = Wording("doctor/python")

LIBRARIES = ("textual", "rich", "pydantic", "PyYAML", "platformdirs", "tree-sitter", "tree-sitter-python")
"""The distributions that the tutor cannot do without, besides PyTorch."""

SLOW = 15.0
"""Seconds after which a learner thinks that nothing happens."""

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PythonFacts:
    """What was found of Python.

    Attributes:
        python: its version.
        executable: the file that runs.
        needs: what the tutor says that it needs, such as `textual<9,>=8.2`; empty if it is not installed.
        versions: the version of each library; those that are missing are left out.
        commands: the command that installs each library again, and PyTorch.
        worker: what a process of the worker found.
    """

    python: str
    executable: str
    needs: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    worker: WorkerFacts = field(default_factory=WorkerFacts)


def python_facts() -> PythonFacts:
    """Look at this Python, and load PyTorch in a process of its own."""
    versions = {name: version for name in LIBRARIES if (version := _version(name))}
    commands = {name: reinstall_command(name) for name in (*LIBRARIES, "torch")}
    return PythonFacts(platform.python_version(), sys.executable, _needs(), versions, commands, worker_facts())


def python_checks(facts: PythonFacts) -> Iterator[HealthCheck]:
    """Yield what is to be said of Python and the libraries."""
    yield HealthCheck("python", "Python", "ok", f"{facts.python}, {facts.executable}")
    yield _libraries(facts)
    yield _torch(facts)


def _libraries(facts: PythonFacts) -> HealthCheck:
    name = say("libraries", "libraries")
    missing = [library for library in LIBRARIES if library not in facts.versions]
    ranges = {parts[0].lower(): need for need in facts.needs if (parts := re.split(r"[^\w.-]", need, maxsplit=1))}
    wrong = [
        f"{library} {version}"
        for library, version in facts.versions.items()
        if not is_in_range(version, ranges.get(library.lower(), ""))
    ]
    if not missing and not wrong:
        found = ", ".join(f"{library} {version}" for library, version in facts.versions.items())
        return HealthCheck("libraries", name, "ok", found)
    wanted = [*missing, *(each.split()[0] for each in wrong)]
    # Where all of them come together, one command does it.
    remedy = "; ".join(dict.fromkeys(facts.commands[library] for library in wanted))
    parts = []
    if missing:
        parts.append(say("missing", "missing: {libraries}", libraries=", ".join(missing)))
    if wrong:
        parts.append(say("unfit", "not of a version that the tutor needs: {libraries}", libraries=", ".join(wrong)))
    return HealthCheck("libraries", name, "broken", "; ".join(parts), remedy)


def _torch(facts: PythonFacts) -> HealthCheck:
    worker = facts.worker
    if not worker.torch:
        found = say("no-torch", "does not load: {error}", error=worker.torch_error)
        return HealthCheck("torch", "PyTorch", "broken", found, facts.commands["torch"])
    if not worker.torch_computes:
        found = say("wrong-torch", "{version} multiplies matrices wrongly", version=worker.torch)
        return HealthCheck("torch", "PyTorch", "broken", found, facts.commands["torch"])
    build = say("cuda-build", "CUDA {version}", version=worker.cuda) if worker.cuda else say("cpu-build", "CPU build")
    found = say(
        "torch-found", "{version}, {build}, loads in {seconds:.1f} s",
        version=worker.torch, build=build, seconds=worker.torch_seconds,
    )  # fmt: skip
    if worker.torch_seconds > SLOW:
        remedy = say(
            "slow-torch",
            "The first start after a boot is slow, and so is any start on a busy host. If all are, install it on a "
            "local disk.",
        )
        return HealthCheck("torch", "PyTorch", "note", found, remedy)
    return HealthCheck("torch", "PyTorch", "ok", found)


def is_in_range(version: str, need: str) -> bool:
    """Return whether a version is what a requirement like `textual<9,>=8.2` asks for; any is if it names none."""
    found = _numbers(version)
    at_least, below = (re.search(rf"{sign}([\d.]+)", need) for sign in (">=", "<"))
    return (at_least is None or found >= _numbers(at_least[1])) and (below is None or found < _numbers(below[1]))


def _numbers(version: str) -> Version:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0]))


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _needs() -> tuple[str, ...]:
    try:
        needs = importlib.metadata.requires(PROJECT) or []
    except importlib.metadata.PackageNotFoundError:
        return ()
    return tuple(need for need in needs if ";" not in need)
