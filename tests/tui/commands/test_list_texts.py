"""The verb `texts`."""

from __future__ import annotations

import functools

import pytest

from attn_tutor.lessons.reading.folders import BUILT_IN
from attn_tutor.tui.commands.verbs import list_texts
from tests.tui.commands.command_line import Command, document

READ_ONCE = functools.cache(list_texts.read_all)
"""To read all texts takes longer than all else that is tested here."""


@pytest.fixture(autouse=True)
def _texts_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_texts, "read_all", READ_ONCE)


def test_texts_of_a_group_are_printed_with_their_ids(command: Command) -> None:
    _, out, _ = command("texts", "repairs")
    assert out.startswith("repairs/axis/name: wrong axis\n")
    _, out, _ = command("texts", "all-queries")
    assert out.startswith("all-queries/title: ")


def test_texts_are_a_json_document_too(command: Command) -> None:
    texts = document(command("texts", "mistakes", "--json"))["texts"]
    assert {"id", "text", "is_template", "plural"} == texts[0].keys()


def test_an_unknown_group_is_refused_with_the_known_ones(command: Command) -> None:
    status, _, err = command("texts", "nothing")
    assert status == 2
    assert "causal-mask" in err
    assert "references" in err


def test_texts_of_all_courses_that_ship_are_listed_once(command: Command) -> None:
    texts = document(command("texts", "--json"))["texts"]
    assert len({text["id"] for text in texts}) == len(texts)
    titles = {text["id"]: text["text"] for text in texts if text["id"].startswith("about/")}
    assert {name for name in titles if name.endswith("/title")} == {f"about/{course.id}/title" for course in BUILT_IN}
    # Two courses may explain one word differently.
    assert {"glossary", "tensors-glossary"} <= {text["id"].partition("/")[0] for text in texts}
