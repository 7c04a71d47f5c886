"""Groups of tensors by the modules that they belong to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.lessons.programs.engine.pages import TOGETHER, grouped_by_module

names = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(".".join), max_size=12)


def grouped(text: str) -> list[tuple[str, str]]:
    return [(module, " ".join(group)) for module, group in grouped_by_module(text.split())]


def test_the_tensors_of_a_module_stay_together() -> None:
    assert grouped("fc1.weight fc1.bias fc2.weight fc2.bias") == [("", "fc1.weight fc1.bias fc2.weight fc2.bias")]
    assert grouped("h.0.norm.w h.0.norm.b h.0.qkv.w h.1.norm.w h.1.norm.b h.1.qkv.w") == [
        ("h.0", "h.0.norm.w h.0.norm.b h.0.qkv.w"),
        ("h.1", "h.1.norm.w h.1.norm.b h.1.qkv.w"),
    ]
    assert grouped("a.in_w a.in_b a.out.w a.out.b b.w") == [("a", "a.in_w a.in_b a.out.w a.out.b"), ("b", "b.w")]
    assert grouped("m.a m.b m.c m.d m.e x") == [("m", "m.a m.b m.c m.d"), ("m", "m.e"), ("", "x")]
    assert grouped("a.x.c b.x.c") == [("a.x", "a.x.c"), ("b.x", "b.x.c")]
    assert grouped("") == []


@given(names)
def test_groups_are_small_in_order_and_named_truly(found: list[str]) -> None:
    groups = list(grouped_by_module(found))
    assert [name for _, group in groups for name in group] == found
    assert all(1 <= len(group) <= TOGETHER for _, group in groups)
    assert all(name.startswith(f"{module}.") for module, group in groups if module for name in group)
