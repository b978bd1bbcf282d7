"""Turn a reader's documents into a corpus.

The steps are the same for every corpus: filter by length, split, reduce to a limit, determine the
classes, build the vocabulary. Documents that are left out are counted by reason. Problems that
the user can solve become an error message with a cure.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from assay.data.corpus import Corpus, Document, Raw, Request, Source
from assay.data.duplicates import duplicate_notes, near_duplicates
from assay.data.sampling import read_sample
from assay.data.splits import SPLITS, split, subsample
from assay.data.vocabulary import Vocabulary
from assay.errors import UserError

Parts = Mapping[str, list[Raw]]


def assemble(source: Source, request: Request, limit: int | None = None) -> Corpus:
    """Read, filter, split, reduce and encode one corpus."""
    outside: list[tuple[str, ...]] = []  # train documents of another length
    raws = _read(source, request, limit, outside)
    _check_ids_and_rationales(source, raws)
    if not raws:
        raise UserError(f"{source.name}: no documents are left. {_dropped_text(request.dropped)}")
    if source.group_near_duplicates:
        near = _group_near_duplicates(raws)
        request.notes.extend(duplicate_notes(source.name, raws, near))
        _check_enough_groups(source, raws)
    parts: Parts = split(raws, source)
    if limit is not None:
        parts = _apply_limit(source, parts, limit, request)
    classes = _classes(source, parts)
    parts = {name: list(_drop_unanswerable(parts[name], classes, request)) for name in SPLITS}
    _check_classes(source, parts, classes, limit)
    documents = {name: _to_documents(parts[name], classes) for name in SPLITS}
    train_words = [raw.tokens + raw.query for raw in parts["train"]]
    if source.count_dropped_words and limit is None:
        train_words += outside
    return Corpus(
        name=source.name,
        task=source.task,
        classes=classes,
        train=documents["train"],
        dev=documents["dev"],
        test=documents["test"],
        vocabulary=Vocabulary.build(train_words, source.min_df),
        licence=source.licence,
        source=source.reads,
        dropped=dict(sorted(request.dropped.items())),
        notes=tuple(request.notes),
    )


def _read(
    source: Source, request: Request, limit: int | None, outside: list[tuple[str, ...]]
) -> list[Raw]:
    """The documents of suitable length; of a very large corpus a sample if there is a limit.

    The words of the other train documents are appended to `outside`.
    """
    raws = _filter_by_length(source, request, source.read(request), outside)
    if limit is None:
        return list(raws)
    if limit < 1:
        raise UserError(f"A limit of {limit} documents leaves nothing: give 1 or more.")
    held, passed_over = read_sample(raws, limit, request.seed)
    if passed_over:
        request.dropped[_over(limit)] += passed_over
        request.notes.append(
            f"{source.name}: {len(held) + passed_over:,} documents were read, and {len(held):,} of "
            "them, chosen by the seed, were split and reduced to the limit"
        )
    return held


def _over(limit: int) -> str:
    return f"over the limit of {limit}"


def _filter_by_length(
    source: Source, request: Request, raws: Iterable[Raw], outside: list[tuple[str, ...]]
) -> Iterator[Raw]:
    for raw in raws:
        if source.classes is not None and raw.label not in source.classes:
            raise UserError(
                f"{source.name}: document {raw.id} has the label '{raw.label}', which is none of "
                f"{', '.join(source.classes)}: correct the label or remove the document."
            )
        reason = _too_short_or_long(source, raw)
        if reason is not None:
            request.dropped[reason] += 1
            if source.count_dropped_words and raw.split == "train":
                outside.append(raw.tokens + raw.query)
        else:
            # One string per distinct word: a corpus holds millions of tokens.
            yield replace(raw, tokens=tuple(map(sys.intern, raw.tokens)))


def _too_short_or_long(source: Source, raw: Raw) -> str | None:
    length = len(raw.tokens)
    if length == 0:
        return "empty text"
    if source.task == "pair" and not raw.query:
        return "empty query"
    if length == 1 and source.longer_than >= 1:
        return "one token only"
    if length <= source.longer_than:
        return f"{source.longer_than} tokens or fewer"
    if source.shorter_than is not None and length >= source.shorter_than:
        return f"{source.shorter_than} tokens or more"
    return None


def _check_ids_and_rationales(source: Source, raws: list[Raw]) -> None:
    seen: set[str] = set()
    for raw in raws:
        if raw.id in seen:
            raise UserError(
                f"{source.name}: the document {raw.id} occurs twice: remove one copy of the files, "
                "or pass a folder or archive that holds only one."
            )
        seen.add(raw.id)
        if raw.rationale is not None and len(raw.rationale) != len(raw.tokens):
            # A fault of the reader, not of the user: hence no UserError.
            raise ValueError(
                f"the reader of {source.name} gave {raw.id} a rationale of {len(raw.rationale)} "
                f"marks for {len(raw.tokens)} tokens"
            )


def _group_near_duplicates(raws: list[Raw]) -> list[int]:
    """Group documents that assay splits; a split named by the files is kept as it is.

    Returns for each document the index of the first one that it nearly repeats, or its own.
    """
    firsts = list(range(len(raws)))
    unsplit = [index for index, raw in enumerate(raws) if raw.split is None]
    texts = (" ".join(raws[index].tokens + raws[index].query) for index in unsplit)
    for index, first in zip(unsplit, near_duplicates(texts), strict=True):
        firsts[index] = unsplit[first]
        if raws[index].group is None:  # in place: a corpus may have a million documents
            raws[index] = replace(raws[index], group=raws[unsplit[first]].id)
    return firsts


def _check_enough_groups(source: Source, raws: list[Raw]) -> None:
    """Refuse a class with fewer than three groups: it cannot occur in all three splits."""
    groups = {raw.group: raw.label for raw in reversed(raws) if raw.split is None}
    labels, distinct = Counter(raw.label for raw in raws), Counter(groups.values())
    few = [label for label, n in labels.items() if distinct[label] < len(SPLITS) <= n]
    if groups and few and source.task == "classification":
        raise UserError(
            f"{source.name}: the {labels[few[0]]} documents of the class '{few[0]}' nearly repeat "
            "each other or those of another class, so a test split would repeat the training "
            "documents: add other documents, or name the splits yourself (--split-column)."
        )


def _apply_limit(source: Source, parts: Parts, limit: int, request: Request) -> Parts:
    reduced = subsample(parts, limit, request.seed, source.task)
    left_out = sum(len(parts[name]) - len(reduced[name]) for name in SPLITS)
    if left_out:
        request.dropped[_over(limit)] += left_out
    return reduced


def _classes(source: Source, parts: Parts) -> tuple[str, ...]:
    """Classes as declared, or all labels (pair tasks: all answers and candidates of train)."""
    if source.classes is not None:
        return source.classes
    if source.task == "pair":
        train = parts["train"]
        found = {raw.label for raw in train}.union(*(set(raw.allowed or ()) for raw in train))
    else:
        found = {raw.label for name in SPLITS for raw in parts[name]}
    # Classes such as 1 to 10 are sorted as numbers.
    numbers = all(label.isascii() and label.isdigit() and len(label) < 10 for label in found)
    return tuple(sorted(found, key=lambda label: (int(label) if numbers else 0, label)))


def _drop_unanswerable(
    raws: list[Raw], classes: tuple[str, ...], request: Request
) -> Iterator[Raw]:
    known = set(classes)
    for raw in raws:
        if raw.label not in known:
            request.dropped["answer never seen in train"] += 1
        elif raw.allowed is not None and raw.label not in raw.allowed:
            request.dropped["answer not among the candidates"] += 1
        else:
            yield raw


def _check_classes(
    source: Source, parts: Parts, classes: tuple[str, ...], limit: int | None
) -> None:
    cure = "raise the limit" if limit is not None else "check the labels, or add such documents"
    if len(classes) < 2 and parts["train"]:
        raise UserError(
            f"{source.name}: every document has the label '{classes[0]}': a model needs at least "
            f"two classes; {cure}."
        )
    for name in SPLITS:
        if not parts[name]:
            raise UserError(f"{source.name}: no document is left in {name}; {cure}.")
        if source.task == "pair" and (name != "train" or source.classes is None):
            continue  # among many answers some are rare: they need not occur in every split
        found = {raw.label for raw in parts[name]}
        absent = [label for label in classes if label not in found]
        if absent:
            raise UserError(
                f"{source.name}: {len(absent)} of {len(classes)} classes have no document in "
                f"{name}, the first is '{absent[0]}'; {cure}."
            )


def _to_documents(raws: list[Raw], classes: tuple[str, ...]) -> tuple[Document, ...]:
    index = {label: number for number, label in enumerate(classes)}
    return tuple(
        Document(
            id=raw.id,
            tokens=raw.tokens,
            label=index[raw.label],
            query=raw.query,
            allowed=_candidates(raw, index),
            rationale=raw.rationale,
        )
        for raw in raws
    )


def _candidates(raw: Raw, index: Mapping[str, int]) -> tuple[int, ...] | None:
    if raw.allowed is None:
        return None
    known = sorted({index[label] for label in raw.allowed if label in index})
    return None if len(known) == len(index) else tuple(known)


def _dropped_text(dropped: Counter[str]) -> str:
    if not dropped:
        return "The files contain no documents: check that they are the right ones."
    reasons = "; ".join(f"{reason}: {count}" for reason, count in sorted(dropped.items()))
    return f"{sum(dropped.values())} were left out ({reasons}): check the files or the columns."
