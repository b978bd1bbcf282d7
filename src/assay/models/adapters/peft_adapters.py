"""Adapters of PEFT: loading one with its base model, and the prompts that some of them learn.

An adapter's folder holds the trained difference to a base model, which it names: LoRA matrices, a
prefix or virtual tokens, and for a classifier its head.

Prefix tuning puts learned keys and values before those of the document in every layer: its columns
stand before those of the positions, and no row belongs to them. Prompt tuning puts learned vectors
before the embeddings: they are positions with rows and columns of their own. Here they get ids
above those of the vocabulary, so that documents hold them as they hold special tokens. Neither
belongs to an item: both stand apart, under names of their own. LoRA and other adapters change
matrices only, and need nothing of this.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from assay.errors import UserError
from assay.models.adapters.key_columns import KeyColumns

WEIGHTS = "adapter_model.safetensors"
TASKS = {"classifier": "SEQ_CLS", "language model": "CAUSAL_LM"}
FORMS = {"classifier": "hf:", "language model": "lm:"}
# How the last matrix of a classifier is called: its rows are the classes.
HEADS = (".score.weight", ".classifier.weight", ".classifier.out_proj.weight")
PREFIX, VIRTUAL = "prefix", "virtual tokens"
PREFIX_TUNING = "PREFIX_TUNING"
VIRTUAL_TOKENS = ("PROMPT_TUNING", "P_TUNING")

ReadBase = Callable[..., tuple[Any, set[str]]]  # name, options -> model and what it lacks


def load_adapted(folder: Path, kind: str, read_base: ReadBase) -> Any:
    """The base model with the adapter of a folder around it."""
    try:
        from peft import PeftConfig, PeftModel
        from peft.utils import load_peft_weights
    except ImportError as fault:
        raise UserError(
            f"{folder} holds an adapter, which needs the library peft: "
            "pip install 'attn-assay[hf]'."
        ) from fault
    config: Any = PeftConfig.from_pretrained(str(folder))
    _check_task(folder, kind, config.task_type)
    if not (folder / WEIGHTS).exists():
        raise UserError(
            f"{folder} holds no {WEIGHTS}, and no other file is read, because it would be "
            "unpickled: save the adapter again with `save_pretrained`."
        )
    weights: Mapping[str, Tensor] = load_peft_weights(str(folder), device="cpu")
    options = _class_count(folder, weights) if kind == "classifier" else {}
    network, missing = read_base(str(config.base_model_name_or_path), **options)
    absent = sorted(key for key in missing if not any(name.endswith(key) for name in weights))
    if absent:
        raise UserError(
            f"neither {folder} nor its base model {config.base_model_name_or_path} has trained "
            f"weights for {', '.join(absent)}: train the adapter together with the head "
            "(`task_type`, or `modules_to_save`)."
        )
    return PeftModel.from_pretrained(network, str(folder))


def _check_task(folder: Path, kind: str, task: Any) -> None:
    name = str(getattr(task, "value", task))
    fitting = next((other for other, one in TASKS.items() if one == name), None)
    if task is not None and name != TASKS[kind]:
        cure = (
            f"attach a {TASKS[kind]} adapter"
            if fitting is None
            else f"pass {FORMS[fitting]}{folder}"
        )
        raise UserError(f"the adapter in {folder} is no {kind} (its task is {name}): {cure}.")


def _class_count(folder: Path, weights: Mapping[str, Tensor]) -> dict[str, int]:
    """The number of classes that the adapter's own head has, unless a config names them."""
    if (folder / "config.json").exists():
        return {}
    heads = [value for name, value in weights.items() if f".{name}".endswith(HEADS)]
    return {"num_labels": len(heads[0])} if heads else {}


@dataclass(frozen=True)
class LearnedPrompt:
    """A learned prompt of a model that PEFT has wrapped."""

    module: Any  # the wrapper
    count: int  # of learned columns or tokens
    in_keys: bool  # a prefix of keys and values; else virtual tokens
    first_id: int  # of the virtual tokens

    @classmethod
    def of(cls, module: Any) -> "LearnedPrompt | None":
        """The learned prompt of a model; None if it has none."""
        config = getattr(module, "active_peft_config", None)
        if config is None or not config.is_prompt_learning:
            return None
        kind = str(getattr(config.peft_type, "value", config.peft_type))
        both = getattr(module.config, "is_encoder_decoder", False)
        if both or kind not in (PREFIX_TUNING, *VIRTUAL_TOKENS):
            what = "an encoder-decoder" if both else kind
            raise UserError(
                f"{type(module).__name__} has a learned prompt that cannot be asked ({what}): "
                "prefix tuning, prompt tuning and p-tuning of encoders and of decoders can."
            )
        words = len(module.get_input_embeddings().weight)
        return cls(module, int(config.num_virtual_tokens), kind == PREFIX_TUNING, words)

    @property
    def columns(self) -> KeyColumns:
        """What the columns of attention rows are."""
        return KeyColumns(self.count, PREFIX) if self.in_keys else KeyColumns()

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the virtual tokens."""
        return () if self.in_keys else tuple(range(self.first_id, self.first_id + self.count))

    def words_of(self, ids: Tensor) -> Tensor:
        """Ids that the embedding knows: any in place of the virtual tokens."""
        return ids.clamp(max=self.first_id - 1)

    def filled(self, ids: Tensor, embedded: Tensor) -> Tensor:
        """Embeddings (B, S, m) with the learned vectors at the virtual tokens."""
        if self.in_keys:
            return embedded
        learned: Tensor = self.module.get_prompt(batch_size=1)[0].to(embedded.dtype)
        virtual = ids >= self.first_id
        vectors = learned[(ids - self.first_id).clamp(min=0)]
        return torch.where(virtual[..., None], vectors, embedded)
