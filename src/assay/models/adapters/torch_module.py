"""The tap: audits the attention of any PyTorch module, without a change to its code.

    import assay

    print(assay.tap(network, words=vocabulary).sites(documents))  # what attention is there?
    model = assay.tap(
        network,
        call=lambda network, ids, mask: network(ids, mask),
        classes=("negative", "positive"),
        words=vocabulary,  # word -> index in the network's embedding
        site=0,
    )
    assay.check_model(model, documents)
    audit = assay.audit(model, documents, labels)

The whole module is run again for every proposal of weights, many proposals in one batch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor, nn

from assay.data.batches import Batch, EncodedSplit
from assay.data.corpus import Corpus
from assay.data.lists import corpus_from_lists
from assay.data.text import words as split_words
from assay.data.vocabulary import PAD
from assay.errors import UserError
from assay.models.adapters.module_inputs import ModuleInputs, Surroundings
from assay.models.adapters.module_passes import Call, ModulePasses, TappedStates
from assay.models.adapters.site import APART, SINK, QueryRows, Site, given_to_heads
from assay.models.adapters.sites import SeenAttention, SeenSites
from assay.models.protocol import States
from assay.statistics.divergence import decisions


@dataclass(frozen=True)
class TapSite(Site):
    """A site in a tapped module; the layer is the index of the attention computation."""

    path: str = ""
    has_heads: bool = True
    has_queries: bool = True  # False: the module pools the items, so that there is one row only

    def __str__(self) -> str:
        heads, row = super().__str__().split(", ")[-2:]
        parts = [f"attention computation {self.layer}" + (f" in {self.path}" if self.path else "")]
        parts += [heads] if self.has_heads else []
        return ", ".join([*parts, row] if self.has_queries else parts)


def tap(
    module: nn.Module,
    call: Call | None = None,
    *,
    classes: Sequence[str] = (),
    words: Mapping[str, int] | Sequence[str] | None = None,
    site: int | str | None = None,
    heads: int | Literal["mean", "max"] = "mean",
    query: int | Literal["cls", "last", "mean"] = "cls",
    pad: int = PAD,
    unknown: int | None = None,
    before: Sequence[str] = (),
    after: Sequence[str] = (),
    tokenize: Callable[[str], Sequence[str]] = split_words,
) -> "TappedModule":
    """Attach a module whose attention passes through a softmax or a PyTorch attention function.

    `call(module, ids, mask)` runs the module and returns the logits: (B, C), or (B,) for two
    classes. `ids` (B, T) are the indices of the words, `pad` where `mask` is False; without `call`
    it is `module(ids)`. `words` maps each word to its index, or lists the words in the order of
    their indices. Words that the module does not know get the index `unknown`. Documents are token
    lists, or texts that `tokenize` cuts; by default into lower-cased words.

    `site` is the attention on trial: the index or the module path of one of the computations that
    `sites` lists. It may be left out where there is only one. `heads` and `query` say which of its
    rows the heat map shows. `before` and `after` name the positions that the module puts around
    the items of every document, such as `before=["[CLS]"]`.
    """
    passes = ModulePasses(
        module,
        call or (lambda module, ids, mask: module(ids)),
        ModuleInputs.of(module, words, pad, unknown),
        Surroundings(tuple(before), tuple(after)),
        site,
        QueryRows(Site(0, heads, query)),
    )
    return TappedModule(passes, tuple(classes), tokenize)


class TappedModule:
    """A PyTorch module as a model with heads; see `tap`.

    What the module can give is known when it was seen once: `embed` and `contextualise` are there
    if exactly one `nn.Embedding` reads the indices of the words, and `item_values` if the attention
    function is PyTorch's own, whose output is the sum of the weights times the values.
    """

    embed: Callable[[Batch], Tensor]
    contextualise: Callable[[Tensor, Batch], States]
    item_values: Callable[[States], Tensor]
    output_matrix: Callable[[States], Tensor | None]

    def __init__(
        self,
        passes: ModulePasses,
        classes: tuple[str, ...],
        tokenize: Callable[[str], Sequence[str]],
    ) -> None:
        self.module = passes.module
        self.classes = classes
        self.words = passes.inputs.words
        self._passes = passes
        self._tokenize = tokenize

    def sites(self, documents: Batch | Sequence[str | Sequence[str]]) -> SeenSites:
        """The attention computations of one forward pass over these documents, in their order."""
        batch = documents if isinstance(documents, Batch) else self._batch(documents)
        return self._passes.sites(batch)

    @property
    def unknown(self) -> int | None:
        """The module's index for words that it does not know; None if it has none."""
        return self._passes.inputs.unknown

    @property
    def site(self) -> Site:
        """The attention on trial."""
        seen, shown = self._passes.seen, self._passes.rows.site
        if seen is None or seen.axes is None:
            return shown
        queries = seen.axes.queries is not None
        several = seen.axes.head_count(seen.shape) > 1
        return TapSite(seen.index, shown.heads, shown.query, seen.path, several, queries)

    def corpus(
        self, texts: Sequence[str | Sequence[str]], labels: Sequence[str] | None = None
    ) -> Corpus:
        """Texts or token lists as a corpus to audit the module on.

        Without labels the module's own predictions stand for them.
        """
        tokens = [self._tokenize(text) if isinstance(text, str) else text for text in texts]
        if self.words is None:
            raise UserError(
                "the tap does not know the index of each word: pass `words`, a mapping from words "
                "to the indices of the module, or their list in the order of the indices."
            )
        classes = self.classes or ("unnamed",)
        given = labels if labels is not None else list(classes[:1]) * len(tokens)
        corpus = corpus_from_lists(tokens, given, classes=classes, words=self.words)
        if labels is not None:
            return corpus
        split = EncodedSplit.encode(corpus.test, corpus.vocabulary, len(classes))
        logits = [self.untouched_logits(split.batch([row])) for row in range(len(tokens))]
        found = decisions(torch.cat(logits)).tolist()
        predicted = zip(corpus.test, found, strict=True)
        test = tuple(replace(document, label=label) for document, label in predicted)
        note = "no labels were given: the model's own predictions stand for them"
        return replace(corpus, test=test, notes=(note,))

    def encode(self, batch: Batch) -> TappedStates:
        """One forward pass, in which the weights at the site are kept."""
        self.seen_site(batch)
        return self._passes.capture(batch)

    def head_weights(self, states: States) -> Tensor:
        """(B, H, T): the weight of every head on every item, zero on padding."""
        kept = _tapped(states)
        return kept.positions.item_weights(kept.own)

    def shown_weights(self, heads: Tensor) -> Tensor:
        """(..., H, T) -> (..., T): what the heat map shows, normalized to one over the items."""
        return self._passes.rows.shown(heads, self._passes.heads)

    def attend(self, states: States) -> Tensor:
        """What the heat map shows, (B, T)."""
        return self.shown_weights(self.head_weights(states))

    def decode(self, states: States, weights: Tensor) -> Tensor:
        """Logits with the same weights in every head, scaled to its own sum over the items."""
        own = self.head_weights(states)
        proposals = weights if weights.dim() == 3 else weights[:, None]
        logits = self.decode_heads(states, given_to_heads(proposals.to(own), own))
        return logits if weights.dim() == 3 else logits[:, 0]

    def decode_heads(self, states: States, heads: Tensor) -> Tensor:
        """Logits (B, P, C) under weights (B, P, H, T) of the heads."""
        kept = _tapped(states)
        # Weights that are fixed fix what stands apart, too.
        own = kept.own if heads.requires_grad else kept.own.detach()
        return self._passes.decode(kept, kept.positions.position_weights(own, heads))

    def weights_apart(self, states: States) -> dict[str, Tensor]:
        """The weight (B, H) of the named positions before and after the items, and of sinks."""
        kept = _tapped(states)
        found = kept.positions.weights_apart(kept.own)
        some = kept.own.sum(-1) > 0  # of all rows, those of padding are zero
        found = {name: weight * some for name, weight in found.items()}
        return {name: found[name] for name in found if name != SINK or bool(found[name].any())}

    def decode_without_apart(self, states: States) -> Tensor:
        """Logits (B, C) with these weights given to the items in proportion."""
        kept = _tapped(states)
        return self._passes.decode(kept, kept.positions.without_apart(kept.own)[:, None])[:, 0]

    def weight_on_padding(self, states: States) -> Tensor:
        """(B, H): what the heads give to positions that hold nothing."""
        kept = _tapped(states)
        return (kept.own * ~self._passes.around.real(kept.batch)[:, None]).sum(-1)

    def proposal_bytes(self, states: States) -> int:
        """The bytes of all tensors that the module computes for one document."""
        return _tapped(states).document_bytes

    def untouched_logits(self, batch: Batch) -> Tensor:
        """Logits (B, C) of the module as it is, without any interception."""
        return self._passes.logits(batch)

    def watched_logits(self, batch: Batch) -> Tensor:
        """Logits (B, C) while every attention computation is seen and none is changed."""
        return self._passes.logits(batch, change=lambda call: None)

    def times_met(self, batch: Batch) -> int:
        """How often the site is met in one forward pass."""
        return self._passes.times_met(batch)

    def seen_site(self, batch: Batch) -> SeenAttention:
        """The attention on trial: seen once, with all that the module can give, and then kept."""
        if self._passes.seen is None:
            seen = self._passes.look(batch)
            if self._passes.text is not None:
                self.embed = self._passes.text.read
                self.contextualise = lambda embedded, batch: self._passes.capture(batch, embedded)
            if seen.has_values and self._passes.rows.site.query != "mean":
                self.item_values, self.output_matrix = _item_values, lambda states: None
        return self._passes.look(batch)

    def document_bytes(self, length: int, *, gradient: bool) -> int:
        """The bytes of all tensors that the module computes for a document of this length."""
        return self._passes.document_bytes(length)

    @torch.no_grad()
    def uniform_by_head(self, batch: Batch) -> tuple[Tensor, tuple[tuple[str, ...], ...]]:
        """Logits (B, L, H, C) with uniform weights in one head of one computation, with names.

        The computations are those with as many heads and positions as the site.
        """
        self.seen_site(batch)
        found, names = [], []
        for passes in self._passes.alike(batch):
            states = passes.capture(batch)
            own = states.positions.item_weights(states.own)  # all rows of a head stand together
            mass = own.sum(-1, keepdim=True) / batch.lengths.clamp(min=1)[:, None, None]
            uniform = (batch.mask[:, None] * mass)[:, None]
            one = torch.eye(passes.heads, dtype=torch.bool, device=own.device)
            here = one.repeat_interleave(own.shape[1] // passes.heads, 1)[None, :, :, None]
            proposals = torch.where(here, uniform, own[:, None])
            rows = states.positions.position_weights(states.own, proposals)
            found.append(passes.decode(states, rows))
            place = f"site={passes.look(batch).index}"
            names.append(tuple(f"{place}, heads={head}" for head in range(passes.heads)))
        return torch.stack(found, 1), tuple(names)

    def _batch(self, texts: Sequence[str | Sequence[str]]) -> Batch:
        classes = self.classes or ("unnamed",)
        corpus = self.corpus(texts, list(classes[:1]) * len(texts))
        split = EncodedSplit.encode(corpus.test, corpus.vocabulary, len(classes))
        return split.batch(range(len(texts)))


def _tapped(states: States) -> TappedStates:
    assert isinstance(states, TappedStates), "states of another model"
    return states


def _item_values(states: States) -> Tensor:
    """(B, H, T, d): the value of every item's position, zero on padding."""
    kept = _tapped(states)
    assert kept.values is not None
    start = int((kept.positions.owner != APART).any(0).long().argmax())
    values = kept.values[:, :, start : start + kept.mask.shape[1]]
    return values * kept.mask[:, None, :, None]
