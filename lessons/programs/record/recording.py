"""A recording in the process of a program that somebody runs themselves, from a statement of theirs to a later one.

The program goes on after its end: what its tensors hold then is kept, since it may change unseen.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import linecache
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import torch

from attn_tutor.lessons.programs.worker import loaded_batches
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.recording import local_variables
from attn_tutor.lessons.worker.recording.element_history import UNKEPT
from attn_tutor.lessons.worker.recording.event import LEFT, Event
from attn_tutor.lessons.worker.recording.local_variables import LocalVariables, modules_in
from attn_tutor.lessons.worker.recording.reachability import is_held
from attn_tutor.lessons.worker.recording.record import Binding, Record
from attn_tutor.lessons.worker.recording.recorder import Recorder
from attn_tutor.lessons.worker.recording.regions import Region


def leave(record: Record, known: set[torch.UntypedStorage], room: int) -> int:
    """Keep what the tensors of the program hold; return the time until which numbers of the record can be asked about.

    Of the storages that the record knows, the small ones first, `room` bytes are copied. What the others hold can't be
    asked about any more. Not to be used while the recorder is entered.
    """
    until = record.time
    record.time += 1
    bound = {item.region.memory for items in record.bindings.values() for item in items}
    held = [(memory.nbytes(), memory) for memory in known | bound if is_held(memory)]
    for size, memory in sorted(held, key=itemgetter(0)):
        if not size or memory.device.type == "meta":
            continue
        storage = memory._cdata
        room -= size
        if room < 0 or storage in record.lost:
            record.lost[storage] = record.lost.get(storage, (record.time, 0))[0], UNKEPT
            continue
        whole = Region(storage, 0, (size,), (1,), torch.uint8, memory)
        copies = (whole.tensor.clone(),)
        record.events.add(Event(until, LEFT, (whole,), {}, (whole,), (), before=copies, written=(whole,)))
    return until


say = Wording("worker/recording-here")

CELL = re.compile(r"<ipython-input|<python-input|[/\\]ipykernel_\d+[/\\]")
"""How the names of code begin, or contain, that somebody has typed into a notebook or a console."""

TIMED = "<timed exec>"
"""What IPython calls the code of a cell that begins with `%%time`. It does not keep its source."""

_OF_CONSOLE = re.compile(r"_+\d*|_i+\d*|In|Out")
"""Names that notebooks and consoles give to inputs and results."""

FEW_EVENTS = 60_000
"""Operations up to which none is forgotten: to look for those takes longer than to keep a few more, about 1 kB each."""

_of_thread = threading.local()


class RecordingHere:
    """A recording of what a thread of this process computes.

    Blocks inside each other share one. It ends with the outermost, or with the last one that is left.

    Attributes:
        recorder: the recorder.
        explainer: explains what was recorded.
        until: the time until which there is something to ask about; None as long as it records.
    """

    def __init__(self, keep: int) -> None:
        self.recorder = Recorder(keep=keep, segment=keep // 8, few=FEW_EVENTS)
        self.explainer = Explainer(self.recorder)
        self.until: int | None = None
        self._variables = LocalVariables(self.recorder)
        self._earlier: dict[int, Binding] = {}
        """The names that there were before the first block, by identity."""
        self._keep = keep
        self._blocks = 0
        self._froze = False
        self._entered = contextlib.ExitStack()

    @classmethod
    def of_thread(cls, keep: int) -> RecordingHere:
        """Return the recording of this thread, a new one if there is none."""
        current: RecordingHere | None = getattr(_of_thread, "recording", None)
        return cls(keep) if current is None else current

    @property
    def record(self) -> Record:
        """What was recorded."""
        return self.recorder.record

    def begin(self, frame: FrameType, watched: Iterable[Path]) -> None:
        """Begin to record what is called by this frame, or go on with it in one more block."""
        self._watch(frame, watched)
        with self.aside():
            self.recorder.naming.name_all(variables(frame))
        self._blocks += 1
        if self._blocks == 1:
            bound = itertools.chain.from_iterable(self.record.bindings.values())
            self._earlier = {id(item): item for item in bound}
            _of_thread.recording = self
            if not gc.get_freeze_count():
                # A record is made of many objects. The garbage collector would look at all others again and again.
                gc.freeze()
                self._froze = True
            self.recorder.begin_at(frame)
            self._entered.enter_context(loaded_batches.copied())
            self._entered.enter_context(self._variables.noting_at_operations(frame))
            self._entered.enter_context(self.recorder)

    def end(self, frame: FrameType, failure: TracebackType | None = None) -> int:
        """End a block that began in this frame, perhaps with an exception; return the time of its end."""
        with self.aside():
            local_variables.note_failed_statement(self.recorder, self.explainer.names.positions, failure)
        self._blocks -= 1
        if self._blocks:
            with self.aside():
                return self.note(frame)
        self._entered.close()
        self.recorder.begin_at(None)
        _of_thread.recording = None
        with self.aside():
            self.note(frame)
            self._forget_unused()
            self.until = leave(self.record, self.recorder.known(), self._keep)
        if self._froze:
            gc.unfreeze()
        return self.until

    def note(self, frame: FrameType) -> int:
        """Note the variables of a frame as they are now; return the time."""
        before = sum(map(len, self.record.bindings.values()))
        self._variables.note_returned()
        self.recorder.naming.name_all(variables(frame))
        self._variables.name_items(frame.f_locals)
        if sum(map(len, self.record.bindings.values())) > before:
            for binding in itertools.chain.from_iterable(self.record.bindings.values()):
                if binding.time == self.record.time and (binding.leaf or "." in binding.name):
                    self._date(binding)
        return self.record.time

    def is_used(self, name: str, region: Region) -> bool:
        """Return whether an operation has made or read a named tensor, or the name was bound in a block."""
        if self.record.stopped or self.recorder.has(region.memory):
            return True
        bindings = self.record.bindings.get(region.storage, ())
        return any(item.name == name and id(item) not in self._earlier for item in bindings)

    def _forget_unused(self) -> None:
        """Forget the names of tensors that the blocks had nothing to do with: a notebook may have many, and large ones.

        They would be copied, because they may change later.
        """
        bindings = self.record.bindings
        for storage, items in list(bindings.items()):
            if not any(self.is_used(item.name, item.region) for item in items):
                del bindings[storage]

    def _date(self, binding: Binding) -> None:
        """Have a name that was noted at the end mean a parameter from the statement on that made it."""
        events, writes = self.record.events, self.record.writes.get(binding.region.storage)
        if not writes or not writes[0].sites:
            return
        position, statement = events.after(writes[0].time), writes[0].sites[-1]
        while position < len(events) and events.sites(position)[-1:] == (statement,):
            position += 1
        binding.time = min(binding.time, events[position - 1].time + 1)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Keep what is computed meanwhile out of the record, and out of everything else that watches operations."""
        with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
            yield

    def _watch(self, frame: FrameType, watched: Iterable[Path]) -> None:
        """Watch the code of a frame, the cells typed so far, and the files in its folder and in others."""
        recorder, own = self.recorder, frame.f_code.co_filename
        text = "".join(linecache.getlines(own, frame.f_globals))
        if own == TIMED and not text:
            text = _timed_cell()
            self.record.titles[own] = say("timed", "below %%time")
        recorder.watch(own, text)
        if CELL.search(own) or not os.path.isabs(own):
            folder = Path.cwd()
            for name in list(linecache.cache):
                if CELL.search(name):
                    recorder.watch(name, "".join(linecache.getlines(name)))
                    self.record.titles[name] = _cell_title(name)
        else:
            folder = Path(own).parent
            self.record.titles[own] = Path(own).name
        # The last folder is the one from which on files are named.
        for path in (*watched, folder):
            if path.is_dir():
                recorder.watch_below(str(path))
            else:
                recorder.watch(str(path), "".join(linecache.getlines(str(path))))


