"""Knobs: their effect on the code, the complaints of the linter, and that every knob of the course can be turned."""

from __future__ import annotations

import functools
from textwrap import dedent

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.knobs import ChangeError, ChoiceKnob, Knob, NumberKnob, SeedKnob, Setting, WordsKnob
from attn_tutor.lessons.format.lesson import Lesson, RunningStep, RunStep
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.loader import parse_lesson
from attn_tutor.lessons.what_if import knobs
from attn_tutor.lessons.what_if.changes import UNCHANGED, apply
from tests.course import COURSE, EVERY_COURSE
from tests.lessons.course_runs import CourseRuns
from tests.lessons.knob_fields import CHOICE, NUMBER, SEED, WORDS
from tests.lessons.lesson_builders import Fields, code_step, lesson_of, text_step
from tests.lessons.question_builders import predict_question

EVERY = [
    pytest.param(lesson, knob, value, id=f"{lesson.id}-{knob.name}-{value}")
    for lesson in EVERY_COURSE.lessons
    for knob in lesson.knobs
    for value in knob.samples
]

INPUTS = """inputs = torch.tensor([[0.43, 0.15, 0.89],   # Your
                       [0.55, 0.87, 0.66],   # journey
                       [0.57, 0.85, 0.64]])  # starts"""


def lesson_with_knobs(*knob_list: Fields) -> Lesson:
    """Build a lesson with code for every kind of knob."""
    backwards = {"name": "y", "kind": "vector", "axes": ["token"], "labels": {"token": ["starts", "journey", "Your"]}}
    return lesson_of(
        text_step("why", "Read."),
        code_step("one", "x = f(n=2) / 2", backwards),
        code_step("two", "# é: n=2\n" + INPUTS + "\ny = x / 2", seed=7),
        setup=f"import torch\n{INPUTS}\nx = 1 / 2\n",
        tokens=["Your", "journey", "starts"],
        knobs=list(knob_list),
    )


def code(lesson: Lesson) -> dict[str, str]:
    return dict(lesson.parts)


# Effects on the code -------------------------------------------------------------------------------------------------


def test_number_replaces_its_text_everywhere() -> None:
    altered = code(knobs.alter(lesson_with_knobs(NUMBER | {"values": [1, 2, 0.5]}), {"heads": 0.5}))
    assert altered["one"] == "x = f(n=0.5) / 2"
    assert altered["two"].startswith("# é: n=0.5\n")


def test_choice_replaces_its_first_text() -> None:
    altered = code(knobs.alter(lesson_with_knobs(CHOICE | {"in": ["one", "setup"]}), {"scaling": "off"}))
    assert altered["setup"].endswith("x = 1\n")
    assert altered["one"] == "x = f(n=2)"
    assert altered["two"].endswith("y = x / 2")


def test_knobs_do_not_replace_each_others_text() -> None:
    lesson = lesson_with_knobs(NUMBER | {"values": [2, 3]}, CHOICE | {"options": {"on": " / 2", "off": " / g(n=2)"}})
    altered = code(knobs.alter(lesson, {"scaling": "off", "heads": 3}))
    assert altered["one"] == "x = f(n=3) / g(n=2)"


def test_default_changes_nothing() -> None:
    lesson = lesson_with_knobs(NUMBER | {"replace": "m={value}", "values": [2, 3]}, CHOICE, WORDS)
    assert knobs.alter(lesson, {"heads": 2, "scaling": "on", "words": "Your  journey starts"}) is lesson
    assert knobs.alter(lesson, {}) is lesson


def test_words_replace_tokens_rows_and_labels() -> None:
    altered = knobs.alter(lesson_with_knobs(WORDS), {"words": "Your 猫, x"})
    assert altered.tokens == ("Your", "猫", ",", "x")
    rows = code(altered)["setup"].splitlines()[1:5]
    assert rows[0] == "inputs = torch.tensor([[0.43, 0.15, 0.89],   # Your"
    assert [row.partition("# ")[2] for row in rows] == list(altered.tokens)
    # The other step too, in which the statement follows a line with a character of two bytes.
    assert code(altered)["two"].splitlines() == ["# é: n=2", *rows, "y = x / 2"]
    one = altered.step("one")
    assert isinstance(one, RunStep)
    assert one.show[0].labels == {"token": ("x", ",", "猫", "Your")}


