"""The verbs of the command `attn-tutor` and their arguments, in the order in which its help lists them.

The work of a verb is done by a module of this package, which is imported only to do it. So neither the help, of the
command or of one verb, nor the first paint waits for what only one verb needs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

Arguments = Callable[[argparse.ArgumentParser], None]
"""Declares the arguments that follow a verb."""


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the command line.

    Attributes:
        name: how learners write it.
        module: the module of this package whose `run` does the work.
        summary: what the verb does, for the help.
        add_arguments: the function that declares its arguments.
    """

    name: str
    module: str
    summary: str
    add_arguments: Arguments

    def run(self, options: argparse.Namespace) -> int:
        """Do the work of the verb and return the exit code. Raises `CommandError`."""
        exit_code: int = import_module(f"tui.commands.{self.module}").run(options)
        return exit_code


VERBS: list[Verb] = []
"""The verbs, in the order in which they are declared below."""


def _verb(name: str, module: str, summary: str) -> Callable[[Arguments], Arguments]:
    """Return a decorator that makes a function declare the arguments of a new verb."""

    def declare(add_arguments: Arguments) -> Arguments:
        VERBS.append(Verb(name, module, summary, add_arguments))
        return add_arguments

    return declare


@_verb("list", "list_course", "list lessons, steps and exercises with your progress")
def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON document")
    parser.add_argument("--knobs", metavar="LESSON", help="list what can be changed in a lesson with run --set instead")


@_verb("run", "run_lesson", "run a lesson and print it as text")
def _run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lesson", metavar="LESSON", help="its id or number")
    parser.add_argument("--step", metavar="ID", help="print only this step")
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", help="set a knob (list --knobs LESSON names them); repeatable"
    )
    parser.add_argument("--words", metavar="SENTENCE", help="put your own words in place of the lesson's")
    parser.add_argument(
        "--cell", metavar="[STEP:]NAME[I,J]=VALUE", action="append", help="change a number of a tensor; repeatable"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON document")


@_verb("train", "train_model", "train the model of a lesson on this machine; its later steps then use the result")
def _train_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lesson", metavar="LESSON", help="its id or number")
    parser.add_argument("--step", metavar="ID", help="the step that trains (default: the first one to be trained)")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", help="set a knob; repeatable")
    parser.add_argument("--json", action="store_true", help="print JSON documents, one on each line")


@_verb("explain", "explain_number", "show how a number was made, down to the inputs")
def _explain_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "lesson", metavar="LESSON", help="its id or number, or a Python file of your own (then STEP is -)"
    )
    parser.add_argument("step", metavar="STEP", help="the id of a step")
    parser.add_argument("tensor", metavar="TENSOR", help="a name in its code, or any expression")
    parser.add_argument(
        "index",
        metavar="INDEX",
        nargs="?",
        default="",
        help="the index of a cell, such as 1,0; leave it out for a scalar",
    )
    parser.add_argument("--depth", metavar="N", type=int, help="how many levels to show (default: 2; with --json, all)")
    parser.add_argument(
        "--all", action="store_true", help="show all terms of a long sum, not only the largest (--json always does)"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON document")


@_verb("flow", "show_flow", "show which tensors were made from which")
def _flow_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "lesson", metavar="LESSON", help="its id or number, or a Python file of your own (then STEP is -)"
    )
    parser.add_argument("step", metavar="STEP", help="the id of a step")
    parser.add_argument(
        "--open", metavar="NAME", action="append", help="show what is inside a box, such as a function; repeatable"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print a JSON document")
    how.add_argument("--dot", action="store_true", help="for Graphviz: attn-tutor flow 5 context --dot | dot -Tsvg")


@_verb("check", "check_answer", "judge a file as the answer to an exercise")
def _check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", metavar="EXERCISE", help="its id or number")
    parser.add_argument("file", metavar="FILE", help="the file, or - for standard input")
    parser.add_argument(
        "--seed", metavar="N", type=int, help="draw the hidden inputs with this seed, not new ones each time"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON document")


@_verb("watch", "watch_file", "judge a file each time you save it, as you work on it in your own editor")
def _watch_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", metavar="EXERCISE", help="its id or number")
    parser.add_argument(
        "file", metavar="FILE", nargs="?",
        help="the file (default: EXERCISE.py in this folder); if it doesn't exist, it gets your draft or the starter",
    )  # fmt: skip
    parser.add_argument("--once", action="store_true", help="stop after one check, with its exit status")


@_verb("check-all", "check_all", "judge your last passing answer to every exercise again")
def _check_all_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON document")


@_verb("history", "show_history", "list what you have tried, and what you changed each time")
def _history_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", metavar="EXERCISE", nargs="?", help="its id or number (default: all, newest first)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print a JSON document")
    how.add_argument("--diff", metavar="N", help="print only what attempt N changed (k1, k2, ... name what was kept)")
    how.add_argument("--show", metavar="N", help="print only the code of attempt N, as it was")


@_verb("glossary", "show_glossary", "say what the terms of the course mean")
def _glossary_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("term", metavar="TERM", nargs="*", help="a term, or part of one (default: all)")
    parser.add_argument("--json", action="store_true", help="print a JSON document")


@_verb("references", "show_references", "list what to read next")
def _references_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON document")


@_verb(
    "lint", "lint_course", "for authors: find what is wrong in lesson files, and exercises and claims that do not hold"
)
def _lint_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", nargs="?", help="a folder of lessons (default: the course)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--exercise", metavar="ID", action="append", default=[], help="prove only this exercise")
    which.add_argument("--claims", action="store_true", help="run the lessons and check only their claims")
    which.add_argument("--quick", action="store_true", help="only read the files, and prove nothing")
    parser.add_argument("--lesson", metavar="ID", action="append", default=[], help="run and prove only this lesson")
    parser.add_argument("--json", action="store_true", help="print a JSON document")


@_verb("texts", "list_texts", "for translators: every text that learners read, with its id")
def _texts_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP", nargs="?", help="the id of a lesson, or another group (default: all)")
    parser.add_argument("--update", metavar="FOLDER", help="bring the translation in a folder such as ru up to date")
    parser.add_argument("--json", action="store_true", help="print a JSON document")


@_verb("export", "export_progress", "write your progress and your code to a file")
def _export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the file, or - for standard output")


@_verb("import", "import_progress", "bring in progress and code from a file that export wrote")
def _import_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the file, or - for standard input")
