"""Questions about a record in the process that has it: its named tensors, explanations, flows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NoReturn, TypeVar, cast

import torch

from attn_tutor.lessons.programs.results import nonfinite
from attn_tutor.lessons.programs.results.nonfinite import NonfiniteReport
from attn_tutor.lessons.programs.worker.diff import comparison
from attn_tutor.lessons.programs.worker.diff.traced_result import ResultTrace
from attn_tutor.lessons.programs.worker.named_tensors import NamedTensor, named_tensors
from attn_tutor.lessons.programs.worker.nan import first_nonfinite
from attn_tutor.lessons.results import explanation
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.result import WHOLE, Tensor, Window
from attn_tutor.lessons.results.tensor_questions import (
    ExplainQuestion,
    FlowQuestion,
    FollowQuestion,
    Refusal,
    TensorQuestion,
)
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.flow.diagram import Diagram
from attn_tutor.lessons.worker.recording.regions import Region
from attn_tutor.lessons.worker.recording.tensor_parts import bounds

UNIT = CodeUnit.step("program")
"""The unit that shows the tensors that are asked about."""

CORNER = 32
"""Rows and columns of a large tensor that are shown."""

say = Wording("worker/record-questions")

T = TypeVar("T")


class RecordQuestions:
    """Answers questions about the record of a program, as it was at a time."""

    def __init__(
        self,
        explainer: Explainer,
        main: str,
        scope: str,
        until: int,
        aside: Callable[[], AbstractContextManager[None]],
        is_used: Callable[[str, Region], bool],
        present: frozenset[str],
    ) -> None:
        """Take the record of a program whose code is in `main`, in a function if `scope` is the name of one.

        Args:
            explainer: explains the record.
            main: the file of the program's own code.
            scope: the name of the function whose code is the program; `<module>` if that is all of the file.
            until: the time at which tensors are asked about.
            aside: makes a context in which answers are computed.
            is_used: tells whether the program had anything to do with a tensor that has a name.
            present: the names that variables of the program, and their items, have at that time.
        """
        self._explainer, self._main, self._scope, self._present = explainer, main, scope, present
        self.until, self._aside, self._is_used = until, aside, is_used
        self._named: list[NamedTensor] = []

    def __reduce__(self) -> NoReturn:
        raise not_copied()

    def named(self) -> list[NamedTensor]:
        """List the named tensors. Variables of the program's own function are those of the program."""
        self._named = self._named or self._find_named()
        return self._named

    def _find_named(self) -> list[NamedTensor]:
        with self._aside():
            found = [
                replace(item, time=min(item.time, self.until))
                for item in named_tensors(self._explainer, self._main, self._scope, self._present)
                if item.scope or self._is_used(item.label, item.region)
            ]
        # Another call of the same function has returned in between.
        own = {item.name for item in found if not item.scope}
        scope = self._scope.replace("<locals>.", "")
        return [item for item in found if (item.scope, item.file) != (scope, self._main) or item.name not in own]

    def region_of(self, tensor: torch.Tensor) -> Region | None:
        """Return which elements of the record a tensor of the program is; None if the record does not know it."""
        with self._aside():
            region = Region.of(tensor)
            record = self._explainer.record
            known = region.storage in record.bindings or region.storage in record.writes
            return region if known or region.memory in record.events.memories() else None

    def value(self, item: NamedTensor) -> torch.Tensor:
        """Return a copy of a tensor as it was. Raises `ValueLost`."""
        with self._aside():
            return self._explainer.history.tensor(item.region, item.time)

    def plain(self, item: NamedTensor) -> Tensor:
        """Return a tensor as plain data; of a large one its first rows and columns. Raises `ValueLost`."""
        with self._aside():
            tensor = self._explainer.history.tensor(item.region, item.time, copy=False)
            return plain_tensor(item.label, tensor)

    def explain(self, item: NamedTensor, index: tuple[int, ...]) -> Explanation:
        """Explain an element of a tensor."""
        self._explainer.show_region(UNIT, item.label, item.region, item.time)
        return cast(Explanation, self.ask(ExplainQuestion(item.label, index, UNIT)))

    def follow(self, reference: int) -> Explanation:
        """Explain an operand of an earlier explanation by its reference."""
        return cast(Explanation, self.ask(FollowQuestion(reference, UNIT)))

    def flow(self, opened: tuple[str, ...] = ()) -> Flow:
        """Return the flow of the whole program."""
        return cast(Flow, self.ask(FlowQuestion(opened)))

    def first_nonfinite(self) -> NonfiniteReport:
        """Return where the first number came from that is not finite."""
        with self._aside():
            return nonfinite.of_json(first_nonfinite.search(self._explainer, self.until))

    def results(self) -> ResultTrace:
        """List the results of the lines of the program, with their values."""
        with self._aside():
            return comparison.trace(self._explainer, self.until)

    def ask(self, question: TensorQuestion[T]) -> T | Refusal | None:
        """Answer a question about a tensor that was shown, an operand, or the flow."""
        explainer = self._explainer
        asked: object = question
        with self._aside():
            match asked:
                case ExplainQuestion(name, index, unit):
                    return cast(T, explanation.of_json(explainer.ask(unit, name, index)))
                case FollowQuestion(ref, unit):
                    return cast(T, explanation.of_json(explainer.follow(ref, unit)))
                case FlowQuestion(opened):
                    return cast(T, Diagram(explainer, None, opened, self.until).flow())
        raise TypeError(question)


def not_copied() -> TypeError:
    """Return the exception for an attempt to copy or to pickle a trace, or something that it has answered."""
    return TypeError(
        say(
            "not-copied",
            "A trace cannot be copied or saved, because it belongs to the process that recorded it. Keep what it "
            "answers: str(...), or the copies of tensors that `.value` returns.",
        )
    )


def plain_tensor(name: str, tensor: torch.Tensor) -> Tensor:
    """Return a tensor of real numbers as plain data, whose axes have no names."""
    low, high = bounds(tensor)
    shape = tuple(tensor.shape)
    whole = tensor.numel() <= WHOLE
    window = None
    if not whole:
        lead = (0,) * max(0, tensor.dim() - 2)
        corner = tensor[lead].reshape(-1, tensor.shape[-1])[:CORNER, :CORNER]
        window = Window(lead, 0, 0, tuple(map(tuple, corner.tolist())))
    return Tensor(
        name=name,
        kind="mask" if tensor.dtype == torch.bool else "vector",
        dtype=str(tensor.dtype).removeprefix("torch."),
        shape=shape,
        axes=("index",) * len(shape),
        labels=tuple(tuple(map(str, range(size if whole else CORNER))) for size in shape),
        low=low,
        high=high,
        values=tuple(tensor.flatten().tolist()) if whole else None,
        window=window,
    )
