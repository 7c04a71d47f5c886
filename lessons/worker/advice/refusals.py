"""Advice on what the layers around a program refuse. Nothing is said unless the layer is in force right now."""

from __future__ import annotations

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.rules import Match, Said, rule
from attn_tutor.lessons.worker.advice.scene import Scene
from attn_tutor.lessons.worker.fence import landlock, system_calls

say = Wording("advice/refusals")

SEMAPHORES = "multiprocessing/synchronize.py"


@rule(OSError, r"\[Errno 1\] ")
def refused_call(scene: Scene, match: Match) -> str | None:
    """Explain a system call that was refused."""
    if not system_calls.in_force():
        return None
    return say(
        "call",
        "Code in the tutor may not change the mode, owner or times of files, use the network, or act on other "
        "programs.",
    )


@rule(OSError, r"name resolution|^\[Errno -\d+\] ")
def no_network(scene: Scene, match: Match) -> str | None:
    """Explain why a host is not found."""
    return say("network", "Code in the tutor has no network.") if system_calls.in_force() else None


@rule(OSError, r"\[Errno 13\] ")
def refused_file(scene: Scene, match: Match) -> Said | None:
    """Explain a file that may not be written, or memory that cannot be shared since it would be a file."""
    if landlock.version() < 1:
        return None
    if scene.last is not None and scene.last.f_code.co_filename.endswith(SEMAPHORES):
        return no_shared_memory(scene, match)
    return say("file", "Code in the tutor may write only to a folder of its own, in which it starts.")


@rule(RuntimeError, r"shared memory object .*Permission denied")
def no_shared_memory(scene: Scene, match: Match) -> str | None:
    """Explain why tensors, locks and queues cannot be shared between processes."""
    if landlock.version() < 1:
        return None
    return say(
        "shared-memory",
        "On this system, code in the tutor has no shared memory, so its processes cannot share tensors, locks or "
        "queues.",
    )
