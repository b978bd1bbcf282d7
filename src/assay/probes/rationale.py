"""Do people mark the items that attention marks?

DeYoung et al. 2020 (ERASER), agreement with human rationales for scores that rank the items: per
document the area under the ROC curve, average precision, and precision among as many items as are
marked (where it equals recall and F1). The same is measured for every other score, with `random` as
the baseline. This is plausibility: a model can attend where people would and decide by something
else, so nothing here says whether attention is faithful. Signed scores count by their absolute
value, as in `agreement`.
"""

from itertools import chain

import numpy as np

from assay.evidence import stacked
from assay.models.view import AuditView, NotApplicable, View
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores
from assay.scores import SCORES
from assay.statistics.ranking import marked_item_metrics

ATTENTION = "attention"
METHOD = "ranked"


def measure(view: View, scores: Scores) -> ProbeOutcome:
    marked = marked_items(view)
    sizes = [np.abs(values) if SCORES[name].signed else values for name, values in scores.items()]
    # One call for all scores: few long documents make a short batch.
    times = (len(sizes), 1)
    measured = marked_item_metrics(
        np.concatenate(sizes), np.tile(marked, times), np.tile(view.mask, times)
    )
    columns: dict[tuple[str, str | None], np.ndarray] = {}
    for quantity, values in measured._asdict().items():
        for name, own in zip(scores, np.split(values, len(sizes)), strict=True):
            columns[quantity, name] = own
    share = share_marked(marked, view.mask)
    columns["mass_gain", ATTENTION] = (scores[ATTENTION] * marked).sum(1) - share
    columns["marked_share", None] = share
    return ProbeOutcome([stacked(view.batch.ids, columns, METHOD)])


def marked_items(view: View) -> np.ndarray:
    """(B, T): True at marked items; an unannotated document has none."""
    marks = view.inputs.get("rationale") if isinstance(view, AuditView) else None
    if marks is None:
        raise NotApplicable("no items are marked in these documents: there are no rationales")
    lengths = view.mask.sum(1).tolist()
    pairs = zip(view.batch.ids, lengths, strict=True)
    each = chain.from_iterable(marks.get(name) or (False,) * n for name, n in pairs)
    marked = np.zeros(view.mask.shape, dtype=np.bool_)
    marked[view.mask] = np.fromiter(each, dtype=np.bool_, count=sum(lengths))
    return marked


def share_marked(marked: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """(B,): the share of items that is marked; NaN where none or all are."""
    share = (marked & mask).sum(1) / np.maximum(mask.sum(1), 1)
    return np.where((share > 0) & (share < 1), share, np.nan)


def declare() -> Probe:
    """The probe, for all scores that are known now."""
    return Probe(
        name="rationale",
        question="Do people mark the items that attention marks?",
        null="Attention finds the items that people marked no better than random numbers do.",
        paper="DeYoung et al. 2020 (ERASER), agreement with human rationales",
        needs="model",
        scores=tuple(SCORES),
        inputs=("rationale",),
        quantities=(
            Quantity(
                "auc", "how often a marked item ranks above an unmarked one", ("mean",), unit="AUC"
            ),
            Quantity(
                "average_precision",
                "precision, averaged over the marked items",
                ("mean",),
                unit="AUPRC",
            ),
            Quantity(
                "precision",
                "share of marked items among the first k, where k items are marked",
                ("mean",),
                unit="share",
            ),
            Quantity(
                "mass_gain",
                "attention on the marked items, minus their share of all items",
                ("mean",),
                unit="weight",
            ),
            Quantity(
                "marked_share", "share of the items that people marked", ("mean",), unit="share"
            ),
        ),
        measure=measure,
    )


PROBE = declare()
