"""The attention row that a heat map shows, and the arithmetic between items and positions.

A model's *positions* are its own tokens: sub-words, special tokens, prefixes. An *item* is a word
(or residue, code, sentence) of the user's document and consists of one or more positions. Special
tokens and prefixes belong to no item: they stand apart. They keep their weight under every
intervention on the items, and their share is reported by name.

The weight of an item is the sum over its positions. A proposed item weight is divided over the
item's positions by the head's own shares within the item, equally where these are all zero. So the
model's own item weights give its own position weights back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from assay.errors import UserError

APART = -1  # owner of a position that belongs to no item
SINK = "sink"  # what is missing from a row that sums to less than one
# The largest difference from one that rounding explains in a row of weights, by number type.
ROW_ROUNDING = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 4e-3}
COARSE_ROW_ROUNDING = 2e-2  # bfloat16

ROWS = {
    "cls": "the row of the first position",
    "last": "the row of the last position",
    "mean": "the mean of all rows",
}
PARTS = {
    "encoder": "the encoder",
    "decoder": "the decoder",
    "cross": "the attention from the decoder to the encoder",
}
COMBINED_HEADS = {"mean": "the mean over the heads", "max": "the maximum over the heads"}


@dataclass(frozen=True)
class Site:
    """What a heat map shows: one row of attention weights in one layer, from one or all heads."""

    layer: int | Literal["rollout"] = -1  # index, negative from the end; "rollout": all layers
    heads: int | Literal["mean", "max"] = "mean"  # one head, or how the heads are combined
    query: int | Literal["cls", "last", "mean"] = "cls"  # the row: who attends
    # Of an encoder-decoder: which attention. None: the encoder's, or the only one.
    part: Literal["encoder", "decoder", "cross"] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check_choice("layer", self.layer, {"rollout": ""})
        _check_choice("heads", self.heads, COMBINED_HEADS)
        _check_choice("query", self.query, ROWS)
        if self.part is not None and self.part not in PARTS:
            listed = " or ".join(f'"{word}"' for word in PARTS)
            raise UserError(f"part={self.part!r} is not possible: give {listed}.")
        if isinstance(self.heads, int) and self.heads < 0:
            raise UserError(f"heads={self.heads} is not possible: heads are counted from 0.")

    def __str__(self) -> str:
        """The site in words, for the page."""
        if self.layer == "rollout":
            layer = "attention rollout over all layers"
        elif self.layer < 0:
            layer = "the last layer" if self.layer == -1 else f"layer {self.layer} from the end"
        else:
            layer = f"layer {self.layer} (the first is 0)"
        if self.part is not None:
            layer = f"{layer} of {PARTS[self.part]}"
        alone = isinstance(self.heads, int)
        heads = f"head {self.heads}" if alone else COMBINED_HEADS[str(self.heads)]
        row = ROWS.get(str(self.query), f"the row of position {self.query}")
        return f"{layer}, {heads}, {row}"

    @property
    def chosen_heads(self) -> slice:
        """The heads whose weights make up what is shown; an intervention replaces exactly these."""
        return slice(self.heads, self.heads + 1) if isinstance(self.heads, int) else slice(None)

    def layer_index(self, layers: int) -> int:
        """The layer counted from 0, in a model with so many layers."""
        if self.layer == "rollout" or not -layers <= self.layer < layers:
            raise UserError(
                f"layer={self.layer} is not possible: the model has {layers} layers, 0 to "
                f"{layers - 1}; negative numbers count from the end."
            )
        return self.layer % layers

    def check_heads(self, heads: int) -> None:
        """Raise an error if the model has fewer heads than the site names."""
        if isinstance(self.heads, int) and self.heads >= heads:
            raise UserError(
                f"heads={self.heads} is not possible: the layer has {heads} heads, 0 to "
                f'{heads - 1}; heads="mean" combines them all.'
            )

    def shown_weights(self, heads: Tensor) -> Tensor:
        """Weights of the chosen heads (..., H, T) as the heat map shows them, (..., T).

        Each row sums to one; a row without any weight on items stays zero.
        """
        shown = heads.amax(-2) if self.heads == "max" else heads.mean(-2)
        return _to_total(shown, torch.ones_like(shown[..., :1]))


def given_to_heads(shown: Tensor, own: Tensor) -> Tensor:
    """Shown weights (B, P, T) as proposals for every head, (B, P, H, T).

    Every head gets the same weights, scaled to its own mass on the items (`own` is (B, H, T)).
    """
    return shown[:, :, None] * own.sum(-1)[:, None, :, None]


@dataclass(frozen=True)
class ItemPositions:
    """Which positions of the model form which item, for a batch of documents."""

    owner: Tensor  # (B, S) item of each position; APART at special tokens, prefixes and padding
    items: int  # T, the number of items of the longest document
    apart: Mapping[str, Tensor] = field(default_factory=dict)  # name -> (B, S) True there

    def item_weights(self, positions: Tensor) -> Tensor:
        """Weights of positions (B, H, S) summed to weights of items (B, H, T)."""
        # One more column takes what stands apart, and is dropped.
        shape = (*positions.shape[:-1], self.items + 1)
        column = self._column()[:, None].expand_as(positions)
        return positions.new_zeros(shape).scatter_add(-1, column, positions)[..., :-1]

    def shares(self, positions: Tensor) -> Tensor:
        """The share (B, H, S) of each position in its item's weight; zero where it stands apart."""
        counted = self.item_weights(self._real(positions).expand_as(positions))
        total = self._at_positions(self.item_weights(positions))
        equal = 1 / self._at_positions(counted).clamp(min=1)
        some = total > 0
        share = torch.where(some, positions / torch.where(some, total, 1), equal)
        return share * self._real(positions)

    def position_weights(self, own: Tensor, proposed: Tensor) -> Tensor:
        """Proposed item weights (B, P, H, T) as position weights (B, P, H, S).

        `own` (B, H, S) are the model's own weights: they say how an item's weight is divided over
        its positions, and what stands apart keeps them.
        """
        kept = own * ~self._real(own).bool()
        column = self._column().clamp(max=self.items - 1)[:, None, None]
        column = column.expand(*proposed.shape[:-1], own.shape[-1])
        return proposed.gather(-1, column) * self.shares(own)[:, None] + kept[:, None]

    def weights_apart(self, positions: Tensor) -> dict[str, Tensor]:
        """The weight (B, H) of everything that stands apart, by name.

        A row that sums to less than one, as in models with attention sinks, leaves its remainder
        to the name "sink".
        """
        found = {name: (positions * at[:, None]).sum(-1) for name, at in self.apart.items()}
        total = positions.sum(-1)
        missing = torch.where(total > 0, 1 - total, 0)  # a row of zeros is one of padding
        if bool((missing > row_rounding(positions.dtype)).any()):
            found[SINK] = missing.clamp(min=0)
        return found

    def without_apart(self, own: Tensor) -> Tensor:
        """Position weights (B, H, S) with everything that stands apart given to the items.

        Every item position grows in proportion; a head without any weight on the items gives them
        equal weights.
        """
        real = self._real(own).expand_as(own)
        items = own * real
        some = items.sum(-1, keepdim=True) > 0
        items = torch.where(some, items, real)
        return _to_total(items, torch.ones_like(items[..., :1]))

    def _column(self) -> Tensor:
        return torch.where(self.owner == APART, self.items, self.owner)

    def _real(self, like: Tensor) -> Tensor:
        """(B, 1, S): one at positions of items."""
        return (self.owner != APART)[:, None].to(like.dtype)

    def _at_positions(self, items: Tensor) -> Tensor:
        """The value (B, H, S) of each position's item; zero where it stands apart."""
        padded = torch.nn.functional.pad(items, (0, 1))
        column = self._column()[:, None]
        return padded.gather(-1, column.expand(-1, items.shape[1], -1))


