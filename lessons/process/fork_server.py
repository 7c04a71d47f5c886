"""The fork server: it imports torch and `attention` once and forks a fresh child for every job.

It talks to its parent over one inherited socket. When that closes because the parent is gone, the server ends, and
kills its children and all processes that they started. Forking is safe only in a process that has exactly one thread
and has run no tensor operation (measured: after one 6x3 softmax with two threads, every later child hangs), so the
number of threads is checked before every fork.

One child is forked ahead, before there is a job for it, so that no learner waits for that: it warms up, and waits.
Files that children leave in the worker's shared memory are removed, since they take room from the next children.

The file descriptors that come with a `Launch` message are, in order: `talk` (the child's connection to the parent),
`status` (the server's connection for this child: `Exited` goes out, `SetIdle`, `Kill`, `Interrupt` or the end of the
stream comes in), `out` and `err` (files).
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import selectors
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from attn_tutor.lessons.format.template import Field
from attn_tutor.lessons.process import preload
from attn_tutor.lessons.worker import channel, messages, wire
from attn_tutor.lessons.worker.fence import layers, limits, processes, scratch_folders
from attn_tutor.lessons.worker.fence.linux import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, prctl
from attn_tutor.lessons.worker.message_parts import NamedExpression
from attn_tutor.lessons.worker.messages import (
    Exited,
    Interrupt,
    Kill,
    Launch,
    LoadFailed,
    ServerReady,
    SetIdle,
    StepReport,
)


def list_shared_files(folder: Path | None) -> frozenset[str]:
    """Return the names of the files in the folder for shared memory; none where the worker has none of its own."""
    with contextlib.suppress(OSError):
        return frozenset(os.listdir(folder)) if folder is not None else frozenset()
    return frozenset()


def sweep_shared_files(before: frozenset[str], folder: Path | None, *, folders: bool = False) -> None:
    """Remove the files of this user that were not there `before` and that no process uses; with `folders`, these too.

    Nobody can tell whether a folder is in use, so they are removed only when nothing runs.
    """
    new = list_shared_files(folder) - before
    if folder is None or not new:
        return
    used = _files_in_use(folder)
    for path in (folder / name for name in new):
        with contextlib.suppress(OSError):
            if str(path) in used or path.lstat().st_uid != os.getuid():
                continue
            if path.is_symlink() or not path.is_dir():
                path.unlink()
            elif folders:
                scratch_folders.remove(str(path))


def _files_in_use(folder: Path) -> set[str]:
    """Return the paths below a folder that processes of this user have open or mapped."""
    found: set[str] = set()
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            for link in os.listdir(process / "fd"):
                with contextlib.suppress(OSError):
                    found.add(os.readlink(process / "fd" / link))
        with contextlib.suppress(OSError):
            maps = (process / "maps").read_text(errors="replace").splitlines()
            found |= {line.split(maxsplit=5)[-1] for line in maps if f" {folder}/" in line}
    return found


WARM_UP = """
x = torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
scores = torch.zeros(3, 3)
for i, row in enumerate(x):
    for j, other in enumerate(x):
        scores[i, j] = row.dot(other)
