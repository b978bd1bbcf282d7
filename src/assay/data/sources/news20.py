"""20 Newsgroups (bydate): is a post about baseball or about hockey? Two of the twenty groups.

The text is prepared as Jain & Wallace's program prepares it. Headers, footers and quotes are
removed by scikit-learn's rules, and the rest is cut into words by the rules of `sports_words`.
The posts are split at random, not by date: in the order of scikit-learn's loader, with the
published seed. Posts that are left out for their length still count for the vocabulary. If the
folder holds other posts than the 1,993 of the distribution, assay splits them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from assay.data.archives import read_texts
from assay.data.corpus import Raw, Request, Source
from assay.data.locate import archive_or_folder, data_path
from assay.data.text import mask_numbers

_POST = re.compile(r"(?:^|.*/)20news-bydate-(train|test)/rec\.sport\.(baseball|hockey)/(\d+)$")
ARCHIVES = ("20news-bydate_rec.sport.tar", "20news-bydate.tar")
FOLDERS = ("", "20news", "20news-bydate", "20news/20news-bydate")
GROUPS = ("baseball", "hockey")

# Part of the distribution -> number of its posts in all twenty groups, in the nine groups before
# baseball, about baseball, and about hockey, which is the group after baseball.
BYDATE = {"train": (11314, 5193, 597, 600), "test": (7532, 3458, 397, 399)}
PART_SEED, LOADER_SEED = 0, 42  # scikit-learn shuffles each part, and then all posts
SPLIT_SEED = 13478
HELD_OUT = 0.2  # test: of all posts; dev: of the other posts

# Marks that the tokenizer separates from the word after them.
_OPENING = re.compile(r"""^(?:\.\.+|\+(?!\d)|[…,:;!?¿¡()\[\]{}<>#*&§%=—–"'`“”‘’´$£€¥])+""")
# Marks inside a word at which the tokenizer divides it.
_DIVIDING = re.compile(
    r"""\.\.+|…|(?<=\d)[-+*^](?=[\d-])|(?<=[a-z])\.(?=[A-Z])|(?<=[^\W\d_]),(?=[^\W\d_])"""
    r"""|(?<=[^\W\d_])[?";:=,.]*(?:-+|–|—|~)(?=[^\W\d_])|(?<=[^\W\d_"])[:<>=/](?=[^\W\d_])"""
)
_POSSESSIVE = re.compile(r"""['’]s(?=\W*$)""", re.IGNORECASE)
_NEGATION = re.compile(r"(?<=[a-z])(?=n['’]t(?!\w))", re.IGNORECASE)
# Words, and marks that stand directly before a word.
_WORD_OR_MARK = re.compile(r"[^\W_]+(?:_+[^\W_]+)*|_|[^\w\s](?=\w)")


def sports_words(text: str) -> tuple[str, ...]:
    """The words of a post as Jain & Wallace's program has them, lower-cased.

    Their program divides the text as spaCy does, replaces words that contain a digit by `qqq`, and
    drops marks that stand alone. A mark remains if it is part of a word and a letter follows, such
    as the apostrophes of `o ' neill` and `do n ' t`, or if it is the last character of the post.
    spaCy's rules for English are rebuilt here as far as they change the result.
    """
    tokens = [token for chunk in text.split() for token in _chunk_words(chunk)]
    last = text.rstrip()[-1:]
    if last and re.match(r"\W", last):
        tokens.append(last)
    return tuple(tokens)


def _chunk_words(chunk: str) -> Iterator[str]:
    for part in _DIVIDING.split(_OPENING.sub("", chunk)):
        possessive = _POSSESSIVE.search(part)
        stem = part[: possessive.start()] if possessive else part
        ending = part[possessive.start() :] if possessive else ""
        (masked,) = mask_numbers((stem,))
        for piece in (*_NEGATION.split(masked), ending):
            yield from _WORD_OR_MARK.findall(piece.lower())


def read(request: Request) -> Iterator[Raw]:
    """Yield the posts of both groups."""
    posts = read_texts(data_path(request), "latin-1", lambda name: _POST.match(name) is not None)
    by_place: dict[tuple[str, str], list[Raw]] = {(p, g): [] for p in BYDATE for g in GROUPS}
    # Sorted by name, so that an archive and its unpacked folder give the same corpus.
    for name, text in sorted(posts):
        match = _POST.match(name)
        assert match is not None  # other names were filtered out
        part, group, number = match.groups()
        raw = Raw(f"{group}/{number}", sports_words(_body(text)), group)
        by_place[part, group].append(raw)
    splits = published_splits(by_place)
    if not splits:
        request.notes.append("these are not the 1,993 posts of the distribution; split by assay")
    for raws in by_place.values():
        yield from (replace(raw, split=splits.get(raw.id)) for raw in raws)


def published_splits(posts: Mapping[tuple[str, str], Sequence[Raw]]) -> dict[str, str]:
    """Id -> split of Jain & Wallace's program; empty if these are not the distributed posts.

    `posts` has the posts of each part and group, sorted by name. Empty posts have no split.
    """
    places = loader_places()
    if any(len(raws) != len(places[key]) for key, raws in posts.items()):
        return {}
    ordered = sorted(  # baseball first, then in the order of the loader
        (GROUPS.index(group), place, raw.id)
        for (part, group), raws in posts.items()
        for place, raw in zip(places[part, group], raws, strict=True)
        if raw.tokens
    )
    rest, test = _divide(ordered)
    train, dev = _divide(rest)
    named = {"train": train, "dev": dev, "test": test}
    return {post[2]: name for name, chosen in named.items() for post in chosen}


def _divide(posts: list[tuple[int, int, str]]) -> list[list[tuple[int, int, str]]]:
    """Two parts of the posts, in which both groups have the same share; the second is held out."""
    from sklearn.model_selection import train_test_split  # imported here: it is slow to load

    groups = [post[0] for post in posts]
    parts: list[list[tuple[int, int, str]]] = train_test_split(
        posts, stratify=groups, test_size=HELD_OUT, random_state=SPLIT_SEED
    )
    return parts


def loader_places(bydate: Mapping[str, Sequence[int]] = BYDATE) -> dict[tuple[str, str], list[int]]:
    """Part and group -> the places of its posts, sorted by name, in scikit-learn's loader."""
    orders: list[np.ndarray] = []
    starts = {}
    for part, (total, *_) in bydate.items():
        starts[part] = sum(map(len, orders))
        orders.append(starts[part] + np.random.RandomState(PART_SEED).permutation(total))
    joined = np.concatenate(orders)
    loaded = joined[np.random.RandomState(LOADER_SEED).permutation(len(joined))]
    place = np.argsort(loaded)  # the inverse: number of a post by name -> its place
    places = {}
    for part, (_, before, *sizes) in bydate.items():
        first = starts[part] + before
        for group, size in zip(GROUPS, sizes, strict=True):
            places[part, group] = place[first : first + size].tolist()
            first += size
    return places


def _body(text: str) -> str:
    from sklearn.datasets._twenty_newsgroups import (  # imported here: it is slow to load
        strip_newsgroup_footer,
        strip_newsgroup_header,
        strip_newsgroup_quoting,
    )

    without_header: str = strip_newsgroup_header(text)
    body: str = strip_newsgroup_quoting(strip_newsgroup_footer(without_header))
    return body


SOURCE = Source(
    name="20news",
    title="20 Newsgroups: baseball or hockey (Lang 1995)",
    task="classification",
    size="1,993 posts",
    licence="none stated; public Usenet posts of 1993",
    reads="the 20news-bydate folder or tar archive (rec.sport.baseball and rec.sport.hockey)",
    get="Get 20news-bydate.tar.gz at qwone.com/~jason/20Newsgroups and put it into DATA/20news.",
    read=read,
    locate=archive_or_folder("20news-bydate-train", ARCHIVES, FOLDERS),
    classes=GROUPS,
    min_df=2,
    longer_than=6,
    shorter_than=500,
    count_dropped_words=True,
    test_fraction=HELD_OUT,
    dev_fraction=HELD_OUT,
    split_seed=SPLIT_SEED,
)
