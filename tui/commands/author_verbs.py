"""The verbs for those who write courses, or translate them, which the help of the command lists last."""

from __future__ import annotations

import argparse

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import verb_arguments as shared
from attn_tutor.tui.commands.verb_list import Verb, declaring

say = Wording("command/author-verbs")

VERBS: list[Verb] = []
"""The verbs, in the order in which they are declared below."""

SCHEMAS = ("course", "lesson", "exercise", "mistakes", "glossary", "references")
"""The kinds of files with a schema, as `lessons.authoring.format_schema` has them."""

_verb = declaring(VERBS)


@_verb("new", "new_files", lambda: say("new", "for authors: write a course, a lesson or an exercise to begin with"))
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


@_verb(
    "preview",
    "preview_lesson",
    lambda: say("preview", "for authors: show a lesson that you are writing, again each time you save it"),
)
def _preview_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE[:STEP]",
        help=say(
            "preview/file",
            "a lesson.yaml, a file with an exercise, or a folder; and a step to begin with, by its id or number",
        ),
    )
    shared.add_plain(parser)
    shared.add_columns(parser)


@_verb("schema", "print_schema", lambda: say("schema", "for authors: print what a file may contain, as a JSON Schema"))
def _schema_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kind",
        metavar="KIND",
        choices=SCHEMAS,
        help=say("schema/kind", "the kind of file: {kinds}", kinds=", ".join(SCHEMAS)),
    )


@_verb(
    "lint",
    "lint_course",
    lambda: say("lint", "for authors: find mistakes in lesson files, and exercises and claims that do not hold"),
)
def _lint_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
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
    shared.add_json(parser)


@_verb(
    "record",
    "record_course",
    lambda: say("record", "for authors: record the results of a course, which learners see until a lesson has run"),
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


@_verb("texts", "list_texts", lambda: say("texts", "for translators: list every text that learners read, with its id"))
def _texts_arguments(parser: argparse.ArgumentParser) -> None:
    shared.add_course(parser)
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
    shared.add_json(parser)
