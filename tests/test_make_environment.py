"""The environment of a checkout: what is damaged is found, and each failure is explained."""

from __future__ import annotations

import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path
from typing import ClassVar

import make_environment
import pytest
import torch_index
from make_environment import Environment, Failure, checksum, explain, forget, install, is_whole, new_environment

ROOT = Path(__file__).parent.parent
AGAIN = "make learn"


@pytest.fixture
def package(tmp_path: Path) -> PathDistribution:
    """A package as pip leaves it: a module of eight bytes, what was compiled from it, and the list of both."""
    (tmp_path / "module.py").write_text("x = 1234")
    info = tmp_path / "package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: package\nVersion: 1.0\n")
    (info / "RECORD").write_text("module.py,sha256=x,8\n__pycache__/module.pyc,,\npackage-1.0.dist-info/RECORD,,\n")
    return PathDistribution(info)


def test_package_with_all_files_is_whole(package: PathDistribution) -> None:
    """What is compiled may be missing; Python makes it."""
    assert is_whole(package)


@pytest.mark.parametrize("text", [None, "", "x = 12345"])
def test_package_with_another_file_is_damaged(package: PathDistribution, tmp_path: Path, text: str | None) -> None:
    module = tmp_path / "module.py"
    module.unlink() if text is None else module.write_text(text)
    assert not is_whole(package)


def test_package_with_other_bytes_is_damaged(package: PathDistribution, tmp_path: Path) -> None:
    """As after a power cut, which leaves zeros. All bytes are read only where something is known to be wrong."""
    record = tmp_path / "package-1.0.dist-info" / "RECORD"
    digest = checksum(tmp_path / "module.py", "sha256")
    record.write_text(f"module.py,sha256={digest},8\npackage-1.0.dist-info/RECORD,,\n")
    assert is_whole(package, thorough=True)
    (tmp_path / "module.py").write_bytes(bytes(8))
    assert is_whole(package)
    assert not is_whole(package, thorough=True)


@pytest.mark.parametrize("name", ["RECORD", "METADATA"])
def test_package_that_was_not_installed_to_the_end_is_damaged(
    package: PathDistribution, tmp_path: Path, name: str
) -> None:
    (tmp_path / "package-1.0.dist-info" / name).unlink()
    assert not is_whole(package)


def test_pip_does_not_find_a_package_that_was_forgotten(package: PathDistribution, tmp_path: Path) -> None:
    forget(package)
    assert list(Distribution.discover(path=[str(tmp_path)])) == []


def test_folder_of_something_else_is_not_cleared(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "letters").write_text("kept")
    with pytest.raises(Failure, match=r"is not empty.*make learn VENV=FOLDER"):
        new_environment(tmp_path, AGAIN)
    assert (tmp_path / "letters").read_text() == "kept"


def test_this_environment_is_found() -> None:
    found = Environment.find(Path(sys.prefix))
    assert found is not None
    assert is_whole(next(iter(Distribution.discover(name="pytest", path=[str(found.packages)]))))


def test_folder_without_a_python_that_has_pip_is_no_environment(tmp_path: Path) -> None:
    assert Environment.find(tmp_path) is None
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to("nowhere")
    assert Environment.find(tmp_path) is None
    python.unlink()
    python.write_text("#!/bin/sh\necho 'no module named pip' >&2; exit 1\n")
    python.chmod(0o755)
    assert Environment.find(tmp_path) is None


@pytest.mark.parametrize(
    ("words", "begins", "ends"),
    [
        ("OSError: [Errno 28] No space left on device", "The disk is full: ", "Make room, then type: make learn"),
        ("Retrying after connection broken by 'NewConnectionError(", "No package index could ", "type: make learn"),
        ("[Errno -3] Temporary failure in name resolution", "No package index could ", "type: make learn"),
        ("No matching distribution found for torch==2.13.0", "There is no torch==2.13.0 for Python", "=python3.11"),
        (
            "ERROR: Cannot install torch because these package versions have conflicting dependencies.",
            "There is no torch for Python",
            "=python3.11",
        ),
    ],
)
def test_failure_is_explained(words: str, begins: str, ends: str) -> None:
    explained = explain(words, Path(".venv"), AGAIN, {})
    assert explained.startswith(begins)
    assert explained.endswith(ends)