scores = (x @ x.T).masked_fill(torch.ones(3, 3).triu(diagonal=1).bool(), -torch.inf)
weights = torch.softmax(scores / 2**0.5, dim=-1)
context = weights.view(1, 3, 3).transpose(1, 2) @ x
row = torch.stack([torch.dot(x[0], other) for other in x])
scores[0] = torch.cat((row[:2], row[2:])) @ torch.tensor(2.0).expand(3, 3)
total = (weights * (weights > 0.2)).sum(dim=-1, keepdim=True) - row.exp().mean()
largest, change = total.argmax().item(), (total - row).abs().max()
"""
WARM_UP_SHOWN = "weights", "context", "x.T"
WARM_UP_TOLD = Field("change", "", ".4f"), Field("tuple(x.shape)", "", "")
JOB_FDS = 3
DOOR_AHEAD, MOST_DESCRIPTORS = 200, 4096
"""A descriptor that only a child ahead has open, above those that a program may have; and the limit of descriptors."""


@dataclass(frozen=True, slots=True)
class ChildAhead:
    """A child that waits for its job, as the fork server sees it."""

    pid: int
    door: socket.socket
    scratch: str

    def launch(self, limits: Launch, fds: Sequence[int]) -> bool:
        """Let the child go on to its job, with the descriptors for it; False if the child is gone."""
        with self.door:
            try:
                channel.send(self.door, limits, fds)
            except wire.WireError:
                return False
        return True

    def end(self, wait: bool = True) -> bool:
        """Kill the child and clean up after it; with `wait=False` only if it is dead. Returns whether it is now."""
        if wait:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        if os.waitpid(self.pid, 0 if wait else os.WNOHANG) == (0, 0):
            return False
        self.door.close()
        scratch_folders.remove(self.scratch)
        return True


def wait_for_job() -> tuple[Launch, tuple[int, ...]]:
    """Warm up, and wait at `DOOR` for the limits and descriptors of the job. Ends this process if none will come."""
    # The rest is the fork server's: among it, its own end of this connection.
    os.closerange(3, DOOR_AHEAD)
    os.closerange(DOOR_AHEAD + 1, MOST_DESCRIPTORS)
    door = socket.socket(fileno=DOOR_AHEAD)
    warm_up()
    try:
        job = channel.receive_launch(door, JOB_FDS)
    except wire.WireError:
        os._exit(0)
    return job


def warm_up() -> None:
    """Run a few lines as a lesson is run, and throw the result away.

    The first run of a process takes twice as long as the second: it copies the pages of memory that it shares with the
    fork server, and PyTorch looks up each operation. This may only be done in a child, since it runs tensor operations.
    No generator of random numbers is used.
    """
    from attn_tutor.lessons.results.code_unit import CodeUnit
    from attn_tutor.lessons.worker.jobs.run_state import RunState

    state, unit, blob = RunState(), CodeUnit.internal("warm-up"), bytearray()
    failure = state.run(f"import torch\n{WARM_UP}", unit)
    assert failure is None, failure
    text, _ = state.fill(WARM_UP_TOLD)
    tensors, _ = state.show(unit, [NamedExpression(name, name) for name in WARM_UP_SHOWN], blob)
    channel.frame_of(StepReport("", None, (0, 0), tensors, text, tuple(state.lines), (), 0.0, bytes(blob)))


FDS = 4
TICK, IDLE_TICK = 0.2, 1.0
"""Seconds from one look at what the children use to the next, while a program of one runs, and while all wait."""
LINE_GRACE = 1.0
"""Seconds that a child gets to say at which line it is, and to end of that; most need a few milliseconds."""
MOST_PROCESSES = 32
SCRATCH_CAP = 256
"""MiB that a child and its processes may write to files at the same time, about."""
EXACT = 10
"""Each count of so many is taken while the child stands still, where it could move files from the uncounted ones."""
END_PATIENCE = 5.0
"""Seconds in which all processes of a run end that were killed; what waits for a broken disk does not."""
SETTLED = 0.05
"""Seconds without a request after which a child is forked ahead: not while the last one begins its job."""


@dataclass(slots=True)
class _Child:
    pid: int
    status: socket.socket
    scratch: str
    memory: int
    largest: int
    err: int
    shared: frozenset[str]
    busy: bool = True
    reason: str = ""
    ticks: int = -1
    looks: int = 0


class ForkServer:
    """A server that forks children on request, kills them on request, and cleans up after them."""

    def __init__(self, control: socket.socket, base: str, shared: Path | None = None, *, limited: bool = True) -> None:
        self.control = control
        self.limited = limited
        self.base = base
        self.shared = shared
        self.children: dict[int, _Child] = {}
        self.ahead: ChildAhead | None = None
        self.wants_ahead = True
        self.look_due = 0.0
        self.selector = selectors.DefaultSelector()
        self.selector.register(control, selectors.EVENT_READ)
        self.wake_read, self.wake_write = os.pipe()
        os.set_blocking(self.wake_read, False)
        os.set_blocking(self.wake_write, False)
        self.selector.register(self.wake_read, selectors.EVENT_READ)
        signal.set_wakeup_fd(self.wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Handle requests until the parent closes the control connection."""
        while True:
            ready = self.selector.select(self._timeout())
            if self.wants_ahead and not ready:
                self._fork_ahead()
            for key, _ in ready:
                if key.fileobj is self.control:
                    try:
                        self._fork(*channel.receive_launch(self.control, FDS))
                    except wire.WireError:
                        return
                elif key.fileobj == self.wake_read:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self.wake_read, 4096)
                elif isinstance(key.data, _Child):
                    self._hear(key.data)
            for child in list(self.children.values()):
                self._bury_if_dead(child)
            self._look()
            if self.ahead is not None and self.ahead.end(wait=False):
                self.ahead = None

    def _timeout(self) -> float | None:
        """Return the seconds after which there is something to do, None if there is not before something is heard."""
        timeouts = [SETTLED] if self.wants_ahead else []
        if self.limited and self.children:
            timeouts.append(max(0.0, self.look_due - time.monotonic()))
        return min(timeouts, default=None)

    def close(self) -> None:
        """Kill all children and clean up after them."""
        if self.ahead is not None:
            self.ahead.end()
            self.ahead = None
        for child in list(self.children.values()):
            self._kill(child)
            self._bury_if_dead(child, wait=True)

    def _fork(self, launch: Launch, fds: tuple[int, ...]) -> None:
        talk, status, out, err = fds
        if threads() != 1:
            _refuse(fds, "more than one thread")
            return
        shared = list_shared_files(self.shared)
        ahead, self.ahead, self.wants_ahead = self.ahead, None, True
        if ahead is not None and ahead.launch(launch, (talk, out, err)):
            pid, scratch = ahead.pid, ahead.scratch
        else:
            if ahead is not None:
                ahead.end()
            try:
                scratch = tempfile.mkdtemp(dir=self.base)
            except OSError:
                _refuse(fds, "no folder")
                return
            parent = os.getpid()
            try:
                pid = os.fork()
            except OSError:
                scratch_folders.remove(scratch)
                _refuse(fds, "no process")
                return
            if pid == 0:
                self._become_child(lambda: (launch, (talk, out, err)), scratch, parent)
        for fd in (talk, out):
            os.close(fd)
        largest = max(limits.OUTPUT_CAP, launch.file * limits.MIB)
        entry = _Child(pid, socket.socket(fileno=status), scratch, launch.memory, largest, err, shared)
        self.children[pid] = entry
        self.look_due = max(self.look_due, time.monotonic() + TICK)
        self.selector.register(entry.status, selectors.EVENT_READ, entry)

    def _fork_ahead(self) -> None:
        """Fork a child that warms up and waits for its job; if it fails, the next job is forked when it comes."""
        self.wants_ahead = False
        if threads() != 1:
            return
        try:
            door, their_door = socket.socketpair()
        except OSError:
            return
        try:
            scratch = tempfile.mkdtemp(dir=self.base)
        except OSError:
            door.close()
            their_door.close()
            return
        parent = os.getpid()
        pid = -1
        with contextlib.suppress(OSError), their_door:
            os.dup2(their_door.fileno(), DOOR_AHEAD)
            pid = os.fork()
        if pid == 0:
            self._become_child(wait_for_job, scratch, parent)
        with contextlib.suppress(OSError):
            os.close(DOOR_AHEAD)
        if pid < 0:
            door.close()
            scratch_folders.remove(scratch)
            return
        self.ahead = ChildAhead(pid, door, scratch)

    def _become_child(self, job: Callable[[], tuple[Launch, tuple[int, ...]]], scratch: str, parent: int) -> NoReturn:
        """Be a child of the server: wait until `job` says with which limits and descriptors, and do it."""
        code = messages.EXIT_BROKEN
        try:
            from attn_tutor.lessons.process import child

            os.setsid()
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            prctl(PR_SET_CHILD_SUBREAPER, 1)
            if os.getppid() != parent:
                os._exit(code)
            signal.set_wakeup_fd(-1)
            launch, fds = job()
            # First move them out of the way of 1, 2 and 3, then into place; no number may be too high.
            talk, out, err = (fcntl.fcntl(fd, fcntl.F_DUPFD, child.TALK + 1) for fd in fds)
            os.dup2(out, 1)
            os.dup2(err, 2)
            os.dup2(talk, child.TALK)
            os.closerange(child.TALK + 1, 4096)
            # Keep the connection open to the end: when it closes, the parent kills us, and the exit code is lost.
            connection = socket.socket(fileno=child.TALK)
            child.set_up(launch, scratch, self.shared, limited=self.limited)
            child.work(connection)
            code = 0
        except BaseException:
            with contextlib.suppress(BaseException):
                import traceback

                traceback.print_exc()
        finally:
            # A normal exit takes 0.4 s, and can hang in threads or handlers that the code left behind.
            os._exit(code)

    def _hear(self, child: _Child) -> None:
        try:
            request = channel.receive(child.status, SetIdle, Kill, Interrupt, deadline=time.monotonic() + 1)
        except (wire.WireError, TimeoutError):
            # A stream that has ended is ready to be read without end.
            self.selector.unregister(child.status)
            self._kill(child)
            return
        if isinstance(request, SetIdle):
            self._set_idle(child, request.idle)
        elif isinstance(request, Interrupt):
            # A child that has ended is not waited for yet, so its number is nobody else's.
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGINT)
        else:
            self._kill(child, ask_line=True)

    def _kill(self, child: _Child, ask_line: bool = False) -> None:
        if ask_line:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGUSR1)
            until = time.monotonic() + LINE_GRACE
            # The line is written piece by piece, and the signal ends the child only when all of it is there.
            while not _has_ended(child.pid) and time.monotonic() < until:
                time.sleep(0.002)
        # Kill by pid as well as by group: the group may not exist yet.
        for kill in (os.kill, os.killpg):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(child.pid, signal.SIGKILL)

    def _set_idle(self, child: _Child, idle: bool) -> None:
        """Note whether a child only waits for questions. What its program has started stands still meanwhile."""
        child.busy, child.ticks = not idle, -1
        if self.limited and idle:
            processes.stop(lambda: processes.descendants(child.pid))
        elif self.limited:
            processes.send(processes.descendants(child.pid), signal.SIGCONT)
            self.look_due = 0.0

    def _look(self) -> None:
        """Look at what the children use, if that is due."""
        if not self.limited or time.monotonic() < self.look_due:
            return
        # What leaves its run comes to this process, and is no run's any more.
        processes.end_left_over(self._own(), END_PATIENCE)
        for child in self.children.values():
            # One that was killed may take a while to end, and uses nothing any more.
            if not child.reason and (child.busy or self._has_moved(child)):
                child.reason = self._excess(child)
                if child.reason:
                    self._kill(child)
        busy = any(child.busy for child in self.children.values())
        self.look_due = time.monotonic() + (TICK if busy else IDLE_TICK)

    def _has_moved(self, child: _Child) -> bool:
        """Return whether a child that waits, or what it has started, has done something since the last look.

        Its program may have left threads. Processes that these have started, or that have gone on, are stopped.
        """
        stopped = processes.stop(lambda: processes.descendants(child.pid))
        before, child.ticks = child.ticks, sum(map(processes.ticks, [child.pid, *stopped]))
        return child.ticks != before

    def _excess(self, child: _Child) -> str:
        """Return of what a child has too much, with its processes: limits apply to each of them, not to the total."""
        below = processes.descendants(child.pid)
        if len(below) > MOST_PROCESSES:
            return "processes"
        started = [*map(processes.living, below)]
        every = [processes.living(child.pid), *started]
        lists = [*map(processes.maps, every)]
        if any(map(processes.hidden, every)) or max(map(len, lists)) > processes.LONGEST_MAPS:
            return "hidden"
        maps = processes.mapped(lists)
        if processes.memory(started) + processes.unseen_memory(every, maps) > child.memory * limits.MIB:
            return "memory"
        kept = scratch_folders.kept_open(every, maps, child.largest, self.shared)
        return "files" if self._has_too_many_files(child, SCRATCH_CAP * limits.MIB - kept) else ""

    def _has_too_many_files(self, child: _Child, room: int) -> bool:
        found = scratch_folders.content(child.scratch, room)
        child.looks += 1
        if not found.complete or (found.entries and child.looks % EXACT == 0):
            # Nobody moves files from where they have not been counted yet to where they have been.
            stopped = processes.stop(lambda: [child.pid, *processes.descendants(child.pid)])
            found = scratch_folders.content(child.scratch, room)
            processes.send(stopped if child.busy else [child.pid], signal.SIGCONT)
        return found.bytes > room or found.entries > scratch_folders.MOST_FILES

    def _bury_if_dead(self, child: _Child, wait: bool = False) -> None:
        if not _has_ended(child.pid, wait):
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        _, status, used = os.wait4(child.pid, 0)
        del self.children[child.pid]
        # Before anything is removed: those that live could move it meanwhile.
        ended = processes.end_left_over(self._own(), END_PATIENCE)
        with contextlib.suppress(KeyError):
            self.selector.unregister(child.status)
        code, cpu = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        with contextlib.suppress(wire.WireError):
            channel.send(child.status, Exited(code, child.reason, cpu))
        child.status.close()
        os.close(child.err)
        if ended:
            scratch_folders.remove(child.scratch)
        # Where nothing runs, nothing can be in use.
        sweep_shared_files(child.shared if self.children else frozenset(), self.shared, folders=not self.children)

    def _own(self) -> set[int]:
        """Return the children of this process that it has forked itself."""
        return {*self.children, self.ahead.pid if self.ahead is not None else 0}


