"""HTML: numbers in colors, explanations that open on a click; without scripts, and without a network.

Colors are laid over whatever background there is, so that they fit light and dark themes alike. Wherever a
notebook removes the style sheet, the text is still complete and in order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from attn_tutor.lessons.render import explanation_lines, explanation_text, flow_text, formula_digits, matrix_part
from attn_tutor.lessons.results import explanation_tree
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.explanation import counts_note
from attn_tutor.lessons.results.explanation_tree import Node
from attn_tutor.lessons.results.flow import Flow, FlowBox
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.texts.wording import Wording

say = Wording("trace/html")

STYLE = """
.attn-trace { font-size: 13px; line-height: 1.45; overflow-x: auto; }
.attn-trace code, .attn-trace pre, .attn-trace td.number, .attn-trace .mono {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 12px;
  color: inherit; }
.attn-trace code, .attn-trace pre { background: none; padding: 0; margin: 0; }
.attn-trace pre { white-space: pre; word-break: normal; overflow-x: auto; }
.attn-trace .where, .attn-trace .facts, .attn-trace th { opacity: .65; font-weight: normal; }
.attn-trace .note { font-style: italic; opacity: .85; }
.attn-trace details, .attn-trace .leaf { margin: 1px 0; }
.attn-trace details > div { margin: 1px 0 5px 6px; padding-left: 12px; border-left: 2px solid rgba(128,128,128,.35); }
.attn-trace .leaf { padding-left: 14px; }
.attn-trace summary { cursor: pointer; }
.attn-trace summary::marker { color: rgba(128,128,128,.9); }
.attn-trace table { border-collapse: separate; border-spacing: 1px; margin: 3px 0 6px; font-size: 12px; border: none;
  color: inherit; }
.attn-trace td, .attn-trace th { padding: 1px 6px; border: none; background: none; color: inherit; text-align: left;
  vertical-align: top; white-space: nowrap; max-width: none; }
