"""Register an attribution score of your own: the item's contribution to the predicted logit."""

from torch import Tensor

import assay
from assay.models.protocol import Model, SupportsAffineTerms
from assay.models.view import NotApplicable, View
from assay.scores import Score


def contribution(view: View) -> Tensor:
    """(documents, items) in float64, zero on padding: attention times the item's logit."""
    assert view.affine is not None  # `check` has refused other models
    logits = view.affine.items  # (documents, items, classes), or one column for two classes
    if logits.shape[-1] == 1:
        sign = view.decisions.double() * 2 - 1  # the logit is that of the second class
        predicted = logits[..., 0] * sign[:, None]
    else:
        index = view.decisions[:, None, None].expand(*logits.shape[:2], 1)
        predicted = logits.gather(2, index)[..., 0]
    return view.weights.double() * predicted * view.batch.mask


def check(model: Model) -> None:
    """Refuse a model before anything is computed, with a reason for the report."""
    if not isinstance(model, SupportsAffineTerms):
        raise NotApplicable("the score needs logits that are affine in the weights")


CONTRIBUTION = Score(
    name="contribution",
    question="How much does the item add to the predicted logit?",
    paper="Sun & Lu 2020, attention times polarity",
    compute=contribution,
    check=check,
    signed=True,
)

if __name__ == "__main__":
    assay.register(CONTRIBUTION)
    corpus = assay.load_corpus("motif", options={"documents": "60", "length": "30"})
    model = assay.train(corpus, encoder="average")
    # LIME, SHAP and other costly scores are computed on two documents only.
    audit = assay.audit(model, corpus, probes=["agreement"], sample=2)
    tau = audit.summary().filter(
        quantity="tau_attention_contribution", statistic="mean", **{"class": "all"}
    )
    value, low, high = tau.select("value", "low", "high").row(0)
    print(f"Kendall's tau of attention and contribution: {value:.2f} [{low:.2f}, {high:.2f}].")
