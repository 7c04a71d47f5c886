"""The verb `lint`: what is wrong in the files of a course, and which promises its exercises break."""

from __future__ import annotations

import argparse
import os
import queue
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from attn_tutor.lessons.authoring import axis_complaints, claims, coverage, proofs, translation_files, writing
from attn_tutor.lessons.authoring.proofs import Proof
from attn_tutor.lessons.authoring.writing import is_rewritten
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.base_steps import count_words
from attn_tutor.lessons.format.lesson import (
    Exercise,
    Lesson,
    Limits,
)
from attn_tutor.lessons.reading import glossary
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.loader import files_left_out, read_course, unreadable_folder
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.tensor_questions import FlowQuestion
from attn_tutor.lessons.texts import translations
from attn_tutor.tui.commands.chosen_course import chosen_course
from attn_tutor.tui.commands.output import UsageError, print_json, print_lines, print_now
from attn_tutor.tui.commands.verbs import list_texts
from attn_tutor.tui.tty.exit_codes import ExitCode

MOST_SESSIONS = 4
"""The maximum number of workers that run lessons and prove exercises in parallel, each on its own processor."""

PATIENCE = 10
"""How many times as long as for a learner a program may take in all. Workers share the processors with each other, and
with whatever else runs there, so a program waits for them; the processor time that it may use is that of a learner."""

T = TypeVar("T")

HEAD = f"{'exercise':24}{'solution':>10}{'mistakes':>10}{'accepted':>10}{'cheats':>10}"


def run(options: argparse.Namespace) -> ExitCode:
    """Read the files, prove what is to be proved, and print the findings."""
    report = read(Path(options.folder) if options.folder else chosen_course(options).path)
    known = [step.exercise for lesson in report.lessons for step in lesson.exercises]
    for name in options.exercise:
        if name not in known:
            raise UsageError(f"There is no exercise '{name}'. The exercises are: {', '.join(known)}")
    ids = [lesson.id for lesson in report.lessons]
    for name in options.lesson:
        if name not in ids:
            raise UsageError(f"There is no lesson '{name}'. The lessons are: {', '.join(ids)}")
    if options.lesson:
        report.lessons = [lesson for lesson in report.lessons if lesson.id in options.lesson]
    if options.claims:
        prove_claims(report)
    elif not options.quick:
        prove(report, options.exercise, (lambda _: None) if options.json else (lambda text: print_now([text])))
    if options.json:
        print_json(report.document())
    elif report.findings:
        print_lines(map(str, report.findings))
        print(report.summary(), file=sys.stderr)
    else:
        print_lines([report.summary()])
    return ExitCode.NOT_PASSED if report.findings else ExitCode.OK


@dataclass
class Report:
    """The result of reading and proving a course."""

    lessons: Sequence[Lesson]
    findings: list[Finding]
    proofs: list[Proof] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """Return the report as a JSON document."""
        return {
            "amounts": self.amounts(),
            "rhythm": [asdict(writing.measure_rhythm(lesson)) for lesson in self.lessons],
            "findings": [asdict(finding) for finding in self.findings],
            "exercises": [
                {
                    "exercise": each.exercise,
                    "solution": [each.solution, each.seeds],
                    "mistakes": each.mistakes,
                    "accepted": each.accepted,
                    "cheats": each.cheats,
                }
                for each in self.proofs
            ],
        }

    def summary(self) -> str:
        """Return one line on how much was checked, or how many findings there are."""
        if count := len(self.findings):
            return f"{count} finding{'' if count == 1 else 's'}"
        words = self.amounts().items()
        amounts = (f"{count} {what.removesuffix('s') if count == 1 else what}" for what, count in words)
        return ", ".join(amounts) + ": no findings"

    def amounts(self) -> dict[str, int]:
        """Return the numbers of lessons, steps, exercises, questions, claims and words."""
        steps = [step for lesson in self.lessons for step in lesson.steps]
        return {
            "lessons": len(self.lessons),
            "steps": len(steps),
            "exercises": sum(len(lesson.code_exercises) for lesson in self.lessons),
            "questions": sum(len(lesson.questions) for lesson in self.lessons),
            "experiments": sum(len(lesson.experiments) for lesson in self.lessons),
            "claims": sum(len(step.claimed) for step in steps),
            "words": sum(count_words(text.text) for step in steps for text in step.learner_texts),
        }


def read(folder: Path) -> Report:
    """Read all lessons of a folder. What cannot be read, or breaks a rule of writing, becomes a finding."""
    if unreadable := unreadable_folder(folder):
        return Report((), [unreadable])
    course, findings = read_course(folder)
    lessons = course.lessons
    for lesson in lessons:
        findings += writing.findings(lesson)
        findings += files_left_out(lesson)
    findings += coverage.findings(folder, lessons)
    findings += glossary.findings(folder, lessons)
    findings += _in_translations(folder)
    return Report(lessons, findings)


def _in_translations(folder: Path) -> Iterator[Finding]:
    """Find what is wrong in the translations beside a course, if its other files can be read."""
    beside = folder.parent / translations.TRANSLATIONS.name
    if beside.is_dir():
        with suppress(LessonError):
            texts = list_texts.course_texts(folder)
            yield from translation_files.findings(beside, {**texts, **list_texts.own_texts()})


