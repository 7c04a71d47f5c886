"""What a process of the worker finds on this host, asked for where even PyTorch or pydantic may be missing."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

from attn_tutor.lessons.files import IMPORT_FOLDER
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/self-test")

SECONDS = 180.0
"""How long PyTorch may take to load."""

SELF_TEST = """
import sys
sys.path.insert(0, sys.argv[1])
from attn_tutor.lessons.process import self_test
self_test.main()
"""


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """What a process of the worker found.

    Attributes:
        torch: the version of PyTorch, "" if it does not load.
        torch_error: why it does not load, in the words of Python.
        torch_seconds: how long it took to load.
        torch_computes: whether a product of two matrices came out right.
        cuda: the version of CUDA that it was built for, "" for a build without.
        landlock: the version of Landlock, 0 if there is none.
        system_calls: whether system calls of programs are filtered.
        shared_memory: whether programs have a folder for shared memory of their own.
    """

    torch: str = ""
    torch_error: str = ""
    torch_seconds: float = 0.0
    torch_computes: bool = False
    cuda: str = ""
    landlock: int = 0
    system_calls: bool = False
    shared_memory: bool = False


def worker_facts(seconds: float = SECONDS) -> WorkerFacts:
    """Run the self-test in a process of its own, which may take so many seconds, and return what it found."""
    # `-P` and the folder keep a file called torch.py from being found in the current folder.
    command = [sys.executable, "-P", "-c", SELF_TEST, IMPORT_FOLDER]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, cwd="/")
        return WorkerFacts(**json.loads(done.stdout))
    except subprocess.TimeoutExpired:
        return WorkerFacts(torch_error=say("too-slow", "not within {seconds:g} seconds", seconds=seconds))
    except OSError as error:
        return WorkerFacts(torch_error=str(error))
    except (ValueError, TypeError):
        lines = done.stderr.strip().splitlines() or [say("no-word", "it ended without a word")]
        return WorkerFacts(torch_error=lines[-1])
