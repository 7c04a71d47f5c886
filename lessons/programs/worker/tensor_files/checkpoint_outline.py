"""What a checkpoint of PyTorch holds (`torch.save`), as an outline: its tensors are described, and nothing is built.

A checkpoint is a zip archive: the bytes of storages, and a pickle that says which tensors and other objects use them. A
pickle names functions that are to be called. Here each name leads to a stand-in of this module (`_STAND_INS`) or to a
class that keeps what it is given and does nothing, so no code that a file names is ever found, imported or run. Unlike
`torch.load`, this needs neither the classes that a checkpoint was made with nor memory for its tensors.
"""

from __future__ import annotations

import io
import itertools
import math
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from attn_tutor.lessons.programs.worker.tensor_files.stored_tensor import Archive, StoredTensor, UnreadableFile
from attn_tutor.lessons.texts.wording import Wording

say = Wording("worker/checkpoints")

LARGEST_PICKLE = 64 << 20
"""Bytes; a checkpoint of a million tensors has about as many."""
LARGEST_WRITTEN = 256
"""Bits of a whole number up to which it is written with all its digits, which then fit into a line."""
MOST_ITEMS = 200_000
"""Tensors and other values of a checkpoint that are listed."""
DEEPEST = 64
SCRIPT = "__torch__."
"""What the names of classes begin with that TorchScript has compiled."""
FEW = 4
"""Numbers of a list up to which they are listed."""

STORAGES = {
    "DoubleStorage": torch.float64,
    "FloatStorage": torch.float32,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
    "ComplexFloatStorage": torch.complex64,
    "ComplexDoubleStorage": torch.complex128,
}
"""The classes by which a storage says what it holds. `UntypedStorage` holds bytes, and the tensor says it."""


@dataclass(frozen=True)
class _Storage:
    key: str
    dtype: torch.dtype | None


@dataclass(frozen=True)
class _Tensor:
    storage: _Storage | None
    dtype: torch.dtype | None
    offset: int = 0
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    problem: str = ""


class _Table(dict[Any, Any]):
    """A dict of any kind; as an instance of a class of ours it may have attributes, as the dict of a module has."""


class _Object:
    """Stands for an object of any class: keeps its state, and does nothing with what it is given."""

    name = ""
    state: Any = None

    def __new__(cls, *arguments: object, **named: object) -> _Object:
        return object.__new__(cls)

    def __init__(self, *arguments: object, **named: object) -> None:
        pass

    def __setstate__(self, state: object) -> None:
        object.__setattr__(self, "state", state)

    def __setitem__(self, key: object, value: object) -> None:
        pass

    def extend(self, items: object) -> None:
        """Take what a pickle appends to a list."""

    append = add = extend


def _table(*_: object) -> _Table:
    return _Table()


def _tensor(storage: object, offset: object, shape: object, strides: object, *more: object) -> _Tensor:
    if not isinstance(storage, _Storage):
        return _Tensor(None, None, problem=say("no-storage", "It has no storage of its own."))
    dtype = next((item for item in more if isinstance(item, torch.dtype)), storage.dtype)
    numbers = (offset, *shape, *strides) if isinstance(shape, tuple) and isinstance(strides, tuple) else (None,)
    if not all(type(number) is int for number in numbers) or len(shape) != len(strides):  # type: ignore[arg-type]
        return _Tensor(None, None, problem=say("odd", "The file does not say where its numbers lie."))
    return _Tensor(storage, dtype, offset, shape, strides)  # type: ignore[arg-type]


def _parameter(data: object, *_: object) -> object:
    return data


def _other_tensor(*_: object) -> _Tensor:
    problem = say("other-kind", "It is quantized, sparse, or of another kind that has no plain matrix.")
    return _Tensor(None, None, problem=problem)


def _reconstructed(kind: object, *_: object) -> object:
    return kind() if isinstance(kind, type) and issubclass(kind, _Object | _Table) else _Object()


def _sizes(items: object = (), *_: object) -> tuple[object, ...]:
    return tuple(items) if isinstance(items, list | tuple) else ()


_STAND_INS: dict[tuple[str, str], object] = {
    ("collections", "OrderedDict"): _Table,
    ("collections", "defaultdict"): _table,
    ("copyreg", "_reconstructor"): _reconstructed,
    ("copy_reg", "_reconstructor"): _reconstructed,
    ("torch", "Size"): _sizes,
    ("torch._utils", "_rebuild_tensor"): _tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_tensor_v3"): _tensor,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): _parameter,
    ("torch._utils", "_rebuild_qtensor"): _other_tensor,
    ("torch._utils", "_rebuild_sparse_tensor"): _other_tensor,
    ("torch._utils", "_rebuild_nested_tensor"): _other_tensor,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): _other_tensor,
    ("torch._tensor", "_rebuild_from_type_v2"): lambda function, kind, arguments, state: (
        function(*arguments) if function in (_tensor, _parameter, _other_tensor) else _other_tensor()
    ),
}


class _Outliner(pickle.Unpickler):
    """Reads a pickle with stand-ins for all that it names."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8", errors="replace")
        self._classes: dict[str, type[_Object]] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in for a name, and never what the name means."""
        if (module, name) in _STAND_INS:
            return _STAND_INS[module, name]
        if module in ("torch", "torch.storage") and (name in STORAGES or name in ("UntypedStorage", "TypedStorage")):
            return STORAGES.get(name)
        if module == "torch" and isinstance(dtype := getattr(torch, name, None), torch.dtype):
            return dtype
        full = f"{module}.{name}"
        if full not in self._classes:
            self._classes[full] = type("_Object", (_Object,), {"name": full})
        return self._classes[full]

    def persistent_load(self, pid: Any) -> object:
        """Return the storage that a checkpoint names by its key."""
        match pid:
            case ("storage", torch.dtype() | None as dtype, str(key), *_):
                return _Storage(key, dtype)
        return _Storage("", None)