def _refuse(fds: tuple[int, ...], reason: str) -> None:
    """Report that no child could be forked for a job, and close the descriptors that came with it."""
    talk, status, out, err = fds
    with contextlib.suppress(wire.WireError), socket.socket(fileno=status) as connection:
        channel.send(connection, Exited(-signal.SIGKILL, reason, 0.0))
    for fd in (talk, out, err):
        os.close(fd)


def _has_ended(pid: int, wait: bool = False) -> bool:
    """Return whether a child has ended, or wait until it has; its number stays its own."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | (0 if wait else os.WNOHANG)) is not None


def threads() -> int:
    """Count the threads of this process."""
    return len(os.listdir("/proc/self/task"))


def main(control_fd: str, base: str, limited: str) -> None:
    """Import the modules that children need, report `ServerReady`, and serve. No tensor operation may run here.

    `limited` is "1" if limits hold for the children, else "0".
    """
    control = socket.socket(fileno=int(control_fd))
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    if threads() != 1:
        # The user's Python starts some. A process with threads can neither fork nor put on all layers.
        channel.send(control, ServerReady(threads()))
        return
    preload.allow_merged_memory()
    shared = layers.enclose() if limited == "1" else None
    # When the parent ends, a server that somebody has stopped goes on, and sees it. (A namespace of its own has the
    # kernel forget what was said about that before.)
    prctl(PR_SET_PDEATHSIG, signal.SIGCONT)
    gc.disable()
    try:
        preload.load()
    except BaseException as error:
        channel.send(control, LoadFailed(f"{type(error).__name__}: {error}"))
        return
    preload.take_on_environment()
    gc.freeze()
    gc.enable()
    server = ForkServer(control, base, shared, limited=limited == "1")
    try:
        channel.send(control, ServerReady(threads()))
        server.serve()
    except wire.Closed:
        pass
    finally:
        server.close()
        scratch_folders.remove(base)
