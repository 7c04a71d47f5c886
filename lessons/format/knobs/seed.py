"""A knob for the seed of random numbers."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from attn_tutor.lessons.format.knobs.knob import ChangeError, Knob, LessonCode, Problem, Rewrite, Setting
from attn_tutor.lessons.format.knobs.number import parse_number
from attn_tutor.lessons.texts.wording import Wording

say = Wording("change/seed")

MOST_SEED = 2**32 - 1


class SeedKnob(Knob):
    """A seed from 0 to 2**32 - 1, which replaces the seed of the lesson and of every step.

    With `in`, it replaces only the seeds of these steps (and, for `setup`, the seed of the setup).
    """

    is_endless: ClassVar[bool] = True

    kind: Literal["seed"]

    def initial(self, lesson: LessonCode) -> Setting | None:
        """Return the seed of the parts that the knob reaches; None if they have several."""
        seeds = {seed for part, seed in lesson.seeds.items() if self.reaches(part)}
        return seeds.pop() if len(seeds) == 1 else None

    def read(self, value: Setting) -> int:
        """Read a seed. Raises `ChangeError`."""
        number = parse_number(value)
        if type(number) is not int or not 0 <= number <= MOST_SEED:
            given = {"value": value, "most": MOST_SEED}
            raise ChangeError(
                say("no-seed", "'{value}' is not a seed. A seed is a whole number from 0 to {most}.", **given)
            )
        return number

    def turn(self, lesson: LessonCode, current: Setting | None, by: int) -> Setting:
        """Return the next seed; if the steps have several, the one after the seed of the lesson."""
        start = current if isinstance(current, int) else lesson.seed
        return max(0, min(start + by, MOST_SEED))

    @property
    def samples(self) -> tuple[Setting, ...]:
        """The least and the greatest seed that are possible."""
        return (0, MOST_SEED)

    @property
    def accepts(self) -> str:
        """The words for any integer; the greatest seed has too many digits to mention."""
        return say("accepts", "a whole number")

    def limits(self) -> dict[str, Any]:
        """Return the least and the greatest seed as `least` and `most`."""
        return {"least": 0, "most": MOST_SEED}

    def changed_parts(self, lesson: LessonCode) -> tuple[str, ...]:
        """Return the parts that start with a seed and that the knob reaches."""
        return tuple(part for part in lesson.seeds if self.reaches(part))

    def rewrite(self, setting: Setting) -> Rewrite:
        """Return a rewrite with this seed."""
        return Rewrite(seed=self.read(setting))

    def unused(self, where: str) -> Problem:
        """Describe that no code runs in the parts that `in` names."""
        return "kind", f"there is no code{where} to seed", "Let 'in' name steps that run code."
