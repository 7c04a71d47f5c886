"""The verb `show`: what a file of tensors holds, and any tensor in it."""

from __future__ import annotations

import argparse
import difflib
from pathlib import Path
from typing import Any

from lessons.engine.stored_tensors import StoredTensors, UnreadableTensors, opened
from lessons.render import tensor_file_text
from lessons.results.clean_text import clean
from lessons.results.json_numbers import nested, number
from lessons.results.result import Tensor
from lessons.results.tensor_file import ListedTensor, TensorList, TensorStatistics
from lessons.texts.wording import Wording
from tui.commands.errors import UsageError
from tui.commands.open_session import open_session
from tui.commands.output import print_json, print_lines
from tui.tty.exit_codes import ExitCode

say = Wording("command/show")

Json = dict[str, Any]

SECONDS = 3.0
"""The longest time that the statistics of a tensor may take."""
MOST_KNOWN = 5
"""Names that are suggested in place of one that there is not."""


def run(options: argparse.Namespace) -> ExitCode:
    """Print the list of a file, or one of its tensors."""
    path = options.file
    try:
        with open_session() as session, opened(session, Path(path)) as file:
            found = file.found
            name = options.name
            if name is None and len(found.tensors) == 1 and not found.more_tensors and not found.others:
                name = found.tensors[0].name
            if name is None:
                if options.json:
                    print_json(_list_document(path, found))
                else:
                    print_lines(tensor_file_text.listing(clean(path, keep=""), found))
                    if found.tensors:
                        print_lines(["", say("choose", "Show one of them with: attn-tutor show FILE NAME")])
                return ExitCode.OK
            listed = _find(file, name)
            tensor, statistics = file.show(listed.name, SECONDS)
    except UnreadableTensors as error:
        raise UsageError(str(error)) from None
    if options.json:
        print_json(_tensor_document(path, listed, tensor, statistics))
    else:
        print_lines(tensor_file_text.tensor_lines(clean(path, keep=""), listed, tensor, statistics))
    return ExitCode.OK


def _find(file: StoredTensors, name: str) -> ListedTensor:
    """Return the tensor of this name, or the only one whose name ends with it. Raises `UsageError`."""
    known = {item.name: item for item in file.found.tensors}
    ends = [item for item in file.found.tensors if item.name.endswith(f".{name}")]
    if (found := known.get(name) or (ends[0] if len(ends) == 1 else None)) is not None:
        return found
    near = [item.name for item in ends] or difflib.get_close_matches(name, known, MOST_KNOWN, 0.5)
    near = near or [item for item in known if name.casefold() in item.casefold()] or list(known)
    text = ", ".join(clean(item, keep="") for item in near[:MOST_KNOWN])
    if not known:
        raise UsageError(say("no-tensors", "There are no tensors in the file."))
    if len(near) > MOST_KNOWN:
        text = f"{text}, ..."
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
    values = None if tensor.values is None else nested(tensor.values, tensor.shape, tensor.dtype)
    corner = None if tensor.window is None else [[number(value) for value in row] for row in tensor.window.rows]
    return {"file": path, **_entry(listed), "statistics": statistics, "values": values, "corner": corner}
