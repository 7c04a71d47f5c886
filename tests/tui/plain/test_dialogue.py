"""The dialogue: steps one after the other, numbers, explanations, changes, and lines that are no commands."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from attn_tutor.lessons.format import main_path, template
from attn_tutor.lessons.learner import milestones, progress_file
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.tui.plain import command_table, refused
from attn_tutor.tui.plain.command_table import COMMANDS, LETTERS, TABLE
from attn_tutor.tui.plain.matrix_commands import row_sentence
from tests.course import COURSE
from tests.tui.fake_session import FakeSession
from tests.tui.plain.conversation import Conversation

FIRST, SECOND = COURSE.lessons[:2]


def test_a_step_is_printed_with_its_place_and_counted_when_the_learner_goes_on(learner: Conversation) -> None:
    text = learner.begin()
    assert f"Lesson 0: {FIRST.title}" in text
    assert f"Step 1 of {len(FIRST.main_steps)}: {FIRST.steps[0].title}" in text
    assert learner.progress.state(FIRST.id, FIRST.steps[0].id) == "seen"
    assert FIRST.main_steps[1].title in learner.type("next")
    assert learner.progress.state(FIRST.id, FIRST.steps[0].id) == "done"
    assert FIRST.steps[0].title in learner.type("b")
    assert learner.say("back") == "This is the first step of the course."
    assert learner.progress.position() == (FIRST.id, FIRST.steps[0].id)


def test_a_learner_goes_on_where_they_were_in_the_dialogue_or_on_the_screen() -> None:
    progress = Progress(None)
    progress.visit(SECOND.id, SECOND.steps[2].id)
    learner = Conversation(progress=progress)
    assert SECOND.steps[2].title in learner.begin()
    learner.close()


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("go 1 2", SECOND.main_steps[1].title),
        ("go one-query", SECOND.steps[0].title),
        (f"go {SECOND.id} {SECOND.steps[3].id}", SECOND.steps[3].title),
        (f"go {FIRST.steps[4].id}", FIRST.steps[4].title),
        ("go 99", "There is no lesson 99."),
        (f"go {SECOND.exercises[0].exercise}", SECOND.exercises[0].title),
        ("go 1 999", f"Lesson 1 has the steps 1 to {len(SECOND.main_steps)}, and no 999."),
    ],
)
def test_a_learner_goes_anywhere_by_number_or_name(learner: Conversation, line: str, title: str) -> None:
    learner.begin()
    assert title in learner.type(line)


def test_a_side_step_is_named_and_opened(learner: Conversation) -> None:
    learner.begin()
    lesson = next(lesson for lesson in COURSE.lessons if any(step.side for step in lesson.steps))
    beside = next(step for step in lesson.steps if step.side)
    main = lesson.main_step_of(beside.id)
    assert f"side step, which is optional: {beside.title}. Type side to open it." in " ".join(
        learner.type(f"go {lesson.id} {main.id}").split()
    )
    name = main_path.name_of(lesson.steps, beside.id)
    assert f"{name[:1].upper()}{name[1:]}: {beside.title}" in learner.type("side")


def test_a_lock_is_told_where_one_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_file, "PATIENCE", 0.01)
    monkeypatch.setattr(progress_file, "RETRY_PATIENCE", 0.01)
    with closing(Conversation(progress=Progress.open())) as learner:
        learner.begin()
        learner.say("go two-wide")
        with closing(sqlite3.connect(progress_file.default_path(), isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            said = " ".join(learner.type("code", "x = 1", ".").split())
            assert "Your progress is not saved, because another program keeps" in said
            assert "kept in" in said
            assert "is saved" not in said
            assert "saved" not in learner.say("steps")
            assert "saved" not in learner.say("quit")
            other.execute("ROLLBACK")
        learner.dialogue._quits = False
        assert "Your progress is saved again." in learner.say("next")
        assert "Everything is saved." in learner.say("quit")


def test_what_is_no_command_is_answered_with_one_that_works(learner: Conversation) -> None:
    learner.begin()
    assert learner.say("nxt") == "There is no command nxt. Do you mean next?"
    assert learner.say("zzzz") == "There is no command zzzz. Type help to see what you can do."
    assert learner.say("undoo") == "There is no command undoo. Do you mean undo?"
    assert learner.say("") == ""
    said = learner.say("x" * 1000)
    assert len(said) < 150
    assert said.startswith("There is no command xxx")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("train", "Nothing is trained at this step."),
        ("redo", "There is no change that you have undone."),
        ("follow 1", "Nothing is explained yet. Type explain and the name of a number first."),
        ("draft", "There is no code to write here."),
        ("stop", "No training is paused. Ctrl+C stops what is running."),
        ("weights[1, 2]", "Do you mean this? show weights[1, 2]"),
        ("weights[1,2] = 3", "Do you mean this? set weights[1,2] = 3"),
        ("words a b c", "Do you mean this? knob words a b c"),
        ("re", "re may be each of these: read, review. Type more of it."),
    ],
)
def test_a_command_that_does_nothing_says_why_and_a_line_without_one_which_is_meant(
    learner: Conversation, line: str, said: str
) -> None:
    learner.begin()
    assert learner.say(line) == said


@pytest.mark.parametrize("line", ["0.1", "-3", "2, 5, 3", "(2, 5)", ".5"])
def test_a_number_at_a_question_is_meant_as_the_answer(learner: Conversation, line: str) -> None:
    learner.begin()
    lesson, step = next((lesson, step) for lesson in COURSE.lessons for step in lesson.steps if step.kind == "predict")
    learner.type(f"go {lesson.id} {step.id}")
    assert learner.say(line) == f"Do you mean this? answer {line}"


def test_a_command_may_be_cut_short_as_long_as_it_is_told_from_others(learner: Conversation) -> None:
    learner.begin()
    assert learner.type("expl weights[1,2]").startswith("weights[1,2] = ")
    assert learner.type("Gloss softmax").startswith("softmax")


def test_a_knob_is_turned_by_its_name_or_its_label(learner: Conversation) -> None:
    learner.begin()
    for line in ("knob words a b a", 'knob "Your own words" a b a', "knob your own words a b a", "set words = a b a"):
        assert learner.say(line).startswith("Changed: Your own words: a b a."), line
        learner.type("reset")


def test_commands_for_every_command_have_a_reason_where_they_may_not_apply(learner: Conversation) -> None:
    learner.begin()
    for word in set(COMMANDS) - set(learner.dialogue.handlers) - {"call"}:
        assert refused.why_not_here(word), word


def test_a_file_that_cannot_be_an_answer_is_refused_at_once(learner: Conversation, tmp_path: Path) -> None:
    """A pipe would be waited for, without an end."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "loop").symlink_to("loop")
    learner.begin()
    learner.type("go 3.1")
    for name in (tmp_path / "link", tmp_path, "/dev/zero"):
        assert learner.say(f"check {name}").replace("\n", " ") == f"{name} is no ordinary file."
    assert "cannot be read: Too many levels" in learner.say(f"check {tmp_path / 'loop'}").replace("\n", " ")
    assert "cannot be read" in learner.say("check ~nobody-of-this-name/file").replace("\n", " ")


