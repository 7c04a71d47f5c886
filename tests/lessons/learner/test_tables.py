"""The tables of the progress file: merging keeps every column of a row."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from attn_tutor.lessons.learner import tables
from attn_tutor.lessons.learner.tables import COLUMNS

WORDS = {"state": "done", "verdict": "failed", "kind": "hint-2"}
"""Valid values for columns that hold words of the program; other columns take any text."""


@pytest.mark.parametrize("table", COLUMNS)
def test_every_column_of_a_row_is_kept(table: str) -> None:
    row = {name: WORDS.get(name, f"a {name}") for name in COLUMNS[table]}
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        tables.make_tables(database)
        tables.merge(database, {table: [row]})
        assert tables.read_all(database)[table] == [row]
        # Merging the row once more adds nothing.
        tables.merge(database, {table: [row]})
        assert tables.read_all(database)[table] == [row]
