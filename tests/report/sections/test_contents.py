"""The table of contents names every section in words."""

import pytest

from assay.probes import PROBES
from assay.report.sections.contents import TITLES, contents, section_title


@pytest.mark.parametrize("probe", PROBES)
def test_every_probe_has_a_title(probe: str) -> None:
    assert section_title(probe) == TITLES[probe]
    assert len(TITLES[probe]) <= 21  # one line of the rail
    assert "_" not in TITLES[probe]


def test_titles_differ() -> None:
    assert len(set(TITLES.values())) == len(TITLES)


def test_a_probe_of_somebody_else_keeps_its_name() -> None:
    evidence = next(part for part in contents(["their_own"], {}) if part.anchor == "evidence")
    assert [(entry.anchor, entry.title) for entry in evidence.entries] == [
        ("their_own", "their own")
    ]
