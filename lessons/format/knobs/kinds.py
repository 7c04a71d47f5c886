"""The kinds of knobs that a lesson file may have. A new kind is one more member of the union."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from attn_tutor.lessons.format.knobs.choice import ChoiceKnob
from attn_tutor.lessons.format.knobs.number import NumberKnob
from attn_tutor.lessons.format.knobs.seed import SeedKnob
from attn_tutor.lessons.format.knobs.words import WordsKnob

AnyKnob = Annotated[NumberKnob | ChoiceKnob | SeedKnob | WordsKnob, Field(discriminator="kind")]
