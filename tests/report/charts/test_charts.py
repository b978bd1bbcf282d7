"""The figures of a run hold the numbers of the evidence."""

import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import polars as pl
import pytest

from assay.report.charts import figures, paper_figures
from assay.report.charts.documents import LETTERS
from assay.report.charts.style import ON_PAGE, Figure, compact, data_uri, live, svg
from assay.report.documents import typical, with_measures
from assay.report.sections.adversary import frontier
from assay.report.text import DIFFERENCES, TAU_PAIRS
from assay.runs.directory import RunRecord, read_run
from assay.statistics.intervals import mean_interval
from tests.builders.synthetic_run import CLASSES, EPS, write_run

MOST_POINTS = 2000


@pytest.fixture(scope="module")
def record(shared_run: Path) -> RunRecord:
    return read_run(shared_run)


@pytest.fixture(scope="module")
def drawn(record: RunRecord) -> dict[str, Figure]:
    return {figure.name: figure for figure in paper_figures(record)}


def rows(figure: Figure, field: str) -> list[dict]:
    """The rows of a figure that have a field, panel after panel."""
    tables = live(figure)["datasets"].values()
    return [row for table in tables for row in table if field in row]


def test_every_figure_has_a_name_a_description_and_few_points(
    record: RunRecord, drawn: dict[str, Figure]
) -> None:
    classes = range(1, len(CLASSES) + 1)
    assert list(drawn) == [
        "words_all",
        *(f"words_class_{number}" for number in classes),
        *(f"words_{by}" for by in ("position", "length", "frequency")),
        *TAU_PAIRS,
        *DIFFERENCES,
        *(f"permutation_violins_{number}" for number in classes),
        "permutation_points",
        "adversary_frontier",
        "adversary_histogram",
        *(f"adversary_violins_{number}" for number in classes),
        "adversary_points",
        "adversary_heat_pair",
    ]
    assert [figure.name for figure in figures(record)] == list(drawn)[:-1]
    assert all(re.search(r"\d\.\d\d", figure.description) for figure in drawn.values())
    points = sum(len(t) for f in drawn.values() for t in live(f)["datasets"].values())
    assert 0 < points <= MOST_POINTS


def test_bars_count_every_document_once(record: RunRecord, drawn: dict[str, Figure]) -> None:
    for name in (*TAU_PAIRS, "adversary_histogram"):
        tooltips = [row["tooltip"] for row in rows(drawn[name], "high")]
        counted = [re.search(r"\(([\d,]+) of ([\d,]+)\)", line) for line in tooltips]
        quantity = "max_jsd" if name == "adversary_histogram" else name
        group = "eps=0.01" if name == "adversary_histogram" else None
        probe = "adversary" if name == "adversary_histogram" else "agreement"
        measured = record.measured(probe, quantity, group)["value"].drop_nulls()
        assert sum(int(found[1]) for found in counted if found) == len(measured)


@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        ("difference_leave_one_out", "tau_attention_leave_one_out"),
        ("difference_gradient", "tau_attention_gradient"),
    ],
)
def test_differences_are_taken_document_by_document(
    record: RunRecord, drawn: dict[str, Figure], name: str, quantity: str
) -> None:
    wide = record.rows(probe="agreement").pivot("quantity", index="instance", values="value")
    gaps = (wide["tau_gradient_leave_one_out"] - wide[quantity]).drop_nulls().to_numpy()
    mean = mean_interval(gaps, seed=record.manifest.seed)
    (band,) = [row for row in rows(drawn[name], "high") if "mean" in row["tooltip"]]
    assert (band["low"], band["high"]) == (round(mean.low, 4), round(mean.high, 4))
    assert f"mean {mean.value:.3f}".replace("-", "−") in drawn[name].description


def test_the_seed_of_a_run_decides_which_documents_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report once read a key that no run wrote: its seed was 0 whatever the run's was."""
    monkeypatch.setattr("assay.report.charts.documents.MOST_POINTS", 10)

    def places(folder: str, seed: int) -> list[int]:
        record = read_run(write_run(tmp_path / folder, seed=seed))
        assert record.manifest.bootstrap_seed == seed
        found = {figure.name: figure for figure in figures(record)}
        return [row["place"] for row in rows(found["permutation_points"], "place")]

    first = places("first", 1)
    assert len(first) == 10
    assert places("again", 1) == first
    assert places("other", 2) != first