def test_help_lists_what_applies(learner: Conversation) -> None:
    learner.begin()
    text = learner.type("help")
    listed = {line.split()[0].rstrip(":,") for line in text.splitlines()}
    assert set(learner.dialogue.handlers) <= listed
    assert "train the model" not in text
    assert learner.type("help train").startswith("train, short: g: train the model")


def test_words_and_letters_are_told_apart() -> None:
    assert len(COMMANDS) == len(TABLE)
    letters = [command.letter for command in TABLE if command.letter]
    assert len(LETTERS) == len(letters)
    assert not set(LETTERS) & set(COMMANDS)


def test_matrices_are_shown_as_tables_and_read_as_sentences(learner: Conversation) -> None:
    learner.begin()
    learner.type("go 0 1")
    assert "journey" in learner.type("show weights[1:3, 2]").splitlines()[2]
    assert learner.type("show weights[1:3, 2]").startswith("weights[1:3,2]  2×1  rows: query, columns: key")
    assert learner.say("read weights[journey]").startswith(
        "weights[1]. weights has 6 rows (query) and 6 columns (key). Row 1, journey gives: Your 0.1385,"
    )
    learner.say("sentences")
    again = learner.type("again")
    assert "Row 1, journey gives: Your 0.1385," in again
    assert "rows: query" not in again
    learner.say("sentences")
    assert "rows: query" in learner.type("run")
    assert learner.say("read weights[9]") == "weights has no 9 along its axis 0: that goes from 0 to 5."
    assert learner.say("show wieghts") == "Nothing here is called wieghts. Do you mean weights?"
    assert learner.say("row weights[1]").startswith("weights, row journey: journey 0.24, starts 0.23")