def test_folder_of_wheels_that_lacks_one() -> None:
    words = "No matching distribution found for torch==2.13.0"
    explained = explain(words, Path(".venv"), AGAIN, {"PIP_ARGS": "--no-index --find-links wheels"})
    assert explained.startswith("The folders that PIP_ARGS names have no torch==2.13.0 ")


@pytest.mark.parametrize(
    ("found", "begins"), [("2.6.0, 2.13.0", "Ask for it"), ("none", "There is no torch==2.13.0+cpu")]
)
def test_another_build_is_named_only_where_there_is_one(found: str, begins: str) -> None:
    """For a Python that is too new, PyTorch has none at all."""
    words = (
        f"ERROR: Could not find a version that satisfies the requirement torch==2.13.0+cpu (from versions: {found})\n"
    )
    words += "ERROR: No matching distribution found for torch==2.13.0+cpu"
    assert explain(words, Path(".venv"), AGAIN, {}, "Ask for it").startswith(begins)


def test_checkout_that_cannot_be_written_to_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "Error: [Errno 30] Read-only file system: '.venv'"
    assert explain(words, Path(".venv"), AGAIN) == ""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    copy = f"cp -R {ROOT} ~/attn-tutor && make -C ~/attn-tutor learn"
    assert explain(words, Path(".venv"), AGAIN).endswith(copy)


def test_environment_that_somebody_else_has_made_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As root has, in a checkout of one's own."""
    folder = tmp_path / ".venv"
    folder.mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: path != folder)
    explained = explain("[Errno 13] Permission denied: 'x'", folder, AGAIN)
    assert explained.endswith(f"cp -R {ROOT} ~/attn-tutor && make -C ~/attn-tutor learn")


def test_environment_that_is_closed_is_left_out_of_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(Failure, match="closed to you") as failure:
        new_environment(tmp_path, AGAIN)
    copy = f"mkdir ~/attn-tutor && cp -R {ROOT}/* {ROOT}/.ci ~/attn-tutor && make -C ~/attn-tutor learn"
    assert str(failure.value).endswith(copy)


