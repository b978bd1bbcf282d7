"""One layer of a transformer while it runs: what it reads and returns, and its submodules do."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from assay.models.adapters.interception import AttentionCall
from assay.models.adapters.item_table import Positions
from assay.models.adapters.site_passes import SitePasses


@dataclass(frozen=True, eq=False)
class ModuleCall:
    """One call of a submodule that returned one vector per position."""

    module: nn.Module
    given: Tensor | None  # (B, S, m); None: its input has another shape
    made: Tensor  # (B, S, m)


@dataclass
class LayerRun:
    """What was seen in the layer of a site."""

    given: Tensor | None = None  # the layer's input, (B, S, m)
    made: Tensor | None = None  # the layer's output, (B, S, m)
    attention: AttentionCall | None = None
    calls: list[ModuleCall] = field(default_factory=list)

    @property
    def running(self) -> bool:
        """Whether the layer has begun and not ended."""
        return self.given is not None and self.made is None

    def of(self, module: nn.Module) -> ModuleCall:
        """The call of a submodule that is called once."""
        (call,) = [one for one in self.calls if one.module is module]
        return call


@dataclass(frozen=True)
class Replaced:
    """A submodule whose output is replaced, and the layer's input, which is not computed again."""

    module: nn.Module
    made: Tensor  # (B, S, m)
    hidden: Tensor  # (B, S, m)


class _Finished(Exception):
    """The layer has returned: the rest of the pass is not needed."""


def run_layer(
    passes: SitePasses,
    positions: Positions,
    *,
    embedded: Tensor | None = None,
    replaced: Replaced | None = None,
) -> LayerRun:
    """Run a model up to the end of the layer of its site, and keep what happened in the layer."""
    assert passes.stack is not None
    run = LayerRun()

    def begin(hidden: Tensor) -> Tensor:
        run.given = hidden if replaced is None else replaced.hidden
        return run.given

    def attend(call: AttentionCall) -> None:
        if run.running and run.attention is None:
            run.attention = call
            _ = call.weights  # computed now: its inputs may change

    skip = replaced is not None and passes.stack.skippable
    change = attend if replaced is None else None
    layer = passes.stack.layers[passes.layer]
    try:
        with (
            passes.stack.change_input(passes.layer, begin, skip=skip),
            _watched(layer, run, replaced),
        ):
            passes.network.logits(positions, change, embedded=embedded)
    except _Finished:
        pass
    return run


@contextmanager
def _watched(layer: nn.Module, run: LayerRun, replaced: Replaced | None) -> Iterator[None]:
    """Record the calls of the layer's submodules while it runs, and stop where it ends."""

    def leave(module: nn.Module, args: tuple[Any, ...], result: Any) -> Any:
        if not run.running:
            return None
        made = result[0] if isinstance(result, tuple) else result
        if module is layer:
            run.made = made
            raise _Finished
        change = replaced is not None and module is replaced.module
        if change:
            assert replaced is not None
            made = replaced.made.reshape(made.shape)
        shaped = _by_position(made, run.given)
        if shaped is not None:
            given = _by_position(args[0] if args else None, run.given)
            run.calls.append(ModuleCall(module, given, shaped))
        return made if change else None

    handles = [module.register_forward_hook(leave) for module in layer.modules()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _by_position(value: object, like: Tensor | None) -> Tensor | None:
    """The vectors of all positions; some modules read them in one list, (B * S, m)."""
    assert like is not None
    if not isinstance(value, Tensor) or value.shape[-1:] != like.shape[-1:]:
        return None
    return value.reshape(like.shape) if value.numel() == like.numel() else None