def test_a_long_run_of_the_same_number_is_said_at_once() -> None:
    labels = tuple(map(str, range(12)))
    values = (0.5, *[0.0] * 9, 0.25, 0.25)
    tensor = Tensor("row", "vector", "float32", (12,), ("key",), (labels,), 0.0, 0.5, values)
    assert row_sentence(tensor, (), 0, 0, values) == ("row: 0.5000, 9 times\u00a00.0000, 0.2500, 0.2500.")


def test_shapes_of_lines_are_told(learner: Conversation) -> None:
    learner.begin()
    said = learner.type("shapes").splitlines()
    assert said[0].startswith("Line 1 takes inputs (")
    assert said[-1].endswith("and makes weights (queries=6, keys=6).")
    learner.type("go 0 translate")
    assert learner.say("shapes") == "No shapes are known here."


def test_a_label_stays_on_the_line_of_its_number() -> None:
    learner = Conversation(width=40)
    learner.begin()
    lines = learner.type("read weights").splitlines()
    assert not [line for line in lines if line.endswith(("journey", "starts", "with", "one"))]
    assert any(line.endswith("with 0.1462, one 0.1263, step 0.1720.") for line in lines)
    learner.close()


def test_what_is_drawn_as_bars_is_listed(learner: Conversation) -> None:
    learner.begin()
    said = learner.type("go one-query similarity")
    assert "overlap" in said
    assert "##" not in said
    assert "##" not in learner.type("show overlap")


def test_an_explanation_is_followed_by_numbers(learner: Conversation) -> None:
    learner.begin()
    text = learner.type("explain weights[1, 2]")
    assert text.startswith("weights[1,2] = ")
    assert "  2: weights[1,1] = 0.2379" in text
    assert learner.type("2").startswith("weights[1,1] = ")
    assert learner.type("up").startswith("weights[1,2] = ")
    assert learner.say("3") == "Type a number from 1 to 2, or explain and a cell."
    assert learner.say("explain weights[1]").startswith(
        "weights has the shape (6, 6), so an index of it needs 2 numbers"
    )


def test_a_change_is_told_with_the_numbers_before_and_after(learner: Conversation) -> None:
    learner.begin()
    said = learner.type("set weights[journey, starts] = 0.5").splitlines()
    assert said[0] == "Changed: weights[1,2] = 0.5."
    assert "weights: 2 of 36 numbers changed." in said
    assert "weights[1,2] (journey, starts) was 0.2333, is 0.5." in said
    assert learner.type("undo").startswith("Nothing is changed now.")
    assert "is 0.5." in learner.type("redo")
    # The changes hold in all steps of the lesson, and end with it.
    learner.type("reset")
    assert learner.say("set weights[1,2]") == "Write the number and its value like this: set weights[0,0] = 0.5"
    assert "no variable" in learner.say("set nothing[0] = 1")


