"""What the fields of the lesson format are for: the docstrings that stand below them in the models.

They are read from the source when an author asks, so that opening the tutor does not wait for it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap

from attn_tutor.lessons.format.fields import Model


@functools.cache
def help_of(model: type[Model]) -> dict[str, str]:
    """Return what each field of a model is for, by the name that it has in a file; a model inherits help with a field.

    The field that tells the kinds of a model apart says what this kind is.
    """
    found: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if owner is not Model and issubclass(owner, Model):
            found |= _docstrings(owner)
    if "kind" in model.model_fields and "kind" not in _docstrings(model):
        found["kind"] = summary_of(model)
    named = {name: field.alias or name for name, field in model.model_fields.items()}
    return {named[name]: text for name, text in found.items() if name in named}


def summary_of(model: type[Model]) -> str:
    """Return what a model is: the first paragraph of its docstring."""
    return _in_line((inspect.getdoc(model) or "").split("\n\n")[0])


@functools.cache
def _docstrings(owner: type[Model]) -> dict[str, str]:
    """Return the docstrings below the fields that a class itself has, by the names that they have in the code."""
    [found] = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(found, ast.ClassDef)
    texts: dict[str, str] = {}
    for field, below in zip(found.body, found.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match below:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    texts[field.target.id] = "\n\n".join(map(_in_line, inspect.cleandoc(text).split("\n\n")))
    return texts


def _in_line(paragraph: str) -> str:
    return " ".join(paragraph.split())
