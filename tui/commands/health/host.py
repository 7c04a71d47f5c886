"""The host: processors, memory, the limits of this account, and what the kernel holds back."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from attn_tutor.lessons.engine.launching import host_limits
from attn_tutor.lessons.engine.self_testing import WorkerFacts
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.health.check import HealthCheck

say = Wording("doctor/host")

MIB = 1024 * 1024

MEMORY_NEEDED, MEMORY_WANTED = 300 * MIB, 700 * MIB
"""With less free memory a learner gets no verdict; with less, some exercises and trainings end for lack of memory."""

UNLIMITED = float("inf")


@dataclass(frozen=True, slots=True)
class Need:
    """How much of something the tutor needs, as measured.

    Attributes:
        needed: with less, it does not work.
        wanted: with less, it works for most lessons.
        unit: what one of it is in bytes, 1 for a count.
        option: the letter of `ulimit` that sets it.
    """

    needed: int
    wanted: int
    unit: int
    option: str


NEEDS: Mapping[str, Need] = {
    "nofile": Need(host_limits.FEWEST_FILES, host_limits.AMPLE_FILES, 1, "n"),
    "nproc": Need(10, 80, 1, "u"),
    "as": Need(host_limits.LEAST_MEMORY, host_limits.AMPLE_MEMORY, 1024, "v"),
    "fsize": Need(1 * MIB, 16 * MIB, 1024, "f"),
    "cpu": Need(60, 3600, 1, "t"),
}


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What was found of the host.

    Attributes:
        system: its kernel and version.
        processors: how many this process may use.
        free: how many bytes of memory are free, None if that is not known.
        group_free: how many bytes the control group of this process may still take, None if it has no limit.
        limits: for each of `NEEDS`, how much of it is left, infinite if there is no limit.
        is_root: whether this is the account that may do everything.
    """

    system: str
    processors: int
    free: int | None = None
    group_free: int | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    is_root: bool = False


