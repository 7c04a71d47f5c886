"""Editing code in the learner's own editor, with the tutor out of the way."""

from __future__ import annotations

import os
from collections.abc import Callable

from textual.app import App, SuspendNotSupported

from tui.tty import external_editor


def edit_outside(app: App[object], name: str, code: str, save: Callable[[str], None]) -> external_editor.Edited:
    """Open the learner's editor on code, and return what came of it.

    Args:
        app: the tutor, which gives the terminal away meanwhile.
        name: of the exercise.
        code: what to edit.
        save: called with the code before the screen comes back, since the line may have been lost meanwhile.
    """
    try:
        words = external_editor.command(os.environ)
        with app.suspend():
            edited = external_editor.edit(words, name, code)
            if edited.code is not None:
                save(edited.code)
    except external_editor.EditorError as error:
        return external_editor.Edited(message=str(error))
    except SuspendNotSupported:
        return external_editor.Edited(message="This terminal cannot be given to another program.")
    return edited
