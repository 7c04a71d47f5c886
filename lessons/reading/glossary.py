"""The glossary of a course and its list of references: `glossary.yaml` and `references.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from attn_tutor.lessons.format.fields import Model, Name, Text, Whole
from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.folders import COURSE
from attn_tutor.lessons.reading.model_findings import read_model
from attn_tutor.lessons.reading.yaml_nodes import locate, parse, position_of, read
from attn_tutor.lessons.texts.wording import Wording

say = Wording("screen/references")

TERMS, REFERENCES = "glossary.yaml", "references.yaml"

MOST_WORDS = 45
"""The largest number of words in a definition."""


class Term(Model):
    """A technical term that the course uses."""

    term: Text
    """The word, in the singular."""
    means: Text
    """The definition, in a sentence or two."""
    step: Name
    """The step that introduces it, as `LESSON/STEP`."""
    also: tuple[Text, ...] = ()
    """Other words for it, and the names that code gives it."""
    see: tuple[Name, ...] = ()
    """Related terms."""

    @property
    def text_key(self) -> str:
        """What tells the term from others in ids of texts: its English word."""
        return "-".join(self.term.casefold().split())

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """A pattern that finds the term or one of its synonyms in a text, in singular or plural."""
        words = sorted((self.term, *self.also), key=len, reverse=True)
        return re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, words))})(?:e?s)?(?!\w)", re.IGNORECASE)


class Reference(Model):
    """A paper to read."""

    title: Name
    """Its title."""
    authors: Name
    """Its authors, separated by commas; `and others` at the end stands for more."""
    year: Whole
    """The year in which it appeared."""
    where: Text
    """Its address."""
    about: Text
    """What one finds in it."""

    @property
    def text_key(self) -> str:
        """What tells the paper from others in ids of texts: its first author and year."""
        return f"{self.authors.split(',')[0].removesuffix(' and others').split()[-1].casefold()}-{self.year}"

    @property
    def short(self) -> str:
        """The short form for citations: `Vaswani et al., 2017`."""
        names = [name.split()[-1] for name in self.authors.removesuffix(" and others").split(", ")]
        if len(names) > 2 or self.authors.endswith(" and others"):
            return say("several-authors", "{first} et al., {year}", first=names[0], year=self.year)
        if len(names) == 2:
            return say("two-authors", "{first} and {second}, {year}", first=names[0], second=names[1], year=self.year)
        return f"{names[0]}, {self.year}"


class TermsFile(Model):
    """The contents of a `glossary.yaml`."""

    terms: tuple[Term, ...]
    """The terms, in any order."""


class ReferencesFile(Model):
    """The contents of a `references.yaml`."""

    references: tuple[Reference, ...]
    """The papers, in any order."""


class Glossary(Model):
    """All terms in alphabetical order, and all references by year."""

    terms: tuple[Term, ...] = ()
    references: tuple[Reference, ...] = ()

    def terms_in(self, step: Step) -> tuple[Term, ...]:
        """Return the terms that occur in the texts of a step or in names that it shows, in order of appearance."""
        text = " ".join(each.text for each in step.learner_texts)
        text = " ".join([text, *(shown.name.replace("_", " ") for shown in step.shown_at_first)])
        matches = [(match.start(), term) for term in self.terms if (match := term.pattern.search(text))]
        return tuple(term for _, term in sorted(matches, key=lambda each: each[0]))

    def search(self, text: str) -> tuple[Term, ...]:
        """Return the terms that match a text, best first.

        Terms that begin with the text come first, then terms with a word that begins with it, then terms whose
        definition contains it.
        """
        wanted = text.strip().casefold()

        def rank(term: Term) -> int:
            names = [name.casefold() for name in (term.term, *term.also)]
            if any(name.startswith(wanted) for name in names):
                return 0
            if any(word.startswith(wanted) for name in names for word in re.split(r"[\s_-]+", name)):
                return 1
            return 2 if wanted in term.means.casefold() else 3

        ranked = [(rank(term), term) for term in self.terms]
        return tuple(term for order, term in sorted(ranked, key=lambda each: each[0]) if order < 3)


def load(folder: Path = COURSE) -> Glossary:
    """Read the glossary and the references of a course; both are empty if it has none. Raises `LessonError`."""
    terms = read_model(folder / TERMS, TermsFile).terms if (folder / TERMS).exists() else ()
    references = read_model(folder / REFERENCES, ReferencesFile).references if (folder / REFERENCES).exists() else ()
    return Glossary(
        terms=tuple(sorted(terms, key=lambda term: term.term.casefold())),
        references=tuple(sorted(references, key=lambda reference: (reference.year, reference.authors))),
    )


def findings(folder: Path, lessons: Sequence[Lesson]) -> Iterator[Finding]:
    """Find terms with broken links, terms defined twice, and terms that do not occur in their own step."""
    try:
        glossary = load(folder)
    except LessonError as error:
        yield from error.findings
        return
    if not glossary.terms:
        return
    root = parse(read(folder / TERMS), str(folder / TERMS))
    steps = {f"{lesson.id}/{step.id}": step for lesson in lessons for step in lesson.steps}
    owners: dict[str, str] = {}
    for position, term in enumerate(read_model(folder / TERMS, TermsFile).terms):

        def finding(field: str, problem: str, remedy: str, position: int = position) -> Finding:
            return Finding(*position_of(locate(root, ("terms", position, field))[0].start_mark), problem, remedy)

        for name in (term.term, *term.also):
            if (owner := owners.setdefault(name.casefold(), term.term)) != term.term:
                yield finding("term", f"'{name}' is defined by '{owner}' too", "Keep one of the two.")
        if (count := len(term.means.split())) > MOST_WORDS:
            yield finding("means", f"{count} words; at most {MOST_WORDS} define", "Shorten it.")
        if term.means.strip()[-1] != ".":
            yield finding("means", "the definition does not end like a sentence", "End it with a full stop.")
        if term.step not in steps:
            # The steps of a lesson that cannot be read are not known, and what is wrong there is told already.
            if not loader.has_unread_lesson(folder, term.step.partition("/")[0], lessons):
                yield finding("step", f"there is no step '{term.step}'", "Name the step that introduces the term.")
        elif term not in glossary.terms_in(steps[term.step]):
            yield finding("step", f"'{term.term}' does not stand in '{term.step}'", "Name the step that introduces it.")
        for other in term.see:
            if other.casefold() not in (each.term.casefold() for each in glossary.terms):
                yield finding("see", f"there is no term '{other}'", "Name one that is defined.")
