"""Editing code in the learner's own editor: write a file, run their program on it, and read the result back.

Nothing is lost: code that cannot be read back stays in the file, and a message says where it is.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from attn_tutor.lessons.files import NotRegular, open_regular, read_most
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.tty.signals import Handler, handled

say = Wording("editor/outside")

LARGEST = 1024 * 1024
"""The largest file in bytes that is read back; the judge accepts less."""

SIGNAL_INTERVAL = 0.5
"""Seconds between looks for signals while an editor runs."""

Run = Callable[[Sequence[str]], int]
"""Runs a command to its end and returns its exit status; a negative one is the signal that ended it."""


class EditorError(Exception):
    """There is no editor to run; the message is a sentence for the learner."""


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """The outcome of editing: the code (None if it cannot be read back), and a message ("" for none)."""

    code: str | None = None
    message: str = ""


def command(environ: Mapping[str, str]) -> list[str]:
    """Return the command line of the learner's editor. Raises `EditorError`."""
    for name in ("VISUAL", "EDITOR"):
        if not (given := environ.get(name, "").strip()):
            continue
        try:
            words = shlex.split(given)
        except ValueError as error:
            raise EditorError(
                say("unreadable", "{name} cannot be read: {value} ({reason})", name=name, value=given, reason=error)
            ) from None
        if words and shutil.which(words[0], path=environ.get("PATH")) is not None:
            return words
        raise EditorError(
            say(
                "no-program",
                "{name} names an editor that cannot be found: {program}. Leave the tutor, set {name}, for example with "
                "'export {name}=nano', and open the tutor again.",
                name=name,
                program=words[0] if words else given,
            )
        )
    raise EditorError(
        say(
            "no-editor",
            "You have not said which editor to use. Leave the tutor, set VISUAL or EDITOR, for example with "
            "'export EDITOR=nano', and open the tutor again.",
        )
    )


def edit(words: Sequence[str], name: str, code: str, run: Run | None = None) -> EditOutcome:
    """Edit code in a file `NAME.py` that only the learner can read, and return the result. Raises nothing."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="attn-tutor-"))
    except OSError as error:
        return EditOutcome(
            message=say("no-file", "No file could be created for your editor: {reason}.", reason=error.strerror)
        )
    path = folder / f"{name}.py"
    try:
        path.write_bytes(code.encode("utf-8", "replace"))
        status = (run or _run)([*words, str(path)])
    except OSError as error:
        _remove(folder)
        return EditOutcome(message=say("not-run", "Your editor could not be run: {reason}.", reason=error.strerror))
    read, why = _read(path)
    if read is not None and not read.strip() and code.strip():
        # An editor that finds the disk full may have emptied the file before it wrote.
        _remove(folder)
        return EditOutcome(message=f"{say('left-empty', 'Your editor left an empty file.')} {_as_it_was()}")
    if status == 0 and read is not None:
        _remove(folder)
        unchanged = read in (code, f"{code}\n")
        return EditOutcome(None, _nothing_changed()) if unchanged else EditOutcome(read)
    if status == 0:
        return _failed(folder, path, why)
    ended = (
        say("exit-status", "Your editor ended with exit status {status}.", status=status)
        if status > 0
        else say("signal", "Your editor was ended by the signal {signal}.", signal=_signal(-status))
    )
    if read == code:
        _remove(folder)
        return EditOutcome(message=f"{ended} {_as_it_was()}")
    return _failed(folder, path, ended)


def _nothing_changed() -> str:
    """Say that there is no new code, and why that may be."""
    return say(
        "nothing-changed",
        "Nothing was changed. If your editor opens a window of its own, tell it to wait, for example with "
        "\"export VISUAL='code --wait'\".",
    )


def _as_it_was() -> str:
    """Say that nothing was lost."""
    return say("as-it-was", "Your code here is as it was.")


def _failed(folder: Path, path: Path, why: str) -> EditOutcome:
    """Return a failed edit, whose message says why, and where the file is if it still exists."""
    message = f"{why} {_as_it_was()}"
    if not os.path.lexists(path):
        # An editor may have left other files in the directory; remove it only if it is empty.
        with suppress(OSError):
            folder.rmdir()
        return EditOutcome(message=message)
    kept = say("kept", "What the editor wrote is kept in {file}", file=path)
    return EditOutcome(message=f"{message} {kept}")


def _read(path: Path) -> tuple[str | None, str]:
    """Return the content of a file and "", or None and a sentence on why it cannot be read."""
    try:
        with open_regular(path) as file:
            data = read_most(file, LARGEST + 1)
    except NotRegular:
        return None, say("not-a-file", "What your editor left is not a file.")
    except FileNotFoundError:
        return None, say("left-no-file", "Your editor left no file.")
    except OSError as error:
        return None, say(
            "cannot-read", "The file that your editor left cannot be read: {reason}.", reason=error.strerror
        )
    if len(data) > LARGEST:
        return None, say("too-large", "The file that your editor left is larger than {size} KB.", size=LARGEST // 1024)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None, say("not-utf-8", "The file that your editor left is not UTF-8 text.")
    if "\0" in text:
        return None, say("zero-bytes", "The file that your editor left is not text, because it contains zero bytes.")
    return text.replace("\r\n", "\n").replace("\r", "\n"), ""


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _run(words: Sequence[str]) -> int:
    running: list[subprocess.Popen[bytes]] = []
    passed_on: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        # Only the first program of the terminal is informed of a lost line, and that may be the tutor.
        passed_on.append(number)
        for process in running:
            process.send_signal(number)

    # Ctrl+c and ctrl+backslash are for the editor, which is in the same group of processes. A handler that does
    # nothing, since a signal that is ignored would be ignored by the editor as well.
    handlers: dict[signal.Signals, Handler] = {signal.SIGINT: _nothing, signal.SIGQUIT: _nothing}
    handlers |= {signal.SIGHUP: pass_on, signal.SIGTERM: pass_on}
    try:
        with handled(handlers):
            process = subprocess.Popen(words)
            running.append(process)
            while True:
                # A signal that a different thread has received does not end a longer wait.
                with suppress(subprocess.TimeoutExpired):
                    return process.wait(SIGNAL_INTERVAL)
    finally:
        # The tutor ends when the editor has saved the code.
        for number in passed_on:
            handler = signal.getsignal(number)
            if callable(handler):
                handler(number, None)


def _nothing(*_: object) -> None:
    pass


def _signal(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return str(number)
