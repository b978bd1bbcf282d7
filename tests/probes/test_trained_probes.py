"""Do the probes that need a trainer read the right numbers out of the trained models?"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import kendalltau
from sklearn.metrics import f1_score

from assay.data.corpus import Corpus, Document
from assay.evidence import rows, sign
from assay.models.view import NotApplicable
from assay.probes import PROBES, imitation, masked_training
from assay.probes.deception import marked_mass
from assay.probes.guide import HALVES
from assay.probes.imitation import far_lambda, select_lambda, sweep
from assay.probes.model_comparison import attention_jsd, f1, prediction_tvd
from assay.probes.seeds import families
from assay.probes.uniform import flat_model
from assay.summary import summarize
from assay.training.specs import (
    DECIDING_GUIDES,
    BaseModelSpec,
    ImitationObjective,
    ImposedWeights,
    ModelOutputs,
    ModelSpec,
    Predictions,
    TrainingSpec,
    training_budget,
)
from tests.builders.small_trainings import SCALE, marked_corpus

TOY = marked_corpus()
TRAINED = {name: probe for name, probe in PROBES.items() if probe.trainings is not None}


def looked(documents: tuple[Document, ...], seed: int) -> Predictions:
    rng = np.random.default_rng(seed)
    p = rng.random(len(documents))
    attention = np.zeros((len(documents), max(len(d.tokens) for d in documents)))
    for row, document in enumerate(documents):
        attention[row, : len(document.tokens)] = rng.dirichlet(np.ones(len(document.tokens)))
    labels = np.array([d.label for d in documents])
    return Predictions(tuple(d.id for d in documents), labels, np.stack([1 - p, p], 1), attention)


def far(base: Predictions, positive: np.ndarray) -> Predictions:
    """All weight on the item the base likes least: more than 0.4 away."""
    attention = np.zeros_like(base.attention)
    for row, weights in enumerate(base.attention):
        attention[row, np.flatnonzero(weights)[weights[weights > 0].argmin()]] = 1
    return replace(base, attention=attention, probabilities=np.stack([1 - positive, positive], 1))


def made_up(name: str) -> dict[ModelSpec, ModelOutputs]:
    """What the trained models would have said, had they been trained; the last lambda's is far."""
    plan = TRAINED[name].trainings.plan(SCALE, TOY)
    outputs: dict[ModelSpec, ModelOutputs] = {
        source: ModelOutputs(
            *(looked(part, 3 * n + i) for i, part in enumerate((TOY.dev, TOY.test, TOY.test))),
            converged=True,
        )
        for n, source in enumerate(dict.fromkeys(plan))
    }
    if name == "imitation":
        base = outputs[BaseModelSpec()]
        for number in range(SCALE.sweeps):
            spec = sweep(SCALE, number)[max(SCALE.weights)]
            own = outputs[spec]
            dev = far(base.dev, own.dev.probabilities[:, 1])
            test = far(base.test, own.test.probabilities[:, 1])
            outputs[spec] = replace(own, dev=dev, test=test)
    if name == "masked_training":
        outputs = {
            spec: replace(found, probe_rows=erased_made_up()) for spec, found in outputs.items()
        }
    return outputs


def erased_made_up() -> pl.DataFrame:
    """What `input_erasure` would have said of a model: better than random, worse than the best."""
    ids = [document.id for document in TOY.test]
    orders = {"random": 0.1, **dict.fromkeys(masked_training.SCORES, 0.2), "best": 0.4}
    frames = [
        rows(ids, f"input_aopc_{measure}", np.full(len(ids), mean), group=f"{order};by=mask")
        for measure in masked_training.MEASURES
        for order, mean in orders.items()
    ]
    return pl.concat(frames)


def concluded(
    name: str, outputs: Mapping[ModelSpec, ModelOutputs], corpus: Corpus = TOY
) -> pl.DataFrame:
    return sign(TRAINED[name].trainings.conclude(outputs, SCALE, corpus), name, SCALE.seed)


