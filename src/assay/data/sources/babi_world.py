"""What happens in a bAbI world, and what may one ask about it with one, two or three facts?

Own simulator of the first three bAbI tasks (Weston et al. 2015): four people walk between six
places and, in tasks 2 and 3, carry three objects. Nothing is copied from the published files;
their habits were measured and are repeated here:

- an event: a person and an action (go, take, leave) are drawn evenly until the two are
  possible; everybody and everything starts at a place the story does not tell;
- after every second event a question may follow; a story ends with its fifth;
- 1 "Where is P": the last move of a person who moved;
- 2 "Where is the O": the last handling of the object and the move that tells where (of a
  carrier since the taking, or of the one who put it down);
- 3 "Where was the O before the L": the last handling and two moves in a row of that carrying.

`_EAGERNESS`, the only fitted numbers, says how readily a possible question is asked; it sets
the length of the stories. `_LEANING` repeats that the 2,000 published questions of task 3 have
their answers somewhat more often in three of the places. Tests hold mean length, answers,
people, places, objects and verbs against the files.
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
EVENTS_BETWEEN_CHANCES = 2
_SHARE_OF_THERE = 0.21  # "dropped the milk there" among all that was put down
_EAGERNESS = {1: 1.0, 2: 0.77, 3: 0.5}
_LEANING = {"bathroom": 1.0, "garden": 1.0, "hallway": 0.9}
_LEANING_ELSEWHERE = 0.75


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, the story told before it, and the sentences that answer it."""

    story_id: str
    story: tuple[Sentence, ...]
    question: Sentence
    answer: str
    supports: frozenset[int]  # indices into `story`


@dataclass(slots=True)
class _Thing:
    """What the story so far tells of one object."""

    place: str  # where it lies, told or not; of no meaning while it is carried
    holder: str | None = None
    handled: int | None = None  # the sentence of the last taking or leaving
    carried_to: tuple[int, ...] = ()  # the moves of the last carrying
    left_after: int | None = None  # the last move of the person who put it down


class World:
    """People, places and objects, and every sentence told about them so far."""

    def __init__(self, task: int, rng: Random) -> None:
        self.task, self.rng = task, rng
        self.where = {person: rng.choice(PLACES) for person in PEOPLE}
        self.moved: dict[str, int] = {}  # person -> sentence of the last move
        self.things = {name: _Thing(rng.choice(PLACES)) for name in OBJECTS}
        self.told: list[Sentence] = []

    def happen(self) -> None:
        """Let one possible event happen and tell it."""
        actions = (self._go,) if self.task == 1 else (self._go, self._take, self._leave)
        while not self.rng.choice(actions)(self.rng.choice(PEOPLE)):
            pass  # not possible now: draw again, as often as it needs

    def _tell(self, person: str, verbs: tuple[str, ...], what: str, *, there: float) -> int:
        ending = ("there",) if self.rng.random() < there else ()
        verb = self.rng.choice(verbs).split()
        self.told.append((person, *verb, "the", what, *ending))
        return len(self.told) - 1

    def _go(self, person: str) -> bool:
        place = self.rng.choice(PLACES)
        if place == self.where[person]:
            return False
        self.where[person] = place
        self.moved[person] = self._tell(person, MOVES, place, there=0)
        for thing in self.things.values():
            if thing.holder == person:
                thing.carried_to += (self.moved[person],)
        return True

    def _take(self, person: str) -> bool:
        here = self.where[person]
        free = [n for n, t in self.things.items() if t.holder is None and t.place == here]
        if not free:
            return False
        name = self.rng.choice(free)
        # Task 2 of the published files always says "there" when something is taken.
        told = self._tell(person, TAKES, name, there=1 if self.task == 2 else _SHARE_OF_THERE)
        self.things[name] = _Thing(here, holder=person, handled=told)
        return True

    def _leave(self, person: str) -> bool:
        held = [name for name, thing in self.things.items() if thing.holder == person]
        if not held:
            return False
        thing = self.things[name := self.rng.choice(held)]
        thing.handled = self._tell(person, LEAVES, name, there=_SHARE_OF_THERE)
        thing.holder, thing.place = None, self.where[person]
        thing.left_after = self.moved.get(person)
        return True

    def _place_told(self, sentence: int) -> str:
        return self.told[sentence][-1]

    def _questions_1(self) -> Iterator[tuple[str, str, frozenset[int]]]:
        for person, move in self.moved.items():
            yield f"Where is {person}", self._place_told(move), frozenset({move})

    def _questions_2(self) -> Iterator[tuple[str, str, frozenset[int]]]:
        for name, thing in self.things.items():
            move = thing.left_after
            if thing.holder is not None:
                move = thing.carried_to[-1] if thing.carried_to else None
            if thing.handled is not None and move is not None:
                facts = frozenset({thing.handled, move})
                yield f"Where is the {name}", self._place_told(move), facts

    def _questions_3(self) -> Iterator[tuple[str, str, frozenset[int]]]:
        for name, thing in self.things.items():
            places = [self._place_told(move) for move in thing.carried_to]
            for i in range(1, len(places)):
                # A place visited twice has two answers; only the later visit is asked about.
                if thing.handled is not None and places[i] not in places[i + 1 :]:
                    facts = frozenset({thing.handled, *thing.carried_to[i - 1 : i + 1]})
                    yield f"Where was the {name} before the {places[i]}", places[i - 1], facts

    def ask(self) -> tuple[str, str, frozenset[int]] | None:
        """A question that the told sentences answer, its answer and its facts; or none yet."""
        by_task = {1: self._questions_1, 2: self._questions_2, 3: self._questions_3}
        possible = list(by_task[self.task]())
        if not possible:
            return None
        question = self.rng.choice(possible)
        leaning = _LEANING.get(question[1], _LEANING_ELSEWHERE) if self.task == 3 else 1
        return question if self.rng.random() < _EAGERNESS[self.task] * leaning else None


def tell_story(task: int, rng: Random, story_id: str) -> Iterator[Asked]:
    """The five questions of one new story, each with what was told before it."""
    world, asked = World(task, rng), 0
    while asked < QUESTIONS_PER_STORY:
        for _ in range(EVENTS_BETWEEN_CHANCES):
            world.happen()
        if (found := world.ask()) is not None:
            asked += 1
            question, answer, facts = found
            yield Asked(story_id, tuple(world.told), tuple(question.split()), answer, facts)


def tell_stories(task: int, questions: int, rng: Random, prefix: str) -> Iterator[Asked]:
    """As many questions as wanted, story by story; the last story may be cut short."""
    left = questions
    for number in count():
        for asked in tell_story(task, rng, f"{prefix}-{number}"):
            if left == 0:
                return
            left -= 1
            yield asked
