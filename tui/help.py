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

In a matrix
arrows          move the cursor; the line below reads the cell out
home, end       first and last column; with ctrl: first and last cell
page up, down   by as many rows as you see
[ and ]         previous and next head (or whichever axis comes before rows and columns)
{ and }         previous and next text of the batch (the first axis)
In text or code that is longer than its place: arrows, page up, page down

"recorded" beside a matrix: the numbers of an earlier run, shown until yours is done. "live": yours.
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
