"""Settings name all probes, and faults of a request are reported together."""

from pathlib import Path

import pytest

from assay.config import COSTLY_PROBES, Execution, Settings, sample_size
from assay.errors import UserError
from assay.probes import PROBES
from assay.runs.validation import check_probes, check_request, parse_probes, resolve_device
from assay.training.specs import training_budget


def test_all_probes_are_named_in_what_is_recorded():
    every = Settings(preset="thorough").resolved(tuple(PROBES)).as_record()["probes"]
    assert every == list(PROBES)


def test_under_quick_all_leaves_out_what_trains_models_and_decides_nothing():
    assert parse_probes("all") == ("all",)
    quick = Settings().resolved(tuple(PROBES)).probes
    assert set(PROBES) - set(quick) == {"deception", *COSTLY_PROBES}
    asked = Settings(probes=("deception",)).resolved(tuple(PROBES))
    assert asked.probes == ("deception",)


def test_paper_asks_what_quick_asks_and_deception():
    paper, quick = (Settings(preset=name).resolved(tuple(PROBES)) for name in ("paper", "quick"))
    assert set(paper.probes) - set(quick.probes) == {"deception"}
    assert set(COSTLY_PROBES) <= set(PROBES)


def test_thorough_trains_and_samples_as_quick_does():
    assert sample_size("thorough") == sample_size("quick") < sample_size("paper")
    assert training_budget("thorough", 3, None) == training_budget("quick", 3, None)


def test_all_faults_are_reported_at_once(tmp_path: Path):
    settings = Settings(encoder="bilstn", device="gpu", probes=("agrement",), seeds=0)
    with pytest.raises(UserError) as fault:
        check_request(settings, Execution(engine="procs", workers=0), tmp_path / "out")
    for part in (
        "bilstn",
        "device 'gpu'",
        "did you mean 'agreement'",
        "--seeds 0",
        "'procs'",
        "--jobs 0",
    ):
        assert part in str(fault.value)


def test_a_device_is_resolved_or_refused():
    assert resolve_device("auto") in ("cuda", "mps", "cpu")
    with pytest.raises(UserError, match="device 'gpu' is unknown"):
        resolve_device("gpu")


def test_no_probe_at_all_is_refused():
    with pytest.raises(UserError, match="no probe was named"):
        check_probes([])
