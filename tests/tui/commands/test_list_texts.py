"""The verb `texts`."""

from __future__ import annotations

from tests.tui.commands.command_line import Command, document


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
