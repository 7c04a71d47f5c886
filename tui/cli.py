"""The command `attn-tutor`: it opens the tutor, or does one thing without a screen.

Exit status: 0 all is well (for `check`: passed), 1 not passed or findings, 2 wrong usage, 3 our own failure. Whoever
ends it by a signal gets 128 and the number of the signal; but to end `watch` with ctrl+c is all well.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.tty.terminal import Terminal, this_terminal

if TYPE_CHECKING:
    from lessons.format.lesson import Course, Exercise, Lesson, TrainStep
    from lessons.learner.progress import Progress
    from lessons.reading.glossary import Glossary
    from lessons.what_if.changes import Changes

OK, NOT_PASSED, USAGE, FAILURE = 0, 1, 2, 3
VERSION = "0.1.0"


class UsageError(Exception):
    """The command line names something that does not exist."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        if sys.stdout is None:
            raise UsageError("standard output is closed")
        status: int = options.command(options)
        sys.stdout.flush()
        return status
    except UsageError as error:
        print(f"attn-tutor: {error}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:
        # The reader (`head`, say) has seen enough.
        _give_up_output()
        return OK
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        print(f"attn-tutor: {error.strerror or error}", file=sys.stderr)
        _give_up_output()
        return FAILURE
    except Exception:
        # Python's own status for this is 1, which would say that an answer did not pass.
        traceback.print_exc()
        return FAILURE


def _give_up_output() -> None:
    """Keep Python from complaining once more at exit, with a status of its own, of output it cannot write."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attn-tutor",
        description="Understand attention by touching every number. Without a command: open the tutor.",
    )
    parser.add_argument("--version", action="version", version=f"attn-tutor {VERSION}")
    parser.set_defaults(command=_open)
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")

    def command(name: str, function: Any, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(command=function)
        return sub

    sub = command("list", _list, "list lessons, steps and exercises with your progress")
    sub.add_argument("--json", action="store_true", help="as a JSON document")
    sub.add_argument("--knobs", metavar="LESSON", help="list what can be changed in a lesson with run --set instead")
    sub = command("run", _run, "run a lesson and print it as text")
    sub.add_argument("lesson", metavar="LESSON", help="its id or number")
    sub.add_argument("--step", metavar="ID", help="print this step only")
    sub.add_argument(
        "--set", metavar="NAME=VALUE", action="append", help="set a knob (list --knobs LESSON names them); repeatable"
    )
    sub.add_argument("--words", metavar="SENTENCE", help="put your own words in place of the lesson's")
    sub.add_argument(
        "--cell", metavar="[STEP:]NAME[I,J]=VALUE", action="append", help="change a number of a tensor; repeatable"
    )
    sub.add_argument("--json", action="store_true", help="as a JSON document")
    sub = command("train", _train, "train the model of a lesson here; its steps then use what was trained")
    sub.add_argument("lesson", metavar="LESSON", help="its id or number")
    sub.add_argument("--step", metavar="ID", help="the step that trains (default: the first one to be trained)")
    sub.add_argument("--set", metavar="NAME=VALUE", action="append", help="set a knob; repeatable")
    sub.add_argument("--json", action="store_true", help="as JSON documents, one a line")
    sub = command("explain", _explain, "show how a number was made, down to the inputs")
    sub.add_argument("lesson", metavar="LESSON", help="its id or number, or a Python file of your own (then STEP is -)")
    sub.add_argument("step", metavar="STEP", help="the id of a step")
    sub.add_argument("tensor", metavar="TENSOR", help="a name in its code, or any expression")
    sub.add_argument("index", metavar="INDEX", nargs="?", default="", help="of a cell, such as 1,0; none for a scalar")
    sub.add_argument("--depth", metavar="N", type=int, help="levels of the tree (default: 2; with --json all)")
    sub.add_argument("--json", action="store_true", help="as a JSON document")
    sub = command("check", _check, "judge a file as the answer to an exercise")
    sub.add_argument("exercise", metavar="EXERCISE", help="its id or number")
    sub.add_argument("file", metavar="FILE", help="the file, or - for standard input")
    sub.add_argument("--seed", metavar="N", type=int, help="make the hidden inputs from this number, not by chance")
    sub.add_argument("--json", action="store_true", help="as a JSON document")
    sub = command("watch", _watch, "judge a file each time you save it, as you work on it in your own editor")
    sub.add_argument("exercise", metavar="EXERCISE", help="its id or number")
    sub.add_argument(
        "file", metavar="FILE", nargs="?",
        help="the file (default: EXERCISE.py here); made from your draft or the starter if it is not there",
    )  # fmt: skip
    sub.add_argument("--once", action="store_true", help="end after one check, with its exit status")
    sub = command("check-all", _check_all, "judge again the last code that passed, of every exercise you have passed")
    sub.add_argument("--json", action="store_true", help="as a JSON document")
    sub = command("history", _history, "list what you have tried, and what you changed each time")
    sub.add_argument("exercise", metavar="EXERCISE", nargs="?", help="its id or number (default: all, newest first)")
    how = sub.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="as a JSON document")
    how.add_argument("--diff", metavar="N", help="print only what attempt N changed (k1, k2, ... name what was kept)")
    how.add_argument("--show", metavar="N", help="print only the code of attempt N, as it was")
    sub = command("glossary", _glossary, "say what the terms of the course mean")
    sub.add_argument("term", metavar="TERM", nargs="*", help="one of them, or a part of it (default: all)")
    sub.add_argument("--json", action="store_true", help="as a JSON document")
    sub = command("references", _references, "list what to read on")
    sub.add_argument("--json", action="store_true", help="as a JSON document")
    sub = command("lint", _lint, "for authors: what is wrong in lesson files, and what exercises do not keep")
    sub.add_argument("folder", metavar="FOLDER", nargs="?", help="a folder of lessons (default: the course)")
    which = sub.add_mutually_exclusive_group()
    which.add_argument("--exercise", metavar="ID", action="append", default=[], help="prove this exercise only")
    which.add_argument("--quick", action="store_true", help="read the files and prove nothing")
    sub.add_argument("--json", action="store_true", help="as a JSON document")
    sub = command("export", _export, "write your progress and your code to a file")
    sub.add_argument("file", metavar="FILE", help="the file, or - for standard output")
    sub = command("import", _import, "take in progress that was exported")
    sub.add_argument("file", metavar="FILE", help="the file, or - for standard input")
    return parser


def _open(options: argparse.Namespace) -> int:
    terminal = this_terminal()
    if not terminal.interactive:
        return _open_plain()
    return _open_screen(terminal)


def _open_screen(terminal: Terminal) -> int:
    from tui.tty.terminal import prepare

    prepare(terminal, os.environ)
    from tui.app import open_tutor

    try:
        return open_tutor(terminal)
    finally:
        # The line may have dropped: then there is nothing to draw on any more.
        _give_up_output()


def _open_plain() -> int:
    """Without a terminal to draw on: the map, then the lesson that the learner is in."""
    from tui.render import linear_text

    course = _course()
    progress = _progress()
    _print(["attn-tutor: understand attention by touching every number.", ""])
    _print(["(This is the linear form: there is no terminal to draw on.)", ""])
    _print(linear_text.course(course, progress.states()))
    position = progress.position()
    here = next((lesson for lesson in course.lessons if position and lesson.id == position[0]), course.lessons[0])
    _print(["", "attn-tutor run LESSON prints any of them. Continue here:", ""])
    progress.close()
    return _print_lesson(here, None)


def _list(options: argparse.Namespace) -> int:
    from tui.commands import history
    from tui.render import linear_text

    course = _course()
    if options.knobs is not None:
        return _list_knobs(_find_lesson(course, options.knobs), as_json=options.json)
    progress = _progress()
    states = progress.states()
    standings = history.exercise_statuses(course, progress)
    if options.json:
        position = progress.position()
        document = {
            "lessons": [
                {
                    "id": lesson.id,
                    "number": lesson.number,
                    "title": lesson.title,
                    "goal": lesson.goal,
                    "steps": [
                        {
                            "id": step.id,
                            "kind": step.kind,
                            "title": step.title,
                            "state": states.get((lesson.id, step.id), "new"),
                        }
                        for step in lesson.steps
                    ],
                }
                for lesson in course.lessons
            ],
            "exercises": [
                {
                    "id": step.exercise,
                    "number": step.number,
                    "title": step.title,
                    "lesson": lesson.id,
                    "step": step.id,
                    **standings[step.exercise].document,
                }
                for lesson in course.lessons
                for step in lesson.exercises
            ],
            "position": {"lesson": position[0], "step": position[1]} if position else None,
        }
        _print_json(document)
    else:
        for lesson in course.lessons:
            _print([f"{lesson.number}. {lesson.title}  [{lesson.id}]"])
            for step in lesson.steps:
                state = linear_text.STATE_WORDS[states.get((lesson.id, step.id), "new")]
                _print([f"     {step.id:24} {step.kind:9} {step.title:36} {state}".rstrip()])
        _print(["", "Exercises"])
        for lesson in course.lessons:
            for exercise in lesson.exercises:
                words = standings[exercise.exercise].words
                _print([f"     {exercise.exercise:24} {exercise.number:9} {exercise.title:36} {words}".rstrip()])
    progress.close()
    return OK


def _list_knobs(lesson: Lesson, *, as_json: bool) -> int:
    from tui.commands import documents
    from tui.render import linear_text

    entries = [documents.knob(lesson, knob) for knob in lesson.knobs]
    if as_json:
        _print_json({"lesson": lesson.id, "knobs": entries})
    else:
        _print(linear_text.knobs(entries))
    return OK


def _run(options: argparse.Namespace) -> int:
    from lessons.what_if import changes

    lesson = _find_lesson(_course(), options.lesson)
    if options.step is not None and options.step not in {step.id for step in lesson.steps}:
        known = ", ".join(step.id for step in lesson.steps)
        raise UsageError(f"lesson '{lesson.id}' has no step '{options.step}'. Its steps: {known}")
    try:
        made = changes.parse(lesson, options.set, options.words, options.cell)
    except changes.ChangeError as error:
        raise UsageError(str(error)) from None
    return _print_lesson(lesson, options.step, made, as_json=options.json)


def _print_lesson(lesson: Lesson, only: str | None, made: Changes | None = None, *, as_json: bool = False) -> int:
    from lessons.engine.session import Session
    from lessons.results.result import WorkerError
    from lessons.what_if import changes
    from tui.commands import documents
    from tui.render import linear_text

    made = made or changes.UNCHANGED
    session = Session()
    try:
        run = session.run(lesson, only, made)
        run.close()
    except WorkerError as error:
        print(f"attn-tutor: {error}", file=sys.stderr)
        return FAILURE
    finally:
        session.close()
    results = {result.id: result for result in run.steps}
    for note in (note for result in run.steps if only not in (None, result.id) for note in result.notes):
        # Those of the steps that are printed stand there.
        print(f"attn-tutor: {note}", file=sys.stderr)
    if as_json:
        _print_json(documents.lesson(lesson, results, only, made))
    else:
        if made:
            _print(linear_text.changes(changes.describe(lesson, made)))
        _print(linear_text.lesson(changes.apply(lesson, made), results, only))
    # A change that could not be made is a finding too.
    return NOT_PASSED if any(result.error or result.notes for result in run.steps) else OK


def _train(options: argparse.Namespace) -> int:
    from lessons.engine.session import Session
    from lessons.format.lesson import TrainStep
    from lessons.results import json_numbers
    from lessons.results.result import TrainingSnapshot, WorkerError
    from lessons.what_if import changes
    from tui.commands import documents
    from tui.drawings import training_status
    from tui.state.training_replay import TrainingReplay

    lesson = _find_lesson(_course(), options.lesson)
    steps = {step.id: step for step in lesson.steps if isinstance(step, TrainStep)}
    if not steps:
        raise UsageError(f"lesson '{lesson.id}' trains nothing")
    if options.step is not None and options.step not in steps:
        raise UsageError(f"lesson '{lesson.id}' trains nothing in a step '{options.step}'. Steps: {', '.join(steps)}")
    try:
        made = changes.parse(lesson, options.set)
    except changes.ChangeError as error:
        raise UsageError(str(error)) from None
    step = steps[options.step] if options.step is not None else _to_train(lesson, list(steps.values()), made)
    film = TrainingReplay(state="starting")
    overwrites = sys.stdout.isatty() and not options.json

    def tell(picture: TrainingSnapshot) -> None:
        film.add(picture)
        if options.json:
            numbers = {name: json_numbers.number(value) for name, value in picture.numbers.items()}
            entry = {"event": "picture", "done": picture.done, "total": picture.total, "numbers": numbers}
            _print_line(json.dumps(entry, allow_nan=False))
            return
        told = training_status.line(film, picture, step.curves)
        if overwrites:
            room = shutil.get_terminal_size().columns - 1
            print("\r" + told[:room].ljust(room), end="", flush=True)
        else:
            _print_line(told)

    session = Session()
    try:
        ended = session.train(lesson, step.id, tell, None, made)
    except WorkerError as error:
        print(f"attn-tutor: {error}", file=sys.stderr)
        return FAILURE
    finally:
        session.close()
        if overwrites and film.pictures:
            print()
    done = ended.error is None and not ended.stopped
    if options.json:
        entry = {"event": "end", "step": step.id, "trained": done, "seconds": round(film.seconds, 3)}
        _print_json(entry | {"error": documents.failure(ended.error)})
    elif ended.error is not None:
        where = f" (line {ended.error.line})" if ended.error.line else ""
        print(f"attn-tutor: the training did not come to its end{where}: {ended.error.message}", file=sys.stderr)
    elif done:
        settings = (part for each in options.set or () for part in ("--set", each))
        run = shlex.join(["attn-tutor", "run", lesson.id, *settings])
        _print([f"Trained '{step.id}' in {training_status.seconds(film.seconds)}: '{run}' uses it from now on."])
    return OK if done else NOT_PASSED


def _to_train(lesson: Lesson, steps: Sequence[TrainStep], made: Changes) -> TrainStep:
    """Which of the steps is meant if none is named: the first that the changes reach and that has not been trained."""
    from lessons.engine import replies
    from lessons.format.lesson import TrainStep
    from lessons.learner import trained_models
    from lessons.what_if import changes

    altered, cells = changes.apply(lesson, made), replies.cells_of(lesson, made)

    def as_changed(step: TrainStep) -> TrainStep:
        found = altered.step(step.id)
        assert isinstance(found, TrainStep)
        return found

    def reached(step: TrainStep) -> bool:
        return trained_models.key(altered, as_changed(step), cells) != trained_models.key(lesson, step)

    meant = [step for step in steps if reached(step)] or steps
    return next(
        (step for step in meant if trained_models.find(altered, as_changed(step), cells).origin != "own"), meant[0]
    )


def _explain(options: argparse.Namespace) -> int:
    from lessons.engine import explanation_tree
    from lessons.engine.session import Session
    from lessons.results.result import WorkerError
    from tui.commands import documents
    from tui.render import linear_text

    lesson, step, index = _to_explain(options)
    depth = options.depth if options.depth is not None or options.json else 2
    session = Session()
    try:
        run = session.run(lesson, step)
        result = run.result(step) or run.steps[-1]
        if result.error is not None:
            print(f"attn-tutor: {linear_text.failure(result.error)}", file=sys.stderr)
            return NOT_PASSED
        shape = next(item.shape for item in result.tensors if item.name == options.tensor)
        if len(index) != len(shape) or not all(0 <= at < size for at, size in zip(index, shape, strict=True)):
            raise UsageError(f"{options.tensor} has the shape {shape}: there is no cell {list(index)}")
        found = explanation_tree.grow(run, step, options.tensor, index, depth)
    except WorkerError as error:
        print(f"attn-tutor: {error}", file=sys.stderr)
        return FAILURE
    finally:
        session.close()
    if found is None:
        print("attn-tutor: the worker ended before it had explained everything", file=sys.stderr)
        return FAILURE
    if isinstance(found, str):
        print(f"attn-tutor: {found}", file=sys.stderr)
        return FAILURE
    if options.json:
        _print_json(documents.explanation(found))
    else:
        _print(linear_text.explanation(found))
    return OK


def _to_explain(options: argparse.Namespace) -> tuple[Lesson, str, tuple[int, ...]]:
    """The lesson that shows the tensor, its step, the index of the cell."""
    from pydantic import ValidationError

    from lessons.engine import explanation_tree

    try:
        index = tuple(int(part) for part in options.index.strip("[]() ").split(",") if part.strip())
    except ValueError:
        raise UsageError(f"'{options.index}' is not an index such as 1,0") from None
    if options.depth is not None and options.depth < 1:
        raise UsageError("--depth must be 1 or more")
    try:
        if options.lesson.endswith(".py"):
            code = _read(options.lesson).decode("utf-8", "surrogateescape").removeprefix("\ufeff")
            return (
                explanation_tree.showing(explanation_tree.program(code, options.lesson), "program", options.tensor),
                "program",
                index,
            )
        lesson = _find_lesson(_course(), options.lesson)
        return explanation_tree.showing(lesson, options.step, options.tensor), options.step, index
    except KeyError:
        known = ", ".join(step.id for step in lesson.steps if step.kind in ("run", "train"))
        raise UsageError(f"lesson '{lesson.id}' runs nothing in a step '{options.step}'. Its steps: {known}") from None
    except ValidationError as error:
        raise UsageError(f"{error.errors()[0]['msg']}") from None


def _check(options: argparse.Namespace) -> int:
    from lessons.engine.session import Session
    from lessons.format.lesson import ExerciseStep
    from lessons.results.result import WorkerError
    from tui.commands import documents, history
    from tui.render import linear_text

    lesson, exercise = _find_exercise(options.exercise)
    # Bytes that are no UTF-8 stay in the text: the judge says in which line they are.
    code = _read(options.file).decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    session = Session()
    try:
        # First, so that the seconds of the verdict are those of the judging.
        session.wait_ready()
        if isinstance(exercise, ExerciseStep):
            verdict = session.check(exercise, code, options.seed)
        else:
            verdict = session.ask(lesson, exercise, code)
    except WorkerError as error:
        print(f"attn-tutor: {error}", file=sys.stderr)
        return FAILURE
    finally:
        session.close()
    progress = _progress()
    history.note(progress, lesson, exercise, code, verdict)
    progress.close()
    if options.json:
        _print_json(documents.judgement(verdict))
    else:
        _print(linear_text.judgement(verdict))
    return OK if verdict.passed else NOT_PASSED


def _watch(options: argparse.Namespace) -> int:
    import signal

    from lessons.engine.session import Session
    from lessons.format.lesson import ExerciseStep
    from lessons.results.result import Judgement, WorkerError
    from tui.commands.watch import Watch, signals

    lesson, exercise = _find_exercise(options.exercise)
    if not isinstance(exercise, ExerciseStep):
        raise UsageError(f"'{options.exercise}' is a question: answer it in the tutor, or with 'check'")
    path = Path(options.file or f"{exercise.exercise}.py")
    progress = _progress()
    session = Session()
    watch = Watch(path, lesson, exercise, session, progress, _print_now, once=options.once)
    try:
        watch.make()
    except OSError as error:
        raise UsageError(f"cannot make {path}: {error.strerror}") from None
    try:
        session.start()
        with signals(watch.events):
            ending = watch.run()
    finally:
        session.close()
        progress.close()
    if isinstance(ending, Judgement):
        return OK if ending.passed else NOT_PASSED
    if isinstance(ending, WorkerError):
        return FAILURE
    if ending is not signal.SIGHUP:
        # After that one there is nobody to read it.
        _print_now([f"Your code is in {path.absolute()}, and it is your draft in the tutor."])
    return OK if ending is signal.SIGINT else 128 + ending


def _check_all(options: argparse.Namespace) -> int:
    from lessons.engine.session import Session
    from lessons.results.result import WorkerError
    from tui.commands import documents, history

    course, progress = _course(), _progress()
    passed = progress.last_passed()
    progress.close()
    gone = history.gone(course, passed)
    session = Session()
    judgements = []
    try:
        if len(passed) > len(gone):
            # First, so that the seconds of the verdict are those of the judging.
            session.wait_ready()
        for exercise, judgement in history.check_again(course, passed, session):
            judgements.append(judgement)
            if not options.json:
                _print_now(history.checked(exercise, judgement))
    except WorkerError as error:
        print(f"attn-tutor: {error}", file=sys.stderr)
        return FAILURE
    finally:
        session.close()
    if options.json:
        _print_json({"exercises": [documents.judgement(each) for each in judgements], "gone": gone})
    else:
        _print(history.summary(judgements, gone))
    return OK if all(each.passed for each in judgements) else NOT_PASSED


def _history(options: argparse.Namespace) -> int:
    from tui.commands import history

    if options.exercise is None and (options.diff, options.show) != (None, None):
        raise UsageError("--diff and --show need an EXERCISE")
    progress = _progress()
    try:
        if options.exercise is None:
            attempts = progress.history()
            if options.json:
                _print_json(history.table_document(attempts))
            else:
                _print(history.table(attempts))
            return OK
        past = history.past(_course(), progress, options.exercise)
        if options.json:
            _print_json(past.document(progress))
        elif options.show is not None:
            _print_code(past.find(options.show).what.code)
        elif options.diff is not None:
            _print(history.changes(past.find(options.diff), coloured=_coloured()))
        else:
            _print(past.lines(coloured=_coloured()))
    except history.NoEntry as error:
        raise UsageError(str(error)) from None
    finally:
        progress.close()
    return OK


def _glossary(options: argparse.Namespace) -> int:
    from tui.render import glossary_text

    course, words = _course(), _words()
    text = " ".join(options.term)
    found = words.search(text) if text else words.terms
    if not found:
        raise UsageError(f"the glossary has nothing about '{text}'")
    if options.json:
        _print_json({"terms": [term.model_dump() for term in found]})
    else:
        _print(glossary_text.terms(found, course))
    return OK


def _references(options: argparse.Namespace) -> int:
    from tui.render import glossary_text

    found = _words().references
    if options.json:
        _print_json({"references": [reference.model_dump() for reference in found]})
    else:
        _print(glossary_text.references(found))
    return OK


def _words() -> Glossary:
    from lessons.reading import glossary
    from lessons.reading.loader import LessonError

    try:
        return glossary.load()
    except LessonError as error:
        print(error, file=sys.stderr)
        raise SystemExit(FAILURE) from None


def _lint(options: argparse.Namespace) -> int:
    from lessons.results.result import WorkerError
    from tui.commands import lint

    report = lint.read(Path(options.folder) if options.folder else None)
    known = [step.exercise for lesson in report.lessons for step in lesson.exercises]
    for name in options.exercise:
        if name not in known:
            raise UsageError(f"there is no exercise '{name}'. The exercises: {', '.join(known)}")
    if not options.quick:
        try:
            if not options.exercise:
                lint.measure(report)
                lint.try_claims(report)
            lint.prove(report, options.exercise, (lambda _: None) if options.json else _print_line)
        except WorkerError as error:
            print(f"attn-tutor: {error}", file=sys.stderr)
            return FAILURE
    if options.json:
        _print_json(report.document())
    elif report.findings:
        _print(map(str, report.findings))
        print(report.summary(), file=sys.stderr)
    else:
        _print([report.summary()])
    return NOT_PASSED if report.findings else OK


def _export(options: argparse.Namespace) -> int:
    progress = _progress()
    text = json.dumps(progress.export(), indent=1) + "\n"
    progress.close()
    if options.file == "-":
        sys.stdout.write(text)
        return OK
    try:
        Path(options.file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {options.file}: {error.strerror}") from None
    return OK


def _import(options: argparse.Namespace) -> int:
    try:
        data = json.loads(_read(options.file))
        progress = _progress()
        progress.restore(data)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{options.file} is not an export of attn-tutor ({error})") from None
    if progress.problem:
        print(f"attn-tutor: {progress.problem}", file=sys.stderr)
        return FAILURE
    progress.close()
    return OK


# What the commands share -------------------------------------------------------------------------------------------


def _course() -> Course:
    from lessons.reading.loader import LessonError, load_course

    try:
        return load_course()
    except LessonError as error:
        print(error, file=sys.stderr)
        raise SystemExit(FAILURE) from None


def _progress() -> Progress:
    from lessons.learner.progress import Progress

    progress = Progress.open()
    if progress.problem:
        print(f"attn-tutor: {progress.problem}", file=sys.stderr)
    return progress


def _find_lesson(course: Course, name: str) -> Lesson:
    try:
        return course.lesson(name)
    except KeyError:
        known = ", ".join(lesson.id for lesson in course.lessons)
        raise UsageError(f"there is no lesson '{name}'. The lessons: {known}") from None


def _find_exercise(name: str) -> tuple[Lesson, Exercise]:
    course = _course()
    try:
        return course.exercise(name)
    except KeyError:
        known = ", ".join(step.exercise for each in course.lessons for step in each.exercises)
        raise UsageError(f"there is no exercise '{name}'. The exercises: {known}") from None


def _read(file: str) -> bytes:
    if file == "-":
        if sys.stdin is None:
            raise UsageError("standard input is closed")
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None


def _print(lines: Iterable[str]) -> None:
    """Print lines; what the output's encoding does not have becomes an escape rather than an error."""
    from tui.render.prose import in_ascii

    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        try:
            line.encode(encoding)
        except UnicodeEncodeError:
            line = in_ascii(line).encode(encoding, "backslashreplace").decode(encoding)
        print(line)


def _print_json(document: object) -> None:
    print(json.dumps(document, allow_nan=False))


def _print_now(lines: Iterable[str]) -> None:
    """Print lines that somebody waits for, even at the other end of a pipe."""
    _print(lines)
    sys.stdout.flush()


def _print_line(line: str) -> None:
    _print_now([line])


def _print_code(code: str) -> None:
    """Print code byte for byte, so that it can go to a file; but on a terminal without what would move its cursor."""
    from lessons.results.clean_text import clean

    if sys.stdout.isatty():
        _print(clean(code).removesuffix("\n").split("\n"))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(code.encode())
    sys.stdout.buffer.flush()


def _coloured() -> bool:
    """Whether standard output is a terminal that shows colours, and is allowed to."""
    return sys.stdout.isatty() and this_terminal().depth != "none"