def test_words_of_pip_are_shown_if_nobody_knows_what_they_mean(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'something new' >&2; exit 1\n")
    python.chmod(0o755)
    with pytest.raises(Failure, match="pip could not install the tutor"):
        install(Environment(python, tmp_path), tmp_path, ["torch"], AGAIN)
    assert capfd.readouterr().err == "something new\n"


def asked_of_pip(monkeypatch: pytest.MonkeyPatch, folder: Path, *options: str, status: int = 0) -> list[list[str]]:
    """Return what pip is asked for when an environment is made; what renews pip, with this status, is in a file."""
    asked: list[list[str]] = []
    python = folder / "python"
    python.write_text(f'#!/bin/sh\necho "$@" > "{folder}/asked"; echo no pip >&2; exit {status}\n')
    python.chmod(0o755)
    monkeypatch.setattr(Environment, "find", lambda _: Environment(python, folder))
    monkeypatch.setattr(make_environment, "install", lambda found, folder, arguments, *_: asked.append(arguments))
    monkeypatch.setenv("PIP_ARGS", "--proxy here")
    monkeypatch.setattr(sys, "argv", ["", ".venv", "--constraints", str(ROOT / "constraints.txt"), *options])
    make_environment.main()
    assert all("--proxy" in arguments for arguments in asked)
    return asked


@pytest.mark.parametrize("dev", [[], ["--dev"]])
def test_only_torch_comes_from_the_index(dev: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_INDEX", "https://mirror/torch")
    asked = asked_of_pip(monkeypatch, tmp_path, *dev)
    assert ["https://mirror/torch" in arguments for arguments in asked] == [False, True, False, False]
    assert asked[1][-5:] == ["--no-deps", "--no-compile", "--index-url", "https://mirror/torch", "torch"]
    assert asked[3][-1] == (".[dev]" if dev else ".")
    assert all("--constraint" in arguments for arguments in asked)


def test_an_exact_version_of_torch_has_no_constraint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of both, pip would say that they are in conflict, where it has found neither."""
    monkeypatch.setattr(torch_index, "choice_for", lambda *_: torch_index.Choice("torch==0.1.0+cpu"))
    asked = asked_of_pip(monkeypatch, tmp_path)
    assert ["--constraint" in arguments for arguments in asked] == [True, False, True, True]
    assert asked[1][-1] == "torch==0.1.0+cpu"


@pytest.mark.parametrize("status", [0, 1])
def test_a_newer_pip_comes_before_all_that_takes_long_if_there_is_one(
    status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of wheels may have none: nothing is said about that."""
    asked = asked_of_pip(monkeypatch, tmp_path, status=status)
    words = (tmp_path / "asked").read_text().split()
    assert words[:4] == ["-m", "pip", "--disable-pip-version-check", "install"]
    assert words[-1] == "pip"
    assert {"--proxy", "--constraint", "1"} <= set(words)
    assert [arguments[-1] for arguments in asked][::3] == ["setuptools", "."]


def test_a_pip_that_is_interrupted_ends_the_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failure, match="interrupted"):
        asked_of_pip(monkeypatch, tmp_path, status=130)


@pytest.mark.parametrize(("options", "compiles"), [([], True), (["--dev"], False)])
def test_the_first_screen_of_a_learner_waits_for_no_compiler(
    options: list[str], compiles: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ("--no-compile" not in asked_of_pip(monkeypatch, tmp_path, *options)[-1]) == compiles


class Index(http.server.BaseHTTPRequestHandler):
    """A package index like PyPI, with no CPU build of torch. `asked` is what pip has asked it for."""

    asked: ClassVar[list[str]] = []
    versions = "0.1.0", torch_index.wanted((ROOT / "constraints.txt").read_text(encoding="utf-8"))

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        if self.path == "/torch/":
            names = [f"torch-{version}-py3-none-any.whl" for version in self.versions]
            page = "".join(f'<a href="/files/{name}">{name}</a>' for name in names)
            self.wfile.write(f"<!DOCTYPE html>{page}".encode())

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.mark.parametrize(
    ("variables", "says"), [({}, r"make learn CUDA=1$"), ({"CUDA": "1"}, "pip could not install the tutor")]
)
def test_torch_is_no_download_of_gigabytes_unless_it_is_asked_for(
    variables: dict[str, str], says: str, tmp_path: Path
) -> None:
    """A real pip, and an index without a CPU build; whoever asks for any build has it fetched (here it is no wheel)."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        choice = torch_index.choose(variables, "linux", "0.1.0", AGAIN, lambda index: False)
        address = f"http://127.0.0.1:{server.server_port}"
        options = ["--isolated", "--no-cache-dir", "--no-deps", "--target", str(tmp_path), "--index-url", address]
        Index.asked.clear()
        with pytest.raises(Failure, match=says):
            install(
                Environment(Path(sys.executable), tmp_path),
                tmp_path,
                [*options, *choice.arguments],
                AGAIN,
                choice.missing,
            )
        server.shutdown()
    fetched = [path for path in Index.asked if path.startswith("/files/")]
    assert bool(fetched) == bool(variables)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no build with CUDA")
@pytest.mark.parametrize(("constraints", "is_fetched"), [("constraints-cpu.txt", False), ("constraints.txt", True)])
def test_lines_of_the_readme_download_no_gigabytes(constraints: str, is_fetched: bool, tmp_path: Path) -> None:
    """A real pip that reaches PyPI (here one whose torch is no wheel), but not PyTorch's own index."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        options = ["--isolated", "--no-cache-dir", "--no-deps", "--target", str(tmp_path), "--index-url", address]
        options += ["--constraint", str(ROOT / constraints)]
        command = [sys.executable, "-m", "pip", "install", *options, "torch>=2.6,<3"]
        Index.asked.clear()
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        server.shutdown()
    assert done.returncode
    assert any(path.startswith("/files/") for path in Index.asked) == is_fetched
    assert ("conflict" in done.stderr) != is_fetched


def test_readme_has_pip_and_pipx_take_only_the_build_for_the_cpu() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^    (?:pip|pipx) install .+$", readme, re.MULTILINE)
    assert len(lines) == 2
    assert all(f"--constraint constraints-cpu.txt --extra-index-url {torch_index.CPU_INDEX}" in line for line in lines)


def test_build_for_the_cpu_has_the_version_of_the_other_constraints() -> None:
    every, cpu = ((ROOT / name).read_text(encoding="utf-8") for name in ("constraints.txt", "constraints-cpu.txt"))
    assert torch_index.wanted(cpu) == f"{torch_index.wanted(every)}+cpu"


# make ----------------------------------------------------------------------------------------------------------------

PYTHON = """#!/bin/sh
here=$(dirname "$0")/..
case "$1" in
-c) exit 0 ;;
.ci/make_environment.py) echo installs; touch "$here/complete" ;;
-m) echo starts; test -e "$here/complete" || exit 4 ;;
esac
"""


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A folder with a Python that installs nothing and starts nothing, but says so."""
    folder = tmp_path / "environment"
    (folder / "bin").mkdir(parents=True)
    (folder / "lib/python3.11/site-packages/textual-8.2.8.dist-info").mkdir(parents=True)
    (folder / "bin/python").write_text(PYTHON)
    (folder / "bin/python").chmod(0o755)
    shutil.copy(ROOT / "constraints.txt", tmp_path)
    return folder


def make(environment: Path, *arguments: str) -> list[str]:
    """Run make in an environment; return what it did."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "AGAIN"))}
    constraints = environment.parent / "constraints.txt"
    command = ["make", "--silent", f"VENV={environment}", f"CONSTRAINTS={constraints}", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_environment_is_made_once(environment: Path) -> None:
    assert make(environment, "learn") == ["installs", "starts"]
    assert make(environment, "learn") == ["starts"]


def test_environment_that_is_not_what_it_was_is_put_right(environment: Path) -> None:
    """Whether its stamp is from another time, the versions have changed, or a package has gone."""
    make(environment, "learn")
    (environment / ".ready").touch()
    (environment / ".ready").write_text("")
    assert make(environment, "learn") == ["installs", "starts"]
    with (environment.parent / "constraints.txt").open("a") as constraints:
        constraints.write("more==1.0\n")
    os.utime(environment.parent / "constraints.txt", (0, 0))
    assert make(environment, "learn") == ["installs", "starts"]
    shutil.rmtree(environment / "lib")
    assert make(environment, "learn") == ["installs", "starts"]
    assert make(environment, "learn") == ["starts"]


def test_reading_all_files_is_for_what_is_damaged(environment: Path) -> None:
    """It takes seconds."""
    make(environment, "learn")
    python = environment / "bin/python"
    python.write_text(python.read_text().replace("echo installs", 'echo installs "$@"'))
    assert "--thorough" in make(environment, "reinstall")
    (environment / ".ready").write_text("")
    assert "--thorough" not in make(environment, "learn")


def test_tutor_that_lacks_a_package_is_installed_and_started_again(environment: Path) -> None:
    make(environment, "learn")
    (environment / "complete").unlink()
    assert make(environment, "learn") == ["starts", "installs", "starts"]
    assert make(environment, "reinstall") == ["installs"]
