"""Which explanation instead: rankings by hand, and what page and card say."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.evidence import sign, stacked
from assay.report.card import card
from assay.report.page import render
from assay.report.sections.other_scores import erasure_ranking, marks_ranking, other_scores
from assay.runs.directory import RunRecord, read_run
from assay.statistics.estimates import mean_estimate, ratio_estimate
from assay.summary import summarize
from tests.builders.synthetic_run import CLASSES, write_run

DOCUMENTS = 40
KINDS = ("deletion", "mask")
FALLS = {"attention": 0.2, "gradient": 0.21, "lime": 0.4, "random": 0.1, "best": 0.5}


def columns_of(
    falls: dict[str, float], noise: float = 0.01
) -> dict[tuple[str, str | None], np.ndarray]:
    """Comprehensiveness around these means, and sufficiency as much below 0.6."""
    rng = np.random.default_rng(1)
    columns: dict[tuple[str, str | None], np.ndarray] = {}
    for kind in KINDS:
        for name, mean in falls.items():
            own = mean + rng.normal(0, noise, DOCUMENTS)
            columns["input_aopc_comprehensiveness", f"{name};by={kind}"] = own
            columns["input_aopc_sufficiency", f"{name};by={kind}"] = 0.6 - own
    return columns


def evidence_of(columns: dict[tuple[str, str | None], np.ndarray]) -> pl.DataFrame:
    ids = [f"d{number:02}" for number in range(DOCUMENTS)]
    return sign([stacked(ids, columns)], "input_erasure", 0)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """A synthetic run, whose verdict contradicts a claim, with erasure on the input."""
    folder = write_run(tmp_path_factory.mktemp("erased"), documents=DOCUMENTS)
    instances = pl.read_parquet(folder / "instances.parquet")
    signed = sign([stacked(instances["id"].to_list(), columns_of(FALLS))], "input_erasure", 0)
    evidence = pl.concat([pl.read_parquet(folder / "evidence.parquet"), signed])
    evidence.write_parquet(folder / "evidence.parquet")
    summary = summarize(evidence, instances, CLASSES, 0).to_dicts()
    (folder / "summary.json").write_text(json.dumps(summary))
    return read_run(folder)


def test_the_ranking_is_a_ratio_of_gains_over_random():
    columns = columns_of(FALLS)
    ranking = erasure_ranking(evidence_of(columns))
    assert ranking is not None
    assert [line.name for line in ranking.lines] == ["LIME", "gradient", "attention"]

    def gain(name: str) -> np.ndarray:
        parts = [
            columns[f"input_aopc_{measure}", f"{order};by={kind}"] * direction
            for order, turn in ((name, 1), ("random", -1))
            for kind in KINDS
            for measure, direction in (("comprehensiveness", turn), ("sufficiency", -turn))
        ]
        return np.sum(parts, axis=0) / (2 * len(KINDS))

    expected = ratio_estimate(gain("lime"), gain("best"))
    best = ranking.lines[0]
    assert best.own.value == pytest.approx(expected.value)
    assert (best.own.low, best.own.high) == pytest.approx(expected.interval())
    assert best.difference is not None
    paired = ratio_estimate(gain("lime") - gain("attention"), gain("best"))
    assert best.difference.value == pytest.approx(paired.value)
    # Two comparisons with attention: intervals of 97.5 % each.
    assert (best.difference.low, best.difference.high) == pytest.approx(paired.interval(0.975))
    assert ranking.best is best
    assert ranking.alike == ()


def test_scores_as_good_as_the_best_are_named():
    found = erasure_ranking(evidence_of(columns_of(FALLS | {"kernel_shap": 0.4}, noise=0.05)))
    assert found is not None
    assert {found.lines[0].name, *found.alike} == {"LIME", "kernel SHAP"}


def test_scores_are_compared_on_common_documents():
    columns = columns_of(FALLS)
    for (_, group), values in columns.items():
        if group is not None and group.startswith("lime"):
            values[:25] = np.nan
    found = erasure_ranking(evidence_of(columns))
    assert found is not None
    assert {line.name: line.own.n for line in found.lines} == {
        "LIME": 15,
        "gradient": 40,
        "attention": 40,
    }


def test_nothing_is_ranked_where_no_order_matters():
    assert erasure_ranking(evidence_of(columns_of(dict.fromkeys(FALLS, 0.1), noise=0.0))) is None
    assert erasure_ranking(pl.DataFrame(schema=evidence_of(columns_of(FALLS)).schema)) is None


def test_marks_are_ranked_by_auc():
    rng = np.random.default_rng(2)
    means = {"attention": 0.7, "gradient": 0.9, "random": 0.5}
    columns = {("auc", name): mean + rng.normal(0, 0.01, 20) for name, mean in means.items()}
    ids = [f"d{number:02}" for number in range(20)]
    ranking = marks_ranking(sign([stacked(ids, columns)], "rationale", 0))
    assert ranking is not None
    assert [line.name for line in ranking.lines] == ["gradient", "attention"]
    gap = mean_estimate(columns["auc", "gradient"] - columns["auc", "attention"])
    assert ranking.lines[0].difference is not None
    assert ranking.lines[0].difference.value == pytest.approx(gap.value)


def section(page: str) -> str:
    found = re.search(r'<section [^>]*="input_erasure">.*?</section>', page, re.DOTALL)
    return "" if found is None else found[0]


def test_page_and_card_say_which_score_did_best(run: RunRecord):
    others = other_scores(run)
    assert others.against  # the synthetic verdict contradicts a claim
    [sentence] = others.sentences
    assert sentence.startswith("Of 2 other scores, LIME did best when the items it ranks first")
    shown = section(render(run))
    assert "Which explanation instead?" in shown
    assert sentence in shown
    assert "best order found" in shown
    assert shown.count("sufficiency</th>") == len(KINDS)
    assert "### Which explanation instead?" in card(run)


def test_without_a_contradicted_claim_nothing_is_recommended(run: RunRecord):
    kept = tuple(claim for claim in run.verdict if claim.finding != "contradicted")
    changed = RunRecord(**{**vars(run), "verdict": kept})
    assert other_scores(changed).sentences == ()
    assert "Which explanation instead?" not in section(render(changed))
    assert "Which explanation instead?" not in card(changed)


def test_no_better_score_is_said(run: RunRecord):
    worse = evidence_of(columns_of({**FALLS, "lime": 0.15, "gradient": 0.15}))
    changed = RunRecord(**{**vars(run), "evidence": worse.lazy()})
    [sentence] = other_scores(changed).sentences
    assert sentence.startswith("No other score of 2 did better than attention")


def test_a_run_without_the_probe_has_no_section(tmp_path: Path):
    run = read_run(write_run(tmp_path, documents=8))
    assert section(render(run)) == ""
    assert other_scores(run).sentences == ()
