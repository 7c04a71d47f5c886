"""Verbs of the command `attn-tutor`, and how a module declares some of them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

Arguments = Callable[[argparse.ArgumentParser], None]
"""Declares the arguments that follow a verb."""


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the command line.

    Attributes:
        name: how learners write it.
        module: the module of this package whose `run` does the work.
        summary: says what the verb does, for the help.
        add_arguments: the function that declares its arguments.
    """

    name: str
    module: str
    summary: Callable[[], str]
    add_arguments: Arguments

    def run(self, options: argparse.Namespace) -> int:
        """Do the work of the verb and return the exit code. Raises `CommandError`."""
        exit_code: int = import_module(f"attn_tutor.tui.commands.{self.module}").run(options)
        return exit_code


class Declare(Protocol):
    """Makes a decorator, which makes a function declare the arguments of a new verb."""

    def __call__(self, name: str, module: str, summary: Callable[[], str]) -> Callable[[Arguments], Arguments]:
        """Return the decorator for a verb."""
        ...


def declaring(verbs: list[Verb]) -> Declare:
    """Return what declares verbs and adds them to a list."""

    def verb(name: str, module: str, summary: Callable[[], str]) -> Callable[[Arguments], Arguments]:
        def declare(add_arguments: Arguments) -> Arguments:
            verbs.append(Verb(name, module, summary, add_arguments))
            return add_arguments

        return declare

    return verb
