"""The verbs of the command `attn-tutor` and their arguments, in the order in which its help lists them.

The work of a verb is done by a module of its own, which is imported only to do it. So neither the help, of
the command or of one verb, nor the first paint waits for what only one verb needs. Last stand those for authors.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from attn_tutor.lessons.texts.wording import Wording, of_table

Arguments = Callable[[argparse.ArgumentParser], None]
"""Declares the arguments that follow a verb."""


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the command line.

    Attributes:
        name: how learners write it.
        module: the module whose `run` does the work.
        english: what the verb does, for the help.
        add_arguments: the function that declares its arguments.
    """

    name: str
    module: str
    english: str
    add_arguments: Arguments

    def summary(self) -> str:
        """Say what the verb does, for the help."""
        return of_table(f"{TEXT_GROUP}/{self.name}", self.english)

    def run(self, options: argparse.Namespace) -> int:
        """Do the work of the verb and return the exit code. Raises `CommandError`."""
        exit_code: int = import_module(self.module).run(options)
        return exit_code


TEXT_GROUP = "command/arguments"
say = Wording("command/arguments")


def add_json(parser: argparse._ActionsContainer) -> None:
    """Add the option for a JSON document."""
    parser.add_argument("--json", action="store_true", help=say("json", "print a JSON document instead of text"))


def add_course(parser: argparse.ArgumentParser) -> None:
    """Add the option for another course."""
    # It may also stand before the verb; then this must not replace it.
    parser.add_argument(
        "--course",
        metavar="COURSE",
        default=argparse.SUPPRESS,
        help=say("course", "use a different course: its id, or a folder with its files"),
    )


def add_plain(parser: argparse._ActionsContainer) -> None:
    """Add the option for a dialogue in plain text."""
    # It may also stand before the verb, as --course may.
    parser.add_argument(
        "--plain",
        action="store_true",
        default=argparse.SUPPRESS,
        help=say("plain", "open it as a dialogue in plain text"),
    )


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the width of a line of a dialogue."""
    parser.add_argument(
        "--columns",
        type=int,
        metavar="N",
        default=argparse.SUPPRESS,
        help=say("columns", "with --plain: the width of a line of text"),
    )


def add_lesson(parser: argparse.ArgumentParser) -> None:
    """Add a lesson."""
    parser.add_argument("lesson", metavar="LESSON", help=say("lesson", "the id or number of a lesson"))


def add_lesson_or_program(parser: argparse.ArgumentParser) -> None:
    """Add a lesson with a step, or a program of the user's own."""
    parser.add_argument(
        "lesson",
        metavar="LESSON",
        help=say(
            "lesson-or-program",
            "the id or number of a lesson, or a Python file of your own, with - in place of STEP; what follows -- are "
            "its arguments",
        ),
    )
    parser.add_argument("step", metavar="STEP", help=say("step", "the id of a step of the lesson"))
    add_no_limits(parser)


def add_own_program(parser: argparse.ArgumentParser) -> None:
    """Add a program of the user's own."""
    parser.add_argument("file", metavar="FILE", help=say("own-program", "a Python file of your own"))
    add_own_arguments(parser)


def add_own_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what a program of the user's own is given."""
    parser.add_argument(
        "arguments",
        metavar="ARGUMENT",
        nargs="*",
        help=say("own-arguments", "what your program is given on its command line, behind --"),
    )
    add_no_limits(parser)


def add_no_limits(parser: argparse.ArgumentParser) -> None:
    """Add the option to lift the limits."""
    parser.add_argument(
        "--no-limits",
        action="store_true",
        help=say(
            "no-limits", "let your program write files, use the network, and take as much time and memory as it needs"
        ),
    )


def add_exercise(parser: argparse.ArgumentParser) -> None:
    """Add an exercise."""
    parser.add_argument("exercise", metavar="EXERCISE", help=say("exercise", "the id or number of an exercise"))


def add_set(parser: argparse.ArgumentParser) -> None:
    """Add the option to set knobs."""
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        help=say("set", "set a knob ('attn-tutor list --knobs LESSON' names them); you can repeat this"),
    )


VERBS: list[Verb] = []
"""The verbs, in the order in which they are declared below; last those for authors."""


def texts() -> dict[str, str]:
    """Return the English summaries of all verbs by their ids."""
    return {f"{TEXT_GROUP}/{verb.name}": verb.english for verb in VERBS}


