"""Settings name all probes, and faults of a request are reported together."""

from pathlib import Path

import pytest

from assay.config import Execution, Settings
from assay.errors import UserError
from assay.probes import PROBES
from assay.runs.validation import check_probes, check_request, resolve_device


def test_all_probes_are_named_in_what_is_recorded():
    assert Settings().resolved(tuple(PROBES)).as_record()["probes"] == list(PROBES)


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
