"""The verb `train`: a line or a document for each snapshot, the end, and the exit code."""

from __future__ import annotations

import json

import pytest

from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner import trained_models
from attn_tutor.lessons.learner.trained_models import TrainedModel
from attn_tutor.lessons.results.result import Failure, Origin, StepResult, TrainingSnapshot
from attn_tutor.tui import cli
from attn_tutor.tui.commands import documents
from attn_tutor.tui.render import linear_text
from tests.course import use_course
from tests.lessons.lesson_builders import code_step, lesson_of, text_step
from tests.tui.fake_session import FakeSession
from tests.tui.screens.test_training_view import RATE, STEP

PICTURES = [TrainingSnapshot(done, 40, {"loss": 4 - done / 10, "score": done / 40}) for done in (0, 10, 40)]
LESSON = lesson_of(
    text_step("why", "Read."), STEP, knobs=[RATE | {"find": "train(0.5)", "replace": "train({value})"}], id="trained"
)
OTHER = lesson_of(code_step("one", "x = 1"), id="other", number=2)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> FakeSession:
    """Replace the session of the command by a fake one with three snapshots and the end."""
    fake = FakeSession()
    for event in (*PICTURES, None):
        fake.events.put(event)
    monkeypatch.setattr("attn_tutor.lessons.engine.session.Session", lambda: fake)
    use_course(monkeypatch, Course(lessons=(LESSON, OTHER)))
    return fake


def test_a_line_for_each_snapshot(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", "1"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == " 0 of 40   loss 4.0000   induction score 0   0 s"
    assert printed[1].startswith("10 of 40   loss 3.0000   induction score 0.2500   0 s, about 0 s left")
    assert printed[2] == "40 of 40   loss 0   induction score 1.0000   0 s"
    assert printed[3] == "'train' was trained in 0 s. From now on, 'attn-tutor run trained' uses the result."
    assert session.asked == ["train trained/train"]
    assert session.closed


def test_documents(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", "trained", "--step", "train", "--json"]) == 0
    entries = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert entries[1] == {"event": "snapshot", "done": 10, "total": 40, "numbers": {"loss": 3.0, "score": 0.25}}
    end = {"event": "end", "step": "train", "trained": True, "seconds": 0, "error": None}
    assert entries[-1] | {"seconds": 0} == end
    assert len(entries) == 4


def test_numbers_that_json_lacks(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    session.events.get()
    session.events.get()
    session.events.get()
    session.events.get()
    session.events.put(TrainingSnapshot(1, 2, {"loss": float("nan"), "score": float("inf")}))
    session.events.put(Failure("timeout", "It took too long.", 3))
    assert cli.main(["train", "1", "--json"]) == 1
    first, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["numbers"] == {"loss": "nan", "score": "inf"}
    assert last["trained"] is False
    assert last["error"] == {"kind": "timeout", "message": "It took too long.", "line": 3}


def test_one_line_on_a_terminal(
    session: FakeSession, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert cli.main(["train", "1"]) == 0
    progress, _, end = capsys.readouterr().out.partition("\n")
    parts = progress.split("\r")[1:]
    assert [len(part) for part in parts] == [29, 29, 29]
    assert parts[-1] == "40 of 40   loss 0   induction"
    assert end.startswith("'train' was trained in")


def test_a_change(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", "1", "--set", "rate=0.1"]) == 0
    assert session.asked == ["train trained/train with Rate: 0.1"]
    assert "'attn-tutor run trained --set rate=0.1' uses the result" in capsys.readouterr().out


def test_the_command_that_uses_the_result_names_the_course(
    session: FakeSession, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_course(monkeypatch, Course(lessons=(LESSON.model_copy(update={"state_folder": "courses/rows"}),)))
    assert cli.main(["train", "1"]) == 0
    assert "'attn-tutor run trained --course rows' uses the result" in capsys.readouterr().out


AGAIN = STEP | {"id": "again", "training": "frame(1, train(2))"}
SEED = {"kind": "seed", "name": "seed", "label": "Seed", "in": ["again"]}


@pytest.mark.parametrize(
    ("settings", "own", "meant"),
    [
        ([], [], "train"),
        ([], ["train"], "again"),
        ([], ["train", "again"], "train"),
        (["seed=7"], [], "again"),
        (["seed=7"], ["again"], "again"),
        # The other step comes later, and uses what is trained first.
        (["rate=0.1"], [], "train"),
        (["rate=0.1"], ["train"], "again"),
    ],
)
def test_the_default_step(
    session: FakeSession, monkeypatch: pytest.MonkeyPatch, settings: list[str], own: list[str], meant: str
) -> None:
    lesson = lesson_of(
        STEP, AGAIN, knobs=[SEED, RATE | {"find": "train(0.5)", "replace": "train({value})"}], id="trained"
    )
    use_course(monkeypatch, Course(lessons=(lesson,)))
    found = lambda _, step, cells=(): TrainedModel("own" if step.id in own else "course")  # noqa: E731
    monkeypatch.setattr(trained_models, "find", found)
    assert cli.main(["train", "1", *(part for each in settings for part in ("--set", each))]) == 0
    assert session.asked[0].split(" with ")[0] == f"train trained/{meant}"


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["2"], "Lesson 'other' has nothing to train."),
        (["9"], "There is no lesson '9'"),
        (["1", "--step", "why"], "has no step 'why' that trains a model. The steps that do are: train"),
        (["1", "--set", "rate=7"], "'rate' cannot be 7"),
    ],
)
def test_wrong_usage(
    session: FakeSession, capsys: pytest.CaptureFixture[str], arguments: list[str], output: str
) -> None:
    assert cli.main(["train", *arguments]) == 2
    assert output in capsys.readouterr().err
    assert not session.asked


def test_a_failure(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    while not session.events.empty():
        session.events.get()
    session.events.put(Failure("error", "ValueError: no.", 2))
    assert cli.main(["train", "1"]) == 1
    output = capsys.readouterr()
    assert output.err == "attn-tutor: The training stopped early, at line 2: ValueError: no.\n"
    assert output.out == ""


def test_no_worker(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    session.problem = "It did not start."
    assert cli.main(["train", "1"]) == 3
    assert capsys.readouterr().err == "attn-tutor: It did not start.\n"


def test_ctrl_c(session: FakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "train", interrupted)
    assert cli.main(["train", "1"]) == 130
    assert session.closed


def test_a_training_as_a_document() -> None:
    found = documents.step(LESSON.step("train"), StepResult("train", trained="own"))
    assert found["training"].startswith("for step in range(40):")
    assert found["trained"] == "own"
    assert "training" not in documents.step(LESSON.step("why"), None)


@pytest.mark.parametrize("origin", ["own", "course", "missing", None])
def test_a_training_as_text(origin: Origin | None) -> None:
    result = StepResult("train", trained=origin)
    text = list(linear_text.lesson_step(LESSON, LESSON.step("train"), result, "step 2 of 2"))
    assert "The training:" in text
    assert text[-1] == "Run the training with: attn-tutor train trained"
    assert "    for step in range(40):" in text
    assert text.index(linear_text.trained_words(origin)) < text.index("    model.load(trained)")
