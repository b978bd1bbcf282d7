"""Published numbers beside the probe, corpus and model that they belong to."""

import csv
import json
from pathlib import Path

import pytest

from assay.papers.declared import REFERENCE, known, read_paper
from assay.papers.published import spelt
from assay.report.sections.published import published
from assay.runs.directory import RunRecord, read_run
from tests.builders.synthetic_run import write_run

# The points of a sweep whose lambdas were not published, and what a paper quotes from another.
NOT_BESIDE_A_RUN = ("adversary lambda sweep", "base (J&W)", "random seed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("plain"), documents=6)


def run_of(
    folder: Path,
    corpus: str,
    encoder: str = "bilstm",
    attention: str = "additive",
    classes: tuple[str, ...] = ("bad", "good"),
) -> RunRecord:
    content = json.loads((folder / "run.json").read_text())
    content["corpus"]["name"] = corpus
    content["settings"] |= {"encoder": encoder, "attention": attention}
    (folder / "run.json").write_text(json.dumps(content))
    (folder / "model.json").write_text(json.dumps({"classes": classes}))
    return read_run(folder)


def test_every_probe_that_a_paper_has_numbers_for_gets_them(folder: Path):
    found = published(run_of(folder, "sst"))
    assert set(found) == {"agreement", "uniform", "guide", "imitation", "seeds", "adversary"}
    assert found["uniform"] == [
        "Wiegreffe & Pinter 2019, table 2, F1 with attention and with uniform weights: "
        "attention = 0.831, uniform = 0.822."
    ]
    assert "predicted bad: mean = 0.40" in found["agreement"][0]
    assert "predicted good: mean = 0.38" in found["agreement"][1]


def test_a_shared_caveat_stands_once(folder: Path):
    found = published(run_of(folder, "yahoo", "han-rnn"))
    assert found["erase_one"] == [
        "Serrano & Smith 2019, table 2, i* by attention, per cent: both = 0.50, top only = 8.70, "
        "random only = 1.30, neither = 89.60 (recalled)."
    ]
    assert found["erase_order"][0].endswith(
        "gradient before attention = 0.087125 (constant in a helper script, order of the models "
        "inferred)."
    )


def test_a_number_of_another_corpus_names_that_corpus(folder: Path):
    (line,) = published(run_of(folder, "imdb_ratings", "flan-rnn"))["erase_order"]
    assert line.endswith("order of the models inferred, of imdb10).")


@pytest.mark.parametrize(
    ("corpus", "encoder", "attention"),
    [
        ("reviews", "bilstm", "additive"),  # no paper has it
        ("yahoo", "bilstm", "additive"),  # nor this model on it
        ("imdb", "bilstm", "none of ours"),
    ],
)
def test_another_corpus_or_model_gets_nothing(folder: Path, corpus, encoder, attention):
    assert published(run_of(folder, corpus, encoder, attention)) == {}


def test_every_published_number_of_a_probe_is_shown(folder: Path):
    """Each is shown for a run of some declared model, with the digits of the file."""
    declared = [read_paper(name)[0] for name in dict.fromkeys(k.split("/")[0] for k in known())]
    lines_of: dict[tuple[str, str], str] = {}  # by corpus and model
    for grid in (grid for paper in declared for grid in paper.corpora):
        for model in ((e, a) for e in grid.encoders for a in grid.attentions):
            lines = published(run_of(folder, grid.name, *model, classes=("0", "1", "2")))
            lines_of[grid.beside or grid.name, spelt(*model)] = str(lines)
    probed = {
        part.published
        for paper in declared
        for table in paper.tables
        for part in table.parts
        if not part.encoders
        if any(measure.probe for measure in part.measures)
    }
    with (REFERENCE / "published.csv").open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["table"] in probed and not row["setting"].startswith(NOT_BESIDE_A_RUN)
        ]
    assert len(rows) > 100
    for row in rows:  # other settings belong to the paper's only model
        model = row["setting"] if "+" in row["setting"] else "bilstm+additive"
        assert row["value"] in lines_of[row["corpus"], model], row


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
