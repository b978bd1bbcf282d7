"""Hugging Face models whose attention can be seen and replaced during a forward pass.

Models that use the attention interface of `transformers` compute their weights with their own eager
function, and assay replaces the weights and computes the output again. Others are watched with
`assay.models.adapters.interception`. Whether a model uses the interface is counted, not believed.
"""

import inspect
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from assay.errors import UserError
from assay.models.adapters.interception import AttentionCall, Change, intercept
from assay.models.adapters.item_table import Positions
from assay.models.adapters.key_columns import KeyColumns
from assay.models.adapters.peft_adapters import LearnedPrompt

NEEDS_TRANSFORMERS = (
    "a Hugging Face model needs the library transformers: pip install 'attn-assay[hf]'."
)
try:
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, eager_mask
    from transformers.utils import logging as transformers_logging
except ImportError as fault:
    raise UserError(NEEDS_TRANSFORMERS) from fault

IMPLEMENTATION = "assay"
EAGER = "eager_attention_forward"  # the name that transformers gives every family's own function


class HuggingFaceNetwork:
    """A Hugging Face model whose attention can be seen and replaced during a forward pass."""

    def __init__(self, module: Any) -> None:
        self.module = module
        if module.training:
            raise UserError(
                f"{type(module).__name__} is in training mode, so dropout is on: call "
                "`model.eval()` first."
            )
        if getattr(module, "is_gradient_checkpointing", False):
            module.gradient_checkpointing_disable()
        _refuse_sparse(module)
        self.learned = LearnedPrompt.of(module)
        _register()
        self.uses_interface = _switch(module)
        self.arguments = _arguments(_base(module))

    @property
    def columns(self) -> KeyColumns:
        """What the columns of attention rows are."""
        return KeyColumns() if self.learned is None else self.learned.columns

    @property
    def sides(self) -> tuple[nn.Module, nn.Module] | None:
        """The encoder and the decoder, of a model that has both."""
        if not getattr(self.module.config, "is_encoder_decoder", False):
            return None
        return self.module.get_encoder(), self.module.get_decoder()

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        device: torch.device = self.module.device
        return device

    @property
    def ids(self) -> int:
        """The number of ids that have an embedding."""
        return len(self._embedding_weight())

    @property
    def units(self) -> int:
        """The size of a position's state."""
        return int(self.module.config.get_text_config().hidden_size)

    @property
    def number_bytes(self) -> int:
        """The size of one number of the states."""
        return self._embedding_weight().element_size()

    def _embedding_weight(self) -> Tensor:
        weight: Any = self._embedding_module().weight
        found: Tensor = weight
        return found

    @property
    def shows_values(self) -> bool:
        """Whether attention calls come with their values."""
        return self.uses_interface

    def logits(
        self,
        positions: Positions,
        change: Change | None = None,
        *,
        outputs: Mapping[int, Tensor] | None = None,
        embedded: Tensor | None = None,
    ) -> Tensor:
        """Logits (B, C), with attention and embeddings replaced where asked."""

        def run() -> Tensor:
            with self._embeddings(embedded):
                return self.forward(positions)

        if change is None and outputs is None:
            return run()
        if self.uses_interface:
            with _watched(_Watch(change, outputs or {})):
                return run()
        assert outputs is None, "whole outputs are replaced through the interface only"
        assert change is not None
        return intercept(self.module, run, change)

    def forward(self, positions: Positions) -> Tensor:
        """Logits (B, C) of a whole forward pass."""
        result: Tensor = self.call(self.inputs(positions)).logits
        return result

    def call(self, inputs: Mapping[str, Any]) -> Any:
        """What the model returns for these arguments."""
        if self.learned is None or self.learned.in_keys:
            return self.module(**inputs)
        rest = {name: value for name, value in inputs.items() if name != "input_ids"}
        return _base(self.module)(inputs_embeds=self._lookup(inputs["input_ids"]), **rest)

    def untouched_logits(self, positions: Positions) -> Tensor:
        """Logits (B, C) with the family's own attention function instead of assay's."""
        if not self.uses_interface:
            return self.logits(positions)
        self.module.set_attn_implementation("eager")
        try:
            return self.logits(positions)
        finally:
            self.module.set_attn_implementation(IMPLEMENTATION)

    def embed(self, positions: Positions) -> Tensor:
        """The embeddings (B, S, m) of the positions, before anything is added to them."""
        return self._lookup(positions.ids)

    def _lookup(self, ids: Tensor) -> Tensor:
        if self.learned is None:
            embedded: Tensor = self._embedding_module()(ids)
            return embedded
        return self.learned.filled(ids, self._embedding_module()(self.learned.words_of(ids)))

    def inputs(self, positions: Positions) -> dict[str, Any]:
        """The arguments of the module."""
        mask = positions.mask.long()
        given: dict[str, Any] = {"input_ids": positions.ids, "attention_mask": mask}
        if "position_ids" in self.arguments and not bool(positions.mask[:, 0].all()):
            # Padding on the left: the first real position is still position 0.
            given["position_ids"] = (mask.cumsum(1) - 1).clamp(min=0)
        if "use_cache" in self.arguments:
            given["use_cache"] = False
        if "use_mems" in self.arguments:
            given["use_mems"] = False
        return given

    def _embedding_module(self) -> nn.Module:
        source = self.module
        if self.sides is not None:
            source = self.sides[0]
        found: nn.Module = source.get_input_embeddings()
        return found

    @contextmanager
    def _embeddings(self, embedded: Tensor | None) -> Iterator[None]:
        """Put embeddings in place of the model's own, the first time they are looked up.

        A decoder reads the document again, one position late.
        """
        if embedded is None:
            yield
            return
        sides: list[Any] = [self.module] if self.sides is None else [*self.sides]
        modules = {id(one): one for one in (side.get_input_embeddings() for side in sides)}
        left = [partial(_in_place, embedded), partial(_one_late, embedded)][: len(sides)]

        def put(_: nn.Module, args: tuple[Any, ...], own: Tensor) -> Tensor | None:
            return left.pop(0)(args[0], own) if left else None

        handles = [module.register_forward_hook(put) for module in modules.values()]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def _in_place(given: Tensor, ids: Tensor, own: Tensor) -> Tensor:
    """The given embeddings; XLNet looks its ids up with the positions first."""
    return given if ids.shape == given.shape[:2] else given.transpose(0, 1)


