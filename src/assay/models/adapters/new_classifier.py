"""A pre-trained Hugging Face encoder as the start of a fine-tuning: its weights and a new head."""

import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from assay.errors import UserError

try:
    from transformers import (
        AutoConfig,
        AutoModel,
        AutoModelForSequenceClassification,
        AutoTokenizer,
    )
    from transformers.utils import logging as transformers_logging
except ImportError as fault:
    raise UserError(
        "fine-tuning a Hugging Face model needs the library transformers: "
        "pip install 'attn-assay[hf]'."
    ) from fault


def new_classifier(
    name: str, classes: Sequence[str], *, seed: int, download: bool = False
) -> tuple[Any, Any]:
    """A classifier with pre-trained encoder and a new head drawn by the seed, and its tokenizer.

    A head that the folder may hold is not used. The classifier is in evaluation mode, so that
    dropout is off, and its parameters can be trained. Only safetensors are read.
    """
    where: dict[str, Any] = {"local_files_only": not download, "trust_remote_code": False}
    with torch.random.fork_rng(devices=[]), _quietly(), _loading(name, download):
        torch.manual_seed(seed)  # also of layers that the folder has no weights for
        config = AutoConfig.from_pretrained(name, **where)
        tokenizer = AutoTokenizer.from_pretrained(name, **where)
        encoder = AutoModel.from_pretrained(name, use_safetensors=True, **where)
        config.id2label = dict(enumerate(classes))
        config.label2id = {label: number for number, label in enumerate(classes)}
        config.problem_type = "single_label_classification"
        torch.manual_seed(seed)
        network: Any = AutoModelForSequenceClassification.from_config(config)  # type: ignore[no-untyped-call]
        _copy_weights(network, encoder, name)
    return network.float().eval().requires_grad_(True), tokenizer


def pretrained_digest(name: str) -> str:
    """A hash of the files of a folder that a fine-tuning reads; the name itself of a Hub model."""
    folder = Path(name)
    if not folder.is_dir():
        return name
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix in (".json", ".safetensors", ".txt", ".model"):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _copy_weights(network: Any, encoder: Any, name: str) -> None:
    """Put the encoder's weights into the classifier; layers that only the encoder has are unused.

    Some families have a pooling layer in the encoder alone.
    """
    inside = getattr(network, network.base_model_prefix, None)
    if inside is None:
        raise UserError(
            f"'{name}' ({type(network).__name__}) has no encoder that can be told from its head: "
            "write a trainer of your own (--trainer package.module:function)."
        )
    missing, _ = inside.load_state_dict(encoder.state_dict(), strict=False)
    if missing:
        raise UserError(
            f"'{name}' has no weights for {', '.join(sorted(missing)[:3])}: pass the folder of the "
            "pre-trained encoder, written by `save_pretrained`."
        )


@contextmanager
def _loading(name: str, download: bool) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        if not download and not Path(name).exists():
            first = "there is no such folder, and no model of that name was downloaded before."
        cure = (
            "Check the name and your connection."
            if download
            else "Give a folder with config.json, model.safetensors and tokenizer.json."
        )
        raise UserError(f"the pre-trained model '{name}' cannot be loaded: {first} {cure}") from (
            error
        )


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the warnings and bars of `transformers`: the head is new, as it should be."""
    library: Any = transformers_logging  # its functions have no types
    level, bars = library.get_verbosity(), library.is_progress_bar_enabled()
    library.set_verbosity(logging.ERROR)
    library.disable_progress_bar()
    try:
        yield
    finally:
        library.set_verbosity(level)
        if bars:
            library.enable_progress_bar()
