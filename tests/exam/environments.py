"""What becomes of a tutor whose environment is moved, damaged or somebody else's: it runs, or says what to type.

`python -m tests.exam.environments [--tree PATH] [--revision REV] [CASE ...]` installs a clone of the tree once, the way
a learner does, from packages that pip finds as it is configured here. Then it makes each case from a copy, types what a
learner types, and what that says has to be typed, and prints a line. It returns 1 if a case ends in anything but a
tutor that runs, or a sentence with a command and the exit status that belongs to it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.exam.scratch_host import OLD_PIPS, ROOT, Broken, Host, Learner, Skipped, run

MAKE, TUTOR = "make learn", ".venv/bin/attn-tutor"
Case = Callable[[Host, list[str]], None]
CASES: dict[str, Case] = {}


def case(name: str) -> Callable[[Case], Case]:
    """Register a case: a function that makes it on a host, and has a learner tell a story."""

    def register(function: Case) -> Case:
        CASES[name] = function
        return function

    return register


def packages(checkout: Path) -> Path:
    """Return the folder that the packages of a checkout's environment are in."""
    return next((checkout / ".venv" / "lib").glob("python3*/site-packages"))


def remove(checkout: Path, *names: str) -> None:
    """Remove packages, and what says that they are installed."""
    for name in names:
        shutil.rmtree(packages(checkout) / name, ignore_errors=True)
        shutil.rmtree(next(packages(checkout).glob(f"{name}-*.dist-info")))


def forget_stamps(checkout: Path) -> None:
    """Have the environment be one that was never complete."""
    for stamp in checkout.glob(".venv/.ready*"):
        stamp.unlink()


# Moved, or with a Python or a pip that is different -------------------------------------------------------------------


@case("moved")
def moved(host: Host, story: list[str]) -> None:
    """The folder of the checkout gets a different name, with a space in it."""
    there = host.whole().rename(host.folder / "moved here")
    learner = Learner(host, there, story=story)
    learner.succeeds(MAKE)
    learner.succeeds(TUTOR)


@case("copied")
def copied(host: Host, story: list[str]) -> None:
    """The checkout is copied, and the first one is removed."""
    there = host.folder / "moved"
    run(["cp", "-R", host.whole(), there])
    shutil.rmtree(host.checkout)
    learner = Learner(host, there, story=story)
    learner.succeeds_at_once(MAKE)
    learner.succeeds_at_once(TUTOR)


