"""One tensor as text, CSV and SVG."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET

import pytest

from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.takehome import matrix_file

SVG = "{http://www.w3.org/2000/svg}"


def tensor(shape: tuple[int, ...], values: tuple[float, ...], labels: tuple[tuple[str, ...], ...]) -> Tensor:
    axes = ("head", "query", "key")[-len(shape) :] if shape else ()
    finite = [value for value in values if abs(value) < float("inf")]
    return Tensor("w", "score", "float32", shape, axes, labels, min(finite), max(finite), values)


MATRIX = tensor((2, 2), (0.1, -2.0, float("-inf"), 4.0), (("a", "b<c>"), ("=1", 'q"')))
HEADS = tensor((2, 1, 2), (1.0, 2.0, 3.0, 4.0), (("0", "1"), ("a",), ("x", "y")))
SCALAR = tensor((), (1.5,), ())


def test_csv_has_all_digits_and_no_formulas() -> None:
    assert list(csv.reader(io.StringIO(matrix_file.as_csv(MATRIX)))) == [
        ["query", "'=1", 'q"'],
        ["a", "0.1", "-2.0"],
        ["b<c>", "-inf", "4.0"],
    ]
    assert list(csv.reader(io.StringIO(matrix_file.as_csv(HEADS)))) == [
        ["head", "query", "x", "y"],
        ["0", "a", "1.0", "2.0"],
        ["1", "a", "3.0", "4.0"],
    ]
    assert matrix_file.as_csv(SCALAR) == "w\n1.5\n"


@pytest.mark.parametrize("shown", [MATRIX, HEADS, SCALAR], ids=["matrix", "heads", "scalar"])
def test_svg_has_each_number_and_label_within_its_frame(shown: Tensor) -> None:
    root = ET.fromstring(matrix_file.as_svg(shown))
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert {label for labels in shown.labels[-2:] for label in labels} <= set(texts)
    assert sum((text is not None and text.lstrip("-")[:1].isdigit()) or text == "-inf" for text in texts) >= shown.size
    for each in root.iter(f"{SVG}rect"):
        x, y = float(each.attrib["x"]), float(each.attrib["y"])
        assert left <= x <= left + width - float(each.attrib["width"])
        assert top <= y <= top + height - float(each.attrib["height"])
        assert each.attrib["style"].startswith("fill:")


def test_text_is_not_folded() -> None:
    wide = tensor((1, 60), tuple(float(each) for each in range(60)), (("row",), tuple(map(str, range(60)))))
    assert len(matrix_file.as_text(wide).splitlines()) == 3