def host_facts() -> HostFacts:
    """Look at this host."""
    return HostFacts(
        f"{platform.system()} {platform.release()}",
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        _free_memory(),
        group_free(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")),
        _limits(),
        hasattr(os, "geteuid") and os.geteuid() == 0,
    )


def host_checks(facts: HostFacts, worker: WorkerFacts) -> Iterator[HealthCheck]:
    """Yield what is to be said of the host."""
    found = say.count(
        "processors-found", facts.processors, "{system}, {count} processor", "{system}, {count} processors",
        system=facts.system,
    )  # fmt: skip
    yield HealthCheck("host", say("host", "host"), "ok", found)
    if facts.is_root:
        found = say("root", "root, and what programs in lessons do, they do as root")
        yield HealthCheck(
            "account", say("account", "account"), "note", found, say("no-root", "Log in as somebody else.")
        )
    yield _memory(facts)
    yield _limits_check(facts.limits)
    yield _layers(facts, worker)


def _memory(facts: HostFacts) -> HealthCheck:
    name = say("memory", "memory")
    known = [free for free in (facts.free, facts.group_free) if free is not None]
    if not known:
        return HealthCheck("memory", name, "ok", say("memory-unknown", "not known here"))
    free = min(known)
    if free == facts.group_free:
        found = say("group-memory", "{free} MiB left of the limit of this session", free=free // MIB)
        remedy = say("raise-memory", "Close other programs of this session, or ask for a higher limit (MemoryMax).")
    else:
        found = say("free-memory", "{free} MiB free", free=free // MIB)
        remedy = say("free-some", "Close other programs.")
    if free >= MEMORY_WANTED:
        return HealthCheck("memory", name, "ok", found)
    return HealthCheck("memory", name, "broken" if free < MEMORY_NEEDED else "note", found, remedy)


def _limits_check(limits: Mapping[str, float]) -> HealthCheck:
    name = say("limits", "limits")
    low = {kind: left for kind, left in limits.items() if left < NEEDS[kind].wanted}
    if not low:
        return HealthCheck("limits", name, "ok", say("limits-suffice", "none that is too low"))
    found = ", ".join(
        say("too-low", "{kind}: {left} left, {wanted} wanted",
            kind=kind, left=int(left) // NEEDS[kind].unit, wanted=NEEDS[kind].wanted // NEEDS[kind].unit)
        for kind, left in low.items()
    )  # fmt: skip
    raised = "; ".join(
        say("set-limit", "ulimit -{option} {wanted}", option=need.option, wanted=need.wanted // need.unit)
        for need in map(NEEDS.__getitem__, low)
    )
    remedy = say("raise-limits", "{commands}, or ask whoever set them (limits.conf)", commands=raised)
    broken = any(left < NEEDS[kind].needed for kind, left in low.items())
    return HealthCheck("limits", name, "broken" if broken else "note", found, remedy)


def _layers(facts: HostFacts, worker: WorkerFacts) -> HealthCheck:
    """Return what the kernel holds programs back from; SECURITY.md says what each layer does."""
    name = say("protection", "protection")
    landlock = say("landlock-version", "Landlock {version}", version=worker.landlock)
    if worker.landlock and worker.system_calls:
        found = say("protected", "{landlock}, and system calls are filtered", landlock=landlock)
        if not worker.shared_memory:
            found = say("no-shared-memory", "{found}; programs have no shared memory", found=found)
        return HealthCheck("protection", name, "ok", found)
    if worker.landlock:
        found = say("open-network", "{landlock} alone: programs in lessons may use the network", landlock=landlock)
        remedy = say("filter", "A kernel with seccomp on x86_64 or aarch64 can refuse that; here is {system}.",
                     system=facts.system)  # fmt: skip
        return HealthCheck("protection", name, "note", found, remedy)
    found = say("no-landlock", "no Landlock: programs in lessons may write wherever you may")
    remedy = say(
        "landlock",
        "Linux 5.13 and later can refuse that if /sys/kernel/security/lsm lists landlock; here is {system}.",
        system=facts.system,
    )
    return HealthCheck("protection", name, "note", found, remedy)


# What the kernel says -------------------------------------------------------------------------------------------------


def _free_memory() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def group_free(membership: Path, root: Path) -> int | None:
    """Return how many bytes the control groups that a process belongs to may still take; None without a limit.

    `membership` is the file that lists them, and `root` the folder where they are mounted. The groups above count too.
    """
    left = []
    with suppress(OSError):
        for line in membership.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":
                base, most, used = root, "memory.max", "memory.current"
            elif "memory" in controllers.split(","):
                base, most, used = root / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            else:
                continue
            group = base / path.lstrip("/")
            for folder in (group, *group.parents):
                if folder == base.parent:
                    break
                # What the kernel would give back first is no obstacle.
                with suppress(OSError, ValueError):
                    given_back = _inactive(folder / "memory.stat")
                    left.append(int((folder / most).read_text()) - int((folder / used).read_text()) + given_back)
    # The first version of control groups writes a huge number where there is no limit.
    return min((free for free in left if free < 1 << 60), default=None)


def _inactive(stat: Path) -> int:
    """Return how many bytes of cached files a group holds that were not used lately."""
    with suppress(OSError, ValueError):
        for line in stat.read_text().splitlines():
            key, _, value = line.partition(" ")
            if key in ("inactive_file", "total_inactive_file"):
                return int(value)
    return 0


def _limits() -> dict[str, float]:
    try:
        import resource
    except ImportError:  # Windows
        return {}
    used: dict[str, Callable[[], float]] = {"nproc": _tasks}
    found = {}
    for kind in NEEDS:
        number = getattr(resource, f"RLIMIT_{kind.upper()}", None)
        if number is None or (kind == "nproc" and os.getuid() == 0):  # root may start any number
            continue
        soft, _ = resource.getrlimit(number)
        found[kind] = UNLIMITED if soft == resource.RLIM_INFINITY else soft - used.get(kind, lambda: 0)()
    return found


def _tasks() -> int:
    """Count the threads of this user, to all of which the limit applies."""
    total, user = 0, os.getuid()
    with suppress(OSError):
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                with suppress(OSError):
                    tasks = os.stat(f"{entry.path}/task")
                    # Besides its own two links, the folder has one for each thread.
                    total += tasks.st_nlink - 2 if tasks.st_uid == user else 0
    return total
