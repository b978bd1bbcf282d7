"""The layers of a transformer, found by watching a forward pass, and ways to start at one of them.

Nothing here knows a family of models. Layers are the children of a `ModuleList` that each compute
attention once per call. A forward pass that starts at a layer runs the whole model, but the layers
below return what they are given, and the layer itself reads states that were computed before.
Whether the result is exact for a model is for the caller to prove.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

HIDDEN = "hidden_states"  # the name of a layer's first argument, where it is passed by name


@dataclass(frozen=True)
class _Run:
    """One call of a child of a module list, in the order of the calls."""

    owner: nn.ModuleList
    layer: nn.Module
    before: int  # attention computations before it
    after: int
    hidden: Tensor | None  # its input
    rest: tuple[Any, ...] | None  # what it returns besides the states; None: only the states


@dataclass(frozen=True)
class LayerStack:
    """The layers in the order in which a forward pass runs them; a shared layer appears again."""

    layers: tuple[nn.Module, ...]
    rest: tuple[Any, ...] | None  # what a layer returns besides its states
    skippable: bool  # whether layers can be left out: they pass on nothing but their states

    @classmethod
    def find(cls, model: nn.Module, run: Callable[[Callable[[object], None]], object]) -> "Any":
        """The stack that computes the first attention weights; None if there is none.

        `run` runs the model once and calls the function it is given at every attention computation.
        """
        runs = _watch(model, run)
        for owner in {id(one.owner): one.owner for one in runs}.values():
            mine = [one for one in runs if one.owner is owner]
            if all(one.after - one.before == 1 for one in mine) and mine[0].before == 0:
                plain = all(
                    one.hidden is not None
                    and not any(isinstance(x, Tensor) for x in one.rest or ())
                    for one in mine
                )
                return cls(tuple(one.layer for one in mine), mine[0].rest, plain)
        return None

    @contextmanager
    def change_input(
        self, layer: int, change: Callable[[Tensor], Tensor], *, skip: bool
    ) -> Iterator[None]:
        """Let the layer read `change(its input)`; with `skip` the layers below it do nothing."""
        ran = 0

        def forward(own: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            nonlocal ran
            index, ran = ran, ran + 1
            hidden = args[0] if args else kwargs[HIDDEN]
            if index < layer and skip:
                return hidden if self.rest is None else (hidden, *self.rest)
            if index != layer:
                return own(*args, **kwargs)
            if args:
                return own(change(hidden), *args[1:], **kwargs)
            return own(**{**kwargs, HIDDEN: change(hidden)})

        different = {id(one): one for one in self.layers}.values()
        before = [(one, vars(one).get("forward")) for one in different]
        for one in different:
            one.forward = partial(forward, one.forward)
        try:
            yield
        finally:
            for one, own in before:
                if own is None:
                    del one.forward
                else:
                    one.forward = own


def output_projection(
    layer: nn.Module, run: Callable[[Callable[[Tensor], None]], object]
) -> Tensor | None:
    """The matrix (H * d, m) that a layer applies to the output of its attention; None if unknown.

    `run` runs the model once and calls the function it is given with the attention output (B, S,
    H, d) of the layer. The projection is the first matrix in the layer that reads exactly that.
    """
    outputs: list[Tensor] = []
    found: list[nn.Module] = []

    def read(part: nn.Module, args: tuple[Any, ...]) -> None:
        if outputs and args and isinstance(args[0], Tensor):
            flat = outputs[-1].flatten(2)
            if args[0].shape == flat.shape and torch.equal(args[0], flat):
                found.append(part)

    handles = []
    for part in layer.modules():
        weight = getattr(part, "weight", None)
        if isinstance(weight, Tensor) and weight.dim() == 2 and not isinstance(part, nn.Embedding):
            handles.append(part.register_forward_pre_hook(read))
    try:
        run(outputs.append)
    finally:
        for handle in handles:
            handle.remove()
    return _matrix(found[0]) if found else None


def _matrix(part: Any) -> Tensor:
    """The matrix (input, output) of a linear module."""
    weight: Tensor = part.weight
    if next(part.children(), None) is None:
        # Linear layers store (m, H * d); the Conv1D of GPT-2 stores (H * d, m).
        return weight.T if isinstance(part, nn.Linear) else weight
    # A matrix with an adapter around it, such as LoRA: what it does to each unit vector.
    size = part.in_features
    units = torch.eye(size, dtype=weight.dtype, device=weight.device)
    result: Tensor = part(units) - part(torch.zeros_like(units[:1]))
    return result


def _watch(model: nn.Module, run: Callable[[Callable[[object], None]], object]) -> list[_Run]:
    """Every call of a child of a module list, outer lists first."""
    met = 0
    running: list[int] = []
    seen: list[tuple[int, _Run]] = []

    def attention(_: object) -> None:
        nonlocal met
        met += 1

    def enter(*_: Any) -> None:
        running.append(met)

    def leave(
        depth: int, owner: nn.ModuleList, layer: nn.Module, args: Any, kwargs: Any, result: Any
    ) -> None:
        before = running.pop()
        hidden = args[0] if args else kwargs.get(HIDDEN)
        hidden = hidden if isinstance(hidden, Tensor) else None
        rest = tuple(result[1:]) if isinstance(result, tuple) else None
        seen.append((depth, _Run(owner, layer, before, met, hidden, rest)))

    handles = []
    lists = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    for depth, owner in enumerate(lists):
        for layer in owner:
            handles.append(layer.register_forward_pre_hook(enter))
            handles.append(
                layer.register_forward_hook(partial(leave, depth, owner), with_kwargs=True)
            )
    try:
        run(attention)
    finally:
        for handle in handles:
            handle.remove()
    return [one for _, one in sorted(seen, key=lambda pair: pair[0])]
