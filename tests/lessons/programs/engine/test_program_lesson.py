"""The pages of a program: which tensors stand together, and what the pages are called."""

from __future__ import annotations

from attn_tutor.lessons.programs.engine.pages import LessonOfPages, groups_of, lesson_of
from attn_tutor.lessons.programs.results.program_result import Named


def parameters(*labels: str) -> list[Named]:
    """Return parameters of these names."""
    return [Named(label, label, "parameter", "", "", None, 1, (2,), "float32") for label in labels]


def titles(*labels: str) -> list[tuple[str, list[str]]]:
    """Return the titles of the pages of some parameters, with what these are called there."""
    return [(group.title, [group.called(item) for item in group.items]) for group in groups_of(parameters(*labels))]


def test_parameters_stand_together_by_layers_under_the_name_of_their_module() -> None:
    block = ("ln.weight", "ln.bias", "att.q.weight", "att.k.weight", "att.v.weight")
    found = titles(
        "model.embedding.weight", *(f"model.h.{layer}.{name}" for layer in (0, 1) for name in block), "model.head.bias"
    )
    assert found == [
        ("model.embedding", ["weight"]),
        ("model.h.0.ln", ["weight", "bias"]),
        ("model.h.0.att", ["q.weight", "k.weight", "v.weight"]),
        ("model.h.1.ln", ["weight", "bias"]),
        ("model.h.1.att", ["q.weight", "k.weight", "v.weight"]),
        ("model.head", ["bias"]),
    ]


def test_small_layers_share_a_page_and_modules_without_a_common_name_are_parameters() -> None:
    assert titles("net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias") == [
        ("net", ["0.weight", "0.bias", "2.weight", "2.bias"])
    ]
    assert titles("one.weight", "two.weight") == [("parameters", ["one.weight", "two.weight"])]


def test_a_variable_is_called_on_its_page_as_its_code_calls_it() -> None:
    # The label begins with the file, which ends like the function; and a name may end like a number.
    labels = {"buf.f.x": "x", "buf.f.x 2": "x", "f.part 2": "part 2"}
    named = [Named(label, name, "local", "f", "buf.py", 1, 1, (2,), "float32") for label, name in labels.items()]
    (group,) = groups_of(named)
    assert [group.called(item) for item in group.items] == ["x", "x", "part 2"]
    lesson = lesson_of("run.py", "", named, "", {"buf.py": ""})
    assert isinstance(lesson, LessonOfPages)
    assert {label: lesson.variable(label) for label in labels} == {
        label: ("f", name, 1) for label, name in labels.items()
    }