def test_words_replace_labels_of_what_an_answer_reveals() -> None:
    words = ["Your", "journey", "starts"]
    labeled = {"name": "x", "kind": "vector", "axes": ["token"], "labels": {"token": words}}
    question = predict_question("number", reveal=[labeled]).model_dump(by_alias=True)
    altered = knobs.alter(lesson_of(question, tokens=words, knobs=[WORDS]), {"words": "I am"})
    assert altered.step("made").tensors[0].labels == {"token": ("I", "am")}


def test_seed_replaces_every_seed() -> None:
    altered = knobs.alter(lesson_with_knobs(SEED), {"seed": 5})
    assert (altered.seed, altered.step("one").model_dump()["seed"], altered.step("two").model_dump()["seed"]) == (
        5,
    ) * 3


@pytest.mark.parametrize(
    ("within", "seeds"), [(["one"], (123, 5, 7)), (["two"], (123, None, 5)), (["setup"], (5, 123, 7))]
)
def test_seed_of_some_steps_leaves_other_steps_unchanged(within: list[str], seeds: tuple[int | None, ...]) -> None:
    altered = knobs.alter(lesson_with_knobs(SEED | {"in": within}), {"seed": 5})
    steps = [altered.step(step).model_dump()["seed"] for step in ("one", "two")]
    assert (altered.seed, *steps) == seeds


def test_initial_seed_is_none_if_the_steps_have_several() -> None:
    for within, expected in (([], None), (["one"], 123), (["two"], 7), (["setup", "two"], None)):
        lesson = lesson_with_knobs(SEED | {"in": within})
        assert lesson.knobs[0].initial(lesson) == expected


def test_knobs_reaching_a_step() -> None:
    lesson = lesson_with_knobs(NUMBER | {"values": [1, 2]}, CHOICE | {"in": ["two"]}, WORDS, SEED | {"in": ["two"]})
    names = {step.id: [knob.name for knob in knobs.reaching(lesson, step.id)] for step in lesson.steps}
    assert names["why"] == ["words"]
    assert names["one"] == ["heads", "words"]
    assert names["two"] == ["heads", "scaling", "words", "seed"]
    with pytest.raises(KeyError):
        knobs.reaching(lesson, "three")


def test_unknown_knob_is_refused() -> None:
    with pytest.raises(ChangeError, match=r"Lesson 'made' has no knob 'x'. Its knobs are: seed\."):
        knobs.alter(lesson_with_knobs(SEED), {"x": 1})
    with pytest.raises(ChangeError, match="It has no knobs"):
        knobs.alter(lesson_with_knobs(), {"x": 1})


# Complaints of the linter --------------------------------------------------------------------------------------------

