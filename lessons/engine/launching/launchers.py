"""Launchers for children of the worker: the fork server, or spare processes where fork is not safe.

Both return a `ChildProcess`: a connection to talk over, the files that hold the program's output, and a way to end it.
Where no process can be started, or load PyTorch, they raise why.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol

from attn_tutor.lessons.engine.launching import host_limits
from attn_tutor.lessons.engine.launching.host_limits import TooFewTasks
from attn_tutor.lessons.engine.launching.worker_process import spawn
from attn_tutor.lessons.format.lesson import Limits
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.code_unit import learner_line
from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel, messages, wire
from attn_tutor.lessons.worker.fence import scratch_folders
from attn_tutor.lessons.worker.messages import (
    Exited,
    Interrupt,
    Kill,
    Launch,
    LoadFailed,
    ServerReady,
    SetIdle,
    SpareReady,
)

say = Wording("engine/starting")


@contextlib.contextmanager
def refusals_named() -> Iterator[None]:
    """Raise `WorkerError` for what the system refuses while a process is started: room on a disk, a file, memory."""
    try:
        yield
    except OSError as error:
        reason = ": ".join(str(part) for part in (error.filename, error.strerror or error) if part)
        sentence = say(
            "not-started", "The worker cannot be started ({reason}). To see what is wrong here: {command}",
            reason=clean(reason, keep=""), command="attn-tutor doctor",
        )  # fmt: skip
        raise WorkerError(sentence) from error


def slow_load(timeout: float) -> WorkerError:
    """Return the error that PyTorch has not loaded in so many seconds."""
    sentence = say.count(
        "slow-load",
        round(timeout),
        "PyTorch did not load within {count} second.",
        "PyTorch did not load within {count} seconds.",
    )
    return WorkerError(sentence)


def load_failed(why: str) -> WorkerError:
    """Return the error that importing PyTorch has failed, which says why and what to do."""
    from attn_tutor.lessons.engine.launching.reinstalling import (
        reinstall_command,  # only now: it reads what is installed
    )

    sentence = say(
        "load-failed", "PyTorch could not be loaded: {why}. To install it again: {command}",
        why=why.rstrip(".\n"), command=reinstall_command("torch"),
    )  # fmt: skip
    return WorkerError(sentence)


def ended_while_loading(log: str) -> WorkerError:
    """Return the error that the worker ended, as it does where a library of PyTorch or memory was cut short."""
    from attn_tutor.lessons.engine.launching.reinstalling import (
        reinstall_command,  # only now: it reads what is installed
    )

    ended = say("ended-loading", "The worker process ended while it loaded PyTorch.")
    remedy = say(
        "ended-again", "If it does so again, PyTorch may be damaged. To install it again: {command}",
        command=reinstall_command("torch"),
    )  # fmt: skip
    return WorkerError(" ".join(filter(None, [ended, log, remedy])))


START_LIMIT = 180.0
END_LIMIT = 5.0
LAST_WORDS = 1.0
"""Seconds in which a child that has closed its connection may end by itself, or one that is asked say its line."""
TRACE = "(most recent call first)"
OUTPUT_SHOWN = 64 * 1024


class ForkUnsafe(WorkerError):
    """The fork server has more than one thread, so that its children could hang."""


class ChildProcess(ABC):
    """One child, as the parent sees it."""

    def __init__(self, talk: socket.socket, out: IO[bytes], err: IO[bytes]) -> None:
        self.talk, self.out, self.err = talk, out, err
        self._exit: Exited | None = None
        self._lock = threading.Lock()

    @abstractmethod
    def set_idle(self, idle: bool) -> None:
        """Set whether the child only waits for questions from now on, or runs a program."""

    @abstractmethod
    def interrupt(self) -> None:
        """Interrupt the program that it runs, as Ctrl+C would; the program may go on after that."""

    def end(self, ask_line: bool = False) -> Exited:
        """Kill the child, if it is still alive, with all processes that it started. Returns how it ended.

        With `ask_line`, the child first writes the line that it is at to `err`. May be called repeatedly and from
        several threads; `out` and `err` remain readable.
        """
        with self._lock:
            if self._exit is None:
                self._exit = self._end(ask_line)
            return self._exit

    @abstractmethod
    def _end(self, ask_line: bool) -> Exited: ...

    def close(self) -> None:
        """End the child and close `out` and `err`."""
        self.end()
        self.out.close()
        self.err.close()


class Launcher(Protocol):
    """A way to start children.

    Attributes:
        limited: whether limits hold for them.
    """

    limited: bool

    def start(self) -> None:
        """Begin to load PyTorch; returns at once."""

    def wait_ready(self, timeout: float = START_LIMIT) -> None:
        """Wait until children can be started. Raises `WorkerError`."""

    @property
    def ready(self) -> bool:
        """Whether a child would start at once."""

    def launch(self, limits: Limits, question_cpu: float = 0) -> ChildProcess:
        """Return a fresh child that waits for its job on `talk`. Raises `WorkerError`.

        `question_cpu`: processor seconds for questions after its program has run, on top of `limits`.
        """

    def close(self) -> None:
        """End the launcher, and all children with it."""


def make_launcher(kind: str = "", nice: int = 0, *, limited: bool = True) -> Launcher:
    """Return the launcher for this system; `kind` (`fork_server`, `spare_process`) overrides the choice.

    Without `limited`, no limits hold for the children.
    """
    kind = kind or ("fork_server" if sys.platform == "linux" and Path("/proc/self/task").is_dir() else "spare_process")
    maker = ForkServerLauncher if kind == "fork_server" else SpareLauncher
    return maker(nice, limited=limited)


def output(file: IO[bytes], start: int = 0, end: int | None = None) -> str:
    """Return the text that a program wrote between two byte positions of a file, at most `OUTPUT_SHOWN` bytes."""
    size = os.fstat(file.fileno()).st_size
    end = size if end is None else min(end, size)
    data = os.pread(file.fileno(), max(0, min(end - start, OUTPUT_SHOWN)), start)
    text = data.decode("utf-8", "replace")
    if end - start <= OUTPUT_SHOWN:
        return text
    return f"{text}\n{say('more-printed', '… (more was printed than is shown)')}\n"


def closed() -> WorkerError:
    """Return the error of a request to a worker that has been closed."""
    return WorkerError(say("closed", "The worker has been closed."))


def line_of(job: ChildProcess) -> int | None:
    """Return the learner's line from the trace that faulthandler wrote to standard error, None if there is none."""
    # Only the last trace by faulthandler counts: a program may print traces of its own.
    size = os.fstat(job.err.fileno()).st_size
    _, header, trace = output(job.err, max(0, size - OUTPUT_SHOWN)).rpartition(TRACE)
    return learner_line(trace) if header else None


