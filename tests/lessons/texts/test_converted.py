"""The modules that say everything with ids: no sentence stands in them that translators cannot reach."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from lessons.authoring import interface_texts
from lessons.authoring.english_in_code import OPEN_PHRASE, PHRASE
from lessons.reading.text_catalog import Catalog
from tests import pseudo_language
from tests.course import ROOT
from tui.actions import action_words, help_pages

CONVERTED = (
    "lessons/engine/answer_feedback.py",
    "lessons/engine/answer_reading.py",
    "lessons/engine/child_code.py",
    "lessons/engine/child_failures.py",
    "lessons/engine/experiment_judging.py",
    "lessons/engine/judging.py",
    "lessons/engine/launchers.py",
    "lessons/engine/prompt.py",
    "lessons/engine/question_facts.py",
    "lessons/engine/question_judging.py",
    "lessons/engine/question_words.py",
    "lessons/engine/scratch_run.py",
    "lessons/engine/verdict_words.py",
    "lessons/format/axis_labels.py",
    "lessons/format/knobs/choice.py",
    "lessons/format/knobs/knob.py",
    "lessons/format/knobs/number.py",
    "lessons/format/knobs/seed.py",
    "lessons/format/knobs/sentence.py",
    "lessons/format/knobs/words.py",
    "lessons/format/main_path.py",
    "lessons/learner/exports.py",
    "lessons/learner/milestones.py",
    "lessons/learner/progress_file.py",
    "lessons/learner/symptoms.py",
    "lessons/learner/trained_models.py",
    "lessons/results/explanation.py",
    "lessons/what_if/cells.py",
    "lessons/what_if/changes.py",
    "lessons/what_if/knobs.py",
    "lessons/what_if/refused_cells.py",
    "lessons/worker/advice/calls.py",
    "lessons/worker/advice/dtypes.py",
    "lessons/worker/advice/gradients.py",
    "lessons/worker/advice/indexing.py",
    "lessons/worker/advice/matrix_products.py",
    "lessons/worker/advice/missing_values.py",
    "lessons/worker/advice/module_setup.py",
    "lessons/worker/advice/modules.py",
    "lessons/worker/advice/naming.py",
    "lessons/worker/advice/scene.py",
    "lessons/worker/advice/shape_errors.py",
    "lessons/worker/advice/star_imports.py",
    "lessons/worker/advice/syntax.py",
    "lessons/worker/explaining/attention_names.py",
    "lessons/worker/explaining/explainer.py",
    "lessons/worker/explaining/fused_definitions.py",
    "lessons/worker/explaining/gradient_names.py",
    "lessons/worker/explaining/nonfinite_origin.py",
    "lessons/worker/explaining/operand_names.py",
    "lessons/worker/explaining/rules/activations.py",
    "lessons/worker/explaining/rules/channel_norms.py",
    "lessons/worker/explaining/rules/constants.py",
    "lessons/worker/explaining/rules/convolutions.py",
    "lessons/worker/explaining/rules/descent.py",
    "lessons/worker/explaining/rules/distances.py",
    "lessons/worker/explaining/rules/elementwise.py",
    "lessons/worker/explaining/rules/linear_maps.py",
    "lessons/worker/explaining/rules/losses.py",
    "lessons/worker/explaining/rules/masking.py",
    "lessons/worker/explaining/rules/movement.py",
    "lessons/worker/explaining/rules/normalization.py",
    "lessons/worker/explaining/rules/optimizers.py",
    "lessons/worker/explaining/rules/random_draws.py",
    "lessons/worker/explaining/rules/reductions.py",
    "lessons/worker/explaining/rules/registry.py",
    "lessons/worker/explaining/source_location.py",
    "lessons/worker/flow/diagram.py",
    "lessons/worker/jobs/answer_run.py",
    "lessons/worker/jobs/cell_changes.py",
    "lessons/worker/jobs/execute.py",
    "lessons/worker/jobs/exercise_tools.py",
    "lessons/worker/jobs/judge.py",
    "lessons/worker/jobs/lesson_run.py",
    "lessons/worker/jobs/prompt.py",
    "lessons/worker/jobs/run_state.py",
    "lessons/worker/jobs/tensor_questions.py",
    "lessons/worker/jobs/trained_state.py",
    "lessons/worker/jobs/training.py",
    "lessons/worker/jobs/values.py",
    "lessons/worker/recording/element_history.py",
    "lessons/worker/recording/names.py",
    "lessons/worker/recording/recorder.py",
    "lessons/worker/recording/rematerialization.py",
    "tui/actions/hints.py",
    "tui/actions/key_names.py",
    "tui/app.py",
    "tui/cli.py",
    "tui/commands/check_all.py",
    "tui/commands/course_lookup.py",
    "tui/commands/exercise_status.py",
    "tui/commands/explain_number.py",
    "tui/commands/export_progress.py",
    "tui/commands/files.py",
    "tui/commands/import_progress.py",
    "tui/commands/list_course.py",
    "tui/commands/open_tutor.py",
    "tui/commands/own_program.py",
    "tui/commands/run_lesson.py",
    "tui/commands/show_flow.py",
    "tui/commands/show_glossary.py",
    "tui/commands/show_history.py",
    "tui/commands/train_model.py",
    "tui/commands/verbs.py",
    "tui/commands/watch_file.py",
    "tui/controllers/experiment_session.py",
    "tui/controllers/find_session.py",
    "tui/controllers/flow_controller.py",
    "tui/controllers/frame.py",
    "tui/controllers/glossary_controller.py",
    "tui/controllers/map_controller.py",
    "tui/controllers/progress_export.py",
    "tui/controllers/prompt_controller.py",
    "tui/controllers/side_controller.py",
    "tui/controllers/startup.py",
    "tui/controllers/tensor_answers.py",
    "tui/drawings/bars.py",
    "tui/drawings/before_after.py",
    "tui/drawings/contribution_bars.py",
    "tui/drawings/grid.py",
    "tui/drawings/header.py",
    "tui/drawings/heads.py",
    "tui/drawings/memory_strip.py",
    "tui/drawings/overview.py",
    "tui/drawings/question_text.py",
    "tui/drawings/training_status.py",
    "tui/drawings/zoom.py",
    "tui/render/exercise_text.py",
    "tui/render/explanation_text.py",
    "tui/render/flow_text.py",
    "tui/render/glossary_text.py",
    "tui/render/linear_text.py",
    "tui/render/memory_text.py",
    "tui/render/operand_choice.py",
    "tui/render/row_text.py",
    "tui/render/solution_text.py",
    "tui/render/source_text.py",
    "tui/render/verdict_text.py",
    "tui/screens/exercise_view.py",
    "tui/screens/explaining_view.py",
    "tui/screens/flow_view.py",
    "tui/screens/glossary_view.py",
    "tui/screens/lesson_view.py",
    "tui/screens/map_view.py",
    "tui/screens/outside_editing.py",
    "tui/screens/prompt_view.py",
    "tui/screens/question_view.py",
    "tui/screens/scratch_run_view.py",
    "tui/screens/training_view.py",
    "tui/screens/workbench.py",
    "tui/state/async_session.py",
    "tui/state/exercise_help.py",
    "tui/state/question_state.py",
    "tui/state/step_results.py",
    "tui/state/what_if_rows.py",
    "tui/tty/external_editor.py",
    "tui/widgets/explanation_pane.py",
    "tui/widgets/flow_chart.py",
    "tui/widgets/matrix.py",
    "tui/widgets/options.py",
    "tui/widgets/text_pane.py",
    "tui/widgets/what_if_panel.py",
)
"""These stay converted; the other modules follow."""

TABLES = {"tui/actions/table.py": action_words.texts, "tui/actions/help_pages.py": help_pages.texts}
"""Modules with tables of texts, with what lists the texts by the ids that they are said with."""

FOR_PROGRAMMERS = frozenset(
    {"AssertionError", "ForkUnsafe", "NotImplementedError", "TypeError", "ValueError", "WireError"}
)
"""Exceptions whose messages no learner reads."""


CODE = frozenset({"DEFAULT_CSS", "IMPORTS", "INPUTS_START", "SIGNS", "TRACE", "_BOOT"})
"""Constants that hold code, what a program writes, or the rules of a widget's look."""