def test_changes_are_listed_compared_and_made_again(learner: Conversation) -> None:
    learner.begin()
    assert learner.say("compare") == learner.say("changes") == "Nothing is changed."
    learner.type("set weights[0,0] = 0.5", "set weights[1,1] = 0.25")
    learner.type("set weights[1,1] = 0.25")
    assert learner.type("changes").splitlines() == ["weights[0,0] = 0.5", "weights[1,1] = 0.25"]
    assert "weights[0,0] (Your, Your) was 0.2098, is" in learner.say("compare weights")
    assert "Nothing here is called nothing" in learner.say("compare nothing")
    learner.type("undo")
    assert learner.say("changes") == "weights[0,0] = 0.5"
    learner.type("redo")
    assert len(learner.type("changes").splitlines()) == 2
    assert learner.say("reset") == "Nothing is changed now."
    # Undoing all can be undone, too.
    learner.type("undo")
    assert len(learner.type("changes").splitlines()) == 2


def test_a_challenge_and_a_review_are_jumps_with_a_way_back(
    learner: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner.begin()
    challenge = FIRST.challenge
    assert challenge is not None
    said = learner.type("challenge")
    assert challenge.title in said
    assert said.endswith("(Type return to go back to where you were.)")
    assert FIRST.steps[0].title in learner.type("return")
    assert learner.say("return").startswith("You have not jumped anywhere.")
    assert learner.say("review") == "Nothing is due for review."
    exercise = SECOND.exercises[-1]
    monkeypatch.setattr(milestones, "is_due", lambda _, step: step.id == exercise.id)
    assert f"Due for review: {exercise.title}." in learner.say("progress")
    said = learner.type("review")
    assert exercise.title in said
    assert said.endswith("(Type return to go back to where you were.)")
    assert FIRST.steps[0].title in learner.type("j")


def test_the_flow_opens_its_boxes_and_shows_their_matrices(learner: Conversation) -> None:
    learner.begin()
    assert "function" in learner.type("flow")
    assert "inner" in learner.type("open function")
    assert "inner" not in learner.type("open function")
    assert "6×" in learner.type("box start")


def test_before_the_worker_is_ready_recorded_numbers_are_called_so() -> None:
    session = FakeSession(loaded=False)
    learner = Conversation(session)
    assert "these numbers are recorded ones" in " ".join(learner.begin().split())
    session.loaded.set()
    assert "recorded ones" not in learner.type("again")
    learner.close()


def test_parts_of_a_large_matrix_come_from_a_run_which_is_made_first() -> None:
    session = FakeSession(loaded=False)
    progress = Progress(None)
    progress.visit("gpt2-size", "weights")
    learner = Conversation(session, progress=progress)
    learner.begin()
    session.loaded.set()
    said = learner.type("show weights[0,3,2:4,0:2]")
    assert "0.0000" not in said
    assert said.splitlines()[0] == "batch 0, head 3:"
    assert "2  2.0000  2.0010" in said
    said = learner.say("show weights[0,3]")
    assert said == "These are too many numbers. Ask for a part, such as weights[0, 0, 0:8, 0:8]."
    assert "of each block of 128 by 128 cells" in learner.say("overview weights[0,3]")
    assert len(learner.type("again").splitlines()) < 60
    learner.close()


def test_a_narrow_ascii_dialogue_has_no_wide_line_and_no_other_character() -> None:
    learner = Conversation(width=40, unicode=False)
    lines = [learner.begin()]
    lesson = COURSE.lessons[8]
    lines.append(learner.type(f"go {lesson.id}"))
    lines += [learner.type(*(["side"] if after.side else []), "next") for after in lesson.steps[1:]]
    lines += [learner.type(line) for line in ("help", "map", "steps", "progress", "glossary softmax")]
    text = "\n".join(lines)
    assert text.isascii()
    assert not [
        line
        for line in text.splitlines()
        # Code is not broken, and the line of a matrix says several things.
        if len(line) > 40 and not line.startswith((" ", "|")) and "  " not in line
    ]
    learner.close()


def test_keys_of_a_text_are_told_as_commands() -> None:
    assert command_table.commands_for("explain") == ("explain",)
    assert command_table.commands_for("change") == ("set", "knob")
    assert command_table.commands_for("next-slice") == ("show",)
    assert command_table.commands_for("answer") == ("point",)
    for action in template.KEY_OF_ACTION:
        assert command_table.commands_for(action) or action in ("enter", "pane"), action


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("0 why", "There is no cursor here: name a cell instead, such as weights[0,0] or weights[Your,Your]."),
        ("0 follow-down", "for Enter, explain weights[1,2]; for a, point inputs[0,0]."),
        ("0 follow-down", "To choose one of these, type its number."),
        ("0 same-word-twice", "for w, knob words and a value."),
        ("0 self-attention", "for Tab, show context; for Enter, explain context[0,0]."),
        ("0 translate", "line to replace one line of it"),
        ("weight-split memory-back", "such as back[0,0,0,0]. read back reads the whole matrix."),
        ("multi-head-class hear-one-head", "for w, set W_out[0,0] = 0.5."),
        ("causal-class run", "for ], show context[1]; for [, show context[0]."),
        ("all-queries speed", "What to type here: for r, run."),
    ],
)
def test_what_a_text_has_a_learner_do_on_the_screen_is_told_as_a_command(
    learner: Conversation, step: str, said: str
) -> None:
    learner.begin()
    assert said in learner.say(f"go {step}")


