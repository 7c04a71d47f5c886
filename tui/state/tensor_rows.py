"""A line in the list of the tensors of a program or a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TensorRow:
    """A tensor in the list.

    Attributes:
        page: the id of the page that shows it; "" if none does.
        label: its name; the last part of a long one is what tells it from others.
        columns: its shape, its type, and where it is or how large; the first ones stay where there is little room.
        name: what its page calls it.
        about: what is said of it where the cursor is.
    """

    page: str
    label: str
    columns: tuple[str, ...] = ()
    name: str = ""
    about: str = ""
