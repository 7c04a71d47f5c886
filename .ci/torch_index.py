"""Choose the package index to ask for PyTorch before the rest is installed: on Linux, the one with its CPU build.

PyPI's torch for Linux comes with gigabytes of CUDA libraries, which the tutor does not use. `make_environment.py` asks
this while nothing else is installed, so it needs the standard library only.
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
    """The address of an index for torch (empty: those that pip asks anyway), and a line that says so (or nothing)."""

    url: str
    line: str = ""


def choose(environment: Mapping[str, str], platform: str, installed: bool, answers: Callable[[str], bool]) -> Choice:
    """Choose the index for torch.

    `environment` may hold `TORCH_INDEX`, `CUDA` and `PIP_ARGS`, which make hands on. `platform` is that of `sys`.
    `installed` says that the environment has the torch that it needs. `answers` probes an index; it is called only
    when everything else leaves the choice open.
    """
    given = environment.get("TORCH_INDEX")
    if given:
        return Choice(given, f"PyTorch: from {given}, as TORCH_INDEX says.")
    if given is not None:
        return Choice("", "PyTorch: the build that pip finds by itself, since TORCH_INDEX is empty.")
    if installed or platform != "linux" or "--no-index" in environment.get("PIP_ARGS", "").split():
        return Choice("")
    # Only 1: where CUDA is installed, CUDA is often a variable with its folder.
    if environment.get("CUDA") == "1":
        return Choice("", "PyTorch: the build that pip finds by itself, as CUDA=1 says.")
    if answers(CPU_INDEX):
        return Choice(CPU_INDEX, f"PyTorch: the CPU build, from {CPU_INDEX} (CUDA=1 asks for the one with CUDA).")
    return Choice("", f"PyTorch: the build that pip finds by itself, since {CPU_INDEX} does not answer.")


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


def is_installed(version: str, constraints: str) -> bool:
    """Tell whether a version of torch ("": none) is that of constraints, in any build: `2.13.0+cpu` is `2.13.0`."""
    wanted = re.search(r"^torch==(\S+)", constraints, re.MULTILINE)
    return wanted is not None and version.partition("+")[0] == wanted[1]


def index_for(version: str, constraints: str) -> str:
    """Return the index for an environment with this torch ("": none), and say on standard error what is used."""
    choice = choose(os.environ, sys.platform, is_installed(version, constraints), answers)
    if choice.line:
        print(choice.line, file=sys.stderr, flush=True)
    return choice.url
