"""YAML files that hold one model: read, with the position of each finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import ValidationError

from attn_tutor.lessons.format.fields import Model
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.model_findings import finding_of, root_causes
from attn_tutor.lessons.reading.yaml_nodes import data_of, parse, read, repeated_keys

M = TypeVar("M", bound=Model)

Prepare = Callable[[object, yaml.Node], None]
"""Changes the data of a file before it is checked, given its nodes too. It may raise `LessonError`."""


def read_model(file: Path, model: type[M], prepare: Prepare = lambda data, root: None) -> M:
    """Read a file into a model. Raises `LessonError` with all its findings."""
    root = parse(read(file), str(file))
    problems = list(repeated_keys(root, set()))
    data = data_of(root)
    prepare(data, root)
    try:
        contents = model.model_validate(data)
    except ValidationError as error:
        problems += (finding_of(root, item, model) for item in root_causes(error.errors(), model))
        raise LessonError(problems) from None
    if problems:
        raise LessonError(problems)
    return contents
