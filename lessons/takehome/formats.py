"""The formats of a document that a learner takes home."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lessons.takehome import html_page, markdown_file, notebook_file
from lessons.takehome.taken_document import Document


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the file that is written if none is named, its writer, and whether it has room for explanations."""

    file: str
    write: Callable[[Document], str]
    explains: bool = False


FORMATS: Mapping[str, Format] = {
    "markdown": Format("my_attention.md", markdown_file.write),
    "notebook": Format("my_attention.ipynb", notebook_file.write),
    "html": Format("my_attention.html", html_page.write, explains=True),
}
