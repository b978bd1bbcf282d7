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
from assay.models.adapters.interception import AttentionCall, Change, OutputBytes, intercept
from assay.models.adapters.module_inputs import (
    ModuleInputs,
    Surroundings,
    TextEmbedding,
    find_text_embedding,
    logits_of,
)
from assay.models.adapters.query_rows import QueryRows
from assay.models.adapters.site import APART, SINK, ItemPositions, Site, given_to_heads
from assay.models.adapters.sites import SeenAttention, SeenSites, choose_site, seen_sites
from assay.models.protocol import States
from assay.statistics.divergence import decisions

Call = Callable[[nn.Module, Tensor, Tensor], Tensor]
CHUNK_BYTES = 2**28  # of all tensors that the proposals of one forward pass compute


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


@dataclass(frozen=True, kw_only=True)
class TappedStates(States):
    """What is kept of a forward pass: the weights at the site and how to run it again."""

    batch: Batch
    positions: ItemPositions
    own: Tensor  # (B, H, S) the shown rows of the chosen heads
    values: Tensor | None  # (B, H, S, d)
    embedded: Tensor | None  # (B, T, m) put in place of the embedding's output
    document_bytes: int  # of all tensors that the module computes for one document


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
    return TappedModule(
        module,
        call or (lambda module, ids, mask: module(ids)),
        tuple(classes),
        ModuleInputs.of(module, words, pad, unknown),
        site,
        QueryRows(Site(0, heads, query)),
        Surroundings(tuple(before), tuple(after)),
        tokenize,
    )


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
        module: nn.Module,
        call: Call,
        classes: tuple[str, ...],
        inputs: ModuleInputs,
        choice: int | str | None,
        rows: QueryRows,
        around: Surroundings,
        tokenize: Callable[[str], Sequence[str]],
    ) -> None:
        self.module = module
        self.classes = classes
        self.words = inputs.words
        self._call = call
        self._inputs = inputs
        self._choice = choice
        self._rows = rows
        self._around = around
        self._tokenize = tokenize
        self._sites = SeenSites()
        self._seen: SeenAttention | None = None
        self._text: TextEmbedding | None = None
        self._heads = 1

    def sites(self, documents: Batch | Sequence[str | Sequence[str]]) -> SeenSites:
        """The attention computations of one forward pass over these documents, in their order."""
        batch = documents if isinstance(documents, Batch) else self._batch(documents)
        with torch.no_grad():
            return seen_sites(self.module, self._run, batch)

    @property
    def unknown(self) -> int | None:
        """The module's index for words that it does not know; None if it has none."""
        return self._inputs.unknown

    @property
    def site(self) -> Site:
        """The attention on trial."""
        seen, shown = self._seen, self._rows.site
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
        return self._encode(batch, None)

    def head_weights(self, states: States) -> Tensor:
        """(B, H, T): the weight of every head on every item, zero on padding."""
        kept = _tapped(states)
        return kept.positions.item_weights(kept.own)

    def shown_weights(self, heads: Tensor) -> Tensor:
        """(..., H, T) -> (..., T): what the heat map shows, normalized to one over the items."""
        return self._rows.shown(heads, self._heads)

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
        return self._decode(kept, kept.positions.position_weights(own, heads))

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
        return self._decode(kept, kept.positions.without_apart(kept.own)[:, None])[:, 0]

    def weight_on_padding(self, states: States) -> Tensor:
        """(B, H): what the heads give to positions that hold nothing."""
        kept = _tapped(states)
        return (kept.own * ~self._around.real(kept.batch)[:, None]).sum(-1)

    def proposal_bytes(self, states: States) -> int:
        """The bytes of all tensors that the module computes for one document."""
        return _tapped(states).document_bytes

    def untouched_logits(self, batch: Batch) -> Tensor:
        """Logits (B, C) of the module as it is, without any interception."""
        return self._logits(batch)

    def watched_logits(self, batch: Batch) -> Tensor:
        """Logits (B, C) while every attention computation is seen and none is changed."""
        return self._logits(batch, change=lambda call: None)

    def seen_site(self, batch: Batch) -> SeenAttention:
        """The attention on trial: seen once, with all that the module can give, and then kept."""
        if self._seen is None:
            with torch.no_grad():
                self._sites = self.sites(batch)
                self._seen = choose_site(self._sites, self._choice, type(self.module).__name__)
                self._text = find_text_embedding(
                    self.module, self._inputs, batch, len(self._around.before), self._logits
                )
            if self._text is not None:
                self.embed = self._text.read
                self.contextualise = lambda embedded, batch: self._encode(batch, embedded)
            if self._seen.has_values and self._rows.site.query != "mean":
                self.item_values, self.output_matrix = _item_values, lambda states: None
        return self._seen

    def times_met(self, batch: Batch) -> int:
        """How often the site is met in one forward pass."""
        seen, met = self.seen_site(batch), []
        others = {one.index for one in self._sites} - {one.index for one in self._sites.possible}
        chosen = {seen.index} if isinstance(self._choice, int) else None

        def count(call: AttentionCall) -> None:
            same = (call.path, call.kind) == (seen.path, seen.kind) and call.index not in others
            if same and (chosen is None or call.index in chosen):
                met.append(call.index)

        self._logits(batch, change=count)
        return len(met)

    def _encode(self, batch: Batch, embedded: Tensor | None) -> TappedStates:
        seen = self.seen_site(batch)
        assert seen.axes is not None
        found: list[AttentionCall] = []

        def keep(call: AttentionCall) -> None:
            if (call.index, call.path, call.kind) == (seen.index, seen.path, seen.kind):
                found.append(call)

        with OutputBytes() as output:
            self._logits(batch, embedded, keep)
        if not found:
            raise UserError(
                f"attention computation {seen.index} ({seen.kind}) was not met with "
                f"{len(batch.ids)} documents of up to {batch.mask.shape[1]} items: the module must "
                "compute its attention in the same order for every batch."
            )
        weights = seen.axes.canonical(found[0].weights)
        real = self._around.real(batch)
        if weights.shape[-1] != real.shape[1]:
            raise UserError(
                f"the site has {weights.shape[-1]} positions where the documents have "
                f"{batch.mask.shape[1]} items and {real.shape[1] - batch.mask.shape[1]} positions "
                "around them are named: name what the module puts around the items with `before` "
                'and `after`, for example before=["[CLS]"].'
            )
        self._heads = len(weights[0, self._rows.site.chosen_heads])
        own, values = self._rows.read(weights, real), found[0].values
        text = embedded if embedded is not None or self._text is None else self._text.read(batch)
        return TappedStates(
            own.new_zeros(*batch.mask.shape, 0) if text is None else text.to(own.dtype),
            batch.mask,
            batch=batch,
            positions=self._around.positions(batch),
            own=own,
            values=None if values is None else values[:, self._rows.site.chosen_heads],
            embedded=embedded,
            document_bytes=max(1, output.count // max(1, len(batch.ids))),
        )

    def _decode(self, states: TappedStates, proposals: Tensor) -> Tensor:
        """Logits (B, P, C) with the rows (B, P, H, S) at the site, many proposals in one pass."""
        documents, count = proposals.shape[:2]
        rows = torch.arange(documents).repeat_interleave(count)
        flat = proposals.flatten(0, 1)
        size = max(1, CHUNK_BYTES // states.document_bytes)
        logits = [
            self._decode_rows(states, rows[start : start + size], flat[start : start + size])
            for start in range(0, len(rows), size)
        ]
        return torch.cat(logits).view(documents, count, -1)

    def _decode_rows(self, states: TappedStates, rows: Tensor, proposals: Tensor) -> Tensor:
        seen, batch = self.seen_site(states.batch), states.batch.take(rows)
        real = self._around.real(batch)

        def put(call: AttentionCall) -> Tensor | None:
            if call.index != seen.index:
                return None
            assert seen.axes is not None
            own = seen.axes.canonical(call.weights)
            changed = self._rows.put(own, real, proposals.to(own))
            return seen.axes.original(changed, call.weights.shape)

        embedded = None if states.embedded is None else states.embedded[rows]
        return self._logits(batch, embedded, put)

    def _logits(
        self, batch: Batch, embedded: Tensor | None = None, change: Change | None = None
    ) -> Tensor:
        ids, mask = self._inputs.read(batch)

        def run() -> Tensor:
            return logits_of(self._call(self.module, ids, mask), batch)

        if embedded is not None:
            assert self._text is not None
            with self._text.replaced(embedded, batch.mask):
                return intercept(self.module, run, change) if change else run()
        return intercept(self.module, run, change) if change else run()

    def _batch(self, texts: Sequence[str | Sequence[str]]) -> Batch:
        classes = self.classes or ("unnamed",)
        corpus = self.corpus(texts, list(classes[:1]) * len(texts))
        split = EncodedSplit.encode(corpus.test, corpus.vocabulary, len(classes))
        return split.batch(range(len(texts)))

    def _run(self, batch: Batch) -> object:
        """The call, whatever it returns: to look at a module one need not know its logits."""
        return self._call(self.module, *self._inputs.read(batch))


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