def variables(frame: FrameType) -> Mapping[str, Any]:
    """Return the variables of a frame that may be tensors or modules, also the global ones that its code names."""
    names = frame.f_locals
    if names is not frame.f_globals:
        outer = {name: frame.f_globals[name] for name in frame.f_code.co_names if name in frame.f_globals}
        names = {**outer, **names}
    found = {
        name: value
        for name, value in list(names.items())
        if isinstance(value, torch.Tensor | torch.nn.Module) and not _OF_CONSOLE.fullmatch(name)
    }
    owner = names.get("self")
    return found if isinstance(owner, torch.nn.Module) else {**found, **dict(modules_in("self", owner))}


def _timed_cell() -> str:
    """Return the code below `%%time` in the present cell; "" if there is none."""
    shell = _shell()
    inputs = getattr(getattr(shell, "history_manager", None), "input_hist_raw", [])
    head, _, code = inputs[-1].lstrip().partition("\n") if inputs else ("", "", "")
    return code if head.startswith("%%time") else ""


def _shell() -> Any:
    """Return the shell of IPython; None if it is not running."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _cell_title(filename: str) -> str:
    """Return what a notebook calls a cell: `cell In[3]`; for other typed code its name without the brackets."""
    describe: Callable[[str], tuple[str, str] | None] | None = getattr(
        getattr(_shell(), "compile", None), "format_code_name", None
    )
    found = describe(filename) if describe is not None else None
    return " ".join((found[0].lower(), found[1])) if found else filename.strip("<>")
