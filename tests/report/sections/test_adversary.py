"""The largest JSD of the model's weights beside that of shuffled, uniform and free weights."""

from dataclasses import replace

from assay.report.sections.adversary import compared_weights, sample_sentence
from assay.runs.directory import SummaryRow


def row(quantity: str, value: float, group: str | None = "eps=0.01") -> SummaryRow:
    return SummaryRow("adversary", quantity, group, "all", "mean", value, None, None, 40, 2)


def test_the_kinds_of_weights_stand_in_one_order_with_their_bounds() -> None:
    rows = [
        row("free_jsd", 0.68, None),
        row("shuffled_max_jsd", 0.65),
        row("max_jsd", 0.64),
        row("max_jsd_upper", 0.66),
        row("max_jsd", 0.1, "eps=0.001"),
    ]
    compared = compared_weights(rows)
    assert [one.jsd.value for one in compared] == [0.64, 0.65, 0.68]
    assert compared[0].upper is not None
    assert compared[0].upper.value == 0.66
    assert compared[1].upper is None


def test_medians_and_single_classes_are_not_mixed_in() -> None:
    median = SummaryRow("adversary", "max_jsd", "eps=0.01", "all", "median", 1, None, None, 4, 0)
    of_class = SummaryRow("adversary", "max_jsd", "eps=0.01", "up", "mean", 1, None, None, 4, 0)
    assert compared_weights([median, of_class]) == ()


def test_a_sample_of_documents_is_named_with_its_size() -> None:
    rows = [replace(row("free_jsd", 0.68, None), n=500), replace(row("max_jsd", 0.6), n=60)]
    assert "60 of the 500 documents" in sample_sentence(rows)


def test_no_sample_is_named_where_every_document_was_measured() -> None:
    assert sample_sentence([row("free_jsd", 0.68, None), row("max_jsd", 0.6)]) == ""
    assert sample_sentence([row("free_jsd", 0.68, None)]) == ""
