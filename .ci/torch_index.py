"""Choose which build of PyTorch pip installs before the rest, and from where: on Linux, the CPU build.

PyPI's torch for Linux comes with gigabytes of CUDA libraries, which the tutor does not use: only those who ask for them
get them. `make_environment.py` asks this while nothing else is installed, so it needs the standard library only.
"""

from __future__ import annotations

import http.client
import os
import queue
import re
import sys
import threading
import urllib.request
from collections.abc import Callable, Mapping
from typing import NamedTuple

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
SECONDS = 3.0


class Choice(NamedTuple):
    """Which torch is to be installed, and from where.

    `requirement` is what pip is asked for, `url` the index to ask for it instead of PyPI (empty: those that pip asks
    anyway). `line` says so (or nothing), and `missing` what to say if there is no such build (empty: nothing more than
    that).
    """

    requirement: str = "torch"
    url: str = ""
    line: str = ""
    missing: str = ""

    @property
    def arguments(self) -> list[str]:
        """The arguments for `pip install`. That an index has nothing is no reason for pip to ask PyPI."""
        return [*(["--index-url", self.url] if self.url else []), self.requirement]


def choose(
    environment: Mapping[str, str], platform: str, version: str, again: str, answers: Callable[[str], bool]
) -> Choice:
    """Choose the build of torch, and the index to ask for it, where the torch that is needed is not installed.

    `environment` may hold `TORCH_INDEX`, `CUDA` and `PIP_ARGS`, which make hands on. `platform` is that of `sys`,
    `version` the one that the constraints name ("": none), and `again` the command that was typed. `answers` probes an
    index; it is called only when everything else leaves the choice open.

    If nobody has asked for another build, pip is asked for a version such as `2.13.0+cpu`. PyPI takes none with a plus
    sign, so pip cannot find a build with CUDA instead.
    """
    given = environment.get("TORCH_INDEX")
    if given:
        line = f"PyTorch: from {given}, as TORCH_INDEX says."
        return Choice(url=given, line=line, missing=f"{given} has no PyTorch for this Python. Without it: {again}")
    if platform != "linux" or "--no-index" in environment.get("PIP_ARGS", "").split():
        return Choice()
    # Only 1: where CUDA is installed, CUDA is often a variable with its folder.
    if environment.get("CUDA") == "1":
        return Choice(line="PyTorch: the build that pip finds by itself, as CUDA=1 says.")
    if not version:
        return Choice(url=CPU_INDEX, line=f"PyTorch: the CPU build, from {CPU_INDEX}.")
    requirement = f"torch=={version}" if "+" in version else f"torch=={version}+cpu"
    if given is not None:
        reason = "TORCH_INDEX is empty"
    elif answers(CPU_INDEX):
        line = f"PyTorch: the CPU build, from {CPU_INDEX} (CUDA=1 asks for the one with CUDA)."
        return Choice(requirement, CPU_INDEX, line)
    else:
        reason = f"{CPU_INDEX} does not answer"
    missing = (
        f"There is no CPU build of PyTorch where pip looks by itself, and {reason}. Try again later, or with "
        f"TORCH_INDEX=URL, which waits longer. To take any build, which may be gigabytes: {again} CUDA=1"
    )
    return Choice(
        requirement, line=f"PyTorch: the CPU build that pip finds by itself, since {reason}.", missing=missing
    )


def answers(index: str, seconds: float = SECONDS) -> bool:
    """Tell whether a package index serves its page of torch wheels within so many seconds, all in all.

    The timeout of urllib counts anew for each read and does not cover the search for the host's address; waiting for
    a thread does. A thread that is still busy then is left behind and ends with the process.
    """
    results: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def probe() -> None:
        try:
            with urllib.request.urlopen(f"{index}/torch/", timeout=seconds):
                results.put(True)
        except (OSError, http.client.HTTPException):
            results.put(False)

    threading.Thread(target=probe, daemon=True).start()
    try:
        return results.get(timeout=seconds)
    except queue.Empty:
        return False


def wanted(constraints: str) -> str:
    """Return the version of torch that constraints name, "" if they name none."""
    found = re.search(r"^torch==([^\s;]+)", constraints, re.MULTILINE)
    return found[1] if found else ""


def is_installed(version: str, constraints: str) -> bool:
    """Tell whether a version of torch ("": none) is that of constraints, in any build: `2.13.0+cpu` is `2.13.0`."""
    return version != "" and wanted(constraints) in (version, version.partition("+")[0])


def choice_for(version: str, constraints: str, again: str) -> Choice:
    """Return the choice for an environment with this torch ("": none), and say on standard error what is used."""
    if is_installed(version, constraints):
        return Choice()
    choice = choose(os.environ, sys.platform, wanted(constraints), again, answers)
    if choice.line:
        print(choice.line, file=sys.stderr, flush=True)
    return choice
