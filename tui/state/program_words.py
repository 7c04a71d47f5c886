"""What is said of a program that has run again."""

from __future__ import annotations

from attn_tutor.lessons.engine.programs.program_session import ProgramRun
from attn_tutor.lessons.results.result import Failure
from attn_tutor.lessons.texts.wording import Wording

say = Wording("screen/program")


def difference(run: ProgramRun, changed: str) -> str:
    """Say what a new version of a program has changed."""
    if run.whole.error is not None:
        return run.whole.error.message
    if not changed:
        return say("same", "It ran again. No named tensor has other values than before.")
    item = next(item for item in run.whole.named if item.label == changed)
    if item.line is None:
        return say("differs", "The first tensor that differs is {name}.", name=changed)
    if 0 < item.call < item.count:
        return say(
            "differs-in-call",
            "The first tensor that differs is {name}, line {line}, in call {call} of {count}.",
            name=changed,
            line=item.line,
            call=item.call,
            count=item.count,
        )
    return say("differs-at", "The first tensor that differs is {name}, line {line}.", name=changed, line=item.line)


def unrun(file: str, error: Failure) -> str:
    """Say why a new version of a program came to nothing."""
    where = file if error.line is None else say("at", "{file}, line {line}", file=file, line=error.line)
    return say("unrun", "{where}: {message} What you see is the version before.", where=where, message=error.message)
