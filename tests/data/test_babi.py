"""Tests of bAbI: reading its files, and generating stories that resemble the published ones."""

from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest

from assay.data.catalog import SOURCES, load_corpus
from assay.data.corpus import Raw, Request
from assay.data.sources import babi_world as world
from assay.data.sources.babi import read
from tests.builders.written_files import STORY, pack, write

TOLERANCE = 0.05  # relative for the mean length, total variation for distributions
VERBS = frozenset(
    word for verb in world.MOVES + world.TAKES + world.LEAVES for word in verb.split()
)
STEMS = {
    1: "qa1_single-supporting-fact",
    2: "qa2_two-supporting-facts",
    3: "qa3_three-supporting-facts",
}
# Measured on the published files (tasks 1 and 2: en-10k, task 3: en), train and test together.
PUBLISHED_LENGTH = {1: 36.19, 2: 94.06, 3: 298.54}  # mean number of tokens
PUBLISHED_ANSWERS = {  # shares, in the order of world.PLACES
    1: (0.1711, 0.1650, 0.1682, 0.1646, 0.1637, 0.1674),
    2: (0.1597, 0.1747, 0.1779, 0.1717, 0.1559, 0.1600),
    3: (0.1915, 0.1490, 0.1930, 0.1750, 0.1460, 0.1455),
}
PUBLISHED_VERBS = {  # shares of the words of MOVES, TAKES and LEAVES among them all
    1: (1.0, 0.0, 0.0),
    2: (0.7663, 0.1325, 0.1012),
    3: (0.7549, 0.1277, 0.1174),
}


def generated(task: int, questions: int, seed: int = 0) -> list[Raw]:
    return list(read(task, Request(options={"questions": str(questions)}, seed=seed)))


def from_files(task: int, data: Path) -> list[Raw]:
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
    """Words of each story at its last question, so that no sentence counts twice."""
    last = {(raw.split, raw.group): raw.tokens for raw in raws}
    return Counter(word for tokens in last.values() for word in tokens)


def mean_length(raws: list[Raw]) -> float:
    return sum(len(raw.tokens) for raw in raws) / len(raws)


def to_file(raws: list[Raw]) -> str:
    """The questions in the published format: numbered sentences, each question after its story."""
    lines: list[str] = []
    for _, group in groupby(raws, key=lambda raw: raw.group):
        number = 0
        line_numbers: list[int] = []  # of each sentence
        for raw in group:
            story = sentences(raw)
            for sentence in story[len(line_numbers) :]:
                number += 1
                line_numbers.append(number)
                lines.append(f"{number} {' '.join(sentence)}.")
            number += 1
            facts = " ".join(str(line_numbers[index]) for index in supports(raw))
            lines.append(f"{number} {' '.join(raw.query)}? \t{raw.label}\t{facts}")
    return "\n".join(lines) + "\n"


def supports(raw: Raw) -> list[int]:
    """Indices of the sentences that the rationale marks."""
    assert raw.rationale is not None
    lengths = [len(sentence) + 1 for sentence in sentences(raw)]  # with the full stop
    starts = [sum(lengths[:index]) for index in range(len(lengths))]
    return [index for index, start in enumerate(starts) if raw.rationale[start]]


def write_generated(task: int, folder: Path, questions: int = 500) -> list[Raw]:
    """Write generated questions as bAbI files; returns the questions."""
    raws = generated(task, questions)
    files = {
        f"{STEMS[task]}_{split}.txt": to_file([raw for raw in raws if raw.split == split])
        for split in ("train", "test")
    }
    write(folder, files)
    return raws


@pytest.mark.parametrize("task", [1, 2, 3])
def test_generated_stories_have_the_measured_statistics_of_the_published_files(task: int) -> None:
    raws = generated(task, 10_000)
    assert mean_length(raws) == pytest.approx(PUBLISHED_LENGTH[task], rel=TOLERANCE)
    answers = Counter(raw.label for raw in raws)
    theirs = dict(zip(world.PLACES, PUBLISHED_ANSWERS[task], strict=True))
    differences = [abs(answers[place] / len(raws) - theirs[place]) for place in world.PLACES]
    assert sum(differences) / 2 <= TOLERANCE
    words = whole_stories(raws)
    kinds = [
        sum(words[word] for word in {word for verb in verbs for word in verb.split()})
        for verbs in (world.MOVES, world.TAKES, world.LEAVES)
    ]
    verb_shares = [count / sum(kinds) for count in kinds]
    assert verb_shares == pytest.approx(PUBLISHED_VERBS[task], abs=TOLERANCE)


@pytest.mark.full_data("babi")
@pytest.mark.parametrize("task", [1, 2, 3])
def test_generated_stories_resemble_the_published_files(task: int, full_data: Path) -> None:
    ours, theirs = generated(task, 10_000), from_files(task, full_data)
    assert mean_length(ours) == pytest.approx(mean_length(theirs), rel=TOLERANCE)
    answers = Counter(raw.label for raw in ours), Counter(raw.label for raw in theirs)
    assert total_variation(*answers) <= TOLERANCE
    queries = [Counter(word for raw in side for word in raw.query) for side in (ours, theirs)]
    assert total_variation(*queries) <= TOLERANCE
    our_words, their_words = whole_stories(ours), whole_stories(theirs)
    assert set(our_words) | set(queries[0]) == set(their_words) | set(queries[1])
    for kind in (world.PEOPLE, world.PLACES, world.OBJECTS if task > 1 else (), VERBS):
        if kind:
            sides = (our_words, their_words)
            parts = [Counter({word: side[word] for word in kind}) for side in sides]
            assert total_variation(*parts) <= TOLERANCE


