"""What is a corpus once it is read: labelled token sequences, splits and a vocabulary."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from assay.corpora.source import Task
from assay.text import Vocabulary


@dataclass(frozen=True, slots=True)
class Document:
    """One instance: the items attention is spread over, and what the model must say of them."""

    id: str
    tokens: tuple[str, ...]
    label: int  # index into Corpus.classes
    query: tuple[str, ...] = ()
    allowed: tuple[int, ...] | None = None  # candidate classes; None: all
    rationale: tuple[bool, ...] | None = None
    words: tuple[tuple[str, ...], ...] | None = None  # of each item, where items are sentences

    def as_row(self) -> list[object]:
        """Everything that makes it this document; words only where there are any."""
        row = [self.id, self.tokens, self.label, self.query, self.allowed, self.rationale]
        return row if self.words is None else [*row, self.words]


@dataclass(frozen=True)
class Corpus:
    """Everything training and audit need to know of the data; nothing here changes later."""

    name: str
    task: Task
    classes: tuple[str, ...]
    train: tuple[Document, ...]
    dev: tuple[Document, ...]
    test: tuple[Document, ...]
    vocabulary: Vocabulary
    licence: str
    source: str  # what was read, in words
    dropped: Mapping[str, int]  # reason -> documents left out
    said: tuple[str, ...] = ()  # guesses made while reading

    @property
    def binary(self) -> bool:
        return self.task == "classification" and len(self.classes) == 2

    @cached_property
    def fingerprint(self) -> str:
        """A hash of every document and its place: two runs can tell if they read the same."""
        digest = hashlib.sha256()
        for part in (self.train, self.dev, self.test):
            for document in part:
                digest.update(json.dumps(document.as_row(), ensure_ascii=False).encode())
            digest.update(b"\0")
        digest.update(json.dumps([self.task, self.classes, self.vocabulary.words]).encode())
        return digest.hexdigest()
