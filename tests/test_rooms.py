"""The shape of the tree: one meaning for a file name, and no module too long to read at a sitting."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("attention", "lessons", "tui", "bench")

BOTH_SIDES = {"line_shapes", "prompt", "scratch_run", "summaries", "tensor_questions", "training"}
"""Names that stand on both sides of the wall between the screen's process and the worker: one subject, two halves."""

LONGEST = 500
LONG = {"tui/widgets/matrix.py"}
"""Modules that are long because their subject is."""


def modules() -> list[Path]:
    """All modules with a name of their own, as paths from the root."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return [path.relative_to(ROOT) for path in paths if not path.stem.startswith("__")]


def test_a_file_name_means_one_thing() -> None:
    by_name: defaultdict[str, list[Path]] = defaultdict(list)
    for path in modules():
        by_name[path.stem].append(path)
    shared = {name: paths for name, paths in by_name.items() if len(paths) > 1}
    assert set(shared) == BOTH_SIDES
    for paths in shared.values():
        inside = [path.is_relative_to("lessons/worker") for path in paths]
        assert sorted(inside) == [False, True], paths


def test_no_module_is_too_long() -> None:
    lengths = {str(path): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {path for path, length in lengths.items() if length > LONGEST} == LONG
