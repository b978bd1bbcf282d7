"""Which models does the package build itself, and how?"""

import torch
from torch import Tensor

from assay.models.attention import KINDS as ATTENTIONS
from assay.models.config import ENCODERS, ModelConfig
from assay.models.network import Classifier, Network, PairModel
from assay.text import PAD

__all__ = ["ATTENTIONS", "ENCODERS", "ModelConfig", "Network", "build_model"]


def build_model(config: ModelConfig, seed: int, vectors: Tensor | None = None) -> Network:
    """A fresh network; its initial weights depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = PairModel(config) if config.task == "pair" else Classifier(config)
    if vectors is not None:
        sides = [model.text, model.second] if isinstance(model, PairModel) else [model.text]
        for side in sides:
            side.embedding.weight.data.copy_(vectors)
            side.embedding.weight.data[PAD] = 0
            side.markers.data.zero_()
    return model