def value(frame: pl.DataFrame, **named: object) -> float:
    return frame.filter(**named)["value"].item()


@pytest.mark.parametrize("name", TRAINED)
def test_quantities_are_those_declared_and_every_one_is_measured(name: str):
    rows = concluded(name, made_up(name))
    assert set(rows["quantity"]) == {q.name for q in TRAINED[name].quantities}
    ids = {document.id for document in TOY.test}
    assert set(rows["instance"].drop_nulls()) <= ids
    once = rows.group_by("instance", "quantity", "group", "seed").len()
    assert once["len"].max() == 1


def test_distances_and_f1_against_scipy_and_scikit_learn():
    one, other = looked(TOY.test, 1), looked(TOY.test, 2)
    expected = [
        jensenshannon(a, b) ** 2 for a, b in zip(one.attention, other.attention, strict=True)
    ]
    np.testing.assert_allclose(attention_jsd(one, other), expected, atol=1e-12)
    moved = np.abs(one.probabilities[:, 1] - other.probabilities[:, 1])
    np.testing.assert_allclose(prediction_tvd(one, other), moved, atol=1e-12)
    assert f1(one, TOY) == f1_score(one.labels, one.probabilities[:, 1] > 0.5)
    three = replace(TOY, classes=("a", "b", "c"))
    assert f1(one, three) == f1_score(one.labels, one.predictions, average="macro")


def test_a_model_that_never_says_yes_has_an_f1_of_nothing():
    never = replace(looked(TOY.test, 1), probabilities=np.tile([0.9, 0.1], (len(TOY.test), 1)))
    assert f1(never, TOY) == 0


def test_uniform_pairs_networks_of_the_same_seed():
    outputs = made_up("uniform")
    rows = concluded("uniform", outputs)
    for seed, base in ((0, BaseModelSpec()), (1, TrainingSpec(1, 1))):
        gap = f1(outputs[base].test, TOY) - f1(outputs[flat_model(SCALE, seed)].test, TOY)
        assert value(rows, quantity="f1_difference", seed=seed) == pytest.approx(gap)
    assert flat_model(SCALE) == TrainingSpec(0, 0, attention="uniform")


def test_the_difference_has_an_interval_over_seeds_and_one_over_documents():
    rows = concluded("uniform", made_up("uniform"))
    names = np.array(TOY.classes)
    instances = pl.DataFrame(
        {
            "id": [d.id for d in TOY.test],
            "label": names[[d.label for d in TOY.test]],
            "prediction": names[[d.label for d in TOY.test]],
        }
    )
    summary = summarize(rows, instances, TOY.classes, 0).filter(quantity="f1_difference")
    found = {row["statistic"]: row for row in summary.iter_rows(named=True)}
    assert set(found) == {"mean_over_seeds", "over_documents"}
    seeds, documents = found["mean_over_seeds"], found["over_documents"]
    assert documents["value"] == pytest.approx(seeds["value"])
    assert documents["low"] < documents["value"] < documents["high"]
    assert (seeds["n"], documents["n"]) == (2, len(TOY.test))


def test_seeds_vary_initial_weights_and_order_together_and_apart():
    found = families(replace(SCALE, seed=10, together=3, apart=2))
    pairs = {name: [(x.init_seed, x.order_seed) for x in family] for name, family in found.items()}
    assert pairs == {
        "both": [(11, 11), (12, 12), (13, 13)],
        "init": [(11, 10), (12, 10)],
        "order": [(10, 11), (10, 12)],
    }


