"""Advice on syntax errors whose message is obscure."""

from __future__ import annotations

import re
from collections.abc import Callable

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.rules import Match, rule
from attn_tutor.lessons.worker.advice.scene import Scene

say = Wording("advice/syntax")

_line: Callable[[SyntaxError], object] = SyntaxError.__dict__["lineno"].__get__
_file: Callable[[SyntaxError], object] = SyntaxError.__dict__["filename"].__get__

COMMAND = re.compile(r"^\s*(?:(!)\s*(?:pip|conda|apt|ls|cd|cat|wget|git|python)\b|(%)%?\w)")
FENCE = re.compile(r"^\s*(?:```|~~~)")
PROMPT = re.compile(r"^\s*(>>>|\.\.\.|(?:In|Out) ?\[\d*\]:)")
HELP = re.compile(r"^\s*\??[\w.]+\s*\?\??$|^\s*\?[\w.]+$")

BLOCK = r"(?:if|elif|else|for|while|def|class|with|try|except|finally|async)\b"
OTHER_LANGUAGES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"&&"), lambda found: say("and", "In Python, `&&` is written `and`.")),
    (re.compile(r"\|\|"), lambda found: say("or", "In Python, `||` is written `or`.")),
    (
        re.compile(r"(\w+)\s*\+\+"),
        lambda found: say("plus-plus", "Python has no `++`. Write `{name} += 1`.", name=found[1]),
    ),
    (
        re.compile(r"(\w+)\s*--\s*$"),
        lambda found: say("minus-minus", "Python has no `--`. Write `{name} -= 1`.", name=found[1]),
    ),
    (re.compile(r"^\s*(?:else\s+if|elseif)\b"), lambda found: say("elif", "In Python, this is written `elif`.")),
    (re.compile(r"^\s*!|\s!\s*\w"), lambda found: say("not", "In Python, `!` is written `not`.")),
    (
        re.compile(r"=\s+="),
        lambda found: say("blank-in-equals", "There is no space inside `==`. To assign a value, use a single `=`."),
    ),
    (re.compile(r"@\s+="), lambda found: say("blank-in-product", "There is no space inside `@=`.")),
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
    for pattern, remedy in OTHER_LANGUAGES:
        if found := pattern.search(line):
            return remedy(found)
    if found := KEYWORD.search(line):
        return say("keyword", "`{value}` is a keyword of Python. Choose a different name.", value=found[1])
    if re.match(rf"\s*{BLOCK}", line) and not line.endswith(":") and ":" not in line:
        return say("colon", "A line that starts a block has to end with a colon.")
    if found := re.match(r"\s*def\s+\w+\s*\(([^)]*)\)", line):
        missing = re.search(r"(\w+)\s+(\w+)", found[1])
        return (
            say(
                "comma-missing",
                "A comma is missing between `{value}` and `{value2}`.",
                value=missing[1],
                value2=missing[2],
            )
            if missing
            else None
        )
    if re.match(r"\s*(?:else|elif|except|finally)\b", line):
        return say("else-alone", "It needs an `if` (or `for`, `while`, `try`) above it with the same indentation.")
    if found := re.search(r"(?:^|[^=!<>])(=|[-+*/%@&|<>]|\band|\bor|\bnot|\bin)$", line):
        return say("something-missing", "Something is missing after `{value}` at the end of the line.", value=found[1])
    if re.search(r"lambda[^:]*:\s*return\b", line):
        return say("lambda-return", "A lambda returns its expression on its own, so leave out `return`.")
    return None


