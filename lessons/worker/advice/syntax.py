"""Advice on syntax errors whose message is obscure."""

from __future__ import annotations

import re
from collections.abc import Callable

from lessons.worker.advice.exception_rules import Match, rule
from lessons.worker.advice.scene import Scene

_line: Callable[[SyntaxError], object] = SyntaxError.__dict__["lineno"].__get__
_file: Callable[[SyntaxError], object] = SyntaxError.__dict__["filename"].__get__

COMMAND = re.compile(r"^\s*(?:(!)\s*(?:pip|conda|apt|ls|cd|cat|wget|git|python)\b|(%)%?\w)")
FENCE = re.compile(r"^\s*(?:```|~~~)")
PROMPT = re.compile(r"^\s*(>>>|\.\.\.|(?:In|Out) ?\[\d*\]:)")
HELP = re.compile(r"^\s*\??[\w.]+\s*\?\??$|^\s*\?[\w.]+$")

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
TYPOGRAPHIC = {
    "“": '"',
    "”": '"',
    "„": '"',
    "‘": "'",
    "’": "'",
    "–": "-",
    "—": "-",
    "−": "-",
    "×": "*",
    "·": "*",
    "÷": "/",
}
SYMBOLS = {"∞": "torch.inf", "√": "** 0.5", "≤": "<=", "≥": ">=", "≠": "!=", "→": "->", "²": "** 2", "…": "..."}
QUOTES = ("'", '"')
QUOTE = "a plain quotation mark"


def source_line(scene: Scene, back: int = 0) -> str:
    """Return the line with the mistake, or one that is `back` lines before it; "" for code of a different file."""
    error = scene.error
    if not isinstance(error, SyntaxError) or _file(error) != scene.filename:
        return ""
    number = _line(error)
    lines = scene.source.splitlines()
    index = number - 1 - back if type(number) is int else -1
    return lines[index] if 0 <= index < len(lines) else ""


def without_comments_and_strings(line: str) -> str:
    """Return a line without its comment and with empty string literals."""
    return re.sub(r"#.*", "", re.sub(r"'[^']*'|\"[^\"]*\"", "''", line)).rstrip()


@rule(SyntaxError, r"^invalid syntax(?: \(|$)", r"^invalid syntax\. Perhaps you forgot a comma\?")
def invalid_syntax(scene: Scene, match: Match) -> str | None:
    """Explain `invalid syntax` by common mistakes, such as operators of other languages."""
    line = without_comments_and_strings(source_line(scene))
    if sentence := of_notebook(line):
        return sentence
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


def of_notebook(line: str) -> str | None:
    """Explain what notebooks, prompts and texts have around code."""
    if found := COMMAND.search(line):
        here = " torch is here already." if "torch" in line else ""
        return f"A line with `{found[1] or found[2]}` is a command of a notebook: leave it out.{here}"
    if FENCE.search(line):
        return "These marks fence off code in a text: leave them out."
    if found := PROMPT.search(line):
        return f"`{found[1]}` is the prompt of an interpreter: leave it out, and what it printed too."
    return "A question mark asks for help in a notebook: leave the line out." if HELP.search(line) else None


@rule(SyntaxError, r"^expected ':'")
def missing_colon(scene: Scene, match: Match) -> str | None:
    """Explain a block without a colon."""
    word = re.match(r"\s*(\w+)", source_line(scene))
    return f"The line with `{word[1]}` must end with a colon, before the indented block." if word else None


@rule(SyntaxError, r"^Maybe you meant '==' or ':='|^invalid syntax\. Maybe you meant '=='")
def single_equals(scene: Scene, match: Match) -> str | None:
    """Explain `if x = 1:`."""
    return "`=` gives a name a value; `==` asks whether two values are equal."


@rule(SyntaxError, r"^invalid character '(.)'")
def typographic_character(scene: Scene, match: Match) -> str | None:
    """Explain characters that a word processor writes."""
    sign = match[1]
    if sign in TYPOGRAPHIC:
        return f"Type it on the keyboard: {QUOTE if TYPOGRAPHIC[sign] in QUOTES else f'`{TYPOGRAPHIC[sign]}`'}."
    return f"Python writes `{SYMBOLS[sign]}` for it." if sign in SYMBOLS else None


@rule(TabError, r"")
def mixed_tabs(scene: Scene, match: Match) -> str | None:
    """Explain a mixture of tabs and spaces."""
    return "Indent with spaces only, four for each step."


@rule(IndentationError, r"^(unexpected indent|unindent does not match|expected an indented block)")
def wrong_indentation(scene: Scene, match: Match) -> str | None:
    """Explain a line that is indented too far or not far enough."""
    if match[1] == "unexpected indent":
        before = without_comments_and_strings(source_line(scene, 1))
        colon = re.match(rf"\s*{BLOCK}", before) and not before.endswith(":")
        if colon:
            return "The line before opens a block and must end with a colon."
        return "This line starts further right than the one before, though that opens no block."
    if match[1].startswith("unindent"):
        return "Its start must stand exactly below the start of an earlier line."
    return "What belongs to it starts four spaces further right."


@rule(SyntaxError, r"^unterminated (triple-quoted )?(?:f-)?string literal")
def unterminated_string(scene: Scene, match: Match) -> str | None:
    """Explain a string that does not end."""
    marks = "the three quotation marks" if match[1] else "the quotation mark"
    return f"At its end {marks} of its beginning {'are' if match[1] else 'is'} missing."


@rule(SyntaxError, r"^'(return|yield|await)' outside (?:async )?function")
def outside_function(scene: Scene, match: Match) -> str | None:
    """Explain `return` outside of its function."""
    return f"`{match[1]}` belongs into a `def`: indent the line as deep as the others of the function."


@rule(SyntaxError, r"^invalid decimal literal")
def leading_digit(scene: Scene, match: Match) -> str | None:
    """Explain a name that starts with a digit."""
    return "A name cannot start with a digit."


@rule(SyntaxError, r"^positional argument follows keyword argument")
def positional_after_keyword(scene: Scene, match: Match) -> str | None:
    """Explain `f(a=1, 2)`."""
    return "Put the arguments without a name first."
