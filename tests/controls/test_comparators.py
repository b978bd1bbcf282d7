"""Scores on models whose reason is known: ranks by hand, and hand-built models at both ends."""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from assay.cli.app import app
from assay.controls import comparators
from assay.controls.comparators import (
    HAND_BUILT,
    ComparatorCase,
    ComparatorSettings,
    ScoreOnCase,
    answers,
    comparator_lines,
    compare_scores,
    hand_built,
    run_case,
)
from assay.scores import SCORES

SMALL = ComparatorSettings(documents=30, cases=1, motifs=0, test=0, sample=8)
DOCS = Path(__file__).resolve().parents[2] / "docs"


def on(rows: list[ScoreOnCase], column: str) -> dict[str, ScoreOnCase]:
    return {row.score: row for row in rows if row.column == column}


def test_ranks_share_ties_and_use_common_documents() -> None:
    marks = [(True, False, False), (True, True, False), (True, False), (True, True)]
    instances = pl.DataFrame(
        {
            "attention": [[0.2, 0.5, 0.3], [0.5, 0.2, 0.3], [0.9, 0.1], [0.5, 0.5]],
            "gradient_input": [
                [-5.0, 1.0, 2.0],
                [3.0, -2.0, 0.0],
                [0.0, 1.0],
                [1.0, 1.0],
            ],  # signed
            "lime": [[9.0, 1.0, 2.0], [3.0, 2.0, 1.0], None, [1.0, 1.0]],
            "deeplift": pl.Series([None] * 4, dtype=pl.List(pl.Float64)),
        }
    )
    case = ComparatorCase("bypass", 1.0, 0, SMALL)
    rows = on(list(compare_scores(instances, marks, case, "dose 1")), "dose 1")
    assert set(rows) == {"attention", "gradient_input", "lime"}
    # The third document has no LIME, and all items of the fourth one are marked.
    assert rows["attention"].auc == pytest.approx((0 + 0.5) / 2)
    assert rows["attention"].wrong == pytest.approx((1 + 0.5) / 2)
    assert SCORES["gradient_input"].signed
    assert (rows["gradient_input"].auc, rows["gradient_input"].wrong) == (1, 0)
    assert [rows[name].rank for name in ("gradient_input", "lime", "attention")] == [1.5, 1.5, 3]


@pytest.mark.parametrize("family", HAND_BUILT)
def test_cue_and_hint_are_the_answer_and_decide_at_every_dose(family: str) -> None:
    for dose, column in comparators.OF_DOSE.items():
        case = ComparatorCase(family, dose, 1, SMALL)
        _, corpus = hand_built(case)
        for name, begins in ((column, ["cue", "hint"]), (f"{column}, cue alone", ["cue"])):
            marks = answers(case, corpus.test)[name]
            for document, own in zip(corpus.test, marks, strict=True):
                marked = [token for token, mark in zip(document.tokens, own, strict=True) if mark]
                assert sorted(token.split("-")[0] for token in marked) == begins
        found = run_case(case)
        rows = on(found, column)
        assert rows["leave_one_out"].auc > 0.99
        assert rows["random"].auc < 0.7
        assert rows["random"].rank >= len(rows) - 1
        assert on(found, f"{column}, cue alone")["leave_one_out"].auc > 0.99
        if dose == 1:
            assert rows["attention"].auc == pytest.approx(1.0)


def test_attention_that_was_shuffled_is_wrong() -> None:
    rows = on(run_case(ComparatorCase("scattered", 0.0, 1, SMALL)), "dose 0")
    assert rows["attention"].auc < 0.7
    assert rows["attention"].rank > rows["leave_one_out"].rank


def test_the_tables_by_hand() -> None:
    rows = [
        ScoreOnCase(column, "bypass", case, name, auc, wrong, rank)
        for column in ("dose 1", "dose 1, cue alone")
        for case in range(2)
        for name, auc, wrong, rank in (("lime", 0.9, 0.25, 2.0), ("gradient", 1.0, 0.0, 1.0))
    ]
    rows.append(ScoreOnCase("motif", "motif", 0, "lime", 0.75, 0.5, 1.0))
    lines = comparator_lines(rows)
    assert lines[0] == "| score | AUC, dose 1; wrong | rank | AUC, motif; wrong | rank |"
    assert lines[2] == "| `gradient` | 1.00 [1.00, 1.00]; 0 % | 1.0 [1.0, 1.0] | – | – |"
    assert lines[3] == "| `lime` | 0.90 [0.90, 0.90]; 25 % | 2.0 [2.0, 2.0] | 0.75; 50 % | 1.0 |"
    assert lines[5] == "Models: dose 1: 2; motif: 1."
    assert lines[9] == "| score | AUC, dose 1, cue alone; wrong | rank |"
    assert lines[-1] == "Models: dose 1, cue alone: 2."


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
    assert "| `lime` | 0.90; 25 % | 1.0 |" in result.stdout
    assert "| `lime` | 0.90; 25 % | 1.0 |" in page.read_text(encoding="utf-8")
    assert json.loads(file.read_text())["scores"][0]["auc"] == 0.9