FOR_AUTHORS = frozenset({"problems", "unused", "complaints", "_overlaps", "_not_python", "missing_text"})
"""Functions that find mistakes of authors, which are told in English."""


UNREAD = FOR_PROGRAMMERS | FOR_AUTHORS | {"compile", "execute", "removeprefix", "rule", "split"}
"""What these are given, or contain, no learner reads."""


def unreachable(source: str) -> Iterator[str]:
    """Yield the strings of a module that consist of words and are not said with ids."""
    tree = ast.parse(source)
    said = {id(part) for call, _ in interface_texts.calls_in(tree) for part in ast.walk(call)}
    ignored: set[int] = set()
    for node in ast.walk(tree):
        name = node.name if isinstance(node, ast.FunctionDef) else ""
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if isinstance(node, ast.Compare | ast.Expr | ast.Assert | ast.MatchValue) or name in UNREAD:
            # An expression by itself is a docstring, or a call, whose own arguments are looked at.
            parts = [node.value] if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else []
            whole = not isinstance(node, ast.Expr)
            ignored |= {id(part) for part in (ast.walk(node) if whole else parts)}
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in CODE:
            ignored |= {id(part) for part in ast.walk(node)}
        if isinstance(node, ast.Dict):
            ignored |= {id(key) for key in node.keys}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in said | ignored:
            continue
        if PHRASE.search(node.value) or OPEN_PHRASE.search(node.value):
            yield node.value


