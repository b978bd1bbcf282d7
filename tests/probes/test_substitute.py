"""Are the substituted weights those of the word model, and is their effect measured?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from scipy.special import softmax
from sklearn.metrics import f1_score

import assay
from assay.models.view import AuditView, NotApplicable, View
from assay.probes import PROBES
from assay.probes.inputs import WordOdds, fit_word_odds
from assay.probes.substitute import log_odds_weights, measure
from assay.runs.audit import audit_documents, inputs_of
from assay.runs.jobs import AuditJob, audit_parts
from assay.statistics.divergence import class_probabilities, jsd, tvd
from tests.builders.small_models import WORDS, batch, corpus, network

TOY = corpus()
rng = np.random.default_rng(5)
ODDS = WordOdds(np.where(np.arange(WORDS) % 5 == 0, -np.inf, rng.gamma(1.0, size=WORDS)))


def view_of(task="classification", classes=2, odds=ODDS, documents=None):
    documents = documents or batch([2, 7, 5], pair=task == "pair", classes=classes)
    return AuditView(network(task, classes=classes), documents, 0, inputs={"word_odds": odds})


def attention_of(view):
    return {"attention": view.weights.double().numpy()}


@pytest.mark.parametrize(
    ("task", "classes"), [("classification", 2), ("classification", 3), ("pair", 3)]
)
@torch.no_grad()
def test_it_equals_one_document_at_a_time(task, classes):
    view = view_of(task, classes)
    found = pl.concat(measure(view, attention_of(view)).rows)
    for row, length in enumerate(view.batch.lengths.tolist()):
        one = view.batch.rows(slice(row, row + 1))
        weights = softmax(ODDS.logits[one.items[0, :length].numpy()])
        padded = torch.zeros(one.items.shape, dtype=torch.float64)
        padded[0, :length] = torch.from_numpy(weights)
        states = view.model.encode(one)
        own = view.model.attend(states)
        before, after = (
            class_probabilities(view.model.decode(states, w).double()) for w in (own, padded)
        )
        plain = {
            "tvd": tvd(before, after),
            "jsd": jsd(own, padded),
            "flip": before.argmax() != after.argmax(),
            "only_stop_words": 0.0,
            "decision": before.argmax(),
            "decision_substituted": after.argmax(),
        }
        ours = found.filter(instance=one.ids[0])
        measured = dict(zip(ours["quantity"], ours["value"], strict=True))
        assert measured == pytest.approx({name: float(v) for name, v in plain.items()}, abs=1e-12)


def test_the_models_own_weights_change_nothing():
    """Log-odds that are the model's own attention logits give its own prediction."""
    documents = batch([6])
    documents.items[0] = torch.arange(4, 10)
    own = view_of(documents=documents).weights[0].double().numpy()
    logits = np.zeros(WORDS)
    logits[4:10] = np.log(own) + 3
    view = view_of(odds=WordOdds(logits), documents=documents)
    found = pl.concat(measure(view, attention_of(view)).rows)
    for name in ("tvd", "jsd", "flip"):
        assert found.filter(quantity=name)["value"].item() == pytest.approx(0, abs=1e-12)


def test_only_stop_words_weigh_the_same():
    items = torch.tensor([[5, 10, 0], [5, 6, 7], [7, 0, 0]])
    mask = torch.tensor([[True, True, False], [True] * 3, [True, False, False]])
    weights, nothing = log_odds_weights(items, mask, ODDS)
    assert nothing.tolist() == [True, False, False]
    assert weights[0].tolist() == [0.5, 0.5, 0]
    assert weights[1, 0] == 0
    assert weights[2].tolist() == [1, 0, 0]
    assert weights.sum(1).tolist() == pytest.approx([1, 1, 1])


def test_a_view_without_odds_cannot_be_asked():
    plain = View(network(), batch([3]))
    unfit = view_of(odds=WordOdds(np.zeros(0), "one class"))
    for view, words in (
        (plain, "training split"),
        (view_of(odds=None), "training split"),
        (unfit, "one class"),
    ):
        with pytest.raises(NotApplicable, match=words):
            measure(view, attention_of(view))


def test_a_probe_that_cannot_be_asked_is_noted():
    model = network()
    asked = ["permutation", "substitute"]
    measured = audit_documents(model, TOY.test, TOY.vocabulary, probes=asked, seed=0, model_seed=0)
    assert set(measured.evidence["probe"]) == {"permutation"}
    assert "training split" in measured.not_applicable["substitute"]


@pytest.fixture(scope="module")
def audited():
    return assay.audit(assay.train(TOY, encoder="average"), TOY, probes=["substitute"])


def test_the_summary_puts_both_models_side_by_side(audited):
    labels = audited.instances["label"]
    wide = audited.evidence().pivot("quantity", index="instance", values="value")
    for name in ("decision", "decision_substituted"):
        said = [TOY.classes[int(number)] for number in wide[name]]
        rows = audited.summary().filter(quantity=name).to_dicts()
        found = {row["statistic"]: row for row in rows}
        assert set(found) == {"accuracy", "f1"}
        assert {row["class"] for row in rows} == {"all"}
        assert found["f1"]["value"] == pytest.approx(f1_score(labels, said, pos_label="good"))
        right = np.mean([one == other for one, other in zip(labels, said, strict=True)])
        assert found["accuracy"]["value"] == pytest.approx(right)
        assert all(row["low"] <= row["value"] <= row["high"] for row in rows)
    assert wide["decision"].to_list() == [
        TOY.classes.index(name) for name in audited.instances["prediction"]
    ]
    flips = audited.summary().filter(quantity="flip", **{"class": "all"})
    assert flips["value"].item() == pytest.approx(
        (wide["decision"] != wide["decision_substituted"]).mean()
    )


def test_more_classes_are_judged_by_macro_f1(audited):
    three = replace(audited, classes=(*TOY.classes, "neither"))
    statistics = three.summary().filter(quantity="decision")["statistic"].to_list()
    assert statistics == ["accuracy", "macro_f1"]


def test_inputs_belong_to_the_job_only_where_they_are_read():
    assert inputs_of(["agreement", "permutation"], TOY.train, TOY.vocabulary) == {}
    inputs = inputs_of(["substitute"], TOY.train, TOY.vocabulary)
    without, given = (
        AuditJob(
            Path(), "model", audit_parts(TOY.test, each)[0], tuple(PROBES), 0, 9, 1, "cpu", Path()
        )
        for each in ({}, inputs)
    )
    assert without.job.identity["inputs"] == {}
    digest = fit_word_odds(TOY.train, TOY.vocabulary).digest
    assert given.job.identity["inputs"] == {"word_odds": digest}
    assert given.job.key != without.job.key
