"""A document as one HTML page: no scripts, nothing from a network; a click on a number opens its explanation.

Its style is made for light and dark, screen and paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import NamedTuple

from attn_tutor.lessons.play.step_document import Answer, Block, Choices, Code, Matrix, Output, Prose, Remark
from attn_tutor.lessons.render import (
    explanation_text,
    formula_digits,
    linear_matrix,
    matrix_part,
    memory_text,
    prose_markup,
)
from attn_tutor.lessons.render.html_pieces import color, escaped
from attn_tutor.lessons.render.matrix_part import MatrixPart
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.takehome.taken_document import Chapter, Document
from attn_tutor.lessons.texts import translations
from attn_tutor.lessons.texts.wording import Wording

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What the page tells the browser: no scripts, and nothing from anywhere else."""

STYLE = """
:root { color-scheme: light dark; --page: #fdfdfb; --ink: #22252a; --soft: #6a7077; --line: #d9dbd7; --box: #f3f3ef;
  --code: #1f5f8b; --mine: #2b7a46; --alarm: #b00020; }
@media (prefers-color-scheme: dark) {
  :root { --page: #16181c; --ink: #dfe2e6; --soft: #9aa1a9; --line: #3a3f46; --box: #1f2227; --code: #7cc0ee;
    --mine: #6fc98d; --alarm: #ff8a94; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 6rem; max-width: 56rem; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; }
h1, h2, h3 { line-height: 1.25; }
h2 { margin-top: 3.5rem; padding-top: 1rem; border-top: 2px solid var(--line); }
h3 { margin-top: 2.25rem; }
a { color: var(--code); }
code, pre, table, .digits { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { color: var(--code); font-size: .92em; overflow-wrap: anywhere; }
pre { margin: .4rem 0 1rem; padding: .7rem .9rem; background: var(--box); border-left: 3px solid var(--line);
  overflow-x: auto; font-size: .86rem; line-height: 1.45; }
pre code { color: inherit; font-size: inherit; overflow-wrap: normal; }
pre.answer, pre.draft, pre.changes, .given { border-left: 3px solid var(--mine); }
pre.draft { border-left-style: dashed; }
.label { margin: 1rem 0 0; color: var(--soft); font-size: .92rem; }
.given { padding-left: .9rem; }
.soft { color: var(--soft); }
.alarm { color: var(--alarm); }
ol.options { list-style: none; padding-left: .5rem; }
figure { margin: 1rem 0 1.5rem; position: relative; }
figure > div { overflow-x: auto; margin: -3px; padding: 3px; }
figcaption { font-size: .9rem; color: var(--soft); }
figcaption b { color: var(--ink); }
table { border-collapse: separate; border-spacing: 2px; font-size: .84rem; margin: .3rem 0; }
th { font-weight: normal; color: var(--soft); padding: .1rem .45rem; text-align: right; white-space: nowrap; }
td { padding: 0; text-align: right; white-space: nowrap; border-radius: 3px; }
td > span, summary { padding: .15rem .5rem; display: block; }
td.bar { min-width: 12rem; text-align: left; }
td.bar i { display: block; height: .8rem; background: rgba(222,132,32,.7); border-radius: 2px; }
td summary { cursor: pointer; list-style: none; border-radius: 3px; }
td summary::-webkit-details-marker { display: none; }
td summary:hover, td summary:focus-visible, td details[open] > summary { outline: 2px solid var(--code); }
td .why { position: absolute; z-index: 2; left: 0; margin-top: 5px;
  width: max-content; max-width: min(34rem, 100%); padding: .6rem .8rem;
  text-align: left; white-space: normal; background: var(--page); border: 1px solid var(--line);
  border-radius: 5px; box-shadow: 0 4px 18px rgba(0,0,0,.25); }
td .why { scroll-margin: 40vh; }
.why a { white-space: nowrap; margin-right: .5em; }
.why div { margin: .15rem 0; overflow-wrap: anywhere; }
nav ol { padding-left: 0; list-style: none; columns: 2 18rem; }
@media (max-width: 40rem) { body { padding: 1rem .8rem 4rem; }
  table { font-size: .8rem; } td > span, summary { padding: .15rem .3rem; } th { padding: .1rem .25rem; } }
@media print {
  :root { --page: #fff; --ink: #000; --soft: #444; --line: #bbb; --box: #f6f6f6; --code: #123f5e; --mine: #2b7a46; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, td .why, .screen { display: none; }
  pre { white-space: pre-wrap; }
  pre, figure > div { overflow: visible; }
  pre, figure, tr { break-inside: avoid; }
  h2, h3, .label, figcaption { break-after: avoid; }
  td, td.bar i { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""


MOST_LINKS = 12
"""The most links of one explanation: a page has thousands of explanations."""


class ExplainedLinks:
    """Gives each explanation of a document a number, and finds those of its operands.

    An operand is known by what the code calls it and by its value, in its own lesson: a name may have had several
    values, and only the one that was used is the right one.
    """

    def __init__(self, document: Document) -> None:
        self._numbers: dict[int, int] = {}
        self._chapters: dict[int, int] = {}
        self._cells: dict[tuple[int, str, float | None], int] = {}
        for chapter_number, chapter in enumerate(document.chapters):
            for found in _explanations(chapter):
                number = self._numbers[id(found)] = len(self._numbers) + 1
                self._chapters[id(found)] = chapter_number
                # The first is where the learner met it.
                self._cells.setdefault((chapter_number, found.label, found.value), number)

    def number_of(self, explanation: Explanation) -> int:
        """Return the number of an explanation of the document, from 1. Raises `KeyError` for another one."""
        return self._numbers[id(explanation)]

    def of(self, explanation: Explanation) -> tuple[tuple[str, int], ...]:
        """Return the operands that are explained in the document themselves: their labels, and their numbers."""
        own, chapter = self._numbers[id(explanation)], self._chapters[id(explanation)]
        found: dict[str, int] = {}
        for operand in explanation.operands:
            number = self._cells.get((chapter, operand.label, operand.value))
            if number is not None and number != own and not operand.leaf:
                found[operand.label] = number
        return tuple(found.items())[:MOST_LINKS]


def _explanations(chapter: Chapter) -> Iterator[Explanation]:
    for section in chapter.read_sections:
        for block in section.blocks:
            if isinstance(block, Matrix):
                yield from (each.explanation for each in block.explained)


say = Wording("take-home/html")

MOST_BARS = 64


class _Why(NamedTuple):
    """The explanation of a number, with the links to others."""

    explanation: Explanation
    links: ExplainedLinks


def write(document: Document) -> str:
    """Return a document as a page."""
    chosen = translations.chosen_folder()
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="{escaped(chosen.name) if chosen else "en"}">',
        '<head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escaped(document.title)}</title>",
        f"<style>{STYLE}</style></head>",
        "<body>",
        f"<h1>{escaped(document.title)}</h1>",
        f"<p>{escaped(document.about)}</p>",
        _how(document),
        _contents(document),
    ]
    links = ExplainedLinks(document)
    for chapter in document.chapters:
        parts += _chapter(chapter, links)
    return "\n".join(filter(None, [*parts, "</body>", "</html>"])) + "\n"


def _how(document: Document) -> str:
    """Say that numbers open, if any does."""
    blocks = (block for chapter in document.chapters for each in chapter.read_sections for block in each.blocks)
    if not any(isinstance(block, Matrix) and block.explained for block in blocks):
        return ""
    how = say("how", "Click a number of a small matrix to see how it was computed.")
    brighter = say("brighter", "Where the text calls a cell brighter, its color is stronger here.")
    # Nobody clicks on paper.
    return f'<p><span class="screen">{escaped(how)}</span> {escaped(brighter)}</p>'


def _contents(document: Document) -> str:
    if len(document.chapters) < 2:
        return ""
    entries = (f'<li><a href="#{escaped(each.lesson.id)}">{escaped(each.title)}</a></li>' for each in document.chapters)
    return f"<nav><ol>{''.join(entries)}</ol></nav>"


def _chapter(chapter: Chapter, links: ExplainedLinks) -> Iterator[str]:
    yield f'<section id="{escaped(chapter.lesson.id)}">'
    yield f"<h2>{escaped(chapter.title)}</h2>"
    yield from (_block(block, links) for block in chapter.opening)
    for section in chapter.read_sections:
        yield f'<h3 id="{escaped(chapter.lesson.id)}--{escaped(section.step.id)}">{escaped(section.title)}</h3>'
        yield from (_block(block, links) for block in section.blocks)
    yield "</section>"


def _block(block: Block, links: ExplainedLinks) -> str:
    match block:
        case Prose(text):
            return "\n".join(f"<p>{_marked(paragraph)}</p>" for paragraph in prose_markup.paragraphs(text))
        case Remark(text, alarm):
            return f'<p class="{"alarm" if alarm else "soft"}">{escaped(text)}</p>'
        case Code(text, role, title):
            label = f'<p class="label">{escaped(title)}</p>' if title else ""
            return f'{label}<pre class="{role}"><code>{_lines(text)}</code></pre>'
        case Output(text):
            return f'<p class="label">{escaped(say("output", "Output:"))}</p><pre class="output">{_lines(text)}</pre>'
        case Matrix(tensor, explained):
            return _figure(tensor, {each.index: _Why(each.explanation, links) for each in explained})
        case Choices(options):
            items = "".join(f"<li>{each.letter}) {_marked(' '.join(each.text.split()))}</li>" for each in options)
            return f'<ol class="options">{items}</ol>'
        case Answer(title, text, verdict, _):
            return f'<p class="given">{escaped(title)} <b><code>{escaped(text)}</code></b> ({escaped(verdict)})</p>'


def _lines(text: str) -> str:
    return escape(text.rstrip())


def _marked(paragraph: str) -> str:
    """Return a paragraph of prose with its marks as elements."""
    elements = {"code": "code", "strong": "strong", "emphasis": "em"}
    pieces = []
    for piece, role in prose_markup.spans(paragraph):
        element = elements.get(role)
        pieces.append(f"<{element}>{escaped(piece)}</{element}>" if element else escaped(piece))
    return "".join(pieces)


# Matrices ------------------------------------------------------------------------------------------------------------


def _figure(tensor: Tensor, explained: Mapping[tuple[int, ...], _Why]) -> str:
    """Return a tensor with its name, as bars or as tables; some of its numbers open."""
    facts = [linear_matrix.shape_text(tensor)]
    if len(tensor.shape) > 1:
        rows, columns = tensor.axes[-2:]
        facts.append(say("rows-and-columns", "rows: {rows}, columns: {columns}", rows=rows, columns=columns))
    parts = [f"<figcaption><b><code>{escaped(tensor.name)}</code></b> {escaped(', '.join(facts))}</figcaption>"]
    part = matrix_part.of_tensor(tensor)
    bars = _is_drawn_as_bars(tensor)
    for each in part.matrices:
        if each.lead:
            parts.append(f'<div class="soft">{escaped(matrix_part.lead_text(tensor, each.lead))}</div>')
        parts.append(_bars(tensor, each, explained) if bars else _table(tensor, each, explained))
    if not part.is_all:
        shape = linear_matrix.shape_text(tensor)
        rest = say("part", "Only a part is shown of {shape} numbers.", shape=shape)
        parts.append(f'<div class="soft">{escaped(rest)}</div>')
    if tensor.draw == "memory" and memory_text.drawable(tensor):
        parts.append(f"<pre>{_lines(chr(10).join(linear_matrix.storage_lines(tensor)))}</pre>")
    return f"<figure>{''.join(parts)}</figure>"


def _is_drawn_as_bars(tensor: Tensor) -> bool:
    positive = tensor.low is not None and tensor.low >= 0
    return tensor.draw == "bars" and len(tensor.shape) == 1 and tensor.size <= MOST_BARS and positive


def _table(tensor: Tensor, part: MatrixPart, explained: Mapping[tuple[int, ...], _Why]) -> str:
    head = "".join(f"<th scope=col>{escaped(label)}</th>" for label in part.columns)
    lines = [f"<tr><th></th>{head}</tr>"] if head else []
    digits = matrix_part.digits_of(tensor)
    for row, (label, values) in enumerate(part.rows):
        cells = []
        for column, value in enumerate(values):
            index = (*part.lead, row, column)[-len(tensor.shape) :] if tensor.shape else ()
            cells.append(f"<td{_color(tensor, value)}>{_number(digits(value), explained.get(index))}</td>")
        lines.append(f"<tr><th scope=row>{escaped(label)}</th>{''.join(cells)}</tr>")
    # What opens in a cell lies over the figure, and so is not cut off where a wide table scrolls.
    return f"<div><table>{''.join(lines)}</table></div>"


def _bars(tensor: Tensor, part: MatrixPart, explained: Mapping[tuple[int, ...], _Why]) -> str:
    lines = []
    digits = matrix_part.digits_of(tensor)
    for column, value in enumerate(part.rows[0][1] if part.rows else ()):
        label = part.columns[column] if part.columns else ""
        width = round(100 * value / tensor.high) if tensor.high and 0 <= value <= tensor.high else 0
        number = _number(digits(value), explained.get((column,)))
        bar = f'<td class="bar"><span><i style="width:{width}%"></i></span></td>'
        lines.append(f"<tr><th scope=row>{escaped(label)}</th><td>{number}</td>{bar}</tr>")
    # What opens in a cell lies over the figure, and so is not cut off where a wide table scrolls.
    return f"<div><table>{''.join(lines)}</table></div>"


def _color(tensor: Tensor, value: float) -> str:
    style = color(value, tensor.dtype, max(abs(tensor.low or 0.0), abs(tensor.high or 0.0)))
    return f' style="{style}"' if style else ""


def _number(text: str, why: _Why | None) -> str:
    digits = escaped(text)
    if why is None:
        return f"<span>{digits}</span>"
    # Of the details with one name, browsers keep one open. A link to what is inside opens them.
    number = why.links.number_of(why.explanation)
    inner = f'<div class="why" id="n{number}">{_why(why)}</div>'
    return f'<details name="why"><summary>{digits}</summary>{inner}</details>'


def _why(why: _Why) -> str:
    """Return how a number was computed: in symbols, in digits, by which code, from which other numbers."""
    found = why.explanation
    digits, symbols = formula_digits.digits(found), explanation_text.symbols(found)
    lines = [f"<code><b>{escaped(found.label)}</b> = {escaped(symbols)}</code>"]
    if digits.text not in (digits.result, symbols):
        lines.append(f"<code>= {escaped(digits.text)} {escaped(digits.sign)} {escaped(digits.result)}</code>")
    lines += [escaped(text) for text in (digits.remark, *found.notes) if text]
    if found.code:
        lines.append(f"<code>{escaped(found.code)}</code> {escaped(explanation_text.where(found))}")
    if operands := why.links.of(found):
        links = " ".join(f'<a href="#n{number}">{escaped(label)}</a>' for label, number in operands)
        lines.append(f"{escaped(say('from', 'How these were computed:'))} {links}")
    return "".join(f"<div>{line}</div>" for line in lines)
