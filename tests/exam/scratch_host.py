"""A scratch host for examining installations: a Python, the packages to install, checkouts, learners at a terminal."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attn_tutor.lessons.engine.launching.reinstalling import CPU_INDEX
from tests.tui.pty_harness import Pty

ROOT = Path(__file__).parents[2]
INSTALLING, OPENING, QUITTING = 400.0, 90.0, 30.0
ENTER, QUIT = b"\r", b"q"

MADE_BY_MAKE = 2
"""The exit status of make, whatever that of a command was."""

INCOMPLETE = 4
"""The exit status of the tutor if a package that it needs is missing or damaged."""

CONTROL = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\^_()][0-9A-B]?|[\r\x08]")
COMMAND = re.compile(r"^.*: ((?:make|cp|mkdir|apt|pip|pipx|uv|/\S*python[\d.]* -m) \S.*)$", re.MULTILINE)
"""A command that a sentence ends with."""

FOLLOWED = ("make ", "cp -R ", "mkdir ")
"""How commands begin that are typed because a sentence names them: none that would change this host."""

WIDE = 240
"""Columns of a terminal in which a sentence with two paths fits on a line or two."""


class Broken(Exception):
    """What a learner has met that must not be."""


class Skipped(Exception):
    """A case cannot be examined on this host; the message says what it lacks."""


@dataclass(frozen=True)
class Outcome:
    """What a command has led to: its exit status (None: it did not end by itself), its words, and what it showed.

    `matrix` is the state of the first matrix of the tutor: `live`, `recorded`, or "" if no tutor opened. `notice` is
    the sentence that lay over its screen.
    """

    command: str
    status: int | None
    words: str
    matrix: str
    seconds: float
    notice: str = ""

    @property
    def remedy(self) -> str:
        """The command that the last sentence names, "" if none does."""
        named = COMMAND.findall(self.notice if self.matrix else self.words)
        return named[-1].strip() if named else ""

    def fault(self) -> str:
        """Return what must not be, "" if the tutor runs, or a sentence with a command says what to do."""
        if "Traceback (most recent call last)" in self.words:
            return f"a traceback that ends in: {last_line(self.words)}"
        if self.matrix == "live" or (self.status == 0 and not self.matrix):
            return ""
        if not self.remedy:
            ended = f"status {self.status}" if not self.matrix else f"a {self.matrix} matrix"
            words = self.notice if self.matrix else self.words
            return f"{ended}, and no command is named; the last words: {last_line(words)}"
        expected = MADE_BY_MAKE if "make" in self.command.split() else INCOMPLETE
        if not self.matrix and self.status != expected:
            return f"status {self.status} instead of {expected}"
        return ""

    def __str__(self) -> str:
        shown = self.matrix or ("done" if self.status == 0 else f"status {self.status}")
        named = f", names `{self.remedy}`" if self.remedy and shown not in ("live", "done") else ""
        return f"`{self.command}`: {shown}{named} ({self.seconds:.0f} s)"


def last_line(words: str) -> str:
    """Return the last line with text."""
    return next((line.strip() for line in reversed(words.splitlines()) if line.strip()), "none")


class Terminal(Pty):
    """A terminal that keeps everything that was sent to it."""

    sent: str = ""

    def show(self, output: bytes) -> None:
        self.sent += output.decode("utf-8", "replace")
        super().show(output)

    @property
    def has_ended(self) -> bool:
        """Whether the program has ended."""
        return self._process.poll() is not None

    def words(self) -> str:
        """Return everything that was printed."""
        return CONTROL.sub("", self.sent)

    def notice(self) -> str:
        """Return the sentence that lies over the screen of a tutor, "" if none does."""
        lines = (re.search(r"(?:^|  )▌ (.*)", line) for line in self.screen.display)
        return " ".join(line[1].strip() for line in lines if line)

    def shows_map(self) -> bool:
        """Tell whether the tutor shows its map, and can tell what of it can run."""
        return "course map" in self.text and "loading" not in self.text

    def matrix(self) -> str:
        """Return what the first matrix is: `live`, `recorded` where no code can be run, or `waiting`."""
        if re.search(r" live,", self.text):
            return "live"
        return "recorded" if " recorded" in self.text and "cannot run code" in self.text else "waiting"

    def waits(self, condition: Callable[[], bool], seconds: float) -> None:
        """Wait until a condition holds, the program has ended, or time is up."""
        end = time.monotonic() + seconds
        while not (self.has_ended or condition()) and time.monotonic() < end:
            self.quiet(0.1)


@dataclass
class Learner:
    """Somebody who types commands in a checkout, each in a terminal of its own.

    `account` is the name of an account to use instead of the one that runs this. What happened is in `story`.
    """

    host: Host
    checkout: Path
    account: str = ""
    is_online: bool = True
    story: list[str] = field(default_factory=list)

    @property
    def home(self) -> Path:
        """Their home directory."""
        return self.host.folder / f"home-{self.account or 'own'}"

    def environ(self) -> dict[str, str]:
        """Return the environment of their terminal."""
        path = [self.host.python / "bin", self.host.another_python / "bin", os.environ["PATH"]]
        pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.host.wheels)} if self.is_online else {}
        return {
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "PATH": os.pathsep.join(map(str, path)),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PIP_CONFIG_FILE": os.devnull,
            **pip,
        }

    def _open(self, command: str) -> Terminal:
        prefix: list[str] = []
        if self.account:
            prefix = ["setpriv", f"--reuid={self.account}", f"--regid={self.account}", "--init-groups"]
        if not self.is_online:
            prefix = [*without_network(), *prefix]
        words = [*prefix, "sh", "-c", f"exec {command}" if "&&" not in command else command]
        return Terminal(words, self.environ(), WIDE, 50, cwd=self.checkout)

    def types(self, command: str) -> Outcome:
        """Type a command; if a tutor opens, open a step of it, see what its matrix is, and quit."""
        began = time.monotonic()
        with self._open(command) as terminal:
            terminal.waits(terminal.shows_map, INSTALLING)
            matrix = notice = ""
            if not terminal.has_ended and terminal.shows_map():
                terminal.type(ENTER)
                terminal.waits(lambda: terminal.matrix() != "waiting", OPENING)
                # A sentence may not be painted whole.
                terminal.quiet(0.5)
                matrix, notice = terminal.matrix(), terminal.notice()
            seconds = time.monotonic() - began
            if matrix and not terminal.has_ended:
                terminal.type(QUIT)
                terminal.waits(lambda: False, QUITTING)
            status = terminal.wait() if terminal.has_ended else None
            outcome = Outcome(command, status, terminal.words(), matrix, seconds, notice)
        self.story.append(str(outcome))
        return outcome

    def tries(self, command: str) -> Outcome:
        """Type a command that has to lead to a tutor that runs, or to a sentence that says what to type."""
        outcome = self.types(command)
        if fault := outcome.fault():
            raise Broken(f"`{command}`: {fault}")
        return outcome

    def succeeds(self, command: str) -> None:
        """Type a command, then what it says that has to be typed; in the end, the tutor has to run."""
        outcome = self.tries(command)
        if outcome.matrix != "live" and outcome.remedy:
            if not outcome.remedy.startswith(FOLLOWED):
                raise Broken(f"`{outcome.remedy}` is named, which is no remedy within the checkout, and is not tried")
            outcome = self.tries(outcome.remedy)
            if outcome.matrix != "live":
                outcome = self.tries("make learn")
        if outcome.matrix != "live" and outcome.status != 0:
            raise Broken(f"`{outcome.command}`, which was named, does not help: {last_line(outcome.words)}")

    def succeeds_at_once(self, command: str) -> None:
        """Type a command after which the tutor has to run, without another one."""
        outcome = self.tries(command)
        if outcome.matrix != "live":
            named = f"; `{outcome.remedy}` is named" if outcome.remedy else ""
            raise Broken(f"`{command}` is not enough{named}: {last_line(outcome.words)}")

    def is_told(self, command: str) -> None:
        """Type a command that cannot succeed here; it has to say what to type."""
        outcome = self.tries(command)
        if outcome.matrix == "live" or not outcome.remedy:
            raise Broken(f"`{command}` cannot have succeeded, and says so to nobody")

    def is_killed(self, command: str, when: Callable[[], bool], victim: str = "") -> None:
        """Type a command and kill it with all its processes, or the one with this word, when a condition holds."""
        with self._open(command) as terminal:
            end = time.monotonic() + INSTALLING
            while not when():
                if terminal.has_ended or time.monotonic() > end:
                    raise Broken(f"`{command}` did not come to where it is killed: {last_line(terminal.words())}")
                terminal.quiet(0.005)
            if victim:
                for process in processes_of(terminal.pid, victim):
                    os.kill(process, signal.SIGKILL)
            else:
                os.killpg(terminal.pid, signal.SIGKILL)
            status = terminal.wait(QUITTING)
            words = terminal.words()
        outcome = Outcome(command, status, words, "", 0)
        self.story.append(f"`{command}`: killed{f' ({victim})' if victim else ''}")
        if victim and (fault := outcome.fault()):
            raise Broken(f"`{command}`, whose {victim} was killed: {fault}")


def processes_of(session: int, word: str) -> Iterator[int]:
    """Yield the processes of a session whose command line has this word."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
            if os.getsid(int(folder.name)) == session and word.encode() in arguments:
                yield int(folder.name)
        except OSError:
            continue  # it has ended meanwhile


