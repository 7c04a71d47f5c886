"""What the first page says of the run of a program, or of a file of tensors."""

from __future__ import annotations

import shlex

from attn_tutor.lessons.engine.running_program import LIMITS, OwnProgram
from attn_tutor.lessons.results.clean_text import printable
from attn_tutor.lessons.results.program_result import ProgramResult
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/program")

UNLISTED_SHOWN = 4
"""Variables without a page that are named."""

WRITTEN_SHOWN = 3
"""Files that a program has written that are named."""


def about(program: OwnProgram, result: ProgramResult) -> str:
    """Say what was run, where, how it ended, and which limits held; of a file of tensors, what is known of it."""
    if program.data:
        return program.data
    command = printable(shlex.join([program.name, *program.arguments]))
    said = [
        say(
            "ran", "`{command}` ran in {folder} for {seconds:.1f} seconds, with your environment.",
            command=command, folder=printable(program.folder), seconds=result.seconds,
        )
    ]  # fmt: skip
    said.append(
        say.count(
            "recorded",
            result.operations,
            "{count:,} operation of PyTorch is recorded.",
            "{count:,} operations of PyTorch are recorded.",
        )
    )
    if result.stopped:
        said.append(say("not-recorded", "Its first part was recorded, until {why}.", why=result.stopped.rstrip(".")))
    if not result.named and result.error is None:
        said.append(say("no-tensors", "It names no tensor."))
    if result.unlisted:
        said.append(_unlisted(result.unlisted))
    if program.limited:
        said.append(
            say(
                "limits",
                "Limits hold: no network, {seconds:g} seconds, and what it writes goes to a temporary folder. "
                "`--no-limits` lifts them.",
                seconds=LIMITS.wall,
            )
        )
        if result.written:
            said.append(_written(result.written))
    return " ".join(said)


def _unlisted(variables: tuple[str, ...]) -> str:
    """Say which variables have no page although they are tensors."""
    names = ", ".join(variables[:UNLISTED_SHOWN])
    if len(variables) > UNLISTED_SHOWN:
        names = say("unlisted-more", "{names}, and {count} more", names=names, count=len(variables) - UNLISTED_SHOWN)
    return say("unlisted", "These have no page, because they are no plain tables of numbers: {names}.", names=names)


def _written(paths: tuple[str, ...]) -> str:
    """Say which files a program has written that are not where it meant them to be."""
    shown = ", ".join(f"`{path}`" for path in paths[:WRITTEN_SHOWN])
    if len(paths) <= WRITTEN_SHOWN:
        return say("written", "It has written {files} there.", files=shown)
    return say("written-more", "It has written {count} files there: {files}, ...", count=len(paths), files=shown)
