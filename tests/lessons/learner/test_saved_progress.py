"""Files with a learner's progress that come from anybody: read, or refused in a sentence and in no time."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from attn_tutor.lessons.learner import exports, tables
from attn_tutor.lessons.learner.exports import read_saved
from attn_tutor.lessons.learner.progress import Progress


def progress_of(path: Path) -> Progress:
    progress = Progress.open(path)
    progress.visit("made", "first")
    progress.add_attempt("doubling", "def double(x): ...", "failed", "squared", "Not twice.")
    progress.use_hint("doubling", 2)
    return progress


def database(*statements: str) -> bytes:
    """Return a database in which tables of progress were made, and then these statements were executed."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        tables.make_tables(made)
        made.execute(f"PRAGMA user_version = {tables.VERSION}")
        for statement in statements:
            made.execute(statement)
        return made.serialize()


def test_an_export_and_the_progress_file_say_the_same(tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    progress = progress_of(path)
    exported = json.dumps(progress.export()).encode()
    progress.close()
    assert read_saved(exported) == read_saved(path.read_bytes())
    assert [row["mistake"] for row in read_saved(exported)["attempts"]] == ["squared"]


def test_a_file_of_the_first_version_lacks_tables() -> None:
    content = database("DROP TABLE help", "DROP TABLE kept", "PRAGMA user_version = 1")
    assert read_saved(content) == {name: [] for name in tables.COLUMNS}


FOREIGN = "This is not progress that attn-tutor exported."
NEWER = "It comes from a newer version of attn-tutor. Update attn-tutor and try again."
DAMAGED = "It is damaged."
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", FOREIGN),
        (b"[" * 100_000, FOREIGN),
        (b'{"format": "attn-tutor progress", "version": 4, "help": [' + b"{}," * 700_000 + b"{}]}", FOREIGN),
        (b'{"format": "attn-tutor progress", "version": 99}', NEWER),
        (b"SQLite format 3\0", DAMAGED),
        (b"SQLite format 3\0" + bytes(4000), DAMAGED),
        (database()[:5000], DAMAGED),
        (database("PRAGMA user_version = 99"), NEWER),
        (database("DROP TABLE attempts"), FOREIGN),
        (database("DROP TABLE help", f"CREATE VIEW help AS {ENDLESS} SELECT i FROM n"), FOREIGN),
        (database("ALTER TABLE help ADD COLUMN more TEXT AS (zeroblob(1000000000))"), FOREIGN),
        (
            database("CREATE TABLE other (i)", "PRAGMA writable_schema = 1",
                     "UPDATE sqlite_master SET rootpage = 99999 WHERE name = 'attempts'"),
            DAMAGED,
        ),
    ],
    ids=range(12),
)  # fmt: skip
def test_what_is_no_progress_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match="^" + reason.replace(".", r"\.") + "$"):
        read_saved(content)


def test_a_database_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "_STEPS_BETWEEN", 100)
    monkeypatch.setattr(exports, "_MOST_LOOKS", 10)
    rows = ", ".join(["('doubling', 'hint-1', '')"] * 1000)
    with pytest.raises(ValueError, match="damaged"):
        read_saved(database(f"INSERT INTO help VALUES {rows}"))


TIME = "2024-01-01T00:00:00+00:00"


def test_values_longer_than_any_answer_are_refused() -> None:
    draft = {"exercise": "doubling", "code": "x" * (exports.LONGEST + 1), "time": TIME}
    content = json.dumps({"format": tables.FORMAT, "version": tables.VERSION, "drafts": [draft]}).encode()
    with pytest.raises(ValueError, match=r"^Entry 1 of 'drafts' is longer than any answer: more than 4 MiB\.$"):
        read_saved(content)


def test_lists_and_values_are_counted_outside_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["[,{", '\\",[', "é" * 20, "[" * 100, ""] * 7
    for part in range(1, 40):
        monkeypatch.setattr(exports, "_AT_A_TIME", part)
        assert exports._count(json.dumps({"a": [texts, {}, 1.5, []]}).encode()) == (5, 37)
    assert exports._count(b'[1, "[[[') == (1, 1)


def test_json_of_more_values_than_an_export_has_is_not_decoded() -> None:
    assert exports.decode(b"[" + b"1," * 100_000 + b"1]") is not None
    assert exports.decode(b"[" + b"1," * exports._MOST_VALUES + b"1,1]") is None


@pytest.mark.parametrize("version", [True, 1.0, "1", None, 0, -1], ids=repr)
def test_version_that_is_no_number_of_ours_is_refused(version: object) -> None:
    with pytest.raises(ValueError, match=f"^{FOREIGN}$"):
        exports.parse({"format": tables.FORMAT, "version": version})


def test_version_of_later_is_called_newer() -> None:
    with pytest.raises(ValueError, match=f"^{NEWER}$"):
        exports.parse({"format": tables.FORMAT, "version": tables.VERSION + 1})


@pytest.mark.parametrize("table", ["attempts", "kept"])
def test_rows_that_take_long_to_merge_are_refused(table: str) -> None:
    """All rows of an exercise at one moment are compared with each other."""
    row = {"exercise": "doubling", "time": TIME, "verdict": "failed", "why": "reset"}
    rows = [{**row, "code": str(number)} for number in range(exports.MOST_AT_ONCE + 1)]
    with pytest.raises(ValueError, match=f"^'{table}' has too many entries of one moment"):
        exports.parse({"format": tables.FORMAT, "version": tables.VERSION, table: rows})


@pytest.mark.parametrize("table", ["attempts", "help", "kept"])
def test_merging_finds_the_rows_of_a_moment_by_an_index(table: str) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        tables.make_tables(made)
        plan = made.execute(f"EXPLAIN QUERY PLAN SELECT 1 FROM {table} WHERE exercise = '' AND time = ''").fetchall()
    assert f"INDEX {table}_of_exercise (exercise=? AND time=?)" in plan[0][-1]


def test_more_rows_than_a_learner_makes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "MOST_ROWS", 2)
    rows = [("('doubling', 'hint-1', '')")] * 3
    assert len(read_saved(database(f"INSERT INTO help VALUES {', '.join(rows[:2])}"))["help"]) == 2
    with pytest.raises(ValueError, match="'help' has more than 2 entries"):
        read_saved(database(f"INSERT INTO help VALUES {', '.join(rows)}"))
