"""Which documents does the page hold, are they whole, and what does the verdict's sentence say?"""

import base64
import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.report import document_view as chosen
from assay.report import document_view as packed
from assay.report import page as bundle
from assay.report.document_view import DocumentData, document_data
from assay.report.sections import verdict as notions
from assay.report.sections.published import published
from assay.report.text import CLAUSES, NOTIONS
from assay.runs.directory import ClaimFinding, RunRecord, read_run
from tests.report.synthetic_run import SCRIPT, write_run


@pytest.fixture(scope="module")
def record(shared_run: Path) -> RunRecord:
    return read_run(shared_run)


def held(found: DocumentData) -> list[dict]:
    return json.loads(found.text)["documents"]


def test_everything_is_held_where_there_is_room(record: RunRecord) -> None:
    found = document_data(record, 3_000_000)
    assert (found.shown, found.left_out, found.too_long) == (len(record.instances), 0, 0)
    assert sorted(one["place"] for one in held(found)) == list(range(len(record.instances)))


@pytest.mark.parametrize("room", [60_000, 100_000])
def test_what_is_left_out_is_counted_and_the_room_is_kept(record: RunRecord, room: int) -> None:
    found = document_data(record, room)
    assert len(found.text.encode()) <= room
    assert 0 < found.shown < len(record.instances)
    assert found.shown + found.left_out == len(record.instances)
    assert found.too_long >= 1  # the one of 1,000 items
    taken = [one["place"] for one in held(found)]
    order = [place for place in chosen.order(record) if place in set(taken)]
    assert taken == order


def test_no_room_holds_no_document(record: RunRecord) -> None:
    assert document_data(record, -5).shown == 0


def test_the_order_holds_each_once_and_the_extremes_early(record: RunRecord) -> None:
    order = chosen.order(record)
    assert sorted(order) == list(range(len(record.instances)))
    assert order == chosen.order(record)
    table = chosen.sortable(record)
    ends = {
        table.drop_nulls(key).sort(key, "id", descending=[down, False])["place"][0]
        for key in chosen.SORTS
        for down in (False, True)
    }
    assert ends <= set(order[: 4 * len(chosen.SORTS)])


def test_weights_and_logits_come_back_exactly_and_scores_closely(record: RunRecord) -> None:
    heading = packed.heading(record)
    table = chosen.sortable(record)
    for row in table.head(6).iter_rows(named=True):
        one = packed.packed(row, heading, record.classes)
        kind = f"<{heading['format']}"
        for name in packed.WEIGHTS:
            assert _read(one["weights"][name], kind) == pytest.approx(row[name], abs=1e-7)
        logits = _read(one["logits"], kind).reshape(len(row["tokens"]), -1)
        assert logits == pytest.approx(np.array(row["token_logits"]), abs=packed.NOTICEABLE)
        largest, text = one["scores"]["gradient"]
        shares = _read(text, "<i2") / packed.FULL
        assert shares * largest == pytest.approx(row["gradient"], abs=largest / packed.FULL)


def _read(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind).astype(float)


def test_values_that_do_not_exist_stay_apart_from_zero() -> None:
    largest, text = packed._share([0.0, float("nan"), -2.0, None])
    assert largest == 2.0
    assert _read(text, "<i2").tolist() == [0, packed.MISSING, -packed.FULL, packed.MISSING]


def test_large_logits_keep_more_digits(record: RunRecord) -> None:
    assert packed._format(record.instances) == "f4"
    thousandfold = pl.element().list.eval(pl.element() * 1000)
    grown = record.instances.with_columns(pl.col("token_logits").list.eval(thousandfold))
    assert packed._format(grown) == "f8"


def test_the_json_cannot_end_its_element(record: RunRecord) -> None:
    text = document_data(record, 3_000_000).text
    assert not re.search("[<>&]", text)
    tokens = [token for one in json.loads(text)["documents"] for token in one["tokens"]]
    assert SCRIPT in tokens  # read back, it is whole


@pytest.mark.parametrize("names", [bundle.VIEW, bundle.FIGURES])
def test_each_script_finds_what_it_uses_above_it(names: tuple[str, ...]) -> None:
    folder = Path(bundle.__file__).parent / "assets" / "script"
    above: set[str] = set()
    for name in names:
        text = (folder / f"{name}.js").read_text(encoding="utf-8")
        for used, source in re.findall(r"import \{(.*?)\} from \"./(\w+)\.js\"", text, re.DOTALL):
            assert source in names
            assert set(re.findall(r"\w+", used)) <= above, name
        above |= set(re.findall(r"^export (?:const|function) (\w+)", text, re.MULTILINE))
    whole = bundle.page_script(names)
    assert "import " not in re.sub(r"//.*", "", whole)
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", whole)


def claim(name: str, finding: str, notion: str | None = None) -> ClaimFinding:
    return ClaimFinding(
        name, f"{name} says.", finding, 0.5, 0.4, 0.6, None, "", None, None, 9, notion
    )


def test_claims_stand_under_their_notions() -> None:
    verdict = [claim(name, "supported") for name in notions.DECLARED]
    groups = notions.grouped(verdict)
    assert [group.name for group in groups] == list(NOTIONS)
    assert [len(group.claims) for group in groups] == [3, 6, 1]
    assert all(group.sentence.startswith("It may be said that") for group in groups)
    assert set(CLAUSES) == set(notions.DECLARED)


def test_the_verdicts_own_notion_wins() -> None:
    (group,) = notions.grouped([claim("agrees", "undecided", "plausibility")])
    assert group.name == "plausibility"


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        (("contradicted", "supported"), "It may not be said that"),
        (("supported", "undecided"), "may be said only in part"),
        (("supported", "not measured"), "may be said only in part"),
        (("undecided", "not measured"), "It is open whether"),
        (("not measured", "not applicable"), "Nothing was tested"),
        (("supported", "supported"), "every claim held"),
    ],
)
def test_one_sentence_says_what_may_be_said(findings: tuple[str, str], said: str) -> None:
    (group,) = notions.grouped([claim("agrees", findings[0]), claim("stable", findings[1])])
    assert said in group.sentence
    assert group.sentence.count(".") == 1
    for one in group.tested:
        if said != "every claim held":
            assert CLAUSES[one.claim] in group.sentence


def test_an_enormous_document_does_not_push_out_the_others(tmp_path: Path) -> None:
    record = read_run(write_run(tmp_path / "run", documents=30))
    found = document_data(record, 100_000)
    assert found.too_long == 1
    assert found.shown > 10


def test_the_papers_numbers_stand_beside_a_run_of_its_corpus(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", documents=6)
    assert published(read_run(folder)) == {}
    run = json.loads((folder / "run.json").read_text())
    run["corpus"]["name"] = "babi1"
    (folder / "run.json").write_text(json.dumps(run))
    first, second = published(read_run(folder))["agreement"]
    assert first == (
        "Jain & Wallace 2019, table 2, attention and gradient: mean = 0.23, "
        "standard deviation = 0.19, share with p ≤ 0.05 = 0.46."
    )
    assert "leave-one-out" in second
