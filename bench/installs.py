"""The four ways to install the tutor, each in a home of its own: `python -m bench.installs --tools FOLDER`.

Each way is the line that the README has for it, read from there, and `make learn`. FOLDER holds the programs `uv` and
`pipx`; a way whose program is missing is named and left out. Where PyTorch's own index cannot be reached,
`--wheel FILE` serves a CPU build of torch from this machine in its place: only the address is different then.

A way gets a copy of the files that git knows, an empty home, and an environment with nothing in it but a PATH and the
certificates of this machine. Caches are empty, so everything is downloaded. "Received" is what came in over all network
interfaces meanwhile (Linux only), so nothing else should run; "environment" is the disk that the folder takes, both in
MB. As root, `--user NAME` does everything as another account.
"""

from __future__ import annotations

import argparse
import contextlib
import http.server
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
INDEX = "https://download.pytorch.org/whl/cpu"
WAYS = ("make", "uv", "pipx", "pip")
HANDED_ON = ("SSL_CERT_FILE", "SSL_CERT_DIR", "PIP_CERT", "REQUESTS_CA_BUNDLE", "http_proxy", "https_proxy", "no_proxy")
"""Variables without which some machines reach no index at all."""


def main() -> int:
    """Install in each of the ways that were asked for, and print a table for RESULTS.md."""
    parser = argparse.ArgumentParser(prog="python -m bench.installs", description=__doc__.split("\n", 1)[0])
    parser.add_argument("ways", nargs="*", choices=[*WAYS, []], help="what to measure; without any, all")
    parser.add_argument("--tools", type=Path, help="a folder with the programs uv and pipx")
    parser.add_argument("--wheel", type=Path, help="a CPU build of torch to serve in place of PyTorch's index")
    parser.add_argument("--user", default="", help="the account that installs")
    options = parser.parse_args()
    print("| way | seconds | received, MB | environment, MB | says |\n| --- | ---: | ---: | ---: | --- |", flush=True)
    failed = False
    with index(options.wheel) as address:
        for way in options.ways or WAYS:
            row = measure(way, address, options.tools, options.user)
            failed |= row.startswith("|") and "failed" in row
            print(row, flush=True)
    return int(failed)


@contextlib.contextmanager
def index(wheel: Path | None) -> Iterator[str]:
    """Serve a wheel as a package index while the context lasts; yield its address, PyTorch's own without a wheel."""
    if wheel is None:
        yield INDEX
        return
    with zipfile.ZipFile(wheel) as packed:
        metadata = packed.read(next(name for name in packed.namelist() if name.endswith(".dist-info/METADATA")))
    address = f"/whl/cpu/torch/{quote(wheel.name)}"
    # With metadata of its own, as that index has it: else uv would download the wheel twice.
    page = f'<!DOCTYPE html><a href="{quote(wheel.name)}" data-core-metadata="true">{wheel.name}</a>'.encode()
    pages = {"/whl/cpu/torch/": page, f"{address}.metadata": metadata}
    file, size = wheel, wheel.stat().st_size

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(with_body=True)

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def _answer(self, *, with_body: bool) -> None:
            is_wheel, body = self.path == address, pages.get(self.path, b"")
            self.send_response(200 if is_wheel or body else 404)
            self.send_header("Content-Type", "application/octet-stream" if is_wheel else "text/html")
            self.send_header("Content-Length", str(size if is_wheel else len(body)))
            self.end_headers()
            if with_body and is_wheel:
                with file.open("rb") as data, contextlib.suppress(ConnectionError):
                    shutil.copyfileobj(data, self.wfile, 1 << 20)
            elif with_body:
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/whl/cpu"
        finally:
            server.shutdown()


def measure(way: str, address: str, tools: Path | None, user: str) -> str:
    """Install in one way. Returns a row of the table."""
    program = {"make": shutil.which("make"), "pip": sys.executable}.get(way) or (
        shutil.which(way, path=str(tools)) if tools else None
    )
    if program is None:
        return f"| {way} | | | | not measured: there is no `{way}` |"
    with tempfile.TemporaryDirectory(prefix="installs-") as name:
        folder = Path(name)
        home, checkout = folder / "home", folder / "attn-tutor"
        home.mkdir()
        copy_checkout(checkout, address)
        if user:
            shutil.chown(folder, user)
            subprocess.run(["chown", "-R", user, folder], check=True)
        line, environment, command = steps(way, address, home, checkout)
        if way == "pip":
            run(f"{shlex.quote(sys.executable)} -m venv {environment}", home, checkout, tools, user)
        before, started = received(), time.monotonic()
        done = run(line, home, checkout, tools, user)
        seconds, megabytes = time.monotonic() - started, (received() - before) / 1e6
        if done.returncode:
            sys.stderr.write(done.stdout)
            return f"| {way} | {seconds:.0f} | | | failed |"
        version = run(f"{command} --version", home, checkout, tools, user)
        says = "failed" if version.returncode else " ".join(version.stdout.split())
        return f"| {way} | {seconds:.0f} | {megabytes:.0f} | {disk(environment)} | {says} |"


def copy_checkout(folder: Path, address: str) -> None:
    """Copy the files that git knows, as they are now, with the address of PyTorch's index replaced."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target, follow_symlinks=False)
    for name in ("pyproject.toml", "README.md", ".ci/torch_index.py"):
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(text.replace(INDEX, address), encoding="utf-8")


def steps(way: str, address: str, home: Path, checkout: Path) -> tuple[str, Path, str]:
    """Return the line to type, the folder that it makes, and the command that it installs."""
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    local = home / ".local"
    if way == "make":
        # The tutor itself would open; its version says that it can.
        return "make learn ARGS=--version", checkout / ".venv", f"{checkout}/.venv/bin/attn-tutor"
    found = re.search(rf"^    ({way} (?:tool )?install .+)$", readme, re.MULTILINE)
    if found is None:
        raise SystemExit(f"The README has no line for {way}.")
    if way == "uv":
        return found[1], local / "share/uv/tools/attn-tutor", f"{local}/bin/attn-tutor"
    if way == "pipx":
        return found[1], local / "share/pipx", f"{local}/bin/attn-tutor"
    return f"{home}/venv/bin/{found[1]}", home / "venv", f"{home}/venv/bin/attn-tutor"


def run(line: str, home: Path, checkout: Path, tools: Path | None, user: str) -> subprocess.CompletedProcess[str]:
    """Run a line in a shell, in the checkout, with a clean environment."""
    places = [str(tools)] if tools else []
    environment = {
        "HOME": str(home),
        "PATH": os.pathsep.join([*places, str(Path(sys.base_prefix) / "bin"), "/usr/local/bin", "/usr/bin", "/bin"]),
        "LANG": "C.UTF-8",
        **{name: os.environ[name] for name in HANDED_ON if name in os.environ},
    }
    words = ["sh", "-c", line]
    if user:
        words = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *words]
    return subprocess.run(
        words, cwd=checkout, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def received() -> int:
    """Return the number of bytes that came in over the network interfaces of this machine since it was started."""
    return sum(int(file.read_text()) for file in Path("/sys/class/net").glob("*/statistics/rx_bytes"))


def disk(folder: Path) -> str:
    """Return the size of a folder on disk in MB."""
    done = subprocess.run(["du", "-sB1000000", folder], capture_output=True, text=True, check=True)
    return done.stdout.split()[0]


if __name__ == "__main__":
    sys.exit(main())
