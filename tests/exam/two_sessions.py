"""Two sessions of one learner at the same steps at once: what is kept of both, also if one is killed or loses its line.

`python -m tests.exam.two_sessions [--ssh] [--tree PATH] [PART ...]` prints a line for each part and returns 1 if
anything of either session is lost. With `--ssh` both sessions come through an SSH server, which is started on a free
port of this host. `--tree` examines the tutor of another checkout, whose course has the same steps: what is kept is
only read and written by its own commands.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.learner import trained_models
from tests.course import COURSE
from tests.tui.pty_harness import Pty

ROOT = Path(__file__).parents[2]
LOADING, TRAINING = 120.0, 300.0
ENTER, F5, CTRL_C = b"\r", b"\x1b[15~", b"\x03"
DOWN, RIGHT, LEFT = b"\x1b[B", b"\x1b[C", b"\x1b[D"


Saved = dict[str, list[dict[str, str]]]


@dataclass(frozen=True)
class Learner:
    """A learner with a home directory, and how they reach the host: the command before that of the tutor.

    `tree` is the checkout whose tutor they use.
    """

    home: Path
    reach: tuple[str, ...] = ()
    tree: Path = ROOT

    @property
    def environ(self) -> dict[str, str]:
        """The environment of a session."""
        return {
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }

    @property
    def file(self) -> Path:
        """The progress file."""
        return self.home / "state" / "attn-tutor" / "progress.db"

    def _runs(self, *arguments: str, text: str = "") -> str:
        """Run a command of the tutor; return what it prints."""
        command = [sys.executable, "-m", "attn_tutor", *arguments]
        environ = {**os.environ, **self.environ}
        done = subprocess.run(
            command, cwd=self.tree, env=environ, input=text, capture_output=True, text=True, check=True
        )
        return done.stdout

    def saved(self) -> Saved:
        """Return what is kept: the rows of each table."""
        tables: Saved = json.loads(self._runs("export", "-"))
        return tables

    def code_of(self, exercise: str, *tables: str) -> list[str]:
        """Return the code for an exercise that tables have."""
        saved = self.saved()
        return [row["code"] for table in tables for row in saved[table] if row["exercise"] == exercise]

    def go_to(self, lesson: Lesson, step: Step) -> None:
        """Have the tutor open at a step."""
        here = {"lesson": lesson.id, "step": step.id, "time": datetime.now(UTC).isoformat(timespec="microseconds")}
        file = self.home / "position.json"
        file.write_text(json.dumps({**self.saved(), "position": [here]}))
        self._runs("import", str(file))

    @contextmanager
    def at(self, lesson: Lesson, step: Step) -> Iterator[tuple[Pty, Pty]]:
        """Open two sessions at a step."""
        self.go_to(lesson, step)
        tutor = [sys.executable, "-m", "attn_tutor"]
        pairs = [f"{name}={value}" for name, value in self.environ.items()]
        words = ["env", *pairs, *tutor]
        command = (
            [*self.reach, f"cd {shlex.quote(str(self.tree))} && exec {shlex.join(words)}"] if self.reach else words
        )
        with ExitStack() as stack:
            one, two = (stack.enter_context(Pty(command, dict(os.environ), cwd=self.tree)) for _ in range(2))
            for terminal in (one, two):
                wait_for(terminal, partial(_shows_map, terminal))
                terminal.send(ENTER, partial(_shows_step, terminal, step), LOADING)
            yield one, two

    def kill(self, terminal: Pty) -> None:
        """Kill a session: the tutor itself, or the connection that it is reached by."""
        terminal.signal(signal.SIGKILL)
        terminal.wait()


def _shows(terminal: Pty, text: str) -> bool:
    return text in terminal.text


def _shows_map(terminal: Pty) -> bool:
    return "course map" in terminal.text and "loading" not in terminal.text


def _shows_step(terminal: Pty, step: Step) -> bool:
    return terminal.screen.display[0].startswith(f" {step.title}")


def wait_for(terminal: Pty, condition: Callable[[], bool], seconds: float = LOADING) -> None:
    """Wait until a terminal shows something; it may show it already."""
    terminal.send(b"", condition, seconds, silent=True)


def quit_tutor(terminal: Pty) -> None:
    """Quit as a learner does who is in a hurry; an old tutor, in whose editor that only copies text, is ended."""
    terminal.type(CTRL_C + CTRL_C)
    try:
        terminal.wait(10)
    except AssertionError:
        terminal.signal(signal.SIGTERM)
        terminal.wait(30)


def exercise(learner: Learner) -> list[str]:
    """Both write code and check it; one is killed."""
    lesson, step = COURSE.exercise("3.1")
    name = getattr(step, "exercise")  # noqa: B009 - only some kinds of steps have it
    with learner.at(lesson, step) as (one, two):
        for terminal in (one, two):
            terminal.send(ENTER, "esc: map", silent=True)
        # By turns, as somebody does who has forgotten the other window.
        for first, second in zip("# one", "# two", strict=True):
            one.type(first.encode())
            two.type(second.encode())
            time.sleep(0.1)
        for terminal in (one, two):
            terminal.send(F5, silent=True, quiet=0.5)
        for terminal in (one, two):
            wait_for(terminal, partial(_shows, terminal, "Not yet"))
        two.type(b" last words")
        wait_for(two, lambda: "last words" in two.text)
        # A draft is on disk as soon as its key has been painted, or shortly after.
        two.quiet(1)
        learner.kill(two)
        quit_tutor(one)
    drafts, attempts = learner.code_of(name, "drafts", "kept"), learner.code_of(name, "attempts")
    return [
        *(
            f"the draft '{words}'"
            for words in ("# one", "# two last words")
            if not any(words in code for code in drafts)
        ),
        *(f"the attempt '{words}'" for words in ("# one", "# two") if not any(words in code for code in attempts)),
    ]


def question(learner: Learner) -> list[str]:
    """Both answer a question wrongly, each in a way of its own."""
    lesson = COURSE.lesson("why-attention")
    step = lesson.step("all-states")
    with learner.at(lesson, step) as (one, two):
        one.send(b"11,1" + ENTER, silent=True, quiet=0.5)
        two.send(b"12,2" + ENTER, silent=True, quiet=0.5)
        for terminal, text in ((one, "11,1"), (two, "12,2")):
            wait_for(terminal, partial(_shows, terminal, text))
            terminal.quiet(1)
        learner.kill(two)
        quit_tutor(one)
    answers = learner.code_of(getattr(step, "exercise"), "attempts")  # noqa: B009
    return [f"the answer '{text}'" for text in ("11,1", "12,2") if text not in answers]


def what_if(learner: Learner) -> list[str]:
    """Both change a number, each in a way of its own: changes belong to a session, and none reaches the other one."""
    lesson = COURSE.lesson("one-query")
    step = lesson.step("softmax")
    with learner.at(lesson, step) as (one, two):
        for terminal in (one, two):
            wait_for(terminal, partial(_shows, terminal, "live"))
            # The position of the query is the third row of the panel.
            terminal.send(b"w" + DOWN + DOWN, silent=True, quiet=1)
        before = two.text
        one.send(RIGHT, lambda: one.text != before, silent=True, quiet=1)
        changed = one.text
        two.quiet(1)
        unchanged = two.text
        two.send(LEFT, lambda: two.text != before, silent=True, quiet=1)
        one.quiet(1)
        lost = ["the change of the first session"] if one.text != changed else []
        lost += ["the screen of the second session"] if unchanged != before else []
        lost += ["the change of the second session"] if two.text in (before, changed) else []
        learner.kill(two)
        one.quiet(1)
        lost += ["the change that outlived the other session"] if one.text != changed else []
        quit_tutor(one)
    return lost


def training(learner: Learner) -> list[str]:
    """Both train the same model; one is killed meanwhile."""
    lesson = COURSE.lesson("induction")
    step = lesson.step("fixed")
    folder = learner.file.parent / trained_models.FOLDER
    with learner.at(lesson, step) as (one, two):
        for terminal in (one, two):
            terminal.send(b"g", silent=True, quiet=0.5)
        two.quiet(3)
        learner.kill(two)
        wait_for(one, lambda: any(folder.glob("*.pt")), TRAINING)
        quit_tutor(one)
    lost = []
    for file in folder.iterdir():
        if file.suffix != ".pt":
            lost.append(f"{file.name} is left behind")
        else:
            with zipfile.ZipFile(file) as model:
                lost += [f"{name} in {file.name}" for name in [model.testzip()] if name]
    return lost


PARTS: dict[str, Callable[[Learner], list[str]]] = {
    "exercise": exercise,
    "question": question,
    "what-if": what_if,
    "training": training,
}


@contextmanager
def ssh_server(folder: Path) -> Iterator[tuple[str, ...]]:
    """Run an SSH server for the current user; yield the command that reaches it."""
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    shutil.copy(folder / "user.pub", folder / "authorized")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {
        "ListenAddress": "127.0.0.1",
        "Port": port,
        "HostKey": folder / "host",
        "AuthorizedKeysFile": folder / "authorized",
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PermitRootLogin": "prohibit-password",
    }
    (folder / "sshd_config").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    if os.geteuid() == 0:
        # The folder that the server of a package is started with; without it, it refuses to run as root.
        Path("/run/sshd").mkdir(exist_ok=True)
    server = subprocess.Popen(
        [found_sshd() or "sshd", "-D", "-e", "-f", folder / "sshd_config"], stderr=subprocess.DEVNULL
    )
    try:
        options = ("StrictHostKeyChecking=no", f"UserKnownHostsFile={folder / 'known'}", "LogLevel=ERROR")
        given = [word for option in options for word in ("-o", option)]
        reach = ("ssh", "-tt", "-p", str(port), "-i", str(folder / "user"), *given, "127.0.0.1")
        end = time.monotonic() + 10
        while subprocess.run([*reach, "true"], capture_output=True, check=False).returncode:
            if time.monotonic() > end:
                raise RuntimeError("the SSH server does not answer")
            time.sleep(0.1)
        yield reach
    finally:
        server.terminate()
        server.wait()


def found_sshd() -> str | None:
    """Return the path of the SSH server, None if there is none. It has to be started by its whole path."""
    return shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def main(arguments: Sequence[str]) -> int:
    """Print what each part has lost; return 1 if that is anything."""
    parser = argparse.ArgumentParser(prog="python -m tests.exam.two_sessions", description=__doc__)
    parser.add_argument("--ssh", action="store_true", help="through an SSH server on this host")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to examine (this one)")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    options = parser.parse_args(arguments)
    if options.ssh and not (found_sshd() and shutil.which("ssh")):
        print("skipped: there is no sshd, or no ssh, on this host")
        return 0
    failed = False
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        reach = stack.enter_context(ssh_server(folder)) if options.ssh else ()
        for name in options.parts or PARTS:
            home = folder / name
            home.mkdir()
            lost = PARTS[name](Learner(home, reach, options.tree.resolve()))
            print(f"{name:8}  {'lost: ' + '; '.join(lost) if lost else 'nothing is lost'}", flush=True)
            failed |= bool(lost)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
