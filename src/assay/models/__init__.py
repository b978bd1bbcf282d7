"""Which models does the package build itself, and how?"""

from typing import Any

import torch
from torch import Tensor

from assay.models.attention import KINDS as ATTENTIONS
from assay.models.config import ENCODERS, FLAT, HIERARCHICAL, LAYERED, ModelConfig
from assay.models.hierarchical import Han
from assay.models.layered import Flan, Layered
from assay.models.network import Classifier, Network, PairModel, Side, attention_of
from assay.text import PAD

__all__ = [
    "ATTENTIONS",
    "ENCODERS",
    "HIERARCHICAL",
    "LAYERED",
    "MODELS",
    "ModelConfig",
    "Network",
    "build_model",
]

MODELS = (*ENCODERS, *LAYERED)  # what `--encoder` may name


def build_model(config: ModelConfig, seed: int, vectors: Tensor | None = None) -> Network:
    """A fresh network; its initial weights depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _fresh(config)
    if vectors is not None:
        _start(model, vectors)
    return model


def _fresh(config: ModelConfig) -> Network:
    if config.encoder in HIERARCHICAL:
        return Han(config)
    if config.encoder in FLAT:
        return Flan(config)
    text, attention = Side(config), attention_of(config)
    return (PairModel if config.task == "pair" else Classifier)(config, text, attention)


def _start(model: Network, vectors: Tensor) -> None:
    """Words begin with a meaning learned elsewhere."""
    if isinstance(model, Layered):
        model.start_from(vectors)
        return
    sides: list[Any] = [model.text, model.second] if isinstance(model, PairModel) else [model.text]
    for side in sides:
        side.embedding.weight.data.copy_(vectors)
        side.embedding.weight.data[PAD] = 0
        side.markers.data.zero_()
