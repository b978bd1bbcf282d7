"""Tests of the whole audit of a model with several heads: tables, verdict and page."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

import assay
from assay.data.batches import EncodedSplit
from assay.data.corpus import Corpus
from assay.models.view import View
from assay.report.sections.heads import heads_section
from assay.runs.directory import read_run
from tests.builders import small_models
from tests.builders.hand_made_models import VOCABULARY, Curved, documents
from tests.builders.models_with_heads import ThreeHeads

NEEDS_TRAINER = {"needed", "stable", "exclusive per model", "guides"}
MODEL = ThreeHeads(2)


def heads_corpus(count: int = 36) -> Corpus:
    """Documents with the label that the model predicts, so that it does not guess."""
    lengths = np.random.default_rng(0).integers(3, 12, count).tolist()
    made = documents(lengths, 2)
    view = View(MODEL, EncodedSplit.encode(made, VOCABULARY, 2).batch(range(count)))
    test = [replace(d, label=c) for d, c in zip(made, view.decisions.tolist(), strict=True)]
    toy = small_models.corpus(20)
    return replace(
        toy, train=(), dev=(), test=tuple(test), vocabulary=VOCABULARY, classes=MODEL.classes
    )


@cache
def audited() -> assay.Audit:
    return assay.audit(MODEL, heads_corpus(), sample=2)


def test_every_probe_that_needs_only_the_model_is_answered():
    found = set(audited().evidence()["probe"])
    assert {"agreement", "permutation", "adversary", "erase_one", "erase_order"} <= found
    assert {"identifiable", "sinks", "heads"} <= found
    reasons = audited().manifest.not_applicable
    lacking = {"attention_contribution", "attention_polarity", "deeplift", "substitute"}
    assert reasons.keys() == lacking


def test_claims_about_several_models_need_a_trainer():
    verdict = {line["claim"]: line for line in audited().verdict()}
    for name in NEEDS_TRAINER:
        assert verdict[name]["finding"] == "not measured"
        assert "needs a trainer" in verdict[name]["why"]
    assert verdict["depends"]["finding"] in {"supported", "contradicted", "undecided"}
    assert verdict["depends"]["n"] == 36


def test_a_search_decides_only_where_both_ends_do():
    line = next(c for c in audited().verdict() if c["claim"] == "exclusive per instance")
    ends = {measure["name"]: measure for measure in line["measures"]}
    assert len(ends) == 2
    low, high = (ends[f"effect at the {end} end"]["effect"] for end in ("lower", "upper"))
    assert low <= high
    if line["finding"] == "supported":
        assert ends["effect at the lower end"]["low"] > line["supported_above"]
    if line["finding"] == "contradicted":
        assert ends["effect at the upper end"]["high"] < line["contradicted_below"]


def test_the_summary_has_the_share_apart_and_a_value_per_head():
    summary = audited().summary().filter(pl.col("class") == "all", pl.col("statistic") == "mean")
    shares = dict(
        summary.filter(pl.col("quantity") == "share_apart").select("group", "value").iter_rows()
    )
    assert shares["all"] == pytest.approx(shares["[CLS]"] + shares["[SEP]"])
    heads = summary.filter(pl.col("quantity") == "head_tvd")
    assert heads["group"].to_list() == [f"layer 0, head {i}" for i in range(3)]
    same = audited().summary().filter(pl.col("quantity") == "same_output_tvd")
    assert same["value"].drop_nulls().max() < 1e-9


def test_the_page_names_what_stands_apart_and_compares_the_heads(tmp_path):
    folder = audited().save(tmp_path / "run")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert re.search(r"Of the attention, .*? stands apart from the items \(\[CLS\]", page)
    section = heads_section(read_run(folder))
    assert section is not None
    assert section.columns == ("head 0", "head 1", "head 2")
    assert [line.name for line in section.lines] == ["layer 0"]
    values = [cell.value for cell in section.lines[0].cells]
    best = int(np.argmax(values))
    assert f"depends most on layer 0, head {best}" in section.sentence
    section_of_heads = r'<section class="probe" aria-labelledby="heads">.*?</section>'
    drawn = re.search(section_of_heads, page, re.DOTALL)
    assert drawn is not None
    assert section.sentence in drawn[0]
    for key in ("identifiable", "sinks"):
        assert f'<section class="probe" aria-labelledby="{key}">' in page


def test_a_run_without_heads_has_no_such_section(tmp_path):
    plain = assay.audit(Curved(2, 1, 1.0, 1.0), heads_corpus(12), probes=["permutation"])
    folder = plain.save(tmp_path / "plain")
    assert heads_section(read_run(folder)) is None
    assert 'aria-labelledby="heads"' not in (folder / "report.html").read_text(encoding="utf-8")
