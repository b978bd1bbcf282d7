"""Tests that Serrano & Smith's published numbers are compared with the right values."""

from dataclasses import dataclass

import pytest

from assay.papers.declared import REFERENCE, Measure, read_paper
from assay.papers.published import read_numbers
from assay.reproduction.comparison import Beside, compared_rows
from assay.reproduction.judgement import judged_parts
from assay.reproduction.models import declared_models
from assay.statistics.intervals import Interval

PAPER, _ = read_paper("serrano-smith")
NUMBERS = read_numbers(REFERENCE, "serrano-smith")
MODELS = {(model.grid.name, model.encoder): model for model in declared_models(PAPER, ())}
SHARES = {"flip_both": 0.02, "flip_top_only": 0.089, "flip_random_only": 0.011}


@dataclass(frozen=True)
class ConstantRun:
    """A run with fixed values of some quantities and 0.5 for every other one."""

    classes = ("1", "2")

    def value(self, measure: Measure, class_name: str, score: str) -> Interval:
        share = SHARES.get(measure.quantity or "", 0.5)
        return Interval(share, share - 0.01, share + 0.01, 100)


def row_of(table: str, part: int, corpus: str, encoder: str):
    parts = {each.name: each for each in PAPER.tables}[table].parts
    model = MODELS[corpus, encoder]
    (row,) = compared_rows(parts[part], model, [ConstantRun()], Beside(NUMBERS), "not yet")
    (judged,) = judged_parts([(parts[part], (row,))])
    return judged[1][0]


def reasons(numbers):
    return [None if each.judgement is None else each.judgement.reason for each in numbers]


def test_the_shares_of_table_2_are_in_per_cent():
    row = row_of("table2", 0, "yelp", "han-rnn")
    assert row.model_name == "han+rnn"
    assert [each.published.value for each in row.numbers] == [1.5, 8.9, 1.9, 87.7]
    assert [each.seeds.value for each in row.numbers] == pytest.approx([2, 8.9, 1.1, 50])
    assert reasons(row.numbers) == ["recalled"] * 4


def test_other_models_have_no_published_table():
    assert all(each.published is None for each in row_of("table2", 0, "yelp", "flan-rnn").numbers)


@pytest.mark.parametrize(
    ("encoder", "published"), [("han-rnn", 0.315264), ("flan-conv", 0.632967), ("flan-none", None)]
)
def test_the_share_of_documents_in_which_the_gradient_needs_fewer_items(encoder, published):
    first = row_of("figure-orders", 0, "yelp", encoder).numbers[0]
    assert (None if first.published is None else first.published.value) == published
    assert first.seeds.value == 0.5
    assert reasons([first]) == [None if published is None else first.published.trust]
    assert published is None or not first.published.is_printed


def test_numbers_of_another_corpus_are_shown_and_not_judged():
    numbers = row_of("table2", 0, "imdb_ratings", "han-rnn").numbers
    assert str(numbers[0].published) == "2.20 (recalled, of imdb10)"
    assert {each.judgement.verdict for each in numbers} == {"not judged"}


def test_every_published_number_is_used():
    used = {
        (part.published, model.grid.name, measure.setting or model.name, number.published.text)
        for table in PAPER.tables
        for place, part in enumerate(table.parts)
        for model in MODELS.values()
        for measure, number in zip(
            part.measures,
            row_of(table.name, place, model.grid.name, model.encoder).numbers,
            strict=True,
        )
        if number.published is not None and not number.published.of
    }
    assert {(*key[:3], number.text) for key, number in NUMBERS.held.items()} == used
