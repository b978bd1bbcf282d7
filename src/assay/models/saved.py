"""How is a trained model kept so that anyone can rebuild it without running foreign code?"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from safetensors.torch import load_file, save

from assay.models import ModelConfig, Network, build_model
from assay.text import Vocabulary

WEIGHTS, DESCRIPTION = "model.safetensors", "model.json"


@dataclass(frozen=True)
class Trained:
    """A network with the vocabulary it reads by."""

    network: Network
    vocabulary: Vocabulary

    @property
    def classes(self) -> tuple[str, ...]:
        return self.network.classes


def save_model(folder: Path, trained: Trained) -> None:
    tensors = {
        name: value.contiguous().cpu() for name, value in trained.network.state_dict().items()
    }
    (folder / WEIGHTS).write_bytes(save(tensors))  # not save_file: a full disk must be an OSError
    described = {**asdict(trained.network.config), "vocabulary": trained.vocabulary.words}
    text = json.dumps(described, ensure_ascii=False, indent=1)
    (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")


def load_model(folder: Path) -> Trained:
    described = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    vocabulary = Vocabulary(tuple(described.pop("vocabulary")))
    described["classes"] = tuple(described["classes"])
    network = build_model(ModelConfig(**described), seed=0)
    network.load_state_dict(load_file(folder / WEIGHTS))
    return Trained(network.eval(), vocabulary)
