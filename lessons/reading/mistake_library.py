"""The library of known mistakes, from which exercises choose by id: that of the tutor, and that of a course."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from attn_tutor.lessons.format.exercises import Mistake
from attn_tutor.lessons.format.lesson import FORMAT
from attn_tutor.lessons.reading import course_versions, yaml_nodes
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.folders import MISTAKES
from attn_tutor.lessons.reading.model_findings import finding_of

Library = Mapping[str, dict[str, Any]]
"""Maps each id to the fields of its mistake as the file has them: an exercise may replace some of them."""


def load_library(folder: Path = MISTAKES, version: int = FORMAT) -> Library:
    """Read all mistakes in the files of a folder, in a version of the format.

    Raises `LessonError` with the findings of all files.
    """
    library: dict[str, dict[str, Any]] = {}
    findings: list[Finding] = []
    for file in sorted(folder.glob("*.yaml")):
        try:
            root = yaml_nodes.parse(yaml_nodes.read(file), str(file))
            findings += yaml_nodes.repeated_keys(root, set())
            _add(root, library, findings, version)
        except LessonError as error:
            findings += error.findings
    if findings:
        raise LessonError(findings)
    return library


def _add(root: yaml.Node, library: dict[str, dict[str, Any]], findings: list[Finding], version: int) -> None:
    entries = yaml_nodes.data_of(root)
    if not isinstance(entries, list):
        where = yaml_nodes.position_of(root.start_mark)
        findings.append(Finding(*where, "this is not a list of mistakes", "Start every one with '- id: ...'."))
        return
    for position, entry in enumerate(entries):
        where = yaml_nodes.position_of(yaml_nodes.locate(root, (position,))[1].start_mark)
        course_versions.upgrade_mistake(entry, version)
        try:
            mistake = Mistake.model_validate(entry)
        except ValidationError as error:
            for item in error.errors():
                findings.append(finding_of(root, item, Mistake, (position,)))
            continue
        if mistake.id in library:
            findings.append(Finding(*where, f"the mistake '{mistake.id}' is given twice", "Keep one of the two."))
        library[mistake.id] = entry


def fill_in(step: Any, library: Library, node: yaml.Node) -> list[Finding]:
    """Replace the ids under `mistakes` in the data of a step by their entries in the library; return the findings.

    Fields that the step gives itself take priority. An entry that is not in the library must be complete.
    """
    entries = step.get("mistakes") if isinstance(step, dict) else None
    if not isinstance(entries, list):
        return []
    findings: list[Finding] = []
    for position, entry in enumerate(entries):
        own = {"id": entry} if isinstance(entry, str) else entry
        if not isinstance(own, dict):
            continue
        name = str(own.get("id"))
        if name not in library and "name" not in own:
            close = difflib.get_close_matches(name, library, n=1)
            remedy = f"Did you mean '{close[0]}'?" if close else "Add it to the library, or give it a name here."
            where = yaml_nodes.position_of(yaml_nodes.locate(node, ("mistakes", position))[1].start_mark)
            findings.append(Finding(*where, f"the mistake '{name}' is not in the library", remedy))
            # That it lacks fields which the library would have is no finding of its own.
            own = {"name": name, "why": name, **own}
        entries[position] = {**library.get(name, {}), **own}
    return findings
