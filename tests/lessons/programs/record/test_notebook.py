"""The door for Python in a notebook: a real kernel runs cells, and what they show is text and HTML."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[4]

CELLS = (
    """
    import torch
    from attn_tutor import record

    def attention(tokens):
        scores = tokens @ tokens.T
        return torch.softmax(scores, dim=-1) @ tokens
    """,
    """
    torch.manual_seed(1)
    tokens = torch.rand(3, 2)
    with record() as trace:
        context = attention(tokens)
        doubled = context * 2
    tokens.zero_()
    """,
    'trace.explain("doubled", 1, 0)',
    'print(trace.explain("attention.scores", 2, 1))',
    "trace",
    'trace.tensors["scores"]',
    "trace.flow()",
    """
    with record() as trace:
        half = tokens.half() + 1
        tokens @ tokens
    """,
    'print(trace.failure, trace.explain("half", 0, 0), sep="\\n")',
    """
    %%time
    with record() as trace:
        timed = tokens * 5
    print(trace.explain("timed", 0, 0))
    """,
)


def source_of(cell: str) -> str:
    lines = cell.strip("\n").splitlines()
    return "\n".join(line.removeprefix("    ") if cell.startswith("\n") else line for line in lines).rstrip()


@pytest.mark.slow
def test_cells_show_text_and_html(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    # torch warns if numpy is not installed.
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source_of(cell)) for cell in CELLS])
    client = NotebookClient(notebook, timeout=120, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    nbformat.validate(notebook)
    shown = [cell.outputs for cell in notebook.cells]
    data = {number: item[0].data for number, item in enumerate(shown) if item and item[0].output_type != "stream"
            and item[0].output_type != "error"}  # fmt: skip
    assert not shown[0], shown[0]
    assert [item.output_type for item in shown[7]] == ["error"]

    text, html = data[2]["text/plain"], data[2]["text/html"]
    assert text.startswith("doubled[1,0] = ")
    assert "cell In[2], line 5: context * 2" in text
    assert "In[1], line 6" in text
    assert html.startswith('<div class="attn-trace">')
    assert html.count("<details") > 3
    assert "<summary>" in html
    assert "script" not in html

    printed = shown[3][0].text
    assert printed.startswith("attention.scores[2,1] = ")
    assert "tokens[2,:]·tokens[1,:]" in printed.replace("tokens.T[:,1]", "tokens[1,:]")
    assert "= 0\n" not in printed, "what was in a cell is not what a later cell has made of it"

    assert "operations recorded from cell In[2], line 3" in data[4]["text/plain"]
    assert data[4]["text/html"].count('class="number"') > 20
    assert "attention.scores  3×3" in data[5]["text/plain"]
    assert "rgba(" in data[5]["text/html"]
    assert "doubled" in data[6]["text/plain"]
    assert "context" in data[6]["text/html"]

    assert shown[8][0].text.startswith("RuntimeError: mat1 and mat2")
    assert "half[0,0] = 1" in shown[8][0].text

    assert "timed[0,0] = 0   below %%time, line 2: tokens * 5" in shown[9][0].text, "IPython does not keep that source"
