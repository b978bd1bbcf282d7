"""How much does the prediction change when another word of the corpus stands in the item's place?

The item is replaced by draws from the words of all audited documents, frequent ones more often;
the mean TVD over the draws is its importance. Unlike deletion the text keeps its length, and
unlike a zero vector the newcomer is a word that the model knows.
"""

import torch
from torch import Tensor

from assay.measures.chance import document_keys, uniform
from assay.measures.divergence import class_probabilities, tvd
from assay.models.view import View
from assay.scores.copies import copies, rows_per_pass
from assay.scores.score import AuditView, NotApplicable, Score

DRAWS = 10


@torch.no_grad()
def feature_permutation(view: View) -> Tensor:
    mask = view.batch.mask
    row, position = mask.nonzero(as_tuple=True)
    row, position = row.repeat_interleave(DRAWS), position.repeat_interleave(DRAWS)
    words = replacements(view)[mask].flatten()
    size = rows_per_pass(view, mask.shape[1])
    parts = [slice(start, start + size) for start in range(0, len(row), size)]
    moved = torch.cat([change(view, row[part], position[part], words[part]) for part in parts])
    scores = torch.zeros(mask.shape, dtype=torch.float64, device=mask.device)
    scores[mask] = moved.reshape(-1, DRAWS).mean(1)
    return scores


def replacements(view: View) -> Tensor:
    """(B, T, DRAWS) word indices; a document's depend on its id and the seed alone."""
    if not isinstance(view, AuditView) or view.words is None:
        raise NotApplicable("replacement words are drawn from the corpus, which was not given")
    keys = document_keys(view.batch.ids, view.seed, "feature permutation")
    lots = torch.from_numpy(uniform(keys, view.batch.items.shape[1], DRAWS))
    return view.words[(lots * len(view.words)).long().to(view.words.device)]


def change(view: View, row: Tensor, position: Tensor, words: Tensor) -> Tensor:
    """TVD between the prediction with the word put in and the untouched one, (R,)."""
    changed = copies(view.batch, row)
    changed.items[torch.arange(len(row), device=row.device), position] = words
    states = view.model.encode(changed)
    logits = view.model.decode(states, view.model.attend(states))
    return tvd(class_probabilities(logits.double()), view.probabilities[row])


SCORE = Score(
    name="feature_permutation",
    question="How far does the prediction move when another word of the corpus takes its place?",
    paper="Breiman 2001, section 10, per item; replacements from the audited documents",
    compute=feature_permutation,
    costly=True,
)
