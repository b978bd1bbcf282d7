"""Scores on models whose reason is known: ranks by hand, and hand-built models at both ends."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from assay.cli.app import app
from assay.controls import comparators
from assay.controls.comparators import (
    HAND_BUILT,
    ComparatorCase,
    ComparatorSettings,
    ScoreOnCase,
    comparator_lines,
    compare_scores,
    hand_built,
    run_case,
)
from assay.evidence import sign, stacked

SMALL = ComparatorSettings(documents=30, cases=1, motifs=0, test=0, sample=8)
DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_ranks_share_ties_and_use_common_documents() -> None:
    columns: dict[tuple[str, str | None], np.ndarray] = {}
    for name, aucs in {
        "attention": [0.5, 0.7, 0.1],
        "gradient": [1.0, 1.0, 0.2],
        "lime": [1.0, 1.0, np.nan],
        "deeplift": [np.nan] * 3,
    }.items():
        columns["auc", name] = np.array(aucs)
        columns["precision", name] = np.array(aucs)
    evidence = sign([stacked(["a", "b", "c"], columns)], "rationale", 0)
    rows = {
        row.score: row for row in compare_scores(evidence, ComparatorCase("bypass", 1, 0, SMALL))
    }
    assert set(rows) == {"attention", "gradient", "lime"}
    assert rows["attention"].auc == pytest.approx(0.6)  # without the third document
    assert rows["attention"].wrong == pytest.approx(0.4)
    assert [rows[name].rank for name in ("gradient", "lime", "attention")] == [1.5, 1.5, 3]


@pytest.mark.parametrize("family", HAND_BUILT)
def test_cue_and_hint_are_the_answer_and_decide_at_every_dose(family: str) -> None:
    _, corpus = hand_built(ComparatorCase(family, 0.0, 1, SMALL))
    for document in corpus.test:
        assert document.rationale is not None
        marked = [t for t, mark in zip(document.tokens, document.rationale, strict=True) if mark]
        assert sorted(token.split("-")[0] for token in marked) == ["cue", "hint"]
    for dose in (0.0, 1.0):
        rows = {row.score: row for row in run_case(ComparatorCase(family, dose, 1, SMALL))}
        assert rows["leave_one_out"].auc > 0.99
        assert rows["random"].auc < 0.7
        assert rows["random"].rank >= len(rows) - 1
    assert rows["attention"].auc == pytest.approx(1.0)


def test_attention_that_was_shuffled_is_wrong() -> None:
    rows = {row.score: row for row in run_case(ComparatorCase("scattered", 0.0, 1, SMALL))}
    assert rows["attention"].auc < 0.7
    assert rows["attention"].rank > rows["leave_one_out"].rank


def test_the_table_by_hand() -> None:
    rows = [
        ScoreOnCase("dose 1", "bypass", case, name, auc, wrong, rank)
        for case in range(2)
        for name, auc, wrong, rank in (("lime", 0.9, 0.25, 2.0), ("gradient", 1.0, 0.0, 1.0))
    ]
    lines = comparator_lines(rows)
    assert lines[0] == "| score | mean rank | AUC, dose 1; wrong |"
    assert lines[2] == "| `gradient` | 1.0 [1.0, 1.0] | 1.00 [1.00, 1.00]; 0 % |"
    assert lines[3] == "| `lime` | 2.0 [2.0, 2.0] | 0.90 [0.90, 0.90]; 25 % |"
    assert lines[-1] == "Models: dose 1: 2."


def test_the_command_prints_and_writes_the_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [ScoreOnCase("dose 1", "bypass", 0, "lime", 0.9, 0.25, 1.0)]
    monkeypatch.setattr(comparators, "run_comparators", lambda execution, size: rows)
    page, file = tmp_path / "scores.md", tmp_path / "rows.json"
    page.write_text((DOCS / "scores.md").read_text(encoding="utf-8"), encoding="utf-8")
    asked = ["controls", "--part", "scores", "--write-page", str(page), "--json", str(file)]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0
    assert "| `lime` | 1.0 | 0.90; 25 % |" in result.stdout
    assert "| `lime` | 1.0 | 0.90; 25 % |" in page.read_text(encoding="utf-8")
    assert json.loads(file.read_text())["scores"][0]["auc"] == 0.9