def _verb(
    name: str, module: str, english: str, package: str = "attn_tutor.tui.commands.verbs"
) -> Callable[[Arguments], Arguments]:
    """Make a function declare the arguments of a new verb, whose module is in a package."""

    def declare(add_arguments: Arguments) -> Arguments:
        VERBS.append(Verb(name, f"{package}.{module}", english, add_arguments))
        return add_arguments

    return declare


_own_verb = partial(_verb, package="attn_tutor.tui.programs")


@_verb("list", "list_course", "list the lessons, steps, and exercises, with your progress")
def _list_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    add_json(parser)
    parser.add_argument(
        "--knobs", metavar="LESSON", help=say("list/knobs", "list what you can change in a lesson with 'run --set'")
    )


@_verb("run", "run_lesson", "run a lesson and print it as text")
def _run_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    add_lesson(parser)
    parser.add_argument("--step", metavar="ID", help=say("run/step", "print only this step"))
    add_set(parser)
    parser.add_argument(
        "--words", metavar="SENTENCE", help=say("run/words", "use your own words in place of the lesson's")
    )
    parser.add_argument(
        "--cell",
        metavar="[STEP:]NAME[I,J]=VALUE",
        action="append",
        help=say("run/cell", "change one number of a tensor; you can repeat this"),
    )
    add_json(parser)


@_verb("train", "train_model", "train the model of a lesson on this machine, for its later steps to use")
def _train_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    add_lesson(parser)
    parser.add_argument(
        "--step", metavar="ID", help=say("train/step", "the step that trains (default: the first one not trained yet)")
    )
    add_set(parser)
    parser.add_argument("--json", action="store_true", help=say("train/json", "print JSON documents, one on each line"))


@_verb("explain", "explain_number", "show how a number was computed, all the way down to the inputs")
def _explain_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    add_lesson_or_program(parser)
    parser.add_argument(
        "tensor", metavar="TENSOR", help=say("explain/tensor", "a variable in the code of the step, or any expression")
    )
    parser.add_argument(
        "index",
        metavar="INDEX",
        nargs="?",
        default="",
        help=say("explain/index", "the index of the number, such as 1,0; not needed for a scalar"),
    )
    parser.add_argument(
        "--depth",
        metavar="N",
        type=int,
        help=say("explain/depth", "how many levels to show (default: 2, or all of them with --json)"),
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help=say("explain/all", "show all terms of a long sum, not only the largest (--json always does)"),
    )
    add_json(parser)


@_verb("flow", "show_flow", "show which tensors were computed from which")
def _flow_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    add_lesson_or_program(parser)
    parser.add_argument(
        "--open",
        metavar="NAME",
        action="append",
        help=say("flow/open", "show what is inside a box, such as a function; you can repeat this"),
    )
    how = parser.add_mutually_exclusive_group()
    add_json(how)
    how.add_argument(
        "--dot",
        action="store_true",
        help=say("flow/dot", "print it for Graphviz: attn-tutor flow 5 context --dot | dot -Tsvg"),
    )


@_own_verb("show", "show_tensor", "list the tensors in a file of your own, or show one of them")
def _show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help=say("show/file", "a file of tensors: .safetensors, .pt, .npy or .npz")
    )
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help=say("show/name", "the name of a tensor, or its end (default: list all of them)"),
    )
    how = parser.add_mutually_exclusive_group()
    add_json(how)
    add_plain(how)
    add_columns(parser)
    parser.add_argument(
        "--heads", metavar="N", type=int, help=say("show/heads", "split the rows of a matrix into N heads")
    )


@_own_verb(
    "nan", "hunt_nan", "find the first number of your program that is not finite, where it came from, and what helps"
)
def _nan_arguments(parser: argparse.ArgumentParser) -> None:
    add_own_program(parser)
    add_json(parser)


@_own_verb(
    "open", "open_program", "open a Python program of your own: every tensor, explained, with what-if and a prompt"
)
def _open_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s [-h] [--watch] [--no-limits] [--plain [--columns N]] FILE.py [-- ARGS]"
    parser.add_argument(
        "file",
        metavar="FILE",
        help=say(
            "open/file",
            "the program; what follows -- are its own arguments. It runs in this folder, with your environment",
        ),
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help=say("open/watch", "run it again each time you save it, and say which tensor is the first that differs"),
    )
    add_no_limits(parser)
    add_plain(parser)
    add_columns(parser)


