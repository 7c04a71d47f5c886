"""A child that is forked before there is a job for it, so that no learner waits for that: it warms up, and waits."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from attn_tutor.lessons.worker import channel, wire
from attn_tutor.lessons.worker.fence import scratch_folders
from attn_tutor.lessons.worker.message_parts import NamedExpression, TemplateField
from attn_tutor.lessons.worker.messages import Launch, StepReport

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
SHOWN = "weights", "context", "x.T"
TOLD = TemplateField("change", "", ".4f"), TemplateField("tuple(x.shape)", "", "")
JOB_FDS = 3
DOOR, MOST = 200, 4096
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


def wait() -> tuple[Launch, tuple[int, ...]]:
    """Warm up, and wait at `DOOR` for the limits and descriptors of the job. Ends this process if none will come."""
    # The rest is the fork server's: among it, its own end of this connection.
    os.closerange(3, DOOR)
    os.closerange(DOOR + 1, MOST)
    door = socket.socket(fileno=DOOR)
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
    text, _ = state.fill(TOLD)
    tensors, _ = state.show(unit, [NamedExpression(name, name) for name in SHOWN], blob)
    channel.frame_of(StepReport("", None, (0, 0), tensors, text, tuple(state.lines), (), 0.0, bytes(blob)))
