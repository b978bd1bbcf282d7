"""The claims about several models, on hand-made evidence."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import f1_score

from assay.evidence import rows, sign
from assay.verdict import judge
from tests.builders import claim_evidence as made


def entry(claim: str, evidence: pl.DataFrame) -> dict[str, Any]:
    return {each["claim"]: each for each in judge(evidence, 0)}[claim]


class TestNeeded:
    def test_the_effect_is_the_difference_in_f1(self):
        evidence = made.predictions("uniform", {"base": 0.95, "uniform": 0.7}, count=1000)
        found = entry("needed", evidence)
        by_model = evidence.filter(quantity="prediction").partition_by("group", "seed")
        labels = np.arange(1000) % 2
        scores = {
            (each["group"][0], each["seed"][0]): f1_score(labels, each["value"])
            for each in by_model
        }
        gaps = [scores["base", seed] - scores["uniform", seed] for seed in made.SEEDS]
        assert found["effect"] == pytest.approx(np.mean(gaps))
        assert (found["finding"], found["models"], found["n"]) == ("supported", 5, 1000)

    def test_models_that_predict_the_same_contradict(self):
        evidence = made.predictions("uniform", {"base": 0.8, "uniform": 0.8}, count=1000)
        found = entry("needed", evidence)
        assert (found["finding"], found["effect"]) == ("contradicted", 0)

    @pytest.mark.parametrize("sign_of_gap", [1, -1])
    def test_models_that_differ_widely_decide_neither_way(self, sign_of_gap):
        """Contradiction needs the variation between models as much as support does."""
        frames = [rows(made.names(2000), "label", np.ones(2000))]
        for seed, gain in enumerate((-0.15, 0.05, 0.16)):
            right = {"base": 0.7 + sign_of_gap * gain, "uniform": 0.7}
            for group, share in right.items():
                predicted = (np.arange(2000) < share * 2000).astype(float)
                frames.append(
                    rows(made.names(2000), "prediction", predicted, group=group, seed=seed)
                )
        found = entry("needed", sign(frames, "uniform", 0))
        assert found["finding"] == "undecided"

    def test_two_seeds_are_too_few(self):
        evidence = made.predictions("uniform", {"base": 0.95, "uniform": 0.7}, seeds=(0, 1))
        assert entry("needed", evidence)["reason"] == "too few models"

    def test_one_f1_serves_both_sides(self):
        """One side predicts a third class; both are then judged by the mean over three classes."""
        labels = np.arange(300) % 2
        base = np.where(np.arange(300) < 30, 2, labels)
        frames = [rows(made.names(300), "label", labels)]
        for seed in range(3):
            frames.append(rows(made.names(300), "prediction", base, group="base", seed=seed))
            frames.append(rows(made.names(300), "prediction", labels, group="uniform", seed=seed))
        found = entry("needed", sign(frames, "uniform", 0))
        one, other = (
            f1_score(labels, each, labels=[0, 1, 2], average="macro", zero_division=0)
            for each in (base, labels)
        )
        assert found["effect"] == pytest.approx(one - other)


class TestStable:
    def test_order_and_top_decide_together(self):
        assert entry("stable", made.seeds(0.9, 0.9))["finding"] == "supported"
        assert entry("stable", made.seeds(0.0, 0.1))["finding"] == "contradicted"
        mixed = entry("stable", made.seeds(0.9, 0.1))
        assert (mixed["finding"], mixed["reason"]) == ("undecided", "between the thresholds")

    def test_models_that_differ_widen_the_interval(self):
        equal, apart = (
            entry("stable", made.seeds(0.7, 0.75, models=3, model_sd=sd)) for sd in (0, 0.1)
        )
        assert equal["finding"] == "supported"
        assert (apart["finding"], apart["reason"]) == ("undecided", "interval too wide")
        assert "models" in apart["would_settle"]

    def test_two_models_are_too_few(self):
        found = entry("stable", made.seeds(0.9, 0.9, models=2))
        assert (found["finding"], found["reason"]) == ("undecided", "too few models")

    def test_the_distance_stands_beside(self):
        beside = entry("stable", made.seeds(0.9, 0.9))["beside"]
        assert {each["name"]: each["value"] for each in beside} == {
            "mean JSD between two models": pytest.approx(0.2)
        }


class TestExclusivePerModel:
    def test_a_costly_imitation_supports_and_a_free_one_contradicts(self):
        assert entry("exclusive per model", made.imitation([0.2] * 3))["finding"] == "supported"
        assert entry("exclusive per model", made.imitation([0.01] * 3))["finding"] == "contradicted"

    def test_a_single_cheap_chain_contradicts(self):
        """The claim says that no such model exists."""
        found = entry("exclusive per model", made.imitation([0.01, 0.2, 0.2]))
        assert found["finding"] == "contradicted"
        assert found["effect"] == pytest.approx(0.01)
        assert "cheapest" in found["why"]

    def test_chains_that_differ_support_nothing(self):
        found = entry("exclusive per model", made.imitation([0.3, 0.2, 0.08]))
        assert found["finding"] == "undecided"

    @pytest.mark.parametrize(
        "weak",
        [{"near": 0.12}, {"converged": 0.0}, {"between": {}}, {"converged": np.nan}],
        ids=["lambda 0 imitates badly", "stopped early", "no seeds", "unknown"],
    )
    def test_a_weak_search_supports_nothing_but_may_contradict(self, weak):
        found = entry("exclusive per model", made.imitation([0.2] * 3, **weak))
        assert (found["finding"], found["reason"]) == ("undecided", "search too weak")
        found = entry("exclusive per model", made.imitation([0.01] * 3, **weak))
        assert found["finding"] == "contradicted"

    @pytest.mark.parametrize("cost", [0.0, 0.01, 0.2])
    def test_a_failed_imitation_decides_nothing(self, cost):
        """It does not make the same predictions, so its attention may be anywhere."""
        found = entry("exclusive per model", made.imitation([cost] * 3, near=0.2))
        assert (found["finding"], found["reason"]) == ("undecided", "search too weak")
        assert "0.20" in found["why"]

    def test_only_seeds_that_differ_in_both_respects_are_compared(self):
        """Models that differ in one respect alone move less or more, and must not enter."""
        between = {"both": 0.01, "init": 0.9, "order": 0.9}
        found = entry("exclusive per model", made.imitation([0.2] * 3, near=0.05, between=between))
        assert (found["finding"], found["reason"]) == ("undecided", "search too weak")

    def test_a_search_that_stays_near_proves_nothing(self):
        found = entry("exclusive per model", made.imitation([0.01, np.nan, np.nan]))
        assert (found["finding"], found["reason"]) == ("undecided", "search too weak")

    def test_two_chains_are_too_few(self):
        found = entry("exclusive per model", made.imitation([0.2] * 2))
        assert (found["finding"], found["reason"]) == ("undecided", "too few models")


class TestGuides:
    def guided(self, base: float, leak: float, **more: Any) -> dict[str, Any]:
        right = {"base": base, "uniform": 0.7, "permuted": 0.65, "seen": 0.6 + leak, "unseen": 0.6}
        return entry("guides", made.predictions("guide", right, count=1000, **more))

    def test_the_leak_is_subtracted_from_the_gain(self):
        assert self.guided(0.9, 0.0)["finding"] == "supported"
        leaked = self.guided(0.9, 0.3)
        assert (leaked["finding"], leaked["effect"] < 0) == ("contradicted", True)

    def test_the_better_of_uniform_and_permuted_is_the_baseline(self):
        assert "over equal weights" in self.guided(0.9, 0.0)["why"]

    def test_one_seed_decides_nothing(self):
        found = self.guided(0.9, 0.0, seeds=(0,))
        assert (found["finding"], found["reason"]) == ("undecided", "too few models")

    def test_without_the_leak_control_nothing_is_decided(self):
        evidence = made.predictions("guide", {"base": 0.9, "uniform": 0.7, "permuted": 0.7})
        found = entry("guides", evidence)
        assert (found["finding"], found["reason"]) == ("undecided", "nothing to measure")
