"""The verbs of the command `attn-tutor` and their arguments, in the order in which its help lists them.

The work of a verb is done by a module of this package, which is imported only to do it. So neither the help, of the
command or of one verb, nor the first paint waits for what only one verb needs.
"""

from __future__ import annotations

import argparse

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import author_verbs
from attn_tutor.tui.commands import verb_arguments as shared
from attn_tutor.tui.commands.verb_list import Verb, declaring

__all__ = ["VERBS", "Verb"]

say = Wording("command/verbs")

VERBS: list[Verb] = []
"""The verbs, in the order in which they are declared below; last those for authors."""

_verb = declaring(VERBS)


@_verb("list", "list_course", lambda: say("list", "list the lessons, steps, and exercises, with your progress"))
def _list_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
    shared.add_json(parser)
    parser.add_argument(
        "--knobs", metavar="LESSON", help=say("list/knobs", "list what you can change in a lesson with 'run --set'")
    )


@_verb("run", "run_lesson", lambda: say("run", "run a lesson and print it as text"))
def _run_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
    shared.add_lesson(parser)
    parser.add_argument("--step", metavar="ID", help=say("run/step", "print only this step"))
    shared.add_set(parser)
    parser.add_argument(
        "--words", metavar="SENTENCE", help=say("run/words", "use your own words in place of the lesson's")
    )
    parser.add_argument(
        "--cell",
        metavar="[STEP:]NAME[I,J]=VALUE",
        action="append",
        help=say("run/cell", "change one number of a tensor; you can repeat this"),
    )
    shared.add_json(parser)


@_verb(
    "train",
    "train_model",
    lambda: say("train", "train the model of a lesson on this machine, for its later steps to use"),
)
def _train_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
    shared.add_lesson(parser)
    parser.add_argument(
        "--step", metavar="ID", help=say("train/step", "the step that trains (default: the first one not trained yet)")
    )
    shared.add_set(parser)
    parser.add_argument("--json", action="store_true", help=say("train/json", "print JSON documents, one on each line"))


@_verb(
    "explain",
    "explain_number",
    lambda: say("explain", "show how a number was computed, all the way down to the inputs"),
)
def _explain_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
    shared.add_lesson_or_program(parser)
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
    shared.add_json(parser)


@_verb("flow", "show_flow", lambda: say("flow", "show which tensors were computed from which"))
def _flow_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
    shared.add_lesson_or_program(parser)
    parser.add_argument(
        "--open",
        metavar="NAME",
        action="append",
        help=say("flow/open", "show what is inside a box, such as a function; you can repeat this"),
    )
    how = parser.add_mutually_exclusive_group()
    shared.add_json(how)
    how.add_argument(
        "--dot",
        action="store_true",
        help=say("flow/dot", "print it for Graphviz: attn-tutor flow 5 context --dot | dot -Tsvg"),
    )


@_verb("show", "show_tensor", lambda: say("show", "list the tensors in a file of your own, or show one of them"))
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
    shared.add_json(how)
    shared.add_plain(how)
    shared.add_columns(parser)
    parser.add_argument(
        "--heads", metavar="N", type=int, help=say("show/heads", "split the rows of a matrix into N heads")
    )


@_verb(
    "nan",
    "hunt_nan",
    lambda: say("nan", "find the first number of your program that is not finite, where it came from, and what helps"),
)
def _nan_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_own_program(parser)
    shared.add_json(parser)


@_verb(
    "open",
    "open_program",
    lambda: say("open", "open a Python program of your own: every tensor, explained, with what-if and a prompt"),
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
    shared.add_no_limits(parser)
    shared.add_plain(parser)
    shared.add_columns(parser)


@_verb(
    "diff",
    "compare_programs",
    lambda: say("diff", "compare what two programs of yours compute, up to the first number that differs"),
)
def _diff_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("one", metavar="FILE", help=say("diff/one", "a Python file of your own, or what --save wrote"))
    parser.add_argument("other", metavar="OTHER", nargs="?", help=say("diff/other", "the file to compare it with"))
    shared.add_own_arguments(parser)
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
    shared.add_json(parser)


@_verb("check", "check_answer", lambda: say("check", "check a file with your answer to an exercise"))
def _check_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
    shared.add_exercise(parser)
    parser.add_argument(
        "file", metavar="FILE", help=say("check/file", "the file with your answer, or - for standard input")
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        help=say("check/seed", "generate the hidden inputs with this seed, instead of new ones each time"),
    )
    shared.add_json(parser)


@_verb(
    "watch",
    "watch_file",
    lambda: say("watch", "check a file each time you save it, as you work on it in your own editor"),
)
def _watch_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
    shared.add_exercise(parser)
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


@_verb("check-all", "check_all", lambda: say("check-all", "check your latest passing answer to every exercise again"))
def _check_all_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
    shared.add_json(parser)


@_verb("history", "show_history", lambda: say("history", "list your attempts, with what you changed each time"))
def _history_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
    parser.add_argument(
        "exercise",
        metavar="EXERCISE",
        nargs="?",
        help=say("history/exercise", "the id or number of an exercise (default: all of them, newest attempt first)"),
    )
    how = parser.add_mutually_exclusive_group()
    shared.add_json(how)
    how.add_argument(
        "--diff",
        metavar="N",
        help=say("history/diff", "print only what you changed in attempt N (k1, k2, ... are kept copies of your code)"),
    )
    how.add_argument("--show", metavar="N", help=say("history/show", "print only the code of attempt N"))


@_verb("glossary", "show_glossary", lambda: say("glossary", "explain the terms of the course"))
def _glossary_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
    parser.add_argument(
        "term", metavar="TERM", nargs="*", help=say("glossary/term", "a term, or part of one (default: all terms)")
    )
    shared.add_json(parser)


@_verb("references", "show_references", lambda: say("references", "list further reading"))
def _references_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
    shared.add_json(parser)


@_verb(
    "courses",
    "manage_courses",
    lambda: say("courses", "list the courses that you can open; add a course by someone else, verify or remove it"),
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
    shared.add_json(parser)


@_verb(
    "export",
    "export_files",
    lambda: say("export", "save your progress to a file, or take home your code and what you read"),
)
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
    shared.add_course(parser)


@_verb("import", "import_progress", lambda: say("import", "add progress and code from an exported file to yours"))
def _import_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
    parser.add_argument("file", metavar="FILE", help=say("import/file", "the file to read, or - for standard input"))


@_verb(
    "report",
    "report_progress",
    lambda: say("report", "for teachers: show how a learner or a class is doing, from exported files"),
)
def _report_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
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
    shared.add_json(parser)


@_verb("doctor", "doctor", lambda: say("doctor", "check everything that the tutor depends on, and say what is wrong"))
def _doctor_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_json(parser)


VERBS += author_verbs.VERBS
