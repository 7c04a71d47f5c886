"""The rule below the title: how far the learner is, and the way of the numbers to where they are."""

from __future__ import annotations

import pytest

from attn_tutor.tui.controllers.frame import LEAST_RULE, progress_rule

WAY = ("inputs", "queries", "scores", "a_rather_long_name_for_weights", "context")


def test_the_way_stands_at_the_right_end() -> None:
    assert progress_rule(20, 1, 2, unicode=True).plain == "━" * 10 + "─" * 10
    line = progress_rule(80, 1, 4, WAY, unicode=True)
    assert line.plain.endswith("── inputs → queries → scores → a_rather_long_n… → context ─")
    assert line.plain.startswith("━" * 20 + "─")
    assert [line.plain[span.start : span.end] for span in line.spans if "context" in line.plain[span.start : span.end]]
    ascii_line = progress_rule(80, 1, 4, WAY, unicode=False).plain
    assert ascii_line.endswith("-- inputs > queries > scores > a_rather_long_n~ > context -")
    # One box is no way.
    assert progress_rule(30, 1, 2, ("inputs",), unicode=True) == progress_rule(30, 1, 2, unicode=True)


def test_a_name_stands_only_where_it_comes_last() -> None:
    """A matrix that is changed in place has a box for each of its states."""
    twice = progress_rule(60, 0, 2, ("needs", "asks", "asks", "states", "asks"), unicode=True).plain
    assert twice.endswith("── needs → states → asks ─")


def test_what_has_no_name_is_passed_over() -> None:
    unnamed = ("from outside", "inputs", "", "scores", "torch.cat((by_d", "v1.W_query", "", "weights")
    assert progress_rule(80, 0, 2, unnamed, unicode=True).plain.endswith(" inputs → scores → v1.W_query → weights ─")
    assert progress_rule(60, 0, 2, ("inputs", "(a + b)"), unicode=True).plain.endswith(" inputs → (a + b) ─")
    assert progress_rule(60, 0, 2, ("", ""), unicode=True) == progress_rule(60, 0, 2, unicode=True)
    plain = progress_rule(60, 0, 2, ("inputs", "", "scores", "", "weights"), unicode=True).plain
    assert plain.endswith("inputs → scores → weights ─")


@pytest.mark.parametrize("width", range(1, 90))
def test_the_first_names_give_way(width: int) -> None:
    plain = progress_rule(width, 1, 3, WAY, unicode=True).plain
    assert len(plain) == width
    if plain.strip("━─"):
        assert plain[:LEAST_RULE].strip("━─") == ""
        assert plain.endswith("→ context ─")
