"""Generated DNA-like sequences with one planted site that determines the label.

The reason for each label is known by construction. Items are overlapping 3-mers of the bases A, C,
G, T.

- A *motif* is a site of nine bases: two flanking bases on each side of a core of five. The middle
  base of the core has two alleles, `reference` and `variant`.
- Every sequence is random background, one *true site* of one motif and one *decoy*. The label is
  the allele of the true site. The decoy is the same core with the *other* allele, between flanks
  that differ from the motif's in every base.
- So each sequence contains both alleles between the same two bases on each side, and 3-mers with
  the allele lie entirely inside the core. Counting 3-mers tells nothing about the label: a model
  must see which core is between the true flanks. No other true site arises by chance, because
  such draws are discarded.
- The rationale is every 3-mer of the true site: flanks and allele are needed together.

Options: `documents`; `length`, in bases; `motifs`, the number of different motifs from which a
sequence draws its one; `noise`, the probability that the allele contradicts the label (at 0.5
nothing can be learned). Labels are balanced exactly, also with noise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from assay.data.corpus import Raw, Request, Source, real_number, whole_number

BASES = "ACGT"
ITEM = 3  # bases per token
FLANK = 2  # bases on each side; ITEM - 1, so that no token holds both allele and flank
CORE = 2 * ITEM - 1
SITE = FLANK + CORE + FLANK
CLASSES = ("reference", "variant")
OPTIONS = {"documents": "4000", "length": "60", "motifs": "1", "noise": "0"}
_SHORTEST = 3 * SITE  # room for site and decoy in either order, and for some background
_LONGEST = 10_000
_MOST_MOTIFS = 50
_MOST_DOCUMENTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Motif:
    """Flanks and core of a site; `alleles` holds the middle base of the core for each class."""

    left: str
    core: str
    right: str
    alleles: tuple[str, str]

    def cores(self) -> tuple[str, str]:
        """The core with the reference allele and with the variant allele."""
        middle = CORE // 2
        first, last = self.core[:middle], self.core[middle + 1 :]
        return first + self.alleles[0] + last, first + self.alleles[1] + last

    def sites(self) -> tuple[str, str]:
        """The whole site with the reference allele and with the variant allele."""
        reference, variant = self.cores()
        return self.left + reference + self.right, self.left + variant + self.right


def _bases(rng: Random, number: int) -> str:
    return "".join(rng.choices(BASES, k=number))


def _different_bases(rng: Random, bases: str) -> str:
    """Bases that differ from these at every position."""
    return "".join(rng.choice(BASES.replace(base, "")) for base in bases)


def draw_motifs(rng: Random, number: int) -> tuple[Motif, ...]:
    """Draw this number of motifs whose sites all differ."""
    motifs: list[Motif] = []
    taken: set[str] = set()
    while len(motifs) < number:
        first, second = rng.sample(BASES, 2)
        motif = Motif(_bases(rng, FLANK), _bases(rng, CORE), _bases(rng, FLANK), (first, second))
        if taken.isdisjoint(motif.sites()):
            taken.update(motif.sites())
            motifs.append(motif)
    return tuple(motifs)


def count_sites(sequence: str, sites: frozenset[str]) -> int:
    """Number of windows of the sequence that are a true site."""
    return sum(sequence[i : i + SITE] in sites for i in range(len(sequence) - SITE + 1))


def _two_starts(rng: Random, length: int) -> tuple[int, int]:
    """Starts of site and decoy, in either order, without overlap."""
    first, second = sorted(rng.sample(range(length - 2 * SITE + 2), 2))
    starts = [first, second + SITE - 1]
    rng.shuffle(starts)
    return starts[0], starts[1]


def plant(rng: Random, motifs: tuple[Motif, ...], allele: int, length: int) -> tuple[str, int]:
    """Generate a sequence with one true site of this allele; also return the start of the site."""
    sites = frozenset(site for motif in motifs for site in motif.sites())
    while True:
        motif = rng.choice(motifs)
        core = motif.cores()[1 - allele]
        decoy = _different_bases(rng, motif.left) + core + _different_bases(rng, motif.right)
        site_start, decoy_start = _two_starts(rng, length)
        sequence = _bases(rng, length)
        for start, part in ((site_start, motif.sites()[allele]), (decoy_start, decoy)):
            sequence = sequence[:start] + part + sequence[start + SITE :]
        if count_sites(sequence, sites) == 1:
            return sequence, site_start


def _document(number: int, label: int, sequence: str, site_start: int) -> Raw:
    items = range(len(sequence) - ITEM + 1)
    return Raw(
        id=f"motif-{number}",
        tokens=tuple(sequence[i : i + ITEM] for i in items),
        label=CLASSES[label],
        rationale=tuple(site_start <= i <= site_start + SITE - ITEM for i in items),
    )


def read(request: Request) -> Iterator[Raw]:
    """Generate the sequences, half of them of each class."""
    documents = whole_number(request, OPTIONS, "documents", low=10, high=_MOST_DOCUMENTS)
    length = whole_number(request, OPTIONS, "length", low=_SHORTEST, high=_LONGEST)
    number = whole_number(request, OPTIONS, "motifs", low=1, high=_MOST_MOTIFS)
    noise = real_number(request, OPTIONS, "noise", low=0.0, high=0.5)
    rng = Random(request.seed)
    motifs = draw_motifs(rng, number)
    labels = [i % len(CLASSES) for i in range(documents)]
    rng.shuffle(labels)
    for i, label in enumerate(labels):
        allele = 1 - label if rng.random() < noise else label
        yield _document(i, label, *plant(rng, motifs, allele, length))


SOURCE = Source(
    name="motif",
    title="Generated DNA-like sequences; the label is the allele of a planted site",
    task="classification",
    size="4,000 sequences (documents=N)",
    licence="generated by assay; free to use",
    reads="no files: the sequences are generated from the seed",
    get="No files are needed.",
    read=read,
    classes=CLASSES,
    options=OPTIONS,
)
