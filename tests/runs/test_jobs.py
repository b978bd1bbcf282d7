"""Audit jobs: how documents are divided, and the code of foreign probes in their identity."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from assay.data.corpus import Document
from assay.probes import PROBES
from assay.runs import jobs
from assay.runs.jobs import MOST_PARTS, audit_parts, plugin_code


def documents(lengths) -> list[Document]:
    return [Document(f"d{i}", ("word",) * int(n), 0) for i, n in enumerate(lengths)]


@pytest.mark.parametrize(("count", "length"), [(1, 1), (300, 20), (5_000, 190), (3, 4_000)])
def test_every_document_is_in_one_part_and_parts_are_few(count: int, length: int):
    given = documents(np.random.default_rng(0).integers(1, 2 * length, count))
    parts = audit_parts(given)
    assert sorted(d.id for part in parts for d in part.documents) == sorted(d.id for d in given)
    assert len(parts) <= MOST_PARTS
    assert [part.documents for part in parts] == [part.documents for part in audit_parts(given)]


@pytest.mark.parametrize("count", [100, 500, 1_190])
def test_every_part_holds_seconds_of_work_where_there_is_that_much(count: int):
    """Also the last one: 500 documents of 175 items once left a job for a single document."""
    parts = audit_parts(documents(np.full(count, 175)))
    assert len(parts) > 1
    own = 175**2 + jobs.LINEAR_COST * 175
    costs = [own * len(part.documents) for part in parts]
    assert min(costs) > jobs.PART_COST - own


def written_in_a_notebook(text: str):
    space = {"__name__": "__main__"}
    exec(compile(text, "/nowhere/cell.py", "exec"), space)
    return space["measure"]


def identity_of(monkeypatch: pytest.MonkeyPatch, measure) -> dict[str, str]:
    own = replace(PROBES["permutation"], name="own", measure=measure)
    monkeypatch.setitem(PROBES, "own", own)
    return plugin_code(["own", "permutation"])


def test_an_edited_cell_of_a_notebook_changes_the_identity(monkeypatch):
    first, second = (
        identity_of(
            monkeypatch, written_in_a_notebook(f"def measure(view, scores):\n    return {n}\n")
        )
        for n in (1, 2)
    )
    assert first.keys() == second.keys() == {"own"}
    assert first != second


def test_a_partial_has_an_identity_and_our_own_probes_have_none(monkeypatch):
    assert identity_of(monkeypatch, functools.partial(max, 1)).keys() == {"own"}
    assert plugin_code(["permutation", "adversary"]) == {}