def test_a_line_of_code_is_replaced_and_what_was_replaced_comes_back(learner: Conversation, tmp_path: Path) -> None:
    learner.begin()
    learner.type("go 0 translate")
    assert learner.say("line 2") == "2: english = ..."
    assert learner.say("line 2 english = [table[word] for word in german]").startswith("2: english = [table")
    mine = "def translate(german, table):\n    english = [table[word] for word in german]\n    return english\n"
    assert learner.progress.draft("translate") == mine
    assert "from 1 to 3" in learner.say("line 4 x")
    assert "from 1 to 3" in learner.say("line")
    # Code that takes the place of other code does not lose it: pasted, with its input cut off, or in a file.
    said = learner.type("code", "\tpasted = 1")
    assert "The input ended before a line with ." in said
    assert learner.progress.draft("translate") == "\tpasted = 1\n"
    (tmp_path / "answer.py").write_text("filed = 1\n")
    learner.type(f"check {tmp_path / 'answer.py'}")
    assert [kept.code for kept in learner.progress.archived("translate")] == [mine, "\tpasted = 1\n"]


def test_a_matrix_and_what_was_read_are_kept_as_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    learner = Conversation()
    learner.begin()
    learner.type("go one-query softmax")
    assert "Written:" in learner.say("keep exps table.csv")
    assert (tmp_path / "table.csv").read_text().count("\n") > 1
    assert "exps.csv" in learner.say("keep exps")
    assert (tmp_path / "exps.csv").read_text() == (tmp_path / "table.csv").read_text()
    assert "two.svg" in learner.say("keep exps[0:2] two.svg")
    assert "<svg" in (tmp_path / "two.svg").read_text()
    assert "Or one of these: module, markdown, notebook, html, progress." in learner.say("keep")
    assert "Nothing here is called nothing" in learner.say("keep nothing a.csv")
    (tmp_path / "mine.txt").write_text("mine")
    assert "mine.txt is there already" in learner.say("keep exps mine.txt")
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert "You have not passed an exercise in code yet" in learner.say("keep module")
    assert "my_progress.json" in learner.say("keep progress")
    learner.close()


def test_what_to_type_is_told_in_whatever_language_a_text_is() -> None:
    step = COURSE.lesson("why-attention").step("why")
    translated = step.model_copy(update={"prose": "Drücke {key:explain weights[0,1]}, dann {key:flow}."})
    here = command_table.Here(("explain", "flow"), ())
    assert list(command_table.sentences_to_type(translated, (), here)) == [
        "What to type here: for Enter, explain; for f, flow."
    ]