def without_network() -> list[str]:
    """Return the command that runs another one on a host whose network has gone. Raises `Skipped`."""
    for command in (["unshare", "--net"], ["unshare", "--net", "--map-root-user"]):
        if shutil.which(command[0]) and subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            return command
    raise Skipped("no namespace without a network can be made here")


@dataclass(frozen=True)
class Python:
    """A Python that makes environments: its folder, and its version such as `3.11`."""

    prefix: Path
    version: str

    @property
    def is_public(self) -> bool:
        """Whether others may use it."""
        return all(
            folder.stat().st_mode & 0o005 == 0o005 for folder in (self.prefix.resolve(), *self.prefix.resolve().parents)
        )


def found_pythons() -> list[Python]:
    """Return the Pythons at hand that the tutor could run on, one for each folder."""
    places = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True).stdout.strip()
        places = [*Path(root).glob("versions/*/bin"), *places]
    found = {}
    code = "import ensurepip, sys; print('%d.%d' % sys.version_info[:2], sys.base_prefix)"
    code += "; sys.exit(sys.version_info < (3, 11))"
    for file in [Path(sys.executable), *(file for place in places for file in sorted(place.glob("python3*")))]:
        if not re.fullmatch(r"python3?(\.\d+)?", file.name):
            continue
        run = subprocess.run([file, "-c", code], capture_output=True, text=True)
        if run.returncode == 0:
            version, _, prefix = run.stdout.strip().partition(" ")
            found[Path(prefix).resolve()] = Python(Path(prefix), version)
    return list(found.values())


