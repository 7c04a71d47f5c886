"""The worker's replies to the questions of a view: parts of large tensors, and explanations of numbers."""

from __future__ import annotations

from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import Window
from attn_tutor.lessons.results.summaries import Blocks, RowStats
from attn_tutor.lessons.results.tensor_questions import FollowQuestion, Refusal, TensorQuestion
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.screens.explaining_view import ExplainingView
from attn_tutor.tui.state.async_session import AsyncSession

say = Wording("screen/tensor-answers")


async def fetch(async_session: AsyncSession, event: ExplainingView.Missing) -> None:
    """Fetch a part of a large tensor for a matrix, and pass it on if the matrix still shows this tensor."""
    view, tensor = event.view, event.tensor
    # Typed as a union, the question would lose the type of its reply.
    question: TensorQuestion[Window | Blocks | RowStats] = event.question
    reply = await async_session.ask(question)
    if reply is None or isinstance(reply, Refusal):
        view.forget(event.question)
    elif view.tensor is tensor:
        view.add(tensor.name, reply)


async def explain(async_session: AsyncSession, event: ExplainingView.Asked) -> str:
    """Have a number explained to a view, unless the learner has moved on. Return why there is no explanation, or ""."""
    about = event.view.result
    reply = await async_session.ask(event.question)
    if event.is_outdated or event.view.result is not about or not event.view.has_focus_within:
        return ""
    if isinstance(reply, Explanation):
        event.view.explain(reply, further=isinstance(event.question, FollowQuestion))
        return ""
    if reply is None:
        return say("not-yet", "This number can be explained once the step has run.")
    return say("no-explanation", "This number cannot be explained: {reason}", reason=reply.reason)
