"""Figures and tables of the erasure probes."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.evidence import sign, stacked
from assay.report.charts import figures, paper_figures
from assay.report.charts.documents import MOST_POINTS
from assay.report.charts.flip_curves import STEPS, shares_changed
from assay.report.charts.style import live
from assay.report.page import render
from assay.report.sections.erasure import ORDERS, erasure_section
from assay.runs.directory import RunRecord, read_run
from assay.summary import summarize
from tests.builders.synthetic_run import CLASSES, write_run

DOCUMENTS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic run with evidence on erasing; the first document has a single item."""
    run = write_run(tmp_path_factory.mktemp("erased"), documents=DOCUMENTS)
    rng = np.random.default_rng(2)
    instances = pl.read_parquet(run / "instances.parquet")
    ids = instances["id"].to_list()
    one: dict[tuple[str, str | None], np.ndarray] = {("flip_any", None): _zero_one(rng, 0.5)}
    for ranking in ("attention", "gradient", "attention_gradient"):
        top, other = _zero_one(rng, 0.3), _zero_one(rng, 0.1)
        one |= {
            ("delta_js", ranking): _some(rng.normal(0.05, 0.08, DOCUMENTS)),
            ("weight_difference", ranking): _some(rng.random(DOCUMENTS)),
            ("flip_random_expected", ranking): _some(rng.random(DOCUMENTS) / 8),
            ("flip_both", ranking): top * other,
            ("flip_top_only", ranking): top * (1 - other),
            ("flip_random_only", ranking): (1 - top) * other,
            ("flip_neither", ranking): (1 - top) * (1 - other),
        }
    order: dict[tuple[str, str | None], np.ndarray] = {}
    for name in ORDERS:
        least = _some(np.arange(DOCUMENTS) % 3 + 1.0)
        extra = np.zeros(DOCUMENTS) if name == "optimal" else np.arange(DOCUMENTS) % 8
        never = np.arange(DOCUMENTS) % 8 == 7 if name == "ascending" else np.zeros(DOCUMENTS, bool)
        items = np.where(never, np.nan, least + extra)
        order |= {
            ("items_to_flip", name): items,
            ("fraction_common", name): items / 20,
            ("fraction_never_one", name): np.where(never, 1, items / 20),
            ("mass_to_flip", name): items / 30,
            ("never_flips", name): _some(never.astype(float)),
        }
        if name != "optimal":
            order[("excess_items", name)] = items - least
        if name not in ("optimal", "attention"):
            order[("fewer_than_attention", name)] = _zero_one(rng, 0.4)
    evidence = pl.concat(
        [
            pl.read_parquet(run / "evidence.parquet"),
            sign([stacked(ids, one, "exact")], "erase_one", 0),
            sign([stacked(ids, order, "exact")], "erase_order", 0),
        ]
    )
    evidence.write_parquet(run / "evidence.parquet")
    (run / "summary.json").write_text(
        json.dumps(summarize(evidence, instances, CLASSES, 0).to_dicts())
    )
    return run


def _some(values: np.ndarray) -> np.ndarray:
    """Values of all documents but the first, which has a single item."""
    return np.concatenate([[np.nan], values[1:]])


def _zero_one(rng: np.random.Generator, share: float) -> np.ndarray:
    return _some((rng.random(DOCUMENTS) < share).astype(float))


@pytest.fixture(scope="module")
def record(folder: Path) -> RunRecord:
    return read_run(folder)


@pytest.fixture(scope="module")
def drawn(record: RunRecord) -> dict:
    return {f.name: f for f in paper_figures(record) if f.probe.startswith("erase")}


def rows(figure, field: str) -> list[dict]:
    return [row for t in live(figure)["datasets"].values() for row in t if field in row]


def test_the_figures_are_drawn_with_descriptions(drawn):
    assert list(drawn) == [
        "erase_one_points",
        "erase_one_negatives",
        "erase_order_curves",
        "erase_order_excess",
        "erase_order_boxes",  # on paper; the page has the curves
    ]
    assert all(re.search(r"\d\.\d\d", figure.description) for figure in drawn.values())


