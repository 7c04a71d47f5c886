"""The pane of explanations: its layout, its keys, and its messages."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style
from rich.text import Text
from textual.app import App, ComposeResult
from textual.message import Message

from attn_tutor.lessons.render.numbers import readable
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.explanation_pane import ExplanationPane, PathStop, lines
from tests.tui.explanations import VARIED, dot, explanation, leaf, long
from tests.tui.painted import painted_lines

ALL = [*VARIED, long(60), dot("注意", (0, 1), [123456.789, -1e-30] * 5, [1e30, -0.00012345] * 5)]
SCORE, SHARE = VARIED[0], VARIED[1]
numbers = st.integers(0, len(ALL) - 1)
"""Of one of them: a small number is all that is told of a failure."""


def chosen(found: list[Text]) -> list[str]:
    """Return the texts that are drawn as chosen."""
    return [
        text.plain[start:end].strip()
        for text in found
        for start, end, style in text.spans
        if isinstance(style, Style) and style.reverse
    ]


def plain(*way: Explanation, width: int = 78, height: int = 7, unicode: bool = True) -> list[str]:
    return [text.plain for text in lines(tuple(map(PathStop, way)), width, height, "product", unicode)]


# Lines --------------------------------------------------------------------------------------------------------------


@given(
    st.lists(numbers, min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(-1, 3), st.integers(-900, 900)), max_size=3),
    st.integers(20, 160),
    st.integers(1, 12),
    st.booleans(),
)
def test_lines_never_exceed_the_room(
    way: list[int], moves: list[tuple[int, int]], width: int, height: int, unicode: bool
) -> None:
    """The chosen operand is always visible."""
    stop = PathStop(ALL[way[-1]])
    for move in moves:
        stop = stop.moved(*move)
    found = lines((*(PathStop(ALL[number]) for number in way[:-1]), stop), width, height, "product", unicode)
    assert 1 <= len(found) <= height
    assert max(text.cell_len for text in found) <= width
    if height > 1:
        operand = stop.operand
        expected = [] if operand is None else [readable(operand.value, operand.dtype)]
        assert chosen(found) == expected


@pytest.mark.parametrize("e", VARIED, ids=[e.name for e in VARIED])
@pytest.mark.parametrize("size", [(20, 1), (40, 3), (80, 12)])
def test_ascii(e: Explanation, size: tuple[int, int]) -> None:
    assert "\n".join(plain(SCORE, e, width=size[0], height=size[1], unicode=False)).isascii()


def test_everything_is_shown_where_there_is_room() -> None:
    assert plain(SCORE) == [
        "scores[1,2] ← queries[0,:]",
        "scores[1,2] = queries[0,:]·keys[1,:]                                    line 4",
        "  = 0.5512·0.57 + 0.87·(-0.85) ≈ -0.4253",
        "  queries[0,:]   0.5512    0.87 ",
        "  keys[1,:]        0.57   -0.85 ",
    ]
    assert plain(SHARE) == [
        "weights[1,1] ← scores[1,:]",
        "weights[1,1] = softmax(scores[1,:])",
        "  = 1 / 1.7197 ≈ 0.5815",
        "  scores[1,:]    0.9995   1.4754  -0.8434 ",
        "  exp            0.6213        1   0.0984 ",
        "  sum of exp   1.7197",
    ]
    assert plain(VARIED[-1]) == [
        "W_query[0,0]",
        "W_query[0,0] = 0.2961   drawn at random",
        "  The first draw after the seed 123.",
    ]


def test_the_least_helpful_parts_are_left_out_first() -> None:
    whole = plain(SHARE)
    assert plain(SHARE, height=5) == [*whole[:4], f"  … {len(whole) - 4} more lines: page down"]
    assert [text.plain for text in lines((PathStop(SHARE),), 80, 3, tail=True)] == whole[-3:]
    assert plain(SHARE, height=4) == whole[:4]
    # The path is left out next, then the digits, and at last the operands.
    assert plain(SHARE, height=3) == whole[1:4]
    assert plain(SHARE, height=2) == [whole[1], whole[3]]
    assert plain(SHARE, height=1) == ["weights[1,1] = softmax(scores[1,:]) = 1 / 1.7197 ≈ 0.5815"]
    assert plain() == []
    assert plain(SHARE, height=0) == []


def test_the_chosen_one_of_many_rows_is_visible() -> None:
    masked = next(e for e in VARIED if e.name == "masked")
    found = lines((PathStop(masked).moved(1, 0),), 60, 2)
    assert [text.plain for text in found] == [
        "masked[0,1] = float('-inf') if mask[0,1] else scores[0,1]",
        "  scores[0,1]   0.5 ",
    ]


def test_a_long_row_scrolls() -> None:
    """A factor stays below the factor that it is multiplied with."""
    found = lines((PathStop(long()).moved(0, 400),), 60, 7)
    above, below = (text.plain for text in found[-2:])
    assert above.startswith("  queries[0,:] … ")
    assert above.endswith(" … 768")
    left, right = (readable(value) for value in long().values[800:802])
    assert above.index(left) + len(left) == below.index(right) + len(right)


def test_the_path() -> None:
    context = explanation("context", (1, 0), 0.5)
    assert plain(context, SHARE, SCORE)[0] == "context[1,0] ← weights[1,1] ← scores[1,2] ← queries[0,:]"
    assert plain(context, SHARE, SCORE, width=50)[0] == "context[1,0] ← … ← scores[1,2] ← queries[0,:]"


# Walking ------------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-900, 900))), numbers)
def test_the_choice_stops_at_the_edges(moves: list[tuple[int, int]], number: int) -> None:
    e = ALL[number]
    stop = PathStop(e)
    for move in moves:
        stop = stop.moved(*move)
        assert (stop.operand is None) == e.leaf
        assert stop.operand is None or stop.operand in e.operands


# The widget ---------------------------------------------------------------------------------------------------------


class Explaining(App[None]):
    """An app with a pane of explanations, which keeps the posted messages."""

    def __init__(self, unicode: bool = True) -> None:
        super().__init__()
        self.theme = "ansi-dark"
        self.view = ExplanationPane(Terminal(depth="16", unicode=unicode), id="explanation")
        self.posted: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.styles.height = 7
        self.view.focus()

    def on_explanation_pane_follow(self, event: ExplanationPane.Follow) -> None:
        self.posted.append(event)

    def on_explanation_pane_closed(self, event: ExplanationPane.Closed) -> None:
        self.posted.append(event)

    @property
    def lines(self) -> list[str]:
        return painted_lines(self)[: self.view.size.height]


def test_exponentials_stand_below_their_scores() -> None:
    scores, exponentials, *_ = plain(SHARE)[3:]
    assert exponentials.split()[0] == "exp"
    # All numbers end where those above them end.
    ends = [[match.end() for match in re.finditer(r"-?[\d.]+(?= )", line)][-3:] for line in (scores, exponentials)]
    assert ends[0] == ends[1]


def test_the_line_names_a_step_as_the_screen_does() -> None:
    (head,) = (text.plain for text in lines((PathStop(SCORE),), 78, 7, "others", steps={"product": "step 4"})[1:2])
    assert head.endswith("line 4 of step 4")
    assert "'product'" not in head


def test_what_the_first_line_says_is_not_said_again() -> None:
    note = "Written in the code."
    assert not any(note in line for line in plain(leaf("x", (0,), 0.5, notes=(note,))))
    assert "Rounded." in plain(leaf("x", (0,), 0.5, notes=(f"{note} Rounded.",)))[-1]


async def test_arrows_choose_and_enter_follows() -> None:
    app = Explaining()
    async with app.run_test(size=(80, 10)) as pilot:
        app.view.show(SCORE, "product")
        await pilot.pause()
        assert app.lines == [f" {line}".rstrip() for line in plain(SCORE)] + ["", ""]
        walked = []
        for key in ("right", "down", "left", "up", "up", "left", "end", "home"):
            await pilot.press(key)
            assert app.view.operand is not None
            walked.append(app.view.operand.label)
        assert walked == [
            "queries[0,1]", "keys[1,1]", "keys[1,0]", "queries[0,0]", "queries[0,0]", "queries[0,0]", "queries[0,1]",
            "queries[0,0]",
        ]  # fmt: skip
        await pilot.press("down", "right", "enter")
        [asked] = app.posted
        assert isinstance(asked, ExplanationPane.Follow)
        assert asked.operand is SCORE.operands[3]


async def test_following_operands_and_going_back() -> None:
    app = Explaining()
    async with app.run_test(size=(80, 10)) as pilot:
        app.view.show(SHARE, "product")
        await pilot.press("right")
        app.view.go_on(SCORE)
        await pilot.pause()
        assert app.lines[0] == " weights[1,1] ← scores[1,2] ← queries[0,:]"
        assert (len(app.view._path), app.view.explanation) == (2, SCORE)
        await pilot.press("backspace")
        assert app.lines[0] == " weights[1,1] ← scores[1,:]"
        # The operand that was chosen there is still chosen.
        assert app.view.operand is SHARE.operands[1]
        assert app.posted == []
        await pilot.press("backspace")
        assert [type(message) for message in app.posted] == [ExplanationPane.Closed]
        app.view.clear()
        assert app.view.explanation is None
        assert app.view.operand is None


async def test_a_number_without_operands() -> None:
    app = Explaining()
    async with app.run_test(size=(80, 10)) as pilot:
        await pilot.press("right", "enter")
        app.view.show(leaf("inputs", (1, 0), 0.55), "product")
        await pilot.press("right", "down", "enter")
        assert app.posted == []
        assert app.lines[:2] == [" inputs[1,0]", " inputs[1,0] = 0.55   written in the code"]
        await pilot.press("escape")
        assert [type(message) for message in app.posted] == [ExplanationPane.Closed]


async def test_a_new_size_changes_the_layout() -> None:
    app = Explaining(unicode=False)
    async with app.run_test(size=(80, 10)) as pilot:
        app.view.show(long(), "product")
        for width, height in ((30, 2), (120, 7)):
            await pilot.resize_terminal(width, 10)
            app.view.styles.height = height
            await pilot.pause()
            expected = plain(long(), width=width - 2, height=height, unicode=False)
            assert app.lines == [f" {line}".rstrip() for line in expected] + [""] * (height - len(expected))
            assert app.view.wanted(width) == len(plain(long(), width=width - 2, height=100))


async def test_brackets_are_not_markup() -> None:
    app = Explaining()
    async with app.run_test(size=(80, 10)) as pilot:
        app.view.show(leaf("x", (), 1.0, notes=("[b]no[/b] [/]",)), "product")
        await pilot.pause()
        assert app.lines[2] == "   [b]no[/b] [/]"
