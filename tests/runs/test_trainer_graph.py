"""Tests of audits with a trainer: which models are trained, on what, and what is refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import assay
from assay.data.corpus import Corpus
from assay.engines import run_graph
from assay.errors import UserError
from assay.runs.attached import Retraining
from assay.runs.trainer_jobs import AttachedBase, TrainerJob
from assay.runs.trainers import NamedTrainer, named_trainer, trainer_of
from assay.runs.training_graph import plan_jobs, run_further_job, run_trainings
from assay.runs.training_texts import TrainingTexts
from assay.training.imposed_weights import halves
from assay.training.specs import BaseModelSpec, ImitationObjective, ImposedWeights, TrainingSpec
from tests.builders import own_trainers as own

CLAIMS = ("needed", "stable", "exclusive per model", "guides")
PROBES = ("uniform", "seeds", "guide", "imitation")
HALVES = tuple(TrainingSpec(0, 0, half=half) for half in (0, 1))
GUIDED = TrainingSpec(1, 1, "average", "uniform", imposed=ImposedWeights("other half", HALVES))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own.write_table(tmp_path_factory.mktemp("table") / "all.csv")


@pytest.fixture(scope="module")
def texts(table: Path) -> TrainingTexts:
    return TrainingTexts.of(table, None, {}, None)


def base_of(texts: TrainingTexts, trainer=own.train) -> AttachedBase:
    model = own.load()
    named = trainer if isinstance(trainer, NamedTrainer) else trainer_of(trainer)
    return AttachedBase(model, "a fingerprint", texts.read(model), texts, named, "cpu")


def train_models(base: AttachedBase, specs, folder: Path):
    base.predict(folder)
    run = lambda tasks: run_graph("serial", run_further_job, tasks, 1)  # noqa: E731
    jobs = run_trainings(specs, base, folder, run)
    return {spec: folder / job.job.key for spec, job in jobs.items()}


@pytest.fixture(scope="module")
def audited(table: Path):
    own.CALLS.clear()
    audit = assay.audit(own.load(), table, trainer=own.train, sample=0, probes=PROBES)
    return audit, list(own.CALLS)


def test_the_four_claims_are_measured(audited):
    audit, calls = audited
    found = {claim["claim"]: claim for claim in audit.verdict()}
    assert {found[name]["finding"] for name in CLAIMS} <= {"supported", "contradicted", "undecided"}
    assert len(calls) == len(set(calls)) + 1  # the two halves are asked for alike
    wanted = {(seed, kind) for seed in range(3) for kind in ("own", "uniform")}
    wanted |= {(s, f"imitating, lambda {p:g}") for s in range(3) for p in (0, 0.03, 0.1)}
    assert set(calls) == wanted
    assert not set(PROBES) & set(audit.manifest.not_measured)
    assert {"deception", "roar"} <= set(audit.manifest.not_measured)


def test_the_evidence_is_that_of_the_predictions(audited, texts: TrainingTexts):
    """F1 of the uniform model with seed 1, computed from the model itself."""
    audit, _ = audited
    corpus = base_of(texts).corpus
    from assay.training.trainer import AttentionRequest, TrainingCorpus

    given = TrainingCorpus(corpus.classes, corpus.train, corpus.dev, texts.by_id)
    model = own.train(1, AttentionRequest("uniform"), given)
    split = own.as_batch(replace(given, train=corpus.test))
    predicted = model.decode(states := model.encode(split), model.attend(states)).argmax(-1)
    rows = audit.evidence().filter(
        (pl.col("probe") == "uniform") & (pl.col("quantity") == "prediction"),
        (pl.col("group") == "uniform") & (pl.col("seed") == 1),
    )
    assert dict(zip(rows["instance"], rows["value"], strict=True)) == dict(
        zip(split.ids, predicted.double().tolist(), strict=True)
    )


def test_without_a_trainer_the_claims_are_not_measured(table: Path):
    audit = assay.audit(own.load(), table, sample=0, probes=("permutation",))
    found = {claim["claim"]: claim for claim in audit.verdict()}
    assert {found[name]["finding"] for name in CLAIMS} == {"not measured"}


def test_a_trainer_sees_its_half_and_no_test_document(texts: TrainingTexts, tmp_path: Path):
    seen = []

    def watching(seed, attention, corpus):
        seen.append(corpus)
        return own.train(seed, attention, corpus)

    base = base_of(texts, watching)
    train_models(base, [*HALVES, TrainingSpec(0, 0)], tmp_path)
    test = {one.id for one in base.corpus.test}
    assert test
    for corpus in seen:
        assert not test & set(corpus.texts)
        assert corpus.dev == base.corpus.dev
    assigned = halves(base.corpus.train)
    assert [{assigned[one.id] for one in corpus.train} for corpus in seen] == [{0}, {1}, {0, 1}]
    first = seen[0].train[0]
    assert seen[0].texts[first.id] == " ".join(first.tokens)


def test_an_imitation_gets_the_predictions_of_the_audited_model(
    texts: TrainingTexts, tmp_path: Path
):
    asked = []

    def watching(seed, attention, corpus):
        asked.append(attention)
        return own.train(seed, attention, corpus)

    base = base_of(texts, watching)
    spec = TrainingSpec(0, 0, objective=ImitationObjective(BaseModelSpec(), 0.5))
    train_models(base, [spec], tmp_path)
    (request,) = asked
    batch = own.as_batch(
        replace(own.TrainingCorpus(own.CLASSES, (), (), {}), train=base.corpus.train)
    )
    states = base.model.encode(batch)
    weights = base.model.attend(states)
    logits = base.model.decode(states, weights).double().softmax(-1)
    for row, one in enumerate(base.corpus.train):
        shown = weights[row, : len(one.tokens)].double().numpy()
        np.testing.assert_allclose(request.weights[one.id], shown, atol=1e-6)
        np.testing.assert_allclose(request.predictions[one.id], logits[row].numpy(), atol=1e-6)
    assert set(request.weights) == {one.id for one in (*base.corpus.train, *base.corpus.dev)}
    assert request.lambda_ == 0.5


def test_imposed_models_are_assays_own_unless_the_trainer_trains_them(
    texts: TrainingTexts, tmp_path: Path
):
    kinds = {}
    for name, trainer in (("plain", own.train), ("imposing", own.Imposing())):
        base = base_of(texts, trainer)
        job = plan_jobs([GUIDED], base, tmp_path)[GUIDED]
        kinds[name] = isinstance(job, TrainerJob)
    assert kinds == {"plain": False, "imposing": True}
    places = train_models(base, [GUIDED], tmp_path)
    weights = next(request for _, request in trainer.asked if request.kind == "imposed").weights
    frame = pl.read_parquet(places[GUIDED] / "test.parquet")
    assert set(frame["id"]) <= set(weights)
    for name, shown in zip(frame["id"], frame["attention"].to_list(), strict=True):
        np.testing.assert_allclose(shown, weights[name], atol=1e-6)


def test_uniform_guides_are_imposed_too(texts: TrainingTexts, tmp_path: Path):
    trainer = own.Imposing()
    flat = TrainingSpec(0, 0, "average", "uniform")
    train_models(base_of(texts, trainer), [flat], tmp_path)
    ((_, request),) = trainer.asked
    assert request.kind == "imposed"
    assert all(
        np.ptp(row) == 0 and row.sum() == pytest.approx(1) for row in request.weights.values()
    )


@pytest.mark.parametrize(
    ("trainer", "spec", "words"),
    [
        (
            own.forgets_uniform,
            TrainingSpec(0, 0, attention="uniform"),
            r"\(seed 0, uniform\): the attention was to be uniform, and item .*assay.impose",
        ),
        (own.returns_nothing, TrainingSpec(3, 3), "returned nothing for seed 3"),
        (own.crashes, TrainingSpec(3, 3), "ValueError: no GPU here"),
        (
            own.cuts_otherwise,
            TrainingSpec(0, 0),
            r"reads document 'row-\d+' as \d+ items, the audited model as \d+: let both cut",
        ),
        (lambda seed, attention, corpus: "model", TrainingSpec(0, 0), "no method `attend`"),
        (
            lambda seed, attention, corpus: own.OwnModel(seed).train(),
            TrainingSpec(0, 0),
            "training mode",
        ),
    ],
    ids=["not uniform", "nothing", "crash", "other items", "no model", "training mode"],
)
def test_what_comes_back_is_checked(trainer, spec, words: str, texts, tmp_path: Path):
    with pytest.raises(UserError, match=words):
        train_models(base_of(texts, trainer), [spec], tmp_path)
    assert not list(tmp_path.glob("trainer-*"))


def test_a_model_whose_weights_do_nothing_is_refused(texts: TrainingTexts, tmp_path: Path):
    class Deaf(own.OwnModel):
        def decode(self, states, weights):
            flat = states.mask / states.mask.sum(1, keepdim=True)
            shape = weights.shape if weights.dim() == 2 else weights[:, 0].shape
            logits = super().decode(states, flat.expand(shape))
            return (
                logits if weights.dim() == 2 else logits[:, None].expand(-1, weights.shape[1], -1)
            )

    deaf = lambda seed, attention, corpus: Deaf(seed).requires_grad_(False).eval()  # noqa: E731
    with pytest.raises(UserError, match="other weights move the logits"):
        train_models(base_of(texts, deaf), [TrainingSpec(0, 0)], tmp_path)


def test_the_name_of_a_job_holds_what_can_change_it(texts: TrainingTexts, table: Path):
    def key(base: AttachedBase, spec: TrainingSpec) -> str:
        return plan_jobs([spec], base, Path("jobs"))[spec].job.key

    plain = base_of(texts)
    spec = TrainingSpec(0, 0)
    imitation = TrainingSpec(0, 0, objective=ImitationObjective(BaseModelSpec(), 0.1))
    further = replace(imitation, objective=ImitationObjective(BaseModelSpec(), 0.2))
    others = [TrainingSpec(1, 1), replace(spec, attention="uniform"), replace(spec, half=0)]
    names = [key(plain, each) for each in (spec, *others, imitation, further)]
    assert len(set(names)) == len(names)
    assert key(base_of(texts, own.forgets_uniform), spec) != key(plain, spec)
    assert key(base_of(texts, own.Imposing()), spec) != key(plain, spec)
    fewer = texts.limited(None, 10, 0)
    assert key(base_of(fewer), spec) != key(plain, spec)
    changed = replace(plain, fingerprint="another")
    assert key(changed, spec) == key(plain, spec)  # it does not depend on the audited model
    assert key(changed, imitation) != key(plain, imitation)


def test_a_finished_model_is_not_trained_again(texts: TrainingTexts, tmp_path: Path):
    own.CALLS.clear()
    for _ in range(2):
        train_models(base_of(texts), [TrainingSpec(0, 0)], tmp_path)
    assert own.CALLS == [(0, "own")]
    assert not list((tmp_path / "checkpoints").iterdir())


def test_a_corpus_is_read_by_models_with_words_and_by_models_that_cut(texts: TrainingTexts):
    corpus = base_of(texts).corpus
    again = TrainingTexts.of_corpus(corpus)
    read = again.read(own.load())
    assert isinstance(read, Corpus)
    assert [one.tokens for one in read.train] == [one.tokens for one in corpus.train]
    limited = again.limited(4, 6, 0).read(own.load())
    sizes = [len(split) for split in (limited.train, limited.dev, limited.test)]
    assert sizes == [6, len(corpus.dev), 4]


def test_a_table_without_splits_is_refused(tmp_path: Path):
    path = own.write_table(tmp_path / "t.csv", [("test", "good film", "good")] * 3)
    with pytest.raises(UserError, match="has no dev documents: add a column `split`"):
        TrainingTexts.of(path, None, {}, None)


def test_seeds_set_the_number_of_models(texts: TrainingTexts):
    budget = Retraining(trainer_of(own.train), texts, seeds=5).budget(0)
    assert (budget.together, budget.uniforms, budget.sweeps, budget.guides) == (5, 5, 5, 5)
    assert budget.from_scratch


def test_a_named_trainer_is_imported_again_by_a_worker():
    import pickle

    named = named_trainer("tests.builders.own_trainers:train")
    assert pickle.loads(pickle.dumps(named)).function is own.train  # noqa: S301
    with pytest.raises(UserError, match="did you mean 'train'"):
        named_trainer("tests.builders.own_trainers:trian")
