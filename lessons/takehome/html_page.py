"""A document as one HTML page: no scripts, nothing from a network; a click on a number opens its explanation."""

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
from attn_tutor.lessons.render.html_pieces import color
from attn_tutor.lessons.render.matrix_part import MatrixPart
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.takehome.explained_links import ExplainedLinks
from attn_tutor.lessons.takehome.html_style import POLICY, STYLE
from attn_tutor.lessons.takehome.taken_document import Chapter, Document
from attn_tutor.lessons.texts import language
from attn_tutor.lessons.texts.wording import Wording

say = Wording("take-home/html")

MOST_BARS = 64


class _Why(NamedTuple):
    """The explanation of a number, with the links to others."""

    explanation: Explanation
    links: ExplainedLinks


def write(document: Document) -> str:
    """Return a document as a page."""
    chosen = language.chosen()
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="{_text(chosen.name) if chosen else "en"}">',
        '<head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(document.title)}</title>",
        f"<style>{STYLE}</style></head>",
        "<body>",
        f"<h1>{_text(document.title)}</h1>",
        f"<p>{_text(document.about)}</p>",
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
    return f'<p><span class="screen">{_text(how)}</span> {_text(brighter)}</p>'


def _contents(document: Document) -> str:
    if len(document.chapters) < 2:
        return ""
    entries = (f'<li><a href="#{_text(each.lesson.id)}">{_text(each.title)}</a></li>' for each in document.chapters)
    return f"<nav><ol>{''.join(entries)}</ol></nav>"


def _chapter(chapter: Chapter, links: ExplainedLinks) -> Iterator[str]:
    yield f'<section id="{_text(chapter.lesson.id)}">'
    yield f"<h2>{_text(chapter.title)}</h2>"
    yield from (_block(block, links) for block in chapter.opening)
    for section in chapter.read_sections:
        yield f'<h3 id="{_text(chapter.lesson.id)}--{_text(section.step.id)}">{_text(section.title)}</h3>'
        yield from (_block(block, links) for block in section.blocks)
    yield "</section>"


def _block(block: Block, links: ExplainedLinks) -> str:
    match block:
        case Prose(text):
            return "\n".join(f"<p>{_marked(paragraph)}</p>" for paragraph in prose_markup.paragraphs(text))
        case Remark(text, alarm):
            return f'<p class="{"alarm" if alarm else "soft"}">{_text(text)}</p>'
        case Code(text, role, title):
            label = f'<p class="label">{_text(title)}</p>' if title else ""
            return f'{label}<pre class="{role}"><code>{_lines(text)}</code></pre>'
        case Output(text):
            return f'<p class="label">{_text(say("output", "Output:"))}</p><pre class="output">{_lines(text)}</pre>'
        case Matrix(tensor, explained):
            return _figure(tensor, {each.index: _Why(each.explanation, links) for each in explained})
        case Choices(options):
            items = "".join(f"<li>{each.letter}) {_marked(' '.join(each.text.split()))}</li>" for each in options)
            return f'<ol class="options">{items}</ol>'
        case Answer(title, text, verdict, _):
            return f'<p class="given">{_text(title)} <b><code>{_text(text)}</code></b> ({_text(verdict)})</p>'


def _text(text: str) -> str:
    return escape(clean(text, keep=""))


def _lines(text: str) -> str:
    return escape(text.rstrip())


def _marked(paragraph: str) -> str:
    """Return a paragraph of prose with its marks as elements."""
    elements = {"code": "code", "strong": "strong", "emphasis": "em"}
    pieces = []
    for piece, role in prose_markup.spans(paragraph):
        element = elements.get(role)
        pieces.append(f"<{element}>{_text(piece)}</{element}>" if element else _text(piece))
    return "".join(pieces)


# Matrices ------------------------------------------------------------------------------------------------------------


def _figure(tensor: Tensor, explained: Mapping[tuple[int, ...], _Why]) -> str:
    """Return a tensor with its name, as bars or as tables; some of its numbers open."""
    facts = [linear_matrix.shape_text(tensor)]
    if len(tensor.shape) > 1:
        rows, columns = tensor.axes[-2:]
        facts.append(say("rows-and-columns", "rows: {rows}, columns: {columns}", rows=rows, columns=columns))
    parts = [f"<figcaption><b><code>{_text(tensor.name)}</code></b> {_text(', '.join(facts))}</figcaption>"]
    part = matrix_part.of_tensor(tensor)
    bars = _is_drawn_as_bars(tensor)
    for each in part.matrices:
        if each.lead:
            parts.append(f'<div class="soft">{_text(matrix_part.lead_text(tensor, each.lead))}</div>')
        parts.append(_bars(tensor, each, explained) if bars else _table(tensor, each, explained))
    if not part.is_all:
        shape = linear_matrix.shape_text(tensor)
        rest = say("part", "Only a part is shown of {shape} numbers.", shape=shape)
        parts.append(f'<div class="soft">{_text(rest)}</div>')
    if tensor.draw == "memory" and memory_text.drawable(tensor):
        parts.append(f"<pre>{_lines(chr(10).join(linear_matrix.storage_lines(tensor)))}</pre>")
    return f"<figure>{''.join(parts)}</figure>"


def _is_drawn_as_bars(tensor: Tensor) -> bool:
    positive = tensor.low is not None and tensor.low >= 0
    return tensor.draw == "bars" and len(tensor.shape) == 1 and tensor.size <= MOST_BARS and positive


def _table(tensor: Tensor, part: MatrixPart, explained: Mapping[tuple[int, ...], _Why]) -> str:
    head = "".join(f"<th scope=col>{_text(label)}</th>" for label in part.columns)
    lines = [f"<tr><th></th>{head}</tr>"] if head else []
    digits = matrix_part.digits_of(tensor)
    for row, (label, values) in enumerate(part.rows):
        cells = []
        for column, value in enumerate(values):
            index = (*part.lead, row, column)[-len(tensor.shape) :] if tensor.shape else ()
            cells.append(f"<td{_color(tensor, value)}>{_number(digits(value), explained.get(index))}</td>")
        lines.append(f"<tr><th scope=row>{_text(label)}</th>{''.join(cells)}</tr>")
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
        lines.append(f"<tr><th scope=row>{_text(label)}</th><td>{number}</td>{bar}</tr>")
    # What opens in a cell lies over the figure, and so is not cut off where a wide table scrolls.
    return f"<div><table>{''.join(lines)}</table></div>"


def _color(tensor: Tensor, value: float) -> str:
    style = color(value, tensor.dtype, max(abs(tensor.low or 0.0), abs(tensor.high or 0.0)))
    return f' style="{style}"' if style else ""


def _number(text: str, why: _Why | None) -> str:
    digits = _text(text)
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
    lines = [f"<code><b>{_text(found.label)}</b> = {_text(symbols)}</code>"]
    if digits.text not in (digits.result, symbols):
        lines.append(f"<code>= {_text(digits.text)} {_text(digits.sign)} {_text(digits.result)}</code>")
    lines += [_text(text) for text in (digits.remark, *found.notes) if text]
    if found.code:
        lines.append(f"<code>{_text(found.code)}</code> {_text(explanation_text.where(found))}")
    if operands := why.links.of(found):
        links = " ".join(f'<a href="#n{number}">{_text(label)}</a>' for label, number in operands)
        lines.append(f"{_text(say('from', 'How these were computed:'))} {links}")
    return "".join(f"<div>{line}</div>" for line in lines)
