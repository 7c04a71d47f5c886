"""The verbs of the command `attn-tutor`, in the order in which its help lists them.

A verb is a module of this package, imported only when the command line names it, so that neither the help nor the first
paint waits for what only one verb needs.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast


class Command(Protocol):
    """The interface of a verb's module."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments that follow the verb."""

    def run(self, options: argparse.Namespace) -> int:
        """Do the work and return the exit code. Raises `CommandError`."""


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the command line, the module of this package that carries it out, and what it does."""

    name: str
    module: str
    summary: str

    def load(self) -> Command:
        """Import the module."""
        return cast(Command, import_module(f"tui.commands.{self.module}"))


VERBS = (
    Verb("list", "list_course", "list lessons, steps and exercises with your progress"),
    Verb("run", "run_lesson", "run a lesson and print it as text"),
    Verb("train", "train_model", "train the model of a lesson here; its steps then use what was trained"),
    Verb("explain", "explain_number", "show how a number was made, down to the inputs"),
    Verb("check", "check_answer", "judge a file as the answer to an exercise"),
    Verb("watch", "watch_file", "judge a file each time you save it, as you work on it in your own editor"),
    Verb("check-all", "check_all", "judge again the last code that passed, of every exercise you have passed"),
    Verb("history", "show_history", "list what you have tried, and what you changed each time"),
    Verb("glossary", "show_glossary", "say what the terms of the course mean"),
    Verb("references", "show_references", "list what to read on"),
    Verb("lint", "lint_course", "for authors: what is wrong in lesson files, and what exercises do not keep"),
    Verb("export", "export_progress", "write your progress and your code to a file"),
    Verb("import", "import_progress", "take in progress that was exported"),
)