def row_rounding(dtype: torch.dtype) -> float:
    """How far from one a row of weights of this number type may sum."""
    return ROW_ROUNDING.get(dtype, COARSE_ROW_ROUNDING)


def _to_total(weights: Tensor, total: Tensor) -> Tensor:
    found = weights.sum(-1, keepdim=True)
    some = found > 0
    return torch.where(some, weights * total / torch.where(some, found, 1), weights)


def _check_choice(name: str, value: object, words: Mapping[str, str]) -> None:
    if isinstance(value, bool) or not (isinstance(value, int) or value in words):
        listed = " or ".join(f'"{word}"' for word in words)
        raise UserError(f"{name}={value!r} is not possible: give a whole number or {listed}.")


@dataclass(frozen=True)
class QueryRows:
    """The rows of one site. For the mean of all rows, every row counts as a head of its own.

    So an intervention acts on each row alike, and the module's own weights give its prediction.
    """

    site: Site

    def read(self, weights: Tensor, real: Tensor) -> Tensor:
        """The shown rows (B, H', Tk) of weights (B, H, Tq, Tk).

        `real` (B, Tk) is True at the positions that are no padding.
        """
        self.site.check_heads(weights.shape[1])
        chosen = weights[:, self.site.chosen_heads]
        # Rows of padding may hold NaN, which a product with zero would keep.
        rows = torch.where(self._rows(weights, real)[:, None, :, None], chosen, 0)
        return rows.flatten(1, 2) if self._all_rows(weights) else rows.sum(2)

    def put(self, weights: Tensor, real: Tensor, rows: Tensor) -> Tensor:
        """The weights (B, H, Tq, Tk) with other shown rows (B, H', Tk)."""
        chosen = weights[:, self.site.chosen_heads]
        if self._all_rows(weights):
            new = rows.reshape(chosen.shape)
        else:
            new = rows[:, :, None].expand_as(chosen)
        changed = weights.clone()
        here = self._rows(weights, real)[:, None, :, None]
        changed[:, self.site.chosen_heads] = torch.where(here, new, chosen)
        return changed

    def shown(self, rows: Tensor, heads: int) -> Tensor:
        """Rows (..., H', T) as the heat map shows them, where so many heads were chosen."""
        if self.site.query == "mean":
            rows = rows.reshape(*rows.shape[:-2], heads, -1, rows.shape[-1]).mean(-2)
        return self.site.shown_weights(rows)

    def _all_rows(self, weights: Tensor) -> bool:
        return self.site.query == "mean" and weights.shape[2] > 1

    def _rows(self, weights: Tensor, real: Tensor) -> Tensor:
        """(B, Tq): True at the shown rows."""
        documents, _, queries, positions = weights.shape
        query = self.site.query
        if queries == 1 or query == "cls":
            return torch.arange(queries, device=real.device).expand(documents, -1) == 0
        if queries != positions:
            raise UserError(
                f"query={query!r} is not possible: the site has {queries} rows for {positions} "
                'positions, so that no row belongs to a position. Choose query="cls" for its '
                "first row."
            )
        if query == "mean":
            return real
        lengths = real.sum(1)
        place = lengths - 1 if query == "last" else torch.full_like(lengths, int(query))
        place = torch.where(place < 0, place + lengths, place)
        if bool(((place < 0) | (place >= lengths)).any()):
            raise UserError(
                f"query={query} is not possible: a document has only {int(lengths.min())} "
                "positions. Choose a position that every document has."
            )
        return torch.arange(queries, device=real.device) == place[:, None]
