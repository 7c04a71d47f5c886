"""The papers against the code: the files that they name, the rooms, and the list of messages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attn_tutor.lessons.programs import messages
from attn_tutor.lessons.worker.messages import MESSAGES

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
DECISIONS = ROOT / "docs" / "decisions"


def section(title: str) -> str:
    """The text below a heading, up to the next one of the same level."""
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rooms(package: str) -> list[str]:
    """The names of the folders of a package that hold code."""
    return sorted(folder.parent.name for folder in (ROOT / package).glob("*/__init__.py"))


PAPERS = (
    *("README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/recipes.md", "docs/classroom.md"),
    "docs/own-code.md",
    *("docs/reference.md", "docs/take-home.md", "bench/tried-programs.md"),
)
PAGES = sorted(
    path for pages in ("*.md", "docs/*.md", "docs/decisions/*.md", "bench/*.md") for path in ROOT.glob(pages)
)


TAKEN_HOME = {"my_attention.py", "my_tensors.py"}
"""Files that the tutor writes for learners."""


@pytest.mark.parametrize("package", ["tui", "lessons", "lessons/worker", "lessons/programs", "lessons/programs/worker"])
def test_every_room_is_drawn(package: str) -> None:
    drawn = section("Rooms")
    assert [room for room in rooms(package) if not re.search(rf"(?<![\w/]){room}(?!\w)", drawn)] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_files_that_are_named_exist(paper: str) -> None:
    text = (ROOT / paper).read_text(encoding="utf-8")
    named = {*re.findall(r"`((?:tui|lessons|attention|tests|bench|docs)/[\w./-]+)`", text)}
    assert sorted(path for path in named if not (ROOT / path).exists()) == []
    linked = {*re.findall(r"\]\(([\w./-]+\.md)[)#]", text)}
    assert sorted(path for path in linked if not (ROOT / paper).parent.joinpath(path).exists()) == []
    alone = {*re.findall(r"`(\w+\.py)`", text)}
    known = {path.name for package in ("tui", "lessons", "attention") for path in (ROOT / package).rglob("*.py")}
    assert alone <= known | TAKEN_HOME
    assert named or linked


def anchors(text: str) -> set[str]:
    """The names under which GitHub links to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    links = re.findall(r"\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)", page.read_text(encoding="utf-8"))
    targets = [(page.parent / path if path else page, anchor) for path, anchor in links]
    assert [target for target, _ in targets if not target.exists()] == []
    assert [
        (target.name, anchor)
        for target, anchor in targets
        if anchor and anchor not in anchors(target.read_text(encoding="utf-8"))
    ] == []


def test_every_message_is_listed_and_no_other() -> None:
    assert messages  # adds its own to the list
    listed = {*re.findall(r"`([a-z]+(?:_[a-z]+)*)`", section("Messages"))}
    assert listed == set(MESSAGES)


def test_every_decision_is_in_the_index() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    linked = {*re.findall(r"\(([\w-]+\.md)\)", index)}
    assert linked == {path.name for path in DECISIONS.glob("*.md")} - {"README.md"}
