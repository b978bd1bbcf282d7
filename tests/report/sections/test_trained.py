"""Figures and tables of models trained for a probe."""

import itertools
import json
from pathlib import Path

import polars as pl
import pytest

from assay.report.charts import figures
from assay.report.charts.frontier import Plane, Point, mark_labels, plane_of
from assay.report.charts.intervals import tenths
from assay.report.charts.style import ATTENTION, COMPARISON, Figure, live
from assay.report.page import render
from assay.report.sections.trained import trained_sections, values_by_model, without_models
from assay.runs.directory import RunRecord, read_run
from assay.statistics.intervals import seeds_interval
from tests.builders.synthetic_run import EVIDENCE, write_run

LAMBDAS, SEEDS = (0.0, 0.001, 0.01), (0, 1)


def whole_models() -> list[tuple[str, str, str | None, int, float]]:
    """(probe, quantity, group, seed, value), as the probes write them."""
    rows: list[tuple[str, str, str | None, int, float]] = []
    for seed in SEEDS:
        for place, weight in enumerate(LAMBDAS):
            group = f"lambda={weight:g}"
            rows.append(("imitation", "mean_jsd", group, seed, 0.2 * place + 0.05 * seed))
            rows.append(("imitation", "mean_tvd", group, seed, 0.03 * place + 0.01))
        rows.append(("imitation", "frontier_bend", None, seed, 0.4 + 0.1 * seed))
        rows.append(("seeds", "mean_jsd", "both", 1 + seed, 0.1 + 0.1 * seed))
        rows.append(("seeds", "mean_tvd", "both", 1 + seed, 0.05))
        for probe, group, f1 in (
            ("uniform", "base", 0.8),
            ("uniform", "uniform", 0.7),
            ("guide", "tf-idf", 0.6),
        ):
            rows.append((probe, "f1", group, seed, f1 + 0.02 * seed))
        rows.append(("uniform", "f1_difference", None, seed, 0.1))
    rows += [
        ("imitation", "mean_jsd", "uniform", 0, 0.3),
        ("imitation", "mean_tvd", "uniform", 0, 0.2),
    ]
    return rows


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic run to which the probes that train have added their rows."""
    folder = write_run(tmp_path_factory.mktemp("trained"), documents=30)
    evidence = pl.read_parquet(folder / "evidence.parquet")
    largest = evidence.filter(probe="adversary", quantity="max_attention")
    near = largest.with_columns(
        quantity=pl.lit("median_jsd"), group=pl.lit("both"), value=pl.col("value") / 2
    )
    own = pl.concat([largest, near]).with_columns(probe=pl.lit("seeds"))
    whole = pl.DataFrame(
        [
            (None, probe, name, group, None, seed, value)
            for probe, name, group, seed, value in whole_models()
        ],
        schema=EVIDENCE,
        orient="row",
    )
    pl.concat([evidence, own.cast(EVIDENCE), whole]).write_parquet(folder / "evidence.parquet")
    summary = json.loads((folder / "summary.json").read_text())
    (folder / "summary.json").write_text(json.dumps(summary + summary_rows()))
    return folder


def summary_rows() -> list[dict[str, object]]:
    found: dict[tuple[str, str, str | None], list[float]] = {}
    for probe, name, group, _, value in whole_models():
        found.setdefault((probe, name, group), []).append(value)
    rows = []
    for (probe, name, group), values in found.items():
        over = seeds_interval(values)
        bounds = {"low": over.low, "high": over.high} if over.n > 1 else {"low": None, "high": None}
        rows.append(
            {
                "probe": probe,
                "quantity": name,
                "group": group,
                "class": "all",
                "statistic": "mean_over_seeds",
                "value": over.value,
                **bounds,
                "n": over.n,
                "skipped": 0,
            }
        )
    return [
        *rows,
        {
            **rows[-1],
            "probe": "uniform",
            "quantity": "f1_difference",
            "group": None,
            "statistic": "over_documents",
            "low": 0.05,
            "high": 0.15,
            "n": 30,
        },
    ]


@pytest.fixture(scope="module")
def record(run: Path) -> RunRecord:
    return read_run(run)


@pytest.fixture(scope="module")
def drawn(record: RunRecord) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures(record)}


def rows_of(figure: Figure, field: str) -> list[dict]:
    return [row for table in live(figure)["datasets"].values() for row in table if field in row]


def test_the_sweep_is_a_line_per_seed_in_the_order_of_lambda(drawn: dict[str, Figure]):
    points = rows_of(drawn["imitation_frontier"], "sweep")
    for seed in SEEDS:
        own = sorted((p for p in points if p["sweep"] == str(seed)), key=lambda p: p["turn"])
        assert [p["x"] for p in own] == pytest.approx([0.2 * i + 0.05 * seed for i in range(3)])
        assert [p["y"] for p in own] == pytest.approx([0.01, 0.04, 0.07])


def test_the_sweep_is_compared_with_seeds_uniform_and_alternative_weights(
    drawn: dict[str, Figure], record: RunRecord
):
    tooltips = [row["tooltip"] for row in rows_of(drawn["imitation_frontier"], "tooltip")]
    assert "trained again, seed 2: mean JSD 0.200, mean TVD 0.050" in tooltips
    assert "equal weights: mean JSD 0.300, mean TVD 0.200" in tooltips
    means = record.measured("adversary", "max_jsd", "eps=0.01")["value"]
    cross = [line for line in tooltips if line.startswith("furthest weights per document")]
    assert cross == [
        f"furthest weights per document, prediction within 0.01: mean JSD "
        f"{means.mean():.3f}, mean TVD 0.010"
    ]


def test_every_kind_of_mark_is_named_on_the_plane_and_no_name_covers_another(record: RunRecord):
    labels = mark_labels(plane_of(record))
    names = {"look-alikes", "trained again", "equal weights", "furthest weights"}
    assert {label.text for label in labels} == names
    pairs = itertools.combinations(labels, 2)
    assert not any(one.overlaps(other) for one, other in pairs)


def test_names_of_marks_in_one_place_are_moved_apart():
    same = Point("x", 0.3, 0.1)
    labels = mark_labels(Plane([(0, same)], {"square": [same], "cross": [same]}))
    assert len({label.y for label in labels}) == 3


def test_columns_of_model_tables_are_defined_below_them(run: Path):
    page = render(read_run(run))
    assert "<i>mean JSD</i>: mean distance between the heat maps" in page
    assert "<i>mean TVD</i>: mean distance between their predictions" in page


def test_violins_of_seeds_are_above_those_of_alternative_weights(drawn: dict[str, Figure]):
    found = [figure for name, figure in drawn.items() if name.startswith("seeds_violins")]
    assert found
    for figure in found:
        sides = {row["high"] > row["y"] for row in rows_of(figure, "bin")}
        assert sides == {True, False}
        above, below = [
            layer["transform"][0]["calculate"]
            for layer in figure.definition["layer"]
            if layer["mark"]["type"] == "area"
        ]
        assert "trained again, largest weight" in above
        assert "alternative weights, prediction within 0.01, largest weight" in below


def test_forests_show_the_mean_and_every_model(drawn: dict[str, Figure]):
    forest = drawn["uniform_forest"]
    means = {row["name"]: row["value"] for row in rows_of(forest, "value")}
    assert means == {
        "with attention": pytest.approx(0.81),
        "with equal weights": pytest.approx(0.71),
    }
    hues = {row["name"]: row["hue"] for row in rows_of(forest, "value")}
    assert hues == {"with attention": ATTENTION, "with equal weights": COMPARISON}
    single = sorted(row["x"] for row in rows_of(forest, "x"))
    assert single == pytest.approx([0.7, 0.72, 0.8, 0.82])
    assert "tf-idf weights: 0.610" in drawn["guide_forest"].description


def test_a_scale_has_a_width_even_where_all_models_are_alike():
    assert tenths([1.0, 1.0]) == (0.9, 1.0)
    assert tenths([0.71, 0.88]) == (0.7, 0.9)


def test_models_stand_in_lines_by_group_and_totals_apart(record: RunRecord):
    found = trained_sections(record)
    uniform = found["uniform"]
    assert [line.name for line in uniform.kinds.lines] == [
        "with attention",
        "with equal weights",
    ]
    assert [column.name for column in uniform.kinds.columns] == ["F1"]
    assert [line.models for line in uniform.kinds.lines] == [2, 2]
    total = uniform.totals[0]
    assert total.over_seeds.row.value == pytest.approx(0.1)
    base = uniform.kinds.lines[0].cells[0]  # of two models: their own values, no interval
    assert base is not None
    assert len(base.single) == 2
    assert sum(base.single) / 2 == pytest.approx(base.row.value)
    assert total.over_documents is not None
    assert uniform.resampled
    assert not found["imitation"].resampled
    lines = {line.name: line for line in found["imitation"].kinds.lines}
    assert lines["equal weights"].models == 1
    assert not [row for row in without_models(record.summary) if row.probe == "uniform"]


def test_numbers_of_models_are_read_by_group_and_seed(record: RunRecord):
    found = values_by_model(record, "imitation", "mean_jsd")
    assert found["lambda=0.01", 1] == pytest.approx(0.45)
    assert len(found) == len(LAMBDAS) * len(SEEDS) + 1


def test_the_page_has_a_section_for_each(record: RunRecord):
    page = render(record)
    for name in ("uniform", "guide", "seeds", "imitation"):
        assert f'<h3 id="{name}">' in page
    assert "over documents" in page
    assert "lambda 0.001" in page