@pytest.mark.parametrize("module", CONVERTED)
def test_no_sentence_is_out_of_reach(module: str) -> None:
    assert list(unreachable((ROOT / module).read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("module", TABLES)
def test_no_sentence_of_a_table_is_out_of_reach(module: str) -> None:
    known = set(TABLES[module]().values())
    # What the README quotes too has an id on each page that quotes it.
    assert [text for text in unreachable((ROOT / module).read_text(encoding="utf-8")) if text not in known] == []


def test_sentences_out_of_reach_are_found() -> None:
    source = (
        '"""A docstring of words."""\nif x == "a b":\n    say("id", "so it is {x}", x=f"not {x}")\n    y = "it is so"'
    )
    assert list(unreachable(source)) == ["it is so"]
    assert list(unreachable('raise WorkerError(f"for {x} only")')) == ["for ", " only"]


@pytest.mark.parametrize("path", [Path(module) for module in CONVERTED], ids=str)
def test_fields_of_a_text_are_what_it_is_given(path: Path) -> None:
    for call, counts in interface_texts.calls_in(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if any(keyword.arg is None for keyword in call.keywords):
            continue
        texts = [arg.value for arg in call.args[1:] if isinstance(arg, ast.Constant)]
        given = {keyword.arg for keyword in call.keywords} | ({"count"} if counts else set())
        fields = {name for text in texts for _, name, _, _ in Formatter().parse(str(text)) if name is not None}
        assert fields <= given, ast.unparse(call)
        assert given - {"count"} <= fields, ast.unparse(call)
        # A translation of either form is refused if a field of the other is missing, but for the number.
        forms = [{name for _, name, _, _ in Formatter().parse(str(text)) if name is not None} for text in texts]
        assert all(form | {"count"} == fields | {"count"} for form in forms), ast.unparse(call)


def whole() -> Catalog:
    return pseudo_language.interface()


def test_ids_of_the_interface_are_unique_and_of_their_own_groups() -> None:
    texts = [text for found in whole().values() for text in found]
    assert len({text.id for text in texts}) == len(texts)
    assert not set(whole()) & set(pseudo_language.catalog())
    assert any(text.plural for text in texts)


def test_text_that_is_no_literal_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2"):
        interface_texts.texts_in('say = Wording("a/b")\nsay("c", f"{d}")')
