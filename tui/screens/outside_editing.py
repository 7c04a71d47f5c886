"""The editing of code in the learner's own editor, while the tutor is suspended."""

from __future__ import annotations

import os
from collections.abc import Callable

from textual.app import App, SuspendNotSupported

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.tty import external_editor

say = Wording("editor/suspend")


def edit_outside(app: App[object], name: str, code: str, save: Callable[[str], None]) -> external_editor.Edited:
    """Open the learner's editor on some code, and return the edited code or the reason why there is none.

    Args:
        app: the tutor, which gives up the terminal in the meantime.
        name: the name of the exercise.
        code: the code to edit.
        save: called with the edited code before the screen is restored, because the connection may have been lost.
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
        return external_editor.Edited(
            message=say("no-suspend", "This terminal does not let the tutor make room for another program.")
        )
    return edited
