"""The claims about a single model, on hand-made evidence."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from assay.verdict import judge
from tests.builders import claim_evidence as made

N = made.DOCUMENTS
REFERENCES = ("leave_one_out", "gradient")


def entry(claim: str, evidence: pl.DataFrame) -> dict[str, Any]:
    return {each["claim"]: each for each in judge(evidence, 0)}[claim]


def agrees(taus: float, overlaps: float, own: dict[str, float] | None = None) -> dict[str, Any]:
    own = dict.fromkeys(REFERENCES, 0.8) if own is None else own
    taus_by, overlaps_by = (dict.fromkeys(REFERENCES, value) for value in (taus, overlaps))
    return entry("agrees", made.agreement(taus_by, overlaps_by, own))


class TestAgrees:
    def test_all_four_measures_must_agree(self):
        assert agrees(0.8, 0.8)["finding"] == "supported"
        assert agrees(0.0, 0.1)["finding"] == "contradicted"
        assert len(agrees(0.8, 0.8)["measures"]) == 4

    def test_the_right_order_with_the_wrong_top_is_not_supported(self):
        """Tau alone is blind to the top."""
        found = agrees(0.8, 0.1)
        assert (found["finding"], found["reason"]) == ("undecided", "between the thresholds")

    def test_overlap_runs_from_its_expectation_to_one(self):
        effects = {each["name"]: each["effect"] for each in agrees(0.8, 0.55)["measures"]}
        assert effects["top items shared with leave-one-out"] == pytest.approx((0.55 - 0.1) / 0.9)

    def test_a_reference_that_disagrees_with_itself_is_left_out(self):
        found = agrees(0.8, 0.8, {"leave_one_out": 0.8, "gradient": 0.07})
        assert found["finding"] == "supported"
        assert len(found["measures"]) == 2
        assert "Gradient is left out" in found["why"]

    def test_without_a_strong_reference_nothing_is_decided(self):
        found = agrees(0.8, 0.8, dict.fromkeys(REFERENCES, 0.1))
        assert (found["finding"], found["reason"]) == ("undecided", "reference too weak")
        unmeasured = agrees(0.8, 0.8, {})
        assert (unmeasured["finding"], unmeasured["reason"]) == ("undecided", "reference too weak")
        assert "was not measured" in unmeasured["why"]

    def test_agreement_of_the_references_stands_in_where_one_was_not_compared_with_itself(self):
        assert agrees(0.8, 0.8, {"each other": 0.5})["finding"] == "supported"
        assert agrees(0.8, 0.8, {"each other": 0.2})["reason"] == "reference too weak"


class TestDepends:
    def test_the_effect_is_the_mean_movement(self):
        found = entry("depends", made.permutation(np.clip(made.spread(0.3), 0, 1)))
        assert (found["finding"], found["effect"]) == ("supported", pytest.approx(0.3))
        assert entry("depends", made.permutation(np.zeros(N)))["finding"] == "contradicted"

    def test_documents_with_one_item_do_not_enter(self):
        """As "unmoved" documents, they would turn the finding around."""
        moved = np.concatenate([np.full(100, 0.3), np.full(900, np.nan)])
        found = entry("depends", made.permutation(moved))
        assert (found["finding"], found["n"]) == ("supported", 100)
        nothing = entry("depends", made.permutation(np.full(50, np.nan)))
        assert (nothing["finding"], nothing["reason"]) == ("undecided", "nothing to measure")

    def test_few_equal_documents_are_not_certain(self):
        """Thirty documents that do not move cannot exclude that one in twenty does."""
        assert entry("depends", made.permutation(np.zeros(30)))["finding"] == "undecided"


class TestExclusivePerInstance:
    def large(self, own: float, shuffled: float, **more: float) -> dict[str, np.ndarray]:
        values = {"max_jsd": own, "shuffled_max_jsd": shuffled, **more}
        return {name: made.spread(value, sd=0.02) for name, value in values.items()}

    def test_weights_as_free_as_shuffled_ones_contradict_however_far_they_move(self):
        found = entry("exclusive per instance", made.adversary(self.large(0.64, 0.65)))
        assert found["finding"] == "contradicted"
        assert found["effect"] == pytest.approx(1 - 0.64 / 0.65)

    def test_weights_that_are_tied_to_the_prediction_support(self):
        found = entry("exclusive per instance", made.adversary(self.large(0.1, 0.5)))
        assert (found["finding"], found["effect"]) == ("supported", pytest.approx(0.8))
        assert found["measures"] == []

    def test_documents_with_one_item_do_not_enter(self):
        """Their largest JSD of 0 would look like weights without a rival."""
        values = self.large(0.5, 0.5)
        values["max_jsd"][:150], values["shuffled_max_jsd"][:150] = 0.0, np.nan
        found = entry("exclusive per instance", made.adversary(values))
        assert (found["finding"], found["n"]) == ("contradicted", 50)

    def test_a_larger_run_does_not_enlarge_the_sample(self):
        values = self.large(0.17, 0.5, free_jsd=0.6)
        values["max_jsd"] = made.spread(0.17, sd=0.4)
        whole = entry("exclusive per instance", made.adversary(values))
        values["shuffled_max_jsd"][60:] = np.nan
        part = entry("exclusive per instance", made.adversary(values))
        assert whole["reason"] == part["reason"] == "interval too wide"
        assert (part["n"], part["would_settle"]) == (60, None)
        assert "a sample of 60 documents" in part["why"]
        assert "documents" in whole["would_settle"]

    def test_both_ends_of_a_bracket_must_agree(self):
        narrow = self.large(0.1, 0.5, max_jsd_upper=0.12, shuffled_max_jsd_upper=0.52)
        found = entry("exclusive per instance", made.adversary(narrow, "bracket"))
        assert found["finding"] == "supported"
        effects = [each["effect"] for each in found["measures"]]
        assert effects == pytest.approx([1 - 0.12 / 0.5, 1 - 0.1 / 0.52])
        wide = self.large(0.1, 0.5, max_jsd_upper=0.6, shuffled_max_jsd_upper=0.6)
        found = entry("exclusive per instance", made.adversary(wide, "bracket"))
        assert (found["finding"], found["reason"]) == ("undecided", "between the thresholds")

    def test_a_search_that_found_nothing_farther_proves_nothing(self):
        values = self.large(0.1, 0.5, free_jsd=0.6)
        found = entry("exclusive per instance", made.adversary(values, "searched"))
        assert found["finding"] == "undecided"
        effects = [each["effect"] for each in found["measures"]]
        assert effects == pytest.approx([1 - 0.6 / 0.5, 1 - 0.1 / 0.6])
        assert "free_jsd" in found["measures"][0]["formula"]


class TestTopWeight:
    def test_only_documents_that_some_item_flips_are_asked(self):
        """56 % of the documents that can be flipped at all, where a random item flips 7 %."""
        found = entry("top weight matters", made.flips(130, 73, count=1000, share=0.07))
        assert found["n"] == 130
        assert found["effect"] == pytest.approx((73 / 130 - 0.07) / 0.93)
        assert entry("top weight matters", made.flips(60, 58))["finding"] == "supported"
        assert entry("top weight matters", made.flips(60, 6))["finding"] == "contradicted"

    def test_where_hardly_any_document_can_be_flipped_there_is_nothing_to_measure(self):
        found = entry("top weight matters", made.flips(31, 31, count=2000))
        assert (found["finding"], found["reason"]) == ("undecided", "nothing to measure")
        few = entry("top weight matters", made.flips(20, 20, count=100))
        assert (few["finding"], few["reason"]) == ("undecided", "too few documents")

    def test_published_shares_stand_beside(self):
        found = entry("top weight matters", made.flips(60, 30))
        beside = {each["name"]: each["value"] for each in found["beside"]}
        assert beside["share flipped by the top item"] == pytest.approx(0.15)
        assert beside["share that some single item flips"] == pytest.approx(0.3)


class TestOrder:
    def orders(self, random: float, attention: float, best: float, name: str = "optimal"):
        values = {"random": random, "attention": attention, name: best}
        return made.erase_order({key: made.spread(value) for key, value in values.items()})

    def test_the_effect_is_the_position_between_random_and_best(self):
        found = entry("order is efficient", self.orders(0.6, 0.2, 0.15))
        assert found["finding"] == "supported"
        assert found["effect"] == pytest.approx(0.4 / 0.45)
        assert entry("order is efficient", self.orders(0.6, 0.5, 0.1))["finding"] == "contradicted"

    def searched(self, attention: float, searched: float, bound: float) -> dict[str, Any]:
        values = {"attention": attention, "searched": searched, "lower_bound": bound}
        fractions = {name: made.spread(value) for name, value in values.items()}
        return entry(
            "order is efficient", made.erase_order({"random": made.spread(0.6)} | fractions)
        )

    def test_without_a_closed_form_both_ends_of_the_bracket_must_agree(self):
        near = self.searched(0.2, 0.15, 0.1)
        assert near["finding"] == "supported"
        effects = [each["effect"] for each in near["measures"]]
        assert effects == pytest.approx([0.4 / 0.5, 0.4 / 0.45])
        assert "lower_bound" in near["measures"][0]["formula"]
        assert self.searched(0.55, 0.2, 0.1)["finding"] == "contradicted"
        loose = self.searched(0.4, 0.35, 0.05)
        assert (loose["finding"], loose["reason"]) == ("undecided", "between the thresholds")

    def test_no_order_is_better_than_the_best_one_found(self):
        """The gradient order used to stand in for the best one, and the effect could pass 1."""
        found = self.searched(0.2, 0.2, 0.1)
        assert max(each["effect"] for each in found["measures"]) == pytest.approx(1.0)
        gradient = entry("order is efficient", self.orders(0.6, 0.2, 0.3, "gradient"))
        assert gradient["finding"] == "not applicable"

    def test_several_random_orders_take_the_place_of_one(self):
        values = {"random": 0.9, "random_expected": 0.6, "attention": 0.2, "optimal": 0.15}
        fractions = {name: made.spread(value) for name, value in values.items()}
        found = entry("order is efficient", made.erase_order(fractions))
        assert found["effect"] == pytest.approx(0.4 / 0.45)
        beside = {each["name"]: each["value"] for each in found["beside"]}
        assert beside["fraction erased, random order"] == pytest.approx(0.9)

    def test_an_order_far_worse_than_a_random_one_has_its_real_range(self):
        """The interval used to end at -1, above the effect."""
        found = entry("order is efficient", self.orders(0.3, 0.9, 0.1))
        assert found["effect"] == pytest.approx(-3.0)
        assert found["low"] <= found["effect"] < found["high"] < -1

    def test_nothing_to_gain_is_nothing_to_measure(self):
        found = entry("order is efficient", self.orders(0.9, 0.88, 0.85))
        assert (found["finding"], found["reason"]) == ("undecided", "nothing to measure")

    def test_a_change_after_most_items_is_not_soon(self):
        """With many copies of the evidence, the best order itself erases most items."""
        found = entry("order is efficient", self.orders(0.9, 0.62, 0.6))
        assert found["effect"] > 0.9
        assert (found["finding"], found["reason"]) == ("undecided", "nothing to measure")
        assert "not soon" in found["why"]

    def test_documents_that_no_order_changes_do_not_enter(self):
        never = np.arange(N) < 120
        fractions = {
            name: np.where(never, 1.0, made.spread(value))
            for name, value in {"random": 0.6, "attention": 0.2, "optimal": 0.15}.items()
        }
        assert entry("order is efficient", made.erase_order(fractions))["n"] == 80


class TestSufficient:
    def found(self, *lost: float) -> dict[str, Any]:
        return entry("sufficient", made.kept_alone(*lost))

    def test_the_effect_is_the_share_of_the_loss_that_attention_avoids(self):
        high, low = self.found(0.2, 0.5), self.found(0.45, 0.5)
        assert high["effect"] == pytest.approx(0.6, abs=1e-3)
        assert (low["finding"], low["effect"]) == ("contradicted", pytest.approx(0.1, abs=1e-3))
        assert high["measures"] == []

    def test_a_prediction_that_hardly_changes_supports(self):
        assert self.found(0.02, 0.4)["finding"] == "supported"

    def test_a_large_loss_is_not_the_same_prediction_however_much_more_others_lose(self):
        found = self.found(0.15, 0.6)
        assert found["effect"] > 0.7
        assert (found["finding"], found["reason"]) == ("undecided", "between the thresholds")
        assert "not the same prediction" in found["why"]

    def test_where_any_items_would_do_there_is_nothing_to_measure(self):
        found = self.found(0.0, 0.03)
        assert (found["finding"], found["reason"]) == ("undecided", "nothing to measure")

    def test_without_a_proven_best_both_ends_must_agree(self):
        found = self.found(0.3, 0.5, 0.25)
        assert found["finding"] == "undecided"
        effects = [each["effect"] for each in found["measures"]]
        assert effects == pytest.approx([1 - 0.3 / 0.5, 0.2 / 0.25], abs=1e-2)
        assert self.found(0.48, 0.5, 0.25)["finding"] == "contradicted"
        assert self.found(0.05, 0.5, 0.04)["finding"] == "supported"

    def test_other_evidence_of_the_probe_is_no_evidence(self):
        fractions = {name: made.spread(0.5) for name in ("random", "attention", "optimal")}
        found = entry("sufficient", made.erase_order(fractions))
        assert (found["finding"], found["reason"]) == ("undecided", "nothing to measure")


class TestRightSign:
    def test_the_effect_runs_from_a_random_item_to_some_item(self):
        found = entry("right sign", made.signs(160, 150))
        assert (found["finding"], found["n"]) == ("supported", 160)
        assert found["effect"] == pytest.approx((150 / 160 - 0.3) / 0.7)
        assert entry("right sign", made.signs(160, 40))["finding"] == "contradicted"

    def test_the_published_share_of_violations_stands_beside(self):
        """A document whose prediction does not change is neither weaker nor a violation."""
        violations, expected, some = entry("right sign", made.signs(200, 80))["beside"]
        assert violations["name"].startswith("polarity violations: share of documents")
        assert violations["value"] == pytest.approx(40 / 200)
        assert expected["value"] == pytest.approx(0.3)
        assert some["value"] == pytest.approx(1)

    def test_where_no_item_changes_the_odds_there_is_nothing_to_measure(self):
        found = entry("right sign", made.signs(2, 2))
        assert (found["finding"], found["reason"]) == ("undecided", "nothing to measure")


class TestPlausible:
    def test_auc_decides(self):
        high, low = (np.clip(made.spread(mean), 0, 1) for mean in (0.9, 0.5))
        assert entry("plausible", made.rationale(high))["finding"] == "supported"
        assert entry("plausible", made.rationale(low))["finding"] == "contradicted"

    def test_the_best_other_score_stands_beside(self):
        found = entry("plausible", made.rationale(np.clip(made.spread(0.8), 0, 1)))
        assert [each["name"] for each in found["beside"]] == ["gradient"]
        assert "nothing about faithfulness" in found["why"]
