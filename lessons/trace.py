"""The door for Python under the name that it had before: see `attn_tutor.lessons.programs.record`."""

from attn_tutor.lessons.programs.record import *  # noqa: F403
from attn_tutor.lessons.programs.record import __all__ as __all__
