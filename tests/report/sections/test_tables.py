"""Tables of the summary, and the rows that a paper would print."""

from dataclasses import replace

import pytest

from assay.probes import PROBES
from assay.report import text as words
from assay.report.sections.tables import MOST_ROWS, PRINCIPAL, principal, tables
from assay.runs.directory import SummaryRow


def _row(quantity: str, statistic: str, predicted: str = "all", n: int = 9) -> SummaryRow:
    return SummaryRow("agreement", quantity, None, predicted, statistic, 0.5, 0.4, 0.6, n, 1)


def test_the_p_of_a_tau_stands_in_its_row() -> None:
    rows = [_row("tau_a_b", "mean"), _row("tau_a_b", "std"), _row("p_a_b", "significant")]
    (table,) = tables(rows)["agreement"]
    assert table.statistics == ("mean", "standard deviation", "share with p ≤ 0.05")
    assert [cell and cell.statistic for cell in table.parts[0].rows[0].cells] == [
        "mean",
        "std",
        "significant",
    ]


def test_statistics_over_different_documents_never_share_a_row() -> None:
    (table,) = tables([_row("x", "mean", n=9), _row("x", "median", n=7)])["agreement"]
    assert [(row.n, len([c for c in row.cells if c])) for row in table.parts[0].rows] == [
        (9, 1),
        (7, 1),
    ]


def test_groups_and_never_predicted_classes() -> None:
    binned = SummaryRow(
        "permutation", "median_tvd", "max_attention=0-0.25", "all", "mean", 0.5, 0.4, 0.6, 3, 0
    )
    empty = SummaryRow("permutation", "median_tvd", None, "never", "mean", None, None, None, 0, 0)
    whole = SummaryRow("permutation", "median_tvd", None, "all", "mean", 0.5, 0.4, 0.6, 9, 0)
    (table,) = tables([whole, empty, binned])["permutation"]
    assert [part.group for part in table.parts] == [None, "largest weight 0-0.25"]
    (block,) = table.blocks
    assert block.heading == table.parts[0].quantity
    assert table.caption == f"{block.heading}, and 1 more"
    assert [label for label, _ in block.lines] == ["all documents", "largest weight 0-0.25"]
    assert [row.n for part in table.parts for row in part.rows] == [9, 3]
    assert words.group("eps=0.01;max_attention=0-0.25") == "eps 0.01, largest weight 0-0.25"


def test_a_short_name_stands_beside_its_numbers_and_a_long_one_above_them() -> None:
    short, long = (
        replace(_row("x", "mean"), meaning="short"),
        replace(_row("y", "mean"), meaning="long " * 20),
    )
    (table,) = tables([short, long])["agreement"]
    first, second = table.blocks
    assert (first.heading, first.lines[0][0]) == ("short", "all documents")  # both, or neither
    assert (second.heading, second.lines[0][0]) == ("long " * 20, "all documents")
    assert table.caption == "short, and 1 more"
    (alone,) = tables([short])["agreement"]
    assert [(block.heading, block.lines[0][0]) for block in alone.blocks] == [(None, "short")]


def test_a_table_of_many_classes_keeps_the_largest_and_counts_the_rest() -> None:
    rows = [_row("x", "mean", f"class {size}", n=size) for size in range(1, 21)]
    (table,) = tables([_row("x", "mean"), *rows])["agreement"]
    shown = [row.predicted for row in table.parts[0].rows]
    assert shown == ["all", *(f"class {size}" for size in range(9, 21))]
    assert table.parts[0].classes_left_out == 8


def test_what_a_paper_would_print_is_declared_and_short() -> None:
    for probe, names in PRINCIPAL.items():
        assert set(names) <= {quantity.name for quantity in PROBES[probe].quantities}
    rows = [
        SummaryRow("mine", f"q{place}", None, "all", "mean", 0.5, None, None, 3, 0)
        for place in range(2 * MOST_ROWS)
    ]
    assert principal(rows)["mine"] == rows[:MOST_ROWS]


@pytest.mark.parametrize(
    ("quantity", "group", "statistic", "kept"),
    [
        ("max_jsd", "eps=0.01", "mean", True),
        ("max_jsd", "eps=0.1", "mean", False),
        ("max_jsd", "eps=0.01;max_attention=0-0.25", "mean", False),
        ("max_jsd", "eps=0.01", "std", False),
        ("max_attention", None, "mean", False),
    ],
)
def test_bins_other_bounds_and_spreads_stay_in_the_csv(
    quantity: str, group: str | None, statistic: str, kept: bool
) -> None:
    row = SummaryRow("adversary", quantity, group, "all", statistic, 0.5, 0.4, 0.6, 3, 0)
    assert bool(principal([row])) == kept
    assert not principal([replace(row, value=None)])
    assert not principal([replace(row, predicted="a")])