def outline(archive: Archive) -> tuple[list[StoredTensor], list[tuple[str, str]]]:
    """Return the tensors of a checkpoint, and the names and descriptions of what else is in it.

    Raises `UnreadableFile`.
    """
    pickled = next(name for name in archive.members if is_pickle(name))
    folder = pickled.removesuffix("data.pkl")
    member = archive.members[pickled]
    if member.size > LARGEST_PICKLE:
        raise UnreadableFile(say("large-pickle", "Its outline has {size} MiB.", size=member.size >> 20))
    order = archive.members.get(f"{folder}byteorder")
    swapped = order is not None and archive.read(order, 8).strip() == b"big"
    try:
        root = _Outliner(archive.read(member, LARGEST_PICKLE)).load()
    except (Exception, RecursionError) as error:
        raise UnreadableFile(
            say("damaged", "What says which tensors it holds is damaged ({kind}).", kind=type(error).__name__)
        ) from None
    tensors: list[StoredTensor] = []
    others: list[tuple[str, str]] = []
    taken: set[str] = set()
    for path, value in itertools.islice(_leaves(root, (), frozenset()), MOST_ITEMS):
        name = _unique(".".join(path) or "tensor", taken)
        if isinstance(value, _Tensor):
            tensors.append(_stored(name, value, archive, folder, swapped))
        else:
            others.append((name, _described(value)))
    return tensors, others


def is_pickle(name: str) -> bool:
    """Return whether a member of an archive says which tensors a checkpoint holds."""
    return name.endswith("/data.pkl") and name.count("/") == 1


def _leaves(value: object, path: tuple[str, ...], above: frozenset[int]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield what a checkpoint holds that holds nothing else, with the keys that lead to it."""
    if isinstance(value, _Object) and isinstance(value.state, dict) and "_parameters" in value.state:
        # A whole model: its tensors are called as in a state_dict.
        state = value.state
        value = {key: item for part in ("_parameters", "_buffers", "_modules") for key, item in _items(state.get(part))}
        value = {key: item for key, item in value.items() if item is not None}
        if not value:
            return
    elif isinstance(value, _Object) and isinstance(value.state, dict):
        kept = {key: item for key, item in value.state.items() if isinstance(item, _Tensor | _Object)}
        is_script = value.name.startswith(SCRIPT)
        if is_script and not kept:
            return
        if is_script or any(isinstance(item, _Tensor) for item in kept.values()):
            # A module of TorchScript, or any object that keeps tensors as its attributes.
            value = kept
    inner = list(_items(value))
    holds = any(isinstance(item, dict | list | tuple | _Tensor | _Object) for _, item in inner)
    is_leaf = not holds and not (isinstance(value, dict) and inner)
    # What holds itself is listed like a leaf, so that there always is a next one, and the list comes to its end.
    if is_leaf or id(value) in above or len(path) > DEEPEST:
        yield path, value
        return
    for key, item in inner:
        yield from _leaves(item, (*path, _key_text(key)), above | {id(value)})


def _key_text(key: object) -> str:
    """Return a key as text, of a number without end or a key with such a one a description."""
    try:
        return str(key)[:200]
    except ValueError:
        return _described(key)


def _items(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


def _unique(name: str, taken: set[str]) -> str:
    """Return a name, with a number if it is taken."""
    found = next(
        one for one in itertools.chain([name], (f"{name}#{n}" for n in itertools.count(2))) if one not in taken
    )
    taken.add(found)
    return found


def _stored(name: str, tensor: _Tensor, archive: Archive, folder: str, swapped: bool) -> StoredTensor:
    if tensor.storage is None:
        return StoredTensor(name, tensor.shape, tensor.dtype, problem=tensor.problem)
    member = archive.members.get(f"{folder}data/{tensor.storage.key}")
    if member is None:
        problem = say("no-numbers", "Its numbers are not in the file.")
        return StoredTensor(name, tensor.shape, tensor.dtype, problem=problem)
    swapped = swapped and tensor.dtype is not None and tensor.dtype.itemsize > 1
    return StoredTensor(
        name, tensor.shape, tensor.dtype, member.start, member.size, tensor.strides, tensor.offset, swapped=swapped,
        read=None if member.start is not None else lambda: archive.read(member, member.size),
    )  # fmt: skip


def _described(value: object) -> str:
    """Describe what is not a tensor: a number or a short text as it is, anything else by its class."""
    if isinstance(value, int) and value.bit_length() > LARGEST_WRITTEN:
        # Python does not write numbers of thousands of digits, and nobody reads them.
        digits = math.ceil(value.bit_length() * math.log10(2))
        return say("long-number", "a whole number of about {digits} digits", digits=f"{digits:,}")
    if value is None or isinstance(value, bool | int | float):
        return repr(value)[:80]
    if isinstance(value, str):
        return repr(value[:60])
    if isinstance(value, _Object):
        return type(value).name[:80]
    if isinstance(value, list | tuple):
        if len(value) <= FEW and all(_is_short_number(item) for item in value):
            return repr(value)[:80]
        return say.count("items", len(value), "{kind} of {count} item", "{kind} of {count} items", kind=_plain(value))
    return _plain(value)


def _is_short_number(value: object) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and value.bit_length() <= LARGEST_WRITTEN)


def _plain(value: object) -> str:
    return "dict" if isinstance(value, dict) else type(value).__name__.strip("_").lower()
