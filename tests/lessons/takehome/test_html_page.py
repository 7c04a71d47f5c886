"""A document as an HTML page: whole without a network, and safe whatever the learner wrote."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.learner.records import Attempt
from attn_tutor.lessons.play.step_document import Explained, Matrix
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.takehome import course_document, html_page
from attn_tutor.lessons.takehome.html_page import MOST_LINKS, ExplainedLinks
from attn_tutor.lessons.takehome.learner_work import LearnerWork
from attn_tutor.lessons.takehome.taken_document import Chapter, Document, Section
from tests.course import COURSE
from tests.lessons.takehome.learners import attempts, read_steps
from tests.tui.explanations import explanation, leaf, operand

HOSTILE = '</code><script>alert(1)</script>"\x1b[31m\u202e'
EMPTY = {"meta", "br", "img", "link", "input"}


class Reader(HTMLParser):
    """Reads a page: its elements, and whether each is closed in its turn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def document(session: Session) -> Document:
    """Two lessons of a learner who has written what would end an element."""
    second, fifth = COURSE.lesson("2"), COURSE.lesson("5")
    course = COURSE.model_copy(update={"lessons": (second, fifth)})
    answers = {"all-pairs": (Attempt(HOSTILE, "failed", "1"),), **attempts({"all-scores": HOSTILE})}
    work = LearnerWork({**read_steps(second, 5), **read_steps(fifth, 1)}, answers)
    return course_document.build(session, course, work, explain=True)


def test_a_page_is_whole_and_asks_for_nothing(document: Document) -> None:
    page = html_page.write(document)
    reader = Reader(page)
    assert reader.open == []
    tags = {tag for tag, _ in reader.found}
    assert not tags & {"script", "link", "img", "iframe", "object", "form"}
    assert not {name for _, attributes in reader.found for name in attributes if name in ("src", "onclick")}
    assert "url(" not in page
    assert "http://" not in page
    assert "https://" not in page
    links = [attributes["href"] for tag, attributes in reader.found if tag == "a"]
    assert links == ["#all-queries", "#causal-mask"]
    assert {"all-queries", "causal-mask"} <= {attributes.get("id") for _, attributes in reader.found}


def test_what_a_learner_wrote_stays_text(document: Document) -> None:
    page = html_page.write(document)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_number_opens_its_explanation(document: Document) -> None:
    page = html_page.write(document)
    found = re.search(r"<summary>1\.4754</summary><div class=\"why\" id=\"n\d+\">(.*?)</details>", page)
    assert found is not None
    text = re.sub(r"<[^>]+>", "\n", found[1])
    assert "looped[1,2]" in text
    assert "0.55·0.57 + 0.87·0.85 + 0.66·0.64 = 1.4754" in text
    assert "torch.dot(query, x)" in text
    explained = [
        each
        for chapter in document.chapters
        for section in chapter.read_sections
        for block in section.blocks
        if isinstance(block, Matrix)
        for each in block.explained
    ]
    assert page.count("<details") == len(explained) > 50


def test_what_was_given_has_no_explanation_to_open(document: Document) -> None:
    """The numbers of `inputs` were computed from nothing."""
    page = html_page.write(document)
    inputs = page[page.index("<figcaption><b><code>inputs") :]
    assert "<details" not in inputs[: inputs.index("</figure>")]


def test_an_explanation_lies_over_its_figure_where_nothing_cuts_it_off(document: Document) -> None:
    """Beside the figure, nothing that it lies in is positioned, and what scrolls lies inside the figure."""
    page = html_page.write(document)
    assert page.count("<div><table>") == page.count("<table>")
    assert re.findall(r"([^\n{}]+) \{[^}]*position: relative", html_page.STYLE) == ["figure"]
    assert re.findall(r"max-width: min\(34rem, (.*?)\)", html_page.STYLE) == ["100%"]


def test_paper_has_neither_clicks_nor_bars_to_scroll() -> None:
    paper = html_page.STYLE[html_page.STYLE.index("@media print") :]
    assert ".screen { display: none; }" in paper
    assert "figure > div { overflow: visible; }" in paper


def test_without_explanations_no_click_is_promised(session: Session, document: Document) -> None:
    lesson = COURSE.lesson("2")
    course = COURSE.model_copy(update={"lessons": (lesson,)})
    plain = html_page.write(course_document.build(session, course, LearnerWork(read_steps(lesson, 1))))
    assert '<span class="screen">Click a number' in html_page.write(document)
    assert "Click a number" not in plain
    assert "<details" not in plain


def test_an_explanation_leads_to_those_of_its_operands(document: Document) -> None:
    page = html_page.write(document)
    ids = re.findall(r'id="(n[0-9]+)"', page)
    assert len(ids) == len(set(ids))
    links = set(re.findall(r'<a href="#(n[0-9]+)">', page))
    assert links <= set(ids)
    for chapter in document.chapters:
        blocks = [block for section in chapter.read_sections for block in section.blocks if isinstance(block, Matrix)]
        explained = [each.explanation for block in blocks for each in block.explained]
        known = {(each.label, each.value) for each in explained}
        found = ExplainedLinks(document)
        for each in explained:
            linked = dict(found.of(each))
            assert len(linked) <= MOST_LINKS
            values = {operand.label: operand.value for operand in each.operands}
            # Never to a number that the same name had at another time.
            assert all((label, values[label]) in known for label in linked)
            assert found.number_of(each) not in linked.values()


def with_explanations(*chapters: list[Explanation]) -> Document:
    """Return a document with these explanations in each chapter."""
    lesson = COURSE.lessons[0]
    numbers = Tensor("x", "vector", "float32", (1,), ("index",), (("0",),), 1.0, 1.0, (1.0,))
    return Document(
        "",
        "",
        tuple(
            Chapter(
                lesson,
                "",
                (),
                (Section(lesson.steps[0], "", (Matrix(numbers, tuple(Explained((0,), each) for each in found)),)),),
            )
            for found in chapters
        ),
    )


def test_links_stay_in_their_lesson_and_follow_the_value() -> None:
    first, other = leaf("x", (0,), 1.0), leaf("x", (0,), 2.0)
    made = explanation("y", (0,), 3.0, operands=(operand("x", (0,), 2.0, leaf=False),))
    assert ExplainedLinks(with_explanations([first, other, made])).of(made) == (("x[0]", 2),)
    assert '<a href="#n2">x[0]</a>' in html_page.write(with_explanations([first], [other, made]))
    assert ExplainedLinks(with_explanations([first, made])).of(made) == ()
    assert ExplainedLinks(with_explanations([other], [made])).of(made) == ()
