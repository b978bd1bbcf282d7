"""The contract of a trainer: a function that trains a user's model again.

    def train(seed, attention, corpus):
        ...
        return model

`seed` is a whole number, `attention` says which attention the model is to have, and `corpus` holds
the labeled documents. The function returns a model that can be audited: an object with `encode`,
`attend` and `decode`, a tapped module or an attached transformer.

The kinds of attention, and what `attention` holds for them:

- `own`: the model is trained as the audited model was.
- `uniform`: all items have equal weights, while the model is trained and afterwards.
- `imitating`: the model predicts as the audited model does (`attention.predictions`), with weights
  that are far from its own (`attention.weights`); `attention.lambda_` says what distance is worth.
- `imposed`: the model reads every item by itself, with given weights (`attention.weights`).

Models with imposed weights are trained by assay itself, unless the function has the attribute
`trains_imposed`, set to True. A parameter named `folder` receives a folder that is kept until the
training is finished, for checkpoints.
"""

import hashlib
import inspect
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from assay.data.corpus import Document
from assay.data.frames import Text
from assay.errors import UserError, errors_of_model

AttentionKind = Literal["own", "uniform", "imposed", "imitating"]
FOLDER = "folder"  # the optional parameter of a trainer
ARGUMENTS = ("seed", "attention", "corpus")
SEED_LIMIT = 2**32  # of NumPy's global generator
ByDocument = Mapping[str, np.ndarray]  # document id -> numbers

# Called as trainer(seed, attention, corpus), and with `folder=` if it has such a parameter.
Trainer = Callable[..., Any]


@dataclass(frozen=True)
class AttentionRequest:
    """Which attention a model is to be trained with."""

    kind: AttentionKind
    # `imposed`: the weights of every document of all splits. `imitating`: the audited model's
    # weights on train and dev, from which the new model's are to differ. One number per item.
    weights: ByDocument = field(default_factory=dict)
    # `imitating`: the audited model's class probabilities on train and dev, which are to be met.
    predictions: ByDocument = field(default_factory=dict)
    # `imitating`: how much a distance in attention counts. The published loss is half the TVD of
    # the predictions minus this number times the KL divergence of the weights from the audited
    # model's.
    lambda_: float = 0.0

    def __str__(self) -> str:
        return f"imitating, lambda {self.lambda_:g}" if self.kind == "imitating" else self.kind


@dataclass(frozen=True)
class TrainingCorpus:
    """The documents that a trainer may learn from. Test documents are not among them."""

    classes: tuple[str, ...]
    train: tuple[Document, ...]  # `id`, `tokens` as the audited model reads them, `label` (index)
    dev: tuple[Document, ...]
    texts: Mapping[str, Text]  # the texts by id as they were given, or tuples of tokens


def check_trainer(trainer: object, name: str) -> Trainer:
    """The object as a trainer, if it can be called with the three arguments."""
    if not callable(trainer):
        raise UserError(
            f"the trainer {name} is no function: name one that is called as "
            f"train({', '.join(ARGUMENTS)}) and returns a model."
        )
    try:
        signature = inspect.signature(trainer)
    except (TypeError, ValueError):  # a builtin does not tell
        return trainer
    try:
        signature.bind(*ARGUMENTS, **_folder_argument(trainer, Path()))
    except TypeError as fault:
        raise UserError(
            f"the trainer {name}{signature} cannot be called with {', '.join(ARGUMENTS)} "
            f"({fault}): define it as train({', '.join(ARGUMENTS)}), if needed with a further "
            f"parameter {FOLDER}, and give all other parameters a default."
        ) from fault
    return trainer


def call_trainer(
    trainer: Trainer,
    name: str,
    seed: int,
    attention: AttentionRequest,
    corpus: TrainingCorpus,
    folder: Path,
) -> object:
    """What the trainer returns, with the global random generators seeded for it."""
    what = f"the trainer {name} fails for seed {seed} and the attention '{attention}'"
    with seeded(seed), errors_of_model(what):
        model: object = trainer(seed, attention, corpus, **_folder_argument(trainer, folder))
    if model is None:
        raise UserError(
            f"the trainer {name} returned nothing for seed {seed} and the attention "
            f"'{attention}': let it return the trained model."
        )
    return model


def trains_imposed(trainer: Trainer) -> bool:
    """Whether the trainer also trains the models with imposed weights."""
    return bool(getattr(trainer, "trains_imposed", False))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global generators of torch, NumPy and Python, and restore them afterwards."""
    python, legacy = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed % SEED_LIMIT)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(legacy)


def texts_digest(texts: Mapping[str, Text]) -> str:
    """A hash of all texts with their ids."""
    digest = hashlib.sha256()
    for name, text in texts.items():
        digest.update(repr((name, text)).encode())
    return digest.hexdigest()


def _folder_argument(trainer: Trainer, folder: Path) -> dict[str, Path]:
    try:
        wanted = FOLDER in inspect.signature(trainer).parameters
    except (TypeError, ValueError):
        wanted = False
    return {FOLDER: folder} if wanted else {}
