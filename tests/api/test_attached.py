"""Tests of `assay.audit` on an object that assay did not train."""

from pathlib import Path

import pytest
import torch

import assay
from assay.data.lists import corpus_from_lists
from assay.models.protocol import States
from assay.verdict import CLAIMS
from tests.builders.hand_made_models import WORDS, Curved, Straight, documents

LENGTHS = (5, 3, 7, 2, 4, 6) * 6
SEVERAL_MODELS = {"needed", "stable", "exclusive per model", "guides"}


def lists(classes: int = 2) -> tuple[list[tuple[str, ...]], list[str]]:
    made = documents(LENGTHS, classes)
    return [one.tokens for one in made], [f"class {one.label}" for one in made]


def attached(classes: int = 2, kind: type[Curved] = Straight) -> Curved:
    model = kind(classes, seed=1, scale=2.0, peak=1.0)
    model.words = sorted(WORDS)
    return model


@pytest.fixture(scope="module")
def audit() -> assay.Audit:
    return assay.audit(attached(), *lists(), sample=2)


def test_probes_of_documents_are_asked_and_claims_about_several_models_are_not_measured(audit):
    found = {claim["claim"]: claim["finding"] for claim in audit.verdict()}
    assert found.keys() == {claim.name for claim in CLAIMS}
    assert {name for name, finding in found.items() if finding == "not measured"} == SEVERAL_MODELS
    assert {"agreement", "permutation", "adversary", "erase_one", "erase_order"} <= {
        *audit.evidence()["probe"]
    }


def test_the_tables_hold_the_weights_of_the_object(audit):
    model = attached()
    tokens = audit.instances["tokens"][0].to_list()
    items = torch.tensor([[4 + model.words.index(word) for word in tokens]])
    states = States(model.table[items], torch.ones_like(items, dtype=torch.bool))
    expected = model.attend(states)[0].tolist()
    assert audit.instances["attention"][0].to_list() == pytest.approx(expected)


def test_a_corpus_with_another_vocabulary_is_read_with_the_words_of_the_model(audit):
    tokens, labels = lists()
    corpus = corpus_from_lists(
        tokens, labels, classes=attached().classes, words=sorted(WORDS)[::-1]
    )
    other = assay.audit(attached(), corpus, probes=["permutation"])
    assert other.instances["attention"].to_list() == audit.instances["attention"].to_list()


def test_an_audit_of_an_object_is_saved_and_drawn(audit, tmp_path: Path):
    folder = audit.save(tmp_path / "run")
    assert not (folder / "model.safetensors").exists()
    page = (folder / "report.html").read_text("utf-8")
    assert "The model Straight was tested on 36 documents" in page
    assert "needs a trainer" in page
    assert "assay run" not in (folder / "card.md").read_text("utf-8")


@pytest.mark.parametrize("kind", [Curved, Straight])
def test_a_corpus_gives_the_same_as_its_lists(kind):
    model = attached(3, kind)
    tokens, labels = lists(3)
    corpus = corpus_from_lists(tokens, labels, classes=model.classes, words=model.words)
    options = {"probes": ["permutation", "erase_one"], "sample": 0}
    one = assay.audit(model, corpus, **options)
    other = assay.audit(model, tokens, labels, **options)
    assert one.evidence().equals(other.evidence())


def test_the_seed_of_the_audit_changes_what_is_drawn():
    audits = [assay.audit(attached(), *lists(), probes=["permutation"], seed=s) for s in (0, 1)]
    values = [one.evidence().filter(quantity="median_tvd")["value"] for one in audits]
    assert not values[0].equals(values[1])


def test_documents_need_labels():
    with pytest.raises(assay.UserError, match="one class name for each"):
        assay.audit(attached(), lists()[0])


def test_a_corpus_without_test_documents_is_refused():
    model = attached()
    corpus = corpus_from_lists([["a"]], ["class 0"], classes=model.classes)
    emptied = type(corpus)(**{**vars(corpus), "test": ()})
    with pytest.raises(assay.UserError, match="no test documents"):
        assay.audit(model, emptied)


def test_a_broken_model_is_refused_before_anything_is_measured():
    model = attached()
    own = model.attend
    model.attend = lambda states: own(states) * 0.5
    with pytest.raises(assay.UserError, match=r"sum to 0\.5"):
        assay.audit(model, *lists())
