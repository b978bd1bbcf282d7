"""Which vectors do a corpus's own words give it?

Serrano & Smith's: trained once on the text of train and dev and kept like any other job, so that
every model of a run directory that reads the same text starts from the same file.
"""

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path

from assay.corpora.corpus import Corpus
from assay.store import Job, canonical, finished, publish
from assay.training import Track, untracked
from assay.word_vectors import Word2Vec, texts_of, train_vectors

FILE = "vectors.txt"
KIND, WINDOW, NEGATIVES, EPOCHS, MIN_COUNT = "cbow", 5, 5, 30, 5
READS = ("train", "dev")


@dataclass(frozen=True)
class VectorsJob:
    corpus: Corpus
    asked: Word2Vec

    @property
    def job(self) -> Job:
        """By the text alone: how it is cut into items does not matter."""
        text = hashlib.sha256(canonical(texts_of(self.corpus, self.asked.reads))).hexdigest()
        return Job("vectors", {"text": text, "asked": asdict(self.asked)})


def own_vectors(
    corpus: Corpus, dimension: int, seed: int, folder: Path, track: Track = untracked
) -> Path:
    """The file, from before or from now."""
    asked = Word2Vec(KIND, dimension, WINDOW, NEGATIVES, EPOCHS, MIN_COUNT, seed, READS)
    task = VectorsJob(corpus, asked)
    done = finished(folder, task.job) or publish(
        folder, task.job, lambda place: train_vectors(corpus, asked, place / FILE, track)
    )
    return done / FILE
