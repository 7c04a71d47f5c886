"""What a course says about itself: the contents of its `course.yaml`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from lessons.format.fields import Model, Name, OptionalName, ReadBy, Slug, Text

FORMAT = 1
"""The version of the lesson format that this tutor writes and reads; older ones it reads too."""

LanguageCode = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(_[A-Za-z]+)*$"), ReadBy.TUTOR]


class CourseFile(Model):
    """The contents of a `course.yaml`.

    Attributes:
        id: what learners call the course on the command line, and what their progress with it is kept under: it never
            changes.
        title: its name in front of learners.
        about: a paragraph about what they learn, and what they have to know already.
        format: the version of the lesson format that it is written in; see `FORMAT`.
        authors: who wrote it.
        license: under which license others may use it, in a few words.
        language: the code of the language of its texts.
    """

    id: Slug
    title: Text
    about: Text
    format: Annotated[int, Field(ge=1)]
    authors: tuple[Name, ...] = ()
    license: OptionalName = ""
    language: LanguageCode = "en"

    @property
    def text_key(self) -> str:
        """What tells the course from others in ids of texts."""
        return self.id