.attn-trace tr { background: none; }
.attn-trace td.number, .attn-trace th.number { text-align: right; border-radius: 2px; }
.attn-trace table.thumbnail { margin: 1px 0; border-spacing: 0; }
.attn-trace table.thumbnail td { width: 7px; height: 7px; min-width: 7px; padding: 0; line-height: 0; }
.attn-trace table.list > tbody > tr > * { padding: 2px 14px 2px 0; white-space: normal; min-width: 1em; }
"""

_STRONG = STYLE.replace(".attn-trace ", ".attn-trace.attn-trace.attn-trace ")
"""The same so that it holds against the style of JupyterLab, which names two classes and aligns cells to the right."""

_BELOW, _ABOVE, _SET = "57,130,192", "222,132,32", "95,135,175"
_HIDDEN, _ALARM = "background:rgba(128,128,128,.18)", "background:#b00020;color:#fff"
_DEEPEST = 0.62


def page(*parts: str) -> str:
    """Return pieces of HTML as one output of a notebook."""
    return f'<div class="attn-trace"><style>{_STRONG}</style>{"".join(parts)}</div>'


def code(text: str) -> str:
    """Return a piece of code."""
    return f"<code>{escaped(text)}</code>" if text else ""


def facts(text: str) -> str:
    """Return what stands beside a name, less prominently."""
    return _span("facts", text)


def line(*parts: str) -> str:
    """Return pieces of HTML in a line of their own."""
    return f"<div>{' '.join(parts)}</div>"


def escaped(text: str) -> str:
    """Return a text as a piece of HTML."""
    return escape(clean(text, keep=""))


def leaf(inside: str) -> str:
    """Return what stands among lines that open, and does not open itself."""
    return f'<div class="leaf">{inside}</div>'


def words(text: str) -> str:
    """Return a text in a line of its own."""
    return line(escaped(text))


def lines(text: str) -> str:
    """Return a text of several lines, whose columns stay below each other."""
    return f"<pre>{escape(clean(text))}</pre>"


def _span(kind: str, text: str) -> str:
    return f'<span class="{kind}">{escaped(text)}</span>' if text else ""


# Tensors -----------------------------------------------------------------------------------------------------------


def color(value: float, dtype: str, furthest: float) -> str:
    """Return the style of a cell: blue below zero and orange above, the deeper the further from it; red for NaN."""
    if math.isnan(value) or value == math.inf:
        return _ALARM
    if value == -math.inf:
        return _HIDDEN
    if dtype == "bool":
        return f"background:rgba({_SET},{_DEEPEST})" if value else ""
    depth = abs(value) / furthest * _DEEPEST if furthest else 0.0
    return f"background:rgba({_ABOVE if value > 0 else _BELOW},{depth:.2f})" if depth >= 0.005 else ""


def tensor(shown: Tensor) -> str:
    """Return the matrices of a tensor, each number in the color of its value, with the indices of rows and columns."""
    if 0 in shown.shape:
        return _div("facts", say("empty", "It has no numbers."))
    digits, part = matrix_part.digits_of(shown), matrix_part.of_tensor(shown)
    furthest = max(abs(shown.low or 0.0), abs(shown.high or 0.0))
    all_rows, all_columns = shown.matrix_shape
    rows, columns = min(all_rows, matrix_part.MOST_ROWS), min(all_columns, matrix_part.MOST_COLUMNS)
    parts: list[str] = []
    for matrix in part.matrices:
        if matrix.lead:
            parts.append(f'<div class="facts mono">[{", ".join(map(str, matrix.lead))}, :, :]</div>')
        head = "".join(f'<th class="number">{column}</th>' for column in range(columns)) if shown.shape else ""
        lines = [f"<tr><th></th>{head}</tr>"] if head else []
        for row, (_, values) in enumerate(matrix.rows):
            cells = "".join(
                f'<td class="number" style="{color(value, shown.dtype, furthest)}">{digits(value)}</td>'
                for value in values
            )
            lines.append(f'<tr><th class="number">{row if len(shown.shape) > 1 else ""}</th>{cells}</tr>')
        parts.append(f"<table>{''.join(lines)}</table>")
    count = math.prod(shown.lead_shape)
    if (some := len(part.matrices)) < count:
        parts.append(_div("facts", say("matrices", "{some} of {count:,} matrices are shown.", some=some, count=count)))
    if rows < all_rows:
        parts.append(
            _div("facts", say("rows", "The first {some} of {count:,} rows are shown.", some=rows, count=all_rows))
        )
    if columns < all_columns:
        text = say("columns", "The first {some} of {count:,} columns are shown.", some=columns, count=all_columns)
        if len(shown.shape) == 1:
            text = say("start", "The first {some} of {count:,} numbers are shown.", some=columns, count=all_columns)
        parts.append(_div("facts", text))
    return "".join(parts)


def _div(kind: str, text: str) -> str:
    return f'<div class="{kind}">{escaped(text)}</div>' if text else ""


def opened(summary: str, inside: str, is_open: bool = False) -> str:
    """Return what opens on a click below a line."""
    return f"<details{' open' if is_open else ''}><summary>{summary}</summary><div>{inside}</div></details>"


def table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """Return a table of cells that are HTML already."""
    lines = [f"<tr>{''.join(f'<th>{escaped(cell)}</th>' for cell in head)}</tr>"] if head else []
    lines += [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows]
    return f'<table class="list"><tbody>{"".join(lines)}</tbody></table>'


# Explanations ------------------------------------------------------------------------------------------------------


def number(root: Node) -> str:
    """Return an explained number, open, with those that it was computed from below it, each only once."""
    return "".join(_number(root, True, {counts_note(): False}, set()))


def _number(node: Node, is_open: bool, said: dict[str, bool], explained: set[tuple[object, ...]]) -> Iterator[str]:
    """Yield a number; `said` are notes that are said once, and `explained` what tells earlier numbers from others."""
    found = node.explanation
    digits = formula_digits.digits(found)
    place = explanation_text.where(found)
    symbols = explanation_text.symbols(found)
    head = f"<code><b>{escaped(found.label)}</b> = {escaped(digits.result)}</code>"
    at = _span("where", place)
    identity = explanation_tree.identity(node)
    notes = [note for note in found.notes if not said.get(note)]
    said.update((note, True) for note in notes if note in said)
    if found.leaf or identity in explained:
        again = say("above", "explained above") if identity in explained and not found.leaf else ""
        facts = [symbols, *notes] if found.leaf else [again]
        why = _span("note", " · ".join(facts))
        yield leaf(f"{head} {code(found.code) if found.leaf else ''} {at} {why}")
        return
    explained.add(identity)
    lines = [f"<div>{code(f'= {symbols}')}</div>"]
    if digits.text not in (digits.result, symbols):
        lines.append(f"<div>{code(f'= {digits.text} {digits.sign} {digits.result}')}</div>")
    lines += [_div("note", text) for text in (digits.remark, *notes)]
    lines += [
        f'<div><span class="facts">{escaped(title)}:</span> {code(explanation_text.numbers(row))}</div>'
        for title, row in found.details
    ]
    for operand in node.operands or ():
        lines += _number(operand, False, said, explained)
    if node.operands is None:
        count = len(found.operands)
        more = say.count(
            "deeper",
            count,
            "It was computed from {count} number; ask for this one to go on.",
            "It was computed from {count} numbers; ask for one of them to go on.",
        )
        lines.append(_div("facts", more))
    elif len(node.operands) < len(found.operands):
        lines.append(_div("facts", explanation_lines.choose_operands(found).rest))
    # A number without a name is called by its code already.
    made = "" if found.code in found.label else code(found.code)
    yield opened(f"{head} {made} {at}", "".join(lines), is_open)


# Flows -------------------------------------------------------------------------------------------------------------


def flow(drawn: Flow) -> str:
    """Return a flow as a table: each tensor with a small picture, its code, and what it was computed from."""
    names = flow_text.numbered(drawn)
    rows = []
    for box in drawn.boxes:
        again = drawn.sources_again(box.id)
        sources = ", ".join(names[source] for source in drawn.sources(box.id) if source not in again)
        later = flow_text.again_text([names[source] for source in again])
        is_outside = not box.code and not box.operations
        origin = (
            _span("facts", say("outside", "from outside")) if is_outside else f"{code(sources)} {_span('facts', later)}"
        )
        made = f"{code(box.code)} {_span('where', flow_text.where(box))}"
        name, facts = f"<code><b>{escaped(names[box.id])}</b></code>", _span("facts", flow_text.box_facts(box))
        rows.append((name, thumbnail(box), facts, origin, made))
    head = (
        say("tensor", "tensor"),
        "",
        say("shape", "shape"),
        say("computed-from", "computed from"),
        say("by", "by"),
    )
    left = drawn.left_out
    rest = say.count("left-out", left, "{count} earlier one is left out.", "{count} earlier ones are left out.")
    return table(rows, head) + _div("facts", rest if left else "")


def thumbnail(box: FlowBox) -> str:
    """Return a small picture of the tensor of a box, one colored cell for each block of its numbers."""
    furthest = max(abs(box.low or 0.0), abs(box.high or 0.0))
    rows = ("".join(f'<td style="{color(value, box.dtype, furthest)}"></td>' for value in row) for row in box.thumbnail)
    inside = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<table class="thumbnail"><tbody>{inside}</tbody></table>' if inside else ""
