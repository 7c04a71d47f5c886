"""Commands that show the flow of the numbers: its boxes as a list, what is inside of them, and their matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.render import flow_text
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.flow import Flow, FlowBox
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.results.tensor_questions import BoxQuestion, FlowQuestion, box_unit
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.plain.command_table import Handlers
from attn_tutor.tui.plain.console import Console
from attn_tutor.tui.plain.matrix_commands import drawn
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.plain.subject import DialogueSubject
from attn_tutor.tui.plain.waiting_session import WaitingSession
from attn_tutor.tui.state.shown_tensors import labeled_of_flow

say = Wording("plain/flow")


@dataclass(frozen=True, slots=True)
class FlowPlace:
    """Where a flow is: the lesson, the id of the step, and the unit that has run; None if nothing has."""

    lesson: Lesson
    step: str
    unit: CodeUnit | None


class FlowCommands:
    """The commands that show the flow of a run."""

    def __init__(
        self,
        console: Console,
        session: WaitingSession,
        place: Callable[[], FlowPlace],
        prepare: Callable[[], Iterator[str]],
        steps: Callable[[], Mapping[str, str]],
    ) -> None:
        """Initialize; `prepare` runs what has not run yet, and `steps` are the names of the steps by their ids."""
        self._console, self._session, self._place = console, session, place
        self._prepare, self._steps = prepare, steps
        self._opened: tuple[str, ...] = ()
        self._flow: Flow | None = None
        self._box: tuple[Tensor, CodeUnit] | None = None

    @property
    def handlers(self) -> Handlers:
        """The commands that apply now."""
        if self._place().unit is None:
            return {}
        found: Handlers = {"flow": self.flow}
        if self._flow is not None:
            found["box"] = self.box
            if self._flow.opened or any(box.opens for box in self._flow.boxes):
                found["open"] = self.open
        return found

    def forget(self) -> None:
        """Forget the flow, because its run is gone."""
        self._flow, self._opened, self._box = None, (), None

    @property
    def box_subject(self) -> DialogueSubject | None:
        """The matrix of the box that was printed last, which can be shown and explained; None if there is none."""
        return None if self._box is None else DialogueSubject((self._box[0],), self._box[1])

    def flow(self, _: str = "") -> Iterator[str]:
        """Yield the boxes in the order of computation, each with the ones that it was computed from."""
        yield from self._prepare()
        place = self._place()
        flow = self._flow = self._session.ask(FlowQuestion(self._opened, (), place.unit))
        if not flow.boxes:
            raise Refused(say("nothing", "There is no flow here, because this code computes nothing with tensors."))
        # A box that is the only one is open already.
        self._opened = tuple(box.id for box in flow.opened)
        width, unicode = self._console.width, self._console.unicode
        yield from flow_text.lines(flow, width + 2, place.step, self._steps(), unicode)

    def open(self, text: str) -> Iterator[str]:
        """Open the box of a name, or close it if it is open, and yield the flow anew."""
        flow = self._flow
        assert flow is not None
        is_open = next((box.id for box in flow.opened if text in (box.name, box.id)), None)
        if is_open is not None:
            inside = {is_open}
            for box in flow.opened:  # outer ones first
                inside |= {box.id} if box.parent in inside else set()
            self._opened = tuple(id for id in self._opened if id not in inside)
        else:
            self._opened = (*self._opened, self._named(flow, text, lambda box: box.opens).id)
        yield from self.flow()

    def box(self, text: str) -> Iterator[str]:
        """Yield the matrix of a box."""
        place, flow = self._place(), self._flow
        assert flow is not None
        assert place.unit is not None
        box = self._named(flow, text, lambda box: box.shape is not None)
        tensor = self._session.ask(BoxQuestion(box.id, self._opened, place.unit))
        tensor = labeled_of_flow(place.lesson, place.step, tensor)
        self._box = tensor, box_unit(place.unit, box.id)
        yield from drawn(self._console, tensor)

    def _named(self, flow: Flow, text: str, fits: Callable[[FlowBox], bool]) -> FlowBox:
        """Return the box of a name, if it fits. Raises `Refused`."""
        names = flow_text.numbered(flow)
        for box in flow.boxes:
            if text in (names[box.id], box.id) and fits(box):
                return box
        known = ", ".join(names[box.id] for box in flow.boxes if fits(box))
        if not known:
            raise Refused(say("none-fits", "No box here can be used like that."))
        raise Refused(say("which", "Name one of these boxes: {known}.", known=known))
