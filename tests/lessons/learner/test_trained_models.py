"""Trained models in the learner's folder: two sessions that finish a training at the same moment."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from attn_tutor.lessons.format.lesson import Lesson, TrainStep
from attn_tutor.lessons.learner import trained_models
from tests.lessons.lesson_builders import lesson_of

SIZE = 1 << 20
ROUNDS = 20


def lesson_trained_with(rate: float) -> tuple[Lesson, TrainStep]:
    """Return a lesson that trains one number, and the step that does."""
    lesson = lesson_of(
        {
            "kind": "train",
            "id": "learn",
            "title": "Learn",
            "prose": "See.",
            "training": f"frame(0, 1)\nw = {rate}",
            "code": "w = trained['w']",
            "curves": [{"name": "size", "label": "Size", "expr": "w"}],
            "watch": [],
            "keep": "{'w': w}",
            "show": [],
        }
    )
    step = lesson.step("learn")
    assert isinstance(step, TrainStep)
    return lesson, step


def save_at_once(*models: tuple[Lesson, TrainStep, bytes]) -> None:
    """Save trained models in threads that start together."""
    together = threading.Barrier(len(models))
    folder = trained_models.own_folder(models[0][0])

    def save(lesson: Lesson, step: TrainStep, data: bytes) -> None:
        together.wait()
        trained_models.save(folder, lesson, step, (), data)

    threads = [threading.Thread(target=save, args=model) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def saved_files() -> list[Path]:
    folder = trained_models.own_folder(lesson_trained_with(0)[0])
    assert folder is not None
    return list(folder.iterdir())


def test_of_two_equal_trainings_that_finish_at_once_one_model_is_whole(home: Path) -> None:
    """Equal trainings give the same model, so that it does not matter whose is kept."""
    lesson, step = lesson_trained_with(0.5)
    for _ in range(ROUNDS):
        save_at_once((lesson, step, b"a" * SIZE), (lesson, step, b"b" * SIZE))
        found = trained_models.find(lesson, step)
        assert found.origin == "own"
        assert found.data in (b"a" * SIZE, b"b" * SIZE)
    assert len(saved_files()) == 1


def test_two_different_trainings_that_finish_at_once_are_both_kept(home: Path) -> None:
    one, other = lesson_trained_with(0.5), lesson_trained_with(0.25)
    save_at_once((*one, b"a" * SIZE), (*other, b"b" * SIZE))
    assert [trained_models.find(*each).data[:1] for each in (one, other)] == [b"a", b"b"]
    assert len(saved_files()) == 2


def test_a_model_that_is_not_written_to_its_end_leaves_the_one_before(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a full disk. Whoever looks meanwhile finds a whole one."""
    lesson, step = lesson_trained_with(0.5)
    save_at_once((lesson, step, b"a" * SIZE))
    found = []

    def fail_as_full(_: int) -> None:
        found.append(trained_models.find(lesson, step).data)
        raise OSError(errno.ENOSPC, "the disk is full")

    monkeypatch.setattr(os, "fsync", fail_as_full)
    with pytest.raises(OSError, match="full"):
        trained_models.save(trained_models.own_folder(lesson), lesson, step, (), b"b" * SIZE)
    assert [*found, trained_models.find(lesson, step).data] == [b"a" * SIZE] * 2
    assert len(saved_files()) == 1
