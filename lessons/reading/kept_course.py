"""A course, in the learner's language, as it was when its files were last read and found in order.

To read and check all files takes longer than anything else at a start. So their content is kept as JSON in the user's
cache folder, in a file for each course and language, together with a digest of all that it depends on: every file of
the course, of the library of mistakes and of the translation, the code that reads and checks them, and the versions of
Python and of the libraries. If one of them differs, or the kept file is damaged,
missing, or may have been written by somebody else, the files are read again. A file cannot be kept in a cache folder
that is not the user's alone; then they are read at each start, as they are for whoever works on a course in a folder.

The outline of the course, which the map shows, is kept beside it, so that the map does not wait for pydantic and for
the models of all steps. Both come from one file, so they always are of the same course.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from attn_tutor.lessons.files import MOST_READ, open_regular, read_most, read_regular, write_whole
from attn_tutor.lessons.reading import course_outline
from attn_tutor.lessons.reading.folders import FIRST, MISTAKES, CourseFolder, of_state_folder
from attn_tutor.lessons.texts import translations

if TYPE_CHECKING:  # it brings pydantic along
    from attn_tutor.lessons.format.lesson import Course
    from attn_tutor.lessons.reading.course_outline import CourseOutline

ROOT = Path(__file__).parent.parent.parent
CODE = (
    ROOT / "lessons" / "files.py",
    *(ROOT / "lessons" / room for room in ("texts", "format", "results", "what_if", "reading")),
    ROOT / "attention",
)
"""The code that says what is right in a course: this room and those below it. Steps show classes of `attention`."""

VERSIONS = (("pydantic", "version.py"), ("yaml", "__init__.py"))
"""The libraries that read and check the files, each with its module that contains its version."""

TRAINED = ".pt"
"""The ending of files in the course that hold trained models: large, and not a part of what is read here."""

FOLDER = "attn-tutor"


def load_course(of: CourseFolder = FIRST) -> Course:
    """Return a course, from the cache if nothing has changed. Raises `LessonError`, as the loader does."""
    return load_outline(of)[1]()


def load_outline(of: CourseFolder = FIRST) -> tuple[CourseOutline, Callable[[], Course]]:
    """Return the outline of a course, and a function that returns the course.

    From the cache if nothing has changed; then most of the time is left to the function. Raises `LessonError`.
    """
    name = _name(of)
    digest = _digest(of) if name else b""
    kept = _load(name, digest) if digest else None
    if kept is not None:
        outline, text = kept
        return course_outline.from_json(outline), _Unread(text)
    from attn_tutor.lessons.reading import course_texts, loader  # they bring YAML and pydantic along

    read = of_state_folder(loader.load_course(of.path), of.state_folder)
    course = course_texts.translate_course(read, translations.current())
    made = loader.outline_of(course)
    # A file may have been saved while they were read.
    if digest and _digest(of) == digest:
        _save(name, made, course, digest)
    return made, lambda: course


class _Unread:
    """A course that is read when it is asked for; its text, more than a megabyte, is given up then."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._course: Course | None = None

    def __call__(self) -> Course:
        if self._course is None:
            from attn_tutor.lessons.format.fields import CHECKED
            from attn_tutor.lessons.format.lesson import Course

            self._course = Course.model_validate_json(self._text, context=CHECKED)
            self._text = b""
        return self._course


# What the course depends on ------------------------------------------------------------------------------------------


def _digest(of: CourseFolder) -> bytes:
    """Return a digest of all that a course depends on; nothing if some of it cannot be read."""
    found = hashlib.blake2b(sys.version.encode(), digest_size=32)
    try:
        for path, content in _sources(of):
            name = os.fsencode(path)
            # Lengths keep a piece apart from the next one.
            found.update(b"\n%d %s %d\n" % (len(name), name, len(content)))
            found.update(content)
    except (OSError, ValueError, ImportError):
        return b""
    return found.hexdigest().encode()


def _sources(of: CourseFolder) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of each file that a course depends on, and the path of each folder."""
    for folder in (of.path, MISTAKES):
        yield from _contents(folder)
    if (translation := translations.chosen_folder()) is not None:
        yield from _contents(translation)
    for code in CODE:
        yield from [(str(code), read_regular(code))] if code.suffix else _contents(code, ending=".py")
    for name, module in VERSIONS:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            raise ImportError(name)
        path = os.path.join(os.path.dirname(spec.origin), module)
        yield path, read_regular(path)


def _contents(folder: Path, ending: str = "") -> Iterator[tuple[str, bytes]]:
    for path, folders, files in os.walk(folder, onerror=_fail, followlinks=True):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield path, b""
        for name in sorted(files):
            if name.endswith(ending) and not name.endswith(TRAINED):
                file = os.path.join(path, name)
                yield file, read_regular(file)


def _fail(error: OSError) -> None:
    raise error


# The file ------------------------------------------------------------------------------------------------------------


def _load(name: str, digest: bytes) -> tuple[bytes, bytes] | None:
    """Return outline and course, as they are kept under a name and a digest; None if none can be trusted."""
    try:
        folder = os.open(cache_folder(), os.O_RDONLY | os.O_DIRECTORY)
        try:
            with open_regular(name, links=False, folder=folder) as opened:
                if not (_is_ours(folder) and _is_ours(opened.fileno())):
                    return None
                seal, _, text = read_most(opened, MOST_READ).partition(b"\n")
        finally:
            os.close(folder)
        outline, _, course = text.partition(b"\n")
        return (outline, course) if seal == _seal(digest, text) else None
    except (OSError, ValueError, RuntimeError):
        return None


def _save(name: str, outline: CourseOutline, course: Course, digest: bytes) -> None:
    """Keep a course and its outline under a name and a digest, if there is a folder of the user's own for them."""
    with suppress(OSError, ValueError, RuntimeError):
        whole = course.model_dump_json(by_alias=True, exclude_unset=True).encode()
        text = b"%s\n%s" % (course_outline.to_json(outline), whole)
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            ours = _is_ours(opened)
        finally:
            os.close(opened)
        if not ours:
            return
        write_whole(folder / name, b"%s\n%s" % (_seal(digest, text), text))


def forget(of: CourseFolder) -> None:
    """Remove what is kept of a course, in all languages."""
    if not of.state_folder:
        return
    with suppress(OSError, RuntimeError):
        for file in cache_folder().glob(f"{of.id}.course*.json"):
            file.unlink(missing_ok=True)


def _seal(digest: bytes, text: bytes) -> bytes:
    """Return the first line of the file: it tells what the rest depends on, and that it is whole."""
    return hashlib.blake2b(digest + text, digest_size=32).hexdigest().encode()


def _is_ours(opened: int) -> bool:
    """Return whether an open file or folder belongs to this user, and nobody else may write it."""
    found = os.fstat(opened)
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _name(of: CourseFolder) -> str:
    """Return the name of the file for a course and the learner's language; "" for a course that is not kept."""
    if of.source == "folder":
        return ""
    translation = translations.chosen_folder()
    name = "course.json" if translation is None else f"course-{translation.name}.json"
    # No id of a course has a dot.
    return f"{of.id}.{name}" if of.state_folder else name


def cache_folder() -> Path:
    """Return the folder for the file. Raises `RuntimeError` if there is no home directory."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(cache):
        return Path(cache, FOLDER)
    from platformdirs import user_cache_path

    folder = user_cache_path(FOLDER)
    if not folder.is_absolute():
        raise RuntimeError("no home directory")
    return folder
