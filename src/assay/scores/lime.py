"""Which weight does the item get in a linear model that imitates the network near the document?

Random items are taken away, few or many with equal chance; a ridge regression predicts the
log-odds from what is left, and samples near the whole document count more. Kernel and penalty
are those of the authors' program for text; an absent item is a zero embedding (`presence.py`).
"""

import numpy as np
from sklearn.linear_model import Ridge
from torch import Tensor

from assay.measures.chance import document_keys, uniform
from assay.models.view import View
from assay.scores.captum import Values
from assay.scores.odds import embedding_model
from assay.scores.presence import Drawn, explain
from assay.scores.score import Score

SAMPLES, SAMPLES_PER_ITEM = 256, 2
KERNEL_WIDTH = 0.25  # of the cosine distance between a sample and the whole document
PENALTY = 1.0


def lime(view: View) -> Tensor:
    return explain(view, draw, solve, document_keys(view.batch.ids, view.seed, "lime"))


def draw(key: np.uint64, length: int) -> Drawn:
    """The whole document first, then subsets whose number of absent items is 1 to n."""
    count = SAMPLES + SAMPLES_PER_ITEM * length
    lots = uniform(np.array([key]), count, length + 1)[0]
    absent = 1 + (lots[:, :1] * length).astype(np.int64)
    present = lots[:, 1:].argsort(axis=1).argsort(axis=1) >= absent
    present[0] = True
    distance = 1 - np.sqrt(present.mean(axis=1))  # of two vectors of zeros and ones
    return present, np.exp(-(distance**2) / (2 * KERNEL_WIDTH**2))


def solve(samples: Values, outputs: Values, weights: Values) -> Values:
    coefficients: Values = Ridge(alpha=PENALTY).fit(samples, outputs, weights).coef_
    return coefficients


SCORE = Score(
    name="lime",
    question="Which weight has the item's presence in a local linear imitation of the model?",
    paper="Ribeiro et al. 2016, section 3",
    compute=lime,
    check=embedding_model,
    signed=True,
    costly=True,
)
