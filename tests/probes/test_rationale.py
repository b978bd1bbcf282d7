"""Does the rationale probe hold every score against the marks, and skip what has none?"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import assay
from assay.models.view import AuditView, NotApplicable, View
from assay.probes.rationale import marked_items, measure
from assay.runs.audit import audit_documents, inputs_of
from assay.scores.score import RunDocuments
from assay.statistics.ranking import marked_item_metrics
from tests.builders.small_models import batch, corpus, network

MARKS = {
    "document 0": (True, False, False),
    "document 1": (False, True, True, False, True, False, False),
    "document 2": (False,) * 5,
    "document 3": (True, True),
}
TOY = corpus()


def view_of(marks=MARKS, lengths=(3, 7, 5, 2, 4)):
    return AuditView(network(), batch(list(lengths)), inputs={"rationale": marks})


def scores_of(view):
    rng = np.random.default_rng(2)
    attention = view.weights.double().numpy()
    return {"attention": attention, "lime": rng.normal(size=attention.shape) * view.mask}


def measured(view, scores):
    return pl.concat(measure(view, scores).rows)


def marked_toy():
    """The word that decides is marked, in all documents but the first three of test."""

    def mark(document):
        return replace(document, rationale=tuple(w in ("awful", "fine") for w in document.tokens))

    test = (*TOY.test[:3], *map(mark, TOY.test[3:]))
    return replace(TOY, train=tuple(map(mark, TOY.train)), test=test)


@pytest.fixture(scope="module")
def fitted():
    return assay.train(TOY, encoder="average")


def test_it_equals_scikit_learn_document_by_document():
    view = view_of()
    scores = scores_of(view)
    table = measured(view, scores)
    for row, name in enumerate(view.batch.ids[:2]):
        marks, length = np.array(MARKS[name]), len(MARKS[name])
        for score, values in scores.items():
            sizes = np.abs(values[row, :length])
            own = table.filter(instance=name, group=score)
            got = dict(zip(own["quantity"], own["value"], strict=True))
            top = np.argsort(-sizes)[: marks.sum()]
            assert got["auc"] == pytest.approx(roc_auc_score(marks, sizes))
            assert got["average_precision"] == pytest.approx(average_precision_score(marks, sizes))
            assert got["precision"] == pytest.approx(marks[top].mean())
        weights = scores["attention"][row, :length]
        gain = table.filter(instance=name, quantity="mass_gain")["value"].item()
        assert gain == pytest.approx(weights[marks].sum() - marks.mean())


def test_what_cannot_tell_scores_apart_is_null():
    """None marked, all marked, and a document that nobody read."""
    view = view_of()
    table = measured(view, scores_of(view))
    assert table.filter(pl.col("instance").is_in(view.batch.ids[2:]))["value"].null_count() == (
        table["value"].null_count()
    )
    assert table["value"].null_count() == 3 * (2 * 3 + 2)


def test_uniform_weights_gain_no_mass_and_order_nothing():
    view = view_of()
    flat = view.mask / view.mask.sum(1, keepdims=True)
    table = measured(view, {"attention": flat}).drop_nulls("value")
    values = {
        name: table.filter(quantity=name)["value"].to_numpy() for name in ("auc", "mass_gain")
    }
    assert values["auc"] == pytest.approx([0.5, 0.5])
    assert values["mass_gain"] == pytest.approx([0, 0], abs=1e-15)


def test_a_document_does_not_depend_on_its_batch():
    view = view_of()
    alone = replace(view, batch=view.batch.rows(slice(1, 2)))
    together = measured(view, scores_of(view)).filter(instance="document 1", group="attention")
    apart = measured(alone, {"attention": alone.weights.double().numpy()})
    apart = apart.filter(group="attention")
    assert together["value"].to_list() == pytest.approx(apart["value"].to_list())


@pytest.mark.parametrize("view", [view_of(None), View(network(), batch([3]))])
def test_without_rationales_it_is_not_applicable(view):
    with pytest.raises(NotApplicable, match="no items are marked"):
        marked_items(view)


def test_a_part_without_marks_is_skipped_where_the_run_has_some(fitted):
    """Whether the probe applies must not depend on how documents are cut into jobs."""
    whole = RunDocuments.of(marked_toy().test)
    first = marked_toy().test[:3]
    model = fitted.trained
    inputs = inputs_of(("rationale",), first, model.vocabulary)
    ask = {"probes": ("rationale",), "seed": 0, "model_seed": 0, "sample": 0, "inputs": inputs}
    part = audit_documents(model.network, first, model.vocabulary, run=whole, **ask)
    assert part.not_applicable.keys().isdisjoint({"rationale"})
    assert part.evidence["value"].null_count() == len(part.evidence) > 0
    alone = audit_documents(model.network, first, model.vocabulary, **ask)
    assert "no items are marked" in alone.not_applicable["rationale"]
    assert alone.evidence.is_empty()


def test_an_audit_finds_the_planted_word(fitted):
    """No context and a label that hangs on one word: attention comes to lie on it."""
    toy = marked_toy()
    audit = assay.audit(fitted, toy, probes=("rationale",), sample=1)
    rows = audit.summary().filter(quantity="auc", **{"class": "all"})
    means = dict(zip(rows["group"], rows["value"], strict=True))
    assert means["attention"] > 0.75
    assert abs(means["random"] - 0.5) < 0.25
    assert set(rows.filter(group="attention")["skipped"]) == {3}
    kept = audit.instances.drop_nulls("rationale")
    weights, marks, mask = (np.zeros((len(kept), 12)) for _ in range(3))
    for row, (values, flags) in enumerate(kept.select("attention", "rationale").iter_rows()):
        weights[row, : len(values)], marks[row, : len(values)] = values, flags
        mask[row, : len(values)] = 1
    again = marked_item_metrics(weights, marks.astype(bool), mask.astype(bool)).auc.mean()
    assert means["attention"] == pytest.approx(again)


def test_where_items_are_sentences_one_is_marked_if_a_word_in_it_is():
    def lengthen(document):
        """Two sentences without a mark after the one that holds it."""
        tokens = (*document.tokens, ".", *("word1", "word2", ".") * 2)
        rationale = tuple(word in ("awful", "fine") for word in tokens)
        return replace(document, tokens=tokens, rationale=rationale)

    parts = {name: tuple(map(lengthen, getattr(TOY, name))) for name in ("train", "dev", "test")}
    toy = replace(TOY, **parts)
    audit = assay.audit(assay.train(toy, encoder="han-none"), toy, probes=("rationale",), sample=0)
    shares = audit.evidence().filter(quantity="marked_share")["value"]
    assert shares.to_list() == pytest.approx([1 / 3] * len(toy.test))
    top = [weights[0] == max(weights) for weights in audit.instances["attention"].to_list()]
    aucs = audit.evidence().filter(quantity="auc", group="attention")["value"]
    assert [auc == 1 for auc in aucs] == top
