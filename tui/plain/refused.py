"""What a dialogue cannot do, said in a sentence."""

from __future__ import annotations


class Refused(Exception):
    """A command that cannot be done; the message is a sentence that says why, or what to type instead."""