FILE = dedent(
    """\
    title: T
    goal: G
    tokens: [a, b]
    setup: |
      import torch
      inputs = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    knobs:
      - {name: heads, label: H, KNOB}
      - {name: last, label: L, kind: choice, options: {plain: "inputs.T", flipped: "inputs.T.flip(0)"}}
    steps:
      - id: one
        kind: run
        title: One
        prose: P
        code: |
          heads = 2
          scores = inputs @ inputs.T
    """
)
HEADS = "kind: number, find: heads = 2, replace: 'heads = {value}', default: 2"
ONE: dict[str, tuple[str, str, str]] = {
    "no kind": ("find: x", "{name: heads", "the knob has no 'kind'. Add 'kind: number', 'kind: choice', "),
    "unknown kind": ("kind: numbre", "{name: heads", "'numbre' is not a kind of knob. Use 'number', 'choice', "),
    "unknown key": (f"{HEADS}, values: [2], inn: [one]", "inn:", "'inn' is not known here. Did you mean 'in'?"),
    "not a number": (f"{HEADS}, values: [2, true]", "true]", "'True' is not a number."),
    "unquoted on": (
        "kind: choice, options: {on: 'heads = 2', x: ''}",
        "{on",
        "on, off, yes and no mean true and false in YAML",
    ),
    "text that is nowhere": (
        f"{HEADS.replace('find: heads', 'find: head')}, values: [2]",
        "head = 2",
        "the text 'head = 2' is nowhere in the code. Copy it from the code, spaces too.",
    ),
    "text that is nowhere in those steps": (
        f"{HEADS}, values: [2], in: [setup]",
        "heads = 2, replace",
        "the text 'heads = 2' is nowhere in the code of 'setup'.",
    ),
    "empty first choice": ("kind: choice, options: {x: '', y: z}", "{x:", "the text '' is nowhere in the code."),
    "unknown step": (f"{HEADS}, values: [2], in: [one, two]", "two]", "there is no code in 'two'. Use one of: setup"),
    "no place for the value": (
        f"{HEADS.replace('{value}', 'value')}, values: [2]",
        "'heads = value'",
        "there is no {value} in it. Write {value} where the number belongs.",
    ),
    "default that is none of the values": (f"{HEADS}, values: [1, 3]", "2, values", "the default 2 is not among"),
    "default outside the range": (
        f"{HEADS}, least: 3, most: 4, step: 1",
        "2, least",
        "the default 2 is outside the range. Choose one from 'least' to 'most'.",
    ),
    "range that is empty": (f"{HEADS}, least: 3, most: 1, step: 1", "3, most", "the range is empty."),
    "half a range": (f"{HEADS}, least: 1, most: 3", "heads, label", "a range needs 'least', 'most' and 'step'."),
    "values and a range": (f"{HEADS}, values: [2], least: 1", "heads, label", "its numbers are not told in one way."),
    "no values": (HEADS, "heads, label", "its numbers are not told in one way."),
    "refused value that is none": (f"{HEADS}, values: [2], refused: [3]", "[3]", "3 is not among the values."),
    "code that is not Python": (
        f"{HEADS.replace('= {value}', '= ({value}')}, values: [1, 2]",
        "'heads = ({value}'",
        "with '1' the code of 'one' is not Python: '(' was never closed. Mend the text that is put in.",
    ),
    "choice that is not Python": (
        "kind: choice, options: {x: 'heads = 2', y: 'heads ='}",
        "{x:",
        "with 'y' the code of 'one' is not Python: invalid syntax.",
    ),
    "same name": (
        f"{HEADS}, values: [2]}}\n  - {{name: heads, label: H, kind: seed",
        "heads, label: H, kind: seed",
        "two knobs are called 'heads'. Give one of them another name.",
    ),
    "overlap": (
        "kind: choice, options: {x: '@ inputs.T', y: '- inputs'}",
        "last,",
        "'last' and 'heads' change the same place in 'one'. Let their texts not overlap.",
    ),
    "words with in": ("kind: words, in: [one]", "[one]", "words are the same in the whole lesson. Leave out 'in'."),
    "words too few": ("kind: words, least: 3", "words,", "the lesson's own 2 tokens are not from 3 to 12."),
    "second knob for words": (
        "kind: words}\n  - {name: more, label: M, kind: words",
        "words}\n  - {name: last",
        "a second knob for words. Keep one of them.",
    ),
    "seed of nothing": ("kind: seed, in: [two]", "seed,", "there is no code of 'two' to seed."),
}  # fmt: skip


@pytest.mark.parametrize(("knob", "where", "message"), ONE.values(), ids=ONE)
def test_complaint_about_a_knob(knob: str, where: str, message: str) -> None:
    text = FILE.replace("KNOB", knob)
    assert text.count(where) == 1, where
    before = text[: text.index(where)]
    place = f"f:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}: {message}"
    with pytest.raises(LessonError) as caught:
        parse_lesson(text, "f", number=1, slug="s")
    found = [str(finding) for finding in caught.value.findings]
    assert any(finding.startswith(place) for finding in found), (place, found)


def test_sound_knobs_have_no_complaints() -> None:
    for knob in (f"{HEADS}, values: [1, 2]", f"{HEADS}, least: 0.5, most: 4, step: 0.5, in: [one]", "kind: seed"):
        assert len(parse_lesson(FILE.replace("KNOB", knob), "f", number=1, slug="s").knobs) == 2


def test_words_that_replace_no_statement() -> None:
    with pytest.raises(LessonError, match=r"no code has 'inputs = torch\.tensor"):
        parse_lesson(FILE.replace("KNOB", "kind: words").replace("inputs =", "batch ="), "f", number=1, slug="s")


def test_step_with_the_id_setup() -> None:
    text = FILE.replace("KNOB", "kind: seed").replace("id: one", "id: setup")
    with pytest.raises(LessonError, match="the id 'setup' means the lesson's setup"):
        parse_lesson(text, "f", number=1, slug="s")


# The course ----------------------------------------------------------------------------------------------------------


@functools.cache
def mattering(lesson_id: str) -> dict[str, set[str]]:
    lesson = EVERY_COURSE.lesson(lesson_id)
    return {step.id: {knob.name for knob in knobs.relevant_to_step(lesson, step.id)} for step in lesson.steps}


