"""The tables of a run, merged from parts in batches, are those that one large sort gives."""

import io
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from assay.data.files import write_json
from assay.errors import UserError
from assay.evidence import SCHEMA
from assay.runs import tables
from assay.runs.audit import in_order
from assay.runs.tables import (
    EVIDENCE,
    INSTANCES,
    NOTES,
    AuditedParts,
    Tables,
    documents_per_group,
    slices,
    write_frames,
)

IDS = tuple(f"document {number}" for number in range(23))


def instances_of(ids: list[str], *, marked: bool) -> pl.DataFrame:
    table = pl.DataFrame(
        {
            "id": ids,
            "tokens": [["a", "b"] for _ in ids],
            "label": ["up" if name.endswith("1") else "down" for name in ids],
            "prediction": ["up"] * len(ids),
            "attention": [[0.25, 0.75] for _ in ids],
        }
    )
    return table.with_columns(rationale=pl.lit([True])) if marked else table


def evidence_of(ids: list[str], kinds: list[tuple[str, str, str | None]]) -> pl.DataFrame:
    rows = [
        {
            "instance": name,
            "probe": probe,
            "quantity": quantity,
            "group": group,
            "method": None,
            "seed": 0,
            "value": None if len(name) % 2 else float(place),
        }
        for probe, quantity, group in kinds
        for place, name in enumerate(ids)
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


KINDS = [("one", "x", None), ("one", "y", "eps=1"), ("one", "y", None), ("two", "x", None)]
MORE = evidence_of([], []).extend(
    pl.DataFrame([(None, "uniform", "f1", "base", None, 0, 0.5)], schema=SCHEMA, orient="row")
)


@pytest.fixture
def audited(tmp_path: Path) -> AuditedParts:
    """Three parts in another order than the documents; each has something that others lack."""
    shuffled = [IDS[(7 * place) % len(IDS)] for place in range(len(IDS))]
    parts = []
    cuts = {0: (shuffled[:5], KINDS[:2]), 1: (shuffled[5:6], KINDS), 2: (shuffled[6:], KINDS[1:])}
    for number, (ids, kinds) in cuts.items():
        place = tmp_path / f"part {number}"
        place.mkdir()
        instances_of(ids, marked=number == 1).write_parquet(place / INSTANCES)
        evidence_of(ids, kinds).write_parquet(place / EVIDENCE)
        write_json(place / NOTES, {"not_applicable": {f"score {number}": "why"}})
        parts.append(place)
    return AuditedParts(tuple(parts), IDS, (2,) * len(IDS))


def whole_sort(audited: AuditedParts) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both tables by one sort of everything."""
    instances = [pl.read_parquet(part / INSTANCES) for part in audited.parts]
    evidence = [pl.read_parquet(part / EVIDENCE) for part in audited.parts]
    return (
        in_order(pl.concat(instances, how="diagonal"), "id", IDS),
        pl.concat([in_order(pl.concat(evidence), "instance", IDS), MORE]),
    )


@pytest.mark.parametrize("rows", [1, 3, 10, 2**18])
def test_merging_in_batches_equals_one_sort(audited, tmp_path, monkeypatch, rows):
    monkeypatch.setattr(tables, "EVIDENCE_ROWS", rows)
    monkeypatch.setattr(tables, "INSTANCE_ITEMS", 2 * rows)
    instances, evidence = whole_sort(audited)
    merged = replace(audited, more=MORE)
    assert merged.read().instances.collect().equals(instances)
    assert merged.read().evidence.collect().equals(evidence)
    written = merged.write(tmp_path)
    assert pl.read_parquet(tmp_path / INSTANCES).equals(instances)
    assert (
        written.evidence.filter(pl.col("probe") == "two")
        .collect()
        .equals(evidence.filter(pl.col("probe") == "two"))
    )
    again = tmp_path / "again"
    again.mkdir()
    Tables(instances.lazy(), evidence.lazy()).write(again)
    for name in (INSTANCES, EVIDENCE):
        assert (again / name).read_bytes() == (tmp_path / name).read_bytes()
    assert sorted(path.name for path in again.iterdir()) == [EVIDENCE, INSTANCES]


def test_small_files_have_the_bytes_of_a_plain_write(audited, tmp_path):
    replace(audited, more=MORE).write(tmp_path)
    for name, frame in zip((INSTANCES, EVIDENCE), whole_sort(audited), strict=True):
        plain = io.BytesIO()
        frame.write_parquet(plain)
        assert (tmp_path / name).read_bytes() == plain.getvalue()


def test_large_files_have_the_same_bytes_however_they_were_merged(tmp_path):
    frame = pl.DataFrame({"n": range(1000), "text": [f"word {n % 7}" for n in range(1000)]})
    for cut in (1, 90, 1000):
        frames = [frame[start : start + cut] for start in range(0, 1000, cut)]
        write_frames(tmp_path / f"{cut}.parquet", frames, 128)
    first, *others = [(tmp_path / f"{cut}.parquet").read_bytes() for cut in (1, 90, 1000)]
    assert others == [first, first]
    assert pl.read_parquet(tmp_path / "90.parquet").equals(frame)


def test_slices_have_one_size():
    frames = [pl.DataFrame({"n": range(size)}) for size in (0, 5, 1, 0, 7)]
    assert [len(part) for part in slices(frames, 4)] == [4, 4, 4, 1]
    assert list(slices([], 4)) == []
    assert [len(part) for part in slices(frames[:1], 4)] == [0]


def test_outcomes_and_reasons_come_from_all_parts(audited):
    outcomes = audited.outcomes()
    assert tuple(outcomes["id"]) == IDS
    assert outcomes.columns == ["id", "label", "prediction"]
    assert set(audited.not_applicable) == {"score 0", "score 1", "score 2"}


def test_row_groups_of_long_documents_have_fewer_of_them(audited):
    assert documents_per_group(audited.lengths) == tables.INSTANCE_ITEMS // 2
    assert documents_per_group([4_000] * 23) == 262


def test_a_full_disk_is_an_error_with_its_cure(tmp_path, monkeypatch):
    """The message is that of polars 2.1 on a full disk."""

    class Full:
        def sink_parquet(self, *_: object, **__: object) -> None:
            raise pl.exceptions.ComputeError("underlying IO error: No space left (os error 28)")

    monkeypatch.setattr(tables, "scan_parquet", lambda *_: Full())
    with pytest.raises(UserError, match="the disk is full"):
        write_frames(tmp_path / "table.parquet", [pl.DataFrame({"n": range(10)})], 5)
    assert list(tmp_path.iterdir()) == []
