"""The launcher where fork is unsafe (macOS) or refused: a warm process that takes one job, in itself.

It has torch imported and waits for a job; the parent keeps one more warming behind it. The parent kills it. Its life
line is a thread that ends the process when the parent is gone; a thread is harmless here, since nothing forks.
"""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import socket
import sys
import threading

from lessons.worker import channel, exit_codes
from lessons.worker.messages import Launch, SpareReady


def main(talk_fd: str, life_fd: str, scratch: str) -> None:
    """Import, say `ready`, take one job, end. Descriptors 1 and 2 are the output files already."""
    talk, life = socket.socket(fileno=int(talk_fd)), socket.socket(fileno=int(life_fd))
    threading.Thread(target=_end_with, args=(life, scratch), daemon=True).start()
    code = exit_codes.BROKEN
    try:
        gc.disable()
        from lessons.worker.process import fork_server

        fork_server.load()
        gc.enable()
        from lessons.worker.process import child

        channel.send(talk, SpareReady())
        child.set_up(channel.receive(talk, Launch), scratch)
        child.work(talk)
        code = 0
    except BaseException:
        with contextlib.suppress(BaseException):
            import traceback

            traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(code)


def _end_with(life: socket.socket, scratch: str) -> None:
    """End this process and its group when the parent's end of `life` closes, however the parent went."""
    with contextlib.suppress(OSError):
        life.recv(1)
    # The parent cleans up after itself, unless it was killed.
    shutil.rmtree(scratch, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(exit_codes.PARENT_GONE)