def test_points_are_the_documents_and_open_them(record, drawn):
    points = rows(drawn["erase_one_points"], "place")
    assert len(points) == min(MOST_POINTS, DOCUMENTS - 1)
    effects = record.measured("erase_one", "delta_js", "attention")["value"]
    gaps = record.measured("erase_one", "weight_difference", "attention")["value"]
    for point in points:
        place = point["place"]
        assert point["y"] == round(effects[place], 4)
        assert point["x"] == round(gaps[place], 4)


def test_the_curves_count_the_documents_changed_so_far(record):
    found = shares_changed(record)
    assert "attention" in found
    for order, shares in found.items():
        fractions = record.measured("erase_order", "fraction_to_flip", order)["value"]
        known = record.measured("erase_order", "never_flips", order)["value"].count()
        plain = [
            sum(value is not None and value <= at + 1e-9 for value in fractions) / known
            for at in STEPS
        ]
        assert shares == pytest.approx(plain)
        assert (np.diff(shares) >= 0).all()


def test_the_histogram_counts_the_negatives_once(record, drawn):
    negatives = int((record.measured("erase_one", "delta_js", "attention")["value"] < 0).sum())
    bars = rows(drawn["erase_one_negatives"], "share")
    counts = [int(re.search(r": ([\d,]+) of", bar["tooltip"])[1]) for bar in bars]
    assert 0 < sum(counts) == negatives


def test_boxes_are_quartiles_of_every_order(record, drawn):
    boxes = {row["order"]: row for row in rows(drawn["erase_order_boxes"], "middle")}
    assert list(boxes) == list(ORDERS.values())
    for order, name in ORDERS.items():
        values = record.measured("erase_order", "fraction_common", order)["value"].drop_nulls()
        expected = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95))
        got = [boxes[name][key] for key in ("least", "low", "middle", "high", "most")]
        assert got == pytest.approx(expected, abs=1e-4)


def test_excess_is_stacked_to_the_whole(record, drawn):
    bars = rows(drawn["erase_order_excess"], "strength")
    orders = [name for order, name in ORDERS.items() if order != "optimal"]
    assert list(dict.fromkeys(bar["order"] for bar in bars)) == orders
    for order, name in ORDERS.items():
        if order == "optimal":
            continue
        own = [bar for bar in bars if bar["order"] == name]
        excess = record.measured("erase_order", "excess_items", order)["value"].drop_nulls()
        known = DOCUMENTS - 1
        groups = [
            (excess == 0).sum(),
            (excess == 1).sum(),
            excess.is_between(2, 4).sum(),
            (excess > 4).sum(),
            known - len(excess),
        ]
        assert [bar["high"] - bar["low"] for bar in own] == pytest.approx(
            np.array(groups) / known, abs=2e-4
        )
        assert own[-1]["high"] == pytest.approx(1)


def test_tables_repeat_the_summary(record):
    section = erasure_section(record)
    assert section.flips[0].ranking == "attention"
    for row in section.flips:
        assert sum(cell.value for cell in row.cells) == pytest.approx(1)
        assert {(cell.n, cell.skipped) for cell in row.cells} == {(DOCUMENTS - 1, 1)}
    assert [line.name for line in section.needed.lines] == list(ORDERS.values())
    ascending = next(line for line in section.needed.lines if line.name == "lightest first")
    never = record.measured("erase_order", "never_flips", "ascending")["value"].mean()
    assert ascending.cells[0].value == pytest.approx(never)
    assert not section.curves.lines  # this run holds none
    assert section.possible is not None


def test_the_page_shows_both_sections_in_per_cent(record):
    page = render(record)
    section = erasure_section(record)
    assert '<h3 id="erase_one">' in page
    assert '<h3 id="erase_order">' in page
    for cell in section.flips[0].cells:
        assert f"{100 * cell.value:.1f} %" in page
    assert "smallest set" in page


def test_a_run_without_the_probes_has_neither_figures_nor_tables(tmp_path):
    plain = read_run(write_run(tmp_path / "plain", documents=12))
    assert not [f for f in figures(plain) if f.probe.startswith("erase")]
    section = erasure_section(plain)
    assert (section.flips, section.possible, section.needed.lines) == ((), None, ())
