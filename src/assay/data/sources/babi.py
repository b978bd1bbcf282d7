"""Which sentences of a story answer a question about people, places and objects?

bAbI tasks 1 to 3: read from the published v1.2 files where they are, otherwise told by our own
simulator (`babi_world`); `said` tells which. Attention runs over the whole story before the
question, its sentences joined by ` . ` with case kept; the query is the question without its
mark. The words of the supporting sentences are the rationale. Candidates are, as in Jain &
Wallace 2019, all 35 words of the three tasks, none masked.

Departure: the questions of one story stay in one split. The paper cut dev from train question
by question, so that both held the same stories.
"""

from collections.abc import Iterator
from functools import partial
from itertools import chain, count
from pathlib import Path
from random import Random

from assay.data.corpus import Raw, Request, Source, whole_number
from assay.data.files import read_lines
from assay.data.locate import require_entries, folder_with, require_file
from assay.data.sources.babi_world import VOCABULARY, Asked, Sentence, tell_stories
from assay.errors import UserError

FULL_STOP = "."
OPTIONS = {"questions": "10000"}  # for training; a tenth as many are told for the test
_FEWEST, _MOST = 50, 1_000_000
_STEMS = {
    1: "qa1_single-supporting-fact",
    2: "qa2_two-supporting-facts",
    3: "qa3_three-supporting-facts",
}
_PARENTS = ("", "babi/", "tasks_1-20_v1-2/", "babi/tasks_1-20_v1-2/")
_WORDS = {1: "one supporting fact", 2: "two supporting facts", 3: "three supporting facts"}


def to_raw(asked: Asked, document_id: str, split: str) -> Raw:
    """Sentences joined by full stops, the supporting ones marked word by word."""
    tokens: list[str] = []
    marks: list[bool] = []
    for number, sentence in enumerate(asked.story):
        if number:
            tokens.append(FULL_STOP)
            marks.append(False)
        tokens.extend(sentence)
        marks.extend([number in asked.supports] * len(sentence))
    return Raw(
        id=document_id,
        tokens=tuple(tokens),
        label=asked.answer,
        split=split,
        query=asked.question,
        allowed=VOCABULARY,
        rationale=tuple(marks),
        group=asked.story_id,
    )


def _read_stories(path: Path, split: str) -> Iterator[Asked]:
    """Numbered lines; the number 1 begins a new story; questions hold tabs."""
    story: list[Sentence] = []
    places: dict[str, int] = {}  # line number in the story -> index of its sentence
    stories = count(1)
    story_id = ""
    for line_number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        where = f"{path}, line {line_number}"
        number, _, rest = line.partition(" ")
        if not number.isdecimal() or not rest.strip():
            raise UserError(f"{where}: '{line[:60]}' is not 'NUMBER sentence.' as in bAbI files.")
        if number == "1":
            story, places, story_id = [], {}, f"{split}-{next(stories)}"
        if "\t" in rest:
            yield _question(rest, story_id, story, places, where)
        else:
            places[number] = len(story)
            story.append(tuple(rest.strip().removesuffix(FULL_STOP).split()))


def _question(
    text: str, story_id: str, story: list[Sentence], places: dict[str, int], where: str
) -> Asked:
    fields = [field.strip() for field in text.split("\t")]
    if len(fields) != 3 or not fields[1]:
        raise UserError(f"{where}: write 'question? <TAB> answer <TAB> supporting line numbers'.")
    question, answer, facts = fields
    if answer not in VOCABULARY:
        raise UserError(
            f"{where}: the answer '{answer}' is not a word of bAbI tasks 1 to 3: "
            "use the English v1.2 files."
        )
    unknown = [fact for fact in facts.split() if fact not in places]
    if unknown or not facts:
        raise UserError(
            f"{where}: the supporting facts '{facts}' do not name sentences told before: "
            "use the unaltered v1.2 files."
        )
    supports = frozenset(places[fact] for fact in facts.split())
    return Asked(story_id, tuple(story), tuple(question.rstrip("? ").split()), answer, supports)


def _from_files(task: int, folder: Path, split: str) -> Iterator[Asked]:
    path = require_file(folder, f"{_STEMS[task]}_{split}.txt")
    return require_entries(_read_stories(path, split), path, "question")


def read(task: int, request: Request) -> Iterator[Raw]:
    """Train and test questions, from files if `request.data` holds them."""
    default = OPTIONS["questions"]
    questions = whole_number(request, OPTIONS, "questions", low=_FEWEST, high=_MOST)
    if request.data is None:
        request.notes.append(f"babi{task}: the stories are generated, {questions} train questions")
    else:
        small = (
            " (1,000 train questions; en-10k was not found)" if request.data.name == "en" else ""
        )
        request.notes.append(f"babi{task}: the published files in '{request.data.name}'{small}")
        if questions != int(default):
            request.notes.append(f"questions={questions} concerns generated stories only")
    for split, number in (("train", questions), ("test", questions // 10)):
        if request.data is None:
            rng = Random(f"babi{task} {split} {request.seed}")
            found = tell_stories(task, number, rng, split)
        else:
            found = _from_files(task, request.data, split)
        for place, asked in enumerate(found):
            yield to_raw(asked, f"{split}-{place}", split)


def _source(task: int) -> Source:
    files = [f"{_STEMS[task]}_{split}.txt" for split in ("train", "test")]
    folders = chain.from_iterable(
        [parent + size for parent in _PARENTS] for size in ("en-10k", "en")
    )
    return Source(
        name=f"babi{task}",
        title=f"questions about a small world, {_WORDS[task]}",
        task="pair",
        size="10,000 / 1,000 questions (questions=N when generated)",
        licence="CC BY 3.0 (published files); generated stories are free to use",
        reads=f"{files[0]} and {files[1]} of bAbI v1.2, en-10k or en; generated without them",
        get="Nothing is needed. To use the published tasks_1-20_v1-2, put it in the data folder.",
        read=partial(read, task),
        locate=folder_with(*files, folders=tuple(folders)),
        fallback="generated",
        options=OPTIONS,
    )


BABI1, BABI2, BABI3 = (_source(task) for task in (1, 2, 3))
