"""The formats of a document that a learner takes home."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from attn_tutor.lessons.takehome import html_page, markdown_file, notebook_file
from attn_tutor.lessons.takehome.taken_document import Document


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the ending of its files, its writer, and whether it has room for explanations."""

    ending: str
    write: Callable[[Document], str]
    explains: bool = False


FORMATS: Mapping[str, Format] = {
    "markdown": Format(".md", markdown_file.write),
    "notebook": Format(".ipynb", notebook_file.write),
    "html": Format(".html", html_page.write, explains=True),
}
