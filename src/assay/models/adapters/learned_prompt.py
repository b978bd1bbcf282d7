"""Learned prompts of PEFT: prefixes in the keys and values, and virtual tokens in the embeddings.

Prefix tuning puts learned keys and values before those of the document in every layer: its columns
stand before those of the positions, and no row belongs to them. Prompt tuning puts learned vectors
before the embeddings: they are positions with rows and columns of their own. Here they get ids
above those of the vocabulary, so that documents hold them as they hold special tokens. Neither
belongs to an item: both stand apart, under names of their own.

LoRA and other adapters change matrices only, and need nothing of this.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from assay.errors import UserError
from assay.models.adapters.key_columns import KeyColumns

PREFIX, VIRTUAL = "prefix", "virtual tokens"
PREFIX_TUNING = "PREFIX_TUNING"
VIRTUAL_TOKENS = ("PROMPT_TUNING", "P_TUNING")


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
