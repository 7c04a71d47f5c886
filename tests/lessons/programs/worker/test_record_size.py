"""How much memory the record of a program may take."""

from __future__ import annotations

from pathlib import Path

import pytest

from attn_tutor.lessons.programs.worker.run import LEAST_RECORD, MOST_RECORD, record_size


@pytest.mark.parametrize(
    ("kib", "expected"),
    [(64 << 20, MOST_RECORD), (4 << 20, 1 << 30), (100 << 10, LEAST_RECORD)],
    ids=["64 GiB", "4 GiB", "100 MiB"],
)
def test_a_record_takes_a_quarter_of_the_free_memory_within_bounds(tmp_path: Path, kib: int, expected: int) -> None:
    file = tmp_path / "meminfo"
    file.write_text(f"MemTotal:       {kib * 2} kB\nMemFree:        1 kB\nMemAvailable:   {kib} kB\n")
    assert record_size(file) == expected


def test_where_the_system_does_not_say_what_is_free_it_is_a_part_of_all(tmp_path: Path) -> None:
    assert LEAST_RECORD <= record_size(tmp_path / "none") <= MOST_RECORD