def test_seeds_medians_are_over_models_per_document():
    outputs = made_up("seeds")
    rows = concluded("seeds", outputs)
    base = outputs[BaseModelSpec()].test
    both = [attention_jsd(base, outputs[one].test) for one in families(SCALE)["both"]]
    medians = rows.filter(quantity="median_jsd", group="both")
    assert medians["instance"].to_list() == list(base.ids)
    np.testing.assert_allclose(medians["value"], np.median(both, axis=0))
    assert set(medians["seed"]) == {SCALE.seed}
    own = rows.filter(quantity="jsd", group="both", seed=2)["value"]
    np.testing.assert_allclose(own, both[1])
    assert value(rows, quantity="mean_jsd", group="both", seed=2) == pytest.approx(both[1].mean())


def test_guides_are_as_many_as_the_paper_s_and_its_controls():
    rows = concluded("guide", made_up("guide"))
    groups = [
        "uniform",
        "trained",
        "base",
        "adversary",
        "permuted",
        "tf-idf",
        "leave_one_out",
        "leak",
        "seen",
        "unseen",
    ]
    assert rows["group"].drop_nulls().unique(maintain_order=True).to_list() == groups
    assert set(rows.filter(quantity="f1")["seed"]) == {0, 1}


def test_under_quick_only_weights_that_decide_are_imposed():
    scale = replace(SCALE, imposed=DECIDING_GUIDES)
    plan = TRAINED["guide"].trainings.plan(scale, TOY)
    kinds = {spec.imposed.kind for spec in plan if spec.imposed is not None}
    assert kinds == {"weights", "permuted", "own half", "other half"}
    # `leak` is the older name of `unseen`: five trainings a seed, and six names.
    assert (len(set(plan)), len(plan)) == (5 * SCALE.guides, 6 * SCALE.guides)


def test_the_guide_s_adversary_is_the_sweep_s_and_its_leak_control_has_two_halves():
    plan = [x for x in TRAINED["guide"].trainings.plan(SCALE, TOY) if isinstance(x, TrainingSpec)]
    guides = {spec.imposed for spec in plan if spec.imposed is not None}
    assert ImposedWeights("weights", (sweep(SCALE)[max(SCALE.weights)],)) in guides
    assert (
        ImposedWeights("other half", tuple(TrainingSpec(0, 0, half=half) for half in HALVES))
        in guides
    )
    assert {spec.encoder for spec in plan} == {"average"}


def test_from_fresh_weights_the_guide_s_adversary_has_the_published_lambda():
    scale = replace(SCALE, from_scratch=True, weights=(0.0, 8e-4, 1e-3, 1e-2))
    plan = TRAINED["guide"].trainings.plan(scale, TOY)
    assert ImposedWeights("weights", (sweep(scale)[1e-3],)) in {spec.imposed for spec in plan}


def test_a_second_text_or_sentences_cannot_be_guided():
    plan = TRAINED["guide"].trainings.plan
    with pytest.raises(NotApplicable, match="this corpus has two"):
        plan(SCALE, replace(TOY, task="pair"))
    sentences = replace(TOY.test[0], words=(("a",),) * len(TOY.test[0].tokens))
    with pytest.raises(NotApplicable, match="sentences"):
        plan(SCALE, replace(TOY, test=(sentences, *TOY.test[1:])))


def test_a_sweep_goes_on_from_lambda_to_lambda_unless_from_scratch():
    going_on, afresh = sweep(SCALE), sweep(replace(SCALE, from_scratch=True))
    before = None
    for weight, spec in going_on.items():
        assert spec.start == before
        assert spec.objective == ImitationObjective(BaseModelSpec(), weight)
        before = spec
    assert [spec.epochs for spec in going_on.values()] == [2, 1, 1]
    assert {spec.start for spec in afresh.values()} == {None}
    assert {spec.epochs for spec in afresh.values()} == {SCALE.first_epochs}
    other = sweep(SCALE, 1)[0.0]
    assert (other.init_seed, other.order_seed) == (1, 1)


