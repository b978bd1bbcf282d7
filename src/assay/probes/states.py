"""Do the states of a document's items differ, and does each state stand for its own item?

Other probes change the weights and keep the states. If all states are alike, every weighted mean
of them is nearly the same, and such a probe can say little, whatever the weights are. If a state
stands for its neighbors rather than for its own item, its weight is not the weight of that word.

- `conicity` (Mohankumar et al. 2020, section 2): the mean cosine between the states and their mean.
  1: all point in the same direction.
- `own_item_nearest` (after Brunner et al. 2020, token identifiability, and Tutek & Snajder 2020):
  the share of items whose state is nearest, by cosine, to the state of its own item among all items
  of the document. States and embeddings have different dimensions, so that we compare with the
  state that the model computes for a text of that item alone. No map is learned.
- `own_item_chance`: what the share would be if the nearest item were drawn at random.
"""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from assay.evidence import stacked
from assay.models.diverse import conicity
from assay.models.view import View
from assay.probes.probe import Probe, ProbeOutcome, Quantity, Scores
from assay.scores.score import rows_per_pass, take_rows

MIN_ITEMS = 2
METHOD = "encoded"


def measure(view: View, scores: Scores) -> ProbeOutcome:
    states, mask = view.states.items.double(), view.batch.mask
    found = {
        "conicity": conicity(states, mask),
        "own_item_nearest": _mean(own_item_nearest(view, states).double(), mask),
        "own_item_chance": own_item_chance(view.batch.items, mask),
    }
    several = view.mask.sum(1) >= MIN_ITEMS
    columns: dict[tuple[str, str | None], np.ndarray] = {
        (name, None): np.where(several, values.cpu(), np.nan) for name, values in found.items()
    }
    return ProbeOutcome([stacked(view.batch.ids, columns, METHOD)])


@torch.no_grad()
def own_item_nearest(view: View, states: Tensor) -> Tensor:
    """(B, T): True where the nearest item of the document, read alone, is the item itself."""
    items, mask = view.batch.items, view.batch.mask
    names = torch.unique(items[mask])
    if not len(names):
        return mask
    places = torch.searchsorted(names, items).clamp(max=len(names) - 1)  # any, for padding
    alone = torch.nn.functional.normalize(states_alone(view, names), dim=-1)[places]
    cosines = torch.nn.functional.normalize(states, dim=-1) @ alone.mT  # (B, T, T)
    nearest = cosines.masked_fill(~mask[:, None], -torch.inf).argmax(-1)
    return items.gather(1, nearest) == items


def states_alone(view: View, names: Tensor) -> Tensor:
    """The states (N, m) of texts of one item each."""
    parts = []
    for some in torch.split(names, rows_per_pass(view, 1)):
        batch, one = take_rows(view.batch, torch.zeros_like(some)), some[:, None]
        alone = replace(batch, items=one, mask=torch.ones_like(one, dtype=torch.bool), imposed=None)
        parts.append(view.model.encode(alone).items[:, 0].double())
    return torch.cat(parts)


def own_item_chance(items: Tensor, mask: Tensor) -> Tensor:
    """How often an item drawn at random equals a given one, mean over the items: (B,)."""
    equal = (items[:, :, None] == items[:, None]) & mask[:, :, None] & mask[:, None]
    return equal.sum((1, 2)) / mask.sum(1).clamp(min=1) ** 2


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    """The mean (B,) of values (B, T) over the items."""
    total: Tensor = values.masked_fill(~mask, 0).sum(1) / mask.sum(1).clamp(min=1)
    return total


PROBE = Probe(
    name="states",
    question="Do the states of a document's items differ, and does each stand for its own item?",
    null="All states are alike, and which item a state is nearest to is a matter of chance.",
    paper="Mohankumar et al. 2020, section 2 (conicity); Brunner et al. 2020, section 4",
    needs="model",
    scores=(),
    quantities=(
        Quantity(
            "conicity",
            "mean cosine between the states of the items and their mean",
            ("mean", "median"),
            unit="cosine",
        ),
        Quantity(
            "own_item_nearest",
            "share of items whose state is nearest to that of the same item read alone",
            ("mean",),
            unit="share",
        ),
        Quantity(
            "own_item_chance",
            "the same share if the nearest item were drawn at random",
            ("mean",),
            unit="share",
        ),
    ),
    measure=measure,
)