def _output_files(folder: str) -> tuple[IO[bytes], IO[bytes]]:
    """Open files for a program's output. They need no reader, as pipes would, and their size limit stops a flood."""
    return tempfile.TemporaryFile(dir=folder, buffering=0), tempfile.TemporaryFile(dir=folder, buffering=0)


# The fork server ---------------------------------------------------------------------------------------------------


class ForkedChild(ChildProcess):
    """A child of the fork server. Only the server may kill it: as its parent, it knows that the pid is still valid."""

    def __init__(self, talk: socket.socket, status: socket.socket, out: IO[bytes], err: IO[bytes]) -> None:
        super().__init__(talk, out, err)
        self.status = status

    def set_idle(self, idle: bool) -> None:
        """See `ChildProcess`."""
        with contextlib.suppress(wire.WireError):
            channel.send(self.status, SetIdle(idle))

    def interrupt(self) -> None:
        """See `ChildProcess`."""
        with contextlib.suppress(wire.WireError, OSError):
            channel.send(self.status, Interrupt())

    def _end(self, ask_line: bool) -> Exited:
        found = self._ended(ask_line)
        with contextlib.suppress(OSError):
            # Closing alone would not wake a thread that waits for it.
            self.talk.shutdown(socket.SHUT_RDWR)
        self.talk.close()
        self.status.close()
        return found

    def _ended(self, ask_line: bool) -> Exited:
        if not ask_line and _hung_up(self.talk):
            # The child is about to end by itself, and its own exit code says more than a SIGKILL would.
            with contextlib.suppress(OSError, ValueError):
                select.select([self.status], [], [], LAST_WORDS)
        with contextlib.suppress(wire.WireError, OSError):
            if ask_line:
                channel.send(self.status, Kill())
            else:
                self.status.shutdown(socket.SHUT_WR)
        try:
            return channel.receive(self.status, Exited, deadline=time.monotonic() + END_LIMIT)
        except (wire.WireError, TimeoutError):
            return Exited(-signal.SIGKILL, "lost", 0.0)


def _hung_up(talk: socket.socket) -> bool:
    """Return whether the other end of a connection is closed, with nothing left to read."""
    try:
        # recv alone would wait for the timeout of the connection, whatever its flags.
        readable, _, _ = select.select([talk], [], [], 0)
        return bool(readable) and talk.recv(1, socket.MSG_PEEK) == b""
    except (OSError, ValueError):
        return True


