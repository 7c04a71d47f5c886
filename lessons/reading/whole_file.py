"""Write files that are whole whenever somebody looks: another process may read them at any moment."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a file under another name first, then put it in its place, with these rights if any are given.

    What cannot be written to its end leaves what was there. Raises `OSError`.
    """
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
        try:
            file.write(content)
            file.close()
            if mode is not None:
                os.chmod(file.name, mode)
            os.replace(file.name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(file.name)
            raise


def create_whole(path: Path, content: bytes) -> None:
    """Make a file that is not there yet; one that cannot be written to its end is removed again.

    Raises `OSError`, above all `FileExistsError`.
    """
    with path.open("xb") as file:
        try:
            file.write(content)
            file.flush()
        except OSError:
            path.unlink(missing_ok=True)
            raise