def _one_late(given: Tensor, ids: Tensor, own: Tensor) -> Tensor:
    """The given embeddings behind the start token of a decoder that reads the same document."""
    return torch.cat([own[:, :1], given[:, :-1]], 1)


class _Watch:
    """What happens to the attention computations of one forward pass."""

    def __init__(self, change: Change | None, outputs: Mapping[int, Tensor]) -> None:
        self.change = change
        self.outputs = outputs
        self.met = 0

    def attend(
        self, eager: Callable[[], tuple[Tensor, Tensor]], value: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        index, self.met = self.met, self.met + 1
        if index in self.outputs:
            return self.outputs[index], None
        if self.change is None:
            return eager()
        output, weights = eager()
        values = value.repeat_interleave(weights.shape[1] // value.shape[1], 1)
        call = AttentionCall(index, "interface", "", -1, lambda: weights, values)
        given = self.change(call)
        if given is None:
            return output, weights
        return (given @ values).transpose(1, 2).contiguous(), given


_watches: list[_Watch] = []


@contextmanager
def _watched(watch: _Watch) -> Iterator[None]:
    _watches.append(watch)
    try:
        yield
    finally:
        _watches.pop()


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **kwargs: Any,
) -> tuple[Tensor, Tensor | None]:
    """The attention function of the interface: the family's own, with a watch in between."""

    def eager() -> tuple[Tensor, Tensor]:
        found: tuple[Tensor, Tensor] = _own_eager(module)(
            module, query, key, value, attention_mask, **kwargs
        )
        return found

    return _watches[-1].attend(eager, value) if _watches else eager()


def _own_eager(module: nn.Module) -> Callable[..., Any]:
    """The eager function of the file in which the attention's class or one of its bases stands."""
    for kind in type(module).__mro__:
        found = getattr(sys.modules.get(kind.__module__), EAGER, None)
        if found is not None:
            own: Callable[..., Any] = found
            return own
    raise UserError(
        f"{type(module).__name__} has no function {EAGER} in its file: attach the model with "
        "`assay.tap` instead."
    )


def _refuse_sparse(module: Any) -> None:
    """Raise an error for a model that is dense on short documents alone, as the trial ones are."""
    kind = getattr(module.config, "attention_type", None)
    if kind == "block_sparse":
        raise UserError(
            f"{type(module).__name__} has block_sparse attention, which gives no weight to most "
            "pairs of positions in long documents: only dense attention can be asked. Set "
            '"attention_type": "original_full" in config.json; the parameters stay the same, and '
            "so does the prediction of short documents."
        )


def _register() -> None:
    AttentionInterface.register(IMPLEMENTATION, _attention)
    # A mask made for scaled dot products would be silently wrong with an eager function.
    AttentionMaskInterface.register(IMPLEMENTATION, eager_mask)


def _switch(module: Any) -> bool:
    """Let a model use assay's attention function; False if it does not call it."""
    level = transformers_logging.get_verbosity()
    # The setter warns about models that ignore it.
    transformers_logging.set_verbosity(logging.ERROR)
    try:
        module.set_attn_implementation(IMPLEMENTATION)
    finally:
        transformers_logging.set_verbosity(level)
    if module.config._attn_implementation != IMPLEMENTATION:
        return False
    watch = _Watch(None, {})
    ids = torch.ones(1, 2, dtype=torch.long, device=module.device)
    eos = getattr(module.config, "eos_token_id", None)
    if isinstance(eos, int) and 0 <= eos < module.config.get_text_config().vocab_size:
        ids[0, -1] = eos
    with _watched(watch), torch.no_grad():
        module(input_ids=ids, attention_mask=torch.ones_like(ids))
    return watch.met > 0


def _base(module: Any) -> Any:
    """The model inside a wrapper of PEFT."""
    return module.get_base_model() if hasattr(module, "get_base_model") else module


def _arguments(module: nn.Module) -> frozenset[str]:
    return frozenset(inspect.signature(module.forward).parameters)