class Host:
    """A folder with what a host needs to install the tutor; `prepare` fills it.

    All checkouts stand at the same path, one after the other: environments hold paths.
    """

    def __init__(self, folder: Path, tree: Path, revision: str) -> None:
        self.folder, self.tree, self.revision = folder, tree, revision
        self.python, self.another_python = folder / "python", folder / "another-python"
        self.wheels, self.checkout, self._whole = folder / "wheels", folder / "attn-tutor", folder / "whole"
        pythons = found_pythons()
        mine = f"{sys.version_info.major}.{sys.version_info.minor}"
        self.pythons = sorted(pythons, key=lambda python: (python.version != mine, not python.is_public))
        for link in (self.python, self.another_python):
            link.symlink_to(self.pythons[0].prefix)

    def prepare(self) -> None:
        """Fetch the packages as pip is configured here, and make an environment that is whole."""
        folder, checkout = self.folder / "fetching", self.fresh()
        run([self.python / "bin" / "python3", "-m", "venv", folder])
        project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
        constraints = checkout / "constraints.txt"
        torch = re.search(r"^torch==[^\s;]+", constraints.read_text(encoding="utf-8"), re.MULTILINE)
        if torch and sys.platform == "linux":
            # The build with CUDA is gigabytes larger. Where this index does not answer, pip has another place for it.
            where = ["--no-deps", "--retries", "1", "--extra-index-url", CPU_INDEX]
            self._fetch(*where, torch[0] if "+" in torch[0] else f"{torch[0]}+cpu")
        self._fetch(
            *("--find-links", self.wheels, "--constraint", constraints),
            *("setuptools", *project["project"]["dependencies"]),
        )
        for pip in OLD_PIPS:
            self._fetch("--no-deps", pip)
        outcome = Learner(self, self.checkout).types("make learn ARGS=--version")
        if outcome.status:
            raise Broken(f"the tutor cannot be installed here:\n{outcome.words}")
        self.checkout.rename(self._whole)
        self._state = self.state()

    def _fetch(self, *arguments: str | Path) -> None:
        pip = self.folder / "fetching" / "bin" / "pip"
        more = shlex.split(os.environ.get("PIP_ARGS", ""))
        run([pip, "download", "--quiet", "--dest", self.wheels, *more, *arguments])

    def fresh(self) -> Path:
        """Return a checkout without an environment."""
        self.clear()
        run(["git", "clone", "--quiet", "--shared", self.tree, self.checkout])
        run(["git", "-C", self.checkout, "-c", "advice.detachedHead=false", "checkout", "--quiet", self.revision])
        return self.checkout

    def whole(self) -> Path:
        """Return a checkout with an environment."""
        self.clear()
        # Only what pip has installed is shared with the one that is copied: pip replaces files and never changes them.
        (self.checkout / ".venv").mkdir(parents=True)
        for folder, other in ((Path(), ".venv"), (Path(".venv"), "lib")):
            entries = [entry for entry in (self._whole / folder).iterdir() if entry.name != other]
            run(["cp", "-a", *entries, self.checkout / folder])
        run(["cp", "-a", "--link", self._whole / ".venv" / "lib", self.checkout / ".venv"])
        return self.checkout

    def state(self) -> set[tuple[str, int, int]]:
        """Return what the environment that is copied consists of, which must not change."""
        files = ((path, path.lstat()) for path in self._whole.rglob("*"))
        return {(str(path), found.st_size, found.st_mtime_ns) for path, found in files if path.is_file()}

    def check(self) -> None:
        """Raise `RuntimeError` if a case has changed the environment that the others were copied from."""
        if self._whole.exists() and (changed := self.state() ^ self._state):
            raise RuntimeError(f"a case has changed what others are made from: {sorted(changed)[:3]}")

    def clear(self) -> None:
        """Remove the checkout and the homes of learners, and have the Python again."""
        for folder in (self.checkout, *self.folder.glob("home-*"), *self.folder.glob("moved*")):
            shutil.rmtree(folder, ignore_errors=True)
        (self.folder / "home-own").mkdir()
        for link in (self.python, self.another_python):
            self.point(link, self.pythons[0].prefix)

    def point(self, link: Path, target: Path | None) -> None:
        """Have a folder of Python be another one, or (None) be gone."""
        link.unlink(missing_ok=True)
        if target:
            link.symlink_to(target)


OLD_PIPS = ("pip==21.2.4", "pip==22.3")
"""Versions of pip: too old to install from `pyproject.toml` alone, and the oldest that is not."""


def run(command: Sequence[str | Path]) -> None:
    """Run a command of the examination itself. Raises `RuntimeError`."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(map(str, command))} has failed:\n{done.stdout}{done.stderr}")
