"""Does the matrix show each pair once, and only where there is more than the paper has?"""

from assay.report.sections.agreement import matrix
from assay.report.sections.tables import tables
from assay.runs.directory import SummaryRow


def mean(quantity: str, value: float) -> SummaryRow:
    return SummaryRow(
        "agreement", quantity, None, "all", "mean", value, value - 0.1, value + 0.1, 9, 0
    )


PAPER = [
    mean("tau_attention_gradient", 0.1),
    mean("tau_attention_leave_one_out", 0.2),
    mean("tau_gradient_leave_one_out", 0.3),
]
MORE = [mean("tau_attention_lime", 0.4), mean("tau_gradient_lime", 0.5)]


def test_the_papers_three_pairs_need_no_matrix():
    assert matrix(PAPER) is None


def test_every_pair_stands_once_above_the_diagonal():
    found = matrix([*PAPER, *MORE])
    assert found is not None
    assert found.columns == ("gradient", "leave one out", "lime")
    values = [[cell and cell.value for cell in line.cells] for line in found.lines]
    assert values == [[0.1, 0.2, 0.4], [None, 0.3, 0.5], [None, None, None]]


def test_what_the_matrix_shows_is_not_listed_again():
    (table,) = tables([*PAPER, *MORE])["agreement"]
    assert len(table.parts) == 3
