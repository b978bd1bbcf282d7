"""The attention computations of a transformer, found by watching it read two trial documents.

Most models have one part: the self-attention of their layers. An encoder-decoder has three: the
encoder, the decoder, and the cross attention from the decoder to the encoder. A softmax of another
shape, such as that of a mixture of experts, is passed over.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from assay.errors import UserError
from assay.models.adapters.interception import AttentionCall
from assay.models.adapters.item_table import Positions
from assay.models.adapters.key_columns import AttentionPart, KeyColumns
from assay.models.adapters.site import Site
from assay.models.adapters.site_passes import Network

SELF = "self"  # the only part of a model that is no encoder-decoder
ENCODER, DECODER, CROSS = "encoder", "decoder", "cross"
DECODER_START = "decoder start"  # the name of the token that a decoder begins with


class _Watch:
    """What one forward pass of the trial documents shows."""

    def __init__(self, width: int, columns: int) -> None:
        self.shape = (width, columns)
        self.encoding = False  # whether the encoder is running
        self.parts: dict[str, list[int]] = {}
        self.heads: dict[str, int] = {}
        self.other: list[tuple[int, ...]] = []  # shapes of weights that are not dense
        self.decoded: Tensor | None = None  # the ids that the decoder reads

    def look(self, call: AttentionCall) -> None:
        weights = call.weights
        if weights.dim() != 4 or tuple(weights.shape[2:]) != self.shape:
            self.other.append(tuple(weights.shape))
            return
        part = SELF
        if self.encoding:
            part = ENCODER
        elif self.decoded is not None:
            part = DECODER if is_lower_triangle(weights) else CROSS
        self.parts.setdefault(part, []).append(call.index)
        self.heads.setdefault(part, int(weights.shape[1]))

    def enter_encoder(self, *_: Any) -> None:
        self.encoding = True

    def leave_encoder(self, *_: Any) -> None:
        self.encoding = False

    def enter_decoder(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        ids = kwargs.get("input_ids", args[0] if args else None)
        self.decoded = ids if isinstance(ids, Tensor) else torch.empty(0)


@torch.no_grad()
def attention_parts(network: Network, positions: Positions) -> Mapping[str, AttentionPart]:
    """The parts of a network by name, each with its layers."""
    width = positions.ids.shape[1]
    watch = _Watch(width, network.columns.leading + width)
    with _cannot_read(network, positions), _watched_sides(network, watch):
        network.logits(positions, watch.look)
    if not watch.parts:
        raise UserError(_nothing_dense(network, watch))
    found = {
        name: AttentionPart(tuple(calls), watch.heads[name], network.columns)
        for name, calls in watch.parts.items()
    }
    if DECODER in found:
        late = KeyColumns(1, DECODER_START, late=True)
        found[DECODER] = AttentionPart(found[DECODER].calls, found[DECODER].heads, late)
        if not _reads_one_late(watch.decoded, positions):
            del found[DECODER]  # nobody knows what its columns are
    return found


def choose_part(parts: Mapping[str, AttentionPart], site: Site, name: str) -> AttentionPart:
    """The part that a site names; the encoder, or the only one, where it names none."""
    chosen: str = next(iter(parts)) if site.part is None else site.part
    if chosen not in parts:
        has = ", ".join(parts) if len(parts) > 1 else "one kind of attention only"
        raise UserError(
            f'part="{chosen}" is not possible: {name} has {has}. Encoder-decoders have encoder, '
            "decoder and cross; leave it out for all other models."
        )
    if chosen == CROSS and site.layer == "rollout":
        raise UserError(
            'layer="rollout" is not possible with part="cross": a rollout multiplies layers of '
            "self-attention. Choose one layer, or another part."
        )
    return parts[chosen]


def is_causal(network: Network, positions: Positions) -> bool:
    """Whether the first layer lets a position see only what stands before it."""
    seen: list[bool] = []

    def look(call: AttentionCall) -> None:
        if not seen and call.weights.dim() == 4 and call.weights.shape[2] == positions.ids.shape[1]:
            seen.append(is_lower_triangle(call.weights))

    with torch.no_grad(), _cannot_read(network, positions):
        network.logits(positions, look)
    return seen == [True]


def is_lower_triangle(weights: Tensor) -> bool:
    """Whether no position sees one that stands behind it, but for leading columns."""
    leading = weights.shape[-1] - weights.shape[-2]
    return not bool(weights.triu(1 + leading).any())


@contextmanager
def _watched_sides(network: Network, watch: _Watch) -> Iterator[None]:
    """Tell the watch when the encoder runs, and what the decoder reads."""
    if network.sides is None:
        yield
        return
    encoder, decoder = network.sides
    handles = [
        encoder.register_forward_pre_hook(watch.enter_encoder),
        encoder.register_forward_hook(watch.leave_encoder),
        decoder.register_forward_pre_hook(watch.enter_decoder, with_kwargs=True),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _cannot_read(network: Network, positions: Positions) -> Iterator[None]:
    try:
        yield
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        raise UserError(
            f"{type(network.module).__name__} cannot read documents of "
            f"{' and '.join(map(str, positions.mask.sum(1).tolist()))} positions with padding: "
            f"{type(error).__name__}: {error}. Attach a model that reads documents of any length."
        ) from error


def _reads_one_late(decoded: Tensor | None, positions: Positions) -> bool:
    """Whether the decoder reads a start token and then the document."""
    if decoded is None or decoded.shape != positions.ids.shape:
        return False
    same = decoded[:, 1:] == positions.ids[:, :-1]
    return bool(same[positions.mask[:, 1:]].all())


def _nothing_dense(network: Network, watch: _Watch) -> str:
    name = type(network.module).__name__
    if not watch.other:
        return (
            f"{name} computes no attention weights in a forward pass, so there is nothing to "
            "audit. If it has attention, attach it with `assay.tap`, which lists what it sees."
        )
    return (
        f"{name} computes no attention weights of shape (documents, heads, positions, positions): "
        f"on documents of {watch.shape[0]} positions it computes {watch.other[0]}. Only dense "
        "attention, with a weight for every pair of positions, can be asked: local and sparse "
        "attention cannot. `assay.tap` lists what it sees."
    )
