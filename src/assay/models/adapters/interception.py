"""Sees the attention of any PyTorch module while it runs, and puts other weights in its place.

Nothing in the module is changed. A `TorchFunctionMode` meets every softmax in all its spellings,
`scaled_dot_product_attention` and `nn.MultiheadAttention`. It is blind to a softmax that is written
out (`exp(x) / exp(x).sum()`) and to the inside of TorchScript.

Under a mode PyTorch leaves out the fused fast path of `nn.MultiheadAttention` and
`nn.TransformerEncoder`, which gives zeros at padded positions where the ordinary path does not.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from types import FunctionType
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from assay.errors import UserError

R = TypeVar("R")
SOFTMAX = (F.softmax, F.softmin, torch.softmax, Tensor.softmax, torch.special.softmax)
LOG_SOFTMAX = (F.log_softmax, torch.log_softmax, Tensor.log_softmax, torch.special.log_softmax)


@dataclass(frozen=True)
class AttentionCall:
    """One computation of attention weights, seen in a forward pass."""

    index: int  # in the order of the forward pass, from 0
    kind: str  # "softmax", "log_softmax", "scaled_dot_product_attention", "MultiheadAttention"
    path: str  # name of the module in which it happened; "" for the module itself
    axis: int  # the axis of the weights that sums to one, counted from the end
    compute: Callable[[], Tensor]
    values: Tensor | None = None  # (B, H, Tk, d), where the computation shows them
    scores: Tensor | None = None  # what a softmax was taken of

    @cached_property
    def weights(self) -> Tensor:
        """The weights; for MultiheadAttention and scaled dot products (B, H, Tq, Tk)."""
        return self.compute()


Change = Callable[[AttentionCall], Tensor | None]


def intercept(module: nn.Module, run: Callable[[], R], change: Change) -> R:
    """Return `run()`, and call `change` at every computation of attention weights on the way.

    Where `change` returns a tensor in the shape of the weights it met, the module goes on with
    that; where it returns None, the module goes on with its own result, to the bit. Derivatives
    flow through both.
    """
    with _module_paths(module) as path, _eager(), _Interception(change, path):
        return run()


def attention_calls(module: nn.Module, run: Callable[[], object]) -> list[AttentionCall]:
    """All computations of attention weights that `run()` makes in the module, in their order."""
    met: list[AttentionCall] = []
    intercept(module, run, met.append)
    return met


def run_with_weights(
    module: nn.Module, run: Callable[[], R], index: int, change: Callable[[Tensor], Tensor]
) -> R:
    """Return `run()` with the weights of attention computation `index` replaced.

    `change` gets the module's own weights and returns those to go on with.

        logits = run_with_weights(model, lambda: model(ids).logits, 3, lambda own: own.flip(-1))
    """
    met = 0

    def at_site(call: AttentionCall) -> Tensor | None:
        nonlocal met
        met += 1
        return change(call.weights) if call.index == index else None

    result = intercept(module, run, at_site)
    if not 0 <= index < met:
        raise UserError(
            f"attention computation {index} was not met: the forward pass of "
            f"{type(module).__name__} has {met}, counted from 0."
        )
    return result


class _Interception(TorchFunctionMode):
    """Calls `change` at every attention computation of the functions that PyTorch dispatches."""

    def __init__(self, change: Change, path: Callable[[], str]) -> None:
        super().__init__()
        self.change = change
        self.path = path
        self.met = 0

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        # PyTorch leaves the mode during this call, so that nothing below is met twice.
        if func in SOFTMAX:
            return self.softmax(func(*args, **kwargs), args, kwargs, log=False)
        if func in LOG_SOFTMAX:
            return self.softmax(func(*args, **kwargs), args, kwargs, log=True)
        if func is F.scaled_dot_product_attention:
            return self.dot_product(*args, **kwargs)
        if func is F.multi_head_attention_forward:
            return self.multi_head(*args, **kwargs)
        return func(*args, **kwargs)

    def softmax(self, result: Tensor, args: Sequence[Any], kwargs: Any, *, log: bool) -> Tensor:
        axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if axis is None:  # the old default of F.softmax
            axis = 0 if result.dim() in (0, 1, 3) else 1
        kind = "log_softmax" if log else "softmax"
        axis = axis if axis < 0 else axis - result.dim()
        scores = args[0] if args else kwargs["input"]
        given = self.ask(kind, axis, result.exp if log else lambda: result, scores=scores)
        if given is None:
            return result
        # log(0) has no derivative; the smallest number stands for it.
        return given.clamp(min=torch.finfo(given.dtype).tiny).log() if log else given

    def dot_product(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
        *,
        kind: str = "scaled_dot_product_attention",
    ) -> Tensor:
        heads = query.shape[-3] if enable_gqa else 0
        keys, values = (_repeat_heads(one, heads) if heads else one for one in (key, value))

        def weights() -> Tensor:
            return dot_product_weights(query, keys, attn_mask, is_causal, scale)

        given = self.ask(kind, -1, weights, values=values)
        if given is not None:
            return F.dropout(given, dropout_p) @ values
        return F.scaled_dot_product_attention(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
        )

    def multi_head(self, *args: Any, **kwargs: Any) -> Any:
        """PyTorch's own function, with the two calls that compute weights led through here."""
        heads: int = args[4] if len(args) > 4 else kwargs["num_heads"]

        def softmax(scores: Tensor, dim: int) -> Tensor:
            own = F.softmax(scores, dim)
            given = self.ask("MultiheadAttention", -1, lambda: own.view(-1, heads, *own.shape[1:]))
            return own if given is None else given.flatten(0, 1)

        def dot_product(*inner: Any, **named: Any) -> Tensor:
            return self.dot_product(*inner, **named, kind="MultiheadAttention")

        return _with_globals(
            F.multi_head_attention_forward,
            softmax=softmax,
            scaled_dot_product_attention=dot_product,
            has_torch_function=lambda tensors: False,  # else it would come back here
        )(*args, **kwargs)

    def ask(
        self, kind: str, axis: int, compute: Callable[[], Tensor], **tensors: Tensor
    ) -> Tensor | None:
        call = AttentionCall(self.met, kind, self.path(), axis, compute, **tensors)
        self.met += 1
        return self.change(call)


