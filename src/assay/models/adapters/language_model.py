"""Causal language models as classifiers: a prompt around the text, and one word per class.

The logit of a class is the logit of the first sub-word of its label word, at the last position of
the prompt. Only these few columns of the language-model head are computed, where that is proved to
give the same logits.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from assay.models.adapters.attention_interface import HuggingFaceNetwork
from assay.models.adapters.huggingface import attach_at
from assay.models.adapters.item_table import Positions
from assay.models.adapters.pretrained import load_pretrained, longest_input, padding_id
from assay.models.adapters.prompt_items import Prompt, PromptItems
from assay.models.adapters.site import Site
from assay.models.adapters.transformer import AttachedTransformer
from assay.models.adapters.trial import trial_positions, trial_table

KEEP = "logits_to_keep"
ROUNDING = 1e-5  # of the few columns of a head against all of them, relative to the logits


def language_model(
    model: str | Path,
    *,
    labels: Mapping[str, str],
    prompt: str,
    layer: int | Literal["rollout"] = -1,
    heads: int | Literal["mean", "max"] = "mean",
    query: int | Literal["cls", "last", "mean"] = "last",
    download: bool = False,
) -> AttachedTransformer:
    """Attach a causal language model that answers a prompt with a label word.

    `labels` gives the label word of every class, as it follows on the prompt: mostly with a space
    before it. `prompt` is a template with the slot `{text}`. `layer`, `heads` and `query` say what
    the heat map shows; by default that is the last position, from which the answer is predicted.

        model = assay.language_model(
            "my-model",
            labels={"positive": " good", "negative": " bad"},
            prompt="Review: {text}\\nThe film is",
        )
    """
    checked = Prompt(prompt)
    network, tokenizer = load_pretrained(str(model), "language model", download=download)
    return attach_language_model(
        network, tokenizer, labels, checked, layer=layer, heads=heads, query=query
    )


def attach_language_model(
    network: nn.Module,
    tokenizer: Any,
    labels: Mapping[str, str],
    prompt: Prompt,
    *,
    layer: int | Literal["rollout"] = -1,
    heads: int | Literal["mean", "max"] = "mean",
    query: int | Literal["cls", "last", "mean"] = "last",
) -> AttachedTransformer:
    """Attach a loaded language model; its attention implementation is changed."""
    pad = padding_id(network, tokenizer)
    texts = PromptItems(tokenizer, prompt, longest_input(network, tokenizer), pad=pad)
    answering = LanguageModelNetwork(network, texts.answers(labels))
    texts.learn(answering.learned)
    answering.try_few_columns(texts)
    return attach_at(answering, texts, classes=tuple(labels), site=Site(layer, heads, query))


class LanguageModelNetwork(HuggingFaceNetwork):
    """A causal language model whose logits are those of a few words at the last position."""

    def __init__(self, module: Any, words: Sequence[int]) -> None:
        super().__init__(module)
        self.words = torch.tensor(words)
        self.few_columns = False  # whether the head computes the words alone

    def forward(self, positions: Positions) -> Tensor:
        """Logits (B, C) of the words that may follow on the last position."""
        last = positions.last
        given = self.inputs(positions)
        if KEEP in self.arguments:
            kept, last = torch.unique(last, return_inverse=True)
            given[KEEP] = kept
        with self._head():
            logits: Tensor = self.call(given).logits
        found = logits[torch.arange(len(last), device=last.device), last]
        return found if self.few_columns else found[:, self.words.to(found.device)]

    @torch.no_grad()
    def try_few_columns(self, texts: PromptItems) -> None:
        """Compute the columns of the words alone from now on, if the logits stay the same."""
        if type(self.module.get_output_embeddings()) is not nn.Linear:
            return
        positions = trial_positions(trial_table(texts, self.ids), self.device, left=False)
        wanted = self.forward(positions)
        self.few_columns = True
        found = self.forward(positions)
        scale = max(float(wanted.abs().max()), 1.0)
        same = found.shape == wanted.shape
        self.few_columns = same and float((found - wanted).abs().max()) <= ROUNDING * scale

    @contextmanager
    def _head(self) -> Iterator[None]:
        """Let the head of the language model compute the words alone."""
        if not self.few_columns:
            yield
            return
        head = self.module.get_output_embeddings()
        words = self.words.to(head.weight.device)
        weight, bias = head.weight[words], None if head.bias is None else head.bias[words]
        head.forward = lambda states: F.linear(states, weight, bias)
        try:
            yield
        finally:
            del head.forward
