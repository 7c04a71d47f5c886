"""What is no Python, where Python's own message is obscure."""

from __future__ import annotations

import re
from collections.abc import Callable

from lessons.worker.advice.exception_rules import Match, rule
from lessons.worker.advice.scene import Scene

_line: Callable[[SyntaxError], object] = SyntaxError.__dict__["lineno"].__get__
_file: Callable[[SyntaxError], object] = SyntaxError.__dict__["filename"].__get__

BLOCK = r"(?:if|elif|else|for|while|def|class|with|try|except|finally|async)\b"
OTHER_LANGUAGES = (
    (re.compile(r"&&"), "Python writes `and` for `&&`."),
    (re.compile(r"\|\|"), "Python writes `or` for `||`."),
    (re.compile(r"(\w+)\s*\+\+"), "Python has no `++`: write `{0} += 1`."),
    (re.compile(r"(\w+)\s*--\s*$"), "Python has no `--`: write `{0} -= 1`."),
    (re.compile(r"^\s*(?:else\s+if|elseif)\b"), "Python writes `elif` for that."),
    (re.compile(r"^\s*!|\s!\s*\w"), "Python writes `not` for `!`."),
    (re.compile(r"=\s+="), "Between two `=` of `==` there is no blank; a value is given with one `=`."),
    (re.compile(r"@\s+="), "There is no blank in `@=`."),
)
KEYWORD = re.compile(
    r"^\s*(lambda|class|def|in|is|not|or|and|from|import|global|pass|return|with|yield|del|as|if|for|while|try)\s*=[^=]"
)
TYPED = {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "−": "-", "×": "*", "·": "*", "÷": "/"}
MEANT = {"∞": "torch.inf", "√": "** 0.5", "≤": "<=", "≥": ">=", "≠": "!=", "→": "->", "²": "** 2", "…": "..."}
QUOTES = ("'", '"')
QUOTE = "a plain quotation mark"


def line_of(scene: Scene, back: int = 0) -> str:
    """The line with the mistake, or one before it; nothing for code of another file."""
    error = scene.error
    if not isinstance(error, SyntaxError) or _file(error) != scene.filename:
        return ""
    number = _line(error)
    lines = scene.source.splitlines()
    place = number - 1 - back if type(number) is int else -1
    return lines[place] if 0 <= place < len(lines) else ""


def bare(line: str) -> str:
    """A line without its comment and what is in quotation marks."""
    return re.sub(r"#.*", "", re.sub(r"'[^']*'|\"[^\"]*\"", "''", line)).rstrip()


@rule(SyntaxError, r"^invalid syntax(?: \(|$)", r"^invalid syntax\. Perhaps you forgot a comma\?")
def invalid(scene: Scene, match: Match) -> str | None:
    """`invalid syntax`: look for what people write that is none."""
    line = bare(line_of(scene))
    for pattern, sentence in OTHER_LANGUAGES:
        if found := pattern.search(line):
            return sentence.format(*found.groups())
    if found := KEYWORD.search(line):
        return f"`{found[1]}` is a word of Python itself: choose another name."
    if re.match(rf"\s*{BLOCK}", line) and not line.endswith(":") and ":" not in line:
        return "A line that opens a block ends with a colon."
    if found := re.match(r"\s*def\s+\w+\s*\(([^)]*)\)", line):
        missing = re.search(r"(\w+)\s+(\w+)", found[1])
        return f"A comma is missing: `{missing[1]}, {missing[2]}`." if missing else None
    if re.match(r"\s*(?:else|elif|except|finally)\b", line):
        return "It needs an `if` (or `for`, `while`, `try`) above it with the same indentation."
    if found := re.search(r"(?:^|[^=!<>])(=|[-+*/%@&|<>]|\band|\bor|\bnot|\bin)$", line):
        return f"Something is missing after `{found[1]}` at the end of the line."
    if re.search(r"lambda[^:]*:\s*return\b", line):
        return "A lambda gives its expression back by itself: leave out `return`."
    return None


@rule(SyntaxError, r"^expected ':'")
def colon(scene: Scene, match: Match) -> str | None:
    """A block without a colon."""
    word = re.match(r"\s*(\w+)", line_of(scene))
    return f"The line with `{word[1]}` must end with a colon, before the indented block." if word else None


@rule(SyntaxError, r"^Maybe you meant '==' or ':='|^invalid syntax\. Maybe you meant '=='")
def equals(scene: Scene, match: Match) -> str | None:
    """`if x = 1:`."""
    return "`=` gives a name a value; `==` asks whether two values are equal."


@rule(SyntaxError, r"^invalid character '(.)'")
def character(scene: Scene, match: Match) -> str | None:
    """Characters that a word processor writes."""
    sign = match[1]
    if sign in TYPED:
        return f"Type it on the keyboard: {QUOTE if TYPED[sign] in QUOTES else f'`{TYPED[sign]}`'}."
    return f"Python writes `{MEANT[sign]}` for it." if sign in MEANT else None


@rule(TabError, r"")
def tabs(scene: Scene, match: Match) -> str | None:
    """Tabs and spaces."""
    return "Indent with spaces only, four for each step."


@rule(IndentationError, r"^(unexpected indent|unindent does not match|expected an indented block)")
def indentation(scene: Scene, match: Match) -> str | None:
    """A line too far to the right or to the left."""
    if match[1] == "unexpected indent":
        before = bare(line_of(scene, 1))
        colon = re.match(rf"\s*{BLOCK}", before) and not before.endswith(":")
        if colon:
            return "The line before opens a block and must end with a colon."
        return "This line starts further right than the one before, though that opens no block."
    if match[1].startswith("unindent"):
        return "Its start must stand exactly below the start of an earlier line."
    return "What belongs to it starts four spaces further right."


@rule(SyntaxError, r"^unterminated (triple-quoted )?(?:f-)?string literal")
def string(scene: Scene, match: Match) -> str | None:
    """A text without an end."""
    marks = "the three quotation marks" if match[1] else "the quotation mark"
    return f"At its end {marks} of its beginning {'are' if match[1] else 'is'} missing."


@rule(SyntaxError, r"^'(return|yield|await)' outside (?:async )?function")
def outside_function(scene: Scene, match: Match) -> str | None:
    """`return` to the left of its function."""
    return f"`{match[1]}` belongs into a `def`: indent the line as deep as the others of the function."


@rule(SyntaxError, r"^invalid decimal literal")
def digit(scene: Scene, match: Match) -> str | None:
    """A name that starts with a digit."""
    return "A name cannot start with a digit."


@rule(SyntaxError, r"^positional argument follows keyword argument")
def positional(scene: Scene, match: Match) -> str | None:
    """`f(a=1, 2)`."""
    return "Put the arguments without a name first."