def _with_pip(version: str) -> Case:
    def old_pip(host: Host, story: list[str]) -> None:
        checkout = host.whole()
        python = checkout / ".venv" / "bin" / "python"
        run([python, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", host.wheels, version])
        # There has to be something to install.
        remove(checkout, "attn_tutor", "platformdirs")
        forget_stamps(checkout)
        Learner(host, checkout, story=story).succeeds_at_once(MAKE)

    return old_pip


for _version in OLD_PIPS:
    case(_version.replace("==", "-"))(_with_pip(_version))


@case("python-gone")
def python_gone(host: Host, story: list[str]) -> None:
    """The Python of the environment has been removed; there is another one of its version."""
    checkout = host.whole()
    host.point(host.python, None)
    Learner(host, checkout, story=story).succeeds(MAKE)


@case("no-python")
def no_python(host: Host, story: list[str]) -> None:
    """The Python of the environment has been removed, and there is none of the name that make uses."""
    checkout = host.whole()
    host.point(host.python, None)
    Learner(host, checkout, story=story).is_told(f"{MAKE} PYTHON=python-of-nobody")


@case("python-replaced")
def python_replaced(host: Host, story: list[str]) -> None:
    """The system has been upgraded: the same Python has a different version."""
    others = [python for python in host.pythons if python.version != host.pythons[0].version]
    if not others:
        raise Skipped("there is no second version of Python here")
    checkout = host.whole()
    host.point(host.python, others[0].prefix)
    story.append(f"{host.pythons[0].version} became {others[0].version}")
    Learner(host, checkout, story=story).succeeds(MAKE)


# A second user --------------------------------------------------------------------------------------------------------


ROOTS = (".venv", "attn_tutor.egg-info")
"""What an installation writes."""


@contextmanager
def second_account(host: Host) -> Iterator[str]:
    """Have an account on this host for a while; yield its name. Raises `Skipped`."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("useradd", "userdel", "setpriv"))):
        raise Skipped("only root can make a second user")
    if not host.pythons[0].is_public:
        raise Skipped("there is no Python here that others may use")
    name = f"learner-{uuid.uuid4().hex[:8]}"
    home = host.folder / f"home-{name}"
    run(["useradd", "--no-create-home", "--home-dir", home, "--user-group", name])
    try:
        home.mkdir()
        shutil.chown(home, name, name)
        yield name
    finally:
        run(["userdel", name])


@case("user-own-copy")
def user_with_own_copy(host: Host, story: list[str]) -> None:
    """A second user copies the whole folder of the first one."""
    checkout = host.whole()
    with second_account(host) as account:
        learner = Learner(host, checkout, account, story=story)
        learner.succeeds_at_once("cp -R . ~/attn-tutor && make -C ~/attn-tutor learn")


@case("user-reads")
def user_who_reads(host: Host, story: list[str]) -> None:
    """A second user starts the tutor of the first one, which they may read."""
    checkout = host.whole()
    with second_account(host) as account:
        learner = Learner(host, checkout, account, story=story)
        learner.succeeds_at_once(MAKE)
        learner.succeeds_at_once(TUTOR)


@case("user-reads-incomplete")
def user_who_reads_what_is_incomplete(host: Host, story: list[str]) -> None:
    """So they do, but a package has gone, and they may not install it there."""
    checkout = host.whole()
    remove(checkout, "platformdirs")
    with second_account(host) as account:
        Learner(host, checkout, account, story=story).succeeds(MAKE)


@case("user-no-environment")
def user_of_a_fresh_checkout(host: Host, story: list[str]) -> None:
    """The first user has installed nothing, and the second may not."""
    checkout = host.fresh()
    with second_account(host) as account:
        Learner(host, checkout, account, story=story).succeeds(MAKE)


@case("user-closed-environment")
def user_who_may_not_use_it(host: Host, story: list[str]) -> None:
    """The environment of the first user is closed to others."""
    checkout = host.whole()
    (checkout / ".venv").chmod(0o700)
    with second_account(host) as account:
        Learner(host, checkout, account, story=story).succeeds(MAKE)


@case("user-after-root")
def user_after_root(host: Host, story: list[str]) -> None:
    """The checkout is the second user's own, but root has installed it, and a package has gone."""
    checkout = host.whole()
    remove(checkout, "platformdirs")
    with second_account(host) as account:
        run(["chown", "-R", account, *(path for path in checkout.iterdir() if path.name not in ROOTS)])
        shutil.chown(checkout, account, account)
        Learner(host, checkout, account, story=story).succeeds(MAKE)


@case("user-closed-python")
def user_who_may_not_use_its_python(host: Host, story: list[str]) -> None:
    """The environment is open to others, but its Python is in the first user's home."""
    checkout = host.whole()
    closed = host.folder / "home-own" / "python"
    closed.symlink_to(host.pythons[0].prefix)
    closed.parent.chmod(0o700)
    host.point(host.python, closed)
    with second_account(host) as account:
        Learner(host, checkout, account, story=story).succeeds(MAKE)


# Killed while it is installed -----------------------------------------------------------------------------------------


def exists(checkout: Path, pattern: str) -> bool:
    """Tell whether the environment has a file of this pattern."""
    return any((checkout / ".venv").glob(f"lib/python3*/site-packages/{pattern}"))


@case("killed-venv")
def killed_while_the_environment_is_made(host: Host, story: list[str]) -> None:
    """Everything is killed when pip is half there."""
    checkout = host.fresh()
    learner = Learner(host, checkout, story=story)
    learner.is_killed(MAKE, lambda: exists(checkout, "pip"))
    learner.succeeds(MAKE)


def _half_there(checkout: Path, name: str, file: str) -> Callable[[], bool]:
    return lambda: exists(checkout, f"{name}/{file}") and not exists(checkout, f"{name}-*.dist-info/RECORD")


@case("killed-torch")
def killed_while_torch_is_installed(host: Host, story: list[str]) -> None:
    """Everything is killed when torch is half there."""
    checkout = host.whole()
    remove(checkout, "torch")
    forget_stamps(checkout)
    learner = Learner(host, checkout, story=story)
    learner.is_killed(MAKE, _half_there(checkout, "torch", "nn"))
    learner.succeeds_at_once(MAKE)


@case("killed-pip")
def killed_pip(host: Host, story: list[str]) -> None:
    """Pip alone is killed when torch is half there, as it is where memory is short."""
    checkout = host.whole()
    remove(checkout, "torch")
    forget_stamps(checkout)
    learner = Learner(host, checkout, story=story)
    learner.is_killed(MAKE, _half_there(checkout, "torch", "nn"), victim="pip")
    learner.succeeds(MAKE)


@case("killed-rest")
def killed_while_the_rest_is_installed(host: Host, story: list[str]) -> None:
    """Everything is killed when textual is half there."""
    checkout = host.whole()
    remove(checkout, "textual", "rich", "attn_tutor")
    forget_stamps(checkout)
    learner = Learner(host, checkout, story=story)
    learner.is_killed(MAKE, _half_there(checkout, "textual", "__init__.py"))
    learner.succeeds_at_once(MAKE)


# Damaged --------------------------------------------------------------------------------------------------------------


def _damaged(damage: Callable[[Path], None]) -> tuple[Case, Case]:
    def with_make(host: Host, story: list[str]) -> None:
        checkout = host.whole()
        damage(checkout)
        Learner(host, checkout, story=story).succeeds(MAKE)

    def with_command(host: Host, story: list[str]) -> None:
        checkout = host.whole()
        damage(checkout)
        Learner(host, checkout, story=story).succeeds(TUTOR)

    return with_make, with_command


def _half_a_package(checkout: Path) -> None:
    """Leave of a package what is left where its installation was killed before it was listed."""
    next(packages(checkout).glob("rich-*.dist-info/RECORD")).unlink()
    shutil.rmtree(packages(checkout) / "rich" / "_unicode_data", ignore_errors=True)
    (packages(checkout) / "rich" / "console.py").unlink()


def _rewrite(file: str, content: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def damage(checkout: Path) -> None:
        path = packages(checkout) / file
        whole = path.read_bytes()
        path.unlink()
        path.write_bytes(content(whole))

    return damage


DAMAGES: dict[str, Callable[[Path], None]] = {
    "textual-folder": lambda checkout: shutil.rmtree(packages(checkout) / "textual"),
    "textual-empty-file": _rewrite("textual/app.py", lambda whole: b""),
    "textual-zeros": _rewrite("textual/app.py", lambda whole: bytes(len(whole))),
    "rich-half": _half_a_package,
    "torch-zeros": _rewrite("torch/functional.py", lambda whole: bytes(len(whole))),
    "torch-lib": lambda checkout: shutil.rmtree(packages(checkout) / "torch" / "lib"),
    "torch-folder": lambda checkout: shutil.rmtree(packages(checkout) / "torch"),
    "torch-cut-short": _rewrite("torch/lib/libtorch_cpu.so", lambda whole: whole[: len(whole) // 2]),
    "torch-uninstalled": lambda checkout: run(
        [checkout / ".venv" / "bin" / "python", "-m", "pip", "uninstall", "--quiet", "--yes", "torch"]
    ),
}
"""What is done to an environment behind make's back. A power cut leaves empty files, or files of zeros."""

for _name, _damage in DAMAGES.items():
    _make, _command = _damaged(_damage)
    case(_name)(_make)
    case(f"{_name}-command")(_command)


# A stamp that is wrong ------------------------------------------------------------------------------------------------


@case("stamp-of-less")
def stamp_of_less(host: Host, story: list[str]) -> None:
    """The stamp is the newest file, but a package has gone."""
    checkout = host.whole()
    remove(checkout, "platformdirs")
    for stamp in checkout.glob(".venv/.ready*"):
        stamp.touch()
    Learner(host, checkout, story=story).succeeds(MAKE)


@case("stamp-of-nothing")
def stamp_of_nothing(host: Host, story: list[str]) -> None:
    """The stamp and the Python are all that is left."""
    checkout = host.whole()
    shutil.rmtree(checkout / ".venv" / "lib")
    Learner(host, checkout, story=story).succeeds(MAKE)


# No network -----------------------------------------------------------------------------------------------------------


@case("offline")
def offline(host: Host, story: list[str]) -> None:
    """A tutor that is installed needs no network."""
    Learner(host, host.whole(), is_online=False, story=story).succeeds_at_once(MAKE)


@case("offline-fresh")
def offline_fresh(host: Host, story: list[str]) -> None:
    """There is nothing to install from; later there is."""
    learner = Learner(host, host.fresh(), is_online=False, story=story)
    learner.is_told(MAKE)
    learner.is_online = True
    learner.succeeds(MAKE)


@case("offline-damaged")
def offline_damaged(host: Host, story: list[str]) -> None:
    """A package has gone, and there is nothing to install it from; later there is."""
    checkout = host.whole()
    shutil.rmtree(packages(checkout) / "textual")
    learner = Learner(host, checkout, is_online=False, story=story)
    learner.is_told(MAKE)
    learner.is_online = True
    learner.succeeds(MAKE)


@case("no-cpu-build")
def no_cpu_build(host: Host, story: list[str]) -> None:
    """Of PyTorch there is only a build that may take gigabytes; later there is one that does not."""
    wheel = next(host.wheels.glob("torch-*+cpu-*"), None)
    if wheel is None:
        raise Skipped("PyTorch has no CPU build of its own here")
    away, other = host.folder / wheel.name, host.wheels / wheel.name.replace("+cpu", "")
    learner = Learner(host, host.fresh(), story=story)
    wheel.rename(away)
    other.touch()
    try:
        # PyTorch's own index might answer here.
        outcome = learner.tries(f"{MAKE} TORCH_INDEX=")
    finally:
        other.unlink()
        away.rename(wheel)
    if outcome.remedy != f"{MAKE} CUDA=1":
        raise Broken(f"`{outcome.remedy}` is named, which does not say that another build was not asked for")
    learner.succeeds(MAKE)


def examine(name: str, host: Host) -> bool:
    """Examine a case and print what became of it; return whether it holds."""
    story: list[str] = []
    try:
        CASES[name](host, story)
        result = "holds"
    except Broken as broken:
        result = "FAILS"
        story.append(str(broken))
    except Skipped as skipped:
        result = "skipped"
        story.append(str(skipped))
    print(f"{name:26}  {result:7}  {'; '.join(story)}", flush=True)
    return result != "FAILS"


def main(arguments: Sequence[str]) -> int:
    """Examine cases; return 1 if any does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.exam.environments", description=__doc__)
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to clone (this one)")
    parser.add_argument("--revision", default="HEAD", help="what to check out in the clone (HEAD of the tree)")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    options = parser.parse_args(arguments)
    if unknown := set(options.cases).difference(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(prefix="environments-") as folder:
        # A second user has to come here.
        Path(folder).chmod(0o755)
        described = ["git", "-C", str(options.tree), "log", "-1", "--format=%h %s", options.revision]
        print(subprocess.run(described, capture_output=True, text=True, check=True).stdout.strip(), flush=True)
        host = Host(Path(folder), options.tree.resolve(), options.revision)
        host.prepare()
        results = [examine(name, host) for name in options.cases or CASES]
        host.check()
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
