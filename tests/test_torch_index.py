"""Which index `make` asks for torch."""

from __future__ import annotations

import http.server
import importlib.metadata
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch_index
from torch_index import CPU_INDEX, SECONDS, Choice, answers, choose, is_installed, wanted

ROOT = Path(__file__).parent.parent


class Index(http.server.BaseHTTPRequestHandler):
    """A package index that has torch, and nothing else."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/torch/" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@contextmanager
def served(handler: type[http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve on this machine; yield the address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def dripping() -> Iterator[str]:
    """The address of an index that sends its answer byte by byte, each in good time, for twelve seconds."""
    stopped = threading.Event()

    class Dripping(Index):
        def do_GET(self) -> None:
            for byte in b"HTTP/1.0 200 OK\r\n" + b"X-Wait: 1\r\n" * 18 + b"\r\n":
                if stopped.wait(0.05):
                    return
                self.wfile.write(bytes([byte]))

    with served(Dripping) as url:
        yield url
        stopped.set()


def refuse(index: str) -> bool:
    raise AssertionError(f"{index} was asked")


def chosen(
    environment: dict[str, str],
    answers: Callable[[str], bool] = refuse,
    platform: str = "linux",
    version: str = "2.13.0",
) -> Choice:
    return choose(environment, platform, version, "make learn", answers)


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_index_that_the_user_names_wins(platform: str) -> None:
    """So does a build of it, and PyPI is not asked instead if it has none."""
    choice = chosen({"TORCH_INDEX": "https://mirror/torch", "CUDA": "1"}, platform=platform)
    assert choice.arguments == ["--index-url", "https://mirror/torch", "torch"]
    assert "TORCH_INDEX" in choice.line
    assert "https://mirror/torch has no PyTorch" in choice.missing


def test_index_that_the_user_leaves_empty_is_none() -> None:
    """A build with CUDA is not asked for by that."""
    choice = chosen({"TORCH_INDEX": ""})
    assert choice.arguments == ["torch==2.13.0+cpu"]
    assert "TORCH_INDEX" in choice.line
    assert chosen({"TORCH_INDEX": "", "CUDA": "1"}).arguments == ["torch"]


@pytest.mark.parametrize("environment", [{}, {"CUDA": "1"}])
def test_mac_asks_for_nothing(environment: dict[str, str]) -> None:
    assert chosen(environment, platform="darwin") == Choice()


def test_environment_that_has_torch_asks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_index, "choose", refuse)
    assert torch_index.choice_for("2.13.0+cpu", "torch==2.13.0", "make learn") == Choice()


def test_pip_without_indexes_asks_for_nothing() -> None:
    assert chosen({"PIP_ARGS": "--find-links wheels --no-index"}) == Choice()


def test_cuda_is_what_pip_finds() -> None:
    choice = chosen({"CUDA": "1"})
    assert choice.arguments == ["torch"]
    assert "CUDA=1" in choice.line


@pytest.mark.parametrize("cuda", ["", "0", "/usr/local/cuda"])
def test_linux_takes_the_cpu_build(cuda: str) -> None:
    choice = chosen({"CUDA": cuda, "PIP_ARGS": "--quiet"}, lambda index: index == CPU_INDEX)
    assert choice.arguments == ["--index-url", CPU_INDEX, "torch==2.13.0+cpu"]
    assert "CPU" in choice.line
    assert "CUDA=1" in choice.line


def test_linux_takes_no_other_build_when_the_index_does_not_answer() -> None:
    choice = chosen({}, lambda index: False)
    assert choice.arguments == ["torch==2.13.0+cpu"]
    assert "does not answer" in choice.line
    assert choice.missing.endswith(": make learn CUDA=1")


def test_versions_that_are_open_come_from_the_index_alone() -> None:
    """Without a version, no CPU build can be asked for by its name."""
    assert chosen({}, version="").arguments == ["--index-url", CPU_INDEX, "torch"]


def test_build_that_the_constraints_name_is_asked_for() -> None:
    assert chosen({}, lambda index: True, version="2.13.0+cpu").requirement == "torch==2.13.0+cpu"


@pytest.mark.parametrize("environment", [{}, {"CUDA": "1"}, {"TORCH_INDEX": ""}, {"TORCH_INDEX": "https://mirror"}])
@pytest.mark.parametrize("version", ["", "2.13.0"])
def test_what_is_used_is_said_in_one_line(environment: dict[str, str], version: str) -> None:
    for reply in (False, True):
        line = chosen(environment, {CPU_INDEX: reply}.__getitem__, version=version).line
        assert line.startswith("PyTorch: ")
        assert len(line.splitlines()) == 1


def test_index_with_torch_answers() -> None:
    with served(Index) as url:
        assert answers(url)


def test_index_without_torch_does_not_answer() -> None:
    with served(Index) as url:
        assert not answers(f"{url}/other")


def test_host_that_refuses_does_not_answer() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert not answers(f"http://127.0.0.1:{bound.getsockname()[1]}")


def test_server_that_speaks_no_http_does_not_answer() -> None:
    class Other(Index):
        def do_GET(self) -> None:
            self.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n")

    with served(Other) as url:
        assert not answers(url)


def test_probe_takes_three_seconds_at_most(dripping: str) -> None:
    """Were the limit one for each read, the answer would be complete after twelve seconds, and would count."""
    assert SECONDS == 3
    assert not answers(dripping)


def test_search_for_the_address_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, found, ended = threading.Event(), threading.Event(), threading.Event()

    def lookup(*_: object, **__: object) -> list[object]:
        begun.set()
        found.wait(10)
        ended.set()
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    assert not answers("http://index.example", seconds=0.1)
    assert not ended.is_set(), "the probe waited for the name server"
    found.set()
    assert begun.wait(10)
    assert ended.wait(10)


def test_program_ends_while_its_probe_hangs(dripping: str) -> None:
    code = "import sys, torch_index as t; print(t.answers(sys.argv[1], 0.1))"
    command = [sys.executable, "-c", code, dripping]
    done = subprocess.run(command, cwd=ROOT / ".ci", capture_output=True, text=True, timeout=9)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_installed_torch_counts_in_any_build() -> None:
    assert is_installed("2.13.0+cpu", "textual==8.2.8\ntorch==2.13.0\n")
    assert not is_installed("2.13.0+cpu", "torch==2.14.0\n")
    assert not is_installed("2.13.0+cpu", "torchvision==2.13.0\n")
    assert not is_installed("", "torch==2.13.0\n")
    assert not is_installed("", "")
    assert is_installed("2.13.0+cpu", "torch==2.13.0+cpu")
    assert not is_installed("2.13.0", "torch==2.13.0+cpu")


def test_version_is_read_from_constraints() -> None:
    assert wanted("torchvision==1.0\ntorch==2.13.0 ; python_version > '3'\n") == "2.13.0"
    assert wanted("textual==8.2.8\n") == ""


def test_constraints_name_the_torch_that_is_here() -> None:
    assert is_installed(importlib.metadata.version("torch"), (ROOT / "constraints.txt").read_text(encoding="utf-8"))
