"""Build, save and load models.

A saved model is a file of tensors and a JSON description, so it can be rebuilt without executing
foreign code (never pickle).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor
from torch.overrides import TorchFunctionMode

from assay.data.files import write_file
from assay.data.vocabulary import PAD, Vocabulary
from assay.errors import UserError
from assay.models.classifier import (
    ENCODERS,
    FLAT,
    HIERARCHICAL,
    SERRANO_SMITH,
    Classifier,
    ModelConfig,
    Network,
    PairModel,
    TextEncoder,
    build_attention,
)
from assay.models.hierarchical import Flan, Han, SerranoSmithModel

MODELS = (*ENCODERS, *SERRANO_SMITH)  # the choices of `--encoder`
WEIGHTS, DESCRIPTION = "model.safetensors", "model.json"
# What a damaged or hostile folder raises: JSON, the configuration, the weights, the construction.
DAMAGED = (
    *(OSError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError),
    *(OverflowError, RuntimeError, SafetensorError),
)


@dataclass(frozen=True)
class TrainedModel:
    """A network with its vocabulary."""

    network: Network
    vocabulary: Vocabulary

    @property
    def classes(self) -> tuple[str, ...]:
        return self.network.classes


def build_model(config: ModelConfig, seed: int, vectors: Tensor | None = None) -> Network:
    """A new network; its initial weights depend only on the seed, and on `vectors` if given."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _new_network(config)
    if vectors is not None:
        _load_vectors(model, vectors)
    return model


def save_model(folder: Path, trained: TrainedModel) -> None:
    """Write the weights and the description of a model into a folder."""
    tensors = {
        name: value.contiguous().cpu() for name, value in trained.network.state_dict().items()
    }
    (folder / WEIGHTS).write_bytes(
        save(tensors)
    )  # not save_file: a full disk must raise an OSError
    description = {**asdict(trained.network.config), "vocabulary": trained.vocabulary.words}
    text = json.dumps(description, ensure_ascii=False, indent=1)
    (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")


def load_model(folder: Path) -> TrainedModel:
    """Rebuild a model from a folder written by `save_model`, in evaluation mode.

    The folder may come from somebody else: the sizes in the description are compared with those of
    the weights before memory is taken for them.
    """
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        vocabulary = Vocabulary(tuple(map(str, description.pop("vocabulary"))))
        description["classes"] = tuple(map(str, description["classes"]))
        config = ModelConfig(**description)
        weights = load_file(folder / WEIGHTS)
        _compare_sizes(config, weights)
        if len(vocabulary) > config.words:
            raise ValueError(f"{len(vocabulary)} words, but {config.words} rows of the embedding")
        network = build_model(config, seed=0)
        network.load_state_dict(weights)
    except DAMAGED as fault:
        reason = str(fault).splitlines()[0][:200] if str(fault) else type(fault).__name__
        raise UserError(
            f"{folder} does not hold a model that can be loaded ({reason}): repeat the run, or "
            "name the folder of another run."
        ) from fault
    return TrainedModel(network.eval(), vocabulary)


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write named tensors as a safetensors file, atomically."""
    content = save({name: value.contiguous().cpu() for name, value in tensors.items()})
    write_file(path, lambda temporary: temporary.write_bytes(content))


def _compare_sizes(config: ModelConfig, weights: Mapping[str, Tensor]) -> None:
    """Raise if the described network, of which no tensor is allocated, has other sizes."""
    with torch.device("meta"), _WithoutInitialization():
        expected = {name: value.shape for name, value in _new_network(config).state_dict().items()}
    found = {name: value.shape for name, value in weights.items()}
    if found != expected:
        wrong = min(
            name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name)
        )
        raise ValueError(f"{DESCRIPTION} and {WEIGHTS} disagree about '{wrong[:60]}'")


class _WithoutInitialization(TorchFunctionMode):
    """Skips `torch.nn.init`: a tensor without memory has no values.

    Drawing them would import torch's compiler, more than a second in every process.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init":
            return kwargs.get("tensor", next(iter(args), None))
        return func(*args, **kwargs)


def _new_network(config: ModelConfig) -> Network:
    if config.encoder in HIERARCHICAL:
        return Han(config)
    if config.encoder in FLAT:
        return Flan(config)
    text, attention = TextEncoder(config), build_attention(config)
    return (PairModel if config.task == "pair" else Classifier)(config, text, attention)


def _load_vectors(model: Network, vectors: Tensor) -> None:
    """Initialize the embeddings with pretrained vectors."""
    if isinstance(model, SerranoSmithModel):
        model.load_vectors(vectors)
        return
    sides: list[Any] = [model.text, model.second] if isinstance(model, PairModel) else [model.text]
    for side in sides:
        side.embedding.weight.data.copy_(vectors)
        side.embedding.weight.data[PAD] = 0
        side.markers.data.zero_()
