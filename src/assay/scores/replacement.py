"""Scores from replacing one item at a time: feature permutation and masked leave-one-out.

Unlike deletion, a replacement keeps the length of the text and the places of all other items.

- `feature_permutation`: the mean TVD when the item is replaced by random words of all audited
  documents, frequent ones more often. Unlike a zero vector, the replacement is a word that the
  model knows.
- `leave_one_out_masked`: the TVD when the item is replaced by the unknown word. It asks what
  leave-one-out asks, by a second and equally natural way to take an item away. How well the two
  agree says how well leave-one-out is defined: no other score can be expected to agree with it
  more. An item that is the unknown word already stays as it is and scores zero.
"""

from dataclasses import replace

import torch
from torch import Tensor

from assay.data.batches import Batch
from assay.data.vocabulary import UNKNOWN, SentenceTable
from assay.models.protocol import SupportsReplacement
from assay.models.view import AuditView, NotApplicable, View, predict
from assay.scores.leave_one_out import may_fade
from assay.scores.score import Score, rows_per_pass, take_rows
from assay.statistics.divergence import class_probabilities, tvd
from assay.statistics.keyed_random import document_keys, uniform

DRAWS = 10  # replacements per item


def feature_permutation(view: View) -> Tensor:
    """The mean TVD over random replacements of each item."""
    return replaced_tvd(view, view.batch, draw_replacements(view)).mean(-1)


def draw_replacements(view: View) -> Tensor:
    """Word indices (B, T, DRAWS); those of a document depend only on its id and the seed."""
    if not isinstance(view, AuditView) or view.replacements is None:
        raise NotApplicable("replacement words are drawn from the corpus, but none was given")
    keys = document_keys(view.batch.ids, view.seed, "feature permutation")
    draws = torch.from_numpy(uniform(keys, view.batch.items.shape[1], DRAWS))
    pool = view.replacements
    return pool[(draws * len(pool)).long().to(pool.device)]


FEATURE_PERMUTATION = Score(
    name="feature_permutation",
    question="How far does the prediction move when another word of the corpus replaces the item?",
    paper="Breiman 2001, section 10, per item; replacements from the audited documents",
    compute=feature_permutation,
    costly=True,
    cost=lambda lengths, encoder: DRAWS * encoder.changes(lengths),
)


def leave_one_out_masked(view: View) -> Tensor:
    """The TVD when the unknown word, or the mask token, replaces each item."""
    if getattr(view.model, "unknown", UNKNOWN) is None:
        raise NotApplicable("the model has nothing that stands for an unknown word")
    batch, unknown = with_unknown_item(view.batch)
    replacement = torch.full_like(batch.items, unknown)[..., None]
    moved = replaced_tvd(view, batch, replacement)[..., 0]
    return moved.masked_fill(batch.items == unknown, 0)


def with_unknown_item(batch: Batch) -> tuple[Batch, int]:
    """The batch and the item that stands for the unknown word in it.

    Where items are sentences, it is a sentence of one unknown word, appended to their table.
    """
    table = batch.sentences
    if table is None:
        return batch, UNKNOWN
    words = torch.cat([table.words, table.words.new_tensor([UNKNOWN])])
    starts = torch.cat([table.starts, table.starts[-1:] + 1])
    return replace(batch, sentences=SentenceTable(words, starts)), len(table.starts) - 1


LEAVE_ONE_OUT_MASKED = Score(
    name="leave_one_out_masked",
    question="How far does the prediction move when the unknown word replaces the item?",
    paper="Zeiler & Fergus 2014, section 4.2, occlusion, with the unknown word",
    compute=leave_one_out_masked,
    costly=True,
    cost=lambda lengths, encoder: encoder.changes(lengths),
)


@torch.no_grad()
def replaced_tvd(view: View, batch: Batch, replacements: Tensor) -> Tensor:
    """The TVD (B, T, R) between the predictions with each replacement and the original one.

    `replacements` (B, T, R) holds R items for each position. `batch` has the documents of the
    view, and all items that replace others. As in leave-one-out, long documents of an audit are
    followed only until the effect of the replacement has faded. Models without a cheap replacement
    encode every changed document.
    """
    if not isinstance(view.model, SupportsReplacement):
        return reencoded_tvd(view, batch, replacements)
    scores = torch.zeros(replacements.shape, dtype=torch.float64, device=batch.mask.device)
    long = may_fade(view)
    for rows, exact in ((~long, True), (long, False)):
        if rows.any():
            words = replacements[rows].movedim(-1, 1)
            part = take_rows(batch, rows.nonzero()[:, 0])
            logits = view.model.logits_with_each_replaced(part, words, exact=exact)
            own = view.probabilities[rows][:, None, None]
            scores[rows] = tvd(class_probabilities(logits.double()), own).movedim(1, -1)
    return scores.masked_fill(~batch.mask[..., None], 0)


@torch.no_grad()
def reencoded_tvd(view: View, batch: Batch, replacements: Tensor) -> Tensor:
    """The TVD (B, T, R) of all replacements, by encoding every changed document."""
    mask, draws = batch.mask, replacements.shape[-1]
    row, position = mask.nonzero(as_tuple=True)
    row, position = row.repeat_interleave(draws), position.repeat_interleave(draws)
    words = replacements[mask].flatten()
    size = rows_per_pass(view, mask.shape[1])
    scores = torch.zeros(replacements.shape, dtype=torch.float64, device=mask.device)
    changes = torch.cat(
        [
            _changed_tvd(view, batch, row[part], position[part], words[part])
            for part in (slice(start, start + size) for start in range(0, len(row), size))
        ]
    )
    scores[mask] = changes.reshape(-1, draws)
    return scores


def _changed_tvd(view: View, batch: Batch, row: Tensor, position: Tensor, words: Tensor) -> Tensor:
    """The TVD (N,) of N replacements, by one encoder pass each."""
    changed = take_rows(batch, row)
    changed.items[torch.arange(len(row), device=row.device), position] = words
    logits = predict(view.model, view.model.encode(changed))
    return tvd(class_probabilities(logits.double()), view.probabilities[row])
