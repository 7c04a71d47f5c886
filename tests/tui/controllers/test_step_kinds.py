"""The registry of step kinds: every kind of the format has a model and a view."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from textual.widget import Widget

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExperimentStep
from attn_tutor.lessons.format.nouns import NOUNS
from attn_tutor.lessons.format.steps import Step
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.kinds import MODELS
from attn_tutor.lessons.play.step import Runner
from attn_tutor.tui.actions.help_pages import PAGES
from attn_tutor.tui.controllers.assembly import VIEWS, make_views
from attn_tutor.tui.screens.step_view import ViewContext
from attn_tutor.tui.state.async_session import AsyncSession
from attn_tutor.tui.tty.terminal import Terminal

KINDS = {get_args(step.model_fields["kind"].annotation)[0]: step for step in get_args(get_args(Step)[0])}


def test_every_kind_of_the_format_has_a_line() -> None:
    assert set(KINDS) == set(MODELS)
    assert set(VIEWS) == set(MODELS.values())


def test_every_noun_has_its_words() -> None:
    assert {step.noun for step in KINDS.values()} <= set(NOUNS)


def test_only_the_lesson_knows_the_kinds() -> None:
    kinds = "|".join(["FilledStep", "RunningStep", "Exercise", "Question", *(step.__name__ for step in KINDS.values())])
    asked = re.compile(rf"isinstance\([^)]*\b({kinds})\b|\bcase .*\b({kinds})\(")
    root = Path(__file__).parents[3]
    modules = [path for room in ("lessons", "tui") for path in (root / room).rglob("*.py")]
    asking = [str(path.relative_to(root)) for path in modules if asked.search(path.read_text(encoding="utf-8"))]
    assert asking == ["lessons/format/lesson.py"]


def test_an_exercise_runs_only_on_request() -> None:
    for kind, step in KINDS.items():
        runner = MODELS[kind].runner
        assert (runner is Runner.WITH_CHANGES) != step.is_exercise, kind
        assert (runner is Runner.WITH_OWN_CHANGES) == (step is ExperimentStep), kind
        assert step.is_exercise == (step.noun != "step"), kind


def test_kinds_of_one_class_share_a_view_and_every_view_has_a_help() -> None:
    async_session, progress = AsyncSession(Session()), Progress(None)
    try:
        views = make_views(ViewContext(Terminal(depth="16"), "ansi_dark", async_session, progress))
    finally:
        async_session.close()
        progress.close()
    assert set(views) == set(KINDS)
    assert views["read"] is views["run"] is not views["train"]
    ids = {view.id for view in views.values()}
    assert None not in ids
    assert len(ids) == len(set(map(id, views.values())))
    for view in views.values():
        assert isinstance(view, Widget)
        assert view.topic in PAGES
