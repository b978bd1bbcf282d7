"""Do the figures hold the evidence's numbers, and the documents the weights they claim?"""

import base64
import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from assay.cli.app import app
from assay.report.charts.documents import LETTERS
from assay.report.charts.style import Figure, data_uri, live
from assay.report.documents import MOST_IN_FIGURE, described, probability_under, typical
from assay.report.exports import write_figures
from assay.report.figures import figures, paper_figures
from assay.report.sections.adversary import frontier
from assay.report.text import DIFFERENCES, TAU_PAIRS, in_figure
from assay.runs.directory import RunRecord, read_run
from assay.statistics.intervals import mean_interval
from tests.report.synthetic_run import CLASSES, EPS, write_run

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


def test_every_figure_of_a_run_has_a_name_words_and_few_points(
    record: RunRecord, drawn: dict[str, Figure]
) -> None:
    classes = range(1, len(CLASSES) + 1)
    assert list(drawn) == [
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
    assert all(re.search(r"\d\.\d\d", figure.words) for figure in drawn.values())
    points = sum(len(t) for f in drawn.values() for t in live(f)["datasets"].values())
    assert 0 < points <= MOST_POINTS


def test_bars_count_every_document_once(record: RunRecord, drawn: dict[str, Figure]) -> None:
    for name in (*TAU_PAIRS, "adversary_histogram"):
        said = [row["say"] for row in rows(drawn[name], "high")]
        counted = [re.search(r"\(([\d,]+) of ([\d,]+)\)", line) for line in said]
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
    wide = record.evidence.filter(probe="agreement").pivot(
        "quantity", index="instance", values="value"
    )
    gaps = (wide["tau_gradient_leave_one_out"] - wide[quantity]).drop_nulls().to_numpy()
    mean = mean_interval(gaps, seed=record.manifest.seed)
    (band,) = [row for row in rows(drawn[name], "high") if "mean" in row["say"]]
    assert (band["low"], band["high"]) == (round(mean.low, 4), round(mean.high, 4))
    assert f"mean {mean.value:.3f}".replace("-", "−") in drawn[name].words


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
    said = [row["say"] for row in rows(found["difference_gradient"], "say")]
    assert len([line for line in said if re.fullmatch(r"mean [−<>]*\d\.\d{3}", line)]) == 1
    assert "NaN" not in str(live(found["difference_gradient"]))


def test_the_frontier_is_the_tables_and_never_falls(
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


def test_the_example_is_the_median_of_those_that_fit(record: RunRecord) -> None:
    fitting = sorted(
        (row["jsd"], row["id"])
        for row in described(record).iter_rows(named=True)
        if row["prediction"] == row["label"] and 6 <= len(row["tokens"]) <= MOST_IN_FIGURE
    )
    chosen = typical(record)
    assert chosen is not None
    assert chosen.id == fitting[(len(fitting) - 1) // 2][1]


def test_no_example_where_no_document_fits(own_run: Path) -> None:
    path = own_run / "instances.parquet"
    pl.read_parquet(path).with_columns(label=pl.lit("neither")).write_parquet(path)
    assert typical(read_run(own_run)) is None
    assert "adversary_heat_pair" not in {f.name for f in paper_figures(read_run(own_run))}


def test_the_heat_pair_holds_each_word_twice_and_shades_by_weight(
    record: RunRecord, drawn: dict[str, Figure]
) -> None:
    chosen = typical(record)
    assert chosen is not None
    (document,) = described(record).filter(pl.col("id") == chosen.id).iter_rows(named=True)
    words = rows(drawn["adversary_heat_pair"], "word")
    assert [row["word"] for row in words] == document["tokens"] * 2
    for score, part in zip(("attention", "adversary"), (words[: len(words) // 2],
                           words[len(words) // 2 :]), strict=True):  # fmt: skip
        shades = np.array([row["shade"] for row in part])
        weights = np.array(document[score])
        assert shades / shades.max() == pytest.approx(weights / weights.max(), abs=1e-3)
        assert max(row["right"] for row in part) <= 6.7 * LETTERS


def test_the_model_is_replayed_from_the_file(record: RunRecord) -> None:
    for row in described(record).iter_rows(named=True):
        again = [probability_under(row, "attention", place) for place in range(len(CLASSES))]
        assert again == pytest.approx(row["probabilities"], abs=1e-9)


def test_one_logit_is_that_of_the_second_class() -> None:
    row = {"token_logits": [[2.0], [-4.0]], "bias": [1.0], "adversary": [0.5, 0.5]}
    assert probability_under(row, "adversary", 1) == pytest.approx(0.5)  # 1 + 1 - 2 = 0
    assert probability_under({**row, "adversary": [1.0, 0.0]}, "adversary", 0) == pytest.approx(
        1 / (1 + math.exp(3))
    )
    assert probability_under({"adversary": [1.0]}, "adversary", 0) is None


@pytest.fixture(scope="module")
def paper_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with its figures on disk."""
    folder = write_run(tmp_path_factory.mktemp("paper"), documents=12)
    write_figures(folder)
    return folder


def test_files_for_a_paper_are_as_wide_as_its_columns(paper_run: Path) -> None:
    written = list((paper_run / "figures").iterdir())
    names = {path.stem for path in written}
    assert len(written) == 2 * len(names)
    assert "adversary_heat_pair" in names
    assert {path.suffix for path in written} == {".svg", ".pdf"}
    for name in names:
        inches = 7.0 if name == "adversary_heat_pair" else 3.3
        drawing = ET.fromstring((paper_run / "figures" / f"{name}.svg").read_text())
        assert float(drawing.attrib["width"]) == pytest.approx(96 * inches, abs=0.01)
        assert not list(drawing.iter("{http://www.w3.org/2000/svg}script"))
        pdf = (paper_run / "figures" / f"{name}.pdf").read_bytes()
        box = re.search(rb"MediaBox \[0 0 ([\d.]+)", pdf)
        assert box is not None
        assert float(box[1]) == pytest.approx(72 * inches, abs=0.1)


def test_vector_files_are_the_same_each_time_and_keep_names_as_text(paper_run: Path) -> None:
    first = {path.name: path.read_bytes() for path in (paper_run / "figures").glob("*.svg")}
    again = {path.name: path.read_bytes() for path in write_figures(paper_run)}
    assert first == {name: again[name] for name in first}
    texts = [
        "".join(text.itertext())
        for drawing in first.values()
        for text in ET.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert any(in_figure(CLASSES[2]) in text for text in texts)


def test_an_image_is_inked_for_light_and_for_dark(drawn: dict[str, Figure]) -> None:
    image = data_uri(drawn["adversary_frontier"])
    opening, _, encoded = image.partition(",")
    assert opening == "data:image/svg+xml;base64"
    style = ET.fromstring(base64.b64decode(encoded)).find("{http://www.w3.org/2000/svg}style")
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


def test_the_command_writes_them_beside_the_page(own_run: Path) -> None:
    said = CliRunner().invoke(app, ["report", str(own_run), "--figures"])
    assert said.exit_code == 0
    files = len(list((own_run / "figures").iterdir()))
    assert said.stdout.splitlines() == [
        f"Report: {own_run / 'report.html'}",
        f"Figures: {own_run / 'figures'} ({files} files)",
    ]
    assert files > 0