@_own_verb(
    "diff", "compare_programs", "compare what two programs of yours compute, up to the first number that differs"
)
def _diff_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("one", metavar="FILE", help=say("diff/one", "a Python file of your own, or what --save wrote"))
    parser.add_argument("other", metavar="OTHER", nargs="?", help=say("diff/other", "the file to compare it with"))
    add_own_arguments(parser)
    parser.add_argument(
        "--set",
        metavar="NAME=EXPRESSION",
        action="append",
        help=say("diff/set", "give a variable another value where a program first assigns it; you can repeat this"),
    )
    parser.add_argument(
        "--inputs",
        metavar="TENSORS",
        help=say("diff/inputs", "give variables the tensors of these names in a .pt, .npz, .npy or .safetensors file"),
    )
    parser.add_argument("--rtol", metavar="R", type=float, help=say("diff/rtol", "the relative tolerance"))
    parser.add_argument(
        "--atol",
        metavar="A",
        type=float,
        help=say("diff/atol", "the absolute tolerance (default: both as in torch.testing.assert_close)"),
    )
    parser.add_argument(
        "--save",
        metavar="TRACE",
        help=say("diff/save", "keep what one program computes in a file, to compare it in another environment"),
    )
    add_json(parser)


@_verb("check", "check_answer", "check a file with your answer to an exercise")
def _check_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    add_exercise(parser)
    parser.add_argument(
        "file", metavar="FILE", help=say("check/file", "the file with your answer, or - for standard input")
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        help=say("check/seed", "generate the hidden inputs with this seed, instead of new ones each time"),
    )
    add_json(parser)


@_verb("watch", "watch_file", "check a file each time you save it, as you work on it in your own editor")
def _watch_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    add_exercise(parser)
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        help=say(
            "watch/file",
            "the file (default: EXERCISE.py in the current directory); if there is none, it is created with your draft "
            "or the starter code",
        ),
    )
    parser.add_argument(
        "--once", action="store_true", help=say("watch/once", "stop after one check, with its exit status")
    )


@_verb("check-all", "check_all", "check your latest passing answer to every exercise again")
def _check_all_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    add_json(parser)


@_verb("history", "show_history", "list your attempts, with what you changed each time")
def _history_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    parser.add_argument(
        "exercise",
        metavar="EXERCISE",
        nargs="?",
        help=say("history/exercise", "the id or number of an exercise (default: all of them, newest attempt first)"),
    )
    how = parser.add_mutually_exclusive_group()
    add_json(how)
    how.add_argument(
        "--diff",
        metavar="N",
        help=say("history/diff", "print only what you changed in attempt N (k1, k2, ... are kept copies of your code)"),
    )
    how.add_argument("--show", metavar="N", help=say("history/show", "print only the code of attempt N"))


@_verb("glossary", "show_glossary", "explain the terms of the course")
def _glossary_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    parser.add_argument(
        "term", metavar="TERM", nargs="*", help=say("glossary/term", "a term, or part of one (default: all terms)")
    )
    add_json(parser)


@_verb("references", "show_references", "list further reading")
def _references_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    add_json(parser)


@_verb(
    "courses", "manage_courses", "list the courses that you can open; add a course by someone else, verify or remove it"
)
def _courses_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "add", "verify", "remove"),
        default="list",
        help=say("courses/action", "list them (the default), or add, verify or remove one"),
    )
    parser.add_argument(
        "what",
        metavar="COURSE",
        nargs="?",
        help=say(
            "courses/what",
            "a folder or an archive .tar.gz to add; the id of the course to verify (default: all) or remove",
        ),
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help=say("courses/yes", "agree that the code of a course runs, without being asked"),
    )
    parser.add_argument(
        "--progress",
        action="store_true",
        help=say("courses/progress", "with remove: remove your progress and code with the course, too"),
    )
    add_json(parser)


@_verb("export", "export_files", "save your progress to a file, or take home your code and what you read")
def _export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = say(
        "export/usage-of-kinds",
        "%(prog)s [-h] FILE, or %(prog)s {kinds} [FILE] [--lesson LESSON] [--all] [--force]",
        kinds="module|markdown|notebook|html|matrix",
    )
    parser.add_argument(
        "what",
        metavar="FILE",
        help=say(
            "export/what",
            "the file for your progress and code, or - for standard output; or what to take home: 'module' is a Python "
            "file with all code of yours that passed, 'markdown', 'notebook' and 'html' are what you read, "
            "wrote and saw",
        ),
    )
    parser.add_argument(
        "rest",
        metavar="FILE",
        nargs="*",
        help=say(
            "export/rest-by-kind",
            "the file for what you take home (default: my_ and the id of the course, such as my_attention, with .py, "
            ".md, .ipynb or .html)",
        ),
    )
    parser.add_argument(
        "--lesson",
        metavar="LESSON",
        action="append",
        default=[],
        help=say("export/lesson", "take home only this lesson; you can repeat this"),
    )
    parser.add_argument(
        "--step", metavar="STEP", help=say("export/step", "of 'matrix FILE': the step of the one lesson that you name")
    )
    parser.add_argument(
        "--tensor",
        metavar="TENSOR",
        help=say(
            "export/tensor",
            "of 'matrix FILE': a variable of that step, or any expression; FILE ends in .csv, .txt or .svg",
        ),
    )
    parser.add_argument(
        "--all", action="store_true", help=say("export/all", "take home what you have not read yet, too")
    )
    parser.add_argument(
        "--force", action="store_true", help=say("export/force", "replace a file that is there already")
    )
    add_course(parser)


