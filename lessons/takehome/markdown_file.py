"""A document as Markdown: text, code in fences, matrices as tables. GitHub, editors and Jupyter show it alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attn_tutor.lessons.play.step_document import Answer, Block, Choices, Code, Matrix, Output, Prose, Remark
from attn_tutor.lessons.render import linear_matrix, matrix_part, prose_markup
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.takehome.taken_document import Chapter, Document
from attn_tutor.lessons.texts.wording import Wording

say = Wording("take-home/markdown")

WIDTH = 100
"""Columns of a drawing in plain text."""

_SPECIAL = re.compile(r"[\\`*\[\]<>|~$]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)")
_AT_START = re.compile(r"^(\s*)(#{1,6}(?=\s|$)|[-+=](?=\s|$|[-+=])|:)|^(\s*\d+)([.)])")


def write(document: Document) -> str:
    """Return a document as Markdown."""
    parts = [f"# {escaped(document.title)}", escaped(document.about)]
    for chapter in document.chapters:
        parts += chapter_parts(chapter)
    return "\n\n".join(parts) + "\n"


def chapter_parts(chapter: Chapter) -> Iterator[str]:
    """Yield the blocks of a lesson, which are separated by empty lines."""
    yield f"## {escaped(chapter.title)}"
    yield from map(block_text, chapter.opening)
    for section in chapter.read_sections:
        yield f"### {escaped(section.title)}"
        for block in section.blocks:
            yield block_text(block)


def block_text(block: Block) -> str:
    """Return one block, without an empty line behind it."""
    match block:
        case Prose(text):
            return prose(text)
        case Remark(text, alarm):
            return f"**{escaped(text)}**" if alarm else escaped(text)
        case Code(text, role, title):
            language = "text" if role == "changes" else "python"
            return "\n\n".join(filter(None, (escaped(title), fenced(text, language))))
        case Output(text):
            return f"{say('output', 'Output:')}\n\n{fenced(text, 'text')}"
        case Matrix(tensor, _):
            return matrix(tensor)
        case Choices(options):
            return "\n".join(f"- {each.letter}) {prose(each.text)}" for each in options)
        case Answer(title, text, verdict, _):
            return f"{escaped(title)} {in_code(text)} ({escaped(verdict)})"


# Text ----------------------------------------------------------------------------------------------------------------


def escaped(text: str) -> str:
    """Return plain text as Markdown that shows it as it is, in one line."""
    line = _SPECIAL.sub(lambda found: f"\\{found[0]}" if found[0] != "&" else "&amp;", " ".join(text.split()))
    return _AT_START.sub(lambda found: f"{found[1] or ''}\\{found[2]}" if found[2] else f"{found[3]}\\{found[4]}", line)


def prose(text: str) -> str:
    """Return lesson prose as Markdown."""
    return "\n\n".join(_paragraph(paragraph) for paragraph in prose_markup.paragraphs(text))


def _paragraph(paragraph: str) -> str:
    parts: list[str] = []
    for piece, role in prose_markup.spans(paragraph):
        if role == "code":
            parts.append(in_code(piece))
            continue
        # Spaces at the ends of a piece separate it from its neighbors.
        start, end = piece[: len(piece) - len(piece.lstrip())], piece[len(piece.rstrip()) :]
        inside = escaped(piece) if not parts else _inside(piece)
        marks = {"strong": "**", "emphasis": "*"}.get(role, "")
        parts.append(f"{start}{marks}{inside}{marks}{end if piece.strip() else ''}")
    return "".join(parts)


def _inside(text: str) -> str:
    """Return plain text that does not stand at the start of a line."""
    return _SPECIAL.sub(lambda found: f"\\{found[0]}" if found[0] != "&" else "&amp;", " ".join(text.split()))


def in_code(text: str) -> str:
    """Return a piece of code within a line."""
    line = " ".join(text.split())
    ticks = "`" * (_longest(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}" if line else ""


def fenced(text: str, language: str) -> str:
    """Return code or output in a fence that is longer than any in it."""
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _longest(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


# Matrices ------------------------------------------------------------------------------------------------------------


def matrix(tensor: Tensor) -> str:
    """Return a tensor as tables, or the way its lesson draws it in plain text if that is no matrix."""
    if tensor.draw != "matrix":
        return fenced("\n".join(linear_matrix.tensor_lines(tensor, WIDTH)), "text")
    part = matrix_part.of_tensor(tensor)
    digits = matrix_part.digits_of(tensor)
    pieces = [_heading(tensor)]
    for each in part.matrices:
        if each.lead:
            pieces.append(escaped(matrix_part.lead_text(tensor, each.lead)) + ":")
        rows = [(label, *map(digits, values)) for label, values in each.rows]
        width = max(map(len, rows), default=1)
        pieces.append(_table(("", *(each.columns or ("",) * (width - 1))), rows))
    if not part.is_all:
        shape = linear_matrix.shape_text(tensor)
        pieces.append(say("part", "Only a part is shown of {shape} numbers.", shape=shape))
    return "\n\n".join(pieces)


def _heading(tensor: Tensor) -> str:
    facts = [f"**{in_code(tensor.name)}** {linear_matrix.shape_text(tensor)}"]
    if len(tensor.shape) > 1:
        rows, columns = map(escaped, tensor.axes[-2:])
        facts.append(say("rows-and-columns", "rows: {rows}, columns: {columns}", rows=rows, columns=columns))
    return ", ".join(facts)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [_row([_inside(cell) for cell in head]), _row(["---", *("--:" for _ in head[1:])])]
    lines += [_row([f"**{_inside(label)}**" if label else "", *cells]) for label, *cells in rows]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
