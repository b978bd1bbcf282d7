"""Assertions about a model's attention, for the tests of a team.

    from assay.testing import assert_attention

    def test_attention():
        assert_attention(model, "test.csv", claims={"top weight matters": "not contradicted"})

The pytest plugin `assay.testing.plugin` keeps the run directory of every such assertion
(`pytest --assay-report DIR`).
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import UserError

if TYPE_CHECKING:
    from assay.api import Audit

CURRENT_TEST = "PYTEST_CURRENT_TEST"  # set by pytest: "path::name (phase)"


@dataclass
class KeptReports:
    """Where the audits of assertions are kept, and which pages were written."""

    folder: Path | None = None
    pages: list[Path] = field(default_factory=list)

    def keep(self, audit: "Audit") -> None:
        """Save a run directory named after the running test, if a folder was named."""
        if self.folder is None:
            return
        test = os.environ.get(CURRENT_TEST, "assertion").partition(" (")[0]
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", test).strip("-.") or "assertion"
        place, number = self.folder / name, 1
        while place.exists():
            number += 1
            place = self.folder / f"{name}-{number}"
        self.pages.append(audit.save(place) / "report.html")


REPORTS = KeptReports()


def assert_attention(
    model: Any,
    data: Any,
    labels: Sequence[str] | None = None,
    *,
    claims: Mapping[str, str],
    probes: Sequence[str] | None = None,
    **options: Any,
) -> "Audit":
    """Audit a model and raise an `AssertionError` unless every claim has the required finding.

    `model`, `data`, `labels` and `options` are those of `assay.audit`. `claims` maps the name of a
    claim to the finding that it must have: `supported`, `contradicted` or `undecided`, or one that
    it must not have, such as `not contradicted`. A claim that was not measured fails. By default
    only the probes that these claims need are asked.
    """
    from assay.api import audit  # torch takes seconds
    from assay.runs.directory import claim_findings
    from assay.runs.requirements import failures, probes_for, requirements

    required = requirements(claims)
    asked = probes_for(required) if probes is None else tuple(probes)
    if options.get("trainer") is None and not hasattr(model, "task"):
        _refuse_claims_of_trainers(asked)
    done = audit(model, data, labels, probes=asked, **options)
    REPORTS.keep(done)
    failed = failures(required, claim_findings(done.verdict()))
    if failed:
        listed = "\n".join(f"- {failure}" for failure in failed)
        raise AssertionError(
            f"the attention of {type(model).__name__} does not meet {len(failed)} of "
            f"{len(required)} requirements:\n{listed}"
        )
    return done


def _refuse_claims_of_trainers(probes: Sequence[str]) -> None:
    from assay.probes import PROBES
    from assay.verdict import CLAIMS

    trained = {name for name in probes if name in PROBES and PROBES[name].trainings is not None}
    names = [claim.name for claim in CLAIMS if claim.probe in trained]
    if names:
        raise UserError(
            f"the claim '{names[0]}' compares several trained models: pass trainer=... (see "
            "`assay.audit`), or require other claims."
        )
