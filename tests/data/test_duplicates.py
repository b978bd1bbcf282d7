"""Tests of near-duplicate detection: equal to brute force, and fast."""

import random
import string
import time

from assay.data.duplicates import GRAM_LENGTH, MIN_SIMILARITY, near_duplicates


def grams(text: str) -> set[str]:
    letters = "".join(c for c in text.lower() if c.isalnum())
    return {letters[i : i + GRAM_LENGTH] for i in range(len(letters) - GRAM_LENGTH + 1)}


def by_brute_force(texts: list[str]) -> list[int]:
    """Every pair compared as the definition says, groups closed by repeated relabelling."""
    group = list(range(len(texts)))
    for j, later in enumerate(texts):
        for i in range(j):
            one, other = grams(texts[i]), grams(later)
            alike = bool(one | other) and len(one & other) / len(one | other) >= MIN_SIMILARITY
            letters = ["".join(c for c in t.lower() if c.isalnum()) for t in (texts[i], later)]
            if alike or letters[0] == letters[1]:
                low, high = sorted((group[i], group[j]))
                group = [low if g == high else g for g in group]
    return group


def sentence(rng: random.Random, words: int) -> list[str]:
    return ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 8))) for _ in range(words)]


def test_equal_to_brute_force_on_texts_edited_more_and_more() -> None:
    rng = random.Random(0)
    texts = []
    for _ in range(40):
        original = sentence(rng, rng.randint(2, 40))
        for edits in range(5):
            copy = list(original)
            for place in rng.sample(range(len(copy)), min(edits, len(copy))):
                copy[place] = sentence(rng, 1)[0]
            texts.append(" ".join(copy))
    rng.shuffle(texts)
    expected = by_brute_force(texts)
    assert 40 < len(set(expected)) < len(texts)  # the case holds both kinds
    assert near_duplicates(texts) == expected


def test_marks_blanks_and_case_do_not_matter_but_letters_do() -> None:
    texts = ["... A pretentious mess!", "a pretentious  mess", "a pretentious miss", "", "?!", "ab"]
    assert near_duplicates(texts) == [0, 0, 2, 3, 3, 5]


def test_letters_of_any_script_count() -> None:
    russian = "это был очень хороший и добрый фильм про старый город"
    assert near_duplicates([russian, russian.upper() + "!", russian[::-1]]) == [0, 0, 2]


def test_groups_are_transitive() -> None:
    rng = random.Random(1)
    chain = ["".join(rng.choices(string.ascii_lowercase, k=300))]
    for begin in range(0, 120, 20):
        fresh = "".join(rng.choices(string.ascii_lowercase, k=20))
        chain.append(chain[-1][:begin] + fresh + chain[-1][begin + 20 :])
    first, last = grams(chain[0]), grams(chain[-1])
    assert len(first & last) / len(first | last) < MIN_SIMILARITY
    assert near_duplicates(chain) == [0] * len(chain)


def test_cost_grows_with_the_number_of_texts_and_not_with_its_square() -> None:
    """A form letter sent again and again is the worst case: all are candidates of all."""
    end = "waits for you at the post office until noon, please bring this letter and a passport."
    letters = [f"Dear customer, your parcel number {i} {end}" for i in range(4000)]
    begun = time.perf_counter()
    assert set(near_duplicates(letters)) == {0}
    assert time.perf_counter() - begun < 20  # all pairs would be eight million comparisons


def test_nothing_in_nothing_out() -> None:
    assert near_duplicates([]) == []
