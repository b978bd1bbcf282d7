"""Are the generated stories like the published ones, and are their answers and facts right?"""

from collections import Counter
from pathlib import Path

import pytest
from written_files import STORY, pack, write

from assay.data.catalog import SOURCES, load_corpus
from assay.data.corpus import Raw, Request
from assay.data.sources import babi_world as world
from assay.data.sources.babi import read

WITHIN = 0.05  # relative for the mean length, total variation for distributions
VERBS = frozenset(
    word for verb in world.MOVES + world.TAKES + world.LEAVES for word in verb.split()
)


def generated(task: int, questions: int, seed: int = 0) -> list[Raw]:
    return list(read(task, Request(options={"questions": str(questions)}, seed=seed)))


def published(task: int, data: Path) -> list[Raw]:
    locate = SOURCES[f"babi{task}"].locate
    assert locate is not None
    folder = locate(data)
    assert folder is not None
    return list(read(task, Request(data=folder)))


def sentences(raw: Raw) -> list[list[str]]:
    return [part.split() for part in " ".join(raw.tokens).split(" . ")]


def total_variation(ours: Counter[str], theirs: Counter[str]) -> float:
    us, them = ours.total(), theirs.total()
    return sum(abs(ours[key] / us - theirs[key] / them) for key in ours | theirs) / 2


def whole_stories(raws: list[Raw]) -> Counter[str]:
    """Words of each story as it stood at its last question, so that no sentence counts twice."""
    last = {(raw.split, raw.together): raw.tokens for raw in raws}
    return Counter(word for tokens in last.values() for word in tokens)


def mean_length(raws: list[Raw]) -> float:
    return sum(len(raw.tokens) for raw in raws) / len(raws)


@pytest.mark.parametrize("task", [1, 2, 3])
def test_generated_stories_are_like_the_published_files(task: int, data: Path) -> None:
    ours, theirs = generated(task, 10_000), published(task, data)
    assert mean_length(ours) == pytest.approx(mean_length(theirs), rel=WITHIN)
    answers = Counter(raw.label for raw in ours), Counter(raw.label for raw in theirs)
    assert total_variation(*answers) <= WITHIN
    asked = [Counter(word for raw in side for word in raw.query) for side in (ours, theirs)]
    assert total_variation(*asked) <= WITHIN
    told, read_ = whole_stories(ours), whole_stories(theirs)
    assert set(told) | set(asked[0]) == set(read_) | set(asked[1])
    for kind in (world.PEOPLE, world.PLACES, world.OBJECTS if task > 1 else (), VERBS):
        if kind:
            parts = [Counter({word: side[word] for word in kind}) for side in (told, read_)]
            assert total_variation(*parts) <= WITHIN


def test_candidates_are_the_train_words_of_the_three_published_tasks(data: Path) -> None:
    train = [raw for task in (1, 2, 3) for raw in published(task, data) if raw.split == "train"]
    found = {word for raw in train for word in (*raw.tokens, *raw.query, raw.label)}
    assert tuple(sorted(found - {"."})) == world.VOCABULARY


def replayed_answer(told: list[list[str]], query: tuple[str, ...]) -> str | None:
    """An independent witness: follows every sentence, remembers where each thing has been."""
    where: dict[str, str] = {}
    holder: dict[str, str] = {}
    been: dict[str, list[str]] = {name: [] for name in world.OBJECTS}
    for person, verb, *rest in told:
        what = [word for word in rest if word != "there"][-1]
        if what in world.PLACES:
            where[person] = what
            for thing, carrier in holder.items():
                if carrier == person:
                    been[thing].append(what)
        elif verb in {"got", "took", "grabbed", "picked"}:
            holder[what] = person
            if person in where and been[what][-1:] != [where[person]]:
                been[what].append(where[person])
        else:
            holder.pop(what, None)
            if person in where and been[what][-1:] != [where[person]]:
                been[what].append(where[person])
    if "before" in query:
        path = been[query[3]]
        later = max(place for place, name in enumerate(path) if name == query[-1])
        return path[later - 1]
    return where[query[2]] if query[-1] in world.PEOPLE else been[query[-1]][-1]


@pytest.mark.parametrize("task", [1, 2, 3])
def test_a_witness_that_replays_the_story_gives_the_answer(task: int) -> None:
    for raw in generated(task, 1000):
        assert replayed_answer(sentences(raw), raw.query) == raw.label


def test_the_witness_also_answers_the_published_questions(data: Path) -> None:
    for task in (1, 2):
        for raw in published(task, data)[:1000]:
            assert replayed_answer(sentences(raw), raw.query) == raw.label


@pytest.mark.parametrize("task", [1, 2, 3])
def test_as_many_facts_as_the_task_says_and_they_suffice(task: int) -> None:
    for raw in generated(task, 500):
        assert raw.rationale is not None
        pairs = " ".join(
            word if marked or word == "." else "_"
            for word, marked in zip(raw.tokens, raw.rationale, strict=True)
        )
        facts = [part.split() for part in pairs.split(" . ") if "_" not in part]
        assert len(facts) == task
        assert len({fact[0] for fact in facts}) == 1  # one person did it all
        if task < 3:
            assert replayed_answer(facts, raw.query) == raw.label
        else:
            places = [fact[-1] for fact in facts if fact[-1] in world.PLACES]
            assert places == [raw.label, raw.query[-1]]


def test_the_seed_is_all_that_decides() -> None:
    assert generated(2, 100) == generated(2, 100)
    assert generated(2, 100, seed=1) != generated(2, 100)


def test_sizes_as_published_and_no_story_in_two_splits() -> None:
    corpus = load_corpus("babi1")
    assert (len(corpus.train), len(corpus.dev), len(corpus.test)) == (8500, 1500, 1000)
    assert corpus.classes == world.VOCABULARY
    assert all(document.allowed is None for document in corpus.test)
    assert any("generated" in said for said in corpus.said)
    by_id = {raw.id: raw.together for raw in generated(1, 10_000)}
    train, dev = ({by_id[d.id] for d in part} for part in (corpus.train, corpus.dev))
    assert not train & dev


def test_one_story_worked_by_hand(tmp_path: Path) -> None:
    names = (f"qa2_two-supporting-facts_{split}.txt" for split in ("train", "test"))
    pack(write(tmp_path, dict.fromkeys(names, STORY)))
    first = next(iter(read(2, Request(data=tmp_path))))
    told = "Mary went to the kitchen . Mary got the milk there . Mary moved to the office"
    assert first.tokens == tuple(told.split())
    assert first.rationale == (*[False] * 6, *[True] * 5, False, *[True] * 5)
    assert (first.query, first.label) == (("Where", "is", "the", "milk"), "office")


def test_the_smaller_files_are_read_only_if_there_are_no_larger_and_said(data: Path) -> None:
    assert "'en-10k'" in " ".join(load_corpus("babi2", data=data).said)
    assert "en-10k was not found" in " ".join(load_corpus("babi3", data=data).said)


def test_a_knob_for_generated_stories_is_said_to_be_without_effect_on_files(data: Path) -> None:
    corpus = load_corpus("babi3", data=data, options={"questions": "500"})
    assert "questions=500 concerns generated stories only" in corpus.said
    assert len(load_corpus("babi3", options={"questions": "500"}).test) == 50