class ForkServerLauncher:
    """The fork server, seen from the parent. A launch that finds it gone restarts it, once."""

    def __init__(self, nice: int = 0, *, limited: bool = True) -> None:
        self.nice, self.limited = nice, limited
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._base = ""
        self._log: IO[bytes] | None = None
        self._ready = False
        self._lock = threading.RLock()
        # Held while PyTorch loads, so that one thread waits for it; `close` does not need it.
        self._waiting = threading.Lock()

    def start(self) -> None:
        """See `Launcher`."""
        with self._lock, refusals_named():
            if self._process is None:
                self._start()

    def _start(self) -> None:
        host_limits.check_open_files()
        host_limits.check_address_space()
        self._base = scratch_folders.make_base()
        try:
            self._log, process, ours = self._spawned(self._base)
        except BaseException:
            scratch_folders.remove(self._base)
            raise
        self._process, self._control, self._ready = process, ours, False

    def _spawned(self, base: str) -> tuple[IO[bytes], subprocess.Popen[bytes], socket.socket]:
        """Start the server, which makes its folders in `base`; return its log, it, and our connection to it."""
        ours, theirs = socket.socketpair()
        fd = theirs.fileno()
        arguments = [str(fd), base, str(int(self.limited))]
        with contextlib.ExitStack() as undo, theirs:
            undo.enter_context(ours)
            log = undo.enter_context(tempfile.TemporaryFile(dir=base, buffering=0))
            process = spawn("fork_server", arguments, [fd], self.nice, log, log)
            undo.pop_all()
        return log, process, ours

    @property
    def pid(self) -> int | None:
        """Process id of the fork server, None if there is none."""
        return self._process.pid if self._process is not None else None

    @property
    def ready(self) -> bool:
        """See `Launcher`."""
        return self._ready

    def wait_ready(self, timeout: float = START_LIMIT) -> None:
        """See `Launcher`."""
        with self._waiting:
            with self._lock:
                self.start()
                if self._ready:
                    return
                control = self._control
            assert control is not None
            try:
                self._hear(control, timeout)
            except WorkerError:
                # The next call then starts a new server.
                self.close()
                raise
            with self._lock:
                self._ready = self._control is control

    def _hear(self, control: socket.socket, timeout: float) -> None:
        """Wait until the server reports that PyTorch is loaded. Raises `WorkerError`."""
        try:
            report = channel.receive(control, ServerReady, LoadFailed, deadline=time.monotonic() + timeout)
        except TimeoutError:
            raise slow_load(timeout) from None
        except wire.WireError:
            raise self._ended_while_loading() from None
        if isinstance(report, LoadFailed):
            raise load_failed(report.message)
        if report.threads != 1:
            raise ForkUnsafe(f"The fork server has {report.threads} threads.")

    def _ended_while_loading(self) -> WorkerError:
        process, code = self._process, None
        if process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(END_LIMIT)
        return TooFewTasks() if code == messages.EXIT_NO_PROCESS else ended_while_loading(self._last_words())

    def _last_words(self) -> str:
        """Return the last line that the server has written to its log."""
        # `close` may run in another thread, and closes the log.
        with self._lock:
            log = self._log
            lines = output(log).strip().splitlines() if log is not None and not log.closed else []
        return lines[-1] if lines else ""

    def launch(self, limits: Limits, question_cpu: float = 0) -> ChildProcess:
        """See `Launcher`."""
        with refusals_named():
            try:
                return self._launch(limits, question_cpu)
            except (wire.Closed, FileNotFoundError):
                # The server was killed under us (by hand, or by the system when memory ran out), or its folder was
                # removed by who looks for old temporary files.
                self.close()
                return self._launch(limits, question_cpu)

    def _launch(self, limits: Limits, question_cpu: float) -> ChildProcess:
        self.wait_ready()
        with self._lock:
            if self._control is None:
                raise closed()
            out, err = _output_files(self._base)
            talk, their_talk = socket.socketpair()
            status, their_status = socket.socketpair()
            fds = [their_talk.fileno(), their_status.fileno(), out.fileno(), err.fileno()]
            with their_talk, their_status:
                try:
                    channel.send(self._control, Launch(limits.cpu, limits.memory, question_cpu, limits.file), fds)
                except BaseException:
                    for ours in (talk, status, out, err):
                        ours.close()
                    raise
        return ForkedChild(talk, status, out, err)

    def close(self) -> None:
        """See `Launcher`."""
        with self._lock:
            if self._process is None:
                return
            if self._control is not None:
                # A thread that waits for the server sees the end of the stream.
                with contextlib.suppress(OSError):
                    self._control.shutdown(socket.SHUT_RDWR)
                self._control.close()
            if not self._ready:
                # The server has no children yet, and reads no messages before PyTorch is loaded.
                self._process.kill()
            # Somebody may have stopped it.
            self._process.send_signal(signal.SIGCONT)
            try:
                self._process.wait(END_LIMIT)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            if self._log is not None:
                self._log.close()
            scratch_folders.remove(self._base)
            self._process, self._control, self._ready = None, None, False


