"""The option `--version`: which version of the tutor this is, and of what it stands on."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from attn_tutor.lessons.texts.wording import Wording

say = Wording("command/version")

VERSION = "0.1.0"
PACKAGES = ("torch", "textual")


def version_line() -> str:
    """Return the version of the tutor, and those of PyTorch, Textual and Python, without importing them."""
    parts = [*(f"{package} {_version(package)}" for package in PACKAGES), f"Python {platform.python_version()}"]
    return f"attn-tutor {VERSION} ({', '.join(parts)})"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return say("missing", "is not installed")


class PrintVersion(argparse.Action):
    """Print the versions and exit."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """See `argparse.Action`."""
        print(version_line())
        parser.exit()
