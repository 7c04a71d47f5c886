"""What F1 says: the keys of where the learner is, in words."""

from __future__ import annotations

MAP = """\
Course map

up, down        choose a lesson
enter           open it; on the first line: go on where you were
x               write your progress and code to a file
q               quit; everything is kept

●  done    ◐  started    ·  new     (x, o and . without Unicode)
"""

LESSON = """\
A step of a lesson: text, code, and the matrices that the code made

n or space      next step             b      previous step
tab             next pane: code, then each matrix
m or escape     course map            q      quit; everything is kept
r               run the step again    s      stop what is running
p               a Python prompt with the variables of this step

In a matrix
arrows          move the cursor; the line below reads the cell out
home, end       first, last column; page up, page down; ctrl: first, last cell
[ ] and { }     previous and next head, and text of the batch (leading axes)
t               what rows amount to: greatest values, entropy; again: the cell
o               overview of a large matrix: greatest of blocks, mean, cells
- and + (enter) further away, as far as all heads at once, and nearer
v               overview in numbers, or in shades, of which more fit
In text or code that is longer than its place: arrows, page up, page down

Every number explains itself
enter           how the number under the cursor was made. Then:
  arrows        choose one of the numbers that it was made from
  enter         how that one was made; backspace: back to the number before
  tab           to the matrix: the explanation goes with the cursor
  escape        close

What if
w               change the number under the cursor, the words, the mask, ...
  up, down      choose what to change; left, right: change it
  enter, digit  type a value; delete: as it was
  d             after, difference, before; a dot marks changed cells
  ctrl+z        undo; ctrl+y: redo
  escape        everything as it was; until then changes hold in the lesson

"recorded" beside a matrix: numbers of an earlier run, until yours is done.
"""

PLAY = """\
A Python prompt with the variables of the step

enter           run it; a line that is not complete goes on (an empty line ends it)
up, down        what you entered earlier      tab    complete a name
f4              to the matrices of the last result and back; there:
  arrows        move the cursor               enter  how the number was made
escape          stop what is running; else back to the step, which is as it was

The value at the end is shown, or the tensors that were made. torch is imported if the lesson has it.
"""

EXERCISE = """\
An exercise: write code, have it checked

enter           go to the editor       escape leave it: n, b, m, q work then
f5 or ctrl+r    check                  f3     next hint
f2              fold task and hints    f4     next pane: task, verdict, editor
f9              back to the starter (again: your code, until you change it)
f8              next step              f7     previous step
ctrl+z, ctrl+y  undo, redo             s      stop the check (not in the editor)

Your code is kept as you type. The check runs it on inputs that you have not seen.
"""

ANY_KEY = "\nAny key closes this."
SCROLL = "Down and up turn the pages of this; any other key closes it.\n\n"
