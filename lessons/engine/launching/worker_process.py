"""Starting a process of the worker: its environment, and a layout of its memory that is the same for every learner."""

from __future__ import annotations

import contextlib
import json
import os
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import IO

from attn_tutor.lessons.engine.launching.host_limits import TooFewTasks
from attn_tutor.lessons.files import IMPORT_FOLDER
from attn_tutor.lessons.worker import messages
from attn_tutor.lessons.worker.fence.linux import ADDR_NO_RANDOMIZE, personality

_BOOT = """
import importlib, os, sys
sys.path.insert(0, sys.argv[1])
importlib.import_module("attn_tutor.lessons.reading.cut_bytecode").ignore()
os.nice(int(sys.argv[2]))
try:
    importlib.import_module(sys.argv[3]).main(*sys.argv[5:])
except BlockingIOError:
    sys.exit(int(sys.argv[4]))
"""

LOADING = (
    *("CUDA", "DYLD_", "GOMP_", "KMP_", "LD_", "MALLOC_", "MKL_", "OMP_", "OPENBLAS_", "PYTHON", "PYTORCH_", "TORCH_"),
    *("ATTN_TUTOR_", "LANG", "LC_", "PATH", "TZ"),
)
"""How the names of those variables begin that a worker needs to load; it takes on the others when it has loaded."""


def environment() -> dict[str, str]:
    """Return the environment of worker processes: one torch thread, no warnings, no imports from the current folder."""
    # With one thread, timings on a shared host vary ten times less.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    # With huge pages, a child starts and ends in half the time. Where glibc or the kernel has none, nothing changes.
    tunables = ":".join(filter(None, (os.environ.get("GLIBC_TUNABLES"), "glibc.malloc.hugetlb=1")))
    return {
        **os.environ,
        **threads,
        "GLIBC_TUNABLES": tunables,
        "PYTHONSAFEPATH": "1",
        "PYTHONWARNINGS": "ignore",
        # Sets of text lie in the same order in the memory of every learner's worker: see `same_layout`.
        "PYTHONHASHSEED": "0",
    }


def loading_environment() -> dict[str, str]:
    """Return the part of `environment` with which a worker loads.

    A name of a learner that is longer than another's would move all that lies behind it in memory.
    """
    found = {name: value for name, value in environment().items() if name.startswith((*LOADING, "GLIBC_"))}
    # Python looks there for packages of this user, even where it then uses none.
    packages = site.ENABLE_USER_SITE and site.getusersitepackages() in sys.path
    return {**found, "HOME": os.path.expanduser("~") if packages else os.sep}


def spawn(
    module: str, arguments: list[str], fds: list[int], nice: int, out: IO[bytes], err: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Run `main(*arguments)` of a module in `lessons.process`, in a process, session and group of its own.

    `-P` keeps the current directory off the path, where a file called torch.py may lie. Standard input is what the
    process takes on as its environment once it has loaded. Raises `TooFewTasks`.
    """
    main = f"attn_tutor.lessons.process.{module}"
    command = [sys.executable, "-P", "-c", _BOOT, IMPORT_FOLDER, str(nice), main, str(messages.EXIT_NO_PROCESS)]
    with tempfile.TemporaryFile() as rest, same_layout():
        rest.write(json.dumps(environment()).encode())
        rest.seek(0)
        try:
            return subprocess.Popen(
                [*command, *arguments],
                stdin=rest,
                stdout=out,
                stderr=err,
                pass_fds=fds,
                start_new_session=True,
                env=loading_environment(),
                cwd="/",
            )
        except BlockingIOError:
            raise TooFewTasks from None


@contextlib.contextmanager
def same_layout() -> Iterator[None]:
    """Have the system put the memory of a process that this thread starts at the same addresses each time.

    Pages of different learners' workers are then equal, pointers and all, and a host that merges equal pages keeps each
    of them once. Does nothing where there is no such setting.
    """
    before = personality(lambda now: now | ADDR_NO_RANDOMIZE)
    try:
        yield
    finally:
        if before is not None:
            personality(lambda _: before)
