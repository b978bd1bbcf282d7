"""Simulator of the first three bAbI tasks (Weston et al. 2015).

Four people walk between six places and, in tasks 2 and 3, carry three objects. Nothing is copied
from the published files; their statistics were measured and are reproduced here:

- Event: a person and an action (go, take, leave) are drawn evenly until the two are possible.
  Everybody and everything starts at a place that the story does not tell.
- A question may follow after every second event. A story ends with its fifth question.
- Task 1, "Where is P": the fact is the last move of a person who moved.
- Task 2, "Where is the O": the facts are the last handling of the object and the move that tells
  the place (of the carrier since taking the object, or of the person who put it down).
- Task 3, "Where was the O before the L": the facts are the last handling and two consecutive moves
  of that carrying.

`_QUESTION_RATE`, the probability that a possible question is asked, is fitted: it determines the
length of the stories. `_ANSWER_BIAS` reproduces that three of the places are somewhat more frequent
among the answers of the 2,000 published questions of task 3. Tests compare mean length, answers,
people, places, objects and verbs with the published files.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from random import Random

PEOPLE = ("Daniel", "John", "Mary", "Sandra")
PLACES = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
OBJECTS = ("apple", "football", "milk")
MOVES = ("moved to", "went to", "went back to", "journeyed to", "travelled to")
TAKES = ("got", "took", "grabbed", "picked up")
LEAVES = ("left", "dropped", "discarded", "put down")
QUESTION_WORDS = ("Where", "is", "was", "before")
VOCABULARY = tuple(
    sorted(
        {*PEOPLE, *PLACES, *OBJECTS, *QUESTION_WORDS, "the", "there"}
        | {word for phrase in MOVES + TAKES + LEAVES for word in phrase.split()}
    )
)
Sentence = tuple[str, ...]
QUESTIONS_PER_STORY = 5
EVENTS_PER_QUESTION = 2
_SHARE_OF_THERE = 0.21  # share of "dropped the milk there" among all events of putting down
_QUESTION_RATE = {1: 1.0, 2: 0.77, 3: 0.5}
_ANSWER_BIAS = {"bathroom": 1.0, "garden": 1.0, "hallway": 0.9}
_ANSWER_BIAS_ELSEWHERE = 0.75


@dataclass(frozen=True, slots=True)
class Question:
    """One question, the story before it, and the sentences that answer it."""

    story_id: str
    story: tuple[Sentence, ...]
    words: Sentence
    answer: str
    supports: frozenset[int]  # indices into `story`


@dataclass(slots=True)
class _Object:
    """The state of one object."""

    place: str  # where it lies, even if no sentence says so; unused while it is carried
    holder: str | None = None
    handled: int | None = None  # the sentence in which it was last taken or put down
    carried_to: tuple[int, ...] = ()  # the moves since it was last taken
    left_after: int | None = None  # the last move of the person who put it down


class World:
    """People, places and objects, and every sentence about them so far."""

    def __init__(self, task: int, rng: Random) -> None:
        self.task, self.rng = task, rng
        self.where = {person: rng.choice(PLACES) for person in PEOPLE}
        self.last_move: dict[str, int] = {}  # person -> sentence of the last move
        self.objects = {name: _Object(rng.choice(PLACES)) for name in OBJECTS}
        self.sentences: list[Sentence] = []

    def simulate_event(self) -> None:
        """Simulate one possible event and add its sentence."""
        actions = (self._go,) if self.task == 1 else (self._go, self._take, self._leave)
        while not self.rng.choice(actions)(self.rng.choice(PEOPLE)):
            pass  # not possible now: draw again

    def _add_sentence(self, person: str, verbs: tuple[str, ...], noun: str, *, there: float) -> int:
        """Add a sentence, ending in "there" with this probability; return its index."""
        ending = ("there",) if self.rng.random() < there else ()
        verb = self.rng.choice(verbs).split()
        self.sentences.append((person, *verb, "the", noun, *ending))
        return len(self.sentences) - 1

    def _go(self, person: str) -> bool:
        place = self.rng.choice(PLACES)
        if place == self.where[person]:
            return False
        self.where[person] = place
        self.last_move[person] = self._add_sentence(person, MOVES, place, there=0)
        for carried in self.objects.values():
            if carried.holder == person:
                carried.carried_to += (self.last_move[person],)
        return True

    def _take(self, person: str) -> bool:
        here = self.where[person]
        free = [n for n, o in self.objects.items() if o.holder is None and o.place == here]
        if not free:
            return False
        name = self.rng.choice(free)
        # Task 2 of the published files always says "there" when something is taken.
        share = 1 if self.task == 2 else _SHARE_OF_THERE
        sentence = self._add_sentence(person, TAKES, name, there=share)
        self.objects[name] = _Object(here, holder=person, handled=sentence)
        return True

    def _leave(self, person: str) -> bool:
        carried = [name for name, thing in self.objects.items() if thing.holder == person]
        if not carried:
            return False
        thing = self.objects[name := self.rng.choice(carried)]
        thing.handled = self._add_sentence(person, LEAVES, name, there=_SHARE_OF_THERE)
        thing.holder, thing.place = None, self.where[person]
        thing.left_after = self.last_move.get(person)
        return True

    def _place_named_in(self, sentence: int) -> str:
        """The last word of a sentence about a move."""
        return self.sentences[sentence][-1]

    def _questions_1(self) -> Iterator[tuple[str, str, frozenset[int]]]:
        for person, move in self.last_move.items():
            yield f"Where is {person}", self._place_named_in(move), frozenset({move})

    def _questions_2(self) -> Iterator[tuple[str, str, frozenset[int]]]:
        for name, thing in self.objects.items():
            move = thing.left_after
            if thing.holder is not None:
                move = thing.carried_to[-1] if thing.carried_to else None
            if thing.handled is not None and move is not None:
                facts = frozenset({thing.handled, move})
                yield f"Where is the {name}", self._place_named_in(move), facts

    def _questions_3(self) -> Iterator[tuple[str, str, frozenset[int]]]:
        for name, thing in self.objects.items():
            places = [self._place_named_in(move) for move in thing.carried_to]
            for i in range(1, len(places)):
                # A place visited twice has two answers; a question is about the later visit.
                if thing.handled is not None and places[i] not in places[i + 1 :]:
                    facts = frozenset({thing.handled, *thing.carried_to[i - 1 : i + 1]})
                    yield f"Where was the {name} before the {places[i]}", places[i - 1], facts

    def ask(self) -> tuple[str, str, frozenset[int]] | None:
        """A question that the sentences answer, its answer and its facts; or None."""
        by_task = {1: self._questions_1, 2: self._questions_2, 3: self._questions_3}
        possible = list(by_task[self.task]())
        if not possible:
            return None
        question = self.rng.choice(possible)
        bias = _ANSWER_BIAS.get(question[1], _ANSWER_BIAS_ELSEWHERE) if self.task == 3 else 1
        return question if self.rng.random() < _QUESTION_RATE[self.task] * bias else None


def generate_story(task: int, rng: Random, story_id: str) -> Iterator[Question]:
    """Yield the five questions of one new story, each with the sentences before it."""
    world, number = World(task, rng), 0
    while number < QUESTIONS_PER_STORY:
        for _ in range(EVENTS_PER_QUESTION):
            world.simulate_event()
        if (found := world.ask()) is not None:
            number += 1
            text, answer, facts = found
            yield Question(story_id, tuple(world.sentences), tuple(text.split()), answer, facts)


def generate_questions(task: int, number: int, rng: Random, prefix: str) -> Iterator[Question]:
    """Yield this number of questions, story by story; the last story may be cut short."""
    left = number
    for story in count():
        for question in generate_story(task, rng, f"{prefix}-{story}"):
            if left == 0:
                return
            left -= 1
            yield question
