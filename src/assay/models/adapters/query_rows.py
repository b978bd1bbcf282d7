"""The rows of attention weights (B, H, Tq, Tk) that a site shows: read, and put back changed."""

from dataclasses import dataclass

import torch
from torch import Tensor

from assay.errors import UserError
from assay.models.adapters.site import Site


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
