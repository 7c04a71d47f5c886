"""YAML files that hold one model: read, with the position of each finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import ValidationError

from lessons.format.fields import Model
from lessons.reading.findings import Finding, LessonError
from lessons.reading.yaml_nodes import data_of, locate, parse, position_of, read, repeated_keys

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
        for item in error.errors():
            where = position_of(locate(root, item["loc"])[0].start_mark)
            name = ".".join(map(str, item["loc"])) or "file"
            problems.append(Finding(*where, f"'{name}': {item['msg'].lower()}", "Mend it."))
        raise LessonError(problems) from None
    if problems:
        raise LessonError(problems)
    return contents
