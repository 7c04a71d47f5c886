"""The loader reports everything that is wrong in a lesson at once, with file, line, column and remedy."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attn_tutor.lessons.format.lesson import ChoiceStep, ExerciseStep, Lesson, PointStep, PredictStep, ReadStep, RunStep
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.folders import COURSE
from attn_tutor.lessons.reading.loader import lesson_outline, load_course, load_lesson, parse_lesson
from attn_tutor.lessons.reading.mistake_library import load_library
from attn_tutor.lessons.reading.yaml_nodes import QUOTE

QUESTIONS = Path(__file__).parents[2] / "data" / "questions"

VALID = dedent(
    """\
    title: Scores
    goal: You will be able to compute scores.
    tokens: [Your, journey]
    seed: 7
    thumbnail: scores/scores
    setup: |
      import torch

      inputs = torch.eye(2)
    steps:
      - id: why
        kind: read
        title: Why
        source: attention.causal:CausalAttention
        prose: |
          Because.
      - id: scores
        kind: run
        title: Scores
        prose: The first is `{scores[0, 0]:.4f}`.
        code: |
          scores = inputs @ inputs.T

          half = scores / 2
        show:
          - {name: scores, kind: score, axes: [query, key]}
          - name: rest
            expr: scores[:, 1:]
            kind: vector
            labels: {dim: [one]}
      - id: try
        kind: exercise
        exercise: one
        number: "9.1"
        title: One
        prose: Write `one()`.
        defines: [one]
        starter: |
          def one():
              pass
        solution: |
          def one():
              return 1
        hints: [It returns something., It returns a number., It returns 1.]
        why: One is one.
        mistakes:
          - id: two
            name: one more
            why: It is one.
            edits: [{find: return 1, replace: return 2}]
        context: "context = {}"
        probe: "got = {'one': one()}"
        checks:
          - name: one
            test: got.one == want.one
            fail: >-
              It is {got.one}, not
              {want.one}.
        limits:
          cpu: 2
    """
)


def parse(text: str) -> Lesson:
    return parse_lesson(text, "lesson.yaml", number=1, slug="scores", folder="here")


def findings(text: str) -> list[str]:
    """Return the findings in a text, as they are printed."""
    with pytest.raises(LessonError) as caught:
        parse(text)
    assert str(caught.value) == "\n".join(map(str, caught.value.findings))
    return [str(finding) for finding in caught.value.findings]


def replace_once(before: str, after: str, text: str = VALID) -> str:
    assert text.count(before) == 1, before
    return text.replace(before, after)


def write(folder: Path, text: str | bytes = VALID) -> Path:
    """Write a lesson file with this text into a new folder."""
    folder.mkdir(parents=True)
    file = folder / "lesson.yaml"
    if isinstance(text, bytes):
        file.write_bytes(text)
    else:
        file.write_text(text, encoding="utf-8")
    return file


# Valid lessons -------------------------------------------------------------------------------------------------------


def test_valid_lesson() -> None:
    lesson = parse(VALID)
    assert (lesson.id, lesson.number, lesson.folder, lesson.seed) == ("scores", 1, "here", 7)
    why, scores, task = lesson.steps
    assert isinstance(why, ReadStep)
    assert isinstance(scores, RunStep)
    assert [shown.expression for shown in scores.show] == ["scores", "scores[:, 1:]"]
    assert isinstance(task, ExerciseStep)
    assert [case.say for case in task.checks[0].fail] == ["It is {got.one}, not {want.one}."]
    assert (task.limits.cpu, task.limits.wall) == (2, 20)


def test_lesson_finds_its_steps() -> None:
    lesson = parse(VALID)
    assert lesson.index("scores") == 1
    assert lesson.step("try").kind == "exercise"
    assert [step.exercise for step in lesson.exercises] == ["one"]
    with pytest.raises(KeyError):
        lesson.step("nothing")


def test_side_steps_belong_to_the_main_step_before_them() -> None:
    half, rest = (
        f"  - {{id: {name}, kind: run, title: A, prose: B, code: x = 1, side: true}}\n" for name in ("half", "rest")
    )
    lesson = parse(replace_once("  - id: try\n", half + rest + "  - id: try\n"))
    for steps in (lesson, lesson_outline(lesson)):
        assert [step.id for step in steps.main_steps] == ["why", "scores", "try"]
        assert [step.id for step in steps.side_steps_of("scores")] == ["half", "rest"]
        assert steps.side_steps_of("rest") == steps.side_steps_of("scores")
        assert steps.side_steps_of("try") == ()
        assert [steps.main_step_of(step.id).id for step in steps.steps] == ["why", "scores", "scores", "scores", "try"]
        with pytest.raises(KeyError):
            steps.side_steps_of("nothing")


def test_lesson_is_immutable() -> None:
    with pytest.raises(ValueError, match="frozen"):
        parse(VALID).title = "Other"


@pytest.mark.parametrize("start", ["\ufeff", "# a comment\n", "---\n", "%YAML 1.1\n---\n"])
def test_start_of_a_file(start: str) -> None:
    assert parse(start + VALID).title == "Scores"


def test_windows_line_ends_are_accepted(tmp_path: Path) -> None:
    write(tmp_path / "01-scores", VALID.replace("\n", "\r\n").encode())
    assert load_lesson(tmp_path / "01-scores") == parse(VALID).model_copy(
        update={"folder": str(tmp_path / "01-scores")}
    )


def test_labels_may_be_an_alias() -> None:
    text = replace_once(
        "labels: {dim: [one]}", "labels: &names {dim: [one]}\n      - {name: half, kind: score, labels: *names}"
    )
    shown = parse(text).step("scores").model_dump()["show"]
    assert shown[1]["labels"] == shown[2]["labels"]


# One finding of each kind --------------------------------------------------------------------------------------------

STEP = "attention.causal:CausalAttention"
TOP = "Known are: title, goal, aliases, tokens, seed, setup, thumbnail, flow, limits, knobs, axes, constants, steps."
FORM = "Give '{}' a value of the right form."
MEND = " Mend the text at this place."
BRACE = "in a template (write {{ for a literal brace)." + MEND
AS_LIST = "Write it as [one, two], or each item on a line of its own after '- '."
KINDS = (
    "'kind: read', 'kind: run', 'kind: train', 'kind: exercise', 'kind: choice', "
    "'kind: predict', 'kind: point', 'kind: find' or 'kind: experiment'"
)
YAML = "Check the indentation and the quotes at this place."

Found = list[tuple[str, str]]
"""The position of each finding (the start of a text, or the line after it if it is a line break), and its message."""


def expected_findings(text: str, expected: Found) -> list[str]:
    """Return the expected findings as they are printed, with line and column."""
    lines = []
    for where, message in expected:
        assert text.count(where) == 1, where
        before = text[: text.index(where) + where.startswith("\n")]
        lines.append(f"lesson.yaml:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}: {message}")
    return lines


ONE: dict[str, tuple[str, str, Found]] = {
    "unknown key at the top": (
        "goal:",
        "gaol:",
        [
            ("gaol", "'gaol' is not known here. Did you mean 'goal'?"),
        ],
    ),
    "unknown key, nothing like it": ("seed: 7", "xyzzy: 7", [("xyzzy", f"'xyzzy' is not known here. {TOP}")]),
    "key that the loader sets": ("seed: 7", "folder: 7", [("folder", f"'folder' is not known here. {TOP}")]),
    "unknown key in a read step": (
        "source:",
        "sauce:",
        [("sauce", "'sauce' is not known here. Did you mean 'source'?")],
    ),
    "key of another kind of step": (
        "source: " + STEP,
        "code: x = 1",
        [("code: x", "'code' is not known here. Known are: id, title, prose, side, aliases, source, kind.")],
    ),
    "unknown key in a shown tensor": (
        "expr:",
        "exrp:",
        [
            ("exrp", "'exrp' is not known here. Did you mean 'expr'?"),
        ],
    ),
    "unknown key in a check": (
        "test: got",
        "tset: got",
        [
            ("tset", "'tset' is not known here. Did you mean 'test'?"),
        ],
    ),
    "unknown key in limits": ("cpu: 2", "gpu: 2", [("gpu", "'gpu' is not known here. Did you mean 'cpu'?")]),
    "key that is a number": ("seed: 7", "8: 7", [("7\nthumb", "'8': keys should be strings. " + FORM.format(8))]),
    "step without a kind": (
        "kind: read",
        "# kind: read",
        [("id: why", f"the step has no 'kind'. Add {KINDS}.")],
    ),
    "unknown kind of step": (
        "kind: read",
        "kind: raed",
        [
            (
                "id: why",
                "'raed' is not a kind of step. "
                "Use 'read', 'run', 'train', 'exercise', 'choice', 'predict', 'point', 'find', 'experiment'.",
            )
        ],
    ),
    "step without prose": (
        "prose: |\n      Because.",
        "# no prose",
        [("id: why", "'prose' is missing. Add 'prose: ...' here.")],
    ),
    "unknown kind of tensor": (
        "kind: score, ",
        "kind: scores, ",
        [("scores, axes", "'scores' is not allowed for 'kind'. Use 'score', 'weight', 'mask' or 'vector'.")],
    ),
    "mistyped axis": (
        "axes: [query, key]",
        "axes: [query, keys]",
        [("keys]", "'keys' does not name an axis. Did you mean 'key'?")],
    ),
    "axis that is not a word": (
        "axes: [query, key]",
        "axes: [query, Week 1]",
        [
            (
                "Week 1]",
                "'Week 1' does not name an axis. Use small letters: one word, for what the axis counts.",
            )
        ],
    ),
    "id that is none": (
        "id: why",
        "id: Why Not",
        [("Why Not", "'Why Not' is not an id. Use small letters, digits and single hyphens, like 'all-queries'.")],
    ),
    "empty title": (
        "title: Scores\ngoal",
        "title: ''\ngoal",
        [("''\ngoal", "'title' is empty. Write something there.")],
    ),
    "number in place of text": (
        "title: Why",
        "title: 3",
        [("3\n", "'title' is not a text: YAML takes '3' for a number or a date. Put it in quotes.")],
    ),
    "text in place of a number": (
        "seed: 7",
        "seed: seven",
        [
            (
                "seven",
                "'seed' is 'seven', and not a whole number. Give it a whole number.",
            )
        ],
    ),
    "text in place of a list": (
        "tokens: [Your, journey]",
        "tokens: Your journey",
        [("Your journey", "'tokens' is not a list. " + AS_LIST)],
    ),
    "limit that is too high": (
        "cpu: 2",
        "cpu: 2000",
        [("2000", "'cpu': input should be less than or equal to 600. " + FORM.format("cpu"))],
    ),
    "too few hints": (
        "[It returns something., It returns a number., It returns 1.]",
        "[It returns something., It returns 1.]",
        [("[It", "'hints' has 2 items and needs at least 3. Add what is missing.")],
    ),
    "setup that is not Python": (
        "inputs = torch.eye(2)",
        "inputs = = torch.eye(2)",
        [("\n  inputs", "'setup' is not Python: invalid syntax. Mend the code.")],
    ),
    "code that is not Python": (
        "half = scores / 2",
        "half = scores /",
        [("\n      half", "'code' is not Python: invalid syntax. Mend the code.")],
    ),
    "code that ends too early": (
        "half = scores / 2",
        "if half:",
        [
            (
                "\n      if half:",
                "'code' is not Python: expected an indented block after 'if' statement on line 3. Mend the code.",
            )
        ],
    ),
    "code in quotes that is not Python": (
        '"context = {}"',
        '"context = {"',
        [('"context', "'context' is not Python: '{' was never closed. Mend the code.")],
    ),
    "code that is nested too deeply": (
        '"context = {}"',
        "-" * 100_000 + "1",
        [("-" * 100_000, "'context' is not Python: it is nested too deeply. Mend the code.")],
    ),
    "expression that is a statement": (
        "expr: scores[:, 1:]",
        "expr: import x",
        [("import x", "'expr' is not Python: invalid syntax. Mend the code.")],
    ),
    "template with a single brace": (
        "prose: |\n      Because.",
        "prose: Because {of this.",
        [("Because {", f"expected '}}' before end of string {BRACE}")],
    ),
    "template of a check": (
        "It is {got.one}, not",
        "It is {got one}, not",
        [(">-", "'{got one}' is not a Python expression (write {{ for a literal brace). Mend the text at this place.")],
    ),
    "key given twice": ("seed: 7", "seed: 7\nseed: 8", [("seed: 8", "'seed' is given twice. Keep one of the two.")]),
    "key given twice in a step": (
        "kind: read",
        "kind: read\n    id: what",
        [("id: what", "'id' is given twice. Keep one of the two.")],
    ),
    "key given twice in braces": (
        "{name: scores, kind: score,",
        "{name: scores, kind: score, kind: mask,",
        [("kind: mask", "'kind' is given twice. Keep one of the two.")],
    ),
    "id of two steps": (
        "id: scores",
        "id: try",
        [
            ("scores/scores", "'scores/scores' is not a shown tensor. Use one of: try/rest, try/scores."),
            ("try\n    kind: exercise", "the id 'try' is used by two steps. Give one of them another id."),
        ],
    ),
    "source that is nowhere": (
        "CausalAttention",
        "Casual",
        [
            (
                "attention.causal:Casual",
                "there is no 'Casual' in attention.causal. Name it like 'attention.causal:CausalAttention'.",
            )
        ],
    ),
    "source outside the attention package": (
        STEP,
        "os:path",
        [("os:path", "there is no module 'os'. Name it like 'attention.causal:CausalAttention'.")],
    ),
    "shown name that is no variable": (
        "name: rest\n        expr: scores[:, 1:]",
        "name: scores.T",
        [("scores.T", "'scores.T' is not a variable. Add an 'expr' that gives the tensor.")],
    ),
    "tensor shown twice": (
        "name: rest",
        "name: scores",
        [("scores\n        expr", "'scores' is shown twice in one step. Give one of them another name.")],
    ),
    "solution that lacks names": (
        "defines: [one]",
        "defines: [two, one, three]",
        [
            (
                "|\n      def one():\n          return",
                "the solution does not define three, two. Define what 'defines' lists.",
            )
        ],
    ),
    "thumbnail that is nowhere": (
        "scores/scores",
        "scores/sores",
        [("scores/sores", "'scores/sores' is not a shown tensor. Use one of: scores/rest, scores/scores.")],
    ),
    "first step at the side": (
        "kind: read",
        "kind: read\n    side: true",
        [("true", "the first step of a lesson cannot be a side step. Take 'side' away, or move the step.")],
    ),
    "challenge and last step at the side": (
        "kind: exercise",
        "kind: exercise\n    challenge: yes\n    side: true",
        [
            ("true", "the challenge of a lesson cannot be a side step. Take 'side' or 'challenge' away."),
            ("true", "the last step of a lesson cannot be a side step. Take 'side' away, or move the step."),
        ],
    ),
    "flow that is nowhere": (
        "thumbnail: scores/scores",
        "thumbnail: scores/scores\nflow: sores",
        [("sores", "'sores' is not a step with code. Use one of: scores.")],
    ),
}


@pytest.mark.parametrize(("before", "after", "expected"), ONE.values(), ids=ONE)
def test_finding_in_a_lesson(before: str, after: str, expected: Found) -> None:
    text = replace_once(before, after)
    assert findings(text) == expected_findings(text, expected)


BAD_YAML: dict[str, tuple[str, str, str, str]] = {
    "a tab": (
        "    kind: read",
        "\tkind: read",
        "\tkind",
        "while scanning a plain scalar found a tab character that violates indentation. Indent with spaces, not tabs.",
    ),
    "a tab in a new line": (
        "seed: 7\n",
        "\n\tseed: 7\n",
        "\tseed",
        "while scanning for the next token found character that cannot start any token. Indent with spaces, not tabs.",
    ),
    "a colon in a text": (
        "title: Why",
        "title: Why: because",
        ": because",
        "mapping values are not allowed in this context. "
        "Put a text with a colon in quotes, or write it as a block after '|'.",
    ),
    "a field too far to the right": (
        "\ngoal: ",
        "\n  goal: ",
        ": You",
        "mapping values are not allowed in this context. Begin a field in the same column as those around it. "
        "Put a text with a colon in quotes, or write it as a block after '|'.",
    ),
    "a dash without a space": (
        "steps:\n  - ",
        "steps:\n  -",
        ": read\n    title: Why",
        "mapping values are not allowed in this context. Write a space after the dash.",
    ),
    "a text that begins with braces": (
        "title: Why",
        "title: {why} Why",
        "Why",
        "while parsing a block mapping did not find expected key. "
        "Put the whole text in quotes, or write it as a block after '|'.",
    ),
    "a text that begins with a star": (
        "title: Why",
        "title: *Why* of it",
        "* of it",
        "while scanning an alias did not find expected alphabetic or numeric character. "
        "Put a text that begins with a star in quotes, or write it as a block after '|'.",
    ),
    "wrong indentation": (
        "    kind: read",
        "   kind: read",
        "kind: read",
        f"while parsing a block collection did not find expected '-' indicator. {YAML}",
    ),
    "an open quote": (
        "  cpu: 2",
        '  cpu: "2',
        '"2',
        "while scanning a quoted scalar found unexpected end of stream. Close the quote that opens here.",
    ),
    "an open bracket": (
        "[Your, journey]",
        "[Your, journey",
        ": 7",
        "while parsing a flow sequence did not find expected ',' or ']'. Close the bracket, here or in the line above.",
    ),
    "two documents": (
        "seed: 7",
        "seed: 7\n--- # more",
        "--- # more",
        f"expected a single document in the stream but found another document. {YAML}",
    ),
    "an unknown alias": (
        "seed: 7",
        "seed: *seven",
        "*seven",
        f"found undefined alias. Put a text that begins with a star {QUOTE}",
    ),
    "a tag that would run code": (
        "seed: 7",
        "seed: !!python/object/apply:os.getpid []",
        "!!python",
        f"could not determine a constructor for the tag 'tag:yaml.org,2002:python/object/apply:os.getpid'. "
        f"Leave out the tag, or put a text that begins with an exclamation mark {QUOTE}",
    ),
    "a list as a key": (
        "seed: 7",
        "? [seed]\n: 7",
        "[seed]",
        f"while constructing a mapping found unhashable key. {YAML}",
    ),
    "a control character": (
        "Because.",
        "Becausé.\n      Because\x07.",
        "\n      Because\x07",
        "a character that YAML does not allow (control characters are not allowed). "
        "Delete it, or write it as an escape in double quotes.",
    ),
    "a date that is none": (
        "seed: 7",
        "seed: 2001-99-99",
        "title: Scores\ngoal",
        "a value cannot be read: month must be in 1..12. Put it in quotes.",
    ),
}


@pytest.mark.parametrize(("before", "after", "where", "message"), BAD_YAML.values(), ids=BAD_YAML)
def test_finding_in_text_that_is_not_yaml(before: str, after: str, where: str, message: str) -> None:
    text = replace_once(before, after)
    assert findings(text) == expected_findings(text, [(where, message)])


NO_LESSON = "1:1: a lesson is a mapping with title, goal and steps. Start the file with 'title: ...'."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: the file is empty. Start it with 'title: ...'."),
        ("\n\n# later\n", "1:1: the file is empty. Start it with 'title: ...'."),
        ("- title: Scores\n", NO_LESSON),
        ("Scores\n", NO_LESSON),
        ("null\n", NO_LESSON),
    ],
)
def test_finding_in_yaml_that_is_not_a_lesson(text: str, message: str) -> None:
    assert findings(text) == [f"lesson.yaml:{message}"]


@pytest.mark.parametrize("bracket", ["[", "- ", "{a: "])
def test_text_that_is_nested_too_deeply(bracket: str) -> None:
    (found,) = findings(bracket * 50_000)
    assert found == f"lesson.yaml:1:{100 * len(bracket) + 1}: more than 100 levels. Write it flatter."


def test_value_that_contains_itself() -> None:
    assert "this contains itself" in findings(VALID + "more: &loop [*loop]\n")[0]
    assert "this contains itself" in findings(VALID + "more: &loop {again: *loop}\n")[0]


def test_all_findings_are_reported_in_the_order_of_the_file() -> None:
    text = VALID
    for before, after in (
        ("goal:", "gaol:"),
        ("seed: 7", "seed: x\nseed: seven"),
        ("half = scores / 2", "half = scores /"),
        ("kind: score, ", "kind: scores, "),
        ('number: "9.1"', 'numbr: "9.1"'),
        ("It is {got.one}, not", "It is {got one}, not"),
    ):
        text = replace_once(before, after, text)
    expected = ["gaol", "seed: seven", "seven", "\n      half", "scores, axes", "numbr", ">-"]
    found = [":".join(line.split(":")[:3]) for line in findings(text)]
    assert found == [line.removesuffix(": ") for line in expected_findings(text, [(where, "") for where in expected])]


def test_invalid_steps_are_not_reported_as_too_few() -> None:
    text = "title: T\ngoal: G\nsteps:\n  - id: a\n"
    assert findings(text) == [f"lesson.yaml:4:5: the step has no 'kind'. Add {KINDS}."]


def test_lesson_without_steps() -> None:
    (found,) = findings("title: T\ngoal: G\nsteps: []\n")
    assert found.startswith("lesson.yaml:3:8: 'steps' has 0 items and needs at least 1")


# Files and folders ---------------------------------------------------------------------------------------------------


def findings_in(folder: Path, whole_course: bool = False) -> list[Finding]:
    with pytest.raises(LessonError) as caught:
        load_course(folder) if whole_course else load_lesson(folder)
    return caught.value.findings


def test_missing_file(tmp_path: Path) -> None:
    (tmp_path / "01-scores").mkdir()
    file = str(tmp_path / "01-scores" / "lesson.yaml")
    assert findings_in(tmp_path / "01-scores") == [
        Finding(file, 1, 1, "this file is missing", "Every lesson folder needs a lesson.yaml.")
    ]


def test_file_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "01-scores" / "lesson.yaml").mkdir(parents=True)
    (found,) = findings_in(tmp_path / "01-scores")
    assert (found.problem, found.remedy) == ("cannot be read: Is a directory", "Check the file and its rights.")


def test_file_that_is_a_pipe_or_a_device(tmp_path: Path) -> None:
    pipe, device = tmp_path / "01-pipe", tmp_path / "02-device"
    for folder in (pipe, device):
        folder.mkdir()
    os.mkfifo(pipe / "lesson.yaml")
    (device / "lesson.yaml").symlink_to("/dev/zero")
    for folder in (pipe, device):
        (found,) = findings_in(folder)
        assert (found.problem, found.remedy) == ("this is a pipe or a device", "Put a text file in its place.")


def test_file_that_is_too_large(tmp_path: Path) -> None:
    os.truncate(write(tmp_path / "01-scores"), 5 * 1024**2)
    (found,) = findings_in(tmp_path / "01-scores")
    assert (found.problem, found.remedy) == ("the file has more than 4 MiB", "Split it.")


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    file = write(tmp_path / "01-scores", replace_once("Because.", "Weil ä").encode("latin-1"))
    assert findings_in(tmp_path / "01-scores") == [
        Finding(str(file), 16, 12, "this is not UTF-8 text", "Save the file as UTF-8.")
    ]


@pytest.mark.parametrize("name", ["scores", "01_scores", "01-Scores", "-scores", "01-"])
def test_folder_with_an_invalid_name(tmp_path: Path, name: str) -> None:
    write(tmp_path / name)
    (found,) = findings_in(tmp_path / name)
    assert found.problem == f"'{name}' is not a lesson folder"
    assert "03-two-heads" in found.remedy


def test_lessons_are_sorted_by_number(tmp_path: Path) -> None:
    unique = VALID.replace("exercise: one", "exercise: no-{0}").replace("9.1", "9.{0}")
    for name in ("02-second", "1-third", "10-first"):
        write(tmp_path / name, unique.replace("{0}", name.partition("-")[0]))
    (tmp_path / "README.md").write_text("no lesson")
    (tmp_path / "drafts").mkdir()
    course = load_course(tmp_path)
    assert [(lesson.number, lesson.id) for lesson in course.lessons] == [(1, "third"), (2, "second"), (10, "first")]
    assert course.lesson("second") is course.lesson("2")
    assert course.exercise("no-02") == course.exercise("9.02") == course.exercise("second/try")
    for name in ("nothing", "", "1/2"):
        with pytest.raises(KeyError):
            course.exercise(name)
        with pytest.raises(KeyError):
            course.lesson(name)


def test_course_without_lessons(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        (found,) = findings_in(folder, whole_course=True)
        assert (found.file, found.problem) == (str(folder), "there are no lessons here")


def test_findings_of_all_files_are_reported_together(tmp_path: Path) -> None:
    write(tmp_path / "01-first", replace_once("goal:", "gaol:"))
    write(tmp_path / "02-second", replace_once("seed: 7", "seed: seven"))
    (tmp_path / "03-third").mkdir()
    found = findings_in(tmp_path, whole_course=True)
    assert [Path(one.file).parent.name for one in found] == ["01-first", "02-second", "03-third"]


def test_exercise_of_the_same_name_in_two_lessons(tmp_path: Path) -> None:
    write(tmp_path / "01-first")
    text = "# a line more\n" + VALID
    file = write(tmp_path / "02-second", text)
    unique = "Exercise ids and numbers are unique in the course."
    expected = [
        ("one\n    number", f"the exercise 'one' also stands in lesson 'first'. {unique}"),
        ('"9.1"', f"the exercise '9.1' also stands in lesson 'first'. {unique}"),
    ]
    found = [str(one).replace(str(file), "lesson.yaml") for one in findings_in(tmp_path, whole_course=True)]
    assert found == expected_findings(text, expected)


def test_lessons_with_the_same_number_or_name(tmp_path: Path) -> None:
    short = "title: T\ngoal: G\nsteps:\n  - {id: a, kind: read, title: A, prose: B}\n"
    for name in ("01-first", "1-second", "02-first"):
        write(tmp_path / name, short)
    problems = {Path(found.file).name: found.problem for found in findings_in(tmp_path, whole_course=True)}
    assert problems == {
        "1-second": "the number '1' is also that of '01-first'",
        "02-first": "the id 'first' is also that of '01-first'",
    }


# Questions -----------------------------------------------------------------------------------------------------------

ONE_OF_EACH = (QUESTIONS / "course" / "01-questions" / "lesson.yaml").read_text(encoding="utf-8")

QUESTION: dict[str, tuple[str, str, Found]] = {
    "no option is right": (
        "        right: true\n",
        "",
        [("- text: A very", "no option is right. Give exactly one of them 'right: true'.")],
    ),
    "two options are right": (
        "text: It stays",
        "right: true\n        text: It stays",
        [("- text: A very", "2 options are right. Give exactly one of them 'right: true'.")],
    ),
    "options that say the same": (
        "text: It stays `-inf`.",
        "text: Exactly 0.",
        [("Exactly 0.\n        why: Weights", "two options say the same. Give one of them another text.")],
    ),
    "a key that is called something else": (
        "asks: number",
        "ask: number",
        [
            ("ask: number", "'ask' is not known here. Did you mean 'asks'?"),
        ],
    ),
    "a wrong answer without its reason": (
        "why: That is the share of the second key.",
        "say: That is the share of the second key.",
        [
            ("is: torch.softmax(row, dim=-1)[1]", "'why' is missing. Add 'why: ...' here."),
            ("say: That", "'say' is not known here. Known are: is, why."),
        ],
    ),
    "a wrong answer that is right": (
        "is: torch.softmax(row, dim=-1)[1]",
        "is: torch.softmax(row, dim=-1)[0]",
        [
            (
                "torch.softmax(row, dim=-1)[0]\n        why",
                "this is the right answer. Give what a learner may answer instead.",
            )
        ],
    ),
    "a wrong answer that is there already": (
        "is: torch.softmax(row, dim=-1)[1]",
        "is: row[0] / row.sum()",
        [
            (
                "row[0] / row.sum()\n        why: That is the share",
                "this wrong answer stands here twice. Keep one of the two.",
            )
        ],
    ),
    "an answer that is no expression": (
        "answer: product.shape",
        "answer: product shape",
        [("product shape", "'answer' is not Python: invalid syntax. Mend the code.")],
    ),
    "a tensor that is not shown": (
        "on: weights",
        "on: weight",
        [("weight\n    blank", "'weight' is not shown in this step. Use one of: scores, weights.")],
    ),
    "revealed what is shown": (
        "- {name: product,",
        "- {name: weight,",
        [("weight, kind: vector, axes: [token", "'weight' is shown twice in one step. Give one of them another name.")],
    ),
    "unknown key of what is revealed": (
        "- {name: product, kind",
        "- {name: product, knid: x, kind",
        [("knid", "'knid' is not known here. Did you mean 'kind'?")],
    ),
    "a why that cannot be filled": (
        "why: That is the share of the second key.",
        "why: That is {the share of} the second key.",
        [("That is {", "'{the share of}' is not a Python expression (write {{ for a literal brace)." + MEND)],
    ),
    "a fact that an author asks for": (
        "why: That is the share of the second key.",
        "why: That is {row!j}.",
        [("That is {row", "'!j' is not a conversion, only !r and !s are, " + BRACE)],
    ),
}


@pytest.mark.parametrize(("before", "after", "expected"), QUESTION.values(), ids=QUESTION)
def test_finding_in_a_question(before: str, after: str, expected: Found) -> None:
    text = replace_once(before, after, ONE_OF_EACH)
    assert findings(text) == expected_findings(text, expected)


def test_questions_are_read() -> None:
    lesson = parse(ONE_OF_EACH)
    choice, number, shape, order, point = lesson.steps
    assert isinstance(choice, ChoiceStep)
    assert [option.right for option in choice.options] == [False, True, False]
    assert all(isinstance(step, PredictStep) for step in (number, shape, order))
    assert isinstance(point, PointStep)
    # YAML reads the bare word as a truth value.
    assert (
        point.on == parse(replace_once("on: weights", "'on': weights", ONE_OF_EACH)).step("largest").model_dump()["on"]
    )
    assert point.facts == ("weights == weights.max()", "weights.T == weights[2, 0]")
    assert isinstance(number, PredictStep)
    assert [shown.name for shown in number.tensors] == ["row", "shares"]
    assert [step.exercise for step in lesson.exercises] == ["masking", "share", "sizes", "ranking", "largest"]
    assert [name for name, _ in lesson.parts] == ["setup", "masking", "share", "sizes", "ranking", "largest"]


# Steps in files of their own -----------------------------------------------------------------------------------------

SHORT = "title: T\ngoal: G\nsteps:\n  - {id: a, kind: read, title: A, prose: B}\n"
INCLUDING = SHORT + "  - include: steps/b.yaml\n"
STEP_FILE = "id: b\nkind: read\ntitle: B\nprose: C\n"


def write_including_lesson(folder: Path, step: str | None = STEP_FILE, lesson: str = INCLUDING) -> Path:
    """Write a lesson that includes a step from a file."""
    write(folder, lesson)
    (folder / "steps").mkdir()
    if step is not None:
        (folder / "steps" / "b.yaml").write_text(step, encoding="utf-8")
    return folder


def test_a_step_may_be_in_a_file_of_its_own(tmp_path: Path) -> None:
    lesson = load_lesson(write_including_lesson(tmp_path / "01-first"))
    assert [(step.id, step.title) for step in lesson.steps] == [("a", "A"), ("b", "B")]


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("id: b\nkind: raed\n", "1:1: 'raed' is not a kind of step. Use 'read', 'run',"),
        ("id: b\nkind: read\ntitle: B\nprose: '{'\n", "4:8: Single '{' encountered in format string in a template"),
        ("id: b\nkind: read\ntitle: B\nproes: C\nprose: C\n", "4:1: 'proes' is not known here. Did you mean 'prose'?"),
        ("id: b\nid: c\nkind: read\ntitle: B\nprose: C\n", "2:1: 'id' is given twice."),
        ("id: b\nkind: run\ntitle: B\nprose: C\ncode: |\n  x = 1\n  x =\n", "7:1: 'code' is not Python: "),
        ("id: a\nkind: read\ntitle: B\nprose: C\n", "1:5: the id 'a' is used by two steps."),
        ("id: b: c\n", "1:6: mapping values are not allowed"),
        ("", "1:1: the file is empty."),
    ],
)
def test_finding_in_an_included_file(tmp_path: Path, step: str, found: str) -> None:
    folder = write_including_lesson(tmp_path / "01-first", step)
    message = str(findings_in(folder)[0])
    assert message.startswith(f"{folder / 'steps' / 'b.yaml'}:{found}")


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("include: steps/c.yaml", "there is no file steps/c.yaml"),
        ("{include: steps/b.yaml, id: c}", "this is not something to include"),
        ("include: ../b.yaml", "this is not something to include"),
        ("include: /etc/hostname", "this is not something to include"),
        ("include: [steps/b.yaml]", "this is not something to include"),
    ],
)
def test_invalid_include(tmp_path: Path, entry: str, problem: str) -> None:
    folder = write_including_lesson(tmp_path / "01-first", lesson=SHORT + f"  - {entry}\n")
    (found,) = findings_in(folder)
    assert (Path(found.file).name, found.line, found.problem) == ("lesson.yaml", 5, problem)


def test_a_file_with_an_exercise_that_no_step_includes(tmp_path: Path) -> None:
    folder = write_including_lesson(tmp_path / "01-first")
    (folder / "c.yaml").write_text("id: c\nkind: read\ntitle: C\nprose: Look.\n")
    (found,) = loader.files_left_out(load_lesson(folder))
    assert (Path(found.file).name, found.problem) == ("c.yaml", "the lesson does not include this file")
    with (folder / "lesson.yaml").open("a") as file:
        file.write("  - include: c.yaml\n")
    assert list(loader.files_left_out(load_lesson(folder))) == []


def test_included_name_that_is_too_long(tmp_path: Path) -> None:
    folder = write_including_lesson(tmp_path / "01-first", lesson=SHORT + f"  - include: {'x' * 300}\n")
    (found,) = findings_in(folder)
    assert found.problem == "cannot be read: File name too long"


def test_the_folder_of_a_lesson_in_place_of_its_course(tmp_path: Path) -> None:
    (found,) = loader.read_course(write_including_lesson(tmp_path / "01-first"))[1]
    assert found.remedy == "This is the folder of a lesson. Name the folder of its course, in which it lies."


def test_an_included_file_that_includes_itself(tmp_path: Path) -> None:
    folder = write_including_lesson(tmp_path / "01-first", "include: steps/b.yaml\n")
    (found,) = findings_in(folder)
    assert (Path(found.file).name, found.problem) == ("b.yaml", "a file that is included includes no other")


def test_a_text_without_a_folder_cannot_include() -> None:
    with pytest.raises(LessonError, match="this is not something to include"):
        parse_lesson(INCLUDING, "lesson.yaml", number=1, slug="scores")


def test_an_included_exercise_that_another_lesson_has_too(tmp_path: Path) -> None:
    write(tmp_path / "01-first")
    exercise = dedent(VALID[VALID.index("  - id: try") :].replace("  - id", "    id", 1))
    folder = write_including_lesson(tmp_path / "02-second", exercise)
    found = findings_in(tmp_path, whole_course=True)
    assert [(one.file, one.line) for one in found] == [(str(folder / "steps" / "b.yaml"), line) for line in (3, 4)]


# The library of mistakes ---------------------------------------------------------------------------------------------

MISTAKES = dedent(
    """\
    - id: two
      name: two instead of one
      why: It is one.
      edits: [{find: return 1, replace: return 2}]
    - id: three
      name: three instead of one
      seen: It is {got.one}.
      why: It is one.
      edits:
        - {find: return 1, replace: return 3}
        - [{find: return, replace: give}, {find: give 1, replace: return 3}]
    """
)
OWN = VALID[VALID.index("      - id: two") : VALID.index("    context:")]


def load_naming(mistakes: str, library: str = MISTAKES, folder: Path | None = None) -> Lesson:
    """Load the valid lesson with an exercise that names mistakes of a library."""
    assert folder is not None
    (folder / "course" / "mistakes").mkdir(parents=True)
    (folder / "course" / "mistakes" / "some.yaml").write_text(library, encoding="utf-8")
    write(folder / "course" / "01-scores", VALID.replace("mistakes:\n" + OWN, f"mistakes: {mistakes}\n"))
    return load_lesson(folder / "course" / "01-scores")


def mistakes_of(lesson: Lesson) -> list[tuple[str, str, int]]:
    task = lesson.step("try")
    assert isinstance(task, ExerciseStep)
    return [(mistake.id, mistake.name, len(mistake.edits)) for mistake in task.mistakes]


def test_mistakes_are_found_by_id(tmp_path: Path) -> None:
    lesson = load_naming("[three, two]", folder=tmp_path)
    assert mistakes_of(lesson) == [("three", "three instead of one", 2), ("two", "two instead of one", 1)]


def test_fields_of_a_library_mistake_can_be_replaced(tmp_path: Path) -> None:
    lesson = load_naming("[{id: two, name: another, code: x = 1}, {id: own, name: new, why: So.}]", folder=tmp_path)
    assert mistakes_of(lesson) == [("two", "another", 1), ("own", "new", 0)]


@pytest.mark.parametrize(
    ("mistakes", "message"),
    [
        ("[tow]", "the mistake 'tow' is not in the library. Did you mean 'two'?"),
        ("[xyzzy]", "the mistake 'xyzzy' is not in the library. Add it to the library, or give it a name here."),
        ("[{id: xyzzy, why: So.}]", "the mistake 'xyzzy' is not in the library. Add it"),
        ("[]", "'mistakes' has 0 items and needs at least 1"),
        ("two", "'mistakes' is not a list"),
    ],
)
def test_mistake_that_is_not_in_the_library(tmp_path: Path, mistakes: str, message: str) -> None:
    with pytest.raises(LessonError) as caught:
        load_naming(mistakes, folder=tmp_path)
    found = next(found for found in caught.value.findings if message in str(found))
    assert (Path(found.file).name, found.line) == ("lesson.yaml", VALID[: VALID.index("mistakes:")].count("\n") + 1)


@pytest.mark.parametrize(
    ("library", "message"),
    [
        ("a: 1\n", "some.yaml:1:1: this is not a list of mistakes. Start every one with '- id: ...'."),
        (MISTAKES + "- id: two\n  name: x\n  why: y\n", "some.yaml:12:3: the mistake 'two' is given twice."),
        (MISTAKES + "- id: four\n  name: x\n", "some.yaml:12:3: 'why' is missing. Add 'why: ...' here."),
        (
            MISTAKES + "- {id: four, name: x, why: y, edit: 3}\n",
            "some.yaml:12:31: 'edit' is not known here. Did you mean 'edits'?",
        ),
        (MISTAKES + "- id: four\n  id: five\n  name: x\n  why: y\n", "some.yaml:13:3: 'id' is given twice."),
        (MISTAKES.replace("{got.one}", "{got one}"), "some.yaml:7:9: '{got one}' is not a Python expression"),
        ("- id: [\n", "some.yaml:1:1: while parsing a flow node"),
    ],
)
def test_finding_in_the_library(tmp_path: Path, library: str, message: str) -> None:
    with pytest.raises(LessonError) as caught:
        load_naming("[two]", library, folder=tmp_path)
    assert any(message in str(found) for found in caught.value.findings), str(caught.value)


def test_the_library_of_the_tutor_loads() -> None:
    assert {"not-transposed"} <= set(load_library())


def test_the_course_loads() -> None:
    lessons = load_course().lessons
    assert [f"{lesson.number:02}-{lesson.id}" for lesson in lessons] == sorted(
        path.name for path in COURSE.iterdir() if path.is_dir()
    )
    assert [lesson.number for lesson in lessons] == list(range(len(lessons)))


# Any damage ----------------------------------------------------------------------------------------------------------

SOURCES = {
    path.name: (path / "lesson.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    for path in sorted(COURSE.iterdir())
    if (path / "lesson.yaml").is_file()
} | {"made": VALID.splitlines(keepends=True), "questions": ONE_OF_EACH.splitlines(keepends=True)}
ODD_LINES = (
    "\n", "\t\n", "  \n", "- \n", "-\n", ":\n", "? x\n", "title: T\n", "    kind: run\n", "  - id: why\n", "}\n", "]\n",
    "    prose: {x}\n", "'\n", '"\n', "|\n", "    code: |\n", "      x = (\n", "      '''\n", "---\n", "...\n", 
    "&a\n", "*a\n", "!!set\n", "<<: 3\n", "steps:\n", "steps: 3\n", "    show: [1, {}]\n", "    limits: {cpu: 0}\n",
    "{{\n", "%\n",
)  # fmt: skip


@st.composite
def damaged_lessons(draw: st.DrawFn) -> str:
    """Draw a lesson with a few lines deleted, doubled, moved, cut or replaced."""
    lines = list(SOURCES[draw(st.sampled_from(sorted(SOURCES)))])
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        other = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["delete", "double", "swap", "cut", "odd", "character", "rest"])):
            case "delete":
                del lines[at]
            case "double":
                lines.insert(other, lines[at])
            case "swap":
                lines[at], lines[other] = lines[other], lines[at]
            case "cut":
                lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
            case "odd":
                lines[at] = draw(st.sampled_from(ODD_LINES))
            case "character":
                place = draw(st.integers(0, len(lines[at])))
                lines[at] = lines[at][:place] + draw(st.characters(codec="utf-8")) + lines[at][place:]
            case "rest":
                del lines[at + 1 :]
        if not lines:
            break
    return "".join(lines)


@settings(max_examples=int(os.environ.get("LOAD_EXAMPLES", "150")), deadline=None)
@given(damaged_lessons())
@example("".join(SOURCES["made"][:23]))
def test_damage_is_harmless_or_found_within_the_file(text: str) -> None:
    try:
        parse(text)
    except LessonError as caught:
        found = caught.findings
    else:
        return
    assert found
    # splitlines splits at the same line ends as YAML.
    lines = max(1, len(text.splitlines()))
    for finding in found:
        assert 1 <= finding.line <= lines, (str(finding), lines)
        assert finding.column >= 1
        assert finding.problem
        assert finding.remedy.endswith((".", "?"))
        assert "\n" not in str(finding)


def test_findings_have_a_fixed_order() -> None:
    one = Finding("f", 1, 1, "b", "r")
    assert loader.sorted_findings([one, Finding("f", 1, 1, "a", "r"), one]) == [Finding("f", 1, 1, "a", "r"), one]
