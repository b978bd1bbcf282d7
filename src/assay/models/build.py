"""Which models does the package build itself, and how?

How is a trained model kept so that anyone can rebuild it without running foreign code?
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from assay.data.vocabulary import PAD, Vocabulary
from assay.models.classifier import (
    ENCODERS,
    FLAT,
    HIERARCHICAL,
    LAYERED,
    Classifier,
    ModelConfig,
    Network,
    PairModel,
    Side,
    attention_of,
)
from assay.models.hierarchical import Flan, Han, Layered

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


WEIGHTS, DESCRIPTION = "model.safetensors", "model.json"


@dataclass(frozen=True)
class TrainedModel:
    """A network with the vocabulary it reads by."""

    network: Network
    vocabulary: Vocabulary

    @property
    def classes(self) -> tuple[str, ...]:
        return self.network.classes


def save_model(folder: Path, trained: TrainedModel) -> None:
    tensors = {
        name: value.contiguous().cpu() for name, value in trained.network.state_dict().items()
    }
    (folder / WEIGHTS).write_bytes(save(tensors))  # not save_file: a full disk must be an OSError
    described = {**asdict(trained.network.config), "vocabulary": trained.vocabulary.words}
    text = json.dumps(described, ensure_ascii=False, indent=1)
    (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")


def load_model(folder: Path) -> TrainedModel:
    described = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    vocabulary = Vocabulary(tuple(described.pop("vocabulary")))
    described["classes"] = tuple(described["classes"])
    network = build_model(ModelConfig(**described), seed=0)
    network.load_state_dict(load_file(folder / WEIGHTS))
    return TrainedModel(network.eval(), vocabulary)