def dot_product_weights(
    query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool, scale: float | None
) -> Tensor:
    """The weights that `scaled_dot_product_attention` uses and does not return.

    A row in which everything is masked is zero, as there.
    """
    scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        visible = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~visible, -torch.inf)
    if mask is not None:
        scores = (
            scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
        )
    hidden = (scores == -torch.inf).all(-1, keepdim=True)
    return torch.softmax(scores.masked_fill(hidden, 0), -1).masked_fill(hidden, 0)


def _repeat_heads(states: Tensor, heads: int) -> Tensor:
    """Keys or values with one copy for every query head of their group."""
    return states.repeat_interleave(heads // states.shape[-3], -3)


def _with_globals(function: Any, **names: Any) -> Any:
    """The same function reading these names instead of its module's: safe beside other threads."""
    changed = FunctionType(
        function.__code__,
        {**function.__globals__, **names},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    changed.__kwdefaults__ = function.__kwdefaults__
    return changed


@contextmanager
def _module_paths(module: nn.Module) -> Iterator[Callable[[], str]]:
    """Follow which submodule is running; the function gives its name."""
    running: list[str] = []

    def enter(name: str, *_: Any) -> None:
        running.append(name)

    def leave(*_: Any) -> None:
        running.pop()

    handles = []
    for name, part in module.named_modules():
        if not isinstance(part, torch.jit.ScriptModule):
            handles.append(part.register_forward_pre_hook(partial(enter, name)))
            handles.append(part.register_forward_hook(leave, always_call=True))
    try:
        yield lambda: running[-1] if running else ""
    finally:
        for handle in handles:
            handle.remove()


def _eager() -> AbstractContextManager[Any]:
    """Run compiled modules as they were written. Without a compiled module nothing is imported."""
    if "torch._dynamo" not in sys.modules:
        return nullcontext()
    stance: AbstractContextManager[Any] = torch.compiler.set_stance("force_eager")
    return stance


@contextmanager
def mha_fast_path_off() -> Iterator[None]:
    """Let attention modules of PyTorch take the ordinary path, as under interception."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


class OutputBytes(TorchFunctionMode):
    """Counts the bytes of all tensors that functions return: about what a gradient keeps."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor):
            self.count += result.nbytes
        return result