def test_imitation_says_how_each_sweep_began_and_what_half_the_tvd_is():
    outputs = made_up("imitation")
    rows = concluded("imitation", outputs)
    began = rows.filter(pl.col("group") == "lambda=0.001").select("seed", "method").unique()
    assert sorted(began.rows()) == [(0, "same_start"), (1, "other_start")]
    full = value(rows, quantity="mean_tvd", group="lambda=0.01", seed=1)
    half = value(rows, quantity="mean_half_tvd", group="lambda=0.01", seed=1)
    assert full == pytest.approx(2 * half)
    other = outputs[sweep(SCALE, 1)[1e-2]].test
    assert full == pytest.approx(prediction_tvd(outputs[BaseModelSpec()].test, other).mean())


def test_the_chosen_model_is_far_away_and_the_best_of_those():
    base = looked(TOY.dev, 0)
    right = base.labels * 0.8 + 0.1
    near_and_right = replace(base, probabilities=np.stack([1 - right, right], 1))
    half_right = np.where(np.arange(len(right)) % 3 == 0, 1 - right, right)
    found = {0.0: near_and_right, 1e-3: far(base, half_right), 1e-2: far(base, 1 - right)}
    assert attention_jsd(base, found[1e-3]).mean() > imitation.FAR
    assert select_lambda(base, found, TOY) == 1e-3
    assert select_lambda(base, {0.0: near_and_right}, TOY) is None


def test_nothing_far_enough_is_said_as_nothing():
    outputs = {source: made_up("imitation")[BaseModelSpec()] for source in made_up("imitation")}
    rows = concluded("imitation", outputs)
    assert rows.filter(quantity="chosen_lambda")["value"].to_list() == [None, None]
    assert "chosen" not in rows["group"].to_list()
    assert rows.filter(quantity="far_lambda")["value"].to_list() == [None, None]
    assert rows.filter(quantity="far_tvd").is_empty()
    assert set(rows.filter(quantity="jsd")["value"]) == {0.0}


def test_the_far_model_is_selected_on_dev_by_its_tvd_among_those_that_are_far():
    base = looked(TOY.dev, 0)
    own = base.probabilities[:, 1]
    every = np.ones(len(base.ids), dtype=bool)
    shifted = np.where(own > 0.5, own - 0.2, own + 0.2)
    found = {0.0: base, 1e-3: far(base, shifted), 1e-2: far(base, own)}
    assert far_lambda(base, found, every) == 1e-2
    assert far_lambda(base, {0.0: base, 1e-3: found[1e-3]}, every) == 1e-3
    assert far_lambda(base, {0.0: base}, every) is None
    assert far_lambda(base, found, ~every) is None


def test_the_cost_is_the_far_model_s_tvd_above_that_of_lambda_zero_by_document():
    outputs = made_up("imitation")
    rows = concluded("imitation", outputs)
    base = outputs[BaseModelSpec()].test
    for seed in range(SCALE.sweeps):
        models = {weight: outputs[spec].test for weight, spec in sweep(SCALE, seed).items()}
        moved = {weight: prediction_tvd(base, one) for weight, one in models.items()}
        own = rows.filter(seed=seed)
        assert value(own, quantity="far_lambda") == 1e-2
        np.testing.assert_allclose(own.filter(quantity="far_tvd")["value"], moved[1e-2])
        cost = own.filter(quantity="imitation_cost")["value"]
        np.testing.assert_allclose(cost, moved[1e-2] - moved[0.0])
        away = attention_jsd(base, models[1e-2]).mean()
        assert value(own, quantity="far_jsd") == pytest.approx(away)
        assert value(own, quantity="far_converged") == 1


