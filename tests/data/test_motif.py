"""Tests of the motif generator: the planted allele, and nothing simpler, determines the label."""

from collections import Counter

import numpy as np
from sklearn.linear_model import LogisticRegression

from assay.data.catalog import load_corpus
from assay.data.corpus import Raw, Request
from assay.data.sources.motif import ITEM, SITE, read


def generated(seed: int = 0, **options: str) -> list[Raw]:
    return list(read(Request(options=options, seed=seed)))


def bases(tokens: list[str]) -> str:
    """The sequence that these overlapping items form."""
    return tokens[0] + "".join(token[-1] for token in tokens[1:])


def true_site(raw: Raw) -> str:
    assert raw.rationale is not None
    return bases([t for t, marked in zip(raw.tokens, raw.rationale, strict=True) if marked])


def test_one_site_per_sequence_and_its_middle_base_is_the_label() -> None:
    raws = generated(documents="400")
    sites = {(raw.label, true_site(raw)) for raw in raws}
    assert len(sites) == 2
    reference, variant = (dict(sites)[label] for label in ("reference", "variant"))
    differ = [i for i, (a, b) in enumerate(zip(reference, variant, strict=True)) if a != b]
    assert differ == [SITE // 2]
    for raw in raws:
        sequence = bases(list(raw.tokens))
        assert sequence.count(reference) + sequence.count(variant) == 1


def test_every_sequence_holds_the_other_allele_between_other_flanks() -> None:
    raws = generated(documents="100")
    core = {raw.label: true_site(raw)[2:-2] for raw in raws}
    for raw in raws:
        sequence = bases(list(raw.tokens))
        assert all(core[label] in sequence for label in core)


def test_item_counts_do_not_predict_the_label() -> None:
    raws = generated(documents="3000")
    words = sorted({token for raw in raws for token in raw.tokens})
    counts = np.array([[Counter(raw.tokens)[word] for word in words] for raw in raws])
    labels = np.array([raw.label == "variant" for raw in raws])
    fitted = LogisticRegression(max_iter=500).fit(counts[:2000], labels[:2000])
    # 1,000 held-out sequences: chance is 0.5 with a standard error of 0.016.
    assert abs(fitted.score(counts[2000:], labels[2000:]) - 0.5) < 0.06


def test_noise_contradicts_that_share_of_labels_and_balance_stays() -> None:
    clean = {raw.label: true_site(raw) for raw in generated(documents="50")}
    noisy = generated(documents="2000", noise="0.2")
    share = np.mean([true_site(raw) != clean[raw.label] for raw in noisy])
    assert abs(share - 0.2) < 0.04
    assert Counter(raw.label for raw in noisy) == {"reference": 1000, "variant": 1000}


def test_the_options_set_length_documents_and_motifs() -> None:
    raws = generated(documents="300", length="90", motifs="4")
    assert len(raws) == 300
    assert {len(raw.tokens) for raw in raws} == {90 - ITEM + 1}
    assert len({true_site(raw) for raw in raws}) == 8  # four motifs, two alleles each


def test_the_shortest_sequence_still_has_room() -> None:
    assert len(generated(documents="50", length=str(3 * SITE))) == 50


def test_the_seed_alone_determines_the_sequences() -> None:
    assert generated(documents="50") == generated(documents="50")
    assert generated(documents="50", seed=1) != generated(documents="50")


def test_as_a_corpus() -> None:
    corpus = load_corpus("motif", options={"documents": "200"})
    assert corpus.classes == ("reference", "variant")
    assert corpus.binary
    assert len(corpus.train) + len(corpus.dev) + len(corpus.test) == 200
