"""captum's attribution methods on models with known answers, as Markdown tables.

    assay controls --export known-answers
    python scripts/captum_on_controls.py known-answers

The first table has the share of documents in which a method gives the largest value to the item
that decides. The second has the largest difference between a method's value and what the item adds
to the logit, relative to the largest such number of the document: 0 is exact.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from captum.attr import (
    FeatureAblation,
    InputXGradient,
    IntegratedGradients,
    KernelShap,
    Lime,
    Saliency,
)
from torch import Tensor

MODELS = ("bypass-0", "mixing-0", "misplaced-0", "scattered-0", "blended-0", "scattered-1")
TRANSFORMER = "transformer"
FROM_MASK = "IntegratedGradients from [MASK]"
SAMPLED = 40  # documents for the methods that draw samples
SAMPLES = 400  # per document
Forward = Callable[[Tensor], Tensor]  # embeddings (B, T, m) -> the logit of the predicted class
Values = Tensor  # (N, T)


def one_document(forward: Forward, embedded: Tensor) -> dict[str, Tensor]:
    """The values of every method for one document (1, T, m), one number per item."""
    items = embedded.shape[1]
    features = torch.arange(items)[None, :, None].expand_as(embedded)
    found = {
        "Saliency": Saliency(forward).attribute(embedded),
        "InputXGradient": InputXGradient(forward).attribute(embedded),
        "IntegratedGradients": IntegratedGradients(forward).attribute(embedded, n_steps=50),
    }
    values = {name: each.detach().sum(-1)[0] for name, each in found.items()}
    # An item is one feature, whose value captum repeats for every number of its embedding.
    ablated = FeatureAblation(forward).attribute(embedded, feature_mask=features)
    return {**values, "FeatureAblation": ablated.detach()[0, :, 0]}


def sampled(forward: Forward, embedded: Tensor, seed: int) -> dict[str, Tensor]:
    """The same for the methods that draw samples from torch's global generator."""
    features = torch.arange(embedded.shape[1])[None, :, None].expand_as(embedded)
    found = {}
    for name, method in {"KernelShap": KernelShap(forward), "Lime": Lime(forward)}.items():
        torch.manual_seed(seed)
        values = method.attribute(
            embedded,
            feature_mask=features,
            n_samples=SAMPLES,
            perturbations_per_eval=SAMPLES,
        )
        found[name] = values[0, :, 0].detach()
    return found


def known(module: Any, name: str) -> tuple[list[dict[str, Tensor]], list[Tensor], list[int]]:
    """Values by document, the truth by document, and the place of the cue, for a torch module."""
    model, batch = module.load(name), module.documents()
    truth = module.truth(model, batch)
    attention = model.attention(batch.ids, batch.mask, batch.rows)
    values, reasons = [], []
    for row, length in enumerate(batch.mask.sum(1).tolist()):
        ids, mask = batch.ids[row : row + 1, :length], batch.mask[row : row + 1, :length]
        rows = batch.rows[row : row + 1]
        sign = float(torch.sign(truth[row].sum()))

        def forward(
            embedded: Tensor,
            ids: Tensor = ids,
            mask: Tensor = mask,
            rows: Tensor = rows,
            sign: float = sign,
        ) -> Tensor:
            size = len(embedded)
            logits = model.forward_embedded(
                embedded, ids.expand(size, -1), mask.expand(size, -1), rows.expand(size)
            )
            return sign * logits[:, 0]

        embedded = model.embedding(ids)
        found = {"attention": attention[row, :length], **one_document(forward, embedded)}
        if row < SAMPLED:
            found |= sampled(forward, embedded, row)
        values.append(found)
        reasons.append(sign * truth[row, :length])
    return values, reasons, batch.cues.tolist()


def planted(folder: Path, module: Any) -> tuple[list[dict[str, Tensor]], list[int]]:
    """Values by document and the place of the cue, for the transformer with a planted site."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    place = folder / TRANSFORMER
    tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=True)
    network: Any = AutoModelForSequenceClassification.from_pretrained(
        place, local_files_only=True, attn_implementation="eager"
    ).eval()
    mask = network.bert.embeddings.word_embeddings.weight[tokenizer.mask_token_id].detach()
    documents, cues = module._record(folder)["documents"], module.documents().cues.tolist()
    values = []
    for row, document in enumerate(documents):
        ids = tokenizer(" ".join(document["tokens"]), return_tensors="pt")["input_ids"]
        with torch.no_grad():
            plain = network(ids, output_attentions=True)
            embedded = network.bert.embeddings.word_embeddings(ids)
        chosen = int(plain.logits.argmax())
        ends = embedded[:, :1], embedded[:, -1:]

        def forward(
            items: Tensor, ends: tuple[Tensor, Tensor] = ends, chosen: int = chosen
        ) -> Tensor:
            first, last = (end.expand(len(items), -1, -1) for end in ends)
            every = torch.cat([first, items, last], 1)
            logits: Tensor = network(inputs_embeds=every).logits
            return logits[:, chosen]

        items = embedded[:, 1:-1]
        found = {"attention": plain.attentions[1][0, 0, 0, 1:-1], **one_document(forward, items)}
        method = IntegratedGradients(forward)
        from_mask = method.attribute(items, baselines=mask.expand_as(items), n_steps=50)
        found[FROM_MASK] = from_mask.detach().sum(-1)[0]
        if row < SAMPLED:
            found |= sampled(forward, items, row)
        values.append(found)
    return values, cues


def top_share(values: Sequence[dict[str, Tensor]], cues: Sequence[int], method: str) -> str:
    """The share of documents whose largest value is that of the cue."""
    hits = [
        int(found[method].argmax()) == cue
        for found, cue in zip(values, cues, strict=True)
        if method in found
    ]
    return f"{sum(hits) / len(hits):.2f}" if hits else "-"


def error(values: Sequence[dict[str, Tensor]], truth: Sequence[Tensor], method: str) -> str:
    """The largest difference from the truth, relative to the largest contribution; the mean."""
    found = [
        float((each[method] - wanted).abs().max() / wanted.abs().max())
        for each, wanted in zip(values, truth, strict=True)
        if method in each
    ]
    return f"{sum(found) / len(found):.3f}"


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    for cells in (head, ["---"] * len(head), *rows):
        print(f"| {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description="captum's methods on models with known answers")
    parser.add_argument("folder", type=Path, help="a folder of `assay controls --export`")
    folder = parser.parse_args().folder.resolve()
    torch.set_num_threads(1)
    sys.path.insert(0, str(folder))
    import known_answers as module

    results = {name: known(module, name) for name in MODELS}
    values, cues = planted(folder, module)
    methods = list(values[0])
    shares = {name: (found, places) for name, (found, _, places) in results.items()}
    shares[TRANSFORMER] = (values, cues)
    print_table(
        ("top item is the cue", *shares),
        [[m, *(top_share(found, places, m) for found, places in shares.values())] for m in methods],
    )
    print()
    print_table(
        ("error", *results),
        [
            [m, *(error(found, truth, m) for found, truth, _ in results.values())]
            for m in methods
            if m not in ("attention", FROM_MASK)
        ],
    )


if __name__ == "__main__":
    main()
