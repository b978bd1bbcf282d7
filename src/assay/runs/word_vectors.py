"""The initial word vectors of a run: their choice, their origin and their record.

A run that names no vectors gets those that its corpus declares (`Source.vectors`): vectors of film
reviews for the built-in reviews, random numbers for all others.
"""

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.config import FILM_VECTORS, OWN_VECTORS, RANDOM_VECTORS, Settings
from assay.data.corpus import Corpus
from assay.data.embeddings import Vectors, VectorSettings, texts_of, train_vectors
from assay.data.film_vectors import film_vectors
from assay.data.sources import SOURCES
from assay.progress import Track, untracked
from assay.runs.store import Job, canonical, finished, publish
from assay.training.recipes import recipe_for

COMPUTED_VECTORS = (OWN_VECTORS, FILM_VECTORS)
FILE = "vectors.txt"
KIND, WINDOW, NEGATIVES, EPOCHS, MIN_COUNT = "cbow", 5, 5, 30, 5
READS = ("train", "dev")


@dataclass(frozen=True)
class VectorsJob:
    """Word vectors trained on the text of a corpus, as in Serrano & Smith 2019."""

    corpus: Corpus
    settings: VectorSettings

    @property
    def job(self) -> Job:
        """Identified by the text alone: how it is cut into items does not matter."""
        text = hashlib.sha256(canonical(texts_of(self.corpus, self.settings.reads))).hexdigest()
        return Job("vectors", {"text": text, "settings": asdict(self.settings)})


def own_vectors(
    corpus: Corpus, dimension: int, seed: int, folder: Path, track: Track = untracked
) -> Path:
    """The file of vectors, which is trained if it is not there yet."""
    settings = VectorSettings(KIND, dimension, WINDOW, NEGATIVES, EPOCHS, MIN_COUNT, seed, READS)
    task = VectorsJob(corpus, settings)
    done = finished(folder, task.job) or publish(
        folder, task.job, lambda place: train_vectors(corpus, settings, place / FILE, track)
    )
    return done / FILE


@dataclass(frozen=True)
class ChosenVectors:
    """What a run records of its vectors, and the file if they are read from one."""

    name: str | None  # None: random
    file: Path | None


def choose_vectors(given: str | Path | None, corpus: str) -> ChosenVectors:
    """The vectors that the user named, or those of the corpus."""
    if given is None:
        return ChosenVectors(SOURCES[corpus].vectors if corpus in SOURCES else None, None)
    if str(given) == RANDOM_VECTORS:
        return ChosenVectors(None, None)
    if str(given) in COMPUTED_VECTORS:
        return ChosenVectors(str(given), None)
    return ChosenVectors(Path(given).name, Path(given))


def compute_vectors(settings: Settings, corpus: Corpus, folder: Path, track: Track) -> Path:
    """The file of vectors that are computed for a run; jobs are kept below `folder`."""
    if settings.vectors == FILM_VECTORS:
        return film_vectors(folder, track)
    # As wide as the model's embedding.
    dimension = recipe_for(corpus, settings.preset, settings.encoder).embedding
    return own_vectors(corpus, dimension, settings.seed, folder, track)


def describe_vectors(vectors: Vectors | None, name: str | None, corpus: Corpus) -> dict[str, Any]:
    """The vectors as the manifest records them."""
    if vectors is None:
        return {"kind": "random, N(0, 1)"}
    return {
        "kind": "film reviews" if name == FILM_VECTORS else "file",
        "dimension": vectors.dimension,
        "found": vectors.found,
        "words": len(corpus.vocabulary),
    }
