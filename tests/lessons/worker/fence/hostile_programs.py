"""Programs that would do harm outside their own folder, each with the row of SECURITY.md that says what stops it."""

from __future__ import annotations

from dataclasses import dataclass

FILTER = 0
"""In place of a version of Landlock: the filter of system calls refuses it."""

FILES = "write, create, delete, rename or link files outside its own folder"
ATTRIBUTES = "change the mode, owner, times, attributes or length of a file, wherever it is"
PRIORITIES = "change the limits, the priority or the processors of other programs"
MEMORY = "read or write the memory, the environment or the open files of other programs, or trace them"
SIGNALS = "end other programs, or send them signals"
ALL_SIGNALS = "send a signal to all of your programs at once"
TERMINAL = "open a terminal to write to it"
TYPING = "type into a terminal, or change its settings"
DEVICES = "control a device"
NETWORK = "open a connection over the network itself: TCP, UDP, names of hosts, raw packets"
ABSTRACT = "connect to an abstract socket, such as that of a desktop"
LEFT_MEMORY = "use memory, queues or semaphores of System V that others have, or leave such or POSIX queues behind"
UNCOUNTED = (
    "have memory or files that nobody can count: large shared maps without a file, pages in pipes, datagrams, larger "
    "buffers or longer queues of sockets, queues of inotify and fanotify, rules for Landlock, room beyond the end of a "
    "file, threads with open files of their own"
)
KERNEL = "use io_uring, BPF, userfaultfd, perf or the kernel's keyrings"
NAMESPACES = "make namespaces, or mount anything"
OTHER_CALLS = "call the kernel by its 32-bit or x32 numbers, or by ones newer than Linux 6.17"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A program, with `{file}`, `{folder}`, `{pid}`, `{terminal}`, `{socket}`, ... for what belongs to others.

    Attributes:
        landlock: the first version of Landlock that refuses it, or `FILTER`.
        errors: what may be raised.
        root_may: whether root has a capability that allows it all the same.
    """

    row: str
    program: str
    landlock: int = FILTER
    errors: tuple[str, ...] = ("PermissionError",)
    root_may: bool = False


MOVED = ("PermissionError", "OSError")
"""A rename to another folder fails as if that were on another disk."""

ATTEMPTS = (
    Attempt(FILES, "open({file!r}, 'w')", 1),
    Attempt(FILES, "open({file!r}, 'a')", 1),
    Attempt(FILES, "open({file!r} + '.new', 'w')", 1),
    Attempt(FILES, "os.remove({file!r})", 1),
    Attempt(FILES, "shutil.rmtree({folder!r})", 1),
    Attempt(FILES, "os.rename({file!r}, {file!r} + '.old')", 1),
    Attempt(FILES, "os.rename({file!r}, 'mine')", 1, MOVED),
    Attempt(FILES, "os.link({file!r}, 'mine')", 1, MOVED),
    Attempt(FILES, "os.symlink('/', {folder!r} + '/root')", 1),
    Attempt(FILES, "os.mkdir({folder!r} + '/new')", 1),
    Attempt(FILES, "os.mkfifo({folder!r} + '/pipe')", 1),
    Attempt(FILES, "os.open({folder!r}, os.O_TMPFILE | os.O_RDWR)", 1),
    Attempt(FILES, "open('/proc/self/fd/' + str(os.open({file!r}, os.O_RDONLY)), 'w')", 1),
    Attempt(FILES, "socket.socket(socket.AF_UNIX).bind({folder!r} + '/socket')", 1),
    # On btrfs, to copy a folder.
    Attempt(FILES, "fcntl.ioctl(os.open({folder!r}, os.O_RDONLY), 0x5000940E, bytes(1024))"),
    Attempt(ATTRIBUTES, "os.truncate({file!r}, 0)"),
    Attempt(ATTRIBUTES, "os.open({file!r}, os.O_RDONLY | os.O_TRUNC)"),
    Attempt(ATTRIBUTES, "os.open({file!r}, 3 | os.O_TRUNC)"),
    Attempt(ATTRIBUTES, "os.chmod({file!r}, 0)"),
    Attempt(ATTRIBUTES, "os.chmod({folder!r}, 0)"),
    Attempt(ATTRIBUTES, "os.fchmod(os.open({file!r}, os.O_RDONLY), 0)"),
    Attempt(ATTRIBUTES, "os.chmod(pathlib.Path({file!r}).name, 0, dir_fd=os.open({folder!r}, os.O_RDONLY))"),
    Attempt(ATTRIBUTES, "call('fchmodat2', -100, {file!r}, 0, 0)"),
    Attempt(ATTRIBUTES, "os.chown({file!r}, os.getuid(), os.getgid())"),
    Attempt(ATTRIBUTES, "os.fchown(os.open({file!r}, os.O_RDONLY), os.getuid(), os.getgid())"),
    Attempt(ATTRIBUTES, "os.utime({file!r}, (1, 1))"),
    Attempt(ATTRIBUTES, "os.utime(os.open({file!r}, os.O_RDONLY), (1, 1))"),
    Attempt(ATTRIBUTES, "os.setxattr({file!r}, 'user.mark', b'')"),
    Attempt(ATTRIBUTES, "os.removexattr({file!r}, 'user.mark')"),
    Attempt(ATTRIBUTES, "fcntl.ioctl(os.open({file!r}, os.O_RDONLY), 0x40086602, bytes(8))"),
    Attempt(ATTRIBUTES, "fcntl.ioctl(os.open({file!r}, os.O_RDONLY), 0x40087602, bytes(8))"),
    Attempt(PRIORITIES, "resource.prlimit({pid}, resource.RLIMIT_CPU, (1, 1))"),
    Attempt(PRIORITIES, "resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1000, 1000))"),
    Attempt(PRIORITIES, "os.setpriority(os.PRIO_PROCESS, {pid}, 19)"),
    Attempt(PRIORITIES, "os.setpriority(os.PRIO_USER, 0, 1)"),
    Attempt(PRIORITIES, "os.setpriority(os.PRIO_PGRP, os.getpgid({pid}), 19)"),
    Attempt(PRIORITIES, "os.sched_setaffinity({pid}, {{0}})"),
    Attempt(PRIORITIES, "os.sched_setscheduler({pid}, os.SCHED_IDLE, os.sched_param(0))"),
    Attempt(PRIORITIES, "call('ioprio_set', 1, {pid}, 3 << 13)"),
    Attempt(MEMORY, "open('/proc/{pid}/mem', 'rb')", 1),
    Attempt(MEMORY, "open('/proc/{pid}/environ', 'rb').read()", 1, root_may=True),
    Attempt(MEMORY, "os.open('/proc/{pid}/fd/0', os.O_RDONLY)", 1),
    Attempt(MEMORY, "call('ptrace', 16, {pid}, 0, 0)"),
    Attempt(MEMORY, "call('process_vm_readv', {pid}, 0, 0, 0, 0, 0)"),
    Attempt(MEMORY, "call('pidfd_getfd', os.pidfd_open({pid}), 0, 0)"),
    Attempt(SIGNALS, "os.kill({pid}, 9)", 6),
    Attempt(SIGNALS, "os.kill(os.getppid(), 9)", 6),
    Attempt(SIGNALS, "os.killpg(os.getpgid({pid}), 9)", 6),
    Attempt(SIGNALS, "signal.pidfd_send_signal(os.pidfd_open({pid}), 9)", 6),
    # Signal 0 only asks whether one could be sent: should the layer fail, the tests go on.
    Attempt(ALL_SIGNALS, "os.kill(-1, 0)"),
    Attempt(TERMINAL, "open({terminal!r}, 'w')", 1),
    Attempt(TYPING, "fcntl.ioctl(os.open({terminal!r}, os.O_RDONLY | os.O_NOCTTY), termios.TIOCSTI, b'x')"),
    Attempt(TYPING, "tty.setraw(os.open({terminal!r}, os.O_RDONLY | os.O_NOCTTY))", errors=("error",)),
    Attempt(TYPING, "fcntl.ioctl(os.open({terminal!r}, os.O_RDONLY | os.O_NOCTTY), termios.TIOCSWINSZ, bytes(8))"),
    Attempt(DEVICES, "fcntl.ioctl(os.open('/dev/urandom', os.O_RDONLY), 0x80045200, bytes(8))", 5),
    Attempt(NETWORK, "socket.create_connection(('127.0.0.1', 9))"),
    Attempt(NETWORK, "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"),
    Attempt(NETWORK, "socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)"),
    Attempt(NETWORK, "socket.getaddrinfo('example.org', 80)", errors=("gaierror",)),
    Attempt(NETWORK, "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
    Attempt(NETWORK, "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"),
    Attempt(ABSTRACT, "socket.socket(socket.AF_UNIX).connect({socket!r})", 6),
    Attempt(LEFT_MEMORY, "call('shmget', 0, 4096, 0o1600)"),
    Attempt(LEFT_MEMORY, "call('semget', 0, 1, 0o1600)"),
    Attempt(LEFT_MEMORY, "call('msgget', 0, 0o1600)"),
    Attempt(LEFT_MEMORY, "call('mq_open', 'left', os.O_CREAT | os.O_RDWR, 0o600, 0)"),
    Attempt(LEFT_MEMORY, "call('mq_unlink', 'left')"),
    # Numbers that nothing has: only the layer refuses them for lack of rights.
    *(Attempt(LEFT_MEMORY, f"call('{name}', -1, 0, 0, 0, 0)") for name in ("shmat", "shmctl", "semop", "semtimedop")),
    *(Attempt(LEFT_MEMORY, f"call('{name}', -1, 0, 0, 0, 0)") for name in ("semctl", "msgsnd", "msgrcv", "msgctl")),
    Attempt(UNCOUNTED, "mmap.mmap(-1, (16 << 20) + 1)"),
    Attempt(UNCOUNTED, "mmap.mmap(-1, 1 << 33)"),
    Attempt(UNCOUNTED, "call('vmsplice', 0, 0, 0, 0)"),
    Attempt(UNCOUNTED, "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)"),
    Attempt(UNCOUNTED, "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)"),
    Attempt(UNCOUNTED, "socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)"),
    Attempt(UNCOUNTED, "socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, 32, 1 << 22)"),
    Attempt(UNCOUNTED, "socket.socket(socket.AF_UNIX).listen(129)"),
    Attempt(UNCOUNTED, "call('listen', -1, -1)"),
    Attempt(UNCOUNTED, "call('inotify_init1', 0)"),
    Attempt(UNCOUNTED, "call('fanotify_init', 0x200, 0)"),
    Attempt(UNCOUNTED, "call(444, 0, 0, 0)"),
    Attempt(UNCOUNTED, "call('fallocate', os.open('room', os.O_CREAT | os.O_RDWR), 1, 0, 1 << 30)"),
    Attempt(UNCOUNTED, "call('clone', 0x10000 | 0x800 | 0x100, 0, 0, 0, 0)"),
    Attempt(UNCOUNTED, "call('close_range', 1000, 1000, 2)"),
    Attempt(KERNEL, "call('io_uring_setup', 1, 0)"),
    Attempt(KERNEL, "call('bpf', 0, 0, 0)"),
    Attempt(KERNEL, "call('userfaultfd', 1)"),
    Attempt(KERNEL, "call('perf_event_open', 0, 0, -1, -1, 0)"),
    Attempt(KERNEL, "call('keyctl', 0, -3, 0)"),
    Attempt(NAMESPACES, "call('unshare', 0x10000000)"),
    Attempt(NAMESPACES, "call('clone', 0x10000011, 0, 0, 0, 0)"),
    Attempt(NAMESPACES, "call('mount', 'none', 'mine', 'tmpfs', 0, 0)"),
    Attempt(NAMESPACES, "call('umount2', '/proc', 2)"),
    Attempt(OTHER_CALLS, "call(0x40000000 + 39)", errors=("OSError",)),
    Attempt(OTHER_CALLS, "call(470)", errors=("OSError",)),
    Attempt(OTHER_CALLS, "call('clone3', 0, 0)", errors=("OSError",)),
)

ALLOWED = (
    "open({file!r}).read()",
    "fcntl.flock(os.open({file!r}, os.O_RDONLY), fcntl.LOCK_EX)",
    "socket.socket(socket.AF_UNIX).connect({listener!r})",
    "open('/proc/{pid}/cmdline').read()",
    "os.open({terminal!r}, os.O_RDONLY | os.O_NOCTTY)",
)
"""What SECURITY.md says that code can do."""

PRELUDE = """
import ctypes, fcntl, json, mmap, os, pathlib, resource, shutil, signal, socket, termios, tty
from attn_tutor.lessons.worker.fence import system_calls

kernel = ctypes.CDLL(None, use_errno=True)

def call(name, *arguments):
    number = name if isinstance(name, int) else system_calls.CALLS[name].number(os.uname().machine)
    given = [value.encode() if isinstance(value, str) else ctypes.c_long(value) for value in arguments]
    if kernel.syscall(ctypes.c_long(number), *given) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

def outcome(program):
    try:
        exec(program, globals())
    except Exception as error:
        return type(error).__name__
    return "done"

"""


def all_in_one(programs: list[str]) -> str:
    """Return a program that runs others one by one, and prints as JSON what each of them raised, or "done"."""
    return f"{PRELUDE}print(json.dumps([outcome(program) for program in {programs!r}]))"