def prove(report: Report, only: Sequence[str], say: Callable[[str], None]) -> None:
    """Run the lessons that could be read, check their claims, and prove their exercises; or only some exercises.

    A run of a lesson serves its claims and all of its questions. While workers prove exercises, every step is laid out
    on a small screen, to see whether it fits, and those of lessons that keep all rules on a large one, to see whether
    they fill it. Raises `WorkerError`.
    """
    from attn_tutor.tui.commands import screen_fit

    with Workers() as workers:
        tasks = [LessonTask.start(patient(lesson), only, workers) for lesson in report.lessons]
        for task in tasks:
            task.prove(workers)
        if not only:
            unrecorded = [task for task in tasks if not screen_fit.is_recorded(task.lesson)]
            runs = {task.lesson.id: task.results().steps for task in unrecorded}
            report.findings += screen_fit.findings(report.lessons, runs)
            flows: dict[tuple[str, str], Flow] = {}
            for task in tasks:
                report.findings += claims.findings(task.lesson, task.results())
                report.findings += axis_complaints.findings(task.lesson, task.results())
                flows |= _flows(task) if is_rewritten(task.lesson) else {}
            # What fills a large screen is a matter of rhythm.
            report.findings += screen_fit.blank([each for each in report.lessons if is_rewritten(each)], flows)
        for task in tasks:
            for found in task.proofs():
                if not report.proofs:
                    say(HEAD)
                report.proofs.append(found)
                report.findings += found.findings
                say(line(found))
            task.close()
    # A lesson that does not run is found by its claims, and by each of its questions.
    report.findings = list(dict.fromkeys(report.findings))


def prove_claims(report: Report) -> None:
    """Run the lessons that could be read and check their claims. Raises `WorkerError`."""
    with Workers() as workers:
        runs = [workers.submit(partial(claims.run_with_claims, patient(lesson))) for lesson in report.lessons]
        for lesson, run in zip(report.lessons, runs, strict=True):
            with closing(run.result()) as done:
                report.findings += claims.findings(lesson, done)


def patient(lesson: Lesson) -> Lesson:
    """Return a lesson whose programs are given `PATIENCE`."""

    def longer(limits: Limits) -> Limits:
        return limits.model_copy(update={"wall": PATIENCE * limits.wall})

    steps = (
        step.model_copy(update={"limits": longer(step.own_limits)}) if step.own_limits is not None else step
        for step in lesson.steps
    )
    return lesson.model_copy(update={"limits": longer(lesson.limits), "steps": tuple(steps)})


def _flows(task: LessonTask) -> dict[tuple[str, str], Flow]:
    """Return the flow of each step of a lesson that has one, by the ids of lesson and step."""
    found: dict[tuple[str, str], Flow] = {}
    for step in task.lesson.filled:
        reply = task.results().ask(FlowQuestion(unit=CodeUnit.step(step.id)))
        if isinstance(reply, Flow):
            found[task.lesson.id, step.id] = reply
    return found


@dataclass
class LessonTask:
    """What workers do for a lesson: run it, if claims or questions need that, and prove its exercises."""

    lesson: Lesson
    steps: list[Exercise]
    run: Future[Run] | None
    exercises: dict[str, Future[Proof]] = field(default_factory=dict)

    @classmethod
    def start(cls, lesson: Lesson, only: Sequence[str], workers: Workers) -> LessonTask:
        """Submit the run of a lesson, if all of it is to be proved or a question among those exercises in `only`."""
        steps = [step for step in lesson.exercises if not only or step.exercise in only]
        run = None
        if not only or any(step.is_question for step in steps):
            run = workers.submit(partial(claims.run_with_claims, lesson))
        return cls(lesson, steps, run)

    def prove(self, workers: Workers) -> None:
        """Submit the proofs of the exercises and experiments."""
        wanted = {step.id for step in self.steps}
        for id, exercise in self.lesson.code_exercises.items():
            if id in wanted:
                self.exercises[id] = workers.submit(partial(proofs.prove_exercise, self.lesson, exercise))
        for id, experiment in self.lesson.experiments.items():
            if id in wanted:
                self.exercises[id] = workers.submit(partial(proofs.prove_experiment, self.lesson, experiment))

    def results(self) -> Run:
        """Wait for the run of the lesson. Raises `WorkerError`."""
        assert self.run is not None
        return self.run.result()

    def close(self) -> None:
        """End the run, after the last question about its tensors."""
        if self.run is not None:
            self.run.result().close()

    def proofs(self) -> Iterator[Proof]:
        """Yield the proofs of exercises and questions as they stand in the lesson. Raises `WorkerError`."""
        questions = self.lesson.questions
        for step in self.steps:
            if step.is_question:
                yield proofs.prove_question(self.lesson, questions[step.id], self.results())
            else:
                yield self.exercises[step.id].result()


class Workers:
    """Sessions that work in parallel, each on a processor of its own. Closing it drops what has not begun."""

    def __init__(self) -> None:
        count = min(MOST_SESSIONS, os.cpu_count() or 1)
        self._sessions: queue.SimpleQueue[Session] = queue.SimpleQueue()
        for _ in range(count):
            self._sessions.put(Session())
        self._pool = ThreadPoolExecutor(count)

    def submit(self, work: Callable[[Session], T]) -> Future[T]:
        """Do some work with the next session that is free, in the order of the calls."""
        return self._pool.submit(self._work, work)

    def _work(self, work: Callable[[Session], T]) -> T:
        session = self._sessions.get()
        try:
            return work(session)
        finally:
            self._sessions.put(session)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        while not self._sessions.empty():
            self._sessions.get().close()


def line(found: Proof) -> str:
    """Return a line of the table: how many promises of each kind an exercise keeps, such as `7/7`."""

    def count(promises: dict[str, bool]) -> str:
        return f"{sum(promises.values())}/{len(promises)}" if promises else "-"

    solution = f"{found.solution}/{found.seeds}" if found.seeds else "-"
    cells = (solution, count(found.mistakes), count(found.accepted), count(found.cheats))
    return f"{found.exercise:24}" + "".join(f"{cell:>10}" for cell in cells)
