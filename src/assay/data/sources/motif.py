"""Can a model find the one place in a sequence that decides its label, and do we know it did?

Generated DNA-like sequences. Items are overlapping 3-mers of the bases A, C, G, T.

- A *motif* is a site of nine bases: two flanking bases on each side of a core of five. The
  middle base of the core has two alleles, `reference` and `variant`.
- Every sequence is random background, one *true site* of one motif and one *decoy*. The label
  is the allele of the true site. The decoy is the same core with the *other* allele between
  flanks that differ from the motif's in every base.
- So each sequence holds both alleles in the same surroundings of two bases, and 3-mers that
  see the allele lie wholly inside the core: counting 3-mers tells nothing about the label, a
  model must see which core stands between the true flanks. No other true site arises by
  chance (such draws are thrown away).
- The rationale is every 3-mer of the true site: flanks and allele are needed together.

Knobs: `documents`; `length`, in bases; `motifs`, from how many different motifs a sequence
draws its one; `noise`, the probability that the allele contradicts the label (0.5: nothing
can be learnt). Labels are balanced exactly, also under noise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from assay.data.corpus import Raw, Request, Source, real_number, whole_number

BASES = "ACGT"
ITEM = 3  # bases per token
FLANK = 2  # bases on each side; ITEM - 1, so that no token sees both allele and flank
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
    """Flanks and core; `alleles` are the core's middle base per class."""

    left: str
    core: str
    right: str
    alleles: tuple[str, str]

    def cores(self) -> tuple[str, str]:
        middle = CORE // 2
        first, last = self.core[:middle], self.core[middle + 1 :]
        return first + self.alleles[0] + last, first + self.alleles[1] + last

    def sites(self) -> tuple[str, str]:
        reference, variant = self.cores()
        return self.left + reference + self.right, self.left + variant + self.right


def _bases(rng: Random, number: int) -> str:
    return "".join(rng.choices(BASES, k=number))


def _unlike(rng: Random, bases: str) -> str:
    """Bases that differ from these at every place."""
    return "".join(rng.choice(BASES.replace(base, "")) for base in bases)


def draw_motifs(rng: Random, number: int) -> tuple[Motif, ...]:
    """So many motifs whose sites all differ."""
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
    """How many windows of the sequence are a true site."""
    return sum(sequence[i : i + SITE] in sites for i in range(len(sequence) - SITE + 1))


def _two_places(rng: Random, length: int) -> tuple[int, int]:
    """Where site and decoy begin, in either order, never overlapping."""
    first, second = sorted(rng.sample(range(length - 2 * SITE + 2), 2))
    places = [first, second + SITE - 1]
    rng.shuffle(places)
    return places[0], places[1]


def plant(rng: Random, motifs: tuple[Motif, ...], allele: int, length: int) -> tuple[str, int]:
    """A sequence with one true site of this allele, and where the site begins."""
    sites = frozenset(site for motif in motifs for site in motif.sites())
    while True:
        motif = rng.choice(motifs)
        decoy = motif.cores()[1 - allele]
        decoy = _unlike(rng, motif.left) + decoy + _unlike(rng, motif.right)
        at, decoy_at = _two_places(rng, length)
        sequence = _bases(rng, length)
        for place, part in ((at, motif.sites()[allele]), (decoy_at, decoy)):
            sequence = sequence[:place] + part + sequence[place + SITE :]
        if count_sites(sequence, sites) == 1:
            return sequence, at


def _document(number: int, label: int, sequence: str, at: int) -> Raw:
    items = range(len(sequence) - ITEM + 1)
    return Raw(
        id=f"motif-{number}",
        tokens=tuple(sequence[i : i + ITEM] for i in items),
        label=CLASSES[label],
        rationale=tuple(at <= i <= at + SITE - ITEM for i in items),
    )


def read(request: Request) -> Iterator[Raw]:
    """As many sequences as asked for, half of them of each class."""
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
    title="DNA-like sequences whose label is the allele of a planted site",
    task="classification",
    size="4,000 (documents=N)",
    licence="generated by assay; free to use",
    reads="nothing: generated from the seed",
    get="nothing to get",
    read=read,
    classes=CLASSES,
    options=OPTIONS,
)