# Spare processes ---------------------------------------------------------------------------------------------------


class SpareChild(ChildProcess):
    """A process that loads PyTorch ahead of time, then takes one job."""

    def __init__(self, nice: int, *, limited: bool) -> None:
        self._scratch = scratch_folders.make_base()
        with contextlib.ExitStack() as undo:
            undo.callback(scratch_folders.remove, self._scratch)
            out, err = map(undo.enter_context, _output_files(self._scratch))
            talk, their_talk = socket.socketpair()
            undo.enter_context(talk)
            with their_talk:
                self._life, their_life = socket.socketpair()
                undo.enter_context(self._life)
                with their_life:
                    fds = [their_talk.fileno(), their_life.fileno()]
                    arguments = [*map(str, fds), self._scratch, str(int(limited))]
                    self._process = spawn("spare_process", arguments, fds, nice, out, err)
            undo.pop_all()
        super().__init__(talk, out, err)
        self.ready = False

    def wait_ready(self, timeout: float) -> None:
        """Wait until the process has loaded PyTorch. Raises `WorkerError`."""
        if self.ready:
            return
        try:
            channel.receive(self.talk, SpareReady, deadline=time.monotonic() + timeout)
        except TimeoutError:
            raise slow_load(timeout) from None
        except wire.WireError:
            lines = output(self.err).strip().splitlines()
            why = lines[-1] if lines else say("no-reason", "no reason given")
            raise load_failed(why) from None
        self.ready = True

    def set_idle(self, idle: bool) -> None:
        """Do nothing: a spare process is bounded by its own limits only, so nobody needs to know."""

    def interrupt(self) -> None:
        """See `ChildProcess`."""
        self._process.send_signal(signal.SIGINT)

    def _end(self, ask_line: bool) -> Exited:
        if ask_line and self._process.poll() is None:
            self._process.send_signal(signal.SIGUSR1)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(LAST_WORDS)
        self.talk.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0 if ask_line else 0.05)
        # Now its keeper ends it, with all processes that it has started, and removes its folder.
        self._life.close()
        try:
            self._process.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        scratch_folders.remove(self._scratch)
        return Exited(self._process.returncode, "", 0.0)


class SpareLauncher:
    """A launcher that keeps one warm process, and starts the next as soon as that one is taken."""

    def __init__(self, nice: int = 0, *, limited: bool = True) -> None:
        self.nice, self.limited = nice, limited
        self._warm: SpareChild | None = None
        self._lock = threading.RLock()
        # Held while PyTorch loads, so that one thread waits for it; `close` does not need it.
        self._waiting = threading.RLock()

    def start(self) -> None:
        """See `Launcher`."""
        with self._lock, refusals_named():
            if self._warm is None:
                self._warm = SpareChild(self.nice, limited=self.limited)

    @property
    def ready(self) -> bool:
        """See `Launcher`."""
        warm = self._warm
        return warm is not None and warm.ready

    def wait_ready(self, timeout: float = START_LIMIT) -> None:
        """See `Launcher`."""
        with self._waiting:
            with self._lock:
                self.start()
                warm = self._warm
            assert warm is not None
            try:
                warm.wait_ready(timeout)
            except WorkerError:
                self.close()
                raise

    def launch(self, limits: Limits, question_cpu: float = 0) -> ChildProcess:
        """See `Launcher`."""
        with self._waiting:
            self.wait_ready()
            with self._lock:
                job, self._warm = self._warm, None
                if job is None:
                    raise closed()
                self.start()
        with contextlib.suppress(wire.Closed):
            channel.send(job.talk, Launch(limits.cpu, limits.memory, question_cpu, limits.file))
        return job

    def close(self) -> None:
        """See `Launcher`."""
        with self._lock:
            warm, self._warm = self._warm, None
        if warm is not None:
            warm.end()
            with self._waiting:  # a thread that waited for the process may still read its error output
                warm.close()
