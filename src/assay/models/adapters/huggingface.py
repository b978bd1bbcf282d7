"""Hugging Face classifiers: encoders, decoders and both together, for sequence classification.

How their attention is seen and replaced stands in `assay.models.adapters.attention_interface`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from assay.errors import UserError
from assay.models.adapters.attention_interface import HuggingFaceNetwork
from assay.models.adapters.attention_parts import CROSS, DECODER, is_causal
from assay.models.adapters.block_parts import Block
from assay.models.adapters.pretrained import load_pretrained, longest_input, padding_id
from assay.models.adapters.site import Site
from assay.models.adapters.site_passes import SitePasses
from assay.models.adapters.text_items import TextItems
from assay.models.adapters.transformer import AttachedTransformer, site_states
from assay.models.adapters.trial import trial_positions, trial_table
from assay.models.protocol import States


def huggingface(
    model: str | Path,
    *,
    layer: int | Literal["rollout"] = -1,
    heads: int | Literal["mean", "max"] = "mean",
    query: int | Literal["cls", "last", "mean"] | None = None,
    part: Literal["encoder", "decoder", "cross"] | None = None,
    download: bool = False,
) -> AttachedTransformer:
    """Attach a Hugging Face sequence classifier, to be audited at one attention row.

    `model` is a folder written by `save_pretrained`, or a name on the Hugging Face Hub; nothing is
    downloaded unless `download` is true. `layer`, `heads` and `query` say what the heat map shows;
    `query` is the first position of encoders and the last position of decoders by default. `part`
    is the attention of an encoder-decoder that is shown: "encoder" (the default), "decoder", or
    "cross" from the decoder to the encoder. The classes are those of the model's `id2label`.

        model = assay.huggingface("my-classifier")
        audit = assay.audit(model, model.corpus(texts, labels))
    """
    network, tokenizer = load_pretrained(str(model), "classifier", download=download)
    return attach(network, tokenizer, layer=layer, heads=heads, query=query, part=part)


def attach(
    network: nn.Module,
    tokenizer: Any,
    *,
    layer: int | Literal["rollout"] = -1,
    heads: int | Literal["mean", "max"] = "mean",
    query: int | Literal["cls", "last", "mean"] | None = None,
    part: Literal["encoder", "decoder", "cross"] | None = None,
) -> AttachedTransformer:
    """Attach a loaded Hugging Face sequence classifier; its attention implementation is changed."""
    config: Any = network.config
    pad = padding_id(network, tokenizer)
    texts = TextItems(tokenizer, longest_input(network, tokenizer), pad=pad)
    attached = HuggingFaceNetwork(network)
    texts.learn(attached.learned)
    chosen = Site(layer, heads, "cls" if query is None else query, part=part)
    if query is None and _reads_last(attached, texts, chosen):
        chosen = replace(chosen, query="last")
    return attach_at(attached, texts, classes=_classes(config), site=chosen)


def _reads_last(network: HuggingFaceNetwork, texts: TextItems, site: Site) -> bool:
    """Whether the last position is the one to show. Decoders read it; XLNet ends in [CLS]."""
    if site.part in (DECODER, CROSS):
        return True
    if getattr(texts.tokenizer, "cls_token_id", None) in texts.suffix:
        return True
    tried = trial_positions(trial_table(texts, network.ids), network.device, left=False)
    return is_causal(network, tried)


def attach_at(
    network: HuggingFaceNetwork, texts: TextItems, *, classes: Sequence[str], site: Site
) -> AttachedTransformer:
    """The network attached at a site, with its values where they are seen."""
    single = site.layer != "rollout" and site.query != "mean"
    kind = TransformerWithValues if network.shows_values and single else AttachedTransformer
    return kind(network, texts, classes=classes, site=site)


def _classes(config: Any) -> tuple[str, ...]:
    names = [str(config.id2label[index]) for index in range(config.num_labels)]
    if len(names) < 2 or config.problem_type in ("regression", "multi_label_classification"):
        kind = config.problem_type or "one output"
        raise UserError(
            f"the model is no classifier with exclusive classes ({kind}): assay audits models "
            "that choose one of several classes."
        )
    return tuple(names)


class TransformerWithValues(AttachedTransformer):
    """A transformer whose values at the site are known, and the site is a single row."""

    def item_values(self, states: States) -> Tensor:
        """(B, H, T, d): an item's value is that of its positions, by the head's own shares."""
        own = site_states(states)
        assert own.values is not None
        chosen = own.own[:, self.passes.heads]
        shared = own.values[:, self.passes.heads] * own.layout.shares(chosen)[..., None]
        documents, heads, width, size = shared.shape
        flat = shared.transpose(2, 3).reshape(documents, heads * size, width)
        return own.layout.item_weights(flat).view(documents, heads, size, -1).transpose(2, 3)

    def output_matrix(self, states: States) -> Tensor | None:
        """The output projection (H, d, m) of the shown heads; None if it was not found."""
        own = site_states(states)
        assert isinstance(self.passes, SitePasses)
        assert own.values is not None
        matrix = self.passes.output_matrix(self._tried)
        if matrix is None:
            return None
        size = own.values.shape[-1]
        return matrix.view(-1, size, matrix.shape[-1])[self.passes.heads]

    def check_block(self, *, feed_forward: bool) -> None:
        """Find the block of the shown layer and prove it; NotApplicable if that fails."""
        self._block(feed_forward)

    def block_parts(self, states: States, *, feed_forward: bool) -> Tensor:
        """(B, T, m): what each item adds to the block, without or with its feed-forward network."""
        return self._block(feed_forward).parts(site_states(states), feed_forward)

    def _block(self, feed_forward: bool) -> Block:
        assert isinstance(self.passes, SitePasses)
        key = (self.network.device, feed_forward)
        if key not in self._blocks:
            with torch.no_grad():
                states = self.passes.capture(self._tried)
                self._blocks[key] = Block.find(self.passes, states, feed_forward)
        return self._blocks[key]

    @cached_property
    def _blocks(self) -> dict[tuple[torch.device, bool], Block]:
        return {}
