"""What a learner can take home from where they are, and the files that they have taken home in this session."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from attn_tutor.lessons.files import create_whole, read_regular, rewrite
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner.exports import Exportable
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.result import WHOLE, Tensor
from attn_tutor.lessons.takehome import matrix_file
from attn_tutor.lessons.takehome.home_files import file_name
from attn_tutor.lessons.texts.wording import Wording

say = Wording("screen/home-offers")

SCREEN, PROGRESS = "screen", "progress"
MATRIX_KINDS = {f"matrix{ending}": ending for ending in matrix_file.WRITERS}


class HomeOffer(NamedTuple):
    """Something that can be taken home.

    Attributes:
        kind: what it is: one of `MATRIX_KINDS`, `SCREEN`, `PROGRESS`, or one of `FILES`.
        title: what a list calls it.
        about: what is in the file, in sentences.
        file: the name that is proposed for it.
    """

    kind: str
    title: str
    about: str
    file: str


def of_matrix(tensor: Tensor) -> Iterator[HomeOffer]:
    """Yield the forms in which a matrix can be taken home; none if its numbers are not all here."""
    if tensor.values is None:
        return
    about = {
        ".csv": say("csv-about", "A table for a spreadsheet, with all digits, and a line for each row."),
        ".txt": say("text-about", "Plain text, with the digits that you see."),
        ".svg": say("svg-about", "A picture in the colors of the tutor, for a light or a dark page."),
    }
    for kind, ending in MATRIX_KINDS.items():
        yield HomeOffer(
            kind,
            say(
                "matrix", "{name} as {form}", name=tensor.name, form=ending[1:].upper() if ending != ".txt" else "text"
            ),
            about[ending],
            f"{file_stem(tensor.name)}{ending}",
        )


def why_no_matrix(tensor: Tensor) -> str:
    """Say why a matrix whose numbers are not all here is not offered."""
    if tensor.size > WHOLE:
        return say(
            "too-large",
            "{name} has {size} numbers, and at most {most} are written. In a Python prompt, take a part of it.",
            name=tensor.name,
            size=tensor.size,
            most=WHOLE,
        )
    return say("hidden", "The numbers of {name} are hidden until you have answered.", name=tensor.name)


def of_screen() -> HomeOffer:
    """Return the offer of the screen as a picture."""
    about = say(
        "screen-about",
        "What was on the screen when you came here, as a picture in SVG with its colors. A title and the text of the "
        "screen are in it for programs that read aloud.",
    )
    return HomeOffer(SCREEN, say("screen", "the screen as SVG"), about, "screen.svg")


def of_course(course: Course) -> Iterator[HomeOffer]:
    """Yield what can be taken home of the course: what the learner read, and what they wrote."""
    texts = {
        "module": (
            say("module", "your code as a module"),
            say(
                "module-about",
                "All classes and functions of yours that passed, in one Python file that needs PyTorch only. Each is "
                "judged once more before it is written.",
            ),
        ),
        "markdown": (
            say("markdown", "what you read as Markdown"),
            say("markdown-about", "The steps that you have read, with their code, their matrices, and your answers."),
        ),
        "notebook": (
            say("notebook", "what you read as a notebook"),
            say("notebook-about", "The same for Jupyter: you run it yourself, from top to bottom."),
        ),
        "html": (
            say("html", "what you read as HTML"),
            say(
                "html-about",
                "The same as one page for a browser, with matrices in colors. A click on a number of a small matrix "
                "says how it was computed. For the whole course, this takes about a minute.",
            ),
        ),
    }
    for kind, (title, about) in texts.items():
        yield HomeOffer(kind, title, about, file_name(kind, course))
    yield HomeOffer(
        PROGRESS,
        say("progress", "your progress and code"),
        say("progress-about", "Everything that is saved of you, for 'attn-tutor import' on another machine."),
        "my_progress.json",
    )


def matrix_text(kind: str, tensor: Tensor) -> str:
    """Return the file of a matrix. Raises `KeyError` if there is no such kind."""
    return matrix_file.WRITERS[MATRIX_KINDS[kind]](tensor)


def progress_text(progress: Exportable) -> str:
    """Return the file that `attn-tutor import` reads."""
    return json.dumps(progress.export(), indent=1) + "\n"


def file_stem(name: str) -> str:
    """Return the name of a tensor as part of the name of a file: `heads[0].weight` is `heads-0-weight`."""
    return re.sub(r"[^\w]+", "-", name)[:40].strip("-_") or "matrix"


class NotWritten(ValueError):
    """A file cannot be written; the text is a sentence."""


class ExportedFiles:
    """The files that were written in this session, with what was written."""

    def __init__(self) -> None:
        self._written: dict[Path, bytes] = {}

    def proposed(self, name: str) -> str:
        """Return the first of `name`, `name-2`, ... that is free, or was written in this session."""
        path = Path(name)
        number = 1
        while True:
            candidate = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
            if not os.path.lexists(candidate) or self._is_own(candidate):
                return str(candidate)
            number += 1

    def write(self, name: str, text: str) -> Path:
        """Write a file, and return its full path. Raises `NotWritten`, above all if another file is there."""
        shown = clean(name, keep="")
        # The file will be looked at on a terminal, too.
        content = clean(text).encode()
        try:
            path = Path(name).expanduser().absolute()
            self.check(name)
            if os.path.lexists(path):
                rewrite(path, content)
            else:
                create_whole(path, content)
        except FileExistsError:
            raise NotWritten(_taken(shown)) from None
        except (OSError, ValueError, RuntimeError) as error:
            if isinstance(error, NotWritten):
                raise
            reason = error.strerror if isinstance(error, OSError) else error
            raise NotWritten(
                say("not-written", "{file} cannot be written: {reason}.", file=shown, reason=reason)
            ) from None
        self._written[path] = hashlib.sha256(content).digest()
        return path

    def check(self, name: str) -> None:
        """Raise `NotWritten` if a file cannot be written, as far as that is known before there is anything to write."""
        shown = clean(name, keep="")
        try:
            path = Path(name).expanduser().absolute()
            if path.is_dir():
                raise NotWritten(say("folder", "{file} is a folder. Name a file in it.", file=shown))
            if os.path.lexists(path) and not self._is_own(path):
                raise NotWritten(_taken(shown))
            if not path.parent.is_dir():
                raise NotWritten(say("no-folder", "{file} cannot be written: there is no such folder.", file=shown))
        except (OSError, ValueError, RuntimeError) as error:
            if isinstance(error, NotWritten):
                raise
            raise NotWritten(say("no-name", "{file} cannot be the name of a file.", file=shown)) from None

    def _is_own(self, path: Path) -> bool:
        """Return whether a file was written in this session, and nobody has changed it since."""
        path = path.expanduser().absolute()
        written = self._written.get(path)
        try:
            return written is not None and hashlib.sha256(read_regular(path, links=False)).digest() == written
        except OSError:
            return False


def _taken(shown: str) -> str:
    return say("exists", "{file} is there already, and stays as it is. Name another file.", file=shown)
