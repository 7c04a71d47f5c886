"""The spare process, for systems where fork is unsafe (macOS) or refused: it is started early and does one job itself.

What the parent starts is its keeper, which forks the spare process before anything has been loaded that a fork could
harm. The spare process imports torch and waits for a job, while the parent starts the next one. The keeper waits until
it has ended, or ends it when the parent's end of `life` closes, however the parent ended. In either case, it ends all
processes that the job has left, where the system lists them, removes the folder, and ends in the same way.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import select
import signal
import socket
import sys
from types import FrameType
from typing import NoReturn

from attn_tutor.lessons.process import preload
from attn_tutor.lessons.worker import channel, messages
from attn_tutor.lessons.worker.fence import layers, processes, scratch_folders
from attn_tutor.lessons.worker.fence.linux import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, prctl
from attn_tutor.lessons.worker.messages import Launch, SpareReady

END_PATIENCE = 3.0
"""Seconds in which all processes of a job end that were killed."""


def main(talk_fd: str, life_fd: str, scratch: str, limited: str) -> None:
    """Start a spare process, keep it, and end with it. Descriptors 1 and 2 must already be the output files.

    `limited` is "1" if limits hold for the job, else "0".
    """
    talk, life = socket.socket(fileno=int(talk_fd)), socket.socket(fileno=int(life_fd))
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    # When the parent ends, a keeper that somebody has stopped goes on, and sees it.
    prctl(PR_SET_PDEATHSIG, signal.SIGCONT)
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        life.close()
        _be_spare(talk, scratch, keeper, limited=limited == "1")
    talk.close()
    status = _keep(pid, life)
    if processes.end_left_over((), END_PATIENCE):
        scratch_folders.remove(scratch)
    _end_like(status)


def _keep(pid: int, life: socket.socket) -> int:
    """Wait until a spare process has ended, or end it when `life` closes; returns how it ended (wait(2))."""

    def pass_on(number: int, _: FrameType | None) -> None:
        # It is not waited for before this has ended, so its number is nobody else's.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    heard, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, pass_on)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        ready, _, _ = select.select([life.fileno(), heard], [], [])
        if life.fileno() in ready:
            break
        os.read(heard, 4096)
    for number in (signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def _end_like(status: int) -> NoReturn:
    """End this process in the way in which another one has ended."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


def _be_spare(talk: socket.socket, scratch: str, keeper: int, *, limited: bool) -> NoReturn:
    """Import torch, report `SpareReady`, do one job, and end."""
    code = messages.EXIT_BROKEN
    try:
        preload.allow_merged_memory()
        shared = layers.enclose() if limited else None
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        # A namespace of its own has the kernel forget what was said about that before.
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != keeper:
            os._exit(messages.EXIT_PARENT_GONE)
        gc.disable()
        preload.load()
        preload.take_on_environment()
        gc.enable()
        from attn_tutor.lessons.process import child

        channel.send(talk, SpareReady())
        child.set_up(channel.receive(talk, Launch), scratch, shared, limited=limited)
        child.work(talk)
        code = 0
    except BaseException:
        with contextlib.suppress(BaseException):
            import traceback

            traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(code)
