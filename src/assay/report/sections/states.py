"""The sentence on the states: when tests that change only the weights cannot say much."""

from assay.report.sections.tables import EVERYTHING
from assay.report.text import number, percent
from assay.runs.directory import RunRecord, SummaryRow

PROBE = "states"
CONICAL = 0.8  # the states count as alike where the mean conicity lies above it
NAMED = 0.5  # states do not stand for their items where fewer are nearest to their own


def states_sentence(run: RunRecord) -> str | None:
    """What the first screen says of the states; None where nothing limits the other tests."""
    alike, named = _mean(run, "conicity"), _mean(run, "own_item_nearest")
    said = []
    if alike is not None and alike.value is not None and (alike.low or 0) > CONICAL:
        said.append(
            "The states of the items of a document are nearly alike (conicity "
            f"{number(alike.value)}; 1: all point in the same direction). Whatever the weights "
            "are, the model reads nearly the same, so tests that change only the weights, such as "
            "shuffling and erasing them, cannot say much here."
        )
    if named is not None and named.value is not None and (named.high or 1) < NAMED:
        said.append(
            f"Only {percent(named.value)} of the items have a state that is closest to that of the "
            "same item read alone: the weight of an item is not the weight of that word alone."
        )
    return " ".join(said) or None


def _mean(run: RunRecord, quantity: str) -> SummaryRow | None:
    wanted = (PROBE, quantity, "mean", EVERYTHING)
    for row in run.summary:
        if (row.probe, row.quantity, row.statistic, row.predicted) == wanted:
            return row
    return None