def test_a_document_with_one_item_has_no_cost_and_no_rank_agreement():
    alone = replace(TOY.test[0], tokens=TOY.test[0].tokens[:1], rationale=(True,))
    corpus = replace(TOY, test=(alone, *TOY.test[1:]))
    for name, quantities in {
        "imitation": ("far_tvd", "imitation_cost"),
        "seeds": ("pair_tau", "pair_top_overlap", "pair_jsd", "top_overlap_expected"),
    }.items():
        rows = concluded(name, made_up(name), corpus).filter(pl.col("quantity").is_in(quantities))
        assert set(rows["quantity"]) == set(quantities)
        own = rows.filter(instance=alone.id)["value"]
        assert own.null_count() == len(own)
        assert rows.filter(pl.col("instance") != alone.id)["value"].null_count() == 0


def test_pairs_are_all_pairs_of_base_and_retrained_models():
    outputs = made_up("seeds")
    rows = concluded("seeds", outputs)
    pairs = rows.filter(quantity="pair_tau")["group"].unique(maintain_order=True).to_list()
    assert pairs == ["0-1", "0-2", "1-2"]
    one, other = (outputs[TrainingSpec(seed, seed)].test for seed in (1, 2))
    lengths = [len(d.tokens) for d in TOY.test]
    expected = [
        kendalltau(a[:n], b[:n]).statistic
        for a, b, n in zip(one.attention, other.attention, lengths, strict=True)
    ]
    taus = rows.filter(quantity="pair_tau", group="1-2")
    np.testing.assert_allclose(taus["value"], expected, atol=1e-12)
    distances = rows.filter(quantity="pair_jsd", group="1-2")["value"]
    np.testing.assert_allclose(distances, attention_jsd(one, other))


def test_a_model_that_attends_as_the_base_agrees_with_it_completely():
    outputs = made_up("seeds")
    same = dict.fromkeys(outputs, outputs[BaseModelSpec()])
    rows = concluded("seeds", same)
    np.testing.assert_allclose(rows.filter(quantity="pair_tau")["value"], 1)
    assert set(rows.filter(quantity="pair_top_overlap")["value"]) == {1.0}
    assert set(rows.filter(quantity="pair_jsd")["value"]) == {0.0}


def test_the_marked_mass_by_hand():
    documents = (
        Document("a", ("x", "y", "z"), 0, rationale=(True, False, True)),
        Document("b", ("x", "y"), 0, rationale=(True, True)),
        Document("c", ("x",), 0),
    )
    attention = np.array([[0.5, 0.3, 0.2], [0.4, 0.6, 0.0], [1.0, 0.0, 0.0]])
    seen = Predictions(("a", "b", "c"), np.zeros(3), np.tile([0.5, 0.5], (3, 1)), attention)
    mass = marked_mass(seen, replace(TOY, test=documents))
    assert mass[0] == pytest.approx(0.7)
    assert all(map(math.isnan, mass[1:]))


def test_without_marked_items_nobody_can_be_deceived():
    plain = replace(TOY, test=tuple(replace(d, rationale=None) for d in TOY.test))
    with pytest.raises(NotApplicable, match="marked"):
        TRAINED["deception"].trainings.plan(SCALE, plain)


def test_presets_hold_the_papers_numbers_and_seeds_replace_them():
    paper = training_budget("paper", 0, None)
    assert (paper.together, paper.apart, paper.guides, len(paper.weights)) == (8, 4, 5, 10)
    assert training_budget("paper", 0, None, from_scratch=True).first_epochs == 80
    five = training_budget("quick", 7, 5)
    assert (five.seed, five.together, five.apart, five.guides, five.sweeps) == (7, 5, 0, 5, 5)
    assert min(five.weights) == 0.0
    assert list(paper.weights) == sorted(paper.weights)


@pytest.mark.parametrize(("preset", "least"), [("quick", 3), ("paper", 5)])
def test_a_preset_trains_enough_models_for_every_claim_about_several(preset: str, least: int):
    budget = training_budget(preset, 0, None)
    assert min(budget.together + 1, budget.uniforms, budget.guides, budget.sweeps) >= least
    assert set(DECIDING_GUIDES) <= set(budget.imposed)
    assert len(budget.weights) >= 2
