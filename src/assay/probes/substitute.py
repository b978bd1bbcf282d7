"""Does the model still do its task if a word counter tells it where to look?

After an experiment in the program of Jain & Wallace 2019 that their paper does not report: a
logistic regression on the words of the training split gives each word the size of its coefficient
(the input `word_odds`), a softmax over the document turns these into weights, and the trained model
decodes its own states with them. These weights know nothing of order, context or this model. If the
model does as well with them, its own attention was not needed for that.
"""

import numpy as np
import torch
from torch import Tensor

from assay.evidence import rows
from assay.models.view import AuditView, NotApplicable, View
from assay.probes.inputs import WordOdds
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores, Statistic
from assay.statistics.divergence import class_probabilities, decisions, jsd, tvd

SCORED: tuple[Statistic, ...] = ("accuracy", "f1", "macro_f1")


def measure(view: View, scores: Scores) -> ProbeOutcome:
    own = torch.from_numpy(scores["attention"])
    weights, only_stop_words = log_odds_weights(
        view.batch.items.cpu(), view.batch.mask.cpu(), _odds(view)
    )
    logits = view.decode(weights.to(view.weights.device))
    decided = decisions(logits)
    found = {
        "tvd": tvd(class_probabilities(logits.double()), view.probabilities),
        "jsd": jsd(weights, own),
        "flip": decided != view.decisions,
        "only_stop_words": only_stop_words,
        "decision": view.decisions,
        "decision_substituted": decided,
    }
    return ProbeOutcome([rows(view.batch.ids, name, _numbers(v)) for name, v in found.items()])


def log_odds_weights(items: Tensor, mask: Tensor, odds: WordOdds) -> tuple[Tensor, Tensor]:
    """Weights (B, T) from word indices, and where all words are stop words (uniform there)."""
    logits = torch.from_numpy(odds.logits)[items].masked_fill(~mask, -torch.inf)
    nothing = logits.isneginf().all(1)
    flat = torch.zeros_like(logits).masked_fill(~mask, -torch.inf)
    return torch.softmax(torch.where(nothing[:, None], flat, logits), dim=1), nothing


def _odds(view: View) -> WordOdds:
    odds: WordOdds | None = view.inputs.get("word_odds") if isinstance(view, AuditView) else None
    if odds is None:
        raise NotApplicable("the word model is fitted on a training split, which was not given")
    if odds.unfit:
        raise NotApplicable(odds.unfit)
    return odds


def _numbers(values: Tensor) -> np.ndarray:
    numbers: np.ndarray = values.double().cpu().numpy()
    return numbers


PROBE = Probe(
    name="substitute",
    question="Does the model do as well with weights from the log-odds of single words?",
    null="With weights that know neither context nor model, the model does its task as well.",
    paper="Jain & Wallace 2019, their program (log-odds attention at test time)",
    needs="model",
    scores=("attention",),
    inputs=("word_odds",),
    quantities=(
        Quantity(
            "tvd",
            "change of the prediction under the substituted weights",
            ("mean", "median"),
            unit="TVD",
            direction="higher is more faithful",
        ),
        Quantity(
            "jsd",
            "distance of the substituted weights from the model's own",
            ("mean", "median"),
            unit="JSD, nats",
        ),
        Quantity(
            "flip",
            "the substituted weights change the decision",
            ("share",),
            direction="higher is more faithful",
        ),
        Quantity("decision", "the class decided with the model's own weights", SCORED),
        Quantity("decision_substituted", "the class decided with the substituted weights", SCORED),
        Quantity(
            "only_stop_words",
            "no item has log-odds, so all weights are equal",
            ("share",),
        ),
    ),
    measure=measure,
)
