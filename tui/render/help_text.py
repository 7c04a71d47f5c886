"""What F1 says: the keys of where the learner is, in words."""

from __future__ import annotations

MAP = """\
Course map

up, down        choose a lesson
enter           open it; on the first line: go on where you were
c               the challenge of the lesson: who passes it may pass over the rest
v               the next exercise that is due for review
f2              glossary and references
x               write your progress and code to a file
q               quit; everything is kept

●  done   ◐  started   »  skipped   ↻  due for review   ·  new
(without Unicode: x, o, -, !, .)
"""

LESSON = """\
A step of a lesson: text, code, and the matrices that the code made

n or space      next step             b      previous step
tab             next pane: code, then each matrix
m or escape     course map            q      quit; everything is kept
r               run the step again    s      stop what is running
p               a Python prompt with the variables of this step
f2              glossary: the terms of this step, and all others

In a matrix
arrows          move the cursor; the line below reads the cell out
home, end       first, last column; page up, page down; ctrl: first, last cell
[ ] and { }     previous and next head, and text of the batch (leading axes)
t               what rows amount to: greatest values, entropy; again: the cell
o               overview of a large matrix: greatest of blocks, mean, cells
- and + (enter) further away, as far as all heads at once, and nearer
v               overview in numbers, or in shades, of which more fit
In bars the arrows go from bar to bar; in a picture of memory they walk the
tensor, and the cursor shows where each number lies
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

TRAINING = """\
A training: start it, and watch the numbers while the model learns

g               start it; let it wait; let it go on       s      stop it
, and .         previous, next picture                    < >    first, newest
                Who looks back stays there while it goes on; > follows it again.
tab             next pane: code of the loop, then each matrix
n or space      next step             b      previous step (it stops then)
m or escape     course map            q      quit

In a matrix
arrows          move the cursor; the line below reads the cell out
[ ] and { }     previous and next head, and layer or text (leading axes)
- and + (enter) further away, as far as all heads at once, and nearer
o, v            overview of blocks; in numbers, or in shades
t               what rows amount to

w               change something, then train with it: g
p               a Python prompt, with the trained model

Pictures are those that ship with the course ("recorded") until you train here.
What you have trained is kept, and the next steps use it. Of a training that
was stopped nothing is kept but its pictures, until you leave the tutor.
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
f5 or ctrl+r    check                  f6     run it, and look at its matrices
f3              next hint; when all are read, give up; after passing, why
d               where the first result differs (not in the editor)
ctrl+t          fold task and hints    f4     next pane: task, verdict, editor
f2              glossary
f9              back to the starter (again: your code, until you change it)
f8, f7          next, previous step    s      stop the check (not in the editor)
ctrl+o          your own editor: $VISUAL or $EDITOR

In the editor
tab, shift+tab  indent, dedent what is selected
ctrl+z, ctrl+y  undo, redo             ctrl+/ comment out

Your code is kept as you type. The check runs it on inputs made for it alone.
An exercise that you pass over is marked skipped.
"""

QUESTION = """\
A question about the run: answer it, and see whether you were right

up, down, a, b  choose; enter: answer   (of several answers)
enter           check what you typed; or answer with the cell under the cursor
f3              next hint; when all are read, give up and see the answer
tab             next pane: the answer, matrices, code
e               how the number under the cursor was made
escape          leave the line to type in: n, b, m, q work then
f8, f7          next, previous step     r      run the step again
f2              glossary

What you answer is kept. A question that you pass over is marked skipped.
"""

SCRATCH = """\
Your code, run on the lesson's own numbers: not judged, not kept

tab             next pane: code, then each matrix
arrows          move the cursor; the line below reads the cell out
enter           how the number under the cursor was made
f6 or escape    back to the editor     f5     check
"""

DIFFERENCE = """\
The first result of your code that differs from the model answer's

d or tab        yours, expected, yours minus expected; a dot marks wrong cells
arrows          move the cursor, in all of them
[ ] and { }     previous and next head, and text of the batch (leading axes)
escape          back to the editor
"""

SOLUTION = """\
The model answer beside yours. Your code stays as it is

up, down        scroll                 escape back to the exercise
u               take back giving up, and hide it again
n               next step              m      course map

-  yours   +  the model answer   =  both have this result
"""

GLOSSARY = """\
The terms of the course, those of the step that you come from first

letters         search                  up, down  choose
enter           go to the step that introduces the term
tab             what to read on: papers by title, authors, year; again: the terms
f2 or escape    back to where you were
"""

TEXTS = {
    "map": MAP,
    "lesson": LESSON,
    "training": TRAINING,
    "play": PLAY,
    "exercise": EXERCISE,
    "question": QUESTION,
    "scratch": SCRATCH,
    "difference": DIFFERENCE,
    "solution": SOLUTION,
    "glossary": GLOSSARY,
}

ANY_KEY = "\nAny key closes this."
SCROLL = "Down and up turn the pages of this; any other key closes it.\n\n"
