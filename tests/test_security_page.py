"""SECURITY.md: each row of its tables names the tests that hold it, and these exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
TESTS = {
    name
    for file in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
}


def rows() -> dict[str, list[list[str]]]:
    """Return the cells of all tables, without their heads, by the heading above them."""
    found: dict[str, list[list[str]]] = {}
    for section in PAGE.split("\n## ")[1:]:
        lines = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("|")]
        if lines:
            found[section.splitlines()[0]] = [[cell.strip() for cell in cells] for cells in lines[2:]]
    return found


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert named
    assert named - TESTS == set()


def test_every_row_is_held_by_a_test() -> None:
    """A program of its own tries each row of the first table, of which another test knows that none is missing."""
    tables = rows()
    del tables["What it cannot do"]
    assert [cells for table in tables.values() for cells in table if not re.search(r"`test_\w+`", cells[-1])] == []
