"""The verb `show`: what a file of tensors holds, and any tensor in it."""

from __future__ import annotations

import argparse
import difflib
from pathlib import Path
from typing import Any

from attn_tutor.lessons.programs.engine.tensor_file import (
    StoredTensors,
    TensorFileSession,
    UnreadableTensors,
    opened_tensors,
)
from attn_tutor.lessons.programs.render import tensor_file_text
from attn_tutor.lessons.programs.results.tensor_file import ListedTensor, TensorList, TensorStatistics
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.floats import json_lists, json_number
from attn_tutor.lessons.results.result import LONGEST_AXIS, Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.commands.output import UsageError, print_json, print_lines
from attn_tutor.tui.programs import open_program
from attn_tutor.tui.state.typed_names import typed
from attn_tutor.tui.tty.exit_codes import ExitCode
from attn_tutor.tui.tty.terminal import this_terminal

say = Wording("command/show")

Json = dict[str, Any]

SECONDS = 3.0
"""The longest time that the statistics of a tensor may take."""
MOST_KNOWN = 5
"""Names that are suggested in place of one that there is not."""


def run(options: argparse.Namespace) -> int:
    """Open the tensors of a file, at one of them if it is named; where there is no terminal, print them."""
    if Path(options.file).suffix == ".py":
        raise UsageError(
            say("program", "{file} is a program. To look at its tensors: attn-tutor open {file}", file=options.file)
        )
    terminal = this_terminal()
    opens = not options.json and (terminal.interactive or options.plain)
    path = Path(options.file)
    with open_session() as session:
        try:
            with opened_tensors(session, path) as file:
                listed = _chosen(file, options.name)
                if options.heads is not None:
                    _check_heads(options.heads, listed, opens=opens)
                if not opens:
                    _print(options, file, listed)
                    return ExitCode.OK
                found = file.found
        except UnreadableTensors as error:
            raise UsageError(str(error)) from None
        heads = {listed.name: options.heads} if listed is not None and options.heads is not None else {}
        pages = TensorFileSession(path, found, tensor_file_text.table, heads, session.launcher)
        name = listed.name if listed is not None else ""
        if options.plain:
            from attn_tutor.tui.programs.pages import TensorFileSource

            return open_program.talk(terminal, TensorFileSource(pages, name), options.columns)
        return open_program.open_file(terminal, pages, name)


def _print(options: argparse.Namespace, file: StoredTensors, listed: ListedTensor | None) -> None:
    """Print the list of a file, or one of its tensors. Raises `UnreadableTensors`."""
    if listed is None:
        _print_list(options, file.found)
        return
    tensor, statistics = file.show(listed.name, SECONDS)
    if options.json:
        print_json(_tensor_document(options.file, listed, tensor, statistics))
    else:
        print_lines(tensor_file_text.tensor_lines(clean(options.file, keep=""), listed, tensor, statistics))


def _chosen(file: StoredTensors, name: str | None) -> ListedTensor | None:
    """Return the tensor that was named, or the only one of a file; None for all of them. Raises `UsageError`."""
    found = file.found
    if name is not None:
        return _find(file, name)
    return found.tensors[0] if len(found.tensors) == 1 and not found.more_tensors and not found.others else None


def _check_heads(heads: int, listed: ListedTensor | None, *, opens: bool) -> None:
    """Raise `UsageError` if the rows of a tensor cannot be split into so many heads, or nobody would see them."""
    if listed is None:
        raise UsageError(say("heads-of-what", "--heads needs the NAME of the tensor whose rows are split."))
    if not opens:
        raise UsageError(say("heads-unseen", "--heads is for a terminal, where heads can be looked at one by one."))
    rows = listed.shape[0] if len(listed.shape) == 2 else 0
    if heads < 1 or not rows or rows % heads or rows > LONGEST_AXIS:
        shape = "×".join(map(str, listed.shape))
        raise UsageError(
            say("no-heads", "{name} ({shape}) cannot be split into {heads} heads: its rows must be divisible by them.",
                name=listed.name, shape=shape, heads=heads)
        )  # fmt: skip


def _print_list(options: argparse.Namespace, found: TensorList) -> None:
    if options.json:
        print_json(_list_document(options.file, found))
        return
    print_lines(tensor_file_text.listing(clean(options.file, keep=""), found))
    if found.tensors:
        print_lines(["", say("choose", "Show one of them with: attn-tutor show FILE NAME")])


def _find(file: StoredTensors, name: str) -> ListedTensor:
    """Return the tensor of this name, or the only one whose name ends with it. Raises `UsageError`."""
    known = {item.name: item for item in file.found.tensors}
    ends, inner = typed(name, known)
    if len(ends) == 1 and not inner:
        return known[ends[0]]
    near = list(ends) or difflib.get_close_matches(name, known, MOST_KNOWN, 0.5)
    near = near or [item for item in known if name.casefold() in item.casefold()] or list(known)
    text = ", ".join(clean(item, keep="") for item in near[:MOST_KNOWN])
    if not known:
        raise UsageError(say("no-tensors", "There are no tensors in the file."))
    if len(near) > MOST_KNOWN:
        text = f"{text}, ..."
    if file.found.more_tensors:
        raise UsageError(
            say("not-listed", "'{name}' is not among the {count} tensors that can be listed; the file has {more} more. "
                "Listed are: {known}", name=name, count=len(known), more=file.found.more_tensors, known=text)
        )  # fmt: skip
    raise UsageError(say("no-tensor", "There is no tensor '{name}'. There are: {known}", name=name, known=text))


def _list_document(path: str, found: TensorList) -> Json:
    return {
        "file": path,
        "format": found.kind,
        "bytes": found.size,
        "tensors": [_entry(item) for item in found.tensors],
        "others": dict(found.others),
        "more_tensors": found.more_tensors,
        "more_others": found.more_others,
    }


def _entry(item: ListedTensor) -> Json:
    return {
        "name": item.name,
        "shape": list(item.shape),
        "dtype": item.dtype,
        "bytes": item.nbytes,
        "offset": item.offset,
        "problem": item.problem or None,
    }


def _tensor_document(path: str, listed: ListedTensor, tensor: Tensor, found: TensorStatistics) -> Json:
    """Return a tensor as a document: what the list says, its statistics, and `values` or only the `corner` of them."""
    statistics = {
        "count": found.count,
        "seen": found.seen,
        "min": found.low,
        "max": found.high,
        "mean": found.mean,
        "std": found.std,
        "zeros": found.zeros,
        "nan": found.nans,
        "infinite": found.infinities,
    }
    values = None if tensor.values is None else json_lists(tensor.values, tensor.shape, tensor.dtype)
    corner = None if tensor.window is None else [[json_number(value) for value in row] for row in tensor.window.rows]
    return {"file": path, **_entry(listed), "statistics": statistics, "values": values, "corner": corner}
