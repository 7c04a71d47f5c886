"""Archives and folders of courses: what a course may contain gets through, everything else is refused in a sentence."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attn_tutor.lessons.courses import added_courses, course_content
from attn_tutor.lessons.courses.course_content import RefusedCourse
from tests.small_course import FILES, write_course

Member = tuple[tarfile.TarInfo, bytes]


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have limits that are reached in no time."""
    monkeypatch.setattr(course_content, "MOST_ENTRIES", 50)
    monkeypatch.setattr(course_content, "MOST_BYTES", 2**21)


def member(name: str, content: bytes = b"x: 1\n", **fields: Any) -> Member:
    """Return a member of an archive, with other fields than usual."""
    info = tarfile.TarInfo(name)
    info.mode = 0o644
    for field, value in fields.items():
        setattr(info, field, value)
    info.size = len(content) if info.isreg() else 0
    return info, content


def pack(*members: Member) -> bytes:
    """Return an archive with these members, whatever they are called."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def zipped(content: bytes) -> bytes:
    return gzip.compress(content, 1)


def unpacked(archive: bytes, folder: Path) -> list[str]:
    """Return the files that come out of an archive."""
    file = folder / "course.tar.gz"
    file.write_bytes(archive)
    added_courses.unpack(file, folder / "out")
    return sorted(path.relative_to(folder / "out").as_posix() for path in (folder / "out").rglob("*") if path.is_file())


LINK: dict[str, Any] = {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}
PLAIN = member("course.yaml")

REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "absolute": (lambda: pack(member("/etc/course.yaml")), "/etc/course.yaml has an absolute path"),
    "parent": (lambda: pack(member("../course.yaml")), "../course.yaml leads out of the course."),
    "parent inside": (lambda: pack(member("a/../../b.yaml")), "a/../../b.yaml leads out of the course."),
    "parent of a folder": (lambda: pack(member("a/../..", type=tarfile.DIRTYPE)), "a/../.. leads out of the course."),
    "empty name inside": (lambda: pack(member("a//b.yaml")), "a//b.yaml leads out of the course."),
    "symbolic link": (
        lambda: pack(member("course.yaml", **LINK)),
        "course.yaml is a link, which a course may not have.",
    ),
    "link of another kind of file": (lambda: pack(member("a.bin", **LINK)), "a.bin is a link"),
    "hidden link": (lambda: pack(member(".a/b", **LINK)), ".a/b is a link"),
    "hard link": (
        lambda: pack(PLAIN, member("b.yaml", type=tarfile.LNKTYPE, linkname="course.yaml")),
        "b.yaml is a link",
    ),
    "character device": (lambda: pack(member("zero.yaml", type=tarfile.CHRTYPE)), "zero.yaml is not an ordinary file."),
    "block device": (lambda: pack(member("disk.yaml", type=tarfile.BLKTYPE)), "disk.yaml is not an ordinary file."),
    "pipe": (lambda: pack(member("pipe.yaml", type=tarfile.FIFOTYPE)), "pipe.yaml is not an ordinary file."),
    "unknown kind": (lambda: pack(member("odd.yaml", type=b"Z")), "odd.yaml is not an ordinary file."),
    "rights of its owner": (
        lambda: pack(member("a.yaml", mode=0o4755)),
        "a.yaml would run with the rights of its owner",
    ),
    "rights of its group": (
        lambda: pack(member("a.yaml", mode=0o2755)),
        "a.yaml would run with the rights of its owner",
    ),
    "case": (lambda: pack(PLAIN, member("Course.yaml")), "Course.yaml and course.yaml could be the same file."),
    "case of a folder": (
        lambda: pack(member("a/b.yaml"), member("A/c.yaml")),
        "A/c.yaml and a could be the same file.",
    ),
    "two spellings": (lambda: pack(member("é.yaml"), member("e\u0301.yaml")), "could be the same file."),
    "sharp s": (lambda: pack(member("straße.md"), member("STRASSE.md")), "could be the same file."),
    "twice": (lambda: pack(PLAIN, PLAIN), "course.yaml is there twice."),
    "file and folder": (
        lambda: pack(member("a.md"), member("a.md/b.md")),
        "a.md/b.md and a.md could be the same file.",
    ),
    "folder and file": (lambda: pack(member("a.md/b.md"), member("a.md")), "a.md is there twice."),
    "deep": (lambda: pack(member("a/" * 9 + "b.yaml")), "a/a/a/a/a/a/a/a/a/b.yaml lies in more than 8 folders."),
    "very deep": (lambda: pack(member("a/" * 9000 + "b.yaml")), "... lies in more than 8 folders."),
    "long name": (lambda: pack(member("a" * 101 + ".yaml")), "has more than 100 characters."),
    "terminal": (lambda: pack(member("\x1b[2J.yaml")), r"The name \x1b[2J.yaml has characters that no course needs."),
    "new line": (lambda: pack(member("a\n.yaml")), r"The name a\n.yaml has characters"),
    "other direction": (lambda: pack(member("a\u202e.yaml")), r"The name a\u202e.yaml has characters"),
    "backslash": (lambda: pack(member("a\\..\\b.yaml")), "has characters that no course needs."),
    "no text": (lambda: pack(member(os.fsdecode(b"\xff.yaml"))), r"The name \udcff.yaml has characters"),
    "space at the end": (lambda: pack(member("a.yaml ")), "has characters that no course needs."),
    "many": (
        lambda: pack(*(member(f"{number}.bin", b"") for number in range(51))),
        "more than 50 files and folders",
    ),
    "large": (lambda: pack(member("a.yaml", bytes(2**21 + 1))), "Its files have more than 2 MiB."),
    "large together": (
        lambda: pack(*(member(f"{number}.bin", bytes(2**19)) for number in range(5))),
        "more than 2 MiB.",
    ),
    "larger than it says": (lambda: zipped(pack(PLAIN) * 2), "It is damaged, or no archive of the kind .tar.gz."),
    "zeros": (lambda: zipped(bytes(2**21)), "Its files have more than 2 MiB."),
    "zeros at the end": (
        lambda: zipped(gzip.decompress(pack(PLAIN)) + bytes(2**21)),
        "Its files have more than 2 MiB.",
    ),
    "large header": (lambda: pack(member("a" * 2**22 + ".yaml")), "Its files have more than 2 MiB."),
    "cut off": (lambda: pack(member("a.yaml", os.urandom(2**16)))[:-9000], "It is damaged, or no archive"),
    "changed": (lambda: pack(PLAIN)[:-8] + bytes(8), "It is damaged, or no archive"),
    "cut off inside": (lambda: zipped(gzip.decompress(pack(member("a.yaml", bytes(4096))))[:2048]), "It is damaged"),
    "text": (lambda: b"id: rows\n", "It is damaged, or no archive of the kind .tar.gz."),
    "nothing": (lambda: b"", "It is damaged, or no archive of the kind .tar.gz."),
    "another kind": (lambda: b"PK\x03\x04" + bytes(100), "It is damaged, or no archive of the kind .tar.gz."),
}
"""Archives that no course needs, and a part of the sentence that is said of them."""


@pytest.mark.parametrize("case", REFUSED)
def test_an_archive_that_could_do_harm_is_refused_in_a_sentence(case: str, tmp_path: Path) -> None:
    content, sentence = REFUSED[case]
    before = set(tmp_path.parent.iterdir())
    with pytest.raises(RefusedCourse) as refused:
        unpacked(content(), tmp_path)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert str(refused.value).isprintable()
    assert set(tmp_path.parent.iterdir()) == before
    assert {path.name for path in tmp_path.iterdir()} <= {"course.tar.gz", "out", "home"}


def test_an_archive_of_a_course_is_unpacked(tmp_path: Path) -> None:
    course = write_course(tmp_path / "rows")
    (course / "notes.py").write_text("raise SystemExit")
    (course / ".git").mkdir()
    (course / ".git" / "config.txt").write_text("hidden")
    file = tmp_path / "rows.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        archive.add(course, "rows-1.0")
    added_courses.unpack(file, tmp_path / "out")
    found = [path.relative_to(tmp_path / "out/rows-1.0").as_posix() for path in (tmp_path / "out").rglob("*.*")]
    assert sorted(name for name in found if name != ".") == sorted(FILES)


def test_rights_owners_and_times_of_an_archive_do_not_matter(tmp_path: Path) -> None:
    archive = pack(
        member("./a/", type=tarfile.DIRTYPE, mode=0o2777),
        member("./a/b.yaml", mode=0o777, uid=0, gid=0, uname="root", mtime=-1),
        member("./course.yaml", mode=0),
    )
    assert unpacked(archive, tmp_path) == ["a/b.yaml", "course.yaml"]
    modes = {path.stat().st_mode & 0o7777 for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert all(not mode & 0o7022 for mode in modes)
    assert (tmp_path / "out" / "course.yaml").read_bytes() == b"x: 1\n"


@pytest.mark.skipif(not hasattr(tarfile, "data_filter"), reason="this Python has no filters for archives")
def test_what_python_itself_refuses_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(found: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
        raise tarfile.OutsideDestinationError(found, folder)

    monkeypatch.setattr(tarfile, "data_filter", refuse)
    with pytest.raises(RefusedCourse, match=r"course.yaml leads out of the course."):
        unpacked(pack(PLAIN), tmp_path)


# Folders --------------------------------------------------------------------------------------------------------------


def add_link(folder: Path) -> None:
    (folder / "more.yaml").symlink_to("/etc/passwd")


def add_link_to_a_folder(folder: Path) -> None:
    (folder / "more").symlink_to("/etc")


def add_pipe(folder: Path) -> None:
    os.mkfifo(folder / "more.yaml")


def add_case(folder: Path) -> None:
    (folder / "Course.yaml").touch()
    if len({path.name.casefold() for path in folder.iterdir()}) == len(list(folder.iterdir())):
        pytest.skip("this file system knows no difference")


def add_depth(folder: Path) -> None:
    deep = folder.joinpath(*"abcdefghi")
    deep.mkdir(parents=True)
    (deep / "x.yaml").touch()


def add_many(folder: Path) -> None:
    for number in range(50):
        (folder / str(number)).touch()


def add_size(folder: Path) -> None:
    for number in range(5):
        with (folder / f"{number}.json").open("wb") as file:
            file.truncate(2**19)


def add_odd_name(folder: Path) -> None:
    (folder / "a\x1b.yaml").touch()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (add_link, "more.yaml is a link, which a course may not have."),
        (add_link_to_a_folder, "more is a link, which a course may not have."),
        (add_pipe, "more.yaml is not an ordinary file."),
        (add_case, "could be the same file."),
        (add_depth, "a/b/c/d/e/f/g/h/i lies in more than 8 folders."),
        (add_many, "There are more than 50 files and folders."),
        (add_size, "Its files have more than 2 MiB."),
        (add_odd_name, r"The name a\x1b.yaml has characters that no course needs."),
    ],
)
def test_a_folder_that_could_do_harm_is_refused_in_a_sentence(
    change: Callable[[Path], None], sentence: str, tmp_path: Path
) -> None:
    folder = write_course(tmp_path / "rows")
    change(folder)
    with pytest.raises(RefusedCourse) as refused:
        course_content.files_of(folder)
    assert sentence in str(refused.value)


def test_what_does_not_belong_to_a_course_may_lie_beside_it(tmp_path: Path) -> None:
    folder = write_course(tmp_path / "rows")
    before = course_content.files_of(folder)
    (folder / ".venv").mkdir()
    (folder / ".venv" / "python").symlink_to("/usr/bin/python")
    (folder / "make.py").write_text("raise SystemExit")
    os.mkfifo(folder / "pipe")
    assert course_content.files_of(folder) == before
    assert {"/".join(file.names) for file in before} == set(FILES)


def test_a_package_may_link_its_files_to_a_place_of_its_installer(tmp_path: Path) -> None:
    folder, elsewhere = write_course(tmp_path / "rows"), tmp_path / "cache.yaml"
    (folder / "course.yaml").rename(elsewhere)
    (folder / "course.yaml").symlink_to(elsewhere)
    assert len(course_content.files_of(folder, linked=True)) == len(FILES)


# Hashes ---------------------------------------------------------------------------------------------------------------


def digest(folder: Path) -> str:
    return course_content.digest_of(course_content.files_of(folder))


def stamp(folder: Path) -> str:
    return course_content.stamp_of(course_content.files_of(folder))


def test_equal_courses_have_one_hash(tmp_path: Path) -> None:
    assert digest(write_course(tmp_path / "one")) == digest(write_course(tmp_path / "other"))


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "course.yaml").write_text((folder / "course.yaml").read_text() + "#"),
        lambda folder: (folder / "course.yaml").rename(folder / "cours.yaml"),
        lambda folder: (folder / "new.yaml").touch(),
        lambda folder: (folder / "glossary.yaml").unlink(),
        lambda folder: (folder / "01-first-row").rename(folder / "02-first-row"),
    ],
)
def test_every_change_changes_hash_and_stamp(change: Callable[[Path], object], tmp_path: Path) -> None:
    folder = write_course(tmp_path / "rows")
    before = digest(folder), stamp(folder)
    assert before == (digest(folder), stamp(folder))
    change(folder)
    assert digest(folder) != before[0]
    assert stamp(folder) != before[1]


def test_a_stamp_tells_a_change_that_keeps_size_and_time(tmp_path: Path) -> None:
    file = write_course(tmp_path / "rows") / "course.yaml"
    before, at = stamp(tmp_path / "rows"), file.stat()
    file.write_text(file.read_text().replace("rows", "sows"))
    os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))
    assert stamp(tmp_path / "rows") != before


def test_a_pipe_is_no_archive(tmp_path: Path) -> None:
    """To open one would wait forever."""
    os.mkfifo(tmp_path / "pipe.tar.gz")
    with pytest.raises(RefusedCourse, match="no archive of the kind"):
        added_courses.unpack(tmp_path / "pipe.tar.gz", tmp_path / "into")
