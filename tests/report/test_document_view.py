"""The documents in the page: which, in what order, and packed without loss."""

import base64
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.report import document_view
from assay.report.document_view import DocumentData, document_data
from assay.report.documents import typical_place, typical_row
from assay.runs.directory import RunRecord, read_run
from tests.builders.synthetic_run import SCRIPT, write_run


@pytest.fixture(scope="module")
def record(shared_run: Path) -> RunRecord:
    return read_run(shared_run)


def documents_in(found: DocumentData) -> list[dict]:
    return json.loads(found.text)["documents"]


def test_all_documents_are_in_the_page_where_there_is_room(record: RunRecord) -> None:
    found = document_data(record, 3_000_000)
    assert (found.shown, found.left_out, found.too_long) == (len(record.instances), 0, 0)
    assert sorted(one["place"] for one in documents_in(found)) == list(range(len(record.instances)))


@pytest.mark.parametrize("room", [60_000, 100_000])
def test_what_is_left_out_is_counted_and_the_room_is_kept(record: RunRecord, room: int) -> None:
    found = document_data(record, room)
    assert len(found.text.encode()) <= room
    assert 0 < found.shown < len(record.instances)
    assert found.shown + found.left_out == len(record.instances)
    assert found.too_long >= 1  # the one of 1,000 items
    taken = [one["place"] for one in documents_in(found)]
    order = [place for place in document_view.order(record) if place in set(taken)]
    assert taken == order


def test_without_room_there_is_no_document(record: RunRecord) -> None:
    assert document_data(record, -5).shown == 0


def test_the_order_has_each_document_once_and_the_extremes_early(record: RunRecord) -> None:
    order = document_view.order(record)
    assert sorted(order) == list(range(len(record.instances)))
    assert order == document_view.order(record)
    table = document_view.sortable(record)
    ends = {
        table.drop_nulls(key).sort(key, "id", descending=[down, False])["place"][0]
        for key in document_view.SORTS
        for down in (False, True)
    }
    assert ends <= set(order[: 4 * len(document_view.SORTS)])


def test_weights_and_logits_are_packed_exactly_and_scores_closely(record: RunRecord) -> None:
    heading = document_view.heading(record)
    table = document_view.sortable(record)
    for row in table.head(6).iter_rows(named=True):
        one = document_view.pack(row, heading, record.classes)
        kind = f"<{one['format']}"
        for name in document_view.WEIGHTS:
            assert _read(one["weights"][name], kind) == pytest.approx(row[name], abs=1e-7)
        logits = _read(one["logits"], kind).reshape(len(row["tokens"]), -1)
        assert logits == pytest.approx(np.array(row["token_logits"]), abs=document_view.NOTICEABLE)
        largest, text = one["scores"][list(heading["scores"]).index("gradient")]
        shares = _read(text, "<i2") / document_view.FULL
        assert shares * largest == pytest.approx(row["gradient"], abs=largest / document_view.FULL)


def _read(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind).astype(float)


def test_missing_values_are_not_zero() -> None:
    largest, text = document_view._share([0.0, float("nan"), -2.0, None])
    assert largest == 2.0
    assert _read(text, "<i2").tolist() == [
        0,
        document_view.MISSING,
        -document_view.FULL,
        document_view.MISSING,
    ]


def test_large_logits_keep_more_digits() -> None:
    assert document_view._format([[0.1, -3.9], [1 / 3, 2.0]]) == "f4"
    assert document_view._format([[0.1, 1234.1]]) == "f8"
    assert document_view._format(None) == "f4"


def test_kinds_of_failure_follow_their_definitions() -> None:
    usual = {
        "label": "a",
        "prediction": "a",
        "jsd": 0.2,
        "shuffled": 0.3,
        "confidence": 0.95,
        "attention": [0.1, 0.6, 0.3],
        "leave_one_out": [0.0, -0.5, 0.2],
    }
    cases = ({}, {"jsd": 0.5}, {"shuffled": 0.01}, {"leave_one_out": [0.3, 0.1, -0.2]})
    cases += ({"label": "b"}, {"jsd": None, "shuffled": None, "leave_one_out": None})
    found = [document_view.kinds(usual | case) for case in cases]
    assert found == [[], [0], [1], [2], [3], []]


def test_the_view_opens_with_the_example(record: RunRecord) -> None:
    place = typical_place(record)
    row = typical_row(record)
    assert row is not None
    assert place is not None
    assert record.instances["id"][place] == row["id"]
    assert document_view.order(record)[0] == place
    without = replace(record, instances=record.instances.drop("adversary"))
    other = typical_place(without)
    assert other is not None
    assert 6 <= len(record.instances["tokens"][other]) <= 40


def test_plotted_points_come_early(record: RunRecord) -> None:
    lot, order = document_view.by_lot(record), document_view.order(record)
    assert sorted(lot) == sorted(order)
    for many in (5, 20):
        assert set(lot[:many]) <= set(order[: 2 * many + 1])


def test_the_json_cannot_end_its_element(record: RunRecord) -> None:
    text = document_data(record, 3_000_000).text
    assert not re.search("[<>&]", text)
    tokens = [token for one in json.loads(text)["documents"] for token in one["tokens"]]
    assert SCRIPT in tokens  # read back, it is whole


def test_an_enormous_document_does_not_push_out_the_others(tmp_path: Path) -> None:
    record = read_run(write_run(tmp_path / "run", documents=30))
    found = document_data(record, 100_000)
    assert found.too_long == 1
    assert found.shown > 10