@_verb("import", "import_progress", "add progress and code from an exported file to yours")
def _import_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    parser.add_argument("file", metavar="FILE", help=say("import/file", "the file to read, or - for standard input"))


@_verb("report", "report_progress", "for teachers: show how a learner or a class is doing, from exported files")
def _report_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        help=say(
            "report/files",
            "a file of 'attn-tutor export' or a progress file for each learner, or - for standard input (default: your "
            "own progress)",
        ),
    )
    add_json(parser)


@_verb("doctor", "doctor", "check everything that the tutor depends on, and say what is wrong")
def _doctor_arguments(parser: argparse.ArgumentParser) -> None:
    add_json(parser)


# For authors --------------------------------------------------------------------------------------------------------

SCHEMAS = ("course", "lesson", "exercise", "mistakes", "glossary", "references")
"""The kinds of files with a schema, as `lessons.authoring.format_schema` has them."""


@_verb("new", "new_files", "for authors: write a course, a lesson or an exercise to begin with")
def _new_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        metavar="WHAT",
        choices=("course", "lesson", "exercise"),
        help=say("new/what", "what to write: course, lesson or exercise"),
    )
    parser.add_argument(
        "path",
        metavar="PATH",
        help=say(
            "new/path",
            "where: a new folder for a course, one in the folder of a course for a lesson, or a file for an exercise",
        ),
    )


@_verb("preview", "preview_lesson", "for authors: show a lesson that you are writing, again each time you save it")
def _preview_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE[:STEP]",
        help=say(
            "preview/file",
            "a lesson.yaml, a file with an exercise, or a folder; and a step to begin with, by its id or number",
        ),
    )
    add_plain(parser)
    add_columns(parser)


@_verb("schema", "print_schema", "for authors: print what a file may contain, as a JSON Schema")
def _schema_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kind",
        metavar="KIND",
        choices=SCHEMAS,
        help=say("schema/kind", "the kind of file: {kinds}", kinds=", ".join(SCHEMAS)),
    )


@_verb("lint", "lint_course", "for authors: find mistakes in lesson files, and exercises and claims that do not hold")
def _lint_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    parser.add_argument(
        "folder", metavar="FOLDER", nargs="?", help=say("lint/folder", "a folder of lessons (default: this course)")
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--exercise",
        metavar="ID",
        action="append",
        default=[],
        help=say("lint/exercise", "prove only this exercise; you can repeat this"),
    )
    which.add_argument(
        "--claims", action="store_true", help=say("lint/claims", "run the lessons, and check only their claims")
    )
    which.add_argument(
        "--quick", action="store_true", help=say("lint/quick", "only read the files, without running anything")
    )
    parser.add_argument(
        "--lesson",
        metavar="ID",
        action="append",
        default=[],
        help=say("lint/lesson", "run and prove only this lesson; you can repeat this"),
    )
    add_json(parser)


@_verb(
    "record", "record_course", "for authors: record the results of a course, which learners see until a lesson has run"
)
def _record_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help=say("record/folder", "the folder of the course"))
    parser.add_argument(
        "--lesson",
        metavar="ID",
        action="append",
        default=[],
        help=say("record/lesson", "record only this lesson; you can repeat this"),
    )
    parser.add_argument(
        "--train",
        action="store_true",
        help=say("record/train", "first train the models that the lessons ship, with each setting of their knobs"),
    )


@_verb("texts", "list_texts", "for translators: list every text that learners read, with its id")
def _texts_arguments(parser: argparse.ArgumentParser) -> None:
    add_course(parser)
    parser.add_argument(
        "group",
        metavar="GROUP",
        nargs="?",
        help=say("texts/group", "the id of a lesson, or a different group of texts (default: all of them)"),
    )
    parser.add_argument(
        "--update",
        metavar="FOLDER",
        help=say(
            "texts/update",
            "bring the translation in this folder up to date; the folder is named by its language, such as ru",
        ),
    )
    add_json(parser)
