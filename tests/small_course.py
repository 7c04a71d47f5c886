"""A course by somebody else for tests: one lesson with a step that runs, an exercise, and a step to read."""

from __future__ import annotations

from pathlib import Path

DESCRIPTION = """\
id: rows
title: Reading rows
about: What a row of a table says.
format: 1
authors: [A. Teacher]
license: CC BY 4.0
"""

LESSON = """\
title: The first row
goal: You will be able to read a row.
setup: import torch
steps:
  - kind: run
    id: table
    title: A table
    prose: "Look at the table. Its numbers add up to `{table.sum():.0f}`."
    code: table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    show: [{name: table, kind: vector}]
  - include: exercises/doubling.yaml
  - kind: read
    id: remember
    title: What to remember
    prose: A row is read from left to right.
"""

EXERCISE = """\
kind: exercise
id: doubling
exercise: doubling
title: Twice as much
prose: Write `double(x)`.
defines: [double]
starter: |
  def double(x):
      return x
solution: |
  def double(x):
      return 2 * x
hints: [Multiply., By how much?, By two.]
why: It is twice as much.
context: "context = {'x': torch.randn(*pick(2, 2, 6))}"
probe: "got = {'out': double(context.x)}"
checks:
  - {name: twice, test: "close(got.out, want.out)", fail: "The sum is {got.out.sum():.2f}."}
mistakes: [squared]
"""

MISTAKES = """\
- id: squared
  name: squared
  why: A square is no double.
  edits: [{find: 2 *, replace: x *}]
"""

GLOSSARY = """\
terms:
  - {term: table, means: Numbers in rows and columns., step: first-row/table}
"""

FILES = {
    "course.yaml": DESCRIPTION,
    "glossary.yaml": GLOSSARY,
    "mistakes/rows.yaml": MISTAKES,
    "01-first-row/lesson.yaml": LESSON,
    "01-first-row/exercises/doubling.yaml": EXERCISE,
}
"""The files of the course by their paths in its folder."""

ANSWER = b"def double(x):\n    return x + x\n"
"""A right answer to its exercise."""


def write_course(folder: Path, **changed: str) -> Path:
    """Write the course into a new folder, with other texts for files of these names without their ends; return it."""
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(changed.get(file.stem, text), encoding="utf-8")
    return folder
