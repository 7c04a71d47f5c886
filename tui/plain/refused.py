"""What a dialogue cannot do, and why a command does nothing at the moment, said in a sentence."""

from __future__ import annotations

from attn_tutor.lessons.texts.wording import Wording


class Refused(Exception):
    """A command that cannot be done; the message is a sentence that says why, or what to type instead."""


say = Wording("plain/not-here")


OF_STEPS = frozenset(
    {
        *("side", "return", "answer", "point", "code", "line", "draft", "starter", "edit", "check", "difference"),
        *("hint", "solution", "retract", "train", "snapshot", "curves", "stop"),
    }
)
"""Commands that apply to steps of a lesson alone, and to no page of a program or of a file."""


def why_not_here(word: str, *, is_page: bool = False) -> str:
    """Return why a command does not apply at a step, or on a page; "" if there is nothing to be said about it."""
    if is_page and word in OF_STEPS:
        return say("of-steps", "{word} is for the lessons of the course. Type help to see what you can do.", word=word)
    match word:
        case "side":
            return say("side", "This step has no side step.")
        case "return":
            return say("return", "You have not jumped anywhere. To go to the step before, type back.")
        case "show" | "read" | "row" | "explain" | "box" | "flow" | "open":
            return say("numbers", "There are no numbers here.")
        case "shapes":
            return say("shapes", "No shapes are known here.")
        case "overview":
            return say("overview", "No matrix here is large enough for an overview. show prints it whole.")
        case "follow":
            return say("follow", "Nothing is explained yet. Type explain and the name of a number first.")
        case "up":
            return say("up", "There is no explanation before this one.")
        case "set" | "python" if is_page:
            return say("set-page", "Nothing can be changed here.")
        case "set" | "python":
            return say("set", "This step runs as it was written, so nothing can be changed here.")
        case "knob":
            return say("knob", "No knob changes anything here.")
        case "changes" | "compare" | "reset" | "undo":
            return say("changes", "Nothing is changed.")
        case "redo":
            return say("redo", "There is no change that you have undone.")
        case "answer" | "point":
            return say("answer", "Nothing is asked here.")
        case "code" | "line" | "draft" | "starter" | "edit" | "check":
            return say("code", "There is no code to write here.")
        case "difference":
            return say("difference", "No difference is known. Type check first, which looks for one.")
        case "hint":
            return say("hint", "There are no more hints.")
        case "solution":
            return say("solution", "There is nothing to solve here.")
        case "retract":
            return say("retract", "You have not given up on this step.")
        case "train" | "snapshot" | "curves":
            return say("train", "Nothing is trained at this step.")
        case "stop":
            return say("stop", "No training is paused. Ctrl+C stops what is running.")
        case "run":
            return say("run", "There is no code to run here.")
    return ""
