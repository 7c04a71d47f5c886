"""The learner's own editor: a file is written, their program runs on it, and what it left is read back.

Nothing is lost: what cannot be taken back stays in the file, and a sentence says where.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

LARGEST = 1024 * 1024
"""Bytes of a file that is read back: more than the judge takes."""

GLANCE = 0.5
"""Seconds after which signals are looked at while an editor runs."""

HOW = "set VISUAL or EDITOR, for example: export EDITOR=nano"
WAIT = "An editor that opens a window has to be told to wait, for example: export VISUAL='code --wait'"

Handler = Callable[[int, object], None]

Run = Callable[[Sequence[str]], int]
"""Runs a command to its end and returns its exit status; negative: the signal that ended it."""


class EditorError(Exception):
    """There is no editor to be run; the message is a sentence for the learner."""


@dataclass(frozen=True, slots=True)
class Edited:
    """What came of it: the code, None if there is none to be taken, and a sentence to say, "" for none."""

    code: str | None = None
    message: str = ""


def command(environ: Mapping[str, str]) -> list[str]:
    """The learner's editor with its arguments. Raises `EditorError`."""
    for name in ("VISUAL", "EDITOR"):
        if not (given := environ.get(name, "").strip()):
            continue
        try:
            words = shlex.split(given)
        except ValueError as error:
            raise EditorError(f"{name} cannot be read ({error}): {given}") from None
        if words and shutil.which(words[0], path=environ.get("PATH")) is not None:
            return words
        raise EditorError(f"There is no program '{words[0] if words else given}', which {name} names: {HOW}.")
    raise EditorError(f"Which editor? Please {HOW}, and open the tutor again.")


def edit(words: Sequence[str], name: str, code: str, run: Run | None = None) -> Edited:
    """Have code edited in a file `NAME.py` that only the learner can read, and take it back. Raises nothing."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="attn-tutor-"))
    except OSError as error:
        return Edited(message=f"No file could be made for your editor: {error}.")
    path = folder / f"{name}.py"
    try:
        path.write_bytes(code.encode("utf-8", "replace"))
        status = (run or _run)([*words, str(path)])
    except OSError as error:
        _remove(folder)
        return Edited(message=f"Your editor could not be run: {error}.")
    read, why = _read(path)
    if status == 0 and read is not None:
        _remove(folder)
        unchanged = read in (code, f"{code}\n")
        return Edited(None, f"Nothing was changed. {WAIT}.") if unchanged else Edited(read)
    if status == 0:
        return _kept(folder, path, f"{why}: your code here is as it was")
    ended = f"exit status {status}" if status > 0 else f"signal {_signal(-status)}"
    if read == code:
        _remove(folder)
        return Edited(message=f"Your editor ended with {ended}: your code is as it was.")
    return _kept(folder, path, f"Your editor ended with {ended}, so your code here is as it was")


def _kept(folder: Path, path: Path, message: str) -> Edited:
    """Say where the file is, if there is one."""
    if not os.path.lexists(path):
        # An editor may have left something else beside it; only what is empty goes.
        with suppress(OSError):
            folder.rmdir()
        return Edited(message=f"{message}.")
    return Edited(message=f"{message}. What the editor wrote is kept in {path}")


def _read(path: Path) -> tuple[str | None, str]:
    """What a file holds, or None and why it cannot be taken."""
    try:
        # Not a pipe or a device in its place, which would never end.
        if not stat.S_ISREG(path.stat().st_mode):
            return None, "Your editor left no ordinary file"
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None, "Your editor left no file"
    except OSError as error:
        return None, f"The file cannot be read ({error})"
    if len(data) > LARGEST:
        return None, f"The file is larger than {LARGEST // 1024} KB"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None, "The file is not UTF-8 text"
    if "\0" in text:
        return None, "The file is not text: it has zero bytes"
    return text.replace("\r\n", "\n").replace("\r", "\n"), ""


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _run(words: Sequence[str]) -> int:
    running: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _frame: object) -> None:
        # A line that is lost is told to the first program of the terminal alone, which may be the tutor.
        for process in running:
            process.send_signal(number)

    # Ctrl+c and ctrl+backslash are for the editor, which is in the same group of processes. A handler that does
    # nothing, since a signal that is ignored would be ignored by the editor as well.
    handlers: dict[int, Handler] = {signal.SIGINT: _nothing, signal.SIGQUIT: _nothing}
    handlers |= {signal.SIGHUP: pass_on, signal.SIGTERM: pass_on}
    with _handled(handlers):
        process = subprocess.Popen(words)
        running.append(process)
        while True:
            # A signal that another thread has received does not end a longer wait.
            with suppress(subprocess.TimeoutExpired):
                return process.wait(GLANCE)


@contextmanager
def _handled(handlers: Mapping[int, Handler]) -> Iterator[None]:
    """These handlers for a while. What the event loop has to do about a signal it does afterwards."""
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _nothing(*_: object) -> None:
    pass


def _signal(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return str(number)
