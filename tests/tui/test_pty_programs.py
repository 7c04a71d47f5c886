"""Programs and files of one's own in a real terminal: what is sent, and what is left behind at the end."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
import torch

from tests.tui.hostile_text import EVERY_COMMAND, OF_A_LINE, OF_A_PATH, foreign
from tests.tui.pty_harness import MARK, Pty, await_none, processes_of

COMMAND = [sys.executable, "-m", "attn_tutor"]
# A page has more digits than the map of the course; for a slow line as the others.
START, PAGE, LIST = 6 * 1024, 3328, 3 * 1024
LOADING = 90
ALTERNATE, NORMAL = b"\x1b[?1049h", b"\x1b[?1049l"

SOURCE = """\
import torch

def main():
    x = torch.arange(6.0).view(2, 3)
    y = x @ x.T
    return y.softmax(-1)

main()
"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    """Return the environment of a learner, by which their processes are found."""
    return {**os.environ, "TERM": "xterm-256color", MARK: str(home)}


def test_a_program_opens_and_a_signal_leaves_the_terminal_as_it_was(
    environ: dict[str, str], home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(SOURCE)
    with Pty([*COMMAND, "open", str(file), "--watch"], environ) as terminal:
        before = terminal.attributes()
        sent = terminal.send(b"", "main.x[0,0] = 0.0", LOADING, quiet=0.3)
        assert sent.index(b"Running /") < sent.index(ALTERNATE)
        assert sent.needed <= START
        assert terminal.attributes() != before
        # Looking at its files sends nothing.
        assert terminal.quiet(1) == b""
        assert terminal.send(b"m", "▶ main.x", quiet=0.2).needed <= LIST
        assert len(processes_of(home)) >= 3
        terminal.signal(signal.SIGTERM)
        assert terminal.wait() == 128 + signal.SIGTERM
        assert NORMAL in terminal.sent_at_end
        assert terminal.attributes() == before
        await_none(home)


def test_a_file_of_tensors_opens_and_is_left(environ: dict[str, str], home: Path, tmp_path: Path) -> None:
    file = tmp_path / "model.pt"
    torch.save({f"layer.{number}": torch.full((3, 4), number + 0.5) for number in range(9)}, file)
    with Pty([*COMMAND, "show", str(file)], environ) as terminal:
        before = terminal.attributes()
        sent = terminal.send(b"", "9 tensors", LOADING, quiet=0.3)
        assert sent.needed <= START
        assert terminal.send(b"\x1b[F\r", "layer_8[0,0] = 8.5", LOADING, quiet=0.3).needed <= PAGE
        terminal.send(b"q", silent=True, quiet=0.1)
        assert terminal.wait() == 0
        assert NORMAL in terminal.sent_at_end
        assert terminal.attributes() == before
        await_none(home)


def test_ctrl_c_interrupts_a_program_and_what_it_has_done_opens(
    environ: dict[str, str], home: Path, tmp_path: Path
) -> None:
    file, begun = tmp_path / "endless.py", tmp_path / "begun"
    file.write_text(f"open({str(begun)!r}, 'w')\nwhile True: pass\n")
    with Pty([*COMMAND, "open", "--no-limits", str(file)], environ) as terminal:
        before = terminal.attributes()
        terminal.send(b"", begun.exists, LOADING, quiet=0.05)
        terminal.send(b"\x03", "Stopped with Ctrl+C.", quiet=0.2)
        terminal.signal(signal.SIGTERM)
        assert terminal.wait() == 128 + signal.SIGTERM
        assert terminal.attributes() == before
        await_none(home)


def test_a_hostile_program_sends_the_terminal_no_command(environ: dict[str, str], home: Path, tmp_path: Path) -> None:
    """All bytes of a session are looked at, from the first line to what is left when it ends."""
    file = tmp_path / f"mine{OF_A_PATH}.py"
    file.write_text(f"import torch\nx = torch.ones(2)  # {OF_A_LINE}\nprint({EVERY_COMMAND!r})\n1 / 0  # {OF_A_LINE}\n")
    with Pty([*COMMAND, "open", str(file)], environ) as terminal:
        sent: bytes = terminal.send(b"", "x[0] = 1.0", LOADING, quiet=0.3)
        for keys in (b"w", b"\x1b", b"m"):
            sent += terminal.send(keys, "31337", quiet=0.3)
        terminal.send(b"q", silent=True, quiet=0.1)
        assert terminal.wait() == 0
    assert foreign((sent + terminal.sent_at_end).decode()) == []
    await_none(home)