@pytest.mark.parametrize(("lesson", "knob", "value"), EVERY)
def test_every_knob_can_be_turned(results: CourseRuns, lesson: Lesson, knob: Knob, value: Setting) -> None:
    changes = UNCHANGED.with_knob(lesson, knob.name, value)
    steps = list(results.changed(lesson, changes).values())
    errors = [step.error.message for step in steps if step.error]
    if isinstance(knob, SeedKnob) and steps[-1].trained == "missing":
        # The course ships a training for every setting of a knob that has few of them.
        (message,) = errors
        assert message.startswith("No model has been trained with these changes yet. Train one in the step ")
        return
    if isinstance(knob, NumberKnob) and value in knob.refused:
        (message,) = errors
        assert message.startswith("ValueError: ")
        return
    assert errors == []
    assert [step.notes for step in steps] == [()] * len(steps)
    assert [step.id for step in steps] == [step.id for step in lesson.steps if step.kind != "exercise"]
    tokens = apply(lesson, changes).tokens
    before = results.changed(lesson, UNCHANGED)
    for step in steps:
        measures_time = "perf_counter" in dict(lesson.parts).get(step.id, "")
        if knob.name not in mattering(lesson.id)[step.id] and not measures_time:
            # The panel does not offer it there. As text, since nan differs from itself.
            as_text = [repr((each.text, each.tensors)) for each in (step, before[step.id])]
            assert as_text[0] == as_text[1], step.id
        assert "…" not in step.text.values()
        written = lesson.step(step.id)
        tensors = written.tensors if isinstance(written, RunningStep) else ()
        for shown, tensor in zip(tensors, step.tensors, strict=True):
            for axis, size, labels in zip(tensor.axes, tensor.shape, tensor.labels, strict=True):
                # A lesson may label an axis with other words, such as those of a translation.
                if axis in ("query", "key") and size == len(tokens) and axis not in shown.labels:
                    assert set(labels) <= set(tokens) or labels[0].startswith(("row", "key")), (step.id, tensor.name)


@pytest.mark.parametrize("end", [0, -1])
@pytest.mark.parametrize("lesson", EVERY_COURSE.lessons, ids=lambda lesson: lesson.id)
def test_all_knobs_can_be_turned_at_once(results: CourseRuns, lesson: Lesson, end: int) -> None:
    changes = UNCHANGED
    for knob in lesson.knobs:
        refused = knob.refused if isinstance(knob, NumberKnob) else ()
        changes = changes.with_knob(lesson, knob.name, [at for at in knob.samples if at not in refused][end])
    steps = list(results.changed(lesson, changes).values())
    if steps[-1].trained != "missing":
        assert [step.error for step in steps] == [None] * len(steps)


@pytest.mark.parametrize(("lesson", "knob", "value"), EVERY)
def test_changed_code_fits_the_screen(lesson: Lesson, knob: Knob, value: Setting) -> None:
    altered = apply(lesson, UNCHANGED.with_knob(lesson, knob.name, value))
    for _, text in altered.parts:
        assert max(map(len, text.splitlines()), default=0) <= 76


@pytest.mark.parametrize("lesson", EVERY_COURSE.lessons, ids=lambda lesson: lesson.id)
def test_knobs_of_each_lesson(lesson: Lesson) -> None:
    kinds = [type(knob) for knob in lesson.knobs]
    random = any(name in text for _, text in lesson.parts for name in ("rand", "nn.", "Attention"))
    assert (SeedKnob in kinds) == (random or lesson.id == "gpt2-size")
    sentence = any("inputs = torch.tensor(" in text for _, text in lesson.parts)
    assert (WordsKnob in kinds) == (sentence and lesson.id not in ("weight-split", "multi-head-class"))
    for knob in lesson.knobs:
        if isinstance(knob, ChoiceKnob):
            assert len(set(knob.options.values())) == len(knob.options)
        assert len(knob.label) <= 40
        assert knobs.reaching(lesson, lesson.steps[-1].id)


@pytest.mark.parametrize(
    "sentence", ["我爱北京", "e\u0301te\u0301 नमस्ते", "🇩🇪 👍🏽 x\u0336", '\'); exit() # """', "a\u202e\x1b[2J b"]
)
@pytest.mark.parametrize("name", ["one-query", "all-queries", "causal-class"])
def test_lesson_runs_with_any_words(worker: Session, name: str, sentence: str) -> None:
    lesson = COURSE.lesson(name)
    changes = UNCHANGED.with_knob(lesson, "words", sentence + " and more")
    run = worker.run(lesson, changes=changes)
    run.close()
    assert [step.error for step in run.steps] == [None] * len(run.steps)
    tokens = apply(lesson, changes).tokens
    (shown, *_) = (tensor for step in run.steps for tensor in step.tensors if "token" in tensor.axes)
    assert shown.labels[shown.axes.index("token")] == tokens
