"""The spare process, for systems where fork is unsafe (macOS) or refused: it is started early and does one job itself.

It imports torch and waits for a job, while the parent starts the next spare process. The parent kills it. If the
parent is gone, a thread ends the process; a thread is harmless here, since nothing forks.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
import threading

from lessons.worker import channel, child_exit_codes, scratch_folders
from lessons.worker.fence import layers
from lessons.worker.messages import Launch, SpareReady
from lessons.worker.process import merged_memory, preload


def main(talk_fd: str, life_fd: str, scratch: str, limited: str) -> None:
    """Import torch, report `SpareReady`, do one job, and end. Descriptors 1 and 2 must already be the output files.

    `limited` is "1" if limits hold for the job, else "0".
    """
    talk, life = socket.socket(fileno=int(talk_fd)), socket.socket(fileno=int(life_fd))
    merged_memory.allow()
    shared = layers.enclose() if limited == "1" else None
    threading.Thread(target=_end_with, args=(life, scratch), daemon=True).start()
    code = child_exit_codes.BROKEN
    try:
        gc.disable()
        preload.load()
        merged_memory.take_on_environment()
        gc.enable()
        from lessons.worker.process import child

        channel.send(talk, SpareReady())
        child.set_up(channel.receive(talk, Launch), scratch, shared, limited=limited == "1")
        child.work(talk)
        code = 0
    except BaseException:
        with contextlib.suppress(BaseException):
            import traceback

            traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(code)


def _end_with(life: socket.socket, scratch: str) -> None:
    """End this process and its group when the parent's end of `life` closes, however the parent ended."""
    with contextlib.suppress(OSError):
        life.recv(1)
    # A parent that was killed has not removed the folder.
    scratch_folders.remove(scratch)
    with contextlib.suppress(OSError):
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(child_exit_codes.PARENT_GONE)
