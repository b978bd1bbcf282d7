"""Hugging Face classifiers: encoders, decoders and both together, for sequence classification.

How their attention is seen and replaced stands in `assay.models.adapters.attention_interface`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from torch import nn

from assay.errors import UserError
from assay.models.adapters.attention_interface import HuggingFaceNetwork
from assay.models.adapters.pretrained import load_pretrained, longest_input, padding_id
from assay.models.adapters.site import Site
from assay.models.adapters.text_items import TextItems
from assay.models.adapters.transformer import AttachedTransformer, TransformerWithValues
from assay.models.adapters.trial import is_causal, trial_positions, trial_table


def huggingface(
    model: str | Path,
    *,
    layer: int | Literal["rollout"] = -1,
    heads: int | Literal["mean", "max"] = "mean",
    query: int | Literal["cls", "last", "mean"] | None = None,
    download: bool = False,
) -> AttachedTransformer:
    """Attach a Hugging Face sequence classifier, to be audited at one attention row.

    `model` is a folder written by `save_pretrained`, or a name on the Hugging Face Hub; nothing is
    downloaded unless `download` is true. `layer`, `heads` and `query` say what the heat map shows;
    `query` is the first position of encoders and the last position of decoders by default. The
    classes are those of the model's `id2label`.

        model = assay.huggingface("my-classifier")
        audit = assay.audit(model, model.corpus(texts, labels))
    """
    network, tokenizer = load_pretrained(str(model), "classifier", download=download)
    return attach(network, tokenizer, layer=layer, heads=heads, query=query)


def attach(
    network: nn.Module,
    tokenizer: Any,
    *,
    layer: int | Literal["rollout"] = -1,
    heads: int | Literal["mean", "max"] = "mean",
    query: int | Literal["cls", "last", "mean"] | None = None,
) -> AttachedTransformer:
    """Attach a loaded Hugging Face sequence classifier; its attention implementation is changed."""
    config: Any = network.config
    pad = padding_id(network, tokenizer)
    texts = TextItems(tokenizer, longest_input(network, tokenizer), pad=pad)
    attached = HuggingFaceNetwork(network)
    if query is None:
        last = getattr(tokenizer, "cls_token_id", None) in texts.suffix
        tried = trial_positions(trial_table(texts, attached.ids), attached.device, left=False)
        query = "last" if last or is_causal(attached, tried) else "cls"
    return attach_at(attached, texts, classes=_classes(config), site=Site(layer, heads, query))


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
