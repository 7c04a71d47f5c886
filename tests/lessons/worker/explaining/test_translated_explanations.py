"""Explanations in another language: apart from names, code and numbers, no English word is left in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
import torch

from attn_tutor.lessons.authoring import interface_texts
from attn_tutor.lessons.authoring.translation_files import header_of
from attn_tutor.lessons.format.text_walk import CourseText
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.texts import po_file
from attn_tutor.lessons.texts.po_file import Entry
from attn_tutor.lessons.worker.explaining import fused_definitions
from tests import pseudo_language
from tests.course import ROOT
from tests.lessons.recorded_code import Traced

WORKER = ROOT / "lessons" / "worker"
MODULES = [*(WORKER / "explaining").rglob("*.py"), *(WORKER / "recording").rglob("*.py")]
MODULES.append(ROOT / "lessons" / "results" / "explanation.py")

INPUTS = "torch.manual_seed(3)\nF = torch.nn.functional\na = torch.rand(3, 4) - 0.5\nb = torch.rand(3, 4)\n"
BACKWARD = "p = a.clone().requires_grad_()\nloss = {}\nloss.backward()\nr = p.grad"
OPTIMIZER = (
    "p = a.clone().requires_grad_()\no = torch.optim.SGD([p], 0.1, {})\nfor i in range(2):\n"
    "    o.zero_grad()\n    (p * b).sum().backward()\n    o.step()\nr = p.detach()"
)

PROGRAMS = {
    "activations": BACKWARD.format("F.elu(p).sum() + F.glu(p, 1).sum()"),
    "attention": "q = torch.rand(1, 2, 3, 4)\nr = F.scaled_dot_product_attention(q, q, q, is_causal=True)",
    "normalization/channels": "norm = torch.nn.BatchNorm1d(4)\ny = norm(b)\nr = norm.running_mean",
    "complex-numbers": "c = torch.tensor([1 + 2j]) * torch.randn(1, dtype=torch.complex64)\nr = torch.view_as_real(c)",
    "constants": "r = torch.eye(3) * torch.arange(3) + torch.zeros(3) + torch.tensor([1.0, 2.0, len(a)])",
    "linear-maps/convolutions": "r = F.conv1d(torch.rand(1, 2, 5), torch.rand(3, 2, 3), padding=1)",
    "descent": OPTIMIZER.format("foreach=False"),
    "distances": "r = torch.renorm(b, 2, 0, 1.0)",
    "elementwise": "r = torch.zeros(3)\nfor i in range(3):\n    r = r + b[i, :3]\nr = r.round(decimals=2)",
    "accounting": "r = b * 2\nr.apply_(lambda number: number + 5)",
    "explainer": "r = (b * 2).view(torch.int32)",
    "file-origins": (
        "from attn_tutor.lessons.worker.recording import origins\n"
        "r = torch.frombuffer(bytearray(16), dtype=torch.float32)\n"
        "origins.note_file(r, 'x', 8)"
    ),
    "fused": "q = torch.rand(1, 2, 3, 4)\nr = F.scaled_dot_product_attention(q, q, q)",
    "gradients": BACKWARD.format("(p * p * b).sum() + (p @ p.T).square().sum()"),
    "linear-maps": "r = F.max_pool1d(b[None], 2)",
    "losses": BACKWARD.format("F.cross_entropy(p, torch.tensor([0, 2, 1]))"),
    "masking": "m = torch.ones(3, 4).triu(1).bool()\nk = a.masked_fill(m, -torch.inf)\nr = torch.triu(k) + k",
    "movement": "e = torch.nn.Embedding(4, 2)\ne(torch.tensor([1, 1, 2])).sum().backward()\nr = e.weight.grad.half()",
    "history": (
        "import contextlib, warnings\nmade = bytearray(16)\nwith warnings.catch_warnings():\n"
        "    warnings.simplefilter('ignore')\n    p = torch.frombuffer(made, dtype=torch.float32)\n"
        "    r = torch.frombuffer(made, dtype=torch.float32)\np.fill_(3)"
    ),
    "weight-norms": "r = torch._weight_norm(b, a[:, :1], 0)",
    "results": "p = a.topk(2)\nr = p[0] + p[1] + torch.std_mean(a, 1, keepdim=True)[1]",
    "narrow-types": "r = (b.bfloat16() * 2).float()",
    "names": OPTIMIZER.format("momentum=0.9, foreach=False"),
    "nonfinite": "k = torch.tensor([1.0, 0.0])\nr = torch.stack([k / 0, k.log(), (k * 1e38 * 10) * 0])",
    "normalization": (
        "m = torch.ones(3, 4).triu(1).bool()\nk = a.masked_fill(m, -torch.inf)\n"
        "r = torch.softmax(k, 1) + F.layer_norm(b, (4,))"
    ),
    "operands": "y, z = F.layer_norm(b.requires_grad_(), (4,)), b * 2\ny.square().sum().backward()\nr = b.grad",
    "descent/fused": OPTIMIZER.format("momentum=0.9, fused=True"),
    "random-draws": "r = F.dropout(torch.rand(3) + torch.randn(3) + torch.randint(0, 5, (3,)), 0.5)",
    "distances/reductions": (
        "m = b[:, :3].median(1).indices + b.median(1).indices + a.log().median(1).indices\nn = a.log().nanmedian(1)\n"
        "k = b.cummax(1).values[:, 1]\nr = torch.stack([b.sort().values[:, 0], b.std(1), b.logsumexp(1), k, m, n[0]])"
    ),
    "rules": (
        "k = torch.linalg.qr(torch.rand(9, 9)).Q[0, 0] + torch.kaiser_window(4)\n"
        "r = torch.lgamma(b) + torch.linalg.inv(b[:, :3])[:, :1] + k"
    ),
}
"""For each part of the explanations a program, or several, whose variable `r` needs it."""

OTHER_NAMES = {
    "inf",
    "nan",
    "NaN",
    "exp",
    "softmax",
    "sqrt",
    "log",
    "attention",
    "std",
    "total_weight",
    "weight_norm_interface",
}
"""Names that stand in explanations, and neither in a program nor among the operations of PyTorch."""

HEADER = re.compile(r"[a-z0-9/-]+\|")


@pytest.fixture(scope="module")
def texts() -> dict[str, CourseText]:
    found = (text for path in MODULES for text in interface_texts.texts_in(path.read_text(encoding="utf-8")))
    return {text.id: text for text in found}


@pytest.fixture(scope="module")
def translations(tmp_path_factory: pytest.TempPathFactory, texts: dict[str, CourseText]) -> Path:
    """Write translations of which each consists of its id and of the fields of its text."""
    folder = tmp_path_factory.mktemp("fields")
    (folder / pseudo_language.CODE).mkdir()
    entries = [
        Entry(text.id, text.text, text.plural, tuple(map(fields_of, [text] * 2 if text.plural else [text])))
        for text in texts.values()
    ]
    path = folder / pseudo_language.CODE / "explaining.po"
    path.write_text(po_file.write(header_of(pseudo_language.CODE), entries), encoding="utf-8")
    return folder


def fields_of(text: CourseText) -> str:
    parts = Formatter().parse(text.plural or text.text)
    fields = [f"{{{name}:{spec}}}" if spec else f"{{{name}}}" for _, name, spec, _ in parts if name is not None]
    return f"⟦{text.id}|{' ; '.join(fields)}⟧"


def said_of(source: str) -> Iterator[tuple[str, list[str]]]:
    """Yield what the explanations of the first numbers of `r` say, down to the fourth level: sentences and labels."""
    traced = Traced(INPUTS + source)
    result = traced.namespace["r"]
    pending = [traced.explain("r", *index) for index in torch.ones_like(result).nonzero()[:6].tolist()]
    for _ in range(4):
        for item in pending:
            yield from sentences(item)
        pending = [traced.follow(operand) for item in pending for operand in item.operands[:3]][:24]


def sentences(item: Explanation) -> Iterator[tuple[str, list[str]]]:
    for note in item.notes:
        yield note, []
    titles = [title for title, _ in item.details]
    yield "", [item.label, *(operand.label for operand in item.operands), *titles]


def unsaid(text: str, known: set[str]) -> list[str]:
    """Return the words of a text that are no names and no code."""
    left = HEADER.sub("", text).replace("⟦", " ").replace("⟧", " ")
    words = re.findall(r"[A-Za-z_]{2,}", left)
    return [word for word in words if word not in known and not hasattr(torch.ops.aten, word)]


def as_code(name: str) -> str:
    """Return a name as code, with variables where texts stand for names."""
    while (shorter := re.sub(r"⟦[^⟦⟧]*⟧", "_", name)) != name:
        name = shorter
    return re.sub(r"#\d+", "", name)


def defined_names() -> set[str]:
    """Return the names in the definitions of fused operations."""
    tree = ast.parse(Path(fused_definitions.__file__).read_text(encoding="utf-8"))
    keywords = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg}
    return keywords | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("part", PROGRAMS)
def test_no_english_word_is_left(
    part: str, translations: Path, texts: dict[str, CourseText], monkeypatch: pytest.MonkeyPatch
) -> None:
    pseudo_language.speak(monkeypatch, translations)
    dtypes = {str(item).removeprefix("torch.") for item in vars(torch).values() if isinstance(item, torch.dtype)}
    known = set(re.findall(r"[A-Za-z_]{2,}", INPUTS + PROGRAMS[part])) | OTHER_NAMES | dtypes
    known |= defined_names()
    heard = ""
    for note, names in said_of(PROGRAMS[part]):
        heard += note + "".join(names)
        assert not note or (note.startswith("⟦") and note.endswith("⟧")), note
        for text in (note, *names):
            assert not unsaid(text, known), text
        for name in names:
            ast.parse(as_code(name))
    assert f"explaining/{part.partition('/')[0]}/" in heard


def test_each_part_has_a_program(texts: dict[str, CourseText]) -> None:
    parts = {text_id.split("/")[1] for text_id in texts if text_id.startswith("explaining/")}
    assert parts - {part.partition("/")[0] for part in PROGRAMS} == {
        "labels",
        "recording",
        "rematerialization",
        "source",
    }
