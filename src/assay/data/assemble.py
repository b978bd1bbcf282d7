"""How do a reader's documents become a corpus?

Alike for all: filter by length, split, thin, name the classes, build the vocabulary. What is
left out is counted; what cannot be used is said in a sentence with a cure.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from assay.data.corpus import Corpus, Document, Raw, Request, Source
from assay.data.splits import SPLITS, near_duplicates, split, thin
from assay.data.vocabulary import Vocabulary
from assay.errors import UserError

Parts = Mapping[str, list[Raw]]


def assemble(source: Source, request: Request, limit: int | None = None) -> Corpus:
    """Read, filter, split, thin and number one corpus."""
    raws = list(_usable(source, request, source.read(request)))
    _check_sound(source, raws)
    if not raws:
        raise UserError(f"{source.name}: no documents are left. {_told(request.dropped)}")
    if source.duplicates_together:
        raws = _keep_duplicates_together(raws)
        _check_enough_groups(source, raws)
    parts: Parts = split(raws, source)
    if limit is not None:
        parts = _limited(source, parts, limit, request)
    classes = _classes(source, parts)
    parts = {name: list(_answerable(parts[name], classes, request)) for name in SPLITS}
    _check_classes(source, parts, classes, limit)
    documents = {name: _numbered(parts[name], classes) for name in SPLITS}
    train = (words for raw in parts["train"] for words in (raw.tokens + raw.query,))
    return Corpus(
        name=source.name,
        task=source.task,
        classes=classes,
        **documents,
        vocabulary=Vocabulary.build(train, source.min_df),
        licence=source.licence,
        source=source.reads,
        dropped=dict(sorted(request.dropped.items())),
        said=tuple(request.said),
    )


def _usable(source: Source, request: Request, raws: Iterable[Raw]) -> Iterator[Raw]:
    for raw in raws:
        if source.classes is not None and raw.label not in source.classes:
            raise UserError(
                f"{source.name}: document {raw.id} has the label '{raw.label}', which is none of "
                f"{', '.join(source.classes)}: mend the label or take the document out."
            )
        reason = _too_short_or_long(source, raw)
        if reason is not None:
            request.dropped[reason] += 1
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


def _check_sound(source: Source, raws: list[Raw]) -> None:
    seen: set[str] = set()
    for raw in raws:
        if raw.id in seen:
            raise UserError(
                f"{source.name}: the document {raw.id} is there twice: take one copy of the files "
                "away, or give the folder or archive that holds just one."
            )
        seen.add(raw.id)
        if raw.rationale is not None and len(raw.rationale) != len(raw.tokens):
            # A reader that breaks its promise is our fault, not the user's.
            raise ValueError(f"the reader of {source.name} gave {raw.id} a ragged rationale")


def _keep_duplicates_together(raws: list[Raw]) -> list[Raw]:
    """Only documents that we split ourselves: a split that the files name is kept as it is."""
    ours = [place for place, raw in enumerate(raws) if raw.split is None]
    groups = near_duplicates([" ".join(raws[place].tokens + raws[place].query) for place in ours])
    grouped = list(raws)
    for place, group in zip(ours, groups, strict=True):
        if raws[place].together is None:
            grouped[place] = replace(raws[place], together=raws[ours[group]].id)
    return grouped


def _check_enough_groups(source: Source, raws: list[Raw]) -> None:
    """Three groups of a class are needed to have it in three splits."""
    groups = {raw.together: raw.label for raw in reversed(raws) if raw.split is None}
    labels, distinct = Counter(raw.label for raw in raws), Counter(groups.values())
    few = [label for label, n in labels.items() if distinct[label] < len(SPLITS) <= n]
    if groups and few and source.task == "classification":
        raise UserError(
            f"{source.name}: the {labels[few[0]]} documents of the class '{few[0]}' nearly repeat "
            "each other or those of another class, so no honest test split can be cut: add other "
            "documents, or name the splits yourself (--split-column)."
        )


def _limited(source: Source, parts: Parts, limit: int, request: Request) -> Parts:
    if limit < 1:
        raise UserError(f"A limit of {limit} documents leaves nothing: give 1 or more.")
    fewer = thin(parts, limit, request.seed, source.task)
    left_out = sum(len(parts[name]) - len(fewer[name]) for name in SPLITS)
    if left_out:
        request.dropped[f"over the limit of {limit}"] += left_out
    return fewer


def _classes(source: Source, parts: Parts) -> tuple[str, ...]:
    """As declared; else every label (pairs: every answer and candidate of train)."""
    if source.classes is not None:
        return source.classes
    if source.task == "pair":
        train = parts["train"]
        found = {raw.label for raw in train}.union(*(set(raw.allowed or ()) for raw in train))
    else:
        found = {raw.label for name in SPLITS for raw in parts[name]}
    # Classes such as 1 to 10 come in the order of numbers.
    numbers = all(label.isascii() and label.isdigit() and len(label) < 10 for label in found)
    return tuple(sorted(found, key=lambda label: (int(label) if numbers else 0, label)))


def _answerable(raws: list[Raw], classes: tuple[str, ...], request: Request) -> Iterator[Raw]:
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
    if len(classes) < 2:
        raise UserError(
            f"{source.name}: every document has the label '{classes[0]}': a model needs at least "
            f"two classes; {cure}."
        )
    for name in SPLITS:
        if not parts[name]:
            raise UserError(f"{source.name}: no document is left in {name}; {cure}.")
        if source.task == "pair" and (name != "train" or source.classes is None):
            continue  # among many answers some are rare: they need not occur everywhere
        found = {raw.label for raw in parts[name]}
        absent = [label for label in classes if label not in found]
        if absent:
            raise UserError(
                f"{source.name}: {len(absent)} of {len(classes)} classes have no document in "
                f"{name}, the first is '{absent[0]}'; {cure}."
            )


def _numbered(raws: list[Raw], classes: tuple[str, ...]) -> tuple[Document, ...]:
    index = {label: number for number, label in enumerate(classes)}
    return tuple(
        Document(raw.id, raw.tokens, index[raw.label], raw.query, _candidates(raw, index),
                 raw.rationale)
        for raw in raws
    )  # fmt: skip


def _candidates(raw: Raw, index: Mapping[str, int]) -> tuple[int, ...] | None:
    if raw.allowed is None:
        return None
    known = sorted({index[label] for label in raw.allowed if label in index})
    return None if len(known) == len(index) else tuple(known)


def _told(dropped: Counter[str]) -> str:
    if not dropped:
        return "The files hold none: check that they are the right ones."
    reasons = "; ".join(f"{reason}: {count}" for reason, count in sorted(dropped.items()))
    return f"Left out were {sum(dropped.values())} ({reasons}): check the files or the columns."
