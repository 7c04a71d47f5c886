"""The export of progress and code to a file: when the learner asks for it, and when they would be lost otherwise."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.controllers.frame import Frame

if TYPE_CHECKING:
    from attn_tutor.lessons.learner.progress import Progress

say = Wording("screen/export")


async def export(frame: Frame, progress: Progress, earlier: Path | None) -> Path | None:
    """Write progress and code to a temporary file, and notify the learner of its path or of the error.

    Args:
        frame: where the learner is notified.
        progress: the progress.
        earlier: the file that this session has exported to before, which is replaced.

    Returns:
        The file that this session has exported to, None if there is none.
    """
    from attn_tutor.lessons.learner.exports import export_to_temporary_file

    try:
        # In a thread, because keys must not wait for a disk.
        earlier = await asyncio.to_thread(export_to_temporary_file, progress, earlier)
        frame.notify(say("written", "Your progress and code were written to {file}", file=earlier), timeout=15)
    except OSError as error:
        frame.notify(
            say("not-written", "Your progress could not be written to a file: {reason}", reason=error), "error"
        )
    return earlier
