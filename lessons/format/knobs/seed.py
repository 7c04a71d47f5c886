"""A knob for the seed of random numbers."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from lessons.format.knobs.knob import ChangeError, Knob, LessonCode, Problem, Rewrite, Setting
from lessons.format.knobs.number import number_of

MOST_SEED = 2**32 - 1


class SeedKnob(Knob):
    """Other random numbers: a seed from 0 to 2**32 - 1 in place of the lesson's and of every step's own.

    With `in`, only in place of the seeds of those steps (and, for `setup`, of the one before the setup).
    """

    is_endless: ClassVar[bool] = True

    kind: Literal["seed"]

    def initial(self, lesson: LessonCode) -> Setting | None:
        """Return the seed of the parts that the knob reaches; None if they have several."""
        seeds = {seed for part, seed in lesson.seeds.items() if self.reaches(part)}
        return seeds.pop() if len(seeds) == 1 else None

    def read(self, value: Setting) -> int:
        """Read a seed. Raises `ChangeError`."""
        number = number_of(value)
        if type(number) is not int or not 0 <= number <= MOST_SEED:
            raise ChangeError(f"'{value}' is no seed: it is a whole number from 0 to {MOST_SEED}.")
        return number

    def turned(self, lesson: LessonCode, current: Setting | None, by: int) -> Setting:
        """Return the next seed; the one after the lesson's if the steps have several."""
        start = current if isinstance(current, int) else lesson.seed
        return max(0, min(start + by, MOST_SEED))

    @property
    def samples(self) -> tuple[Setting, ...]:
        """The least and the greatest seed."""
        return (0, MOST_SEED)

    @property
    def accepts(self) -> str:
        """A whole number; the greatest seed has too many digits to be worth a line."""
        return "a whole number"

    def limits(self) -> dict[str, Any]:
        """Return the least and the greatest seed."""
        return {"least": 0, "most": MOST_SEED}

    def changed_parts(self, lesson: LessonCode) -> tuple[str, ...]:
        """Return the parts that start with a seed and that the knob reaches."""
        return tuple(part for part in lesson.seeds if self.reaches(part))

    def rewrite(self, setting: Setting) -> Rewrite:
        """Return the seed."""
        return Rewrite(seed=self.read(setting))

    def unused(self, where: str) -> Problem:
        """Say that nothing runs in the parts that it names."""
        return "kind", f"there is no code{where} to seed", "Let 'in' name steps that run code."