@pytest.mark.parametrize("task", [1, 2, 3])
def test_generated_stories_written_as_files_are_read_back(task: int, tmp_path: Path) -> None:
    written = write_generated(task, tmp_path / "babi" / "en-10k")
    pack(tmp_path / "babi" / "en-10k")
    for ours, found in zip(written, from_files(task, tmp_path), strict=True):
        assert (found.tokens, found.query, found.label) == (ours.tokens, ours.query, ours.label)
        assert (found.rationale, found.split, found.id) == (ours.rationale, ours.split, ours.id)


def candidates(data: Path) -> tuple[str, ...]:
    """All words of the train questions of the three tasks."""
    train = [raw for task in (1, 2, 3) for raw in from_files(task, data) if raw.split == "train"]
    found = {word for raw in train for word in (*raw.tokens, *raw.query, raw.label)}
    return tuple(sorted(found - {"."}))


def test_candidates_are_the_train_words_of_the_three_tasks(tmp_path: Path) -> None:
    for task in (1, 2, 3):
        write_generated(task, tmp_path / "en")
    assert len(world.VOCABULARY) == 35
    assert candidates(tmp_path) == world.VOCABULARY


@pytest.mark.full_data("babi")
def test_candidates_are_the_train_words_of_the_three_published_tasks(full_data: Path) -> None:
    assert candidates(full_data) == world.VOCABULARY


def replayed_answer(story: list[list[str]], query: tuple[str, ...]) -> str | None:
    """An independent solver: follows every sentence and remembers where each object has been."""
    where: dict[str, str] = {}
    holder: dict[str, str] = {}
    been: dict[str, list[str]] = {name: [] for name in world.OBJECTS}
    for person, verb, *rest in story:
        noun = [word for word in rest if word != "there"][-1]
        if noun in world.PLACES:
            where[person] = noun
            for thing, carrier in holder.items():
                if carrier == person:
                    been[thing].append(noun)
        elif verb in {"got", "took", "grabbed", "picked"}:
            holder[noun] = person
            if person in where and been[noun][-1:] != [where[person]]:
                been[noun].append(where[person])
        else:
            holder.pop(noun, None)
            if person in where and been[noun][-1:] != [where[person]]:
                been[noun].append(where[person])
    if "before" in query:
        path = been[query[3]]
        later = max(place for place, name in enumerate(path) if name == query[-1])
        return path[later - 1]
    return where[query[2]] if query[-1] in world.PEOPLE else been[query[-1]][-1]


@pytest.mark.parametrize("task", [1, 2, 3])
def test_a_solver_that_replays_the_story_finds_the_answer(task: int) -> None:
    for raw in generated(task, 1000):
        assert replayed_answer(sentences(raw), raw.query) == raw.label


@pytest.mark.full_data("babi")
def test_the_solver_also_answers_the_published_questions(full_data: Path) -> None:
    for task in (1, 2):
        for raw in from_files(task, full_data)[:1000]:
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
    assert any("generated" in note for note in corpus.notes)
    by_id = {raw.id: raw.group for raw in generated(1, 10_000)}
    train, dev = ({by_id[d.id] for d in part} for part in (corpus.train, corpus.dev))
    assert not train & dev


def test_one_story_worked_by_hand(tmp_path: Path) -> None:
    names = (f"qa2_two-supporting-facts_{split}.txt" for split in ("train", "test"))
    pack(write(tmp_path, dict.fromkeys(names, STORY)))
    first = next(iter(read(2, Request(data=tmp_path))))
    text = "Mary went to the kitchen . Mary got the milk there . Mary moved to the office"
    assert first.tokens == tuple(text.split())
    assert first.rationale == (*[False] * 6, *[True] * 5, False, *[True] * 5)
    assert (first.query, first.label) == (("Where", "is", "the", "milk"), "office")


def both_sizes(folder: Path) -> Path:
    """Task 2 in both sizes and task 3 in the small one only, as in the shared files."""
    for size, task in (("en-10k", 2), ("en", 2), ("en", 3)):
        names = [f"{STEMS[task]}_{split}.txt" for split in ("train", "test")]
        story = STORY if task == 2 else STORY.replace("2 3", "1 2 3")
        write(folder / "babi" / size, {names[0]: story * 20, names[1]: story * 4})
    return folder


def check_sizes(data: Path) -> None:
    assert "'en-10k'" in " ".join(load_corpus("babi2", data=data).notes)
    assert "en-10k was not found" in " ".join(load_corpus("babi3", data=data).notes)
    corpus = load_corpus("babi3", data=data, options={"questions": "500"})
    assert "questions=500 applies to generated stories only" in corpus.notes


def test_the_small_files_are_read_only_if_there_are_no_larger_ones(tmp_path: Path) -> None:
    check_sizes(both_sizes(tmp_path))


@pytest.mark.full_data("babi")
def test_the_small_published_files_are_read_only_if_there_are_no_larger_ones(
    full_data: Path,
) -> None:
    check_sizes(full_data)


def test_the_option_questions_sets_the_number_of_generated_questions() -> None:
    assert len(load_corpus("babi3", options={"questions": "500"}).test) == 50
