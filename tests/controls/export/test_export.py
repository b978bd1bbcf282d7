"""Tests of exported controls: they are the controls of assay, and work without it."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
import torch

import assay
from assay.controls.export.folder import DOSES, export_controls, original_model
from assay.data.batches import EncodedSplit
from assay.data.corpus import Document
from assay.errors import UserError
from assay.models.view import predict

DOCUMENTS = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("export") / "known"
    export_controls(place, DOCUMENTS)
    return place


@pytest.fixture(scope="module")
def module(folder: Path) -> ModuleType:
    """The exported file, imported from where it was written."""
    spec = importlib.util.spec_from_file_location("exported", folder / "known_answers.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules["exported"] = found
    spec.loader.exec_module(found)
    return found


def record(folder: Path) -> dict:
    return json.loads((folder / "known_answers.json").read_text())


def test_every_model_computes_what_the_control_computes(folder: Path, module: ModuleType):
    batch = module.documents()
    names = module.names()
    assert len(names) == 5 * len(DOSES)
    for name in names:
        model = module.load(name)
        control = original_model(model.family, model.dose)
        documents = [
            Document(each["id"], tuple(each["tokens"]), 0) for each in record(folder)["documents"]
        ]
        split = EncodedSplit.encode(documents, control.lexicon.vocabulary, 2)
        states = control.encode(split.batch(range(DOCUMENTS)))
        torch.testing.assert_close(
            model.attention(batch.ids, batch.mask, batch.rows), control.attend(states)
        )
        torch.testing.assert_close(
            model(batch.ids, batch.mask, batch.rows), predict(control, states)
        )
        other = torch.rand(batch.mask.shape, dtype=torch.float64) * batch.mask
        torch.testing.assert_close(
            model(batch.ids, batch.mask, batch.rows, other), control.decode(states, other)
        )


def test_the_truth_is_exact(module: ModuleType):
    batch = module.documents()
    for name in module.names():
        model = module.load(name)
        truth = module.truth(model, batch)
        logits = model(batch.ids, batch.mask, batch.rows)
        torch.testing.assert_close(truth.sum(1), logits[:, 0])
        assert bool((truth.abs().argmax(1) == batch.cues).all())
        embedded = model.embedding(batch.ids).requires_grad_()
        summed = model.forward_embedded(embedded, batch.ids, batch.mask, batch.rows).sum()
        (slope,) = torch.autograd.grad(summed, embedded)
        torch.testing.assert_close((slope * embedded)[..., 0].detach() * batch.mask, truth)


def test_the_claims_are_those_of_the_families(folder: Path):
    models = record(folder)["models"]
    assert models["scattered-1"]["claims"]["top weight matters"] is True
    assert models["scattered-0"]["claims"]["top weight matters"] is False
    assert models["scattered-0.5"]["claims"] == {}
    assert all(each["claims"] for name, each in models.items() if not name.endswith("0.5"))


@pytest.mark.slow
def test_the_file_needs_no_assay(folder: Path):
    code = (
        "import sys; sys.modules['assay'] = None; import known_answers as k; "
        "b = k.documents(); print(round(float(k.load('bypass-1')(b.ids, b.mask, b.rows)[0]), 6))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    control = original_model("bypass", 1.0)
    first = record(folder)["documents"][0]
    split = EncodedSplit.encode(
        [Document(first["id"], tuple(first["tokens"]), 0)], control.lexicon.vocabulary, 2
    )
    expected = predict(control, control.encode(split.batch([0])))
    assert float(done.stdout) == pytest.approx(float(expected), abs=1e-5)


def test_assay_audits_the_exported_object(folder: Path, module: ModuleType):
    found = record(folder)["documents"]
    documents = [Document(d["id"], tuple(d["tokens"]), 0) for d in found]
    model = module.load("scattered-1")
    from assay.data.lists import corpus_from_lists

    corpus = corpus_from_lists(
        [d["tokens"] for d in found],
        [d["label"] for d in found],
        classes=model.classes,
        words=model.words,
    )
    assert [one.id for one in corpus.test] == [one.id for one in documents]
    assert assay.check_model(model, corpus).passed


def test_the_transformer_has_one_site_that_matters(folder: Path):
    place = folder / "transformer"
    site = record(folder)["transformer"]
    model = assay.huggingface(place, layer=site["layer"], heads=site["head"], query="cls")
    found = record(folder)["documents"]
    corpus = model.corpus([" ".join(d["tokens"]) for d in found], [d["label"] for d in found])
    assert assay.check_model(model, corpus).passed
    batch = EncodedSplit.encode(corpus.test, corpus.vocabulary, 2).batch(range(DOCUMENTS))
    control = original_model("bypass", 1.0)
    split = EncodedSplit.encode(
        [Document(d["id"], tuple(d["tokens"]), 0) for d in found], control.lexicon.vocabulary, 2
    )
    states = control.encode(split.batch(range(DOCUMENTS)))
    with torch.no_grad():
        own = model.encode(batch)
        # The weights of the words are those of the hand-built models, by construction.
        torch.testing.assert_close(
            model.attend(own).double(), control.attend(states), atol=1e-5, rtol=0
        )
        chosen = predict(model, own).argmax(1)
        assert torch.equal(chosen, (predict(control, states)[:, 0] > 0).long())
        logits, names = model.uniform_by_head(batch)
        moved = (logits - predict(model, own)[:, None, None]).abs().amax((0, 3))
    assert names[1][0] == "layer 1, head 0"
    assert float(moved[1, 0]) > 0.1
    moved[1, 0] = 0
    assert float(moved.max()) == 0  # decoys carry nothing
    decoy = assay.huggingface(place, layer=0, heads=1, query="cls")
    again = decoy.corpus([" ".join(d["tokens"]) for d in found], [d["label"] for d in found])
    batch = EncodedSplit.encode(again.test, again.vocabulary, 2).batch(range(DOCUMENTS))
    with torch.no_grad():
        shown = decoy.attend(decoy.encode(batch))
    assert float(shown.amax(1).mean()) > 0.3  # and look like attention


def test_the_table_can_be_audited(folder: Path):
    table = pl.read_csv(folder / "documents.csv", schema_overrides={"id": pl.String})
    assert table.columns == ["id", "text", "label"]
    assert len(table) == DOCUMENTS


def test_a_folder_that_is_not_empty_is_refused(folder: Path):
    with pytest.raises(UserError, match="exists and is not an empty folder: name a new one"):
        export_controls(folder)