def test_a_single_document_has_a_mean_and_no_interval(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", documents=6)
    table = pl.read_parquet(folder / "instances.parquet")
    table.filter(pl.col("id") == "doc/5").write_parquet(folder / "instances.parquet")
    found = {figure.name: figure for figure in figures(read_run(folder))}
    tooltips = [row["tooltip"] for row in rows(found["difference_gradient"], "tooltip")]
    assert len([line for line in tooltips if re.fullmatch(r"mean [−<>]*\d\.\d{3}", line)]) == 1
    assert "NaN" not in str(live(found["difference_gradient"]))


def test_the_frontier_equals_the_table_and_never_falls(
    record: RunRecord, drawn: dict[str, Figure]
) -> None:
    points = frontier(record)
    assert [point.eps for point in points] == list(EPS)
    means = [point.mean for point in points]
    assert means == sorted(means)
    for point in points:
        measured = record.measured("adversary", "max_jsd", f"eps={point.eps:g}")["value"]
        assert point.mean == pytest.approx(measured.mean())
        assert point.low < point.mean < point.high
        assert point.upper is not None
        assert point.mean <= point.upper <= math.log(2)
    shown = rows(drawn["adversary_frontier"], "mean")
    assert [row["mean"] for row in shown] == [round(mean, 4) for mean in means]


def test_the_heat_pair_holds_each_word_twice_and_shades_by_weight(
    record: RunRecord, drawn: dict[str, Figure]
) -> None:
    chosen = typical(record)
    assert chosen is not None
    (document,) = with_measures(record).filter(pl.col("id") == chosen.id).iter_rows(named=True)
    words = rows(drawn["adversary_heat_pair"], "word")
    assert [row["word"] for row in words] == document["tokens"] * 2
    for score, part in zip(
        ("attention", "adversary"),
        (words[: len(words) // 2], words[len(words) // 2 :]),
        strict=True,
    ):
        shades = np.array([row["shade"] for row in part])
        weights = np.array(document[score])
        assert shades / shades.max() == pytest.approx(weights / weights.max(), abs=1e-3)
        assert max(row["right"] for row in part) <= 6.7 * LETTERS


def test_an_image_follows_the_light_and_the_dark_scheme(drawn: dict[str, Figure]) -> None:
    image = data_uri(drawn["adversary_frontier"])
    opening, _, encoded = image.partition(",")
    assert opening == "data:image/svg+xml"
    assert not set(encoded) & set('"<>#&`')  # nothing that ends the attribute or the address
    style = ET.fromstring(unquote(encoded)).find("{http://www.w3.org/2000/svg}style")
    assert style is not None
    assert "prefers-color-scheme:dark" in (style.text or "")
    assert image == data_uri(drawn["adversary_frontier"])


def test_a_run_without_the_probe_has_the_other_figures(own_run: Path) -> None:
    path = own_run / "evidence.parquet"
    pl.read_parquet(path).filter(pl.col("probe") != "adversary").write_parquet(path)
    summary = own_run / "summary.json"
    summary.write_text("[]")
    names = {figure.name for figure in figures(read_run(own_run))}
    assert not [name for name in names if name.startswith("adversary")]
    assert set(TAU_PAIRS) <= names


def test_a_still_picture_has_every_point_in_fewer_bytes(drawn: dict[str, Figure]) -> None:
    figure = drawn["permutation_points"]
    whole = svg(figure, ON_PAGE)
    points = len(re.findall(r'<path transform="translate[^>]*A[^>]*fill-opacity', whole))
    small = compact(whole)
    assert points == len(re.findall(r"M[\d.,-]+h0(?=[M\"])", small)) > 20
    assert len(small) < len(whole) / 2
    assert not re.search(r"\d\.\d{3}", small)
