"""Trial documents: what must hold of a network before it is attached, tried on random positions.

Every difference is compared with the difference that the content of documents makes, because the
logits of small or untrained models may differ little whatever is done to them.
"""

from typing import Any

import torch
from torch import Tensor

from assay.errors import UserError
from assay.models.adapters.item_table import ItemTable, Positions
from assay.models.adapters.site_passes import Network
from assay.models.adapters.text_items import TextItems

LENGTHS = (9, 6)  # items of the trial documents
# The largest difference that rounding explains, relative to that between documents.
TOLERANCE = {torch.float64: 1e-8, torch.float32: 1e-2}
COARSE_TOLERANCE = 0.2


def trial_table(texts: TextItems, ids: int) -> ItemTable:
    """A table of random ids that are no special tokens, one position per item."""
    special = set(texts.tokenizer.all_special_ids) | {texts.pad}
    ordinary = [one for one in range(ids) if one not in special] or [texts.unknown]
    generator = torch.Generator().manual_seed(0)
    chosen = torch.randint(len(ordinary), (sum(LENGTHS),), generator=generator).tolist()
    table = texts.table
    return ItemTable(
        [(), *((ordinary[one],) for one in chosen)],
        table.prefix,
        table.suffix,
        table.names,
        table.pad,
    )


def trial_positions(table: ItemTable, device: torch.device, *, left: bool) -> Positions:
    """Two documents of different length."""
    column = torch.arange(LENGTHS[0], device=device)
    items = torch.stack([column + 1, column + 1 + LENGTHS[0]])
    mask = column < torch.tensor(LENGTHS, device=device)[:, None]
    return table.positions(items * mask, mask, left=left)


def pads_left(network: Network, table: ItemTable, device: torch.device) -> bool:
    """The side on which padding changes no prediction: False for the right, True for the left."""
    errors = []
    for left in (False, True):
        together = trial_positions(table, device, left=left)
        alone = _second_alone(together)
        logits, own = network.logits(together), network.logits(alone)[0]
        scale = float((logits[0] - logits[1]).abs().max())
        errors.append((float((logits[1] - own).abs().max()), float(own.abs().max())))
        allowed = TOLERANCE.get(logits.dtype, COARSE_TOLERANCE) * scale
        if errors[-1][0] <= allowed + torch.finfo(logits.dtype).eps * errors[-1][1] * 8:
            return left
    raise UserError(
        f"padding changes the predictions of {type(network.module).__name__}: the logits of a "
        f"document move by {errors[0][0]:.3g} when it is padded on the right and by "
        f"{errors[1][0]:.3g} on the left. The model must read its attention mask."
    )


def _second_alone(together: Positions) -> Positions:
    """The second document without its padding."""
    real = together.mask[1]
    second = together.take(torch.tensor([1], device=real.device))

    def kept(values: Tensor) -> Any:
        return values[:, real]

    layout = type(second.layout)(
        kept(second.layout.owner),
        second.layout.items,
        {name: kept(at) for name, at in second.layout.apart.items()},
    )
    return Positions(kept(second.ids), kept(second.mask), layout, kept(second.place))
