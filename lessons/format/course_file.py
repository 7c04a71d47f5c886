"""What a course says about itself: the contents of its `course.yaml`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from attn_tutor.lessons.format.fields import Model, Name, OptionalName, ReadBy, Slug, Text, Whole

FORMAT = 1
"""The version of the lesson format that this tutor writes and reads; older ones it reads too."""

LANGUAGE = r"^[a-z]{2,3}(_[A-Za-z]+)*$"
LanguageCode = Annotated[str, StringConstraints(pattern=LANGUAGE), ReadBy.TUTOR]


class CourseFile(Model):
    """The contents of a `course.yaml`: what a course says about itself."""

    id: Slug
    """What learners type to open the course, and what their progress with it is kept under, so it never changes."""
    title: Text
    """Its name in front of learners."""
    about: Text
    """A paragraph on what learners will learn, and what they have to know already."""
    format: Annotated[Whole, Field(ge=1)]
    """The version of the lesson format that it is written in."""
    authors: tuple[Name, ...] = ()
    """Who wrote it."""
    license: OptionalName = ""
    """Under which license others may use it, in a few words: `CC BY 4.0`."""
    language: LanguageCode = "en"
    """The code of the language of its texts."""

    @property
    def text_key(self) -> str:
        """What tells the course from others in ids of texts."""
        return self.id
