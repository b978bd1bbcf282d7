"""Tests of the declared papers: every experiment can be run, every published number is used."""

import csv
from fnmatch import fnmatchcase

import pytest

from assay.config import PRESETS
from assay.data.sources import SOURCES
from assay.errors import UserError
from assay.models.attention import ATTENTIONS
from assay.models.build import MODELS
from assay.papers.declared import REFERENCE, SIZES, known, read_paper
from assay.papers.published import Published, read_numbers
from assay.probes import PROBES
from assay.reproduction.figures import FRONTIER, OF_RUNS, SHAPES
from assay.reproduction.models import ModelSelection, declared_models, selected_models
from assay.statistics.intervals import CLASSIFICATION_SCORES

ELSEWHERE = "base (J&W)"  # a number of Jain & Wallace, which is on their own page
PAPERS = sorted({name.split("/")[0] for name in known()})


def measures_of(paper):
    tables = [m for table in paper.tables for part in table.parts for m in part.measures]
    return [measure for measure in (*tables, paper.vectors) if measure.probe is not None]


def test_the_tables_of_jain_and_wallace_are_declared():
    tables = ("table1", "table2", *(f"figure{number}" for number in range(1, 9)))
    assert [f"jain-wallace/{table}" for table in tables] == list(known())[: len(tables)]


@pytest.mark.parametrize("name", PAPERS)
def test_every_declared_model_can_be_trained(name):
    paper, _ = read_paper(name)
    assert paper.preset in PRESETS
    for grid in paper.corpora:
        assert grid.name in SOURCES
        assert set(grid.encoders) <= set(MODELS)
        assert set(grid.attentions) <= set(ATTENTIONS)
        assert set(grid.vectors) <= {"random", "corpus", "file"}
        assert grid.score in CLASSIFICATION_SCORES
        assert grid.seeds >= 1


@pytest.mark.parametrize("name", PAPERS)
def test_settings_of_single_corpora_are_possible(name):
    paper, _ = read_paper(name)
    for grid in paper.corpora:
        assert grid.preset in ("", *PRESETS)
        assert set(grid.probes) <= set(paper.probes)
    assert len({grid.label for grid in paper.corpora}) == len(paper.corpora)


@pytest.mark.parametrize("name", PAPERS)
def test_every_measure_is_declared_by_its_probe(name):
    paper, _ = read_paper(name)
    for measure in measures_of(paper):
        assert measure.probe in paper.probes
        if measure.probe in PROBES:
            quantities = {each.name: each for each in PROBES[measure.probe].quantities}
            assert measure.statistic in quantities[measure.quantity].statistics
            assert measure.less is None or measure.less in quantities


def test_differences_are_between_means_of_two_declared_encoders():
    paper, _ = read_paper("jain-wallace")
    parts = [part for table in paper.tables for part in table.parts]
    for part in parts:
        if part.encoders or any(measure.less for measure in part.measures):
            assert {measure.statistic for measure in part.measures} == {"mean"}
            assert part.rows == "all"
            assert len(part.encoders) in (0, 2)
    assert all(set(part.encoders) <= set(grid.encoders) for part in parts for grid in paper.corpora)


@pytest.mark.parametrize("name", PAPERS)
def test_figures_of_single_runs_are_of_declared_corpora(name):
    paper, _ = read_paper(name)
    for table in paper.tables:
        assert table.drawing in ("", FRONTIER, *OF_RUNS)
        assert bool(table.drawn) == (table.drawing in OF_RUNS)
        assert set(table.drawn) <= {grid.name for grid in paper.corpora}
        sizes = {measure.data for part in table.parts for measure in part.measures}
        assert sizes <= {"", *SIZES}


def test_a_second_costly_declaration_of_a_corpus_is_selected_by_its_own_name():
    paper, _ = read_paper("wiegreffe-pinter")

    def labels(*names):
        selection = ModelSelection(only=names)
        return {model.grid.label for model in selected_models(paper, selection)}

    assert labels("imdb") == {"imdb"}
    assert labels("imdb:whole") == {"imdb, whole"}
    assert labels("sst", "sst:from scratch") == {"sst", "sst, from scratch"}
    assert not {"imdb, whole", "sst, from scratch"} & labels()
    with pytest.raises(UserError, match="did you mean 'imdb:whole'"):
        labels("imdb:hole")


@pytest.mark.parametrize("name", PAPERS)
def test_every_published_number_has_a_place_on_the_page(name):
    paper, _ = read_paper(name)
    parts = [part for table in paper.tables for part in table.parts]
    models = {model.name for model in declared_models(paper, [])}
    corpora = {grid.name for grid in paper.corpora}
    with (REFERENCE / "published.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["paper"] == name]
    assert rows

    def is_used(row):
        of_table = [part for part in parts if part.published == row["table"]]
        settings = [m.setting for part in of_table for m in part.measures if m.setting]
        known = [*(settings or models), ELSEWHERE]
        drawn = [f"{start}*" for start in SHAPES] if row["table"] == "figure5" else []
        return not of_table or (
            row["corpus"] in corpora
            and any(fnmatchcase(row["setting"], escape(each)) for each in [*known, *drawn])
        )

    assert [row for row in rows if not is_used(row)] == []


def escape(setting):
    """Escape all wildcards but a star."""
    return setting.replace("[", "[[]").replace("?", "[?]")


def test_a_setting_can_be_abbreviated_with_a_star():
    numbers = read_numbers(REFERENCE, "wiegreffe-pinter")
    found = numbers.find("table4", "sst", "lambda=*", "overall", "jsd")
    assert found == numbers.find("table4", "sst", "lambda=0.000525", "overall", "jsd")
    assert found is not None
    assert found.value == 0.514
    assert numbers.find("table4", "agnews", "lambda=*", "overall", "jsd") is None
    with pytest.raises(AssertionError, match="not one setting"):
        numbers.find("figure5", "sst", "adversary*", "overall", "jsd")


def test_a_published_number_is_found_with_its_trust():
    numbers = read_numbers(REFERENCE, "jain-wallace")
    place = ("sst", "bilstm+additive", "0", "mean")
    assert str(numbers.find("table2/tau_g", *place)) == "0.40"
    recalled = numbers.find("table1", "adr", "bilstm+additive", "overall", "f1")
    assert str(recalled) == "0.61 (recalled)"
    assert numbers.find("figure6", *place) is None
    assert numbers.groups("table2/tau_g", "snli", "bilstm+additive") == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("text", "shown"), [("0.4", "0.40"), ("1", "1.00"), ("0.0081", "0.0081"), ("-0.5", "-0.50")]
)
def test_published_numbers_have_at_least_two_decimals(text, shown):
    assert str(Published(text, "printed")) == shown
    assert Published(text, "digitised").value == float(text)


def test_an_unknown_table_is_refused_with_a_suggestion():
    with pytest.raises(UserError, match="did you mean 'jain-wallace/table2'"):
        read_paper("jain-wallace/tabel2")


def test_a_paper_without_a_table_means_all_tables():
    paper, tables = read_paper("jain-wallace")
    assert tables == paper.tables
    assert [table.name for table in read_paper("jain-wallace/table1")[1]] == ["table1"]
