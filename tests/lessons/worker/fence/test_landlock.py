"""Landlock, in processes of their own, since it holds for good."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from attn_tutor.lessons.worker.advice import advice
from attn_tutor.lessons.worker.fence import landlock

ROOT = Path(__file__).parents[4]
NO_SHARED_MEMORY = (
    "On this system, code in the tutor has no shared memory, so its processes cannot share tensors, locks or queues."
)


def test_a_missing_landlock_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class OldKernel:
        """A kernel without the system call."""

        def syscall(self, *args: object) -> int:
            return -1

    monkeypatch.setattr(landlock, "libc", OldKernel)
    assert landlock.confine("/nowhere") is False


@pytest.mark.skipif(landlock.version() < 1, reason="this kernel has no Landlock")
def test_without_a_folder_of_its_own_a_process_has_no_shared_memory(tmp_path: Path) -> None:
    """What it left in /dev/shm, which it would share with all programs, would stay."""
    program = f"""
import multiprocessing, os
from attn_tutor.lessons.worker.fence import landlock
assert landlock.confine({str(tmp_path)!r})
open({str(tmp_path / "mine")!r}, "w").close()
multiprocessing.Lock()
"""
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert run.stderr.endswith("PermissionError: [Errno 13] Permission denied\n"), run.stderr
    assert "synchronize.py" in run.stderr
    assert (tmp_path / "mine").exists()


TORCH = (
    "raise RuntimeError('unable to open shared memory object </torch_1_2_0> in read-write mode: "
    "Permission denied (13)')"
)
LOCK = "raise PermissionError(13, 'Permission denied')"


@pytest.mark.skipif(landlock.version() < 1, reason="this kernel has no Landlock")
@pytest.mark.parametrize(("program", "file"), [(TORCH, "answer"), (LOCK, "/usr/lib/multiprocessing/synchronize.py")])
def test_missing_shared_memory_is_explained(program: str, file: str) -> None:
    """The messages are those of torch 2.13 for `share_memory_` and of Python for a lock."""
    with pytest.raises((RuntimeError, PermissionError)) as raised:
        exec(compile(program, file, "exec"), {})
    said = advice(raised.value, "answer", "")
    assert said is not None
    assert said.text == NO_SHARED_MEMORY
