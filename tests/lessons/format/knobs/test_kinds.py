"""The kinds of knobs: what each reads, how it turns, and how it describes itself."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from attn_tutor.lessons.format.knobs import AnyKnob, ChangeError, Knob, Setting
from tests.lessons.knob_fields import CHOICE, NUMBER, SEED, WORDS
from tests.lessons.lesson_builders import Fields, lesson_of, text_step

LESSON = lesson_of(text_step("why", "Read."), tokens=["Your", "journey"], seed=7)


def knob_of(fields: Fields) -> Knob:
    knob: Knob = TypeAdapter(AnyKnob).validate_python(fields)
    return knob


RANGE = NUMBER | {"least": 1, "most": 9, "step": 2}


@pytest.mark.parametrize(
    ("fields", "value", "expected"),
    [
        (NUMBER | {"values": [1, 2.0]}, "2", 2.0),
        (NUMBER | {"values": [1, 2]}, "1.0", 1),
        (RANGE, " 4 ", 4),
        (RANGE, 3.0, 3),
        (RANGE | {"least": 0.5}, "1e0", 1),
        (CHOICE, " OFF", "off"),
        (SEED, str(2**32 - 1), 2**32 - 1),
        (WORDS, " a\nb, ", "a b ,"),
    ],
)
def test_read_returns_a_setting(fields: Fields, value: int | float | str, expected: object) -> None:
    assert knob_of(fields).read(value) == expected


@pytest.mark.parametrize(
    ("fields", "value", "message"),
    [
        (NUMBER | {"values": [1, 2]}, "3", "'heads' cannot be 3. It can be 1 or 2."),
        (NUMBER | {"values": [1, 2]}, "nan", "'heads' cannot be nan. It can be 1 or 2."),
        (RANGE, "10", "'heads' cannot be 10. It can be a whole number from 1 to 9."),
        (RANGE, "2.5", "'heads' cannot be 2.5. It can be a whole number from 1 to 9."),
        (RANGE, "inf", "'heads' cannot be inf. It can be a whole number from 1 to 9."),
        (RANGE | {"step": 0.5}, "two", "'heads' cannot be two. It can be a number from 1 to 9."),
        (CHOICE, "none", "'scaling' cannot be 'none'. It can be on or off."),
        (SEED, "-1", "'-1' is not a seed. A seed is a whole number from 0 to 4294967295."),
        (SEED, "1.5", "'1.5' is not a seed. A seed is a whole number from 0 to 4294967295."),
        (SEED, "9" * 5000, "is not a seed"),
        (WORDS, "one", "This is only 1 word. At least 2 are needed."),
    ],
)
def test_read_refuses_other_values(fields: Fields, value: str, message: str) -> None:
    with pytest.raises(ChangeError) as caught:
        knob_of(fields).read(value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "current", "by", "expected"),
    [
        (NUMBER | {"values": [1, 2, 4]}, 2, 1, 4),
        (NUMBER | {"values": [1, 2, 4]}, 4, 1, 4),
        (RANGE, 2, 1, 4),
        (RANGE, 2, -1, 1),
        (RANGE | {"least": 0.1, "step": 0.1}, 0.2, 1, 0.3),
        (CHOICE, "on", -1, "off"),
        (CHOICE, "off", 1, "on"),
        (SEED, 0, -1, 0),
        (SEED, None, 1, 8),
        (WORDS, "a b", 1, None),
    ],
)
def test_turn_returns_the_next_setting(
    fields: Fields, current: Setting | None, by: int, expected: Setting | None
) -> None:
    assert knob_of(fields).turn(LESSON, current, by) == expected


@pytest.mark.parametrize(
    ("fields", "initial", "accepts", "limits"),
    [
        (NUMBER | {"values": [1, 2]}, 2, "1, 2", {"values": [1, 2]}),
        (RANGE, 2, "a number from 1 to 9", {"least": 1, "most": 9}),
        (CHOICE, "on", "on / off", {"values": ["on", "off"]}),
        (SEED, 7, "a whole number", {"least": 0, "most": 2**32 - 1}),
        (WORDS, "Your journey", "your words", {"least": 2, "most": 12}),
    ],
)
def test_initial_setting_accepted_values_and_limits(
    fields: Fields, initial: Setting, accepts: str, limits: Fields
) -> None:
    knob = knob_of(fields)
    assert (knob.initial(LESSON), knob.accepts, knob.limits()) == (initial, accepts, limits)
    assert bool(knob.choices) == ("values" in limits)


@pytest.mark.parametrize("fields", [NUMBER | {"values": [1, 2]}, RANGE, CHOICE, SEED, WORDS])
def test_samples_can_be_read(fields: Fields) -> None:
    knob = knob_of(fields)
    assert knob.samples
    assert [knob.read(setting) for setting in knob.samples] == list(knob.samples)