def of_notebook(line: str) -> str | None:
    """Explain what notebooks, prompts and texts have around code."""
    if found := COMMAND.search(line):
        command = say(
            "notebook-command",
            "A line that starts with `{value}` is a notebook command. Leave it out.",
            value=found[1] or found[2],
        )
        if "torch" not in line:
            return command
        return f"{command} {say('torch-here-already', 'torch is already installed.')}"
    if FENCE.search(line):
        return say("fence", "These marks surround code in a text. Leave them out.")
    if found := PROMPT.search(line):
        return say(
            "interpreter-prompt",
            "`{value}` is the prompt of an interpreter. Leave it out, along with anything that was printed.",
            value=found[1],
        )
    return (
        say("question-mark", "A question mark asks for help in a notebook. Leave the line out.")
        if HELP.search(line)
        else None
    )


@rule(SyntaxError, r"^expected ':'")
def missing_colon(scene: Scene, match: Match) -> str | None:
    """Explain a block without a colon."""
    word = re.match(r"\s*(\w+)", source_line(scene))
    return say("colon-after", "The line with `{value}` has to end with a colon.", value=word[1]) if word else None


@rule(SyntaxError, r"^Maybe you meant '==' or ':='|^invalid syntax\. Maybe you meant '=='")
def single_equals(scene: Scene, match: Match) -> str | None:
    """Explain `if x = 1:`."""
    return say("equals", "`=` assigns a value to a name. To compare two values, use `==`.")


@rule(SyntaxError, r"^invalid character '(.)'")
def typographic_character(scene: Scene, match: Match) -> str | None:
    """Explain characters that a word processor writes."""
    sign = match[1]
    if sign in TYPOGRAPHIC:
        plain = TYPOGRAPHIC[sign]
        shown = say("plain-quote", "a plain quotation mark") if plain in QUOTES else f"`{plain}`"
        return say("type-sign", "Replace it with {sign}.", sign=shown)
    return say("python-writes", "In Python, write `{code}` instead.", code=SYMBOLS[sign]) if sign in SYMBOLS else None


@rule(TabError, r"")
def mixed_tabs(scene: Scene, match: Match) -> str | None:
    """Explain a mixture of tabs and spaces."""
    return say("spaces-only", "Indent with spaces only, four per level.")


@rule(IndentationError, r"^(unexpected indent|unindent does not match|expected an indented block)")
def wrong_indentation(scene: Scene, match: Match) -> str | None:
    """Explain a line that is indented too far or not far enough."""
    if match[1] == "unexpected indent":
        before = without_comments_and_strings(source_line(scene, 1))
        colon = re.match(rf"\s*{BLOCK}", before) and not before.endswith(":")
        if colon:
            return say("colon-before", "The line before it starts a block, so it has to end with a colon.")
        return say(
            "indented",
            "This line is indented further than the one before it, but that line doesn't start a block.",
        )
    if match[1].startswith("unindent"):
        return say("dedent", "It has to line up with the start of an earlier line.")
    return say("indent-block", "Indent the lines that belong to it by four more spaces.")


@rule(SyntaxError, r"^unterminated (triple-quoted )?(?:f-)?string literal")
def unterminated_string(scene: Scene, match: Match) -> str | None:
    """Explain a string that does not end."""
    if match[1]:
        return say("open-triple-string", "The three quotation marks that should end it are missing.")
    return say("open-string", "The quotation mark that should end it is missing.")


@rule(SyntaxError, r"^'(return|yield|await)' outside (?:async )?function")
def outside_function(scene: Scene, match: Match) -> str | None:
    """Explain `return` outside of its function."""
    return say(
        "indent-into-def",
        "`{name}` works only inside a function. Indent the line like the other lines of the function.",
        name=match[1],
    )


@rule(SyntaxError, r"^invalid decimal literal")
def leading_digit(scene: Scene, match: Match) -> str | None:
    """Explain a name that starts with a digit."""
    return say("name-start-digit", "A name cannot start with a digit.")


@rule(SyntaxError, r"^positional argument follows keyword argument")
def positional_after_keyword(scene: Scene, match: Match) -> str | None:
    """Explain `f(a=1, 2)`."""
    return say("arguments-order", "Put the arguments without a name first.")
